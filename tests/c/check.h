/*
 * check.h -- counting checks for the C tests
 *
 * A test is one file with a main() that ends in `return check_report("name");`. A
 * failed check prints file, line and values and the test goes on.
 */
#ifndef CHECK_H
#define CHECK_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int check_count, check_failures;

/* cond holds */
#define CHECK(cond) check_that((cond) ? 1 : 0, #cond, __FILE__, __LINE__)

/* |a - b| <= tol, false where one of them is NaN */
#define CHECK_CLOSE(a, b, tol) check_close(a, b, tol, #a, #b, __FILE__, __LINE__)

static inline void check_that(int holds, const char *text, const char *file, int line)
{
    check_count++;
    if (!holds) {
        check_failures++;
        fprintf(stderr, "%s:%d: failed: %s\n", file, line, text);
    }
}

static inline void check_close(double a, double b, double tol, const char *a_text,
                               const char *b_text, const char *file, int line)
{
    const double off = fabs(a - b);

    check_count++;
    if (!(off <= tol)) {
        check_failures++;
        fprintf(stderr,
                "%s:%d: failed: %s = %.17g, %s = %.17g, apart by %.2g, allowed %.2g\n",
                file, line, a_text, a, b_text, b, off, tol);
    }
}

/*
 * Returns a number of states or repetitions: all of them, or at most five with
 * FLEXARM_FEW, as under valgrind, which is slow. Five fill the lanes of AVX2 and leave a
 * rest.
 */
static inline int check_most(int all)
{
    return getenv("FLEXARM_FEW") && all > 5 ? 5 : all;
}

/* Prints the counts; returns what main() shall return, 1 too if nothing was checked. */
static inline int check_report(const char *name)
{
    printf("%s: %d checks, %d failed\n", name, check_count, check_failures);
    return check_failures > 0 || check_count == 0;
}

#endif
