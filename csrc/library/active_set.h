/*
 * active_set.h -- the nearest point within limits, a quadratic program in dual form
 *
 *     minimize |v|^2 / 2 + sum e_i^2 / (2 s_i)
 *     subject to  lower_i <= a_i v + e_i <= upper_i,  i < n                       (AS1)
 *
 * e_i is zero where s_i is: a hard row; others give way, by s_i for each unit of their
 * multiplier. Of the rows only their products G = A A' are needed, which do not change
 * from call to call:
 *
 *     v = -A' y,  a_i v = -(G y)_i,  y_i >= 0 at an upper limit, <= 0 at a lower  (AS2)
 *
 * A working set W of rows is kept at its limits b: (G_WW + S_W) y_W = -b_W (AS3), by
 * L D L' that grows and shrinks with it. From multipliers of right signs the way to the
 * solution of (AS3) is gone until one of them is zero, and its row leaves; at the solution
 * the row enters that is violated most; without one it is the optimum. A row that depends
 * on those in W moves along their dependency until another one leaves. If none ever does,
 * no v satisfies the rows.
 *
 * Source      D. Arnstrom, A. Bemporad, D. Axehill, "A dual active-set solver for embedded
 *             quadratic programming using recursive LDL' updates", IEEE Trans. Automatic
 *             Control 67(8), 2022, 4362-4369; D. Goldfarb, A. Idnani, Mathematical
 *             Programming 27, 1983, 1-33. Updates of L D L': P. Gill, G. Golub,
 *             W. Murray, M. Saunders, Mathematics of Computation 28, 1974, method C1.
 * Cost        n |W| + 2 |W|^2 of a step; no allocation, C99, nothing of libm.
 * Checked by  tests/c/test_active_set.c, tests/control/test_predictive_control.py.
 */
#ifndef FA_ACTIVE_SET_H
#define FA_ACTIVE_SET_H

typedef enum {
    FA_ACTIVE_SOLVED,
    FA_ACTIVE_INFEASIBLE, /* no point satisfies the hard rows, to rounding */
    FA_ACTIVE_UNFINISHED  /* after max_steps */
} fa_active_status;

typedef struct {
    int n;                       /* rows */
    const double *gram;          /* [n][n] */
    const double *soft;          /* [n] s_i, zero or more */
    const double *tolerance;     /* [n] of the rows; positive */
    const double *lower, *upper; /* [n], infinite where there is no limit */
} fa_active_problem;

/* sizes of the scratch of n rows: doubles, and ints */
#define FA_ACTIVE_DOUBLES(n) ((n) * ((n) + 9) / 2)
#define FA_ACTIVE_INTS(n) (n)

/*
 * Solves (AS1).
 *   side, y    [n] in: a working set, 1 at an upper limit, -1 at a lower one, else 0, and
 *              multipliers, such as those of a similar problem; out: those of this one.
 *              Whatever comes in, out comes the optimum, which has no second one
 *   steps      in: counted so far; out: with those of this call, at most max_steps
 */
fa_active_status fa_active_solve(const fa_active_problem *problem, int *side, double *y,
                                 int max_steps, int *steps, double *work, int *places);

#endif
