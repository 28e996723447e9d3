/*
 * inverse_kinematics.c -- joint positions that bring a node to a target pose
 *
 * Minimizes   1/2 |W e|^2 over the positions q of the joints between the node and the
 *             base, within bounds; e = log(pose^-1 target) is the screw from the node
 *             to its target, W = diag(weights).
 * Step        r = W e, B = -dr/dq = W [[A, 0], [B, A]] J                         (P1)
 *             (B'B + lambda) dq = B' r, or dq = B'(B B' + lambda)^-1 r with more
 *             than six joints,  lambda = mu |r|^2                                (P2)
 *             q (+) dq by the machinery of positions.c. mu falls and rises with the
 *             ratio of the true to the predicted decrease. A monotone run takes no step
 *             without decrease and ends at a least error; others take them all, which
 *             leads past ridges: they reach more targets in fewer steps. Since lambda
 *             vanishes with the square of the error, the last steps are those of Newton:
 *             errors square from step to step.
 * Bounds      a coordinate at its bound whose gradient, or whose step, leads outward
 *             is held: its column is zero. Other steps end at the bounds.
 * Ends        |r| <= tolerance; or no column has a cosine with r above `stationary`
 *             (Karush, Kuhn, Tucker), or the predicted decrease is nothing;
 *             or the evaluations are used up. A saddle, such as a stretched arm with
 *             its target on the line, is such an end: the driver starts elsewhere.
 * Deflection  modes in static equilibrium at each step (quasi_static.h).
 * Lanes       one target each. A lane that is done takes the next target, so a batch
 *             costs the mean number of steps; no lane looks at another.
 * Source      T. Sugihara, IEEE Trans. Robotics 27(5), 2011 (damping by the error);
 *             J. Fan, Y. Yuan, Computing 74, 2005 (order two); K. Madsen, H. B. Nielsen,
 *             O. Tingleff, Methods for Non-Linear Least Squares Problems, 2004 (mu).
 * Checked by  tests/ik/test_inverse_kinematics.py: poses,
 *             SciPy's bounded least squares.
 */
#ifndef FA_INVERSE_KINEMATICS_C
#define FA_INVERSE_KINEMATICS_C

#include "calls/call.h"
#include "calls/maps.h"
#include "calls/targets.h"
#include "kernels/inverse_kinematics/quasi_static.h"
#include "kernels/inverse_kinematics/walk.h"
#include "kernels/kinematics/kinematics.c"
#include "kernels/kinematics/positions.c"
#include "kernels/lie/lie.h"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/layout.h"

/* evaluations of one block between two looks at Ctrl-C */
enum { IK_TICK = 64 };

/* parts of the cost: its rounding, and the gain below which no step is worth while */
static const double IK_ROUNDING = 1e-13, IK_MIN_GAIN = 1e-19;

/* one block of FA_LANES targets */
typedef struct {
    const fa_model *model;
    const fa_ik *run;
    ik_column *columns;
    int n; /* of them */
    fa_call call;
    fa_real *q, *q_new;   /* [nq] accepted, and where the step leads */
    fa_real *J, *B;       /* [6 nv] of the last evaluation, [n][6] */
    fa_real *dq, *again;  /* [n] */
    fa_mask *held;        /* [n] */
    fa_real *step, *move; /* [nv], [pos_total] */
    qs_work modes;
    fa_real target[12], pose[12], wrench[6];
    fa_real r[6], e[6], F, F_new, predicted, mu, nu, unbalance, unbalance_new;
    fa_mask fresh; /* lanes whose start is not evaluated yet */
    size_t at[FA_LANES];
    int used[FA_LANES], busy[FA_LANES];
    size_t next, done;
} ik_block;

static size_t ik_pad(size_t bytes)
{
    return (bytes + sizeof(fa_real) - 1) / sizeof(fa_real);
}

