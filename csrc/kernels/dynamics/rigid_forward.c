/*
 * rigid_forward.c -- accelerations of arms without modes (articulated bodies)
 *
 * Recursion   outward: f of the motion with qdd = 0 (V3 to V5)
 *             P = M + children, z = f + children
 *             D = S' P S + a, G = P S / D, P+ = P - G D G', eps = tau - d qd - S' z,
 *             z+ = z + G eps                                                    (V6)
 *             outward, a the acceleration that qdd adds: a+ = X a_p,
 *             qdd = eps / D - G' a+,  a = a+ + S qdd, none on the ground        (V7)
 *             c of A7 and A9 is in f: nothing but P and sums of forces goes inward.
 *             With armature a, the row of P+ about the axis is a G', without it zero.
 * Frames      as in forward_dynamics.c, whose fd_body this fills.
 * Cost        O(bodies): 165 multiplications and 178 additions in a body whose axis is
 *             parallel to that of its parent, sine and cosine included.
 * Source      R. Featherstone, Rigid Body Dynamics Algorithms, 2008, sec. 7.3, at the
 *             motion without qdd; Jain and Rodriguez, eqs. 63, 64.
 * Checked by  tests/dynamics/test_axial_hops.py, tests/dynamics/test_pinocchio.py,
 *             tests/dynamics/test_dynamics.py.
 */
#ifndef FA_RIGID_FORWARD_C
#define FA_RIGID_FORWARD_C

#include "kernels/bodies/axial.h"
#include "kernels/bodies/hop.h"
#include "kernels/bodies/rigid.h"
#include "kernels/dynamics/forward_steps.h"
#include "kernels/dynamics/forward_work.h"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/kinds.h"
#include "model/layout.h"

FA_INLINE void rf_clear(fa_inertia *P)
{
    fa_zero(P->A, 6);
    fa_zero(P->B, 9);
    fa_zero(P->D, 6);
}

/* own inertia and what the children handed over, of one body (V6) */
FA_INLINE void rf_inertia(const fa_body *b, const fd_body *self, fa_inertia *P)
{
    const fa_inertia *sum = &self->P;

    for (int i = 0; i < 6; i++) {
        P->A[i] = sum->A[i] + b->J0[i];
    }
    for (int i = 0; i < 9; i++) {
        P->B[i] = sum->B[i];
    }
    for (int i = 0; i < 6; i++) {
        P->D[i] = sum->D[i];
    }
    P->B[1] -= b->mp0[2];
    P->B[2] += b->mp0[1];
    P->B[3] += b->mp0[2];
    P->B[5] -= b->mp0[0];
    P->B[6] -= b->mp0[1];
    P->B[7] += b->mp0[0];
    P->D[0] += b->mass;
    P->D[3] += b->mass;
    P->D[5] += b->mass;
}

/* eps of a joint of one freedom (V6) */
FA_INLINE fa_real rf_force(const fa_body *b, const fa_real *qd, const fa_real *tau,
                           fa_real z)
{
    return tau[b->joint_at] - b->damping[0] * qd[b->joint_at] - z;
}

FA_NOINLINE void rf_add(fa_inertia *P, const fa_inertia *Q)
{
    for (int i = 0; i < 6; i++) {
        P->A[i] += Q->A[i];
        P->D[i] += Q->D[i];
    }
    for (int i = 0; i < 9; i++) {
        P->B[i] += Q->B[i];
    }
}

/* gains, and z+ handed to the parent (V6) */
FA_INLINE void rf_gains(const fa_body *b, const int armed, const fa_real *U,
                        const fa_real *qd, const fa_real *tau, fd_body *self,
                        fa_real *z)
{
    const fa_real inverse = fa_pivot(armed ? U[2] + b->armature[0] : U[2]);
    const fa_real eps = rf_force(b, qd, tau, self->z[2]);

    for (int i = 0; i < 6; i++) {
        if (i != 2 || armed) {
            self->G[i] = U[i] * inverse;
            z[i] = self->z[i] + self->G[i] * eps;
        } else {
            self->G[2] = fa_splat(1.0);
            z[2] = self->z[2] + eps;
        }
    }
    self->nu = inverse * eps;
}

/*
 * Frees the joint of a body on a hop with angles and hands P+ and z+ to its parent (V6).
 *   on_ground  a constant: the parent stands on the ground, where only the moment about
 *              z counts
 *   armed      a constant: the joint has armature
 *   is_only    the parent has no other child
 * From stage to stage the compiler may keep little: P alone is more than all registers.
 */
