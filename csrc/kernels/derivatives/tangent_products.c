/*
 * tangent_products.c -- products with the derivatives of inverse dynamics, in two sweeps
 *
 * Equations   along changes x of q, y of qd, u of qdd, by X1 and X2, outward
 *                 z = sum P_i x_i + J_i y_i,  e = sum J_i x_i,
 *                 zd = sum Q_i x_i + T_i y_i + J_i u_i                          (TP1)
 *             over the freedoms i of the hops inboard of a body; the force on one body
 *             alone, with its own modes s, and then with all that is outboard, hops
 *             c of children with displacements e_c, changes by X5 to X7 by
 *                 F = I zd + B z + q_s x_s + qd_s y_s + A_s u_s + sum (F_c + e_c x* f_c)
 *                                                                               (TP2)
 *             so that a joint feels J_i'F, a mode r of the body that a hop leaves
 *             J_r'(F + e x* f) + (dJ_r/deta_s)'f x_s of it and
 *             A_r.zd + B_r.z + dz_r of its own body (X8 to X10).
 *             Backwards, of a cotangent l, outward m = sum J_i l_i, inward
 *                 A = I m + A_r l_r + sum A_c,  B = B'm + B_r l_r + sum B_c     (TP3)
 *             and with the m of what is inboard of the hop of a freedom s
 *                 (K'l)_s = Q_s.A + P_s.B + m.(J_s x* f) + l_r (dJ_r/deta_s)'f,
 *                 (C'l)_s = T_s.A + J_s.B,  (M l)_s = J_s.A,                    (TP4)
 *             of a mode besides m.(q_s; qd_s; A_s) and its own block.
 * Frames      axes of the base, about the origin of the first body.
 * Cost        O(bodies * modes^2): of the derivatives of one body.
 * Source      X1 to X10 of tangent.c.
 * Checked by  tests/derivatives/test_products.py: the matrices.
 */
#ifndef FA_TANGENT_PRODUCTS_C
#define FA_TANGENT_PRODUCTS_C

#include "kernels/bodies/body.h"
#include "kernels/bodies/driven.h"
#include "kernels/bodies/joint_forces.h"
#include "kernels/bodies/node.h"
#include "kernels/bodies/straight.h"
#include "kernels/bodies/strain.h"
#include "kernels/derivatives/body_products.h"
#include "kernels/derivatives/straight_products.h"
#include "kernels/derivatives/tangent.c"
#include "kernels/derivatives/tangent_body.h"
#include "kernels/derivatives/tangent_hop.h"
#include "kernels/dynamics/inverse_steps.h"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/kinds.h"
#include "model/layout.h"

/* a body along a change: TP1, displacement in its hop alone and in all, force of TP2 */
typedef struct {
    fa_real z[6], zd[6], hop[6], all[6], F[6];
} tp_change;

/* a body with a cotangent: m inboard of its hop, m, A and B of TP3 */
typedef struct {
    fa_real inboard[6], m[6];
    tg_coordinate row;
} tp_cotangent;

/* scratch, besides that of the tangents: one body's block, mass, rows of mass; bodies */
typedef struct {
    tg_work t;
    fa_real *block, *ff, *rf;
    tp_change *changes;
    tp_cotangent *cotangents; /* in place of the changes */
    const fa_real *x, *y, *u; /* changes; u may be NULL */
    const fa_real *l;
    fa_real *dq, *dqd, *dqdd; /* results; dqdd may be NULL */
} tp_work;

static size_t tp_most_modes(const fa_model *model)
{
    size_t most = 0;
    for (int k = 0; k < model->n_bodies; k++) {
        const size_t n = (size_t)model->bodies[k].n_modes;
        most = n > most ? n : most;
    }
    return most;
}

static size_t tp_work_size(const fa_model *model)
{
    const size_t n = tp_most_modes(model);
    const size_t body = sizeof(tp_change) > sizeof(tp_cotangent) ? sizeof(tp_change)
                                                                 : sizeof(tp_cotangent);

    return tg_tree_work_size(model) + 2 * n * n + n * (n + 1) / 2 + 6 * n +
           (size_t)model->n_bodies * (body / sizeof(fa_real));
}

static tp_work tp_split(const fa_model *model, const tg_work *t, fa_real *work)
{
    const size_t n = tp_most_modes(model);
    tp_work w = {.t = *t, .block = work + tg_tree_work_size(model)};

    w.ff = w.block + 2 * n * n;
    w.rf = w.ff + n * (n + 1) / 2;
    w.changes = (tp_change *)(w.rf + 6 * n);
    w.cotangents = (tp_cotangent *)(w.rf + 6 * n);
    return w;
}

