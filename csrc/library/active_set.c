/*
 * active_set.c -- the dual active-set method
 *
 * Equations, source and cost: library/active_set.h.
 */
#include "library/active_set.h"

/* a pivot smaller than this part of its diagonal: the row depends on the others */
static const double active_singular = 1e-11;

/* rounding of the sums (G y)_i, as part of the sum of |y|, which hides no more than that
 * part of the limits */
static const double active_rounding = 1e-15, active_hidden = 1e-8;

/* corrections of multipliers of rows that nearly depend on each other, and optima of
 * working sets that are no better than one before, until rounding is seen to win */
enum { ACTIVE_CORRECTIONS = 4, ACTIVE_MAX_STALE = 8 };

/* the working set and its factors */
typedef struct {
    const fa_active_problem *problem;
    int *side;   /* [n] of all rows */
    double *y;   /* [n] */
    int count;   /* rows in the set */
    int *row;    /* [count], as they stand in the factors */
    double *L;   /* row k from k (k - 1) / 2 on: unit lower triangle, packed */
    double *D;   /* [count] */
    double *new; /* [count] solution of (AS3), or a direction */
    double *r;   /* [count] scratch */
    double *at;  /* [n] G y */
    double *way; /* [count] -L^-1 b, of which the first ones are known */
    int known;
    double off; /* rounding of them */
} active_set;

static double *active_line(const active_set *set, int k)
{
    return set->L + k * (k - 1) / 2;
}

/* sum a_j b_j by four sums that do not wait for each other */
static double active_dot(int n, const double *a, const double *b)
{
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
    int j = 0;

    for (; j + 4 <= n; j += 4) {
        s0 += a[j] * b[j];
        s1 += a[j + 1] * b[j + 1];
        s2 += a[j + 2] * b[j + 2];
        s3 += a[j + 3] * b[j + 3];
    }
    for (; j < n; j++) {
        s0 += a[j] * b[j];
    }
    return (s0 + s1) + (s2 + s3);
}

/* r <- L^-1 r */
static void active_forward(const active_set *set, double *r)
{
    for (int k = 1; k < set->count; k++) {
        r[k] -= active_dot(k, active_line(set, k), r);
    }
}

/* r <- L^-T D^-1 r */
static void active_backward(const active_set *set, double *r)
{
    for (int k = 0; k < set->count; k++) {
        r[k] /= set->D[k];
    }
    int k = set->count - 1;
    for (; k > 1; k -= 2) { /* two lines, for each time r is stored */
        const double *line = active_line(set, k), *next = active_line(set, k - 1);
        r[k - 1] -= line[k - 1] * r[k];
        for (int j = 0; j < k - 1; j++) {
            r[j] -= line[j] * r[k] + next[j] * r[k - 1];
        }
    }
    if (k == 1) {
        r[0] -= active_line(set, 1)[0] * r[1];
    }
}

/*
 * Appends a row to the set. Zero if it depends on the rows in it: the set is as before,
 * and `new` has the direction of their multipliers that a unit of its own leads to.
 */
static int active_append(active_set *set, int row)
{
    const fa_active_problem *p = set->problem;
    const double *gram = p->gram + row * p->n;
    const int k = set->count;
    const double own = gram[row] + p->soft[row];
    double pivot = own;

    for (int j = 0; j < k; j++) {
        set->r[j] = gram[set->row[j]];
    }
    active_forward(set, set->r);
    for (int j = 0; j < k; j++) {
        pivot -= set->r[j] * (set->r[j] / set->D[j]);
    }
    if (!(pivot > active_singular * own)) {
        for (int j = 0; j < k; j++) {
            set->new[j] = -set->r[j];
        }
        active_backward(set, set->new);
        return 0;
    }
    double *line = active_line(set, k);
    for (int j = 0; j < k; j++) {
        line[j] = set->r[j] / set->D[j];
    }
    set->D[k] = pivot;
    set->row[k] = row;
    set->count = k + 1;
    return 1;
}