FA_INLINE void rf_inward(const fa_body *b, const int kind, const int on_ground,
                         const int armed, const int is_only, const fa_real *qd,
                         const fa_real *tau, const rigid_motion *m, fd_body *self,
                         fd_body *parent)
{
    const fa_inertia *P = &self->P;
    const fa_real *G = self->G, s = m->s, c = m->c;
    fa_inertia moved, *to = is_only && !on_ground ? &parent->P : &moved;
    const int kept = armed ? 3 : 2;
    fa_real z[6], freed[6];
    fa_inertia turned;

    const fa_real U[6] = {P->A[2] + b->J0[2],  P->A[4] + b->J0[4],  P->A[5] + b->J0[5],
                          P->B[6] - b->mp0[1], P->B[7] + b->mp0[0], P->B[8]};
    rf_gains(b, armed, U, qd, tau, self, z);
    if (on_ground) {
        axial_moment_add(b, kind, s, c, z, parent->z);
    } else {
        axial_force_add(b, kind, s, c, z, parent->z);
    }
    FA_RELOAD();
    for (int i = 0; i < 3; i++) {
        for (int j = i; j < 3; j++) {
            freed[FA_SYM[i][j]] = P->D[FA_SYM[i][j]] - U[3 + i] * G[3 + j];
        }
        freed[FA_SYM[i][i]] += b->mass;
    }
    axial_rotate_sym(b, kind, s, c, freed, 3, to->D);
    FA_RELOAD();
    fa_real rows[9];
    for (int i = 0; i < 6; i++) {
        rows[i] = P->B[i] - U[i / 3] * G[3 + i % 3];
    }
    for (int i = 0; i < 3 && armed; i++) {
        rows[6 + i] = b->armature[0] * G[3 + i];
        freed[FA_SYM[i][2]] = b->armature[0] * G[i];
    }
    rows[1] -= b->mp0[2];
    rows[2] += b->mp0[1];
    rows[3] += b->mp0[2];
    rows[5] -= b->mp0[0];
    axial_rotate_mat(b, kind, s, c, rows, kept, turned.B);
    axial_shift_coupling(b, kind, kept, turned.B, to->D, to->B);
    freed[0] = P->A[0] + b->J0[0] - U[0] * G[0];
    freed[1] = P->A[1] + b->J0[1] - U[0] * G[1];
    freed[3] = P->A[3] + b->J0[3] - U[1] * G[1];
    axial_rotate_sym(b, kind, s, c, freed, kept, turned.A);
    axial_shift_inertia(b, kind, kept, turned.B, to->B, turned.A, to->A);
    if (on_ground) {
        parent->P.A[5] = is_only ? moved.A[5] : moved.A[5] + parent->P.A[5];
    } else if (!is_only) {
        rf_add(&parent->P, &moved);
    }
}

/* a function for each kind, as in rigid.h, with and without armature */
typedef void rf_step(const fa_body *b, int is_only, const fa_real *qd,
                     const fa_real *tau, const rigid_motion *m, fd_body *self,
                     fd_body *parent);

#define RF_INWARD_AS(name, kind, on_ground, armed)                                     \
    FA_NOINLINE void name(const fa_body *b, int is_only, const fa_real *qd,            \
                          const fa_real *tau, const rigid_motion *m, fd_body *self,    \
                          fd_body *parent)                                             \
    {                                                                                  \
        rf_inward(b, kind, on_ground, armed, is_only, qd, tau, m, self, parent);       \
    }
