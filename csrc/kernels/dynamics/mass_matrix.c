/*
 * mass_matrix.c -- M(q) by the composite-body recursion
 *
 * Recursion   R_rr(k) = M_rr + phi R_rr(child) phi', R_rf, R_ff likewise         (C1)
 *             columns X = R_rf (modes) and R_rr S (joint) of a body, then rows of
 *             everything inboard of it: (Lambda; U)'X and S'X                   (C2)
 *             R_rr is the inertia of everything outboard with all joints and modes
 *             frozen, a rigid one: mass, first moment and 3 x 3 inertia suffice.
 * Axes        C1 in the axes of each body. Rows and columns of C2 are turned once, to
 *             the axes of the root of the tree, about its first body that turns: an
 *             entry is then a product of six numbers, and where the root is does not
 *             matter, however far.
 * Result      rows of the joints first, then the modes: the lower triangle by rows, or the
 *             full matrix, into which it is mirrored.
 * Cost        O(bodies^2 * modes^2).
 * Source      Jain and Rodriguez, US patent 5,546,508, eqs. 47 and 50.
 * Checked by  tests/dynamics/test_dynamics.py: Lagrangian, twin;
 *             tests/dynamics/test_mass_matrix.py: ID with
 *             unit accelerations, trees, bases far away.
 */
#ifndef FA_MASS_MATRIX_C
#define FA_MASS_MATRIX_C

#include "calls/call.h"
#include "kernels/bodies/branches.h"
#include "kernels/bodies/followers.h"
#include "kernels/bodies/joint.h"
#include "kernels/bodies/straight.h"
#include "kernels/bodies/straight_hop.h"
#include "kernels/dynamics/composite_bodies.h"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/kinds.h"
#include "model/layout.h"

/* numbers on the paths of a model, if it has any */
static size_t mm_pairs_size(const fa_model *model)
{
    return model->branches ? (size_t)model->branches->n_pairs + 1 : 0;
}

static size_t mm_work_size(const fa_model *model)
{
    if (model->tree) {
        const size_t n = (size_t)model->tree->nv;
        return (size_t)model->tree->nq + mm_pairs_size(model) +
               (model->branches ? mm_pairs_size(model->tree)
                                : n * n + n * (size_t)model->nv) +
               mm_work_size(model->tree);
    }
    const size_t own = sizeof(mm_body) + (model->n_modes > 0) * sizeof(straight_node);
    const size_t bodies = (size_t)model->n_bodies * own;
    return (bodies + sizeof(fa_real) - 1) / sizeof(fa_real) +
           12 * (size_t)model->sum_parent_modes + 6 * (size_t)model->nv +
           (size_t)model->sum_triangles + mm_pairs_size(model);
}

FA_INLINE fa_real mm_product(const fa_real *row, const fa_real *X)
{
    return fa_dot(row, X) + fa_dot(row + 3, X + 3);
}

/* row i of the lower triangle, and its entries from column j on */
FA_INLINE fa_real *mm_row(const mm_work *w, int i, int j, fa_real *M)
{
    return M + (w->stride > 0 ? i * w->stride + j : fa_tri(i, j));
}

/* entries of row i from column first <= i on, as many as a joint or all modes have */
FA_INLINE fa_real *mm_at(const mm_work *w, int i, int first, fa_real *M)
{
    return w->paths ? M + w->paths->first[i] + br_depth(w->paths, first)
                    : mm_row(w, i, first, M);
}

/* entries of `count` coordinates, with these rows, in column i > first */
FA_INLINE void mm_entries(int count, const fa_real *rows, const fa_real *X,
                          fa_real *entries)
{
    for (int t = 0; t < count; t++) {
        entries[t] = mm_product(rows + 6 * t, X);
    }
}

/* the same in column i < first, which is a row of the lower triangle */
FA_INLINE void mm_entries_below(const mm_work *w, int first, int count,
                                const fa_real *rows, int i, const fa_real *X,
                                fa_real *M)
{
    for (int t = 0; t < count; t++) {
        *mm_row(w, first + t, i, M) = mm_product(rows + 6 * t, X);
    }
}

/* entries of the joint of a root */
FA_INLINE void mm_root(const fa_body *b, const fa_real *X, fa_real *entries)
{
    for (int j = 0; j < b->n_dof; j++) {
        entries[j] = joint_force(b, j, X);
    }
}