/* in bytes */
static size_t ik_work_size(const fa_model *model, const fa_ik *run)
{
    const size_t nq = (size_t)model->nq, nv = (size_t)model->nv;
    const size_t modes = run->deflection ? qs_work_size(model) : 0;
    return (ik_pad(sizeof(ik_block)) +
            ik_pad(ik_most_columns(model) * sizeof(ik_column)) + 2 * nq + 16 * nv +
            (size_t)pos_total(model) + ik_walk_size(model) + modes) *
           sizeof(fa_real);
}

/*
 * a target into a lane; its rotation must be one and its start finite, or the lane
 * becomes NaN
 */
static void ik_load(ik_block *s, int w, size_t at)
{
    const fa_ik *run = s->run;
    const double *T = run->target + 16 * at;
    const double *q = run->q + at * (size_t)s->model->nq;
    double off = fabs(T[12]) + fabs(T[13]) + fabs(T[14]) + fabs(T[15] - 1.0);

    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            s->target[3 * i + j][w] = T[4 * i + j];
            const double product =
                T[i] * T[j] + T[4 + i] * T[4 + j] + T[8 + i] * T[8 + j];
            off = fmax(off, fabs(product - (i == j)));
        }
        s->target[9 + i][w] = T[4 * i + 3];
    }
    const double det = T[0] * (T[5] * T[10] - T[6] * T[9]) -
                       T[1] * (T[4] * T[10] - T[6] * T[8]) +
                       T[2] * (T[4] * T[9] - T[5] * T[8]);
    /* the place is used even where the orientation is free */
    if (!(off <= LIE_TOLERANCE) || det < 0.0) {
        s->target[9][w] = (double)NAN;
    }
    for (int i = 0; i < s->model->nq; i++) {
        const double low = run->lower ? fmax(run->lower[i], q[i]) : q[i];
        s->q[i][w] = run->upper ? fmin(run->upper[i], low) : low;
        if (!(fabs(q[i]) < (double)INFINITY)) { /* even where it moves no node */
            s->target[9][w] = (double)NAN;
        }
    }
    for (int i = 0; run->wrench && i < 6; i++) {
        s->wrench[i][w] = run->wrench[at * run->wrench_stride + (size_t)i];
    }
    s->fresh[w] = -1;
    s->F[w] = (double)INFINITY;
    s->unbalance[w] = 0.0;
    s->mu[w] = run->damping;
    s->nu[w] = 2.0;
    s->used[w] = 0;
    s->busy[w] = 1;
    s->at[w] = at;
}

static void ik_store(ik_block *s, int w, fa_ik_status status)
{
    const fa_ik *run = s->run;
    const size_t nq = (size_t)s->model->nq;
    const int failed = status == FA_IK_NOT_FINITE;

    for (size_t i = 0; i < nq; i++) {
        run->q[s->at[w] * nq + i] = failed ? (double)NAN : s->q[i][w];
    }
    for (size_t i = 0; i < 6; i++) {
        run->residual[6 * s->at[w] + i] = failed ? (double)NAN : s->e[i][w];
    }
    run->cost[s->at[w]] = failed ? (double)NAN : sqrt(2.0 * s->F[w]);
    run->status[s->at[w]] = (int32_t)status;
    run->iterations[s->at[w]] = s->used[w];
    s->busy[w] = 0;
    s->done++;
}

/*
 * The screw e from a pose (R [9], x [3]) to its target and the J6^-1 of P1. A target
 * without orientation turns with the node: e = (0; p), and a twist changes p by p~ w - v.
 */
FA_INLINE void ik_error(const fa_real *pose, const fa_real *target, int place_only,
                        fa_real *e, lie_pair *J)
{
    fa_real E[9], d[3], p[3];
    lie_stumpff f;

    for (int i = 0; i < 3; i++) {
        d[i] = target[9 + i] - pose[9 + i];
    }
    fa_rotate_t(p, pose, d);
    if (place_only) {
        const fa_real back[3] = {-p[0], -p[1], -p[2]};
        fa_zero(e, 3);
        memcpy(e + 3, p, sizeof p);
        fa_zero(J->A, 9);
        J->A[0] = J->A[4] = J->A[8] = fa_splat(1.0);
        lie_hat(back, J->B);
        return;
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            E[3 * i + j] = pose[i] * target[j] + pose[3 + i] * target[3 + j] +
                           pose[6 + i] * target[6 + j];
        }
    }
    lie_rotation_log(E, e);
    lie_stumpff_at(fa_dot(e, e), &f);
    lie_jacobian_inverse(&f, e, J->A);
    fa_rotate(e + 3, J->A, p);
    lie_jacobian6_inverse(&f, e, J);
}

