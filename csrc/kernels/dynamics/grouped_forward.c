/*
 * grouped_forward.c -- accelerations of rigid arms with joints that follow others
 *
 * Recursion   that of rigid_forward.c. A group is a leader and the joints that follow
 *             it, q_j = r_j q_l; its acceleration u is freed at the body in which all its
 *             joints have met, and until then each body hands inward
 *                 f = P a + Y u + z,   tau_l = Y' a + L u + h                    (L7)
 *             of the groups outboard that are not free yet. Past a joint of a group
 *                 L += 2 r S'Y + r^2 (S'P S + a),  Y += r P S,  h += r (S'z + d qd)    (L8)
 *             with the other columns in row and column of L; past a joint with a
 *             coordinate of its own, D = S'P S, e = S'Y
 *                 Y -= G e, L -= e' e / D, h += e' eps / D                       (L9)
 *             A group is freed like a mode: P -= Y Y' / L, z += Y (tau - h) / L  (L10)
 *             outward: u = (tau - h - Y' a) / L, then qdd_j = r_j u              (L11)
 * Frames      as in rigid_forward.c. Columns and their way: fa_grouping.
 * Cost        O(bodies * groups on their way^2).
 * Source      A. Jain, Robot and Multibody Dynamics, 2011, ch. 11 (constraint embedding);
 *             here with the modes of Jain and Rodriguez, eqs. 63, 64, as pattern.
 * Checked by  tests/constraints/test_followers.py.
 */
#ifndef FA_GROUPED_FORWARD_C
#define FA_GROUPED_FORWARD_C

#include "kernels/bodies/axial.h"
#include "kernels/bodies/followers.h"
#include "kernels/bodies/hop.h"
#include "kernels/bodies/node.h"
#include "kernels/bodies/rigid.h"
#include "kernels/dynamics/forward_steps.h"
#include "kernels/dynamics/forward_work.h"
#include "kernels/dynamics/rigid_forward.c"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/kinds.h"
#include "model/layout.h"

/* entry of the triangle L */
FA_INLINE fa_real *gf_entry(const fd_groups *s, int g, int h)
{
    return s->L + (g > h ? fa_tri(g, h) : fa_tri(h, g));
}

/* R and r of a hop with angles */
FA_INLINE void gf_hop(const fa_body *b, const rigid_motion *m, fa_hop *h)
{
    const fa_real s = m->s, c = m->c;
    const fa_constant sa = b->alpha[0], ca = b->alpha[1];
    const fa_real R[9] = {c,      -s,     (fa_real){0}, ca * s, ca * c, fa_spread(-sa),
                          sa * s, sa * c, fa_spread(ca)};

    memcpy(h->R, R, sizeof R);
    for (int i = 0; i < 3; i++) {
        h->r[i] = fa_spread(b->arm[i]);
    }
}

/* frees group i of a list, of which `from` to `to` remain; Y, P, z of the body (L10) */
FA_INLINE void gf_free(const fa_grouping *of, const fd_groups *s, const int *list,
                       fa_real *Y, int i, int from, int to, const fa_real *tau,
                       fd_body *self)
{
    const int g = list[i];
    const fa_real inverse = fa_pivot(*gf_entry(s, g, g));
    const fa_real nu = inverse * (tau[of->leader[g]] - s->h[g]);
    const fa_real *own = self ? Y + 6 * i : NULL; /* the ground needs none */
    fa_real G[6];

    s->inverse[g] = inverse;
    s->nu[g] = nu;
    for (int j = from; j < to; j++) {
        const fa_real l = *gf_entry(s, g, list[j]), scaled = l * inverse;
        s->h[list[j]] += l * nu;
        for (int k = from; k <= j; k++) {
            *gf_entry(s, list[j], list[k]) -= scaled * *gf_entry(s, g, list[k]);
        }
        for (int x = 0; x < 6 && self; x++) {
            Y[6 * j + x] -= scaled * own[x];
        }
    }
    if (self) {
        for (int x = 0; x < 6; x++) {
            G[x] = own[x] * inverse;
            self->z[x] += own[x] * nu;
        }
        fd_free_joint(&self->P, 3, own, G);
    }
}

/* acceleration of the same group, a that of the body, or NULL on the ground (L11) */
FA_INLINE void gf_solve(const fd_groups *s, const int *list, const fa_real *Y, int i,
                        int from, int to, const fa_real *a)
{
    const int g = list[i];
    fa_real sum = {0};

    for (int x = 0; x < 6 && a; x++) {
        sum += Y[6 * i + x] * a[x];
    }
    for (int j = from; j < to; j++) {
        sum += *gf_entry(s, g, list[j]) * s->u[list[j]];
    }
    s->u[g] = s->nu[g] - s->inverse[g] * sum;
}

