/*
 * inverse_dynamics.c -- generalized forces of a motion (recursive Newton-Euler)
 *
 * Solves      tau = M(q) qdd + C(q, qd): joint rows, then the modal residual
 *
 * Recursion   outward: twist, acceleration (K1 to K7, base: alpha = (0; -g))   (I1)
 *             inward:  f_m by B5 plus the forces of the children               (I2)
 *             tau_eta = modal rows, tau_joint = S' f_r + a qdd + d qd, a the armature
 *                                                                              (I3)
 *             and the passive forces of joints, H1 to H3
 * Frames      every 6-vector is [angular; linear] in the axes of its own body.
 * Cost        O(bodies * modes^2), no allocation.
 * Source      Jain and Rodriguez, US patent 5,546,508, eq. 45.
 * Checked by  tests/dynamics/test_dynamics.py: brute-force Lagrangian, twin,
 *             M qdd + C, Pinocchio.
 */
#ifndef FA_INVERSE_DYNAMICS_C
#define FA_INVERSE_DYNAMICS_C

#include "calls/call.h"
#include "kernels/bodies/followers.h"
#include "kernels/bodies/axial.h"
#include "kernels/bodies/body.h"
#include "kernels/bodies/driven.h"
#include "kernels/bodies/floating.h"
#include "kernels/bodies/hop.h"
#include "kernels/bodies/joint.h"
#include "kernels/bodies/joint_forces.h"
#include "kernels/bodies/node.h"
#include "kernels/bodies/rigid.h"
#include "kernels/bodies/straight.h"
#include "kernels/bodies/straight_hop.h"
#include "kernels/dynamics/inverse_steps.h"
#include "kernels/dynamics/inverse_straight.h"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/kinds.h"
#include "model/layout.h"

/* K1 to K7 of one body; np modes of the parent */
FA_INLINE void id_outward(const fa_model *model, const fa_body *b, const int np,
                          const int what, const fa_real *q, const fa_real *qd,
                          const fa_real *qdd, fa_real *columns, const id_body *p,
                          id_body *w)
{
    fa_real *slope = columns, *shift = columns + 3 * np;
    fa_real base[6], c[6];
    fa_turn turn = {0};

    fa_zero(base, 3);

    hop_pose(model, b, np, q, &w->hop, &turn, slope, shift);
    const double weight = what & ID_NO_GRAVITY ? 0.0 : 1.0;
    for (int i = 0; i < 3; i++) {
        base[3 + i] = fa_spread(-weight * model->gravity[i]);
    }
    if (what & ID_ACCELERATION) {
        hop_motion(&w->hop, np, slope, shift, p ? p->a : base, qdd + b->parent_mode_at,
                   w->a);
    } else {
        hop_motion(&w->hop, 0, slope, shift, p ? p->a : base, NULL, w->a);
    }
    if (what & ID_MOTION) {
        hop_velocity(model, b, np, &w->hop, &turn, slope, shift, p ? p->V : NULL, qd,
                     w->V, c);
        for (int i = 0; i < 6; i++) {
            w->a[i] += c[i];
        }
    }
    if (what & ID_ACCELERATION) {
        hop_accelerate(b, columns, qdd, w->a);
    }
    if (model->any_offset) {
        fa_real g[3];
        for (int i = 0; i < 3; i++) {
            g[i] = p ? p->g[i] : fa_spread(weight * model->gravity[i]);
        }
        fa_rotate_t(w->g, w->hop.R, g);
    }
}

/* whether a hop is that of a straight parent */
FA_INLINE int id_on_straight(const fa_model *model, const fa_body *b, const int what)
{
    return (what & ID_MOTION) && !(what & ID_COLUMNS) && straight_carries(model, b);
}

