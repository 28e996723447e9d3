/*
 * forward_tangents.c -- derivatives of forward dynamics; products with derivatives
 *
 *             qdd = FD(q, qd, tau), K = dID/dq, C = dID/dqd at these accelerations:
 *                 dqdd/dq = -M^-1 K,  dqdd/dqd = -M^-1 C,  dqdd/dtau = M^-1     (G1)
 *             along a change (dq, dqd, dtau)
 *                 dqdd = M^-1 (dtau - K dq - C dqd)                             (G2)
 *             and backwards, of l'qdd with a cotangent l,
 *                 lambda = M^-1 l,  (-K'lambda, -C'lambda, lambda)              (G3)
 *             Likewise K dq + C dqd + M dqdd and (K'l, C'l, M l) of inverse dynamics.
 * Products    in sweeps of tangent_products.c, with M^-1 by articulated bodies, of arms
 *             without modes of rigid_products.c; of linear models from K, C and M.
 * Solution    M = L D L' in lanes, M^-1 = L'^-1 D^-1 L^-1 where all of it is asked for: of
 *             some ten coordinates that is a small part of K and C, and cheaper than the
 *             articulated bodies for each column. Of linear models by LAPACK, of arms
 *             with branches by branch_tangents.c.
 * Cost        that of K and C, 7/3 nv^3 more for G1; of products O(bodies * modes^3).
 * Source      J. Carpentier, N. Mansard, Robotics: Science and Systems 2018, eq. 10.
 * Checked by  tests/derivatives/test_forward_derivatives.py: complex step of the twin,
 *             Pinocchio,
 *             differences.
 */
#ifndef FA_FORWARD_TANGENTS_C
#define FA_FORWARD_TANGENTS_C

#include "calls/call.h"
#include "kernels/bodies/followers.h"
#include "kernels/bodies/joint_forces.h"
#include "kernels/derivatives/branch_tangents.c"
#include "kernels/derivatives/linear.c"
#include "kernels/derivatives/rigid_products.c"
#include "kernels/derivatives/rigid_tangents.c"
#include "kernels/derivatives/tangent_products.c"
#include "kernels/dynamics/followers.c"
#include "kernels/dynamics/forward_steps.h"
#include "kernels/dynamics/forward_work.h"
#include "kernels/dynamics/mass_inverse.c"
#include "kernels/dynamics/mass_matrix.c"
#include "lanes/dense_lanes.h"
#include "lanes/lane.h"
#include "model/kinds.h"
#include "model/layout.h"

/* scratch */
typedef struct {
    fa_real *qdd, *x;   /* [nv] */
    fa_real *K, *C, *M; /* [nv][nv] */
    fa_real *rest;      /* of other kernels */
} ft_work;

/* scratch of products without matrices, besides qdd and x */
static size_t ft_swept_size(const fa_model *model)
{
    const fa_model *tree = model->tree, *open = tree ? tree : model;
    const size_t products = rt_knows(open) ? rp_work_size(open) : tp_work_size(open);
    const size_t mass = tree ? fo_mass_work_size(model) : mi_work_size(model);
    const size_t full = tree ? (size_t)tree->nq + 6 * (size_t)tree->nv : 0;

    return full + products > mass ? full + products : mass;
}

static size_t ft_work_size(const fa_model *model)
{
    const size_t nv = (size_t)model->nv;
    const int is_linear = model->fidelity == FA_LINEAR;
    const size_t sizes[] = {is_linear ? li_work_size(model) : mm_work_size(model),
                            is_linear ? 0 : fo_forward_work_size(model),
                            tg_work_size(model)};
    const size_t paths = model->branches ? bt_work_size(model) : 0;
    size_t most = 0;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        most = sizes[i] > most ? sizes[i] : most;
    }
    most += 2 * nv + 3 * nv * nv;
    if (!is_linear && most < 2 * nv + ft_swept_size(model)) {
        most = 2 * nv + ft_swept_size(model);
    }
    return most > paths ? most : paths;
}

static ft_work ft_split(const fa_model *model, fa_real *work)
{
    const int nv = model->nv, size = nv * nv;
    return (ft_work){.qdd = work,
                     .x = work + nv,
                     .K = work + 2 * nv,
                     .C = work + 2 * nv + size,
                     .M = work + 2 * nv + 2 * size,
                     .rest = work + 2 * nv + 3 * size};
}

