/*
 * tangent.c -- derivatives of inverse dynamics with respect to q and qd
 *
 *             tau = M(q) qdd + C(q, qd), d tau / d q and d tau / d qd, both exact
 * Equations   screws of the freedoms of all hops (X1 to X4), in the axes of the base;
 *             inward, a hop with freedoms J of coordinates s, force f, and all that is
 *             outboard of it by X5:
 *                 delta_q  = I Q + B P + J x* f,  delta_qd = I T + B J,
 *                 A += I J,  B += B'J of the coordinate                         (X7)
 *             modes r and s of one body, besides the own part (X6), through each hop
 *                 dtau(r,s)/dq  = J_r'(delta_q)_s + (dJ_r/deta_s)'f,
 *                 dtau(r,s)/dqd = J_r'(delta_qd)_s                              (X8)
 *             freedoms of one joint, seen from the body that it carries,
 *                 dtau(r,s)/dq = A_r.Q_s + B_r.P_s,  ../dqd = A_r.T_s + B_r.J_s (X9)
 *             and a coordinate k with each freedom i of the hops inboard of it
 *                 dtau(k,i): as X9;  dtau(i,k)/dq = J_i'(delta_q)_k,
 *                 dtau(i,k)/dqd = J_i'(delta_qd)_k                              (X10)
 *             Ruthless models: modes displace nothing, and the acceleration lacks terms
 *             of their rates, so that Da = zd + L z with L by the hops              (X11)
 *             q: local displacements along the velocities, so that poses have as many
 *             columns as velocities. Gravity is the acceleration of the base.
 * Frames      axes of the base, about the origin of the first body.
 * Cost        O(nv depth), four products of 6-vectors for a pair, no allocation.
 * Source      J. Carpentier, N. Mansard, Robotics: Science and Systems 2018; X5 for
 *             bodies that deform, and X6 to X11, from the equations of this directory.
 * Checked by  tests/derivatives/test_derivatives.py: complex step of the twin,
 *             differences.
 */
#ifndef FA_TANGENT_C
#define FA_TANGENT_C

#include "kernels/bodies/body.h"
#include "kernels/bodies/driven.h"
#include "kernels/bodies/node.h"
#include "kernels/bodies/section_turn.h"
#include "kernels/derivatives/tangent_body.h"
#include "kernels/derivatives/tangent_driven.h"
#include "kernels/derivatives/tangent_hop.h"
#include "kernels/derivatives/tangent_ruthless.h"
#include "kernels/derivatives/tangent_straight.h"
#include "kernels/dynamics/inverse_steps.h"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/kinds.h"
#include "model/layout.h"

/* scratch, one part after the other, and the state */
typedef struct {
    const fa_real *q, *qd, *qdd;
    id_body *motion;
    fa_real *columns, *z_f;
    tg_body *bodies;
    tg_screw *screws;   /* modes of parents by hop_at, then the joints by joint_at */
    tg_coordinate *own; /* [nv] */
    tg_wide *wide;      /* [n_bodies] or NULL */
    fa_real *driven;    /* for one body with driven shapes */
    int inertial;       /* without stiffness and damping of bodies */
} tg_work;

/* whether bodies have any B (X5) */
static int tg_is_wide(const fa_model *model)
{
    return model->any_offset || model->fidelity == FA_RUTHLESS;
}

static size_t tg_tree_work_size(const fa_model *model)
{
    const size_t bodies = (size_t)model->n_bodies, real = sizeof(fa_real);
    const size_t screws = (size_t)(model->sum_parent_modes + model->nu);

    return id_work(model) + bodies * ((sizeof(tg_body) + real - 1) / real) +
           screws * (sizeof(tg_screw) / real) +
           (size_t)model->nv * (sizeof(tg_coordinate) / real) +
           (tg_is_wide(model) ? bodies * (sizeof(tg_wide) / real) : 0) +
           tg_driven_work_size(model);
}