/*
 * Rows of everything inboard of body k for its column X (moment; force) of coordinate i,
 * of a mode or of a joint (C2). In a chain they are all screws and rows before it.
 */
FA_INLINE void mm_column(const fa_model *model, const mm_work *w, int k, int i,
                         const int is_mode, const fa_real *X, fa_real *M)
{
    const int nu = model->nu;
    const fa_body *b = model->bodies + k;
    fa_real x[6]; /* stores to M do not change it: it stays in registers */

    mm_copy(X, 6, x);
    if (w->is_chain && !w->paths) {
        const int root = model->bodies[0].n_dof, modes = b->mode_at - nu;
        const int joints = w->body[k].joints;
        mm_root(model->bodies, x, mm_row(w, i, 0, M));
        mm_entries(joints - root, w->screws + 6 * root, x, mm_row(w, i, root, M));
        if (is_mode) {
            mm_entries(modes, w->rows, x, mm_row(w, i, nu, M));
        } else {
            mm_entries_below(w, nu, modes, w->rows, i, x, M);
        }
        return;
    }
    for (; b->parent >= 0; b = model->bodies + b->parent) {
        const fa_body *bp = model->bodies + b->parent;
        const fa_real *rows = w->rows + 6 * b->hop_at;
        if (is_mode) {
            mm_entries(b->parent_modes, rows, x, mm_row(w, i, bp->mode_at, M));
        } else {
            mm_entries_below(w, bp->mode_at, b->parent_modes, rows, i, x, M);
        }
        if (bp->n_dof == 0) {
            continue;
        }
        fa_real *entries = mm_at(w, i, bp->joint_at, M);
        if (bp->parent < 0) {
            mm_root(bp, x, entries);
        } else {
            mm_entries(bp->n_dof, w->screws + 6 * bp->joint_at, x, entries);
        }
    }
}

/* wrench (moment; force) in body axes to one as mm_column takes it; X may be F */
FA_INLINE void mm_wrench(const mm_body *self, const fa_real *F, fa_real *X)
{
    fa_real force[3], moment[3];
    mm_move(self->R, self->x, F + 3, F, force, moment);
    mm_copy(moment, 3, X);
    mm_copy(force, 3, X + 3);
}

/* entries among the modes of a body, and of its joint; then those with all inboard */
FA_NOINLINE void mm_modes(const fa_model *model, const mm_work *w, int k, fa_real *M)
{
    const fa_body *b = model->bodies + k;

    for (int r = 0; r < b->n_modes; r++) {
        fa_real *X = w->X + 6 * (b->own_at + r), *row = mm_row(w, b->mode_at + r, 0, M);
        mm_copy(w->ff + b->tri_at + fa_tri(r, 0), r + 1, row + b->mode_at);
        for (int j = 0; j < b->n_dof; j++) {
            row[b->joint_at + j] = joint_force(b, j, X);
        }
        if (b->parent >= 0) {
            mm_wrench(w->body + k, X, X);
            mm_column(model, w, k, b->mode_at + r, 1, X, M);
        }
    }
}

/* entries among the freedoms of a wide joint, then those with all inboard */
FA_NOINLINE void mm_wide(const fa_model *model, const mm_work *w, int k, fa_real *M)
{
    const fa_body *b = model->bodies + k;
    const mm_body *self = w->body + k;

    for (int j = 0; j < b->n_dof; j++) {
        fa_real S[6], X[6], *row = mm_at(w, b->joint_at + j, b->joint_at, M);
        joint_screw(b, j, S);
        mm_rigid_mul(self->m, self->h, self->J, S, S + 3, X);
        for (int i = 0; i <= j; i++) {
            row[i] = joint_project(b, i, X);
        }
        row[j] += b->armature[j];
        if (b->parent >= 0) {
            mm_wrench(self, X, X);
            mm_column(model, w, k, b->joint_at + j, 0, X, M);
        }
    }
}