/* M, or of linear models M^-1 */
static void ft_mass(const fa_model *model, const fa_call *call, int inverse,
                    const ft_work *w, fa_real *M)
{
    const fa_call own = {
        .in = {call->in[0]}, .out = M, .work = w->rest, .states = call->states};

    if (model->fidelity != FA_LINEAR) {
        mm_run(model, call->in[0], w->rest, M);
    } else if (inverse) {
        li_mass_inverse(model, &own);
    } else {
        li_mass_matrix(model, &own);
    }
}

/* K and C at the accelerations of forward dynamics, and the factors of M, or of linear
 * models M^-1 */
static void ft_prepare(const fa_model *model, const fa_call *call, const ft_work *w)
{
    const fa_real *q = call->in[0], *qd = call->in[1], *tau = call->in[2];

    if (rt_knows(model)) {
        const rt_work rigid = rt_split(model, w->rest);
        rt_forward(model, q, qd, tau, &rigid, w->M);
        rt_finish(model, &rigid, w->K, w->C);
        jf_derivatives_add(model, q, qd, w->K, w->C);
        return;
    }
    if (model->fidelity == FA_LINEAR) {
        li_forward(model, call->states, q, qd, tau, w->rest, w->qdd);
    } else {
        fo_forward(model, q, qd, tau, w->rest, w->qdd);
    }
    tg_run(model, call->states, q, qd, w->qdd, w->rest, w->K, w->C);
    ft_mass(model, call, 1, w, w->M);
    if (model->fidelity != FA_LINEAR) {
        ldl_factor(model->nv, w->M);
    }
}

/* W = L'^-1 D^-1 L^-1, whole, from the factors of ldl_factor, which become L^-1 */
FA_NOINLINE void ft_inverse(int n, fa_real *restrict S, fa_real *restrict W)
{
    for (int i = 1; i < n; i++) { /* row i of L^-1 = -l_i L^-1 of the rows before */
        for (int j = 0; j < i; j++) {
            fa_real sum = S[i * n + j];
            for (int k = j + 1; k < i; k++) {
                sum += S[i * n + k] * S[k * n + j];
            }
            W[j] = -sum;
        }
        for (int j = 0; j < i; j++) {
            S[i * n + j] = W[j];
        }
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            fa_real sum = S[i * n + i] * (i == j ? fa_splat(1.0) : S[i * n + j]);
            for (int k = i + 1; k < n; k++) {
                sum += S[k * n + i] * S[k * n + k] * S[k * n + j];
            }
            W[i * n + j] = W[j * n + i] = sum;
        }
    }
}

/* r x c entries of Y = -A B, sums in registers */
FA_INLINE void ft_tile(const int r, const int c, int n, const fa_real *restrict A,
                       const fa_real *restrict B, fa_real *restrict Y)
{
    fa_real sum[2][4] = {{{0}}};

    for (int k = 0; k < n; k++) {
        for (int i = 0; i < r; i++) {
            for (int j = 0; j < c; j++) {
                sum[i][j] -= A[i * n + k] * B[k * n + j];
            }
        }
    }
    for (int i = 0; i < r; i++) {
        for (int j = 0; j < c; j++) {
            Y[i * n + j] = sum[i][j];
        }
    }
}

/* r rows of Y = -A B */
FA_INLINE void ft_rows(const int r, int n, const fa_real *restrict A,
                       const fa_real *restrict B, fa_real *restrict Y)
{
    int j = 0;

    for (; j + 4 <= n; j += 4) {
        ft_tile(r, 4, n, A, B + j, Y + j);
    }
    if (n - j == 3) {
        ft_tile(r, 3, n, A, B + j, Y + j);
    } else if (n - j == 2) {
        ft_tile(r, 2, n, A, B + j, Y + j);
    } else if (n - j == 1) {
        ft_tile(r, 1, n, A, B + j, Y + j);
    }
}

/* Y = -A B, all n x n */
FA_NOINLINE void ft_multiply(int n, const fa_real *restrict A,
                             const fa_real *restrict B, fa_real *restrict Y)
{
    int i = 0;

    for (; i + 2 <= n; i += 2) {
        ft_rows(2, n, A + i * n, B, Y + i * n);
    }
    if (i < n) {
        ft_rows(1, n, A + i * n, B, Y + i * n);
    }
}