/* takes place r out of the set: the rows behind it move up, a rank one update of them */
static void active_remove(active_set *set, int r)
{
    double *w = set->r, alpha = set->D[r];

    set->side[set->row[r]] = 0;
    set->y[set->row[r]] = 0.0;
    for (int k = r + 1; k < set->count; k++) {
        w[k] = active_line(set, k)[r];
    }
    for (int j = r + 1; j < set->count; j++) {
        const double d = set->D[j] + alpha * w[j] * w[j];
        const double beta = alpha * w[j] / d;
        alpha = alpha * (set->D[j] / d);
        set->D[j] = d;
        for (int k = j + 1; k < set->count; k++) {
            double *line = active_line(set, k);
            w[k] -= w[j] * line[j];
            line[j] += beta * w[k];
        }
    }
    for (int k = r + 1; k < set->count; k++) {
        const double *from = active_line(set, k);
        double *to = active_line(set, k - 1);
        for (int j = 0; j < r; j++) {
            to[j] = from[j];
        }
        for (int j = r + 1; j < k; j++) {
            to[j - 1] = from[j];
        }
        set->D[k - 1] = set->D[k];
        set->row[k - 1] = set->row[k];
    }
    set->count--;
    set->known = set->known < r ? set->known : r;
}

static double active_size(double x)
{
    return x < 0.0 ? -x : x;
}

/* at which a row of the set is held */
static double active_limit(const active_set *set, int row)
{
    return set->side[row] > 0 ? set->problem->upper[row] : set->problem->lower[row];
}

/* multipliers of the set at its limits (AS3), in `new` */
static void active_aim(active_set *set)
{
    for (int k = set->known; k < set->count; k++) {
        const double before = active_dot(k, active_line(set, k), set->way);
        set->way[k] = -active_limit(set, set->row[k]) - before;
    }
    set->known = set->count;
    for (int k = 0; k < set->count; k++) {
        set->new[k] = set->way[k];
    }
    active_backward(set, set->new);
}

/*
 * Goes towards `new`, or along it for ever, until a multiplier is zero, whose row leaves.
 * Zero if none is in the way; *length is how far it went.
 */
static int active_go(active_set *set, int along, double *length)
{
    int first = -1;
    double most = 1.0;

    for (int k = 0; k < set->count; k++) {
        const int i = set->row[k];
        const double from = set->y[i];
        const double change = along ? set->new[k] : set->new[k] - from;
        if (set->side[i] * (along ? change : set->new[k]) < 0.0) {
            const double t = from / -change;
            if (first < 0 || t < most) {
                first = k;
                most = t;
            }
        }
    }
    *length = most;
    if (first < 0) {
        return 0;
    }
    for (int k = 0; k < set->count; k++) {
        const int i = set->row[k];
        const double change = along ? set->new[k] : set->new[k] - set->y[i];
        set->y[i] += most * change;
    }
    active_remove(set, first);
    return 1;
}

/* G y of all rows */
static void active_evaluate(active_set *set)
{
    const fa_active_problem *p = set->problem;

    for (int i = 0; i < p->n; i++) {
        set->at[i] = 0.0;
    }
    double sum = 0.0, largest = 0.0;
    for (int k = 0; k < set->count; k++) {
        const int row = set->row[k];
        const double limit = active_size(active_limit(set, row));
        sum += active_size(set->y[row]);
        largest = limit > largest ? limit : largest;
    }
    int k = 0;
    for (; k + 4 <= set->count; k += 4) { /* four rows, for each time `at` is stored */
        const int *row = set->row + k;
        const double y0 = set->y[row[0]], y1 = set->y[row[1]];
        const double y2 = set->y[row[2]], y3 = set->y[row[3]];
        const double *g0 = p->gram + row[0] * p->n, *g1 = p->gram + row[1] * p->n;
        const double *g2 = p->gram + row[2] * p->n, *g3 = p->gram + row[3] * p->n;
        for (int i = 0; i < p->n; i++) {
            set->at[i] += (y0 * g0[i] + y1 * g1[i]) + (y2 * g2[i] + y3 * g3[i]);
        }
    }
    for (; k < set->count; k++) {
        const double y = set->y[set->row[k]], *gram = p->gram + set->row[k] * p->n;
        for (int i = 0; i < p->n; i++) {
            set->at[i] += y * gram[i];
        }
    }
    const double off = active_rounding * sum, most = active_hidden * largest;
    set->off = off < most ? off : most;
}

