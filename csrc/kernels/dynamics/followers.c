/*
 * followers.c -- kernels that divide by the mass matrix of independent coordinates
 *
 *             M = B' M_tree B = L D L' of each lane (L6), for what grouped_forward.c does
 *             not do: arms with modes, M^-1 itself, M^-1 x, log det M, J M^-1 J'
 * Cost        O(nv^3)
 * Checked by  tests/constraints/test_followers.py.
 */
#ifndef FA_FOLLOWERS_C
#define FA_FOLLOWERS_C

#include "calls/call.h"
#include "kernels/bodies/followers.h"
#include "kernels/dynamics/forward_steps.h"
#include "kernels/dynamics/forward_work.h"
#include "kernels/dynamics/inverse_steps.h"
#include "kernels/dynamics/mass_inverse.c"
#include "kernels/dynamics/mass_matrix.c"
#include "kernels/kinematics/kinematics.c"
#include "lanes/dense_lanes.h"
#include "lanes/lane.h"
#include "model/layout.h"

/* whether forward dynamics of an arm is that of M and LAPACK's kind */
FA_INLINE int fo_is_dense(const fa_model *model)
{
    return model->tree && !model->tree->grouping;
}

static size_t fo_forward_work_size(const fa_model *model)
{
    const size_t nv = (size_t)model->nv;
    const size_t M = mm_work_size(model), C = id_work(model);
    return fo_is_dense(model) ? nv * nv + (M > C ? M : C) : fd_work_size(model);
}

/* accelerations of any arm, without constraints; as fd_run */
static void fo_forward(const fa_model *model, const fa_real *q, const fa_real *qd,
                       const fa_real *tau, fa_real *work, fa_real *qdd)
{
    const int nv = model->nv;
    fa_real *M = work, *rest = M + nv * nv;

    if (!fo_is_dense(model)) {
        fd_run(model, q, qd, tau, work, qdd);
        return;
    }
    id_run(model, ID_MOTION, q, qd, NULL, rest, qdd);
    for (int i = 0; i < nv; i++) {
        qdd[i] = tau[i] - qdd[i];
    }
    mm_run(model, q, rest, M);
    ldl_factor(nv, M);
    ldl_solve(nv, M, qdd);
}

/* scratch of the kernels below: M, then that of others */
static size_t fo_mass_work_size(const fa_model *model)
{
    const size_t nv = (size_t)model->nv;
    return nv * nv + mm_work_size(model);
}

/* factors of M at q, at the start of the scratch */
static void fo_factor(const fa_model *model, const fa_call *call)
{
    const int nv = model->nv;

    mm_run(model, call->in[0], call->work + nv * nv, call->work);
    ldl_factor(nv, call->work);
}

static void fo_dense_forward(const fa_model *model, const fa_call *call)
{
    const int nv = model->nv;
    fa_real *M = call->work, *rest = M + nv * nv;

    id_run(model, ID_MOTION, call->in[0], call->in[1], NULL, rest, call->out);
    for (int i = 0; i < nv; i++) {
        call->out[i] = call->in[2][i] - call->out[i];
    }
    fo_factor(model, call);
    ldl_solve(nv, M, call->out);
}

static size_t fo_dense_work_size(const fa_model *model)
{
    const size_t nv = (size_t)model->nv;
    const size_t M = mm_work_size(model), C = id_work(model);
    return nv * nv + (M > C ? M : C);
}

/* M^-1 (q), symmetric bit for bit */
static void fo_inverse(const fa_model *model, const fa_call *call)
{
    const int nv = model->nv;
    fa_real *column = call->work + nv * nv;

    fo_factor(model, call);
    for (int j = 0; j < nv; j++) {
        fa_zero(column, nv);
        column[j] = fa_splat(1.0);
        ldl_solve(nv, call->work, column);
        for (int i = j; i < nv; i++) {
            call->out[i * nv + j] = call->out[j * nv + i] = column[i];
        }
    }
}

/* M^-1 x (q, x) */
static void fo_apply_inverse(const fa_model *model, const fa_call *call)
{
    fo_factor(model, call);
    memcpy(call->out, call->in[1], (size_t)model->nv * sizeof(fa_real));
    ldl_solve(model->nv, call->work, call->out);
}

/* log det M (q); the diagonal of the factors has reciprocals */
static void fo_log_det(const fa_model *model, const fa_call *call)
{
    fa_real sum = {0};

    fo_factor(model, call);
    for (int i = 0; i < model->nv; i++) {
        sum -= mi_log(call->work[i * (model->nv + 1)]);
    }
    call->out[0] = sum;
}

/* scratch of fo_compliance */
static size_t fo_compliance_work_size(const fa_model *model)
{
    const size_t nv = (size_t)model->nv, n = (size_t)model->tree->nv;
    return fo_mass_work_size(model) + 12 * nv + 6 * n + (size_t)model->tree->nq +
           kin_node_work_size(model->tree);
}

/* J_a M^-1 J_b' of a pair of nodes, J in their own axes: output [6][6] */
static void fo_compliance(const fa_model *model, const fa_call *call)
{
    const fa_model *tree = model->tree;
    const int nv = model->nv, nodes[2] = {call->index, call->second};
    fa_real *J = call->work + fo_mass_work_size(model), *full = J + 12 * nv;
    fa_real *q = full + 6 * tree->nv;

    fo_factor(model, call);
    fo_positions(model, call->in[0], q);
    for (int side = 0; side < 2; side++) {
        const fa_call own = {.in = {q},
                             .out = full,
                             .work = q + tree->nq,
                             .index = nodes[side],
                             .states = call->states};
        kin_jacobian(tree, &own);
        fo_sum(model, 6, 1, full, J + side * 6 * nv);
    }
    for (int j = 0; j < 6; j++) {
        fa_real *column = J + (6 + j) * nv;
        ldl_solve(nv, call->work, column);
        for (int i = 0; i < 6; i++) {
            fa_real sum = {0};
            for (int k = 0; k < nv; k++) {
                sum += J[i * nv + k] * column[k];
            }
            call->out[6 * i + j] = sum;
        }
    }
    for (int i = 0; i < 36 && nodes[0] == nodes[1]; i++) {
        if (i / 6 < i % 6) {
            call->out[i % 6 * 6 + i / 6] = call->out[i];
        }
    }
}

#endif
