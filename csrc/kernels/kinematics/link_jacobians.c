/*
 * link_jacobians.c -- body-fixed Jacobians of all bodies, and their time derivatives
 *
 * Equations   twists of the frames, columns by coordinates, X a twist of the parent p
 *             seen from body k (K5):
 *             J_k = X J_p + (R'Lambda; R'U) on the modes of p + S on the joint
 *                   - Pi on its own modes, of a floating body                    (T1)
 *             T = S qd + (R'w; R'u) - Pi etad, the twist of k relative to p,
 *             dJ_k/dt = X dJ_p/dt + (X J_p) x T + rates of the new columns:
 *             (R'y)' = R'ydot + R'y x T_omega,
 *             Udot = kappa etad + Lambdadot x x + Lambda x xdot,
 *             xdot = w x x + R (S qd)_v,
 *             Pidot = (Lambdadot; -Lambdadot x l - Lambda x u)                   (T2)
 *             x: spatial cross product of motions. S is constant. A ruthless model has
 *             Jacobians that do not know of eta: etad is zero in T and xdot.
 *             Other forms, of arms of full fidelity: T3 and T4 in forms.h, at the end.
 * Frames      rows in the axes that the user gave to each body, carriers included.
 * Cost        O(bodies * depth) columns: only coordinates inboard of a body move it.
 * Source      A. Mueller, Multibody System Dynamics 43, 2018, eqs. 16 to 19, for any
 *             joints and with modes; Jain and Rodriguez, US patent 5,546,508, eqs. 5-10.
 * Checked by  tests/kinematics/test_link_motion.py: dual numbers of the poses,
 *             complex step of the
 *             twin, recursions as printed.
 */
#ifndef FA_LINK_JACOBIANS_C
#define FA_LINK_JACOBIANS_C

#include "calls/call.h"
#include "kernels/bodies/floating.h"
#include "kernels/bodies/hop.h"
#include "kernels/bodies/joint.h"
#include "kernels/bodies/node.h"
#include "kernels/kinematics/forms.h"
#include "kernels/kinematics/kinematics.c"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/kinds.h"
#include "model/layout.h"

/* Jacobians [6][nv] of the bodies: of the links in their order, then of the carriers */
typedef struct {
    fa_real *links, *carriers;
} lj_blocks;

/* from the parent to a body, in the axes of the user */
typedef struct {
    fa_real from[9]; /* internal components in the parent to those of the body, F R' */
    fa_real G[9];    /* components in the parent to those of the body */
    fa_real r[3];    /* origin of the body in the parent */
    fa_real T[6];    /* relative twist */
} lj_hop;

/* a body in the base, and its twist, in the axes of the user */
typedef struct {
    form_frame place;
    fa_real V[6];
} lj_frame;

static size_t lj_work_size(const fa_model *model)
{
    const size_t bodies = (size_t)model->n_bodies, nv = (size_t)model->nv;
    const size_t carriers = bodies - (size_t)model->n_links;
    return bodies * (sizeof(lj_frame) / sizeof(fa_real)) + kin_node_work_size(model) +
           6 * carriers * nv;
}

/* with rates, all Jacobians are scratch */
static size_t lj_rates_work_size(const fa_model *model)
{
    return lj_work_size(model) + 6 * (size_t)model->n_bodies * (size_t)model->nv;
}

static fa_real *lj_block(const fa_model *model, const lj_blocks *blocks, int k)
{
    const fa_body *b = model->bodies + k, *end = model->bodies + model->n_bodies;
    const fa_body *next = b;
    const int size = 6 * model->nv;

    if (b->link >= 0) {
        return blocks->links + size * b->link;
    }
    while (next < end && next->link < 0) {
        next++;
    }
    return blocks->carriers + size * (k - (next < end ? next->link : model->n_links));
}

/* y = F x for constant F */
FA_INLINE void lj_turn(const fa_constant *F, const fa_real *x, fa_real *y)
{
    for (int i = 0; i < 3; i++) {
        y[i] = F[3 * i] * x[0] + F[3 * i + 1] * x[1] + F[3 * i + 2] * x[2];
    }
}

