/*
 * motion.c -- velocity and acceleration of bodies and nodes, momentum of the arm
 *
 * Equations   K1 to K7 outward without gravity, then the node itself (K5, K7 without a
 *             joint); the acceleration of a point is alpha + omega x v in place of the
 *             component-wise alpha. Of all bodies V and alpha, in the
 *             forms of forms.h.
 *             momentum: sum over bodies of M_m (etad; V), moved to the base frame.
 * Frames      results in the axes of the base, about the node; momentum about the
 *             origin of the base.
 * Source      Jain and Rodriguez, US patent 5,546,508, eqs. 23 to 28.
 * Checked by  tests/kinematics/test_motion.py: finite differences, the Lagrangian,
 *             momentum;
 *             tests/kinematics/test_link_motion.py.
 */
#ifndef FA_MOTION_C
#define FA_MOTION_C

#include "calls/call.h"
#include "kernels/bodies/body.h"
#include "kernels/bodies/driven.h"
#include "kernels/bodies/hop.h"
#include "kernels/bodies/node.h"
#include "kernels/kinematics/forms.h"
#include "kernels/kinematics/kinematics.c"
#include "kernels/kinematics/link_jacobians.c"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/kinds.h"
#include "model/layout.h"

typedef struct {
    fa_hop hop;
    fa_real V[6], a[6], c[6]; /* twist, its rate, in the axes of the body */
    fa_real R[9], x[3];       /* pose in the base */
} mo_body;

/* a node, or a frame on it, in the axes of the base */
typedef struct {
    fa_real R[9], x[3];             /* axes of the user */
    fa_real omega[3], v[3];         /* velocities */
    fa_real omega_dot[3], v_dot[3]; /* their rates */
} mo_node;

static size_t mo_work_size(const fa_model *model)
{
    return (size_t)model->n_bodies * (sizeof(mo_body) / sizeof(fa_real)) +
           6 * (size_t)model->sum_parent_modes;
}

/*
 * c of the rate of the twist J(q) qd of a ruthless model, whose J does not know of eta:
 * V x S qd alone, without what the patent takes for accelerations (eq. 75).
 */
static void mo_ruthless_rate(const fa_model *model, const fa_body *b, const fa_turn *t,
                             const fa_real *columns, const fa_real *qd,
                             const fa_real *V, fa_real *c)
{
    fa_real moved[6];

    fa_zero(c, 6);
    memcpy(moved, V, sizeof moved); /* V + S qd: the same product */
    if (b->joint != FA_JOINT_FLOATING) {
        hop_joint(model, b, t, columns, qd, moved, c);
    }
}

/*
 * One body on its parent p, NULL on the ground: hop, V, a.
 *   rates    a is the rate of J(q) qd, in a ruthless model too
 *   columns  [6 modes of the parent, or own ones if floating]  scratch
 *   qdd      may be NULL for zero
 */
FA_INLINE void mo_advance(const fa_model *model, const fa_body *b, const int rates,
                          const mo_body *p, const fa_real *q, const fa_real *qd,
                          const fa_real *qdd, fa_real *columns, mo_body *self)
{
    const fa_real still[6] = {{0}};
    const int np = b->parent_modes;
    fa_real *slope = columns, *shift = slope + 3 * np;
    fa_turn turn = {0};

    hop_pose_any(model, b, q, &self->hop, &turn, slope, shift);
    hop_velocity(model, b, np, &self->hop, &turn, slope, shift, p ? p->V : NULL, qd,
                 self->V, self->c);
    if (rates && model->fidelity == FA_RUTHLESS) {
        mo_ruthless_rate(model, b, &turn, columns, qd, self->V, self->c);
    }
    hop_motion(&self->hop, qdd ? np : 0, slope, shift, p ? p->a : still,
               qdd ? qdd + b->parent_mode_at : NULL, self->a);
    for (int i = 0; i < 6; i++) {
        self->a[i] += self->c[i];
    }
    if (qdd) {
        hop_accelerate(b, slope, qdd, self->a);
    }
}

/* all bodies; qdd may be NULL for zero */
FA_NOINLINE void mo_run(const fa_model *model, const fa_real *q, const fa_real *qd,
                        const fa_real *qdd, fa_real *work)
{
    mo_body *bodies = (mo_body *)work;
    fa_real *columns = (fa_real *)(bodies + model->n_bodies);

    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        const mo_body *p = b->parent < 0 ? NULL : bodies + b->parent;
        mo_body *self = bodies + k;

        mo_advance(model, b, 0, p, q, qd, qdd, columns + 6 * b->hop_at, self);
        kin_compose(p ? p->R : NULL, p ? p->x : NULL, self->hop.R, self->hop.r, self->R,
                    self->x);
    }
}