/* the modes that are freedoms of a hop: how many, and the first one */
FA_INLINE int tp_hop_modes(const fa_body *b, int *at)
{
    const int floats = b->joint == FA_JOINT_FLOATING;
    *at = floats ? b->mode_at : b->parent_mode_at;
    return floats ? b->n_modes : b->parent_modes;
}

FA_INLINE void tp_scaled_add(const fa_real *a, fa_real x, fa_real *restrict y)
{
    for (int i = 0; i < 6; i++) {
        y[i] += a[i] * x;
    }
}

/* whether a body is straight and its model has no wide B */
FA_INLINE int tp_is_straight(const tp_work *w, const fa_body *b)
{
    return ps_is_usual(b) && !w->t.wide;
}

/* the own block times x and y, or by columns, and elastic forces (B5, U3), added */
FA_INLINE void tp_block_add(const fa_body *b, const tp_work *w, const int back,
                            const fa_real *x, const fa_real *y, fa_real *dq,
                            fa_real *dqd)
{
    const int n = b->n_modes;
    const int block = !tp_is_straight(w, b); /* which had its own */
    const fa_real *eta = w->t.q + b->eta_at, *q = w->block, *qd = q + n * n;

    if (b->strain.n > 0 && b->strain.plane >= 0) {
        strain_tangents_add(&b->strain, eta, n, w->block);
    } else if (b->strain.n > 0) {
        tp_strain_add(&b->strain, eta, x, dq);
    }
    for (int i = 0; i < n; i++) {
        fa_real sum = {0}, rate = {0};
        for (int j = 0; j < n; j++) {
            const int at = back ? j * n + i : i * n + j;
            sum += b->modal.K[at] * x[j];
            rate += b->modal.C[at] * y[j];
            if (block) {
                sum += q[at] * x[j];
                rate += qd[at] * y[j];
            }
        }
        dq[i] += sum;
        dqd[i] += rate;
    }
}

/* motion, screws, coordinates and block of body k; those inboard of it are done */
FA_INLINE void tp_place(const fa_model *model, const tp_work *w, int k)
{
    const fa_body *b = model->bodies + k;
    const id_body *of = w->t.motion + k;

    tg_place(&of->hop, of->V, of->a, b->parent < 0 ? NULL : w->t.bodies + b->parent,
             w->t.motion[0].hop.r, w->t.bodies + k);
    tg_screws(model, &w->t, k);
}

FA_INLINE void tp_start(const fa_model *model, const tp_work *w, int k)
{
    const int n = model->bodies[k].n_modes;
    const tg_result out = {n, w->block, w->block + n * n};

    fa_zero(w->block, 2 * n * n);
    tg_start_any(model, k, &w->t, w->t.own, &out);
}

/* screws of freedoms from coordinate `at` on, added to TP1; `moves`: they displace */
FA_INLINE void tp_freedoms(const tp_work *w, const tg_screw *screws, int count, int at,
                           const int moves, tp_change *c)
{
    for (int i = 0; i < count; i++) {
        const tg_screw *s = screws + i;
        const fa_real x = w->x[at + i], y = w->y[at + i];

        for (int j = 0; j < 6; j++) {
            c->z[j] += s->P[j] * x + s->J[j] * y;
            c->zd[j] += s->Q[j] * x + s->T[j] * y;
        }
        if (moves) {
            tp_scaled_add(s->J, x, c->hop);
        }
        if (w->u) {
            tp_scaled_add(s->J, w->u[at + i], c->zd);
        }
    }
}

/* TP1 of body k */
FA_NOINLINE void tp_carry(const fa_model *model, const tp_work *w, int k)
{
    const fa_body *b = model->bodies + k;
    const tg_screw *joints = w->t.screws + model->sum_parent_modes;
    tp_change *c = w->changes + k;
    int at;
    const int n = tp_hop_modes(b, &at);

    memset(c, 0, sizeof *c);
    if (b->parent >= 0) {
        const tp_change *p = w->changes + b->parent;
        memcpy(c->z, p->z, sizeof c->z);
        memcpy(c->zd, p->zd, sizeof c->zd);
        memcpy(c->all, p->all, sizeof c->all);
    }
    tp_freedoms(w, w->t.screws + b->hop_at, n, at, model->fidelity != FA_RUTHLESS, c);
    if (b->n_dof > 0) {
        tp_freedoms(w, joints + b->joint_at, b->n_dof, b->joint_at, 1, c);
    }
    for (int i = 0; i < 6; i++) {
        c->all[i] += c->hop[i];
    }
}