static tg_work tg_split(const fa_model *model, int inertial, const fa_real *q,
                        const fa_real *qd, const fa_real *qdd, fa_real *work)
{
    tg_work w = {.q = q, .qd = qd, .qdd = qdd, .inertial = inertial};

    w.motion = (id_body *)work;
    w.columns = (fa_real *)(w.motion + model->n_bodies);
    w.z_f = w.columns + 6 * model->sum_parent_modes;
    w.bodies = (tg_body *)(work + id_work(model));
    w.screws = (tg_screw *)(w.bodies + model->n_bodies);
    w.own = (tg_coordinate *)(w.screws + model->sum_parent_modes + model->nu);
    w.driven = (fa_real *)(w.own + model->nv);
    w.wide = NULL;
    if (tg_is_wide(model)) {
        w.wide = (tg_wide *)w.driven;
        w.driven = (fa_real *)(w.wide + model->n_bodies);
    }
    return w;
}

/* the screws of the hop of body k */
FA_NOINLINE void tg_screws(const fa_model *model, const tg_work *w, const int k)
{
    const fa_real *q = w->q, *qd = w->qd, *qdd = w->qdd;
    const fa_body *b = model->bodies + k;
    const int floats = b->joint == FA_JOINT_FLOATING;
    const int n = floats ? b->n_modes : b->parent_modes;
    const int eta_at = floats ? b->eta_at : b->parent_eta_at;
    const int rate_at = floats ? b->mode_at : b->parent_mode_at;
    const fa_real *const motion[3] = {q + eta_at, qd + rate_at, qdd + rate_at};
    tg_body *self = w->bodies + k;
    tg_screw *modes = w->screws + b->hop_at;
    const int at = b->n_dof > 0 ? b->joint_at : 0;
    tg_screw *joint = w->screws + model->sum_parent_modes + at;

    if (model->fidelity == FA_RUTHLESS) {
        const int p = b->parent;
        tg_ruthless_modes(b, n, w->columns + 6 * b->hop_at,
                          p < 0 ? NULL : w->bodies + p, self, modes);
        tg_ruthless_screws(b, n, qd + at, qdd + at, motion[1],
                           p < 0 ? NULL : w->bodies + p, p < 0 ? NULL : w->wide[p].L,
                           self, modes, joint, w->wide[k].L);
        return;
    }
    if (n > 0) {
        const fa_node *node = model->nodes + (floats ? b->own_node : b->attach);
        const int carrier = floats ? k : b->parent;
        const id_body *of = w->motion + carrier;
        tg_node t;
        tg_node_at(node, n, motion, w->bodies + carrier, of->V, of->a, self, &t);
        tg_mode_screws(node, n, floats ? -1.0 : 1.0, motion, self, &t, modes);
    }
    if (b->n_dof > 0) {
        tg_joint_screws(b, qd + at, qdd + at, self, joint);
    }
    if (w->wide) {
        tg_carried(self->v, w->wide[k].L);
    }
}

/* body k in its own state: its coordinates, and their block, added to `out` */
FA_INLINE void tg_start_body(const fa_model *model, const int k, const int n,
                             const tg_work *w, tg_coordinate *own, const tg_result *out)
{
    const fa_body *b = model->bodies + k;
    const fa_real *const y[3] = {w->q + b->eta_at, w->qd + b->mode_at,
                                 w->qdd + b->mode_at};
    tg_wide *wide = w->wide ? w->wide + k : NULL;
    const int *bends = b->straight.count;

    if (model->fidelity == FA_RUTHLESS) {
        tg_start_ruthless(w->motion + k, w->bodies + k, wide, b, own);
    } else if (b->straight.kind > 0 && bends[0] > 0 && bends[1] > 0 && !wide) {
        /* in a plane the structure saves less than its sums cost */
        tg_start_straight(w->motion + k, w->bodies + k, b, y, own, out->nv, out->dq,
                          out->dqd);
    } else if (b->driven.n > 0) {
        tg_start_driven(w->motion + k, w->bodies + k, wide, b, y, w->driven, own,
                        out->nv, out->dq, out->dqd);
    } else {
        fa_shape shape;
        body_shape(b, n, y[0], &shape);
        tg_start(w->motion + k, w->bodies + k, wide, b, n, &shape, y, own, out->nv,
                 out->dq, out->dqd);
    }
    if (!w->inertial) {
        tg_elastic_block(b, n, y[0], out->nv, out->dq, out->dqd);
    }
}