/* twists of the frames of all bodies, or their rates, in one of four forms */
FA_NOINLINE void mo_links(const fa_model *model, const fa_call *call,
                          const form_kind form, const int rates)
{
    mo_body *bodies = (mo_body *)call->work;
    fa_real *columns = (fa_real *)(bodies + model->n_bodies);
    form_frame f = {0};

    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        const mo_body *p = b->parent < 0 ? NULL : bodies + b->parent;
        fa_real V[6], a[6], pose[16];
        mo_body *self = bodies + k;

        mo_advance(model, b, 1, p, call->in[0], call->in[1], rates ? call->in[2] : NULL,
                   columns + 6 * b->hop_at, self);
        if (form != FORM_BODY) {
            kin_compose(p ? p->R : NULL, p ? p->x : NULL, self->hop.R, self->hop.r,
                        self->R, self->x);
        }
        if (b->link < 0) {
            continue;
        }
        lj_user(b, self->V, V);
        if (form != FORM_BODY) {
            kin_store(b, self->R, self->x, pose);
            memcpy(f.x, self->x, sizeof f.x);
            for (int i = 0; i < 9; i++) {
                f.R[i] = pose[4 * (i / 3) + i % 3];
            }
            form_motion(V, &f);
        }
        if (rates) {
            lj_user(b, self->a, a);
            form_rate(form, &f, V, a, call->out + 6 * b->link);
        } else {
            form_value(form, &f, V, call->out + 6 * b->link);
        }
    }
}

/* (B, 6) at q, qd */
static void mo_twists(const fa_model *model, const fa_call *call, const form_kind form)
{
    mo_links(model, call, form, 0);
}

/* (B, 6) at q, qd, qdd: entry by entry, without gravity */
static void mo_twist_rates(const fa_model *model, const fa_call *call,
                           const form_kind form)
{
    mo_links(model, call, form, 1);
}

FORM_KERNELS(mo_link_velocities, mo_twists)
FORM_KERNELS(mo_link_accelerations, mo_twist_rates)

/* what the quadratic part of a position adds to u and to its rate */
FA_INLINE void mo_node_second(const fa_model *model, const fa_node *node,
                              const fa_body *b, const fa_real *q, const fa_real *qd,
                              const fa_real *qdd, fa_real *u, fa_real *u_dot)
{
    const fa_real *eta = node_eta(model, q, b->eta_at), *etad = qd + b->mode_at;
    const int n = b->n_modes;

    for (int s = 0; s < n; s++) {
        fa_real column[3] = {{0}};
        node_second_column(node, n, s, eta, column);
        for (int i = 0; i < 3; i++) {
            u[i] += column[i] * etad[s];
            if (qdd) {
                u_dot[i] += column[i] * qdd[b->mode_at + s];
            }
        }
    }
    node_second_add(node, n, 1.0, node_etad(model, qd, b->mode_at), u_dot);
}

/* omega, v and their rates at a node, in the axes of its body (K5 to K7, no joint) */
FA_INLINE void mo_node_rates(const fa_model *model, const fa_node *node,
                             const fa_body *b, const mo_body *p, const fa_turn *t,
                             const fa_real *l, const fa_real *q, const fa_real *qd,
                             const fa_real *qdd, mo_node *o)
{
    const fa_real *etad = qd + b->mode_at;
    fa_real phid[3] = {{0}}, phidd[3] = {{0}}, u[3] = {{0}}, w[3], turning[3], wdot[3];
    fa_real swing[3];

    memcpy(o->v, p->V + 3, sizeof o->v);
    fa_cross(o->v_dot, p->V, p->V + 3); /* of the frame of the body, as a point */
    for (int i = 0; i < 3; i++) {
        o->v_dot[i] += p->a[3 + i];
    }
    for (int s = 0; s < b->n_modes; s++) {
        for (int i = 0; i < 3; i++) {
            phid[i] += node->lambda[3 * s + i] * etad[s];
            u[i] += node->gamma[3 * s + i] * etad[s];
            if (qdd) {
                phidd[i] += node->lambda[3 * s + i] * qdd[b->mode_at + s];
                o->v_dot[i] += node->gamma[3 * s + i] * qdd[b->mode_at + s];
            }
        }
    }
    if (node->kappa) {
        mo_node_second(model, node, b, q, qd, qdd, u, o->v_dot);
    }
    node_slope(t, phid, w);
    node_slope(t, phidd, turning);
    node_wdot(t, phid, wdot);
    const double coupled =
        model->fidelity == FA_RUTHLESS ? 0.0 : 1.0; /* rates with velocities */
    fa_cross(o->omega_dot, p->V, w);
    fa_cross(swing, p->V, l);
    for (int i = 0; i < 3; i++) {
        o->omega[i] = p->V[i] + w[i];
        o->omega_dot[i] = coupled * o->omega_dot[i] + p->a[i] + wdot[i] + turning[i];
        o->v[i] += swing[i] + u[i];
        swing[i] += 2.0 * coupled * u[i];
    }
    fa_cross_add(o->v_dot, p->a, l);
    fa_cross_add(o->v_dot, p->V, swing);
}