/* a motion in the axes of the user */
FA_INLINE void lj_user(const fa_body *b, const fa_real *x, fa_real *y)
{
    lj_turn(b->frame, x, y);
    lj_turn(b->frame, x + 3, y + 3);
}

/* a x b of motions; added to y */
FA_INLINE void lj_cross_add(fa_real *restrict y, const fa_real *a, const fa_real *b)
{
    fa_cross_add(y, a, b);
    fa_cross_add(y + 3, a, b + 3);
    fa_cross_add(y + 3, a + 3, b);
}

FA_INLINE void lj_load(const fa_real *J, int nv, int column, fa_real *x)
{
    for (int i = 0; i < 6; i++) {
        x[i] = J[i * nv + column];
    }
}

FA_INLINE void lj_add(const fa_real *x, int nv, int column, fa_real *J)
{
    for (int i = 0; i < 6; i++) {
        J[i * nv + column] += x[i];
    }
}

FA_INLINE void lj_store(const fa_real *x, int nv, int column, fa_real *J)
{
    for (int i = 0; i < 6; i++) {
        J[i * nv + column] = x[i];
    }
}

/* X x: a twist of the parent seen from the body */
FA_INLINE void lj_carry(const lj_hop *h, const fa_real *x, fa_real *y)
{
    fa_real v[3];

    memcpy(v, x + 3, sizeof v);
    fa_cross_add(v, x, h->r);
    fa_rotate(y, h->G, x);
    fa_rotate(y + 3, h->G, v);
}

/* columns of some coordinates inboard of a body; the rates may be NULL */
static void lj_inherit_some(const lj_hop *h, int nv, int first, int count,
                            const fa_real *J_p, const fa_real *rate_p, fa_real *J,
                            fa_real *rate)
{
    for (int j = first; j < first + count; j++) {
        fa_real x[6], y[6];
        lj_load(J_p, nv, j, x);
        lj_carry(h, x, y);
        lj_add(y, nv, j, J);
        if (rate) {
            fa_real xdot[6], ydot[6];
            lj_load(rate_p, nv, j, xdot);
            lj_carry(h, xdot, ydot);
            lj_cross_add(ydot, y, h->T);
            lj_add(ydot, nv, j, rate);
        }
    }
}

/*
 * First coordinates and numbers of them in which body a adds columns to those inboard of
 * it: its joint, its modes if it floats, the modes of its parent unless that has them.
 */
static void lj_ranges(const fa_model *model, const fa_body *a, int first[3],
                      int count[3])
{
    const fa_body *p = a->parent < 0 ? NULL : model->bodies + a->parent;

    first[0] = a->joint_at;
    count[0] = a->n_dof;
    first[1] = a->mode_at;
    count[1] = a->joint == FA_JOINT_FLOATING ? a->n_modes : 0;
    first[2] = a->parent_mode_at;
    count[2] = p && p->joint != FA_JOINT_FLOATING ? a->parent_modes : 0;
}

/* all columns inboard of a body: along the path to the root, each coordinate once */
static void lj_inherit(const fa_model *model, const lj_hop *h, const fa_body *b,
                       const fa_real *J_p, const fa_real *rate_p, fa_real *J,
                       fa_real *rate)
{
    int first[3], count[3];

    for (int k = b->parent; k >= 0; k = model->bodies[k].parent) {
        lj_ranges(model, model->bodies + k, first, count);
        for (int i = 0; i < 3; i++) {
            lj_inherit_some(h, model->nv, first[i], count[i], J_p, rate_p, J, rate);
        }
    }
}

