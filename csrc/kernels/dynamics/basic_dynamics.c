/*
 * basic_dynamics.c -- accelerations by articulated bodies, modes and joint freed at once
 *
 * Recursion   P = M_m + children, D = H P H' + a, G = P H' D^-1, P+ = P - G D G'      (51)
 *             z = P a_m + b_m + K eta + children, eps = tau - H z,
 *             nu = D^-1 eps, z+ = z + G eps                                       (58)
 *             outward: chi_dot = nu - G' alpha+, alpha = alpha+ + H' chi_dot + a_m
 *             with H = diag(1, S'): rows of the modes, then of the joint. Only the rigid
 *             blocks of P+ and z+ cross the joint, so only these are formed.
 * Use         the basic form beside the split one of forward_dynamics.c, which inverts
 *             smaller matrices: a second way to the same numbers, and a benchmark.
 * Source      Jain and Rodriguez, US patent 5,546,508, eqs. 51 and 58.
 * Checked by  tests/dynamics/test_dynamics.py,
 *             tests/dynamics/test_patent_01_to_17.py (test 8).
 */
#ifndef FA_BASIC_DYNAMICS_C
#define FA_BASIC_DYNAMICS_C

#include "calls/call.h"
#include "kernels/bodies/floating.h"
#include "kernels/bodies/hop.h"
#include "kernels/bodies/joint.h"
#include "kernels/dynamics/constraint_rows.h"
#include "kernels/dynamics/constraints.c"
#include "kernels/dynamics/forward_rows.h"
#include "kernels/dynamics/forward_steps.h"
#include "kernels/dynamics/forward_work.h"
#include "kernels/dynamics/mass_inverse.c"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/kinds.h"
#include "model/layout.h"

/* rows of the bodies before, and their triangles; r: a second fd_work for these */
typedef struct {
    fd_work f, r;
    int row, tri;
} ba_work;

static int ba_rows(const fa_body *b)
{
    return b->n_modes + b->n_dof;
}

static int ba_triangle(const fa_body *b)
{
    return ba_rows(b) * (ba_rows(b) + 1) / 2;
}

static int ba_triangles(const fa_model *model)
{
    int total = 0;
    for (int k = 0; k < model->n_bodies; k++) {
        total += ba_triangle(model->bodies + k);
    }
    return total;
}

static size_t ba_tree_size(const fa_model *model)
{
    return fd_work_size(model) + 8 * (size_t)model->nv + (size_t)ba_triangles(model);
}

static ba_work ba_split(const fa_model *model, fa_real *work)
{
    ba_work w = {.f = fd_split(model, work)};
    w.r.z_f = work + fd_work_size(model);
    w.r.pivot = w.r.z_f + model->nv;
    w.r.Y = w.r.pivot + model->nv;
    w.r.L = w.r.Y + 6 * model->nv;
    return w;
}

/* the rows of one body: H P, H P H', H z + d qd; z becomes z + P a_m (51, 58) */
FA_NOINLINE void ba_fill(const fa_body *b, const fa_real *qd, const ba_work *w,
                         fd_body *self)
{
    const int n = b->n_modes;
    const fa_real *Y = w->f.Y + 6 * b->own_at, *L = w->f.L + b->tri_at;
    fa_real *rows = w->r.Y + 6 * w->row, *triangle = w->r.L + w->tri, Pc[6];
    fa_real *z = w->r.z_f + w->row;

    memcpy(rows, Y, (size_t)(6 * n) * sizeof(fa_real));
    memcpy(triangle, L, (size_t)(n * (n + 1) / 2) * sizeof(fa_real));
    fa_inertia_mul(Pc, &self->P, self->c);
    for (int i = 0; i < 6; i++) {
        self->z[i] += Pc[i];
    }
    for (int r = 0; r < n; r++) {
        z[r] = w->f.z_f[b->own_at + r] + fa_dot(Y + 6 * r, self->c) +
               fa_dot(Y + 6 * r + 3, self->c + 3);
    }
    for (int j = 0; j < b->n_dof; j++) {
        fa_real S[6], *row = rows + 6 * (n + j);
        joint_screw(b, j, S);
        fa_inertia_mul(row, &self->P, S);
        for (int s = 0; s <= n + j; s++) {
            triangle[fa_tri(n + j, s)] =
                fa_dot(rows + 6 * s, S) + fa_dot(rows + 6 * s + 3, S + 3);
        }
        for (int s = 0; s <= j; s++) { /* S_s' P S_j */
            fa_real other[6];
            joint_screw(b, s, other);
            triangle[fa_tri(n + j, n + s)] =
                fa_dot(row, other) + fa_dot(row + 3, other + 3);
        }
        triangle[fa_tri(n + j, n + j)] += b->armature[j];
        z[n + j] = fa_dot(S, self->z) + fa_dot(S + 3, self->z + 3) +
                   b->damping[j] * qd[b->joint_at + j];
    }
}