/* past a joint of a group (L8) */
FA_INLINE void gf_join(const fa_body *b, const fa_columns *c, const fd_groups *s,
                       const int *list, fa_real *Y, const fa_real *qd, fd_body *self)
{
    const int axis = b->joint == FA_JOINT_REVOLUTE ? 2 : 5, g = list[c->own];
    const fa_inertia *P = &self->P;
    const double r = c->ratio;
    fa_real *own = Y + 6 * c->own, U[6];

    for (int i = 0; i < 3; i++) {
        U[i] = axis == 2 ? P->A[FA_SYM[i][2]] : P->B[3 * i + 2];
        U[3 + i] = axis == 2 ? P->B[6 + i] : P->D[FA_SYM[i][2]];
    }
    s->h[g] += r * (self->z[axis] + b->damping[0] * qd[b->joint_at]);
    *gf_entry(s, g, g) += r * (2.0 * own[axis] + r * (U[axis] + b->armature[0]));
    for (int j = c->before; j < c->own; j++) {
        *gf_entry(s, g, list[j]) += r * Y[6 * j + axis];
    }
    for (int i = 0; i < 6; i++) {
        own[i] += r * U[i];
    }
}

/* columns past a joint with a coordinate of its own, which fd_eliminate_joint freed (L9) */
FA_INLINE void gf_pass(const fa_body *b, const fa_columns *c, const fd_groups *s,
                       const int *list, fa_real *Y, const fd_body *self)
{
    const int axis = b->joint == FA_JOINT_REVOLUTE ? 2 : 5;
    fa_real *e = s->e + c->first;

    for (int j = c->before; j < c->count; j++) {
        const fa_real own = Y[6 * j + axis];
        e[j] = own * self->inverse;
        s->h[list[j]] += own * self->nu;
        for (int k = c->before; k <= j; k++) {
            const fa_real other = k == j ? own : Y[6 * k + axis];
            *gf_entry(s, list[j], list[k]) -= e[j] * other;
        }
    }
    for (int j = c->before; j < c->count; j++) {
        const fa_real own = Y[6 * j + axis];
        for (int i = 0; i < 6; i++) {
            Y[6 * j + i] -= self->G[i] * own;
        }
    }
}

/* one body with columns inward (L7 to L10) */
FA_NOINLINE void gf_inward(const fa_model *model, int k, const fa_real *qd,
                           const fa_real *tau, const fd_work *w)
{
    const fa_grouping *of = model->grouping;
    const fa_body *b = model->bodies + k;
    const fa_columns *c = of->columns + k;
    const fd_groups *s = &w->groups;
    const int *list = of->groups + c->first;
    fd_body *self = w->body + k;
    fa_real *Y = s->Y + 6 * c->first;
    fa_inertia own, turned;
    int m = 3;

    if (b->hop_kind == FA_HOP_GROUND) { /* of which the moment alone counts */
        rf_clear(&own);
        own.A[5] = self->P.A[5] + b->J0[5];
    } else {
        rf_inertia(b, self, &own);
    }
    self->P = own;
    for (int i = 0; i < c->before; i++) {
        gf_free(of, s, list, Y, i, i + 1, c->count, tau, self);
    }
    if (c->own >= 0) {
        gf_join(b, c, s, list, Y, qd, self);
        if (c->frees_own) {
            gf_free(of, s, list, Y, c->own, c->before, c->own, tau, self);
        }
    } else {
        fa_zero(self->c, 6);
        fd_eliminate_joint(b, NULL, qd, tau, w, self);
        if (b->joint_at >= 0) {
            gf_pass(b, c, s, list, Y, self);
        }
        m = b->kept == 2 ? 2 : 3;
    }
    if (b->parent < 0) {
        return;
    }
    if (axial_is(b)) {
        gf_hop(b, w->motion + k, &self->hop);
    }
    fd_body *parent = w->body + b->parent;
    if (model->bodies[b->parent].n_children == 1) {
        rf_clear(&parent->P);
    }
    fa_rotate_sym(turned.A, self->hop.R, self->P.A, m);
    fa_rotate_mat(turned.B, self->hop.R, self->P.B, m);
    fa_rotate_sym(turned.D, self->hop.R, self->P.D, 3);
    fa_inertia_shift_add(&parent->P, &turned, self->hop.r);
    hop_force_add(&self->hop, 0, NULL, NULL, self->z, parent->z, NULL);
    for (int j = c->before; j < c->count; j++) {
        const int to = of->to[c->first + j];
        if (to >= 0) {
            hop_force_add(&self->hop, 0, NULL, NULL, Y + 6 * j, s->Y + 6 * to, NULL);
        }
    }
}