/* column k of B, with the modes that follow it (P1); C holds W J6^-1 */
FA_INLINE void ik_column_at(ik_block *s, int k, const fa_real *C, fa_mask taken)
{
    const fa_model *model = s->model;
    const int nv = model->nv, v = s->columns[k].v;
    fa_real x[6], *B = s->B + 6 * k;

    for (int i = 0; i < 6; i++) {
        x[i] = s->J[i * nv + v];
    }
    if (s->run->deflection) {
        fa_real *S = s->modes.S;
        qs_follow(model, &s->modes, s->q_new, s->run->wrench ? s->wrench : NULL, v, S);
        for (int r = 0; r < model->n_modes; r++) {
            for (int i = 0; i < 6; i++) {
                x[i] += s->J[i * nv + model->nu + r] * S[r];
            }
        }
    }
    for (int i = 0; i < 3; i++) {
        const fa_real angular = fa_dot(C + 3 * i, x);
        const fa_real linear = fa_dot(C + 9 + 3 * i, x) + fa_dot(C + 18 + 3 * i, x + 3);
        B[i] = fa_select(taken, angular, B[i]);
        B[3 + i] = fa_select(taken, linear, B[3 + i]);
    }
}

/* error and B at q_new; lanes whose step is taken go there */
static void ik_evaluate(ik_block *s)
{
    const fa_ik *run = s->run;
    fa_real e[6], r[6], C[27], F = {0};
    lie_pair inverse;

    if (run->deflection) {
        qs_balance(s->model, &s->modes, s->q_new, run->wrench ? s->wrench : NULL);
        s->unbalance_new = s->modes.unbalance;
    }
    s->call.in[0] = s->q_new;
    s->call.out = s->J;
    ik_walk(s->model, &s->call, s->pose);
    ik_error(s->pose, s->target, run->place_only, e, &inverse);
    for (int i = 0; i < 6; i++) {
        r[i] = run->weights[i] * e[i];
        F += 0.5 * r[i] * r[i];
    }
    s->F_new = F;

    const fa_mask unsettled = s->unbalance > run->tolerance;
    const fa_mask finite = F < (double)INFINITY;
    /* a decrease that rounding hides cannot be seen, but an increase could be */
    const fa_mask hidden = ~s->fresh & (s->predicted <= IK_ROUNDING * s->F) &
                           (F <= s->F * (1.0 + IK_ROUNDING));
    const fa_mask taken =
        run->monotone ? (F < s->F) | hidden | (unsettled & finite) : finite;
    const fa_real gain = (s->F - F) / s->predicted;
    const fa_real odd = 2.0 * gain - 1.0, lower = 1.0 - odd * odd * odd;
    fa_real fall = fa_select(lower > 1.0 / 3.0, lower, fa_splat(1.0 / 3.0));
    fall = fa_select(fall > 2.0, fa_splat(2.0), fall);
    const fa_real mu = fa_select(s->fresh | unsettled | hidden, s->mu, s->mu * fall);
    s->mu = fa_select(taken, mu, s->mu * s->nu);
    s->nu = fa_select(taken, fa_splat(2.0), s->nu * 2.0);
    if (!fa_any(taken)) {
        return;
    }
    for (int i = 0; i < 6; i++) {
        s->r[i] = fa_select(taken, r[i], s->r[i]);
        s->e[i] = fa_select(taken, e[i], s->e[i]);
    }
    s->F = fa_select(taken, F, s->F);
    s->unbalance = fa_select(taken, s->unbalance_new, s->unbalance);
    for (int i = 0; i < s->model->nq; i++) {
        s->q[i] = fa_select(taken, s->q_new[i], s->q[i]);
    }
    /* P1 */
    for (int i = 0; i < 3; i++) {
        const double a = run->weights[i], l = run->weights[3 + i];
        for (int j = 0; j < 3; j++) {
            C[3 * i + j] = a * inverse.A[3 * i + j];
            C[9 + 3 * i + j] = l * inverse.B[3 * i + j];
            C[18 + 3 * i + j] = l * inverse.A[3 * i + j];
        }
    }
    for (int k = 0; k < s->n; k++) {
        ik_column_at(s, k, C, taken);
    }
}

