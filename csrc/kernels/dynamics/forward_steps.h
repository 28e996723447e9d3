/*
 * forward_steps.h -- the steps of forward dynamics on one body
 *
 * Steps of the recursion in forward_dynamics.c, under its labels (A1-A9), for the kernels
 * that take them one by one, and fd_run, which takes all of them.
 * Checked by  tests/dynamics/test_dynamics.py.
 */
#ifndef FA_FORWARD_STEPS_H
#define FA_FORWARD_STEPS_H

#include "kernels/bodies/body.h"
#include "kernels/bodies/driven.h"
#include "kernels/bodies/floating.h"
#include "kernels/bodies/hop.h"
#include "kernels/bodies/joint.h"
#include "kernels/bodies/joint_forces.h"
#include "kernels/bodies/node.h"
#include "kernels/dynamics/forward_rows.h"
#include "kernels/dynamics/forward_work.h"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/kinds.h"
#include "model/layout.h"

/* tau less the passive forces of joints (H1 to H3) */
FA_NOINLINE const fa_real *fd_passive(const fa_model *model, const fa_real *q,
                                      const fa_real *qd, const fa_real *tau,
                                      const fd_work *w)
{
    memcpy(w->rest, tau, (size_t)model->nv * sizeof(fa_real));
    jf_add(model, -1.0, q, qd, w->rest);
    return w->rest;
}

/* M_m of one body with n modes: the start of P (A1) */
FA_INLINE void fd_body_inertia(const fa_body *b, const int n, const fa_shape *shape,
                               const fd_work *w, fd_body *self)
{
    fa_real *Y = w->Y + 6 * b->own_at, *L = w->L + b->tri_at;

    body_rigid_inertia(b, shape, &self->P);
    body_modal_inertia(b, n, shape, Y, L);
}

/* M_m and b_m of one body with n modes: the start of P and z (A1, A5) */
FA_INLINE void fd_body_start(const fa_model *model, const fa_body *b, const int n,
                             const fa_real *q, const fa_real *qd, const fd_work *w,
                             fd_body *self)
{
    fa_real *z_f = w->z_f + b->own_at;
    fa_shape shape;

    body_shape(b, n, node_eta(model, q, b->eta_at), &shape);
    body_bias(b, n, &shape, node_etad(model, qd, b->mode_at), self->V, z_f, self->z);
    body_elastic_add(b, n, q + b->eta_at, qd + b->mode_at, z_f);
    if (b->node_is_offset) {
        body_offset_gravity_add(b, n, node_eta(model, q, b->eta_at), self->g, self->z);
    }
    fd_body_inertia(b, n, &shape, w, self);
}

/* kinematics of one body; np modes of its parent (K1 to K7) */
FA_INLINE void fd_outward(const fa_model *model, const fa_body *b, const int np,
                          const fa_real *q, const fa_real *qd, const fd_work *w,
                          fd_body *self)
{
    const fd_body *p = b->parent < 0 ? NULL : w->body + b->parent;
    fa_real *slope = w->columns + 6 * b->hop_at, *shift = slope + 3 * np;

    fa_turn turn = {0};

    hop_pose(model, b, np, q, &self->hop, &turn, slope, shift);
    hop_velocity(model, b, np, &self->hop, &turn, slope, shift, p ? p->V : NULL, qd,
                 self->V, self->c);
    if (model->any_offset) {
        fa_real g[3];
        for (int i = 0; i < 3; i++) {
            g[i] = p ? p->g[i] : fa_spread(model->gravity[i]);
        }
        fa_rotate_t(self->g, self->hop.R, g);
    }
}

/* the pair (etad; V_O') of a floating body in place of (etad; V) (F4) */
FA_NOINLINE void fd_float(const fa_body *b, const fd_work *w, fd_body *self)
{
    const int n = b->n_modes;
    const fa_real *columns = w->columns + 6 * b->hop_at;
    fa_real *Y = w->Y + 6 * b->own_at, *L = w->L + b->tri_at;

    floating_force(b, columns, self->z, w->z_f + b->own_at);
    for (int s = 0; s < n; s++) {
        fa_real motion[6], force[6];
        for (int i = 0; i < 3; i++) {
            motion[i] = columns[3 * s + i];
            motion[3 + i] = columns[3 * (n + s) + i];
        }
        fa_inertia_mul(force, &self->P, motion);
        floating_exchange(b, columns, s, force, Y, L);
    }
}