/* rows of the modes of body k, and F of them; its inertia and block */
FA_NOINLINE void tp_modes(const fa_model *model, const tp_work *w, int k, fa_real *F)
{
    const fa_body *b = model->bodies + k;
    const int wide = w->t.wide != NULL, n = b->n_modes, at = b->mode_at;
    const fa_real *x = w->x + at, *y = w->y + at, *u = w->u ? w->u + at : NULL;
    const tp_change *c = w->changes + k;
    fa_real *tau = w->dq + at;

    tp_start(model, w, k);
    for (int r = 0; r < n; r++) {
        const tg_coordinate *own = w->t.own + r;
        tau[r] += tg_row(wide, own, c->zd, c->z);
        for (int i = 0; i < 6; i++) {
            F[i] += own->q[i] * x[r] + own->qd[i] * y[r];
        }
        if (u) {
            tp_scaled_add(own->A, u[r], F);
        }
    }
    if (u && n > 0) {
        tp_mass_add(b, node_eta(model, w->t.q, b->eta_at), u, w->rf, w->ff, tau);
    }
}

/* force and modal rows of body k alone, in its own state (TP2) */
FA_NOINLINE void tp_own(const fa_model *model, const tp_work *w, int k)
{
    const fa_body *b = model->bodies + k;
    const int wide = w->t.wide != NULL, n = b->n_modes, at = b->mode_at;
    const fa_real *x = w->x + at, *y = w->y + at, *u = w->u ? w->u + at : NULL;
    tp_change *c = w->changes + k;
    fa_real F[6], *tau = w->dq + at;

    fa_zero(F, 6);
    fa_zero(tau, n);
    if (tp_is_straight(w, b)) {
        const fa_real *const motion[3] = {w->t.q + b->eta_at, w->t.qd + at,
                                          w->t.qdd + at};
        ps_work p;
        p.by[0] = x;
        p.by[1] = y;
        p.by[2] = u;
        p.rows[0] = tau;
        ps_along_usual(w->t.motion + k, b, motion, c->z, c->zd, &p, w->t.bodies + k, F);
    } else {
        tp_modes(model, w, k, F);
    }
    tg_response(wide, w->t.bodies + k, w->t.wide + k, c->zd, c->z, c->F);
    if (wide) {
        tg_weight_add(model, w->t.bodies + k, c->all, c->F);
    }
    for (int i = 0; i < 6; i++) {
        c->F[i] += F[i];
    }
    tp_block_add(b, w, 0, x, y, tau, tau);
}

/* the part by the bent node of the hop of body k, along (TP2) or back (TP4) */
FA_NOINLINE void tp_bent(const fa_model *model, const tp_work *w, int k, const int back)
{
    const fa_body *b = model->bodies + k;
    const int floats = b->joint == FA_JOINT_FLOATING;
    const int carrier = floats ? k : b->parent;
    const double sign = floats ? -1.0 : 1.0;
    tg_bend bend;
    int at;
    const int n = tp_hop_modes(b, &at);

    /* on the ground there is no node; modes of ruthless models displace nothing */
    if (n == 0 || model->fidelity == FA_RUTHLESS) {
        return;
    }
    const fa_node *node = model->nodes + (floats ? b->own_node : b->attach);
    const fa_real *eta = w->t.q + model->bodies[carrier].eta_at;
    const fa_real *slope = w->t.columns + 6 * b->hop_at;
    tg_bend_at(w->t.bodies[carrier].R, w->t.bodies + k, &bend);
    if (back) {
        tp_bend_back(node, n, sign, eta, slope, &bend, w->l + at, w->dq + at);
    } else {
        tp_bend(node, n, sign, eta, slope, &bend, w->x + at, w->dq + at);
    }
}

/* y_i += J_i.F of the modes of a hop */
FA_INLINE void tp_project(const tp_work *w, const fa_body *b, const fa_real *F)
{
    int at;
    const int n = tp_hop_modes(b, &at);

    for (int r = 0; r < n; r++) {
        w->dq[at + r] += tg_dot(w->t.screws[b->hop_at + r].J, F);
    }
}