/* x = (A + lambda)^-1 x for a symmetric A, lower triangle by rows; destroys A */
FA_INLINE void ik_solve(const int n, fa_real lambda, fa_real *A, fa_real *x)
{
    fa_real pivot[6];

    for (int i = 0; i < n; i++) {
        A[fa_tri(i, i)] += lambda;
    }
    for (int k = 0; k < n; k++) {
        pivot[k] = 1.0 / A[fa_tri(k, k)];
        for (int i = k + 1; i < n; i++) {
            const fa_real l = A[fa_tri(i, k)] * pivot[k];
            for (int j = k + 1; j <= i; j++) {
                A[fa_tri(i, j)] -= l * A[fa_tri(j, k)];
            }
        }
    }
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++) {
            x[i] -= A[fa_tri(i, k)] * x[k];
        }
        x[i] *= pivot[i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) {
            x[i] -= A[fa_tri(k, i)] * pivot[i] * x[k];
        }
    }
}

/* the step by normal equations, n = 6 joints at most (P2) */
FA_INLINE void ik_step_by_joints(const int n, const fa_real *B, const fa_mask *held,
                                 const fa_real *r, fa_real lambda, fa_real *dq)
{
    fa_real A[21], C[36];

    for (int k = 0; k < n; k++) {
        for (int i = 0; i < 6; i++) {
            C[6 * k + i] =
                held ? fa_select(held[k], (fa_real){0}, B[6 * k + i]) : B[6 * k + i];
        }
        dq[k] = fa_dot(C + 6 * k, r) + fa_dot(C + 6 * k + 3, r + 3);
        for (int j = 0; j <= k; j++) {
            A[fa_tri(k, j)] =
                fa_dot(C + 6 * k, C + 6 * j) + fa_dot(C + 6 * k + 3, C + 6 * j + 3);
        }
    }
    ik_solve(n, lambda, A, dq);
}

/* the step through the six directions of the error (P2) */
FA_INLINE void ik_step_by_error(int n, const fa_real *B, const fa_mask *held,
                                const fa_real *r, fa_real lambda, fa_real *dq)
{
    fa_real A[21], y[6];

    fa_zero(A, 21);
    for (int k = 0; k < n; k++) {
        fa_real C[6];
        for (int i = 0; i < 6; i++) {
            C[i] = held ? fa_select(held[k], (fa_real){0}, B[6 * k + i]) : B[6 * k + i];
            for (int j = 0; j <= i; j++) {
                A[fa_tri(i, j)] += C[i] * C[j];
            }
        }
    }
    memcpy(y, r, sizeof y);
    ik_solve(6, lambda, A, y);
    for (int k = 0; k < n; k++) {
        const fa_real *C = B + 6 * k;
        dq[k] = fa_dot(C, y) + fa_dot(C + 3, y + 3);
        if (held) {
            dq[k] = fa_select(held[k], (fa_real){0}, dq[k]);
        }
    }
}

FA_NOINLINE void ik_step_of(int n, const fa_real *B, const fa_mask *held,
                            const fa_real *r, fa_real lambda, fa_real *dq)
{
    if (n > 6) {
        ik_step_by_error(n, B, held, r, lambda, dq);
    } else if (n == 6) {
        ik_step_by_joints(6, B, held, r, lambda, dq);
    } else {
        ik_step_by_joints(n, B, held, r, lambda, dq);
    }
}

