/*
 * branch_tangents.c -- derivatives of forward dynamics of arms with branches
 *
 * Equations   G1 with M = L'D L and K, C of numbers on paths (N3); X7 to X10, G4 and G5 of
 *             rigid_tangents.c on them, also of a tree whose joints follow others (L6)
 * Cost        n^2 d for each of the three, paths of length d, in place of n^3.
 * Source      J. Carpentier, N. Mansard, Robotics: Science and Systems 2018, eq. 10.
 * Checked by  tests/dynamics/test_branches.py: complex step of the twin; Pinocchio.
 */
#ifndef FA_BRANCH_TANGENTS_C
#define FA_BRANCH_TANGENTS_C

#include "calls/call.h"
#include "kernels/bodies/branches.h"
#include "kernels/bodies/followers.h"
#include "kernels/bodies/joint_forces.h"
#include "kernels/derivatives/linear.c"
#include "kernels/derivatives/rigid_tangents.c"
#include "kernels/dynamics/branch_factors.h"
#include "kernels/dynamics/followers.c"
#include "kernels/dynamics/mass_matrix.c"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/kinds.h"
#include "model/layout.h"

/* M [n_pairs + 1], K and C [br_size] of a model */
typedef struct {
    fa_real *M, *K, *C;
} bt_parts;

static size_t bt_parts_size(const fa_branches *b)
{
    return 5 * (size_t)b->n_pairs + 3;
}

static bt_parts bt_split(const fa_branches *b, fa_real *work)
{
    return (bt_parts){work, work + b->n_pairs + 1, work + b->n_pairs + 1 + br_size(b)};
}

/* the arm with a coordinate at each joint */
FA_INLINE const fa_model *bt_tree(const fa_model *model)
{
    return model->tree ? model->tree : model;
}

/* whether K and C come from the recursions of rigid_tangents.c */
static int bt_is_rigid(const fa_model *model)
{
    return rt_knows(bt_tree(model));
}

/* scratch of what the numbers on paths come from */
static size_t bt_rest_size(const fa_model *model)
{
    const size_t nv = (size_t)model->nv;
    const size_t sizes[] = {mm_work_size(model), fo_forward_work_size(model),
                            tg_work_size(model)};
    size_t most = 0;

    if (bt_is_rigid(model)) {
        const fa_model *tree = bt_tree(model);
        return rt_work_size(tree) + (size_t)tree->nq + 2 * (size_t)tree->nv +
               bt_parts_size(tree->branches);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        most = sizes[i] > most ? sizes[i] : most;
    }
    return 2 * nv * nv + most;
}

static size_t bt_work_size(const fa_model *model)
{
    const size_t nv = (size_t)model->nv;
    return bt_parts_size(model->branches) + (FA_BRANCH_TILE + 1) * nv +
           bt_rest_size(model);
}

/* M and C (G4) of all joints */
static void bt_mass(const fa_model *model, const rt_work *work, const fa_real *qd,
                    fa_real *M, fa_real *C)
{
    const fa_branches *paths = model->branches;

    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        const int at = b->joint_at;
        if (at < 0) {
            continue;
        }
        const rt_joint own = work->joints[at];
        const rt_body *w = work->bodies + k;
        C[at] =
            fa_dot(own.J, w->f) + fa_dot(own.J + 3, w->f + 3) + b->damping[0] * qd[at];
        for (int p = paths->first[at]; p < paths->first[at + 1]; p++) {
            const fa_real *J = work->joints[paths->other[p]].J;
            M[p] = fa_dot(own.A, J) + fa_dot(own.A + 3, J + 3);
        }
        M[paths->first[at + 1] - 1] += b->armature[0];
    }
}

/* K and C of the joint of body k: as rt_pairs */
FA_NOINLINE void bt_pairs(const fa_model *model, const rt_work *work, int k,
                          fa_real *restrict K, fa_real *restrict C)
{
    const fa_branches *b = model->branches;
    const int at = model->bodies[k].joint_at, last = b->first[at + 1] - 1;
    const rt_joint *joints = work->joints;
    const rt_joint own = joints[at];
    fa_real changes[12];

    rt_deltas(work->bodies + k, joints + at, changes, changes + 6);
    for (int p = b->first[at]; p <= last; p++) {
        rt_row(&own, joints + b->other[p], K + p, C + p);
    }
    C[last] += model->bodies[k].damping[0];
    for (int p = b->first[at]; p < last; p++) {
        rt_column(joints[b->other[p]].J, changes, K + b->n_pairs + p,
                  C + b->n_pairs + p);
    }
}