/* the hop of body k feels TP2, and its parent */
FA_NOINLINE void tp_hand_on(const fa_model *model, const tp_work *w, int k)
{
    const fa_body *b = model->bodies + k;
    const tg_screw *joint = w->t.screws + model->sum_parent_modes + b->joint_at;
    const int floats = b->joint == FA_JOINT_FLOATING;
    const tg_body *self = w->t.bodies + k;
    tp_change *c = w->changes + k;

    tp_bent(model, w, k, 0);
    if (floats) { /* seen from the body that these modes carry */
        tp_project(w, b, c->F);
    }
    for (int j = 0; j < b->n_dof; j++) {
        const int at = b->joint_at + j;
        w->dq[at] = tg_dot(joint[j].J, c->F) + b->damping[j] * w->y[at];
        if (w->u) {
            w->dq[at] += b->armature[j] * w->u[at];
        }
    }
    if (b->parent < 0) {
        return;
    }
    tg_carry_add(c->F, c->hop, self->f);
    if (!floats) {
        tp_project(w, b, c->F);
    }
    for (int i = 0; i < 6; i++) {
        w->changes[b->parent].F[i] += c->F[i];
        w->t.bodies[b->parent].f[i] += self->f[i];
    }
}

/* m of body k, and inboard of its hop */
FA_NOINLINE void tp_move(const fa_model *model, const tp_work *w, int k)
{
    const fa_body *b = model->bodies + k;
    const tg_screw *joints = w->t.screws + model->sum_parent_modes;
    tp_cotangent *c = w->cotangents + k;
    int at;
    const int n = tp_hop_modes(b, &at);

    memset(c, 0, sizeof *c);
    if (b->parent >= 0) {
        memcpy(c->inboard, w->cotangents[b->parent].m, sizeof c->m);
    }
    memcpy(c->m, c->inboard, sizeof c->m);
    for (int s = 0; s < n; s++) {
        tp_scaled_add(w->t.screws[b->hop_at + s].J, w->l[at + s], c->m);
    }
    if (b->joint != FA_JOINT_FLOATING) {
        memcpy(c->inboard, c->m, sizeof c->m);
    }
    for (int j = 0; j < b->n_dof; j++) {
        tp_scaled_add(joints[b->joint_at + j].J, w->l[b->joint_at + j], c->m);
    }
}

/* what the modes of body k feel of m, A and B of them; its inertia and block */
FA_NOINLINE void tp_modes_back(const fa_model *model, const tp_work *w, int k)
{
    const fa_body *b = model->bodies + k;
    const int n = b->n_modes, at = b->mode_at;
    const fa_real *l = w->l + at;
    tp_cotangent *c = w->cotangents + k;

    tp_start(model, w, k);
    for (int s = 0; s < n; s++) {
        const tg_coordinate *own = w->t.own + s;
        w->dq[at + s] += tg_dot(c->m, own->q);
        w->dqd[at + s] += tg_dot(c->m, own->qd);
        tp_scaled_add(own->A, l[s], c->row.A);
        for (int i = 0; i < (w->t.wide ? 6 : 3); i++) {
            c->row.B[i] += own->B[i] * l[s];
        }
        if (w->dqdd) {
            w->dqdd[at + s] += tg_dot(c->m, own->A);
        }
    }
    if (w->dqdd && n > 0) {
        tp_mass_add(b, node_eta(model, w->t.q, b->eta_at), l, w->rf, w->ff,
                    w->dqdd + at);
    }
}

/* A and B of body k alone, and what it gives its modes (TP3, TP4) */
FA_NOINLINE void tp_own_back(const fa_model *model, const tp_work *w, int k)
{
    const fa_body *b = model->bodies + k;
    const int n = b->n_modes, at = b->mode_at;
    fa_real *dq = w->dq + at, *dqd = w->dqd + at, *dqdd = w->dqdd ? w->dqdd + at : NULL;
    tp_cotangent *c = w->cotangents + k;

    fa_zero(dq, n);
    fa_zero(dqd, n);
    if (dqdd) {
        fa_zero(dqdd, n);
    }
    if (tp_is_straight(w, b)) {
        const fa_real *const motion[3] = {w->t.q + b->eta_at, w->t.qd + at,
                                          w->t.qdd + at};
        ps_work p;
        p.by[0] = w->l + at;
        p.rows[0] = dq;
        p.rows[1] = dqd;
        p.rows[2] = dqdd;
        ps_back_usual(w->t.motion + k, b, motion, c->m, &p, w->t.bodies + k, &c->row);
    } else {
        tp_modes_back(model, w, k);
    }
    tg_row_add(w->t.wide != NULL, model, w->t.bodies + k, w->t.wide + k, c->m, &c->row);
    tp_block_add(b, w, 1, w->l + at, w->l + at, dq, dqd);
}