/* frees modes and joint of one body; tau of its rows is gathered in `force` [nv] */
FA_NOINLINE void ba_free(const fa_body *b, const fa_real *qd, const fa_real *tau,
                         const ba_work *w, fa_real *force, fd_body *self)
{
    if (b->joint == FA_JOINT_FLOATING) {
        fd_float(b, &w->f, self);
    }
    ba_fill(b, qd, w, self);
    memcpy(force, tau + b->mode_at, (size_t)b->n_modes * sizeof(fa_real));
    if (b->n_dof > 0) {
        memcpy(force + b->n_modes, tau + b->joint_at,
               (size_t)b->n_dof * sizeof(fa_real));
    }
    fd_eliminate(ba_rows(b), w->row, w->tri, force, &w->r, self);
}

/* accelerations of one body and its rows (58) */
FA_NOINLINE void ba_accelerate(const fa_body *b, const fa_real *base, const ba_work *w,
                               fa_real *rows, fd_body *self, fa_real *qdd)
{
    const int n = b->n_modes, np = b->parent_modes;
    const fa_real *slope = w->f.columns + 6 * b->hop_at;

    hop_motion(&self->hop, np, slope, slope + 3 * np,
               b->parent < 0 ? base : w->f.body[b->parent].a, qdd + b->parent_mode_at,
               self->a);
    fd_accelerate_rows(ba_rows(b), w->row, w->tri, &w->r, self->a, rows);
    memcpy(qdd + b->mode_at, rows, (size_t)n * sizeof(fa_real));
    for (int i = 0; i < 6; i++) {
        self->a[i] += self->c[i];
    }
    for (int j = 0; j < b->n_dof; j++) {
        fa_real S[6];
        joint_screw(b, j, S);
        qdd[b->joint_at + j] = rows[n + j];
        for (int i = 0; i < 6; i++) {
            self->a[i] += S[i] * rows[n + j];
        }
    }
    if (b->joint == FA_JOINT_FLOATING) {
        floating_accelerate(b, slope, rows, self->a);
    }
}

/* as fd_run; work [ba_tree_size + nv] */
FA_NOINLINE void ba_run(const fa_model *model, const fa_real *q, const fa_real *qd,
                        const fa_real *tau, fa_real *work, fa_real *qdd)
{
    ba_work w = ba_split(model, work);
    fa_real *rows = work + ba_tree_size(model), base[6] = {{0}};

    if (model->n_passive > 0) {
        tau = fd_passive(model, q, qd, tau, &w.f);
    }
    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        fd_outward(model, b, b->parent_modes, q, qd, &w.f, w.f.body + k);
        fd_body_start(model, b, b->n_modes, q, qd, &w.f, w.f.body + k);
        w.row += ba_rows(b);
        w.tri += ba_triangle(b);
    }
    for (int k = model->n_bodies - 1; k >= 0; k--) {
        const fa_body *b = model->bodies + k;
        w.row -= ba_rows(b);
        w.tri -= ba_triangle(b);
        ba_free(b, qd, tau, &w, rows, w.f.body + k);
        if (b->parent >= 0) {
            fd_inward(model, b, b->parent_modes, b->kept, &w.f, w.f.body + k);
        }
    }
    for (int i = 0; i < 3; i++) {
        base[3 + i] = fa_spread(-model->gravity[i]);
    }
    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        ba_accelerate(b, base, &w, rows, w.f.body + k, qdd);
        w.row += ba_rows(b);
        w.tri += ba_triangle(b);
    }
}

static size_t ba_work_size(const fa_model *model)
{
    return ba_tree_size(model) + (size_t)model->nv + cn_work_size(model) +
           mi_work_size(model);
}

static void ba_forward_dynamics(const fa_model *model, const fa_call *call)
{
    const fa_real *q = call->in[0], *qd = call->in[1];

    ba_run(model, q, qd, call->in[2], call->work, call->out);
    if (model->n_constraints > 0) {
        fa_real *next = call->work + ba_tree_size(model) + model->nv;
        const mi_work f = mi_split(model, next);
        const cn_work w = cn_split(model, next + mi_work_size(model));
        mi_factor(model, q, &f);
        cn_correct(model, call->states, q, qd, &f.w, &w, call->out);
    }
}

#endif
