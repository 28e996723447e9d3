/*
 * local_steps.c -- a correction of accelerations in an implicit step, by articulated bodies
 *
 * Solves      (M + E) x = r,  r = ID(q, qd, qdd) - tau,  E = c C + k K of each body and
 *             each joint by itself                                                (O8)
 * Recursion   that of forward dynamics, A1 to A9, for -x: bodies begin with all forces of
 *             the iterate (I1, B5) and c = 0, and E stands in diagonal blocks, in P_ff of
 *             modes and beside the armature of joints. Its pivots are those of
 *             M + E = L D L', so that  r' x = sum eps' D^-1 eps  of all rows.
 *             Of S (O2) it leaves out what forces change by poses and rates: those of
 *             inertia and weight, and the strain energy beyond K.
 * Lanes       a pivot that is not positive makes its lane NaN.
 * Cost        O(bodies * modes^3), no allocation.
 * Checked by  tests/simulation/test_local_steps.py
 */
#ifndef FA_LOCAL_STEPS_C
#define FA_LOCAL_STEPS_C

#include "kernels/bodies/body.h"
#include "kernels/bodies/driven.h"
#include "kernels/bodies/hop.h"
#include "kernels/bodies/node.h"
#include "kernels/bodies/straight.h"
#include "kernels/bodies/straight_forces.h"
#include "kernels/bodies/straight_hop.h"
#include "kernels/dynamics/forward_rows.h"
#include "kernels/dynamics/forward_steps.h"
#include "kernels/dynamics/forward_straight.h"
#include "kernels/dynamics/forward_work.h"
#include "kernels/dynamics/local_steps.h"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/layout.h"

/*
 * Kinds of straight bodies that go their own way here: links and pieces of rods, and links
 * that bend in a plane. All kinds would take as long to compile as forward dynamics does;
 * the others go that of a body of any kind.
 */
#define LS_KINDS(KIND, ...)                                                            \
    KIND(1, (2, 2, 0, 2, 0, 0, 0), __VA_ARGS__)                                        \
    KIND(7, (2, 0, 0, 2, 0, 0, 0), __VA_ARGS__)                                        \
    KIND(8, (0, 2, 0, 2, 0, 0, 0), __VA_ARGS__)                                        \
    KIND(9, (2, 0, 0, 0, 0, 0, 0), __VA_ARGS__)                                        \
    KIND(10, (0, 2, 0, 0, 0, 0, 0), __VA_ARGS__)                                       \
    KIND(13, (2, 2, 0, 2, 0, 0, 1), __VA_ARGS__)                                       \
    KIND(18, (2, 2, 1, 2, 0, 0, 1), __VA_ARGS__)
#define LS_CASE_KIND(number, sizes, step, model, b, ...)                               \
    case number:                                                                       \
        step(model, b, ((straight_size)FA_STRAIGHT_SIZE sizes), __VA_ARGS__);          \
        break;
#define LS_SWITCH_KINDS(of, ...)                                                       \
    switch ((of)->straight.kind) {                                                     \
        LS_KINDS(LS_CASE_KIND, __VA_ARGS__)                                            \
    default:                                                                           \
        break;                                                                         \
    }

/* whether a body has one of these kinds, and whether one hangs on a node of such a body */
FA_INLINE int ls_is_straight(const fa_body *b)
{
#define LS_IS_KIND(number, sizes, kind) || (kind) == (number)
    return 0 LS_KINDS(LS_IS_KIND, b->straight.kind);
}

FA_INLINE int ls_on_straight(const fa_model *model, const fa_body *b)
{
    return straight_carries(model, b) && ls_is_straight(model->bodies + b->parent);
}