/* what the dual problem maximizes, at the solution of (AS3) */
static double active_value(const active_set *set)
{
    double sum = 0.0;
    for (int k = 0; k < set->count; k++) {
        sum -= 0.5 * set->y[set->row[k]] * active_limit(set, set->row[k]);
    }
    return sum;
}

/* the row outside of the set that is violated most, and its side; -1 if none is */
static int active_worst(const active_set *set, int *side)
{
    const fa_active_problem *p = set->problem;
    int worst = -1;
    double largest = 0.0;

    for (int i = 0; i < p->n; i++) {
        const double above = -set->at[i] - p->upper[i],
                     below = p->lower[i] + set->at[i];
        const double off = above > below ? above : below;
        if (!set->side[i] && off > largest && off > p->tolerance[i] + set->off) {
            worst = i;
            largest = off;
            *side = above > below ? 1 : -1;
        }
    }
    return worst;
}

/*
 * Whether the rows of the set are at their limits; if not, `new` has better multipliers:
 * what rounding has left of (AS3), solved once more.
 */
static int active_kept(active_set *set)
{
    const fa_active_problem *p = set->problem;
    int kept = 1;

    for (int k = 0; k < set->count; k++) {
        const int i = set->row[k];
        const double off = -active_limit(set, i) - set->at[i] - p->soft[i] * set->y[i];
        kept = kept && active_size(off) <= p->tolerance[i] + set->off;
        set->new[k] = off;
    }
    if (!kept) {
        active_forward(set, set->new);
        active_backward(set, set->new);
        for (int k = 0; k < set->count; k++) {
            set->new[k] += set->y[set->row[k]];
        }
    }
    return kept;
}

/* puts a row with the side that it is violated on into the set; zero: infeasible */
static int active_enter(active_set *set, int row, int side, int max_steps, int *steps)
{
    while (!active_append(set, row)) {
        double length;
        for (int k = 0; k < set->count; k++) {
            set->new[k] *= side;
        }
        if (!active_go(set, 1, &length)) {
            return 0;
        }
        set->y[row] += side * length;
        if (++*steps >= max_steps) {
            break;
        }
    }
    set->side[row] = side;
    return 1;
}

/* the set that came in, but for rows that depend on others or pull the wrong way */
static void active_begin(active_set *set)
{
    const fa_active_problem *p = set->problem;
    for (int i = 0; i < p->n; i++) {
        const int side = set->side[i];
        const double limit = active_limit(set, i);
        const int usable = side && side * set->y[i] >= 0.0 && limit - limit == 0.0;
        if (!usable || !active_append(set, i)) {
            set->side[i] = 0;
            set->y[i] = 0.0;
        }
    }
}

fa_active_status fa_active_solve(const fa_active_problem *problem, int *side, double *y,
                                 int max_steps, int *steps, double *work, int *places)
{
    const int n = problem->n;
    active_set set = {.problem = problem, .side = side, .y = y, .row = places};

    set.L = work;
    set.D = set.L + n * (n - 1) / 2;
    set.new = set.D + n;
    set.r = set.new + n;
    set.at = set.r + n;
    set.way = set.at + n;
    active_begin(&set);
    active_aim(&set);
    double best = 0.0;
    for (int corrections = 0, stale = 0; *steps < max_steps; ++*steps) {
        double length;
        int next_side = 0;

        if (active_go(&set, 0, &length)) {
            corrections = 0;
            active_aim(&set);
            continue;
        }
        for (int k = 0; k < set.count; k++) {
            set.y[set.row[k]] = set.new[k];
        }
        active_evaluate(&set);
        if (!active_kept(&set)) {
            if (++corrections > ACTIVE_CORRECTIONS) {
                return FA_ACTIVE_INFEASIBLE;
            }
            continue;
        }
        const int next = active_worst(&set, &next_side);
        if (next < 0) {
            return FA_ACTIVE_SOLVED;
        }
        const double value = active_value(&set);
        stale += !(value > best);
        best = value > best ? value : best;
        if (stale > ACTIVE_MAX_STALE ||
            !active_enter(&set, next, next_side, max_steps, steps)) {
            return FA_ACTIVE_INFEASIBLE;
        }
        corrections = 0;
        active_aim(&set);
    }
    return FA_ACTIVE_UNFINISHED;
}