/* the same, compiled once */
FA_NOINLINE void tg_start_any(const fa_model *model, const int k, const tg_work *w,
                              tg_coordinate *own, const tg_result *out)
{
    const int n = model->bodies[k].n_modes;

    FA_SWITCH_RIGID(n, tg_start_body, model, k, w, own, out)
}

/* A.zd + B.z (X9) */
FA_INLINE fa_real tg_row(const int wide, const tg_coordinate *c, const fa_real *zd,
                         const fa_real *z)
{
    fa_real sum = fa_dot(c->A, zd) + fa_dot(c->A + 3, zd + 3) + fa_dot(c->B, z);
    return wide ? sum + fa_dot(c->B + 3, z + 3) : sum;
}

FA_INLINE fa_real tg_dot(const fa_real *a, const fa_real *b)
{
    return fa_dot(a, b) + fa_dot(a + 3, b + 3);
}

/* row of coordinate k, columns of `count` freedoms from coordinate `first` on (X9) */
FA_INLINE void tg_rows(const int wide, const tg_coordinate *own, int k,
                       const tg_screw *screws, int count, int first,
                       const tg_result *out)
{
    const tg_coordinate *c = own + k;
    fa_real *dq = out->dq + k * out->nv + first, *dqd = out->dqd + k * out->nv + first;

    for (int i = 0; i < count; i++) {
        const tg_screw *s = screws + i;
        dq[i] += tg_row(wide, c, s->Q, s->P);
        dqd[i] += tg_row(wide, c, s->T, s->J);
        if (wide) {
            dq[i] += fa_dot(c->G, s->J);
        }
    }
}

/* row and column of coordinate k with freedoms inboard of its hop (X10) */
FA_INLINE void tg_pairs(const int wide, const tg_coordinate *own, int k,
                        const tg_screw *restrict screws, int count, int first,
                        const tg_result *out)
{
    const int nv = out->nv;
    const tg_coordinate c = own[k]; /* stays in registers: nothing can write to it */
    fa_real *restrict row_q = out->dq + k * nv + first;
    fa_real *restrict row_qd = out->dqd + k * nv + first;
    fa_real *restrict column_q = out->dq + first * nv + k;
    fa_real *restrict column_qd = out->dqd + first * nv + k;

    for (int i = 0; i < count; i++) {
        const tg_screw *s = screws + i;
        row_q[i] += tg_row(wide, &c, s->Q, s->P);
        row_qd[i] += tg_row(wide, &c, s->T, s->J);
        if (wide) {
            row_q[i] += fa_dot(c.G, s->J);
        }
        column_q[i * nv] += tg_dot(s->J, c.q);
        column_qd[i * nv] += tg_dot(s->J, c.qd);
    }
}

/* the same with all freedoms of the hops from that of body k on; `joint`: with that of
 * its own joint */
FA_INLINE void tg_path(const fa_model *model, const int wide, const tg_work *w, int k,
                       int own_joint, int coordinate, const tg_result *out)
{
    const tg_screw *joints = w->screws + model->sum_parent_modes;

    for (int a = k; a >= 0; a = model->bodies[a].parent) {
        const fa_body *b = model->bodies + a;
        if (b->n_dof > 0 && (a != k || own_joint)) {
            tg_pairs(wide, w->own, coordinate, joints + b->joint_at, b->n_dof,
                     b->joint_at, out);
        }
        if (b->joint == FA_JOINT_FLOATING) {
            if (a != k) {
                tg_pairs(wide, w->own, coordinate, w->screws + b->hop_at, b->n_modes,
                         b->mode_at, out);
            }
        } else if (b->parent_modes > 0) {
            tg_pairs(wide, w->own, coordinate, w->screws + b->hop_at, b->parent_modes,
                     b->parent_mode_at, out);
        }
    }
}