/* pose, twist, acceleration of one body; np modes of its parent (I1) */
FA_INLINE void ls_outward(const fa_model *model, const fa_body *b, const int np,
                          const ls_iterate *at, const fd_work *w, fd_body *self)
{
    const fd_body *p = b->parent < 0 ? NULL : w->body + b->parent;
    fa_real *slope = w->columns + 6 * b->hop_at, *shift = slope + 3 * np;
    fa_real base[6] = {{0}};
    fa_turn turn = {0};

    for (int i = 0; i < 3; i++) {
        base[3 + i] = fa_spread(-model->gravity[i]);
    }
    hop_pose(model, b, np, at->q, &self->hop, &turn, slope, shift);
    hop_motion(&self->hop, np, slope, shift, p ? p->a : base,
               at->qdd + b->parent_mode_at, self->a);
    hop_velocity(model, b, np, &self->hop, &turn, slope, shift, p ? p->V : NULL, at->qd,
                 self->V, self->c);
    for (int i = 0; i < 6; i++) {
        self->a[i] += self->c[i];
    }
    fa_zero(self->c, 6);
    hop_accelerate(b, slope, at->qdd, self->a);
    if (model->any_offset) {
        fa_real g[3];
        for (int i = 0; i < 3; i++) {
            g[i] = p ? p->g[i] : fa_spread(model->gravity[i]);
        }
        fa_rotate_t(self->g, self->hop.R, g);
    }
}

/* the same on a straight parent */
FA_INLINE void ls_outward_straight(const fa_model *model, const fa_body *b,
                                   const straight_size z, const ls_iterate *at,
                                   const fd_work *w, fd_body *self)
{
    const fa_body *on = model->bodies + b->parent;
    const fd_body *p = w->body + b->parent;
    fa_real *bent = w->bent + b->hop_at;
    fa_turn turn;

    straight_pose(model, on, b, z, at->q, &self->hop, &turn, &self->node, bent);
    straight_velocity(model, on, b, z, &self->hop, &turn, &self->node, bent, at->qd,
                      p->V, 1, p->a, at->qdd + on->mode_at, self->V, self->a);
    fa_zero(self->c, 6);
    hop_accelerate(b, NULL, at->qdd, self->a);
    if (model->any_offset) {
        fa_rotate_t(self->g, self->hop.R, p->g);
    }
}

/* P_ff += E_f */
FA_INLINE void ls_stiffen(const fa_body *b, const int n, const ls_iterate *at,
                          const fd_work *w)
{
    fa_real *L = w->L + b->tri_at;

    for (int r = 0; r < n; r++) {
        for (int s = 0; s <= r; s++) {
            L[fa_tri(r, s)] +=
                at->c * b->modal.C[r * n + s] + at->k * b->modal.K[r * n + s];
        }
    }
}

/* inertia and all forces of one body with n modes (A1, B5) */
FA_INLINE void ls_body(const fa_model *model, const fa_body *b, const int n,
                       const ls_iterate *at, const fd_work *w, fd_body *self)
{
    const fa_real *eta = node_eta(model, at->q, b->eta_at);
    fa_real *z_f = w->z_f + b->own_at;
    fa_shape shape;

    body_shape(b, n, eta, &shape);
    body_bias(b, n, &shape, node_etad(model, at->qd, b->mode_at), self->V, z_f,
              self->z);
    body_elastic_add(b, n, at->q + b->eta_at, at->qd + b->mode_at, z_f);
    body_mass_mul_add(b, n, &shape, at->qdd + b->mode_at, self->a, z_f, self->z);
    if (b->node_is_offset) {
        body_offset_gravity_add(b, n, eta, self->g, self->z);
    }
    fd_body_inertia(b, n, &shape, w, self);
    ls_stiffen(b, n, at, w);
}

/* the same of a straight body */
FA_INLINE void ls_body_straight(const fa_model *model, const fa_body *b,
                                const straight_size z, const ls_iterate *at,
                                const fd_work *w, fd_body *self)
{
    const int n = z.bends[0] + z.bends[1] + z.twists;
    straight_shape shape;

    (void)model;
    straight_deform(b, z, at->q + b->eta_at, &shape);
    straight_force(b, z, &shape, at->q + b->eta_at, at->qd + b->mode_at,
                   at->qdd + b->mode_at, 1, self->V, self->a, w->z_f + b->own_at,
                   self->z);
    straight_inertia(b, z, &shape, &self->P, w->Y + 6 * b->own_at, w->L + b->tri_at);
    ls_stiffen(b, n, at, w);
}

