/*
 * time_scaling.c -- backward and forward pass over the grid of a path
 *
 * Equations, source and cost: library/time_scaling.h.
 */
#include "library/time_scaling.h"

#include <math.h>

/* a row with an `a` that is smaller than `b` by this bounds x alone; Newton's method ends
 * where rounding of this size hides the gap */
static const double scaling_tiny = 1e-13, scaling_rounding = 1e-14;

/* bounds of u: high - slope x from above, low - slope x from below */
typedef struct {
    size_t count;
    double *slope, *high, *low;
    double x[2]; /* range of x */
} scaling_lines;

size_t fa_time_scaling_work_size(size_t m)
{
    return 3 * (2 * m + 1);
}

static scaling_lines scaling_begin(size_t m, double *work, double x_max)
{
    const size_t most = 2 * m + 1;
    return (scaling_lines){0, work, work + most, work + 2 * most, {0.0, x_max}};
}

/* a row as bounds of u, or of x where it has no part in u */
static void scaling_add(scaling_lines *lines, double a, double b, double lower,
                        double upper)
{
    if (fabs(a) <= scaling_tiny * fabs(b) || a == 0.0) {
        if (b != 0.0) {
            const double x0 = lower / b, x1 = upper / b;
            lines->x[0] = fmax(lines->x[0], fmin(x0, x1));
            lines->x[1] = fmin(lines->x[1], fmax(x0, x1));
        } else if (lower > 0.0 || upper < 0.0) {
            lines->x[1] = -1.0; /* no motion helps */
        }
        return;
    }
    const double p = lower / a, q = upper / a;
    lines->slope[lines->count] = b / a;
    lines->high[lines->count] = fmax(p, q);
    lines->low[lines->count] = fmin(p, q);
    lines->count++;
}

/* rows, seen from a step 2 (s_j - s_i) before their place (Z5), or from it at step 0 */
static void scaling_add_point(scaling_lines *lines, const fa_time_scaling *problem,
                              size_t point, double step)
{
    const size_t m = problem->m, at = point * m;

    for (size_t k = at; k < at + m; k++) {
        const double b = problem->b[k];
        scaling_add(lines, problem->a[k] + step * b, b, problem->lower[k],
                    problem->upper[k]);
    }
}

/* all that interval i demands, with the way into K_(i+1) (Z3) */
static scaling_lines scaling_interval(const fa_time_scaling *problem, size_t i,
                                      double *work)
{
    scaling_lines lines = scaling_begin(problem->m, work, problem->x_max[i]);
    const double step = 2.0 * (problem->s[i + 1] - problem->s[i]);
    const double *next = problem->controllable + 2 * (i + 1);

    scaling_add_point(&lines, problem, i,
                      problem->scheme == FA_SCALING_MIDDLE ? 0.5 * step : 0.0);
    if (problem->scheme == FA_SCALING_ENDS) {
        scaling_add_point(&lines, problem, i + 1, step);
    }
    scaling_add(&lines, step, 1.0, next[0], next[1]);
    return lines;
}

typedef struct {
    size_t above, below; /* lines that bound u */
    double high, low;
} scaling_range;

static scaling_range scaling_range_at(const scaling_lines *lines, double x)
{
    scaling_range range = {0, 0, INFINITY, -INFINITY};

    for (size_t k = 0; k < lines->count; k++) {
        const double change = lines->slope[k] * x;
        const double high = lines->high[k] - change, low = lines->low[k] - change;
        if (high < range.high) {
            range.high = high;
            range.above = k;
        }
        if (low > range.low) {
            range.low = low;
            range.below = k;
        }
    }
    return range;
}

/*
 * Moves *x from an end of the range inward until some u is left; `side` is -1 from the
 * upper end and 1 from the lower one. Zero if there is no such x.
 */
static int scaling_end(const scaling_lines *lines, int side, double *x)
{
    const size_t most = 4 * lines->count + 8;

    for (size_t step = 0; step < most; step++) {
        const scaling_range r = scaling_range_at(lines, *x);
        const double gap = r.high - r.low;
        const double p = lines->high[r.above], q = lines->low[r.below];
        const double slope = lines->slope[r.above] - lines->slope[r.below];

        if (gap >= 0.0) {
            return 1;
        }
        /* at a vertex, and at the end of the range, rounding may hide that it is met */
        const double sum = fabs(lines->slope[r.above]) + fabs(lines->slope[r.below]);
        const double size = fabs(p) + fabs(q) + sum * fabs(*x);
        if (gap >= -scaling_rounding * size) {
            return 1;
        }
        if (!(slope * side < 0.0)) {
            return 0; /* the gap grows only outward */
        }
        const double next = fmin(fmax((p - q) / slope, lines->x[0]), lines->x[1]);
        if (!((next - *x) * side > 0.0)) {
            return 0;
        }
        *x = next;
    }
    return 1;
}