/* H = Dphi' H Dphi + m.D2phi of a straight beam, m = J_l' n (U1, X8) */
FA_NOINLINE void tg_bend_section(const section_state *of, const fa_real *m, fa_real *H)
{
    fa_real first[3][3], half[3][3], second[3];
    section_step step[3];

    for (int i = 0; i < 3; i++) {
        section_unit(of, i, step + i);
        section_first(of, step + i, first[i]);
        fa_rotate(half[i], H, first[i]);
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            fa_zero(second, 3);
            section_second_add(of, step + i, step + j, second);
            H[3 * i + j] = fa_dot(first[i], half[j]) + fa_dot(m, second);
        }
    }
}

/* h_s and g_s of (dJ_r/deta_s)'f = h_s.lambda_r + g_s.Lambda_r, Lambda in the axes of the
 * body; force and moment about the node likewise (X8) */
typedef struct {
    fa_real H[9], F[3];
} tg_bend;

FA_INLINE void tg_bend_at(const fa_real *R, const tg_body *w, tg_bend *t)
{
    fa_real n[3], about[3], k[3], twist[3], m[3];

    memcpy(about, w->f, sizeof about);
    fa_cross_add(about, w->f + 3, w->X);
    fa_rotate_t(n, R, about);
    fa_rotate_t(t->F, R, w->f + 3);
    /* n.(DJ[a] b) = a' H b, DJ the derivative of the left Jacobian */
    fa_cross(twist, w->phi, n);
    fa_cross(k, w->phi, twist);
    for (int i = 0; i < 3; i++) {
        m[i] = n[i] - w->c2 * twist[i] + w->c3 * k[i]; /* J_l' n */
        k[i] = 2.0 * (w->d3 * k[i] - w->d2 * twist[i]);
    }
    const fa_real both = w->c3 * fa_dot(n, w->phi);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            t->H[3 * i + j] =
                w->phi[i] * (k[j] - 2.0 * w->c3 * n[j]) + w->c3 * n[i] * w->phi[j];
        }
        t->H[4 * i] += both;
    }
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, l = (i + 2) % 3;
        t->H[3 * j + l] += w->c2 * n[i];
        t->H[3 * l + j] -= w->c2 * n[i];
    }
    if (w->of.axis) {
        tg_bend_section(&w->of, m, t->H);
    }
}

/* (dJ_r/deta_s)'f added to column s of the modes, times sign */
FA_INLINE void tg_bend_add(const fa_node *node, const int n, const double sign,
                           const fa_real *eta, const fa_real *slope, const tg_bend *t,
                           int s, int at, const tg_result *out)
{
    const double *lambda = node->lambda + 3 * s;
    fa_real h[3], g[3], gamma[3];

    for (int i = 0; i < 3; i++) {
        h[i] = sign * (lambda[0] * t->H[i] + lambda[1] * t->H[3 + i] +
                       lambda[2] * t->H[6 + i]);
        gamma[i] = fa_spread(sign * node->gamma[3 * s + i]);
    }
    if (node->kappa) {
        node_second_column(node, n, s, eta, gamma);
    }
    fa_cross(g, t->F, gamma);
    for (int r = 0; r < n; r++) {
        const double *l = node->lambda + 3 * r;
        fa_real sum = h[0] * l[0] + h[1] * l[1] + h[2] * l[2];
        if (node->kappa) {
            const double *k = node->kappa + 3 * (s * n + r);
            sum += k[0] * t->F[0] + k[1] * t->F[1] + k[2] * t->F[2];
        }
        out->dq[(at + r) * out->nv + at + s] += sum + fa_dot(g, slope + 3 * r);
    }
}

/* delta_q without the part J x* f, and delta_qd, of a freedom (X7) */
FA_INLINE void tg_deltas(const fa_model *model, const int wide, const tg_body *w,
                         const tg_wide *any, const tg_screw *s, fa_real *dq,
                         fa_real *dqd)
{
    tg_response(wide, w, any, s->Q, s->P, dq);
    tg_response(wide, w, any, s->T, s->J, dqd);
    if (wide) {
        tg_weight_add(model, w, s->J, dq);
    }
}