/* y += sign A x, or A'x */
FA_INLINE void ft_add(int n, const double sign, const int transposed,
                      const fa_real *restrict A, const fa_real *restrict x,
                      fa_real *restrict y)
{
    for (int i = 0; i < n; i++) {
        fa_real sum = {0};
        for (int j = 0; j < n; j++) {
            sum += (transposed ? A[j * n + i] : A[i * n + j]) * x[j];
        }
        y[i] += sign * sum;
    }
}

/* dqdd/dq, dqdd/dqd, dqdd/dtau: output [3][nv][nv] (G1) */
static void ft_derivatives(const fa_model *model, const fa_call *call)
{
    const ft_work w = ft_split(model, call->work);
    const int nv = model->nv, size = nv * nv;
    fa_real *inverse = call->out + 2 * size;

    if (model->branches) {
        bt_derivatives(model, call);
        return;
    }
    ft_prepare(model, call, &w);
    if (model->fidelity == FA_LINEAR) {
        memcpy(inverse, w.M, (size_t)size * sizeof *inverse);
    } else {
        ft_inverse(nv, w.M, inverse);
    }
    ft_multiply(nv, inverse, w.K, call->out);
    ft_multiply(nv, inverse, w.C, call->out + size);
}

/*
 * Along changes x, y, u of q, qd, qdd the change of tau; u may be NULL. The model is not
 * linear; work [ft_swept_size(model)].
 */
FA_NOINLINE void ft_along(const fa_model *model, const fa_real *q, const fa_real *qd,
                          const fa_real *qdd, const fa_real *x, const fa_real *y,
                          const fa_real *u, fa_real *work, fa_real *tau)
{
    if (!model->tree) {
        if (rt_knows(model)) {
            rp_along(model, q, qd, qdd, x, y, u, work, tau);
        } else {
            tp_along(model, q, qd, qdd, x, y, u, work, tau);
        }
        return;
    }
    const fa_model *tree = model->tree; /* (L6) */
    const int n = tree->nv;
    const fa_real *const given[] = {qd, qdd, x, y, u};
    fa_real *full = work + tree->nq, *full_tau = full + 5 * n;

    fo_positions(model, q, work);
    for (int i = 0; i < (u ? 5 : 4); i++) {
        fo_velocities(model, given[i], full + i * n);
    }
    ft_along(tree, work, full, full + n, full + 2 * n, full + 3 * n,
             u ? full + 4 * n : NULL, full_tau + n, full_tau);
    fo_sum(model, 1, 1, full_tau, tau);
}

/* back, of a cotangent l of tau: those of q, qd, qdd in out [3][nv]; without the last one
 * if `resting` */
FA_NOINLINE void ft_back(const fa_model *model, const int resting, const fa_real *q,
                         const fa_real *qd, const fa_real *qdd, const fa_real *l,
                         fa_real *work, fa_real *out)
{
    const int nv = model->nv;
    fa_real *last = resting ? NULL : out + 2 * nv;

    if (!model->tree) {
        if (rt_knows(model)) {
            rp_back(model, q, qd, qdd, l, work, out, out + nv, last);
        } else {
            tp_back(model, q, qd, qdd, l, work, out, out + nv, last);
        }
        return;
    }
    const fa_model *tree = model->tree;
    const int n = tree->nv;
    const fa_real *const given[] = {qd, qdd, l};
    fa_real *full = work + tree->nq, *results = full + 3 * n;

    fo_positions(model, q, work);
    for (int i = 0; i < 3; i++) {
        fo_velocities(model, given[i], full + i * n);
    }
    ft_back(tree, resting, work, full, full + n, full + 2 * n, results + 3 * n,
            results);
    fo_sum(model, resting ? 2 : 3, 1, results, out);
}

/* y = M^-1 x (q); the model is not linear */
static void ft_weigh(const fa_model *model, const fa_real *q, const fa_real *x,
                     fa_real *work, fa_real *y)
{
    const fa_call own = {.in = {q, x}, .out = y, .work = work};

    if (model->tree) {
        fo_apply_inverse(model, &own);
    } else {
        mi_apply_inverse(model, &own);
    }
}