/* the same for a joint along z */
FA_NOINLINE void mm_joint(const fa_model *model, const mm_work *w, int k, fa_real *M)
{
    const fa_body *b = model->bodies + k;
    const mm_body *self = w->body + k;
    const fa_real *h = self->h, *J = self->J, *R = self->R, zero = {0};
    fa_real X[6];

    *mm_at(w, b->joint_at, b->joint_at, M) =
        (b->joint == FA_JOINT_REVOLUTE ? J[5] : self->m) + b->armature[0];
    if (b->parent < 0) {
        return;
    }
    if (b->joint == FA_JOINT_REVOLUTE) {
        const fa_real moment[3] = {J[2], J[4], J[5]};
        for (int i = 0; i < 3; i++) {
            X[3 + i] = R[3 * i + 1] * h[0] - R[3 * i] * h[1];
        }
        fa_rotate(X, R, moment);
        fa_cross_add(X, self->x, X + 3);
    } else {
        const fa_real slide[6] = {h[1], -h[0], zero, zero, zero, self->m};
        mm_wrench(self, slide, X);
    }
    mm_column(model, w, k, b->joint_at, 0, X, M);
}

/* all entries with rows above their column or on it */
static void mm_bodies(const fa_model *model, const fa_real *q, const mm_work *w,
                      fa_real *M)
{
    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        mm_pose(model, b, q, w, w->body + k);
        FA_BODY_STEP(FA_SWITCH_SHAPE, b->straight.kind > 0, mm_start, model, b, q, w,
                     w->body + k)
    }
    for (int k = model->n_bodies - 1; k >= 0; k--) {
        const fa_body *b = model->bodies + k;

        if (b->joint == FA_JOINT_FLOATING) {
            mm_float(b, w, w->body + k);
        }
        if (b->parent >= 0) {
            mm_collect(model, b, w, w->body + k);
        }
        if (!M) {
            continue;
        }
        if (b->n_modes > 0) {
            mm_modes(model, w, k, M);
        }
        if (b->wide) {
            mm_wide(model, w, k, M);
        } else if (b->joint_at >= 0) {
            mm_joint(model, w, k, M);
        }
    }
}

/* M of an arm with branches, the numbers on paths [n_pairs] */
FA_NOINLINE void mm_run_paths(const fa_model *model, const fa_real *q, fa_real *work,
                              fa_real *M)
{
    if (model->tree) { /* (L6) */
        const fa_model *tree = model->tree;
        fa_real *full = work + tree->nq;
        fo_positions(model, q, work);
        mm_run_paths(tree, work, full + mm_pairs_size(tree), full);
        br_sum(model, 1, full, M);
        return;
    }
    mm_work w = mm_split(model, work);

    w.paths = model->branches; /* of joints alone: each number is written */
    mm_bodies(model, q, &w, M);
}

/* the lower triangle of M, its rows `stride` apart or, at 0, [nv(nv+1)/2] numbers; the
 * model has neither branches nor a tree */
FA_INLINE void mm_triangle(const fa_model *model, const fa_real *q, int stride,
                           fa_real *work, fa_real *M)
{
    mm_work w = mm_split(model, work);

    w.stride = stride;
    if (!w.is_chain) {
        fa_zero(M, stride > 0 ? model->nv * stride : fa_tri(model->nv, 0));
    }
    mm_bodies(model, q, &w, M);
}

/* M [nv][nv] of FA_LANES states at q [nq] */
FA_NOINLINE void mm_run(const fa_model *model, const fa_real *q, fa_real *work,
                        fa_real *M)
{
    if (model->branches) {
        mm_run_paths(model, q, work + mm_pairs_size(model), work);
        br_expand(model->branches, work, M);
        return;
    }
    if (model->tree) { /* (L6) */
        const fa_model *tree = model->tree;
        fa_real *full = work + tree->nq, *half = full + tree->nv * tree->nv;
        fo_positions(model, q, work);
        mm_run(tree, work, half + tree->nv * model->nv, full);
        fo_sum_symmetric(model, full, half, M);
        return;
    }
    const int nv = model->nv;

    mm_triangle(model, q, nv, work, M);
    for (int i = 1; i < nv; i++) {
        for (int j = 0; j < i; j++) {
            M[j * nv + i] = M[i * nv + j];
        }
    }
}

static void mm_mass_matrix(const fa_model *model, const fa_call *call)
{
    mm_run(model, call->in[0], call->work, call->out);
}

#endif
