/*
 * mass_matrix.c -- M(q) by the composite-body recursion
 *
 * Recursion   R_rr(k) = M_rr + phi R_rr(child) phi', R_rf, R_ff likewise         (C1)
 *             columns X = R_rf (modes) and R_rr S (joint) walk to the root; every
 *             body on the way takes its rows (Lambda; U)'X and S'X              (C2)
 *             R_rr is the inertia of everything outboard with all joints and modes
 *             frozen, a rigid one: mass, first moment and 3 x 3 inertia suffice.
 * Result      the full symmetric matrix, rows of the joints first, then the modes.
 * Cost        O(bodies^2 * modes^2).
 * Source      Jain and Rodriguez, US patent 5,546,508, eqs. 47 and 50.
 * Checked by  tests/test_dynamics.py: Lagrangian, twin, ID with unit accelerations.
 */
#include "body.h"
#include "hop.h"

/* composite body: R_rr as mass, first moment h, inertia J */
typedef struct {
    fa_hop hop;
    fa_real m, h[3], J[6];
} mm_body;

typedef struct {
    mm_body *body;
    fa_real *columns; /* [6 sum_parent_modes] */
    fa_real *X;       /* [6 n_modes]  R_rf */
    fa_real *ff;      /* [sum_triangles]  R_ff */
} mm_work;

static size_t mm_work_size(const fa_model *model)
{
    return (size_t)model->n_bodies * (sizeof(mm_body) / sizeof(fa_real)) +
           6 * (size_t)model->sum_parent_modes + 6 * (size_t)model->n_modes +
           (size_t)model->sum_triangles;
}

static mm_work mm_split(const fa_model *model, fa_real *work)
{
    mm_work w;
    w.body = (mm_body *)work;
    w.columns = (fa_real *)(w.body + model->n_bodies);
    w.X = w.columns + 6 * model->sum_parent_modes;
    w.ff = w.X + 6 * model->n_modes;
    return w;
}

FA_INLINE void mm_start(const fa_model *model, const fa_body *b, const int n,
                        const fa_real *q, const mm_work *w, mm_body *self)
{
    fa_real *X = w->X + 6 * b->own_at, *ff = w->ff + b->tri_at;
    fa_shape shape;

    body_shape(b, n, node_eta(model, q, b->eta_at), &shape);
    self->m = fa_spread(b->mass);
    memcpy(self->h, shape.mp, sizeof self->h);
    memcpy(self->J, shape.J, sizeof self->J);
    body_modal_inertia(b, n, &shape, X, ff);
}

/* force of a rigid inertia (mass, first moment, J) on a motion (w; v) */
FA_INLINE void mm_rigid_mul(fa_real m, const fa_real *h, const fa_real *J,
                            const fa_real *w, const fa_real *v, fa_real *force)
{
    fa_sym_mul(force, J, w);
    fa_cross_add(force, h, v);
    for (int i = 0; i < 3; i++) {
        force[3 + i] = m * v[i];
    }
    fa_cross_add(force + 3, w, h);
}

/* adds the composite of a body to its parent with np modes (C1) */
FA_INLINE void mm_inward(const fa_model *model, const fa_body *b, const int np,
                         const mm_work *w, const mm_body *self)
{
    const fa_body *bp = model->bodies + b->parent;
    mm_body *parent = w->body + b->parent;
    const fa_real *slope = w->columns + 6 * b->hop_at, *shift = slope + 3 * np;
    const fa_real *r = self->hop.r;
    fa_real h[3], J[6], moved[3];

    fa_rotate(h, self->hop.R, self->h);
    fa_rotate_sym(J, self->hop.R, self->J, 3);
    for (int s = 0; s < np; s++) {
        fa_real *ff = w->ff + bp->tri_at, *X = w->X + 6 * (bp->own_at + s), force[6];
        mm_rigid_mul(self->m, h, J, slope + 3 * s, shift + 3 * s, force);
        for (int k = 0; k <= s; k++) {
            ff[fa_tri(s, k)] +=
                fa_dot(slope + 3 * k, force) + fa_dot(shift + 3 * k, force + 3);
        }
        fa_cross_add(force, r, force + 3);
        for (int i = 0; i < 6; i++) {
            X[i] += force[i];
        }
    }

    /* J about the parent's origin: -(r~ h~ + h~ r~) - m r~ r~ with one product */
    for (int i = 0; i < 3; i++) {
        moved[i] = h[i] + 0.5 * self->m * r[i];
    }
    const fa_real twice = 2.0 * fa_dot(r, moved);
    for (int i = 0; i < 3; i++) {
        for (int j = i; j < 3; j++) {
            fa_real x = J[FA_SYM[i][j]] - r[i] * moved[j] - moved[i] * r[j];
            parent->J[FA_SYM[i][j]] += i == j ? x + twice : x;
        }
        parent->h[i] += h[i] + self->m * r[i];
    }
    parent->m += self->m;
}

FA_INLINE void mm_set(fa_real *M, int nv, int i, int j, fa_real x)
{
    M[i * nv + j] = x;
    M[j * nv + i] = x;
}