/* columns of a body, or their rates if there are any, in another form */
static void lj_convert(const fa_model *model, const form_kind form, const fa_body *b,
                       const form_frame *f, fa_real *J, fa_real *rate)
{
    const int nv = model->nv;
    int first[3], count[3];

    for (const fa_body *a = b; a;
         a = a->parent < 0 ? NULL : model->bodies + a->parent) {
        lj_ranges(model, a, first, count);
        for (int i = 0; i < 3; i++) {
            for (int j = first[i]; j < first[i] + count[i]; j++) {
                fa_real x[6], xdot[6], y[6];
                lj_load(J, nv, j, x);
                if (rate) {
                    lj_load(rate, nv, j, xdot);
                    form_rate(form, f, x, xdot, y);
                } else {
                    form_value(form, f, x, y);
                }
                lj_store(y, nv, j, rate ? rate : J);
            }
        }
    }
}

/* what modes of a body do to a node of it, at rates that poses know of */
typedef struct {
    fa_real phid[3], u[3]; /* lambda etad, gamma etad */
} lj_bending;

static void lj_bend(const fa_node *node, int n, const fa_real *etad, lj_bending *bent)
{
    fa_zero(bent->phid, 3);
    fa_zero(bent->u, 3);
    for (int s = 0; s < n; s++) {
        for (int i = 0; i < 3; i++) {
            bent->phid[i] += node->lambda[3 * s + i] * etad[s];
            bent->u[i] += node->gamma[3 * s + i] * etad[s];
        }
    }
}

/* Lambdadot of mode s */
FA_INLINE void lj_slope_rate(const fa_node *node, const fa_turn *t,
                             const lj_bending *bent, int s, fa_real *y)
{
    const fa_real lambda[3] = {fa_spread(node->lambda[3 * s]),
                               fa_spread(node->lambda[3 * s + 1]),
                               fa_spread(node->lambda[3 * s + 2])};
    node_slope_rate(t, bent->phid, lambda, y);
}

/* columns of the joint; their rates are zero */
static void lj_joint(const fa_body *b, int nv, fa_real *J)
{
    for (int j = 0; j < b->n_dof; j++) {
        fa_real S[6], y[6];
        joint_screw(b, j, S);
        lj_user(b, S, y);
        lj_add(y, nv, b->joint_at + j, J);
    }
}

/* columns of the modes of the parent; slope, shift: Lambda and U; etad: NULL at rest */
static void lj_parent_modes(const fa_model *model, const fa_body *b, const lj_hop *h,
                            const fa_turn *t, const lj_bending *bent,
                            const fa_real *xdot, const fa_real *slope,
                            const fa_real *shift, const fa_real *etad, fa_real *J,
                            fa_real *rate)
{
    const fa_node *node = model->nodes + b->attach;

    for (int s = 0; s < b->parent_modes; s++) {
        const int column = b->parent_mode_at + s;
        fa_real y[6], ydot[6], turning[3], swing[3];

        fa_rotate(y, h->from, slope + 3 * s);
        fa_rotate(y + 3, h->from, shift + 3 * s);
        lj_add(y, model->nv, column, J);
        if (rate) {
            lj_slope_rate(node, t, bent, s, turning);
            fa_cross(swing, turning, t->x);
            fa_cross_add(swing, slope + 3 * s, xdot);
            if (node->kappa) {
                node_second_column(node, b->parent_modes, s, etad, swing);
            }
            fa_rotate(ydot, h->from, turning);
            fa_rotate(ydot + 3, h->from, swing);
            fa_cross_add(ydot, y, h->T);
            fa_cross_add(ydot + 3, y + 3, h->T);
            lj_add(ydot, model->nv, column, rate);
        }
    }
}