/* whether all groups of a body with columns end before its joint, which is then freed
 * as any other */
FA_INLINE int gf_ends(const fa_columns *c)
{
    return c->own < 0 && c->before == c->count;
}

/* one body inward */
FA_INLINE void gf_inward_one(const fa_model *model, int k, const fa_real *qd,
                             const fa_real *tau, const fd_work *w)
{
    const fa_grouping *of = model->grouping;
    const fa_columns *c = of->columns + k;

    if (!gf_ends(c)) {
        gf_inward(model, k, qd, tau, w);
        return;
    }
    for (int i = 0; i < c->before; i++) { /* of what the children handed over */
        gf_free(of, &w->groups, of->groups + c->first, w->groups.Y + 6 * c->first, i,
                i + 1, c->count, tau, w->body + k);
    }
    rf_inward_one(model, model->bodies + k, qd, tau, w, w->motion + k, w->body + k);
}

/* groups that meet on the ground, inward and outward (L10, L11) */
FA_NOINLINE void gf_ground(const fa_grouping *of, const fd_groups *s,
                           const fa_real *tau)
{
    const int n = of->n_last;

    for (int i = 0; i < n; i++) {
        gf_free(of, s, of->last, NULL, i, i + 1, n, tau, NULL);
    }
    for (int i = n - 1; i >= 0; i--) {
        gf_solve(s, of->last, NULL, i, i + 1, n, NULL);
    }
}

/* joint of one body with columns beyond it outward (L11) */
FA_NOINLINE void gf_accelerate(const fa_model *model, int k, const fd_work *w,
                               fa_real *qdd)
{
    const fa_real still[6] = {{0}};
    const fa_grouping *of = model->grouping;
    const fa_body *b = model->bodies + k;
    const fa_columns *c = of->columns + k;
    const fd_groups *s = &w->groups;
    const int *list = of->groups + c->first;
    const fa_real *Y = s->Y + 6 * c->first, *e = s->e + c->first;
    fd_body *self = w->body + k;
    fa_real x = {0};

    if (b->parent < 0) {
        fa_zero(self->a, 6);
    } else {
        hop_motion(&self->hop, 0, NULL, NULL, w->body[b->parent].a, still, self->a);
    }
    if (c->own >= 0) {
        if (c->frees_own) {
            gf_solve(s, list, Y, c->own, c->before, c->own, self->a);
        }
        x = c->ratio * s->u[list[c->own]];
    } else if (b->joint_at >= 0) {
        x = self->nu;
        for (int i = 0; i < 6; i++) {
            x -= self->G[i] * self->a[i];
        }
        for (int j = c->before; j < c->count; j++) {
            x -= e[j] * s->u[list[j]];
        }
    }
    if (b->joint_at >= 0) {
        qdd[b->joint_at] = x;
        self->a[b->joint == FA_JOINT_REVOLUTE ? 2 : 5] += x;
    }
}

/* as rf_run, of a tree with groups; tau on followers is not looked at */
FA_NOINLINE void gf_run(const fa_model *model, const fa_real *q, const fa_real *qd,
                        const fa_real *tau, const fd_work *w, fa_real *qdd)
{
    const fa_grouping *of = model->grouping;
    const fa_real still[6] = {{0}};

    fa_zero(w->groups.L, fd_groups_size(of)); /* all of it */
    rf_outward_all(model, q, qd, w);
    for (int k = model->n_bodies - 1; k >= 0; k--) {
        gf_inward_one(model, k, qd, tau, w);
    }
    gf_ground(of, &w->groups, tau);
    for (int k = 0; k < model->n_bodies; k++) {
        const fa_columns *c = of->columns + k;
        if (gf_ends(c)) {
            rf_accelerate_one(model, k, still, w, qdd);
        } else {
            gf_accelerate(model, k, w, qdd);
        }
        for (int i = c->before - 1; i >= 0; i--) {
            gf_solve(&w->groups, of->groups + c->first, w->groups.Y + 6 * c->first, i,
                     i + 1, c->count, w->body[k].a);
        }
    }
}

#endif