/* whether coordinate k is at its lower or at its upper bound */
FA_INLINE void ik_bounds(const ik_block *s, int k, fa_mask *low, fa_mask *high)
{
    const int p = s->columns[k].p;

    *low = *high = (fa_mask){0};
    if (p >= 0) {
        *low = s->q[p] <= s->run->lower[p];
        *high = s->q[p] >= s->run->upper[p];
    }
}

/*
 * dq by P2 with the coordinates held at their bounds, then cut at the bounds.
 * Returns the lanes in which it was cut: there it need not lead downhill, a larger mu
 * makes it do so.
 */
static fa_mask ik_bounded_step(ik_block *s, fa_real lambda)
{
    fa_mask low, high, outward = {0}, cut = {0};

    ik_step_of(s->n, s->B, s->held, s->r, lambda, s->dq);
    for (int k = 0; k < s->n; k++) {
        ik_bounds(s, k, &low, &high);
        const fa_mask out = (low & (s->dq[k] < 0.0)) | (high & (s->dq[k] > 0.0));
        s->held[k] |= out;
        outward |= out;
    }
    if (fa_any(outward)) { /* rare; other lanes keep what they have */
        ik_step_of(s->n, s->B, s->held, s->r, lambda, s->again);
        for (int k = 0; k < s->n; k++) {
            s->dq[k] = fa_select(outward, s->again[k], s->dq[k]);
        }
    }
    for (int k = 0; k < s->n; k++) {
        const int p = s->columns[k].p;
        if (p >= 0) {
            const fa_real down = s->run->lower[p] - s->q[p];
            const fa_real up = s->run->upper[p] - s->q[p];
            cut |= (s->dq[k] < down) | (s->dq[k] > up);
            s->dq[k] = fa_select(s->dq[k] < down, down, s->dq[k]);
            s->dq[k] = fa_select(s->dq[k] > up, up, s->dq[k]);
        }
    }
    return cut;
}

/*
 * The next step from q: dq, q_new and the decrease that it predicts.
 * Returns the lanes in which there is none to be had.
 */
static fa_mask ik_step(ik_block *s)
{
    const fa_ik *run = s->run;
    const fa_real square = 2.0 * s->F;
    const double cosine = run->stationary * run->stationary;
    fa_mask moving = {0}, cut = {0}, low, high;
    fa_real Bd[6], trace = {0};

    for (int k = 0; k < s->n; k++) {
        const fa_real *B = s->B + 6 * k;
        const fa_real g = fa_dot(B, s->r) + fa_dot(B + 3, s->r + 3);
        const fa_real size = fa_dot(B, B) + fa_dot(B + 3, B + 3);
        fa_mask free = g * g > cosine * size * square;
        if (run->lower) {
            ik_bounds(s, k, &low, &high);
            s->held[k] = (low & (g < 0.0)) | (high & (g > 0.0));
            free &= ~s->held[k];
        }
        moving |= free;
        trace += size;
    }
    /* never zero: a node that no joint moves may be at its target before its modes
     * are at rest */
    const fa_real wanted = s->mu * square, floor = 1e-17 * trace + 1e-290;
    const fa_real lambda = fa_select(wanted > floor, wanted, floor);
    if (run->lower) {
        cut = ik_bounded_step(s, lambda);
    } else {
        ik_step_of(s->n, s->B, NULL, s->r, lambda, s->dq);
    }

    fa_zero(Bd, 6);
    for (int k = 0; k < s->n; k++) {
        for (int i = 0; i < 6; i++) {
            Bd[i] += s->B[6 * k + i] * s->dq[k];
        }
        s->step[s->columns[k].v] = s->dq[k];
    }
    s->predicted = (fa_real){0};
    for (int i = 0; i < 6; i++) {
        s->predicted += Bd[i] * (s->r[i] - 0.5 * Bd[i]);
    }
    pos_rates(s->model, NULL, s->step, s->move);
    pos_step(s->model, s->q, s->move, s->q_new);
    for (int k = 0; k < s->n && run->lower; k++) { /* sums round: exactly at a bound */
        const int p = s->columns[k].p;
        if (p >= 0) {
            const fa_real down = run->lower[p] - s->q[p], up = run->upper[p] - s->q[p];
            const fa_real q = s->q_new[p];
            const fa_mask least = (s->dq[k] <= down) | (q < run->lower[p]);
            const fa_mask most = (s->dq[k] >= up) | (q > run->upper[p]);
            const fa_real above = fa_select(least, fa_splat(run->lower[p]), q);
            s->q_new[p] = fa_select(most, fa_splat(run->upper[p]), above);
        }
    }
    return ~moving | (~cut & (s->predicted <= IK_MIN_GAIN * s->F));
}