/* one step to the root: X from child axes to the parent, which takes its rows (C2) */
FA_INLINE void mm_climb(const fa_body *b, const int np, const mm_work *w,
                        const mm_body *self, const fa_body *bp, int column, fa_real *X,
                        fa_real *M, int nv)
{
    const fa_real *slope = w->columns + 6 * b->hop_at, *shift = slope + 3 * np;
    fa_real F[6];

    fa_rotate(F, self->hop.R, X);
    fa_rotate(F + 3, self->hop.R, X + 3);
    for (int s = 0; s < np; s++) {
        mm_set(M, nv, bp->mode_at + s, column,
               fa_dot(slope + 3 * s, F) + fa_dot(shift + 3 * s, F + 3));
    }
    fa_cross_add(F, self->hop.r, F + 3);
    if (bp->joint == FA_JOINT_FLOATING) {
        const fa_real *own = w->columns + 6 * bp->hop_at;
        for (int s = 0; s < np; s++) {
            M[column * nv + bp->mode_at + s] -= floating_project(bp, own, s, F);
            M[(bp->mode_at + s) * nv + column] = M[column * nv + bp->mode_at + s];
        }
    }
    for (int j = 0; j < bp->n_dof; j++) {
        mm_set(M, nv, bp->joint_at + j, column, joint_force(bp, j, F));
    }
    memcpy(X, F, sizeof F);
}

/* the pair (etad; V_O') of a floating body in place of (etad; V) (F4) */
FA_NOINLINE void mm_float(const fa_body *b, const mm_work *w, const mm_body *self)
{
    const int n = b->n_modes;
    const fa_real *columns = w->columns + 6 * b->hop_at;
    fa_real *X = w->X + 6 * b->own_at, *ff = w->ff + b->tri_at;

    for (int s = 0; s < n; s++) {
        fa_real force[6];
        mm_rigid_mul(self->m, self->h, self->J, columns + 3 * s, columns + 3 * (n + s),
                     force);
        floating_exchange(b, columns, s, force, X, ff);
    }
}

static void mm_column(const fa_model *model, const mm_work *w, int k, int column,
                      fa_real *X, fa_real *M)
{
    while (model->bodies[k].parent >= 0) {
        const fa_body *b = model->bodies + k, *bp = model->bodies + b->parent;
#define MM_CLIMB(np) mm_climb(b, np, w, w->body + k, bp, column, X, M, model->nv)
        FA_SWITCH_RIGID(b->parent_modes, MM_CLIMB)
        k = b->parent;
    }
}

/* columns R_rr S of a wide joint (C2) */
FA_NOINLINE void mm_wide(const fa_model *model, const mm_work *w, int k, fa_real *M)
{
    const fa_body *b = model->bodies + k;
    const mm_body *self = w->body + k;

    for (int j = 0; j < b->n_dof; j++) {
        fa_real S[6], X[6];
        joint_screw(b, j, S);
        mm_rigid_mul(self->m, self->h, self->J, S, S + 3, X);
        for (int i = 0; i <= j; i++) {
            mm_set(M, model->nv, b->joint_at + i, b->joint_at + j,
                   joint_project(b, i, X));
        }
        mm_column(model, w, k, b->joint_at + j, X, M);
    }
}

/* M [nv][nv] of FA_LANES states at q [nq] */
FA_NOINLINE void mm_run(const fa_model *model, const fa_real *q, fa_real *work,
                        fa_real *M)
{
    const mm_work w = mm_split(model, work);
    const int nv = model->nv;

    fa_zero(M, nv * nv);
    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        mm_body *self = w.body + k;
        fa_real *at = w.columns + 6 * b->hop_at;
        fa_turn turn;
#define MM_POSE(np) hop_pose(model, b, np, q, &self->hop, &turn, at, at + 3 * (np))
        FA_SWITCH_RIGID(b->parent_modes, MM_POSE)
#define MM_START(n) mm_start(model, b, n, q, &w, self)
        FA_SWITCH_RIGID(b->n_modes, MM_START)
    }
    for (int k = model->n_bodies - 1; k >= 0; k--) {
        const fa_body *b = model->bodies + k;
        const mm_body *self = w.body + k;
        fa_real X[6];

        if (b->joint == FA_JOINT_FLOATING) {
            mm_float(b, &w, self);
        }
        if (b->parent >= 0) {
#define MM_INWARD(np) mm_inward(model, b, np, &w, self)
            FA_SWITCH_RIGID(b->parent_modes, MM_INWARD)
        }
        const int axis = b->joint == FA_JOINT_REVOLUTE ? 2 : 5;
        for (int r = 0; r < b->n_modes; r++) {
            const int column = b->mode_at + r;
            memcpy(X, w.X + 6 * (b->own_at + r), sizeof X);
            for (int s = 0; s <= r; s++) {
                mm_set(M, nv, b->mode_at + s, column, w.ff[b->tri_at + fa_tri(r, s)]);
            }
            for (int j = 0; j < b->n_dof; j++) {
                mm_set(M, nv, b->joint_at + j, column, joint_force(b, j, X));
            }
            mm_column(model, &w, k, column, X, M);
        }
        if (b->wide) {
            mm_wide(model, &w, k, M);
        } else if (b->joint_at >= 0) {
            const fa_real *h = self->h, *J = self->J, zero = {0};
            const fa_real turn[6] = {J[2], J[4], J[5], -h[1], h[0], zero};
            const fa_real slide[6] = {h[1], -h[0], zero, zero, zero, self->m};
            memcpy(X, axis == 2 ? turn : slide, sizeof X);
            mm_set(M, nv, b->joint_at, b->joint_at, X[axis]);
            mm_column(model, &w, k, b->joint_at, X, M);
        }
    }
}

static void mm_mass_matrix(const fa_model *model, const fa_call *call)
{
    mm_run(model, call->in[0], call->work, call->out);
}