/* eliminates the modes of one body (A2, A3, A6, A7); fast_modes.c alone reads q */
FA_INLINE void fd_eliminate_modes(const fa_model *model, const fa_body *b, const int n,
                                  const fa_real *q, const fa_real *tau,
                                  const fd_work *w, fd_body *self)
{
    (void)model, (void)q;
    if (b->joint == FA_JOINT_FLOATING) {
        fd_float(b, w, self);
    }
    fd_eliminate(n, b->own_at, b->tri_at, tau, w, self);
}

/* eliminates a wide joint: rows P_R S, triangle S' P_R S + a, S' z_R + d qd (A4, A8) */
FA_NOINLINE void fd_eliminate_wide(const fa_body *b, const fa_real *local,
                                   const fa_real *qd, const fa_real *tau,
                                   const fd_work *w, fd_body *self)
{
    const int n = b->n_dof;
    fa_real *Y = w->Y + 6 * b->wide_at, *L = w->L + b->wide_tri_at;

    for (int j = 0; j < n; j++) {
        fa_real S[6];
        joint_screw(b, j, S);
        fa_inertia_mul(Y + 6 * j, &self->P, S);
        for (int k = 0; k <= j; k++) {
            L[fa_tri(j, k)] = joint_project(b, k, Y + 6 * j);
        }
        L[fa_tri(j, j)] += b->armature[j];
        if (local) {
            L[fa_tri(j, j)] += local[b->joint_at + j];
        }
        w->z_f[b->wide_at + j] =
            joint_project(b, j, self->z) + b->damping[j] * qd[b->joint_at + j];
    }
    fd_eliminate(n, b->wide_at, b->wide_tri_at, tau + b->joint_at, w, self);
}

/*
 * P -= G D_R G' = U G' (A4), but for the row and column of a revolute joint without
 * armature (m = 2), which become zero and are not looked at again.
 */
FA_INLINE void fd_free_joint(fa_inertia *P, const int m, const fa_real *U,
                             const fa_real *G)
{
    for (int i = 0; i < 3; i++) {
        for (int j = i; j < m; j++) {
            P->A[FA_SYM[i][j]] -= U[i] * G[j];
        }
        for (int j = i; j < 3; j++) {
            P->D[FA_SYM[i][j]] -= U[3 + i] * G[3 + j];
        }
        for (int j = 0; j < 3 && i < m; j++) {
            P->B[3 * i + j] -= U[i] * G[3 + j];
        }
    }
}

/* eliminates the joint of one body: P_R becomes P_R+, z_R becomes z_R+ (A4, A7, A8);
 * local [nu], or NULL, acts as armature does */
FA_INLINE void fd_eliminate_joint(const fa_body *b, const fa_real *local,
                                  const fa_real *qd, const fa_real *tau,
                                  const fd_work *w, fd_body *self)
{
    fa_inertia *P = &self->P;
    fa_real Pc[6], U[6];

    fa_inertia_mul(Pc, P, self->c);
    for (int i = 0; i < 6; i++) {
        self->z[i] += Pc[i];
    }
    if (b->joint_at < 0) {
        return;
    }
    if (b->wide) {
        fd_eliminate_wide(b, local, qd, tau, w, self);
        return;
    }
    const int axis = b->joint == FA_JOINT_REVOLUTE ? 2 : 5;
    for (int i = 0; i < 3; i++) {
        U[i] = axis == 2 ? P->A[FA_SYM[i][2]] : P->B[3 * i + 2];
        U[3 + i] = axis == 2 ? P->B[6 + i] : P->D[FA_SYM[i][2]];
    }
    fa_real pivot = U[axis] + b->armature[0];
    if (local) {
        pivot += local[b->joint_at];
    }
    const fa_real inverse = fa_pivot(pivot);
    self->inverse = inverse;
    const fa_real eps =
        tau[b->joint_at] - b->damping[0] * qd[b->joint_at] - self->z[axis];
    for (int i = 0; i < 6; i++) {
        self->G[i] = U[i] * inverse;
        self->z[i] += self->G[i] * eps;
    }
    self->nu = inverse * eps;
    if (!local && b->kept == 2) {
        fd_free_joint(P, 2, U, self->G);
    } else {
        fd_free_joint(P, 3, U, self->G);
    }
}

/* P_R+ about the origin of a body, in the axes of its parent, whose P_rr receives it
 * (A1); of its A `kept` axes are left */
FA_INLINE void fd_inward_inertia(const int kept, const fd_body *self, fd_body *parent,
                                 fa_inertia *gamma)
{
    const int m = kept == 2 ? 2 : 3;

    fa_rotate_sym(gamma->A, self->hop.R, self->P.A, m);
    fa_rotate_mat(gamma->B, self->hop.R, self->P.B, m);
    fa_rotate_sym(gamma->D, self->hop.R, self->P.D, 3);
    fa_inertia_shift_add(&parent->P, gamma, self->hop.r);
}