/* results of the lanes that are done, and the next targets in their place */
static void ik_exchange(ik_block *s, fa_mask stuck)
{
    const fa_ik *run = s->run;
    const fa_mask settled = s->unbalance <= run->tolerance;
    const fa_mask solved = settled & (2.0 * s->F <= run->tolerance * run->tolerance);
    const fa_mask lost = s->fresh & ~(s->F < (double)INFINITY);
    fa_mask loaded = {0};

    stuck &= settled;
    for (int w = 0; w < FA_LANES; w++) {
        if (!s->busy[w]) {
            continue;
        }
        s->used[w]++;
        if (lost[w]) {
            ik_store(s, w, FA_IK_NOT_FINITE);
        } else if (solved[w]) {
            ik_store(s, w, FA_IK_SOLVED);
        } else if (stuck[w]) {
            ik_store(s, w, FA_IK_STATIONARY);
        } else if (s->used[w] >= run->max_iterations) {
            ik_store(s, w, FA_IK_UNFINISHED);
        }
        if (!s->busy[w] && s->next < run->count) {
            ik_load(s, w, s->next++);
            loaded[w] = -1;
        }
    }
    s->fresh = loaded;
    if (fa_any(loaded)) {
        for (int i = 0; i < s->model->nq; i++) {
            s->q_new[i] = fa_select(loaded, s->q[i], s->q_new[i]);
        }
    }
}

static void ik_start(ik_block *s, const fa_model *model, const fa_ik *run, void *work)
{
    const size_t nq = (size_t)model->nq, nv = (size_t)model->nv;

    *s = (ik_block){.model = model, .run = run};
    fa_real *next = (fa_real *)work + ik_pad(sizeof *s);
    s->columns = (ik_column *)(void *)next;
    next += ik_pad(ik_most_columns(model) * sizeof(ik_column));
    s->q = next;
    s->q_new = s->q + nq;
    s->J = s->q_new + nq;
    s->B = s->J + 6 * nv;
    s->dq = s->B + 6 * nv;
    s->again = s->dq + nv;
    s->step = s->again + nv;
    s->held = (fa_mask *)(void *)(s->step + nv);
    s->move = s->step + 2 * nv;
    next = s->move + pos_total(model);
    s->call = (fa_call){.work = next, .index = run->node, .states = FA_LANES};
    next += ik_walk_size(model);
    if (run->deflection) {
        qs_start(model, run->node, run->wrench_in_base, next, &s->modes);
    }
    s->n = ik_columns(model, run->node, s->columns);
    fa_zero(s->step, model->nv);
    fa_zero(s->B, 6 * model->nv);
    fa_zero(s->r, 6);
    s->predicted = (fa_real){0};
    for (size_t w = 0; w < FA_LANES; w++) { /* lanes without a target repeat one */
        s->busy[w] = w < run->count;
        ik_load(s, (int)w, s->busy[w] ? s->next++ : 0);
        s->busy[w] = w < run->count;
    }
    memcpy(s->q_new, s->q, nq * sizeof(fa_real));
}

/*
 * Runs all targets; nonzero if the callback stopped it, what is not done is then left
 * as it was.
 */
static int ik_run(const fa_model *model, const fa_ik *run, void *work)
{
    ik_block *s = work;

    ik_start(s, model, run, work);
    for (size_t since = 1; s->done < run->count; since++) {
        ik_evaluate(s);
        ik_exchange(s, ik_step(s));
        if (run->tick && since % IK_TICK == 0 && run->tick(run->context, s->done)) {
            return 1;
        }
    }
    return 0;
}

#endif
