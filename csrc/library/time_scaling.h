/*
 * time_scaling.h -- fastest motion along a path, by reachability analysis
 *
 * Along a path q(s) with x = sd^2 and u = sdd, forces, accelerations and their limits
 * are rows that are linear in both:
 *
 *     lower <= a u + b x <= upper,    0 <= x <= x_max                              (Z1)
 *
 * Between two points of a grid u is constant, so that
 *
 *     x_(i+1) = x_i + 2 h_i u_i,    h_i = s_(i+1) - s_i                            (Z2)
 *
 * Backward pass: K_i is the interval of the x_i from which some u_i leads into K_(i+1)
 * within all rows. Forward pass: u_i is the largest one that does.
 *
 *     K_i = {x : exists u, rows hold, x + 2 h_i u in K_(i+1)},  K_(n-1) = x_end    (Z3)
 *     u_i = max {u : rows hold, x_i + 2 h_i u in K_(i+1)}                          (Z4)
 *
 * Rows hold at the first point of an interval (collocation), or at both of its ends with
 * the same u (interpolation), which violates limits in between by h^2 only and has no
 * oscillations where a passes zero; or in its middle, where the duration has errors of
 * h^2 in place of h. Seen from the begin of the interval they are, j = i + 1 or middle,
 *
 *     (a_j + 2 (s_j - s_i) b_j) u + b_j x                                          (Z5)
 *
 * At a given x, rows are bounds p - r x of u. The gap between the least upper and the
 * largest lower one is concave in x, and its ends are found by Newton's method from
 * outside, which meets no other vertex twice. A row without a bounds x alone.
 *
 * Source      H. Pham and Q.-C. Pham, IEEE Trans. Robotics 34(3), 2018, 645-659.
 * Cost        O(n m) and a few comparisons more, no allocation.
 * Checked by  tests/c/test_time_scaling.c, tests/optimize/test_time_scaling.py.
 */
#ifndef FA_TIME_SCALING_H
#define FA_TIME_SCALING_H

#include <stddef.h>

typedef enum {
    FA_SCALING_SOLVED,
    FA_SCALING_NO_WAY,   /* no x at `failed` leads on within the rows of its interval */
    FA_SCALING_NO_POINT, /* no x at `failed` satisfies its x_max and the rows alone */
    FA_SCALING_START     /* x_start is not in K_0 */
} fa_scaling_status;

/* where the rows of an interval hold */
typedef enum {
    FA_SCALING_BEGIN, /* rows i are those of point i */
    FA_SCALING_ENDS,  /* and hold at both ends */
    FA_SCALING_MIDDLE, /* rows i are those half way to point i + 1; the last at a point */
    FA_SCALING_SCHEMES
} fa_scaling_scheme;

typedef struct {
    size_t n;                    /* points, two or more */
    size_t m;                    /* rows of a point, may be zero */
    const double *s;             /* [n] rising */
    const double *a, *b;         /* [n][m] */
    const double *lower, *upper; /* [n][m], infinite where there is no limit */
    const double *x_max;         /* [n], zero or more, may be infinite */
    double x_start;              /* at the first point */
    double x_end[2];             /* least and largest at the last one */
    fa_scaling_scheme scheme;

    /* results */
    double *controllable; /* [n][2]: K_i */
    double *curve;        /* [n]: largest x at which rows i alone hold */
    double *x;            /* [n] */
    double *u;            /* [n - 1] */
    size_t failed;        /* where it ended, unless solved */
} fa_time_scaling;

/* size of `work`, in doubles */
size_t fa_time_scaling_work_size(size_t m);

/*
 * Fills the results. Where no motion exists, `controllable` has no meaning up to and at
 * `failed`, `x` and `u` none at all; after FA_SCALING_START `controllable` is whole.
 * Numbers must not be NaN. Returns how it ended.
 */
fa_scaling_status fa_time_scaling_solve(fa_time_scaling *problem, double *work);

#endif