/* K and C after the second sweep, with forces inside joints, which have no motors here */
static void bt_finish(const fa_model *model, const rt_work *work, const fa_real *q,
                      const fa_real *qd, fa_real *K, fa_real *C)
{
    const fa_branches *b = model->branches;

    rt_screws(model, work);
    for (int k = 0; k < model->n_bodies; k++) {
        if (model->bodies[k].joint_at >= 0) {
            bt_pairs(model, work, k, K, C);
        }
    }
    for (int i = 0; i < model->n_passive; i++) {
        const fa_passive *p = model->passive + i;
        const int at = b->first[p->joint + 1] - 1;
        fa_real k, c;
        jf_slopes(p, q[p->joint_at], qd[p->joint], &k, &c);
        K[at] += k;
        C[at] += c;
    }
    K[2 * b->n_pairs] = C[2 * b->n_pairs] = (fa_real){0};
}

/* factors of M, and K and C, of rigid arms; x [nv] */
FA_NOINLINE void bt_rigid(const fa_model *model, const fa_real *q, const fa_real *qd,
                          const fa_real *tau, const bt_parts *out, fa_real *x,
                          fa_real *work)
{
    const fa_model *tree = bt_tree(model);
    const rt_work w = rt_split(tree, work);
    fa_real *full_q = work + rt_work_size(tree), *full_qd = full_q + tree->nq;
    fa_real *full_x = full_qd + tree->nv;
    bt_parts of = *out;

    if (model->tree) {
        of = bt_split(tree->branches, full_x + tree->nv);
        fo_positions(model, q, full_q);
        fo_velocities(model, qd, full_qd);
        q = full_q;
        qd = full_qd;
    } else {
        full_x = x;
    }
    rt_outward(tree, q, qd, NULL, &w);
    rt_inward(tree, &w);
    bt_mass(tree, &w, qd, of.M, full_x);
    if (tree->n_passive > 0) {
        jf_add(tree, 1.0, q, qd, full_x);
    }
    if (model->tree) {
        br_sum(model, 1, of.M, out->M);
        fo_sum(model, 1, 1, full_x, x);
    }
    for (int i = 0; i < model->nv; i++) {
        x[i] = tau[i] - x[i];
    }
    br_factor(model->branches, out->M);
    br_solve(model->branches, out->M, x);
    if (model->tree) {
        fo_velocities(model, x, full_x);
    }
    rt_accelerate(tree, &w, full_x);
    bt_finish(tree, &w, q, qd, of.K, of.C);
    if (model->tree) {
        br_sum(model, 0, of.K, out->K);
        br_sum(model, 0, of.C, out->C);
    }
}

/* the same of any arm, by full matrices */
FA_NOINLINE void bt_any(const fa_model *model, const fa_call *call, const bt_parts *out,
                        fa_real *x, fa_real *work)
{
    const fa_real *q = call->in[0], *qd = call->in[1];
    const int size = model->nv * model->nv;
    fa_real *K = work, *C = work + size, *rest = work + 2 * size;

    fo_forward(model, q, qd, call->in[2], rest, x);
    tg_run(model, call->states, q, qd, x, rest, K, C);
    br_take(model->branches, K, out->K);
    br_take(model->branches, C, out->C);
    mm_run_paths(model, q, rest, out->M);
    br_factor(model->branches, out->M);
}

/* what the derivatives are solved for with, and scratch of a tile */
typedef struct {
    bt_parts parts;
    fa_real *T, finite[FA_BRANCH_TILE]; /* 0 x summed over all numbers */
} bt_state;

static bt_state bt_prepare(const fa_model *model, const fa_call *call)
{
    const fa_branches *b = model->branches;
    fa_real *x = call->work + bt_parts_size(b);
    bt_state s = {.parts = bt_split(b, call->work), .T = x + model->nv};
    fa_real *rest = s.T + FA_BRANCH_TILE * model->nv;

    if (bt_is_rigid(model)) {
        bt_rigid(model, call->in[0], call->in[1], call->in[2], &s.parts, x, rest);
    } else {
        bt_any(model, call, &s.parts, x, rest);
    }
    fa_zero(s.finite, FA_BRANCH_TILE);
    return s;
}

/* part 0, 1, 2 of G1: dqdd/dq, dqdd/dqd, dqdd/dtau [nv][nv], whose entries between
 * different trees are zero before */
FA_NOINLINE void bt_part(const fa_branches *b, bt_state *s, int part, fa_real *X)
{
    const fa_real *const right[2] = {s->parts.K, s->parts.C};

    for (int tile = 0; tile < b->n_tiles; tile++) {
        if (part < 2) {
            br_solve_tile(b, s->parts.M, right[part], tile, s->T, s->finite, X);
        } else {
            br_inverse_tile(b, s->parts.M, tile, s->T, s->finite, X);
        }
    }
}

/* all parts: output [3][nv][nv] (G1) */
static void bt_derivatives(const fa_model *model, const fa_call *call)
{
    bt_state s = bt_prepare(model, call);

    fa_zero(call->out, 3 * model->nv * model->nv);
    for (int part = 0; part < 3; part++) {
        bt_part(model->branches, &s, part, call->out + part * model->nv * model->nv);
    }
}

#endif