FA_NOINLINE void ls_start(const fa_model *model, const fa_body *b, const ls_iterate *at,
                          const fd_work *w, fd_body *self){
    FA_BODY_STEP(LS_SWITCH_KINDS, ls_is_straight(b), ls_body, model, b, at, w, self)}

/* eps' D^-1 eps of n rows */
FA_INLINE fa_real ls_rows(int n, int at, const fd_work *w)
{
    fa_real sum = {0};

    for (int r = at; r < at + n; r++) {
        sum += w->z_f[r] * w->z_f[r] * w->pivot[r];
    }
    return sum;
}

/* eps' D^-1 eps of one body that is freed, modes and joint */
FA_INLINE fa_real ls_energy(const fa_body *b, const fd_work *w, const fd_body *self)
{
    fa_real sum = ls_rows(b->n_modes, b->own_at, w);

    if (b->wide) {
        sum += ls_rows(b->n_dof, b->wide_at, w);
    } else if (b->joint_at >= 0) {
        sum += self->nu * self->nu / self->inverse;
    }
    return sum;
}

/* outward: motion of all bodies; bodies start as in forward_dynamics.c */
FA_NOINLINE void ls_outward_all(const fa_model *model, const ls_iterate *at,
                                const fd_work *w)
{
    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        FA_HOP_STEP(LS_SWITCH_KINDS, ls_on_straight(model, b), ls_outward, model, b, at,
                    w, w->body + k)
        if (b->n_children != 1) {
            ls_start(model, b, at, w, w->body + k);
        }
    }
}

/* inward: free modes and joint, hand the rest to the parent; eps' D^-1 eps */
FA_NOINLINE fa_real ls_inward_all(const fa_model *model, const ls_iterate *at,
                                  const fa_real *rest, const fd_work *w)
{
    fa_real energy = {0};

    for (int k = model->n_bodies - 1; k >= 0; k--) {
        const fa_body *b = model->bodies + k;
        fd_body *self = w->body + k;
        FD_SWITCH_MODES(b->n_modes, fd_eliminate_modes, model, b, at->q,
                        rest + b->mode_at, w, self)
        fd_eliminate_joint(b, at->joints, at->qd, rest, w, self);
        energy += ls_energy(b, w, self);
        if (b->parent < 0) {
            continue;
        }
        if (model->bodies[b->parent].n_children == 1) {
            ls_start(model, model->bodies + b->parent, at, w, w->body + b->parent);
        }
        FA_HOP_STEP(LS_SWITCH_KINDS, ls_on_straight(model, b), fd_inward, model, b, 3,
                    w, self)
    }
    return energy;
}

/* outward: the correction, -x (A9) */
FA_NOINLINE void ls_correct_all(const fa_model *model, const fd_work *w, fa_real *x)
{
    const fa_real base[6] = {{0}};

    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        FA_HOP_STEP(LS_SWITCH_KINDS, ls_on_straight(model, b), fd_accelerate, model, b,
                    base, w, w->body + k, x)
        FD_SWITCH_MODES(b->n_modes, fd_accelerate_modes, model, b, w, w->body + k,
                        x + b->mode_at)
    }
}

void ls_run(const fa_model *model, const ls_iterate *at, const fa_real *tau,
            fa_real *work, fa_real *x, fa_real *energy)
{
    const fd_work w = fd_split(model, work);
    fa_real *rest = work + fd_work_size(model);

    memcpy(rest, tau, (size_t)model->nv * sizeof(fa_real));
    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        for (int j = b->joint_at; j >= 0 && j < b->joint_at + b->n_dof; j++) {
            rest[j] -= b->armature[j - b->joint_at] * at->qdd[j];
        }
    }
    ls_outward_all(model, at, &w);
    *energy = ls_inward_all(model, at, rest, &w);
    ls_correct_all(model, &w, x);
    for (int i = 0; i < model->nv; i++) {
        x[i] = -x[i];
    }
}

#endif
