/* test_active_set.c -- programs with known solutions, contradictions, warm starts */
#include "library/active_set.h"

#include "check.h"

enum { ROWS = 4 };

static double gram[ROWS * ROWS], soft[ROWS], tolerance[ROWS], lower[ROWS], upper[ROWS];
static double y[ROWS], work[FA_ACTIVE_DOUBLES(ROWS)];
static int side[ROWS], places[FA_ACTIVE_INTS(ROWS)], steps;

/* n rows of two columns, without limits; cold */
static fa_active_problem problem_of(int n, const double (*a)[2])
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            gram[i * n + j] = a[i][0] * a[j][0] + a[i][1] * a[j][1];
        }
        soft[i] = y[i] = 0.0;
        side[i] = 0;
        tolerance[i] = 1e-12;
        lower[i] = -INFINITY;
        upper[i] = INFINITY;
    }
    steps = 0;
    return (fa_active_problem){n, gram, soft, tolerance, lower, upper};
}

static fa_active_status solve(const fa_active_problem *p, int most)
{
    return fa_active_solve(p, side, y, most, &steps, work, places);
}

/* v = -A' y */
static double component(int n, const double (*a)[2], int k)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum -= y[i] * a[i][k];
    }
    return sum;
}

/* the corner (1, 2) of x >= 1 and y >= 2, beside a row that is twice the first */
static void check_corner(void)
{
    const double a[3][2] = {{1.0, 0.0}, {0.0, 1.0}, {2.0, 0.0}};
    const fa_active_problem p = problem_of(3, a);

    CHECK(solve(&p, 10) == FA_ACTIVE_SOLVED && steps == 0); /* zero is within all */
    lower[0] = 1.0;
    lower[1] = 2.0;
    lower[2] = 1.5;
    CHECK(solve(&p, 10) == FA_ACTIVE_SOLVED);
    CHECK_CLOSE(component(3, a, 0), 1.0, 1e-15);
    CHECK_CLOSE(component(3, a, 1), 2.0, 1e-15);
    CHECK(side[0] == -1 && side[1] == -1 && side[2] == 0);
    /* from that set: the second row wider, and no step more than it takes */
    lower[1] = -1.0;
    CHECK(solve(&p, 10) == FA_ACTIVE_SOLVED);
    CHECK_CLOSE(component(3, a, 0), 1.0, 1e-15);
    CHECK(component(3, a, 1) == 0.0 && side[1] == 0);
}

/* x >= 1 and x <= -1; then the second gives way, by 2 in e^2 / (2 s) */
static void check_contradiction(void)
{
    const double a[2][2] = {{1.0, 0.0}, {1.0, 0.0}};
    const fa_active_problem p = problem_of(2, a);

    lower[0] = 1.0;
    upper[1] = -1.0;
    CHECK(solve(&p, 10) == FA_ACTIVE_INFEASIBLE);
    soft[1] = 0.5;
    CHECK(solve(&p, 20) == FA_ACTIVE_SOLVED);
    CHECK_CLOSE(component(2, a, 0), 1.0, 1e-14);
    CHECK_CLOSE(soft[1] * y[1], 2.0, 1e-14);
    steps = 0;
    side[0] = side[1] = 0;
    CHECK(solve(&p, 1) == FA_ACTIVE_UNFINISHED);
}

/* the point of a line nearest to zero, from sets that pull the wrong way or are empty */
static void check_starts(void)
{
    const double r = sqrt(0.5), a[2][2] = {{r, r}, {r, -r}};

    for (int start = -1; start < 2; start++) {
        const fa_active_problem p = problem_of(2, a);
        lower[0] = upper[0] = 3.0;
        upper[1] = 5.0;
        side[0] = start;
        y[0] = start * 7.0;
        side[1] = start;
        y[1] = -start * 2.0;
        CHECK(solve(&p, 10) == FA_ACTIVE_SOLVED);
        CHECK_CLOSE(component(2, a, 0), 3.0 * r, 1e-14);
        CHECK_CLOSE(component(2, a, 1), 3.0 * r, 1e-14);
    }
}

int main(void)
{
    check_corner();
    check_contradiction();
    check_starts();
    return check_report("active set");
}