/* one node after mo_run, in the axes of the base; qdd may be NULL */
FA_NOINLINE void mo_node_at(const fa_model *model, int index, const fa_real *q,
                            const fa_real *qd, const fa_real *qdd, const fa_real *work,
                            mo_node *o)
{
    const fa_node *node = model->nodes + index;
    const fa_body *b = model->bodies + node->body;
    const mo_body *p = (const mo_body *)work + node->body;
    fa_real Rn[9], R[9], l[3], pose[16];
    fa_turn turn;
    mo_node local;

    node_place(node, b->n_modes, node_eta(model, q, b->eta_at), &turn, Rn, l);
    mo_node_rates(model, node, b, p, &turn, l, q, qd, qdd, &local);
    kin_compose(p->R, p->x, Rn, l, R, o->x);
    kin_store(b, R, o->x, pose);
    for (int i = 0; i < 9; i++) {
        o->R[i] = pose[4 * (i / 3) + i % 3];
    }
    fa_rotate(o->omega, p->R, local.omega);
    fa_rotate(o->v, p->R, local.v);
    fa_rotate(o->omega_dot, p->R, local.omega_dot);
    fa_rotate(o->v_dot, p->R, local.v_dot);
}

/* (omega_dot; v_dot) of a node at q, qd, qdd, in the axes of the node */
static void mo_node_acceleration(const fa_model *model, const fa_call *call)
{
    mo_node o;

    mo_run(model, call->in[0], call->in[1], call->in[2], call->work);
    mo_node_at(model, call->index, call->in[0], call->in[1], call->in[2], call->work,
               &o);
    fa_rotate_t(call->out, o.R, o.omega_dot);
    fa_rotate_t(call->out + 3, o.R, o.v_dot);
}

/* momentum (angular about the origin of the base; linear) at q, qd */
static void mo_momentum(const fa_model *model, const fa_call *call)
{
    const fa_real *q = call->in[0], *qd = call->in[1];
    const mo_body *bodies = (const mo_body *)call->work;

    mo_run(model, q, qd, NULL, call->work);
    fa_zero(call->out, 6);
    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        fa_real modal[FA_MAX_MODES], momentum[6], turned[6];
        fa_shape shape;

        fa_zero(modal, b->n_modes);
        fa_zero(momentum, 6);
        body_shape(b, b->n_modes, node_eta(model, q, b->eta_at), &shape);
        body_mass_mul_add(b, b->n_modes, &shape, qd + b->mode_at, bodies[k].V, modal,
                          momentum);
        fa_rotate(turned, bodies[k].R, momentum);
        fa_rotate(turned + 3, bodies[k].R, momentum + 3);
        fa_cross_add(turned, bodies[k].x, turned + 3);
        for (int i = 0; i < 6; i++) {
            call->out[i] += turned[i];
        }
    }
}

/* centre of mass in the base frame at q */
static void mo_center_of_mass(const fa_model *model, const fa_call *call)
{
    const kin_body *bodies = kin_bodies(model, call->in[0], call->work);
    fa_constant mass = {0};

    fa_zero(call->out, 3);
    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        const fa_real *eta = call->in[0] + b->eta_at;
        fa_real mp[3], turned[3];

        body_weight_moment(b, eta, mp);
        fa_rotate(turned, bodies[k].R, mp);
        mass += b->mass;
        for (int i = 0; i < 3; i++) {
            call->out[i] += turned[i] + b->mass * bodies[k].x[i];
        }
    }
    for (int i = 0; i < 3; i++) {
        call->out[i] /= mass;
    }
}

#endif