/* f_m of one body with n modes, before its children add theirs (B5) */
FA_INLINE void id_force(const fa_model *model, const fa_body *b, const int n,
                        const int what, const fa_real *q, const fa_real *qd,
                        const fa_real *qdd, id_body *w, fa_real *z_f)
{
    const fa_real *eta = q + b->eta_at;
    fa_real rates[FA_MAX_MODES];
    fa_shape shape;

    body_shape(b, n, node_eta(model, q, b->eta_at), &shape);
    if (what & ID_MOTION) {
        body_bias(b, n, &shape, node_etad(model, qd, b->mode_at), w->V, z_f, w->f);
        body_elastic_add(b, n, eta, qd + b->mode_at, z_f);
    } else {
        fa_zero(z_f, n);
        fa_zero(w->f, 6);
    }
    rates[0] = (fa_real){0}; /* for gcc, which sees it used where n is 0 */
    for (int r = 0; r < n; r++) {
        rates[r] = what & ID_ACCELERATION ? qdd[b->mode_at + r] : (fa_real){0};
    }
    body_mass_mul_add(b, n, &shape, rates, w->a, z_f, w->f);
    if (b->node_is_offset) {
        body_offset_gravity_add(b, n, node_eta(model, q, b->eta_at), w->g, w->f);
    }
}

/* S'f + d qd of the joint; the modal rows, in tau, are ready but for floating bodies (I3) */
FA_INLINE void id_project(const fa_body *b, const int what, const fa_real *qd,
                          const fa_real *columns, const id_body *w, fa_real *z_f,
                          fa_real *tau)
{
    if (b->joint == FA_JOINT_FLOATING) {
        floating_force(b, columns, w->f, z_f);
    }
    for (int j = 0; j < b->n_dof; j++) {
        tau[b->joint_at + j] = joint_force(b, j, w->f);
        if (what & ID_MOTION) {
            tau[b->joint_at + j] += b->damping[j] * qd[b->joint_at + j];
        }
    }
}

void id_outward_all(const fa_model *model, const int what, const fa_real *q,
                    const fa_real *qd, const fa_real *qdd, id_body *bodies,
                    fa_real *columns, fa_real *z_f)
{
    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        const id_body *p = b->parent < 0 ? NULL : bodies + b->parent;
        fa_real *at = columns + 6 * b->hop_at;
        FA_HOP_STEP(FA_SWITCH_STRAIGHT, id_on_straight(model, b, what), id_outward,
                    model, b, what, q, qd, qdd, at, p, bodies + k)
        if (b->straight.kind > 0 && (what & ID_MOTION)) {
            FA_SWITCH_STRAIGHT(b, id_force_straight, model, b, what, q, qd, qdd,
                               bodies + k, z_f + b->own_at)
            continue; /* in place of FA_BODY_STEP: gcc then inlines id_force */
        }
        FA_SWITCH_MODES(b->n_modes, id_force, model, b, what, q, qd, qdd, bodies + k,
                        z_f + b->own_at)
    }
}

/* hands the force of a body to its parent (I2) */
FA_INLINE void id_hand(const fa_model *model, const fa_body *b, const id_rigid *w,
                       id_rigid *parent)
{
    if (b->hop_kind == FA_HOP_GENERAL) {
        hop_force_add(&w->hop, 0, NULL, NULL, w->f, parent->f, NULL);
    } else if (model->bodies[b->parent].hop_kind == FA_HOP_GROUND) {
        AXIAL_SWITCH(b, axial_moment_add, w->m.s, w->m.c, w->f, parent->f)
    } else {
        AXIAL_SWITCH(b, axial_force_add, w->m.s, w->m.c, w->f, parent->f)
    }
}

/* the same for an arm without modes that moves (V3 to V5, I3) */
FA_NOINLINE void id_run_rigid(const fa_model *model, const double weight,
                              const fa_real *q, const fa_real *qd, const fa_real *qdd,
                              fa_real *work, fa_real *tau)
{
    id_rigid *bodies = (id_rigid *)work;

    for (int k = 0; k < model->n_bodies; k++) {
        rigid_turn(model->bodies + k, q, &bodies[k].m);
    }
    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        id_rigid *w = bodies + k;
        rigid_move(model, b, weight, q, qd, qdd,
                   b->parent < 0 ? NULL : &bodies[b->parent].m, &w->hop, &w->m, w->f);
    }
    for (int k = model->n_bodies - 1; k >= 0; k--) {
        const fa_body *b = model->bodies + k;
        for (int j = 0; j < b->n_dof; j++) {
            tau[b->joint_at + j] =
                joint_force(b, j, bodies[k].f) + b->damping[j] * qd[b->joint_at + j];
        }
        if (b->parent >= 0) {
            id_hand(model, b, bodies + k, bodies + b->parent);
        }
    }
}

