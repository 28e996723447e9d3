/*
 * mass_inverse.c -- products with M and its inverse, the inverse itself, log det M
 *
 *             M x:       inverse dynamics at rest without gravity
 *             M^-1 x:    [1 - H Psi K]' D^-1 [1 - H Psi K] x, one factorization
 *                        (A1 to A4), then a sweep inward and one outward
 *             M^-1:      the same on the columns of the identity, the half of each
 *             log det M: the sum of log D_f and log D_R of all bodies
 * Cost        O(bodies * modes^3); the inverse O(nv) products more.
 * Source      Jain and Rodriguez, US patent 5,546,508, eqs. 54 to 56.
 * Checked by  tests/dynamics/test_mass_inverse.py: LAPACK, the spatial operators.
 */
#ifndef FA_MASS_INVERSE_C
#define FA_MASS_INVERSE_C

#include "calls/call.h"
#include "kernels/bodies/body.h"
#include "kernels/bodies/driven.h"
#include "kernels/bodies/floating.h"
#include "kernels/bodies/hop.h"
#include "kernels/bodies/joint.h"
#include "kernels/bodies/node.h"
#include "kernels/dynamics/forward_steps.h"
#include "kernels/dynamics/forward_work.h"
#include "kernels/dynamics/inverse_steps.h"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/kinds.h"
#include "model/layout.h"

typedef struct {
    fd_work w;
    fa_real *x, *column; /* [nv] right side and solution */
} mi_work;

static size_t mi_work_size(const fa_model *model)
{
    return fd_work_size(model) + 2 * (size_t)model->nv;
}

static mi_work mi_split(const fa_model *model, fa_real *work)
{
    mi_work m;
    m.w = fd_split(model, work);
    m.x = work + fd_work_size(model);
    m.column = m.x + model->nv;
    return m;
}

/* pose, inertia and empty forces of one body */
FA_INLINE void mi_start(const fa_model *model, const fa_body *b, const fa_real *q,
                        const fd_work *w, fd_body *self)
{
    fa_real *slope = w->columns + 6 * b->hop_at;
    fa_shape shape;
    fa_turn turn;

    hop_pose_any(model, b, q, &self->hop, &turn, slope, slope + 3 * b->parent_modes);
    body_shape(b, b->n_modes, node_eta(model, q, b->eta_at), &shape);
    fd_body_inertia(b, b->n_modes, &shape, w, self);
    fa_zero(w->z_f + b->own_at, b->n_modes);
    fa_zero(self->z, 6);
    fa_zero(self->c, 6);
}

/* D, L, Y and G of all bodies at q (A1 to A4) */
FA_NOINLINE void mi_factor(const fa_model *model, const fa_real *q, const mi_work *m)
{
    const fd_work *w = &m->w;

    fa_zero(m->x, model->nv);
    for (int k = 0; k < model->n_bodies; k++) {
        mi_start(model, model->bodies + k, q, w, w->body + k);
    }
    for (int k = model->n_bodies - 1; k >= 0; k--) {
        const fa_body *b = model->bodies + k;
        fd_eliminate_modes(model, b, b->n_modes, q, m->x + b->mode_at, w, w->body + k);
        fd_eliminate_joint(b, NULL, m->x, m->x, w, w->body + k);
        if (b->parent >= 0) {
            fd_inward(model, b, b->parent_modes, b->kept, w, w->body + k);
        }
    }
}

/* n rows on the way inward: e = L^-1 (x - z_f), z += Y' D^-1 e (A6, A7) */
FA_INLINE void mi_rows(const int n, int at, int tri, const fa_real *x, const fd_work *w,
                       fa_real *z)
{
    fa_real *e = w->z_f + at;
    const fa_real *Y = w->Y + 6 * at, *L = w->L + tri, *pivot = w->pivot + at;

    for (int r = 0; r < n; r++) {
        e[r] = x[r] - e[r];
        for (int s = 0; s < r; s++) {
            e[r] -= L[fa_tri(r, s)] * e[s];
        }
        for (int i = 0; i < 6; i++) {
            z[i] += Y[6 * r + i] * pivot[r] * e[r];
        }
    }
}

/* forces of one body on the way inward, with the factors of mi_factor (A6 to A8) */
FA_INLINE void mi_inward(const fa_model *model, const fa_body *b, const fa_real *x,
                         const fd_work *w, fd_body *self)
{
    const int axis = b->joint == FA_JOINT_REVOLUTE ? 2 : 5;

    if (b->joint == FA_JOINT_FLOATING) {
        floating_force(b, w->columns + 6 * b->hop_at, self->z, w->z_f + b->own_at);
    }
    mi_rows(b->n_modes, b->own_at, b->tri_at, x + b->mode_at, w, self->z);
    if (b->wide) {
        for (int j = 0; j < b->n_dof; j++) {
            w->z_f[b->wide_at + j] = joint_project(b, j, self->z);
        }
        mi_rows(b->n_dof, b->wide_at, b->wide_tri_at, x + b->joint_at, w, self->z);
    } else if (b->joint_at >= 0) {
        const fa_real eps = x[b->joint_at] - self->z[axis];
        self->nu = self->inverse * eps;
        for (int i = 0; i < 6; i++) {
            self->z[i] += self->G[i] * eps;
        }
    }
    if (b->parent >= 0) {
        const fa_real *slope = w->columns + 6 * b->hop_at;
        hop_force_add(&self->hop, b->parent_modes, slope, slope + 3 * b->parent_modes,
                      self->z, w->body[b->parent].z,
                      w->z_f + model->bodies[b->parent].own_at);
    }
}