/* TP4 of freedoms from coordinate `at` on, added; J.turn = m.(J x* f) */
FA_INLINE void tp_columns(const tp_work *w, const int wide, const tg_coordinate *row,
                          const fa_real *turn, const tg_screw *screws, int count,
                          int at)
{
    for (int i = 0; i < count; i++) {
        const tg_screw *s = screws + i;

        w->dq[at + i] += tg_row(wide, row, s->Q, s->P) + tg_dot(s->J, turn);
        w->dqd[at + i] += tg_row(wide, row, s->T, s->J);
        if (w->dqdd) {
            w->dqdd[at + i] += tg_dot(s->J, row->A);
        }
    }
}

/* the hop of body k takes TP4, and hands TP3 to its parent */
FA_NOINLINE void tp_hand_back(const fa_model *model, const tp_work *w, int k)
{
    const fa_body *b = model->bodies + k;
    const tg_screw *joint = w->t.screws + model->sum_parent_modes + b->joint_at;
    const int wide = w->t.wide != NULL;
    const tg_body *self = w->t.bodies + k;
    const tp_cotangent *c = w->cotangents + k;
    fa_real turn[6];
    int at;
    const int n = tp_hop_modes(b, &at);

    tg_carry_back(turn, c->inboard, self->f);
    for (int i = 0; i < 3 && wide; i++) {
        turn[i] += c->row.G[i];
    }
    for (int j = 0; j < b->n_dof; j++) {
        const int i = b->joint_at + j;
        w->dq[i] = (fa_real){0};
        w->dqd[i] = b->damping[j] * w->l[i];
        if (w->dqdd) {
            w->dqdd[i] = b->armature[j] * w->l[i];
        }
    }
    if (b->n_dof > 0) {
        tp_columns(w, wide, &c->row, turn, joint, b->n_dof, b->joint_at);
    }
    if (model->fidelity == FA_RUTHLESS) {
        fa_zero(turn, 6);
    }
    tp_columns(w, wide, &c->row, turn, w->t.screws + b->hop_at, n, at);
    tp_bent(model, w, k, 1);
    if (b->parent < 0) {
        return;
    }
    tg_coordinate *row = &w->cotangents[b->parent].row;
    for (int i = 0; i < 6; i++) {
        row->A[i] += c->row.A[i];
        row->B[i] += c->row.B[i];
        w->t.bodies[b->parent].f[i] += self->f[i];
    }
    for (int i = 0; i < 3; i++) {
        row->G[i] += c->row.G[i];
    }
}

/* the two sweeps */
FA_NOINLINE void tp_sweep(const fa_model *model, const tp_work *w, const int back)
{
    const tg_work *t = &w->t;

    id_outward_all(model, ID_MOTION | ID_ACCELERATION | ID_COLUMNS, t->q, t->qd, t->qdd,
                   t->motion, t->columns, t->z_f);
    for (int k = 0; k < model->n_bodies; k++) {
        tp_place(model, w, k);
        if (back) {
            tp_move(model, w, k);
            tp_own_back(model, w, k);
        } else {
            tp_carry(model, w, k);
            tp_own(model, w, k);
        }
    }
    for (int k = model->n_bodies - 1; k >= 0; k--) {
        if (back) {
            tp_hand_back(model, w, k);
        } else {
            tp_hand_on(model, w, k);
        }
    }
}

/*
 * K x + C y + M u at q [nq], qd, qdd [nv] of a model that is not linear and has no tree.
 *   x, y, u  [nv]; u may be NULL
 *   work     [tp_work_size(model)]
 */
static void tp_along(const fa_model *model, const fa_real *q, const fa_real *qd,
                     const fa_real *qdd, const fa_real *x, const fa_real *y,
                     const fa_real *u, fa_real *work, fa_real *tau)
{
    const tg_work t = tg_split(model, 1, q, qd, qdd, work);
    tp_work w = tp_split(model, &t, work);

    w.x = x;
    w.y = y;
    w.u = u;
    w.dq = tau;
    tp_sweep(model, &w, 0);
    jf_products_add(model, q, qd, x, y, tau, tau);
}

/* K'l, C'l and M l, which may be NULL, of the same */
static void tp_back(const fa_model *model, const fa_real *q, const fa_real *qd,
                    const fa_real *qdd, const fa_real *l, fa_real *work, fa_real *dq,
                    fa_real *dqd, fa_real *dqdd)
{
    const tg_work t = tg_split(model, 1, q, qd, qdd, work);
    tp_work w = tp_split(model, &t, work);

    w.l = l;
    w.dq = dq;
    w.dqd = dqd;
    w.dqdd = dqdd;
    tp_sweep(model, &w, 1);
    jf_products_add(model, q, qd, l, l, dq, dqd);
}

#endif