/* of a model with a tree (L6) */
FA_NOINLINE void id_run_tree(const fa_model *model, const int what, const fa_real *q,
                             const fa_real *qd, const fa_real *qdd, fa_real *work,
                             fa_real *tau)
{
    const fa_model *tree = model->tree;
    fa_real *full_q = work, *full_qd = full_q + tree->nq;
    fa_real *full_qdd = full_qd + tree->nv, *full_tau = full_qdd + tree->nv;

    fo_positions(model, q, full_q);
    if (qd) {
        fo_velocities(model, qd, full_qd);
    }
    if (qdd) {
        fo_velocities(model, qdd, full_qdd);
    }
    id_run(tree, what, full_q, qd ? full_qd : NULL, qdd ? full_qdd : NULL,
           full_tau + tree->nv, full_tau);
    fo_sum(model, 1, 1, full_tau, tau);
}

/* a qdd of the joints (I3) */
FA_NOINLINE void id_armature_add(const fa_model *model, const fa_real *qdd,
                                 fa_real *tau)
{
    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        for (int j = 0; j < b->n_dof; j++) {
            tau[b->joint_at + j] += b->armature[j] * qdd[b->joint_at + j];
        }
    }
}

void id_run(const fa_model *model, const int what, const fa_real *q, const fa_real *qd,
            const fa_real *qdd, fa_real *work, fa_real *tau)
{
    if (model->tree) {
        id_run_tree(model, what, q, qd, qdd, work, tau);
        return;
    }
    id_body *bodies = (id_body *)work;
    fa_real *columns = (fa_real *)(bodies + model->n_bodies);
    fa_real *z_f = tau + model->nu; /* modes are the last coordinates, body by body */

    if (model->is_rigid) {
        const double weight = what & ID_NO_GRAVITY ? 0.0 : 1.0;
        fa_real *rates = (fa_real *)((id_rigid *)work + model->n_bodies);
        if (!(what & ID_MOTION)) {
            fa_zero(rates, model->nv);
        }
        id_run_rigid(model, weight, q, what & ID_MOTION ? qd : rates,
                     what & ID_ACCELERATION ? qdd : NULL, work, tau);
        if (model->n_passive > 0 && (what & ID_MOTION)) {
            jf_add(model, 1.0, q, qd, tau);
        }
        if (model->any_armature && (what & ID_ACCELERATION)) {
            id_armature_add(model, qdd, tau);
        }
        return;
    }
    id_outward_all(model, what, q, qd, qdd, bodies, columns, z_f);

    /* inward: project on the coordinates, hand the rest to the parent */
    for (int k = model->n_bodies - 1; k >= 0; k--) {
        const fa_body *b = model->bodies + k;
        const id_body *w = bodies + k;
        const fa_real *slope = columns + 6 * b->hop_at;

        id_project(b, what, qd, slope, w, z_f + b->own_at, tau);
        if (b->parent >= 0) {
            const fa_body *p = model->bodies + b->parent;
            const int np = b->parent_modes;
            if (id_on_straight(model, b, what)) {
                FA_SWITCH_STRAIGHT(p, straight_force_add, model, b, &w->hop, &w->node,
                                   slope, w->f, bodies[b->parent].f, z_f + p->own_at)
            } else {
                hop_force_add(&w->hop, np, slope, slope + 3 * np, w->f,
                              bodies[b->parent].f, z_f + p->own_at);
            }
        }
    }
    if (model->n_passive > 0 && (what & ID_MOTION)) {
        jf_add(model, 1.0, q, qd, tau);
    }
    if (model->any_armature && (what & ID_ACCELERATION)) {
        id_armature_add(model, qdd, tau);
    }
}

void id_inverse_dynamics(const fa_model *model, const fa_call *call)
{
    id_run(model, ID_MOTION | ID_ACCELERATION, call->in[0], call->in[1], call->in[2],
           call->work, call->out);
}

void id_bias_forces(const fa_model *model, const fa_call *call)
{
    id_run(model, ID_MOTION, call->in[0], call->in[1], NULL, call->work, call->out);
}

void id_gravity_forces(const fa_model *model, const fa_call *call)
{
    id_run(model, ID_GRAVITY_ONLY, call->in[0], NULL, NULL, call->work, call->out);
}

#endif