/* M^-1 x with the factors of mi_factor; x and result [nv] */
FA_NOINLINE void mi_solve(const fa_model *model, const fa_real *x, const fd_work *w,
                          fa_real *result)
{
    const fa_real base[6] = {{0}};

    fa_zero(w->z_f, model->n_modes);
    for (int k = 0; k < model->n_bodies; k++) {
        fa_zero(w->body[k].z, 6);
    }
    for (int k = model->n_bodies - 1; k >= 0; k--) {
        mi_inward(model, model->bodies + k, x, w, w->body + k);
    }
    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        fd_accelerate(model, b, b->parent_modes, base, w, w->body + k, result);
        fd_accelerate_modes(model, b, b->n_modes, w, w->body + k, result + b->mode_at);
    }
}

/* M x (q, x) */
static void mi_apply(const fa_model *model, const fa_call *call)
{
    id_run(model, ID_ACCELERATION | ID_NO_GRAVITY, call->in[0], NULL, call->in[1],
           call->work, call->out);
}

/* M^-1 x (q, x) */
static void mi_apply_inverse(const fa_model *model, const fa_call *call)
{
    const mi_work m = mi_split(model, call->work);
    mi_factor(model, call->in[0], &m);
    mi_solve(model, call->in[1], &m.w, call->out);
}

/*
 * Rows of the bodies up to k of the column of M^-1 that belongs to a coordinate of body
 * k: its force moves in along the way to the root alone, and bodies after k are left to
 * their own columns, as M^-1 is symmetric.
 */
FA_NOINLINE void mi_column(const fa_model *model, int k, const mi_work *m)
{
    const fa_real base[6] = {{0}};
    const fd_work *w = &m->w;

    fa_zero(w->z_f, model->n_rows);
    for (int i = 0; i <= k; i++) {
        fa_zero(w->body[i].z, 6);
        w->body[i].nu = (fa_real){0};
    }
    for (int i = k; i >= 0; i = model->bodies[i].parent) {
        mi_inward(model, model->bodies + i, m->x, w, w->body + i);
    }
    for (int i = 0; i <= k; i++) {
        const fa_body *b = model->bodies + i;
        fd_accelerate(model, b, b->parent_modes, base, w, w->body + i, m->column);
        fd_accelerate_modes(model, b, b->n_modes, w, w->body + i,
                            m->column + b->mode_at);
    }
}

/* column j of body k, into both triangles: the result is symmetric bit for bit */
FA_NOINLINE void mi_store(const fa_model *model, int k, int j, const mi_work *m,
                          fa_real *out)
{
    const int nv = model->nv;

    for (int l = 0; l <= k; l++) {
        const fa_body *b = model->bodies + l;
        for (int r = 0; r < b->n_dof + b->n_modes; r++) {
            const int i = r < b->n_dof ? b->joint_at + r : b->mode_at + r - b->n_dof;
            if (l < k || i <= j) {
                out[i * nv + j] = out[j * nv + i] = m->column[i];
            }
        }
    }
}

/* M^-1 (q) */
static void mi_inverse(const fa_model *model, const fa_call *call)
{
    const mi_work m = mi_split(model, call->work);

    mi_factor(model, call->in[0], &m);
    fa_zero(m.x, model->nv);
    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        for (int r = 0; r < b->n_dof + b->n_modes; r++) {
            const int j = r < b->n_dof ? b->joint_at + r : b->mode_at + r - b->n_dof;
            m.x[j] = fa_splat(1.0);
            mi_column(model, k, &m);
            m.x[j] = (fa_real){0};
            mi_store(model, k, j, &m, call->out);
        }
    }
}

static fa_real mi_log(fa_real x)
{
    fa_real y = {0};
    for (int w = 0; w < FA_LANES; w++) {
        y[w] = log(x[w]);
    }
    return y;
}

/* log det M (q): the pivots are the inverses of D */
static void mi_log_det(const fa_model *model, const fa_call *call)
{
    const mi_work m = mi_split(model, call->work);
    fa_real sum = {0};

    mi_factor(model, call->in[0], &m);
    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        if (b->wide) {
            for (int j = 0; j < b->n_dof; j++) {
                sum -= mi_log(m.w.pivot[b->wide_at + j]);
            }
        } else if (b->joint_at >= 0) {
            sum -= mi_log(m.w.body[k].inverse);
        }
        for (int r = 0; r < b->n_modes; r++) {
            sum -= mi_log(m.w.pivot[b->own_at + r]);
        }
    }
    call->out[0] = sum;
}

#endif