/* columns of the own modes of a floating body; columns: Pi */
static void lj_own_modes(const fa_model *model, const fa_body *b, const fa_turn *t,
                         const lj_bending *bent, const fa_real *columns, fa_real *J,
                         fa_real *rate)
{
    const fa_node *node = model->nodes + b->own_node;

    for (int s = 0; s < b->n_modes; s++) {
        const int column = b->mode_at + s;
        const fa_real *linear = columns + 3 * (b->n_modes + s);
        const fa_real minus[6] = {-columns[3 * s],     -columns[3 * s + 1],
                                  -columns[3 * s + 2], -linear[0],
                                  -linear[1],          -linear[2]};
        fa_real y[6], turning[3], swing[3];

        lj_user(b, minus, y);
        lj_add(y, model->nv, column, J);
        if (rate) { /* -(Lambdadot; Lambdadot x x - Lambda x u), x = -l */
            lj_slope_rate(node, t, bent, s, turning);
            fa_cross(swing, t->x, turning);
            fa_cross_add(swing, columns + 3 * s, bent->u);
            for (int i = 0; i < 3; i++) {
                turning[i] = -turning[i];
            }
            lj_turn(b->frame, turning, y);
            lj_turn(b->frame, swing, y + 3);
            lj_add(y, model->nv, column, rate);
        }
    }
}

/* T of (T2) in the axes of the user, and xdot */
static void lj_relative(const fa_model *model, const fa_body *b, const fa_hop *hop,
                        const fa_turn *t, const fa_real *columns, const fa_real *qd,
                        lj_hop *h, lj_bending *bent, fa_real *xdot)
{
    const int floats = b->joint == FA_JOINT_FLOATING, np = b->parent_modes;
    const fa_real *own = node_etad(model, qd, b->mode_at);
    const fa_real *parent = node_etad(model, qd, b->parent_mode_at);
    fa_real T[6], w[3], u[3], turned[3];

    fa_zero(T, 6);
    if (floats) {
        lj_bend(model->nodes + b->own_node, b->n_modes, own, bent);
        floating_motion(b, columns, own, T);
        for (int i = 0; i < 6; i++) {
            T[i] = -T[i];
        }
    }
    for (int j = 0; j < b->n_dof; j++) {
        fa_real S[6];
        joint_screw(b, j, S);
        for (int i = 0; i < 6; i++) {
            T[i] += S[i] * qd[b->joint_at + j];
        }
    }
    if (np > 0) {
        lj_bend(model->nodes + b->attach, np, parent, bent);
        fa_rotate(xdot, hop->R, T + 3);
        fa_zero(w, 3);
        fa_zero(u, 3);
        for (int s = 0; s < np; s++) {
            for (int i = 0; i < 3; i++) {
                w[i] += columns[3 * s + i] * parent[s];
                u[i] += columns[3 * (np + s) + i] * parent[s];
            }
        }
        fa_cross_add(xdot, w, t->x);
        fa_rotate_t(turned, hop->R, w);
        for (int i = 0; i < 3; i++) {
            T[i] += turned[i];
        }
        fa_rotate_t(turned, hop->R, u);
        for (int i = 0; i < 3; i++) {
            T[3 + i] += turned[i];
        }
    }
    lj_user(b, T, h->T);
}

/* components of parent (or ground) and body for the columns, in the axes of the user */
static void lj_axes(const fa_body *b, const fa_body *p, const fa_hop *hop, lj_hop *h)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            h->from[3 * i + j] = b->frame[3 * i] * hop->R[3 * j] +
                                 b->frame[3 * i + 1] * hop->R[3 * j + 1] +
                                 b->frame[3 * i + 2] * hop->R[3 * j + 2];
        }
        if (p) {
            lj_turn(p->frame, h->from + 3 * i, h->G + 3 * i);
        }
    }
    if (p) {
        lj_turn(p->frame, hop->r, h->r);
    } else {
        memcpy(h->G, h->from, sizeof h->G);
        memcpy(h->r, hop->r, sizeof h->r);
    }
}

/* pose of a body and, with rates, its twist; p: of the parent, NULL on the ground */
static void lj_place(const lj_hop *h, const int rates, const lj_frame *p, lj_frame *f)
{
    fa_real R[9];

    for (int i = 0; i < 9; i++) {
        R[i] = h->G[3 * (i % 3) + i / 3];
    }
    kin_compose(p ? p->place.R : NULL, p ? p->place.x : NULL, R, h->r, f->place.R,
                f->place.x);
    if (rates) {
        fa_zero(f->V, 6);
        if (p) {
            lj_carry(h, p->V, f->V);
        }
        for (int i = 0; i < 6; i++) {
            f->V[i] += h->T[i];
        }
        form_motion(f->V, &f->place);
    }
}