/* an x beyond which no u is left: where the lines that count far out cross; or none */
static double scaling_farthest(const scaling_lines *lines)
{
    double high = INFINITY, low = -INFINITY, steep = -INFINITY, flat = INFINITY;

    for (size_t k = 0; k < lines->count; k++) {
        const double slope = lines->slope[k];
        if (isfinite(lines->high[k]) &&
            (slope > steep || (slope == steep && lines->high[k] < high))) {
            steep = slope;
            high = lines->high[k];
        }
        if (isfinite(lines->low[k]) &&
            (slope < flat || (slope == flat && lines->low[k] > low))) {
            flat = slope;
            low = lines->low[k];
        }
    }
    return steep > flat ? (high - low) / (steep - flat) : INFINITY;
}

/* the interval of x that leaves some u; zero if it is empty */
static int scaling_ends(const scaling_lines *lines, double ends[2])
{
    ends[0] = lines->x[0];
    ends[1] = lines->x[1];
    if (!(ends[0] <= ends[1])) {
        return 0;
    }
    if (isinf(ends[1])) {
        ends[1] = fmax(scaling_farthest(lines), ends[0]);
    }
    if (isinf(ends[1])) {
        return scaling_end(lines, 1, ends);
    }
    if (!scaling_end(lines, -1, ends + 1) || !scaling_end(lines, 1, ends)) {
        return 0;
    }
    ends[0] = fmin(ends[0], ends[1]);
    return 1;
}

/* the backward pass (Z3), and the curve of the points alone */
static fa_scaling_status scaling_backward(fa_time_scaling *problem, double *work)
{
    const size_t last = problem->n - 1;
    double *K = problem->controllable;
    double ends[2];

    for (size_t i = last + 1; i-- > 0;) {
        scaling_lines lines = scaling_begin(problem->m, work, problem->x_max[i]);
        scaling_add_point(&lines, problem, i, 0.0);
        problem->failed = i;
        if (!scaling_ends(&lines, ends)) {
            return FA_SCALING_NO_POINT;
        }
        problem->curve[i] = ends[1];
        if (i == last) {
            K[2 * i] = fmax(problem->x_end[0], ends[0]);
            K[2 * i + 1] = fmin(problem->x_end[1], ends[1]);
            if (!(K[2 * i] <= K[2 * i + 1])) {
                return FA_SCALING_NO_POINT;
            }
            continue;
        }
        lines = scaling_interval(problem, i, work);
        if (!scaling_ends(&lines, K + 2 * i)) {
            return FA_SCALING_NO_WAY;
        }
    }
    return FA_SCALING_SOLVED;
}

fa_scaling_status fa_time_scaling_solve(fa_time_scaling *problem, double *work)
{
    const fa_scaling_status status = scaling_backward(problem, work);
    const double *K = problem->controllable;

    if (status != FA_SCALING_SOLVED) {
        return status;
    }
    const double slack = 1e-9 * (problem->x_start + K[1]);
    if (problem->x_start < K[0] - slack || problem->x_start > K[1] + slack) {
        problem->failed = 0;
        return FA_SCALING_START;
    }

    /* as fast as the next interval lets (Z4) */
    problem->x[0] = fmin(fmax(problem->x_start, K[0]), K[1]);
    for (size_t i = 0; i + 1 < problem->n; i++) {
        const scaling_lines lines = scaling_interval(problem, i, work);
        const scaling_range range = scaling_range_at(&lines, problem->x[i]);
        const double step = 2.0 * (problem->s[i + 1] - problem->s[i]);
        const double x = problem->x[i] + step * range.high;

        problem->x[i + 1] = fmin(fmax(x, K[2 * i + 2]), K[2 * i + 3]);
        problem->u[i] = (problem->x[i + 1] - problem->x[i]) / step;
    }
    return FA_SCALING_SOLVED;
}