/* hands P_R+ and z_R+ to the parent with np modes (A1, A5) */
FA_INLINE void fd_inward(const fa_model *model, const fa_body *b, const int np,
                         const int kept, const fd_work *w, fd_body *self)
{
    const fa_body *bp = model->bodies + b->parent;
    fd_body *parent = w->body + b->parent;
    const fa_real *slope = w->columns + 6 * b->hop_at, *shift = slope + 3 * np;
    const fa_real *r = self->hop.r;
    fa_inertia gamma;

    fd_inward_inertia(kept, self, parent, &gamma);
    for (int s = 0; s < np; s++) {
        fa_real motion[6], force[6];
        fa_real *L = w->L + bp->tri_at, *Y = w->Y + 6 * (bp->own_at + s);
        for (int i = 0; i < 3; i++) {
            motion[i] = slope[3 * s + i];
            motion[3 + i] = shift[3 * s + i];
        }
        fa_inertia_mul(force, &gamma, motion);
        for (int k = 0; k <= s; k++) {
            L[fa_tri(s, k)] +=
                fa_dot(slope + 3 * k, force) + fa_dot(shift + 3 * k, force + 3);
        }
        fa_cross_add(force, r, force + 3);
        for (int i = 0; i < 6; i++) {
            Y[i] += force[i];
        }
    }
    hop_force_add(&self->hop, np, slope, shift, self->z, parent->z,
                  w->z_f + bp->own_at);
}

/* a wide joint: its accelerations, and alpha+ + S qdd (A9) */
FA_NOINLINE void fd_accelerate_wide(const fa_body *b, const fd_work *w, fd_body *self,
                                    fa_real *qdd)
{
    fa_real s[6];

    fd_accelerate_rows(b->n_dof, b->wide_at, b->wide_tri_at, w, self->a, qdd);
    joint_motion(b, qdd, s);
    for (int i = 0; i < 6; i++) {
        self->a[i] += s[i];
    }
}

/* acceleration of the joint of one body, that without it given, and c (A9) */
FA_INLINE void fd_accelerate_joint(const fa_body *b, const fd_work *w, fd_body *self,
                                   fa_real *qdd)
{
    if (b->wide) {
        fd_accelerate_wide(b, w, self, qdd + b->joint_at);
    } else if (b->joint_at >= 0) {
        fa_real s = self->nu;
        for (int i = 0; i < 6; i++) {
            s -= self->G[i] * self->a[i];
        }
        qdd[b->joint_at] = s;
        self->a[b->joint == FA_JOINT_REVOLUTE ? 2 : 5] += s;
    }
    for (int i = 0; i < 6; i++) {
        self->a[i] += self->c[i];
    }
}

/* acceleration of one body and its joint, that of the base given (A9, first half) */
FA_INLINE void fd_accelerate(const fa_model *model, const fa_body *b, const int np,
                             const fa_real *base, const fd_work *w, fd_body *self,
                             fa_real *qdd)
{
    const fa_real *slope = w->columns + 6 * b->hop_at, *shift = slope + 3 * np;

    (void)model;
    hop_motion(&self->hop, np, slope, shift,
               b->parent < 0 ? base : w->body[b->parent].a, qdd + b->parent_mode_at,
               self->a);
    fd_accelerate_joint(b, w, self, qdd);
}

/* modal accelerations of one body (A9, second half) */
FA_INLINE void fd_accelerate_modes(const fa_model *model, const fa_body *b, const int n,
                                   const fd_work *w, fd_body *self, fa_real *qdd)
{
    (void)model;
    fd_accelerate_rows(n, b->own_at, b->tri_at, w, self->a, qdd);
    if (b->joint == FA_JOINT_FLOATING) {
        floating_accelerate(b, w->columns + 6 * b->hop_at, qdd, self->a);
    }
}

/*
 * Accelerations of FA_LANES states, in a unit of its own.
 *
 *   q, qd, tau  [nq], [nv], [nv]  state and generalized forces, not modified
 *   work        [fd_work_size]  scratch, no meaning on return
 *   qdd         [nv]  result; must not overlap the inputs
 */
#define fd_run FA_SHARED(fd_run)
void fd_run(const fa_model *model, const fa_real *q, const fa_real *qd,
            const fa_real *tau, fa_real *work, fa_real *qdd);

#endif