/* the joint of body k: rows, changes of force, own block (X7, X9) */
FA_INLINE void tg_joint(const fa_model *model, const int wide, const tg_work *w, int k,
                        const tg_result *out)
{
    const fa_body *b = model->bodies + k;
    const tg_body *self = w->bodies + k;
    if (b->n_dof == 0) {
        return;
    }
    const tg_screw *screws = w->screws + model->sum_parent_modes + b->joint_at;
    for (int j = 0; j < b->n_dof; j++) {
        tg_coordinate *c = w->own + b->joint_at + j;
        memset(c, 0, sizeof *c);
        tg_row_add(wide, model, self, w->wide + k, screws[j].J, c);
        tg_deltas(model, wide, self, w->wide + k, screws + j, c->q, c->qd);
        tg_carry_add(c->q, screws[j].J, self->f);
        tg_rows(wide, w->own, b->joint_at + j, screws, b->n_dof, b->joint_at, out);
        out->dqd[(b->joint_at + j) * (out->nv + 1)] += b->damping[j];
    }
    for (int j = 0; j < b->n_dof; j++) {
        tg_path(model, wide, w, k, 0, b->joint_at + j, out);
    }
}

/* the hop of body k hands on what its modes feel, of np modes of the parent (X7, X8) */
FA_INLINE void tg_hand_on(const fa_model *model, const int wide, const tg_work *w,
                          int k, const int np, const tg_result *out)
{
    const fa_body *b = model->bodies + k;
    const fa_node *node = model->nodes + b->attach;
    const int bends = model->fidelity != FA_RUTHLESS, at = b->parent_mode_at;
    const tg_body *self = w->bodies + k;
    const tg_screw *screws = w->screws + b->hop_at;
    tg_bend bend;

    if (bends) {
        tg_bend_at(w->bodies[b->parent].R, self, &bend);
    } else { /* not read */
        memset(&bend, 0, sizeof bend);
    }
    for (int s = 0; s < np; s++) {
        tg_coordinate *c = w->own + at + s;
        fa_real dq[6], dqd[6];

        tg_row_add(wide, model, self, w->wide + k, screws[s].J, c);
        if (bends) {
            tg_deltas(model, wide, self, w->wide + k, screws + s, dq, dqd);
            tg_carry_add(dq, screws[s].J, self->f);
            tg_bend_add(node, np, 1.0, w->q + b->parent_eta_at,
                        w->columns + 6 * b->hop_at, &bend, s, at, out);
        } else {
            tg_response(wide, self, w->wide + k, screws[s].T, screws[s].J, dqd);
            fa_zero(dq, 6);
        }
        for (int i = 0; i < 6; i++) {
            c->q[i] += dq[i];
            c->qd[i] += dqd[i];
        }
        for (int r = 0; r < np; r++) {
            const int rs = (at + r) * out->nv + at + s;
            out->dq[rs] += tg_dot(screws[r].J, dq);
            out->dqd[rs] += tg_dot(screws[r].J, dqd);
        }
    }
}

/* the same for a floating body, whose own modes displace all of it */
FA_NOINLINE void tg_float(const fa_model *model, const int wide, const tg_work *w,
                          int k, const tg_result *out)
{
    const fa_body *b = model->bodies + k;
    const fa_node *node = model->nodes + b->own_node;
    const int bends = model->fidelity != FA_RUTHLESS, n = b->n_modes, at = b->mode_at;
    const tg_body *self = w->bodies + k;
    const tg_screw *screws = w->screws + b->hop_at;
    tg_bend bend;

    if (bends) {
        tg_bend_at(self->R, self, &bend);
    } else { /* not read */
        memset(&bend, 0, sizeof bend);
    }
    for (int r = 0; r < n; r++) { /* rows as they were without the hop */
        tg_rows(wide, w->own, at + r, screws, n, at, out);
    }
    for (int s = 0; s < n; s++) {
        tg_coordinate *c = w->own + at + s;
        fa_real dq[6], dqd[6];

        tg_deltas(model, wide, self, w->wide + k, screws + s, dq, dqd);
        for (int i = 0; i < 6; i++) {
            c->q[i] = bends ? c->q[i] + dq[i] : c->q[i];
            c->qd[i] += dqd[i];
        }
        for (int r = 0; r < n; r++) {
            const int rs = (at + r) * out->nv + at + s;
            out->dq[rs] += tg_dot(screws[r].J, c->q);
            out->dqd[rs] += tg_dot(screws[r].J, c->qd);
        }
        if (bends) {
            tg_carry_add(c->q, screws[s].J, self->f);
            tg_bend_add(node, n, -1.0, w->q + b->eta_at, w->columns + 6 * b->hop_at,
                        &bend, s, at, out);
        }
        tg_row_add(wide, model, self, w->wide + k, screws[s].J, c);
    }
}