/* K dq + C dqd + M dqdd at q, qd, qdd */
static void ft_inverse_jvp(const fa_model *model, const fa_call *call)
{
    const ft_work w = ft_split(model, call->work);
    const int nv = model->nv;

    if (model->fidelity != FA_LINEAR) {
        ft_along(model, call->in[0], call->in[1], call->in[2], call->in[3], call->in[4],
                 call->in[5], call->work, call->out);
        return;
    }
    tg_run(model, call->states, call->in[0], call->in[1], call->in[2], w.rest, w.K,
           w.C);
    ft_mass(model, call, 0, &w, w.M);
    fa_zero(call->out, nv);
    ft_add(nv, 1.0, 0, w.K, call->in[3], call->out);
    ft_add(nv, 1.0, 0, w.C, call->in[4], call->out);
    ft_add(nv, 1.0, 0, w.M, call->in[5], call->out);
}

/* K'l, C'l, M l of a cotangent l: output [3][nv] */
static void ft_inverse_vjp(const fa_model *model, const fa_call *call)
{
    const ft_work w = ft_split(model, call->work);
    const int nv = model->nv;

    if (model->fidelity != FA_LINEAR) {
        ft_back(model, 0, call->in[0], call->in[1], call->in[2], call->in[3],
                call->work, call->out);
        return;
    }
    tg_run(model, call->states, call->in[0], call->in[1], call->in[2], w.rest, w.K,
           w.C);
    ft_mass(model, call, 0, &w, w.M);
    fa_zero(call->out, 3 * nv);
    ft_add(nv, 1.0, 1, w.K, call->in[3], call->out);
    ft_add(nv, 1.0, 1, w.C, call->in[3], call->out + nv);
    ft_add(nv, 1.0, 0, w.M, call->in[3], call->out + 2 * nv);
}

/* the change of qdd along changes of q, qd, tau (G2) */
static void ft_forward_jvp(const fa_model *model, const fa_call *call)
{
    const ft_work w = ft_split(model, call->work);
    const int nv = model->nv;
    const fa_real *q = call->in[0], *qd = call->in[1], *change = call->in[5];

    if (rt_knows(model)) {
        rp_forward_along(model, q, qd, call->in[2], call->in[3], call->in[4], change,
                         call->work, call->out);
        return;
    }
    if (model->fidelity != FA_LINEAR) {
        fa_real *rest = w.x + nv;
        fo_forward(model, q, qd, call->in[2], rest, w.qdd);
        ft_along(model, q, qd, w.qdd, call->in[3], call->in[4], NULL, rest, w.x);
        for (int i = 0; i < nv; i++) {
            w.x[i] = change[i] - w.x[i];
        }
        ft_weigh(model, q, w.x, rest, call->out);
        return;
    }
    ft_prepare(model, call, &w);
    memcpy(w.qdd, change, (size_t)nv * sizeof(fa_real));
    ft_add(nv, -1.0, 0, w.K, call->in[3], w.qdd);
    ft_add(nv, -1.0, 0, w.C, call->in[4], w.qdd);
    fa_zero(call->out, nv);
    ft_add(nv, 1.0, 0, w.M, w.qdd, call->out);
}

/* its adjoint: output [3][nv] (G3) */
static void ft_forward_vjp(const fa_model *model, const fa_call *call)
{
    const ft_work w = ft_split(model, call->work);
    const int nv = model->nv;
    const fa_real *q = call->in[0], *qd = call->in[1], *l = call->in[3];
    fa_real *lambda = call->out + 2 * nv;

    if (rt_knows(model)) {
        rp_forward_back(model, q, qd, call->in[2], l, call->work, call->out);
        return;
    }
    if (model->fidelity != FA_LINEAR) {
        fa_real *rest = w.x + nv;
        fo_forward(model, q, qd, call->in[2], rest, w.qdd);
        ft_weigh(model, q, l, rest, lambda);
        ft_back(model, 1, q, qd, w.qdd, lambda, rest, call->out);
        for (int i = 0; i < 2 * nv; i++) {
            call->out[i] = -call->out[i];
        }
        return;
    }
    ft_prepare(model, call, &w);
    fa_zero(call->out, 3 * nv);
    ft_add(nv, 1.0, 0, w.M, l, lambda);
    ft_add(nv, -1.0, 1, w.K, lambda, call->out);
    ft_add(nv, -1.0, 1, w.C, lambda, call->out + nv);
}

#endif