#define RF_INWARD(kind)                                                                \
    RF_INWARD_AS(rf_inward_##kind, kind, 0, 0)                                         \
    RF_INWARD_AS(rf_last_##kind, kind, 1, 0)                                           \
    RF_INWARD_AS(rf_armed_##kind, kind, 0, 1)                                          \
    RF_INWARD_AS(rf_armed_last_##kind, kind, 1, 1)
AXIAL_KINDS(RF_INWARD)

#define RF_INWARD_ROW(kind) [kind] = rf_inward_##kind,
#define RF_LAST_ROW(kind) [kind] = rf_last_##kind,
#define RF_ARMED_ROW(kind) [kind] = rf_armed_##kind,
#define RF_ARMED_LAST_ROW(kind) [kind] = rf_armed_last_##kind,
static rf_step *const rf_inward_of[2][FA_HOP_TWISTED + 1] = {
    {AXIAL_KINDS(RF_INWARD_ROW)}, {AXIAL_KINDS(RF_ARMED_ROW)}};
static rf_step *const rf_last_of[2][FA_HOP_TWISTED + 1] = {
    {AXIAL_KINDS(RF_LAST_ROW)}, {AXIAL_KINDS(RF_ARMED_LAST_ROW)}};

/* the same for any joint and hop, out of line */
FA_NOINLINE void rf_inward_any(const fa_model *model, const fa_body *b,
                               const fa_real *qd, const fa_real *tau, const fd_work *w,
                               fd_body *self)
{
    const int m = b->kept == 2 ? 2 : 3;
    fa_inertia P, turned;

    rf_inertia(b, self, &P);
    self->P = P;
    fa_zero(self->c, 6);
    fd_eliminate_joint(b, NULL, qd, tau, w, self);
    if (b->parent < 0) {
        return;
    }
    fa_rotate_sym(turned.A, self->hop.R, self->P.A, m);
    fa_rotate_mat(turned.B, self->hop.R, self->P.B, m);
    fa_rotate_sym(turned.D, self->hop.R, self->P.D, 3);
    fd_body *parent = w->body + b->parent;
    if (model->bodies[b->parent].n_children == 1) {
        rf_clear(&parent->P);
    }
    fa_inertia_shift_add(&parent->P, &turned, self->hop.r);
    hop_force_add(&self->hop, 0, NULL, NULL, self->z, parent->z, NULL);
}

/* acceleration of a body on a hop with angles, p that of the parent (V7) */
FA_INLINE void rf_accelerate(const fa_body *b, const int kind, const rigid_motion *m,
                             const fa_real *p, fd_body *self, fa_real *qdd)
{
    fa_real linear[3], cross[3];

    fa_zero(cross, 3);
    axial_arm_cross_add(b, kind, p, cross);
    for (int i = 0; i < 3; i++) {
        linear[i] = p[3 + i] - cross[i];
    }
    axial_rotate_t(b, kind, m->s, m->c, p, self->a);
    axial_rotate_t(b, kind, m->s, m->c, linear, self->a + 3);
    fa_real s = self->nu - self->G[2] * self->a[2];
    for (int i = 0; i < 6; i++) {
        if (i != 2) {
            s -= self->G[i] * self->a[i];
        }
    }
    qdd[b->joint_at] = s;
    self->a[2] += s;
}

/* one body outward, the motion without qdd */
FA_INLINE void rf_outward(const fa_model *model, const fa_body *b, const fa_real *q,
                          const fa_real *qd, const fd_work *w, rigid_motion *m,
                          fd_body *self)
{
    rigid_move(model, b, 1.0, q, qd, NULL, b->parent < 0 ? NULL : w->motion + b->parent,
               &self->hop, m, self->z);
    if (b->n_children != 1) {
        rf_clear(&self->P);
    }
}

/* one body inward */
FA_INLINE void rf_inward_one(const fa_model *model, const fa_body *b, const fa_real *qd,
                             const fa_real *tau, const fd_work *w,
                             const rigid_motion *m, fd_body *self)
{
    const fa_body *bp = model->bodies + b->parent;
    fd_body *parent = w->body + b->parent;

    if (b->hop_kind == FA_HOP_GROUND) {
        self->nu = fa_pivot(self->P.A[5] + b->J0[5] + b->armature[0]) *
                   rf_force(b, qd, tau, self->z[2]);
    } else if (b->hop_kind == FA_HOP_GENERAL) {
        rf_inward_any(model, b, qd, tau, w, self);
    } else {
        rf_step *const *step = bp->hop_kind == FA_HOP_GROUND
                                   ? rf_last_of[b->is_armed]
                                   : rf_inward_of[b->is_armed];
        step[b->hop_kind](b, bp->n_children == 1, qd, tau, m, self, parent);
    }
}

/* motion of all bodies without qdd, and the forces that it takes (V3 to V5) */
FA_INLINE void rf_outward_all(const fa_model *model, const fa_real *q,
                              const fa_real *qd, const fd_work *w)
{
    for (int k = 0; k < model->n_bodies; k++) {
        rigid_turn(model->bodies + k, q, w->motion + k);
    }
    for (int k = 0; k < model->n_bodies; k++) {
        rf_outward(model, model->bodies + k, q, qd, w, w->motion + k, w->body + k);
    }
}

/* acceleration of one body on any hop (V7) */
FA_INLINE void rf_accelerate_one(const fa_model *model, int k, const fa_real *still,
                                 const fd_work *w, fa_real *qdd)
{
    const fa_body *b = model->bodies + k;
    fd_body *self = w->body + k;
    const fa_real *p = b->parent < 0 ? still : w->body[b->parent].a;

    if (b->hop_kind == FA_HOP_GROUND) {
        fa_zero(self->a, 6);
        self->a[2] = qdd[b->joint_at] = self->nu;
    } else if (b->hop_kind == FA_HOP_GENERAL) {
        fa_zero(self->c, 6);
        fd_accelerate(model, b, 0, still, w, self, qdd);
    } else {
        AXIAL_SWITCH(b, rf_accelerate, w->motion + k, p, self, qdd)
    }
}

FA_NOINLINE void rf_run(const fa_model *model, const fa_real *q, const fa_real *qd,
                        const fa_real *tau, const fd_work *w, fa_real *qdd)
{
    const fa_real still[6] = {{0}};

    rf_outward_all(model, q, qd, w);
    for (int k = model->n_bodies - 1; k >= 0; k--) {
        rf_inward_one(model, model->bodies + k, qd, tau, w, w->motion + k, w->body + k);
    }
    for (int k = 0; k < model->n_bodies; k++) {
        rf_accelerate_one(model, k, still, w, qdd);
    }
}

#endif