/* body k joins its parent (X5) */
FA_INLINE void tg_join(const tg_work *w, int k, int parent)
{
    const tg_body *child = w->bodies + k;
    tg_body *p = w->bodies + parent;

    p->m += child->m;
    for (int i = 0; i < 3; i++) {
        p->mp[i] += child->mp[i];
        p->offset[i] += child->offset[i];
    }
    for (int i = 0; i < 6; i++) {
        p->I[i] += child->I[i];
        p->Y[i] += child->Y[i];
        p->h[i] += child->h[i];
        p->f[i] += child->f[i];
    }
    for (int i = 0; i < 36 && w->wide; i++) {
        w->wide[parent].B[i] += w->wide[k].B[i];
    }
}

/* inward: X7 to X10 */
FA_INLINE void tg_inward(const fa_model *model, const int wide, const tg_work *w,
                         const tg_result *out)
{
    for (int k = model->n_bodies - 1; k >= 0; k--) {
        const fa_body *b = model->bodies + k;

        if (b->joint == FA_JOINT_FLOATING) {
            tg_float(model, wide, w, k, out);
        }
        for (int r = 0; r < b->n_modes; r++) {
            tg_path(model, wide, w, k, 1, b->mode_at + r, out);
        }
        tg_joint(model, wide, w, k, out);
        if (b->parent >= 0) {
            if (b->parent_modes > 0) {
                tg_hand_on(model, wide, w, k, b->parent_modes, out);
            }
            tg_join(w, k, b->parent);
        }
    }
}

FA_NOINLINE void tg_inward_wide(const fa_model *model, const tg_work *w,
                                const tg_result *out)
{
    tg_inward(model, 1, w, out);
}

FA_NOINLINE void tg_inward_plain(const fa_model *model, const tg_work *w,
                                 const tg_result *out)
{
    tg_inward(model, 0, w, out);
}

/*
 * Derivatives of inverse dynamics at q [nq], qd [nv], qdd [nv]; the model is not linear.
 *   inertial  without stiffness and damping of bodies
 *   work     [tg_tree_work_size(model)]  scratch
 *   dq, dqd  [nv][nv] by rows, row = force, column = local displacement or velocity
 */
static void tg_tree(const fa_model *model, int inertial, const fa_real *q,
                    const fa_real *qd, const fa_real *qdd, fa_real *work, fa_real *dq,
                    fa_real *dqd)
{
    const tg_work w = tg_split(model, inertial, q, qd, qdd, work);
    const tg_result out = {model->nv, dq, dqd};

    fa_zero(dq, model->nv * model->nv);
    fa_zero(dqd, model->nv * model->nv);
    id_outward_all(model, ID_MOTION | ID_ACCELERATION | ID_COLUMNS, q, qd, qdd,
                   w.motion, w.columns, w.z_f);
    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        const id_body *of = w.motion + k;

        tg_place(&of->hop, of->V, of->a, b->parent < 0 ? NULL : w.bodies + b->parent,
                 w.motion[0].hop.r, w.bodies + k);
        tg_screws(model, &w, k);
        const int at = b->mode_at * (out.nv + 1);
        const tg_result block = {out.nv, dq + at, dqd + at};
        tg_start_any(model, k, &w, w.own + b->mode_at, &block);
    }
    if (w.wide) {
        tg_inward_wide(model, &w, &out);
    } else {
        tg_inward_plain(model, &w, &out);
    }
}

#endif