/*
 * Jacobians of all bodies, and with qd their rates.
 *   work     frames of all bodies, then [6 most modes] scratch
 *   J, rate  blocks of all bodies; rate without meaning if qd is NULL. The last that
 *            is computed is in `form`, of the links; J is body-fixed beside rates.
 */
FA_NOINLINE void lj_run(const fa_model *model, const form_kind form, const fa_real *q,
                        const fa_real *qd, fa_real *work, const lj_blocks *J,
                        const lj_blocks *rate)
{
    lj_frame *frames = (lj_frame *)work;
    fa_real *columns = (fa_real *)(frames + model->n_bodies);

    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        const fa_body *p = b->parent < 0 ? NULL : model->bodies + b->parent;
        const int np = b->parent_modes;
        fa_real *J_k = lj_block(model, J, k), *rate_k = NULL, xdot[3];
        lj_bending bent = {0};
        lj_hop h;
        fa_hop hop;
        fa_turn turn = {0};

        fa_zero(J_k, 6 * model->nv);
        if (qd) {
            rate_k = lj_block(model, rate, k);
            fa_zero(rate_k, 6 * model->nv);
        }
        lj_joint(b, model->nv, J_k);
        if (!p && form == FORM_BODY) {
            continue;
        }
        fa_zero(xdot, 3);
        hop_pose_any(model, b, q, &hop, &turn, columns, columns + 3 * np);
        lj_axes(b, p, &hop, &h);
        if (qd) {
            lj_relative(model, b, &hop, &turn, columns, qd, &h, &bent, xdot);
        }
        if (form != FORM_BODY) {
            lj_place(&h, qd != NULL, p ? frames + b->parent : NULL, frames + k);
        }
        if (p) {
            lj_inherit(model, &h, b, lj_block(model, J, b->parent),
                       qd ? lj_block(model, rate, b->parent) : NULL, J_k, rate_k);
        }
        if (np > 0) {
            const fa_real *etad = qd ? node_etad(model, qd, b->parent_mode_at) : NULL;
            lj_parent_modes(model, b, &h, &turn, &bent, xdot, columns, columns + 3 * np,
                            etad, J_k, rate_k);
        }
        if (b->joint == FA_JOINT_FLOATING) {
            lj_own_modes(model, b, &turn, &bent, columns, J_k, rate_k);
        }
    }
    for (int k = 0; k < (form == FORM_BODY ? 0 : model->n_bodies); k++) {
        const fa_body *b = model->bodies + k;
        if (b->link >= 0) {
            lj_convert(model, form, b, &frames[k].place, lj_block(model, J, k),
                       qd ? lj_block(model, rate, k) : NULL);
        }
    }
}

/* blocks of the carriers, behind the scratch of lj_run */
static fa_real *lj_rest(const fa_model *model, fa_real *work)
{
    lj_frame *frames = (lj_frame *)work;
    return (fa_real *)(frames + model->n_bodies) + kin_node_work_size(model);
}

/* (B, 6, nv) at q */
static void lj_values(const fa_model *model, const fa_call *call, const form_kind form)
{
    const lj_blocks J = {call->out, lj_rest(model, call->work)};

    lj_run(model, form, call->in[0], NULL, call->work, &J, NULL);
}

/* (B, 6, nv) at q, qd */
static void lj_rates(const fa_model *model, const fa_call *call, const form_kind form)
{
    const int size = 6 * model->nv, carriers = model->n_bodies - model->n_links;
    fa_real *values = lj_rest(model, call->work);
    const lj_blocks J = {values, values + size * model->n_links};
    const lj_blocks rate = {call->out, J.carriers + size * carriers};

    lj_run(model, form, call->in[0], call->in[1], call->work, &J, &rate);
}

FORM_KERNELS(lj_link_jacobians, lj_values)
FORM_KERNELS(lj_link_jacobian_rates, lj_rates)

#endif
