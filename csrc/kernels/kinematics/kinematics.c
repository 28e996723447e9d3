/*
 * kinematics.c -- poses, velocities, Jacobian and wrenches of bodies and nodes
 *
 * Equations   K1 to K3 along the path from a node to the root; the column of a
 *             coordinate is the twist of the node for a unit of its rate.
 * Frames      results are in the axes that the user gave to a body; a node turns
 *             with exp(phi~) of its slope. Poses are 4 x 4 by rows, in the base frame.
 * Cost        O(depth * modes) for one node, O(bodies * modes + nodes) for all.
 * Source      Jain and Rodriguez, US patent 5,546,508, eqs. 5 to 10.
 * Checked by  tests/kinematics/test_kinematics.py: complex step of the poses,
 *             Pinocchio.
 */
#ifndef FA_KINEMATICS_C
#define FA_KINEMATICS_C

#include "calls/call.h"
#include "kernels/bodies/hop.h"
#include "kernels/bodies/joint.h"
#include "kernels/bodies/node.h"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/kinds.h"
#include "model/layout.h"

/* what the walk along a path does with the columns it meets */
enum { KIN_COLUMNS, KIN_VELOCITY, KIN_FORCES };

typedef struct {
    fa_hop hop;
    fa_real R[9], x[3]; /* in the base frame */
} kin_body;

static size_t kin_poses_work_size(const fa_model *model)
{
    return (size_t)model->n_bodies * (sizeof(kin_body) / sizeof(fa_real)) +
           6 * (size_t)model->sum_parent_modes;
}

static size_t kin_node_work_size(const fa_model *model)
{
    int most = 0;
    for (int k = 0; k < model->n_bodies; k++) {
        most = model->bodies[k].n_modes > most ? model->bodies[k].n_modes : most;
    }
    return 6 * (size_t)most;
}

/* pose (R, x) = (R_p, x_p) (R_c, r), in the base where there is no parent */
FA_INLINE void kin_compose(const fa_real *R_p, const fa_real *x_p, const fa_real *R_c,
                           const fa_real *r, fa_real *R, fa_real *x)
{
    if (!R_p) {
        memcpy(R, R_c, 9 * sizeof *R);
        memcpy(x, r, 3 * sizeof *x);
        return;
    }
    fa_mat_mul(R, R_p, R_c);
    fa_rotate(x, R_p, r);
    for (int i = 0; i < 3; i++) {
        x[i] += x_p[i];
    }
}

/* pose of all bodies, internal axes */
static kin_body *kin_bodies(const fa_model *model, const fa_real *q, fa_real *work)
{
    kin_body *bodies = (kin_body *)work;
    fa_real *columns = (fa_real *)(bodies + model->n_bodies);

    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        kin_body *self = bodies + k;
        fa_real *at = columns + 6 * b->hop_at;
        fa_turn turn;
        hop_pose_deformed(model, b, q, &self->hop, &turn, at, at + 3 * b->parent_modes);
        const kin_body *p = b->parent < 0 ? NULL : bodies + b->parent;
        kin_compose(p ? p->R : NULL, p ? p->x : NULL, self->hop.R, self->hop.r, self->R,
                    self->x);
    }
    return bodies;
}

/* 4 x 4 pose from a rotation in internal axes and the frame of the user */
FA_INLINE void kin_store(const fa_body *b, const fa_real *R, const fa_real *x,
                         fa_real *pose)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            pose[4 * i + j] = R[3 * i] * b->frame[3 * j] +
                              R[3 * i + 1] * b->frame[3 * j + 1] +
                              R[3 * i + 2] * b->frame[3 * j + 2];
        }
        pose[4 * i + 3] = x[i];
        pose[12 + i] = (fa_real){0};
    }
    pose[15] = fa_splat(1.0);
}

static void kin_link_poses(const fa_model *model, const fa_call *call)
{
    const kin_body *bodies = kin_bodies(model, call->in[0], call->work);
    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        if (b->link >= 0) {
            kin_store(b, bodies[k].R, bodies[k].x, call->out + 16 * b->link);
        }
    }
}

static void kin_node_poses(const fa_model *model, const fa_call *call)
{
    const kin_body *bodies = kin_bodies(model, call->in[0], call->work);
    for (int j = 0; j < model->n_nodes; j++) {
        const fa_node *node = model->nodes + j;
        const fa_body *b = model->bodies + node->body;
        const kin_body *p = bodies + node->body;
        fa_real Rn[9], R[9], l[3], x[3];
        fa_turn turn;

        node_place(node, b->n_modes, call->in[0] + b->eta_at, &turn, Rn, l);
        kin_compose(p->R, p->x, Rn, l, R, x);
        kin_store(b, R, x, call->out + 16 * j);
    }
}

static void kin_node_pose(const fa_model *model, const fa_call *call)
{
    const fa_node *node = model->nodes + call->index;
    const fa_body *b = model->bodies + node->body, *own = b;
    const fa_real *q = call->in[0];
    fa_real R[9], x[3], *columns = call->work;
    fa_hop h;
    fa_turn turn;

    node_place(node, b->n_modes, q + b->eta_at, &turn, R, x);
    for (;;) {
        fa_real turned[9], moved[3];
        hop_pose_deformed(model, b, q, &h, &turn, columns,
                          columns + 3 * b->parent_modes);
        fa_mat_mul(turned, h.R, R);
        fa_rotate(moved, h.R, x);
        for (int i = 0; i < 3; i++) {
            x[i] = h.r[i] + moved[i];
        }
        memcpy(R, turned, sizeof R);
        if (b->parent < 0) {
            break;
        }
        b = model->bodies + b->parent;
    }
    kin_store(own, R, x, call->out);
}

/*
 * Adds to the column of coordinate i: twist (omega; v) at the node, in body axes.
 *   Rc    [9]  body components to node components
 *   with  qd [nv] or wrench [6], as `what` needs
 *   out   (6, nv) columns, (6) velocity or (nv) forces
 */
FA_INLINE void kin_column(const int what, int nv, int i, const fa_real *Rc,
                          const fa_real *omega, const fa_real *v, const fa_real *with,
                          fa_real *out)
{
    fa_real column[6];
    fa_rotate(column, Rc, omega);
    fa_rotate(column + 3, Rc, v);
    if (what == KIN_FORCES) {
        out[i] += fa_dot(column, with) + fa_dot(column + 3, with + 3);
        return;
    }
    for (int j = 0; j < 6; j++) {
        if (what == KIN_VELOCITY) {
            out[j] += column[j] * with[i];
        } else {
            out[j * nv + i] += column[j];
        }
    }
}

/*
 * Columns of the joint of a body, or of the modes of a floating one, whose frame goes
 * back where the attachment goes forth (F2).
 *   Rc, rho   axes and place of the node in the body
 *   columns   by hop_pose
 */
FA_INLINE void kin_joint(const int what, const fa_model *model, const fa_body *b,
                         const fa_real *Rc, const fa_real *rho, const fa_real *columns,
                         const fa_real *with, fa_real *out)
{
    const fa_real zero = {0}, one = fa_splat(1.0);
    const fa_real axis[3] = {zero, zero, one}, none[3] = {zero, zero, zero};
    const fa_real lever[3] = {-rho[1], rho[0], zero};
    fa_real S[6];

    if (b->joint == FA_JOINT_REVOLUTE) {
        kin_column(what, model->nv, b->joint_at, Rc, axis, lever, with, out);
    } else if (b->joint == FA_JOINT_PRISMATIC) {
        kin_column(what, model->nv, b->joint_at, Rc, none, axis, with, out);
    }
    for (int j = 0; j < (b->wide ? b->n_dof : 0); j++) {
        joint_screw(b, j, S);
        fa_cross_add(S + 3, S, rho);
        kin_column(what, model->nv, b->joint_at + j, Rc, S, S + 3, with, out);
    }
    for (int s = 0; s < (b->joint == FA_JOINT_FLOATING ? b->n_modes : 0); s++) {
        for (int i = 0; i < 3; i++) {
            S[i] = -columns[3 * s + i];
            S[3 + i] = -columns[3 * (b->n_modes + s) + i];
        }
        fa_cross_add(S + 3, S, rho);
        kin_column(what, model->nv, b->mode_at + s, Rc, S, S + 3, with, out);
    }
}

/*
 * The walk from a node to the root; Rc, rho: axes and place of the node in the body.
 *   pose  NULL, or R [9] and x [3] of the node in the base; columns are then those of
 *         the deformed arm, whatever the dynamics take of it
 */
FA_NOINLINE void kin_walk(const fa_model *model, const fa_call *call, const int what,
                          fa_real *pose)
{
    const fa_node *node = model->nodes + call->index;
    const fa_body *b = model->bodies + node->body;
    const fa_real *q = call->in[0], *with = call->in[1];
    fa_real *slope = call->work, Rn[9], Rc[9], rho[3];
    fa_hop h;
    fa_turn turn;
    int n = b->n_modes;

    fa_zero(call->out, what == KIN_COLUMNS    ? 6 * model->nv
                       : what == KIN_VELOCITY ? 6
                                              : model->nv);
    const fa_real *eta = pose ? q + b->eta_at : node_eta(model, q, b->eta_at);
    node_place(node, n, eta, &turn, Rn, rho);
    node_columns(node, n, eta, &turn, NULL, slope, slope + 3 * n);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            Rc[3 * i + j] = b->frame[3 * i] * Rn[3 * j] +
                            b->frame[3 * i + 1] * Rn[3 * j + 1] +
                            b->frame[3 * i + 2] * Rn[3 * j + 2];
        }
    }
    for (int s = 0; s < n; s++) {
        kin_column(what, model->nv, b->mode_at + s, Rc, slope + 3 * s,
                   slope + 3 * (n + s), with, call->out);
    }
    for (;;) {
        fa_real moved[3], turned[9];

        n = b->parent_modes;
        if (pose) {
            hop_pose_deformed(model, b, q, &h, &turn, slope, slope + 3 * n);
        } else if (b->parent >= 0) {
            hop_pose_any(model, b, q, &h, &turn, slope, slope + 3 * n);
        }
        kin_joint(what, model, b, Rc, rho, slope, with, call->out);
        if (b->parent < 0) {
            break;
        }
        fa_rotate(moved, h.R, rho);
        for (int i = 0; i < 3; i++) {
            rho[i] = h.r[i] + moved[i];
            for (int j = 0; j < 3; j++) {
                turned[3 * i + j] = fa_dot(Rc + 3 * i, h.R + 3 * j);
            }
        }
        memcpy(Rc, turned, sizeof Rc);
        for (int s = 0; s < n; s++) {
            fa_real v[3];
            memcpy(v, slope + 3 * (n + s), sizeof v);
            fa_cross_add(v, slope + 3 * s, moved);
            kin_column(what, model->nv, b->parent_mode_at + s, Rc, slope + 3 * s, v,
                       with, call->out);
        }
        b = model->bodies + b->parent;
    }
    if (pose) {
        for (int i = 0; i < 3; i++) {
            pose[9 + i] = h.r[i] + fa_dot(h.R + 3 * i, rho);
            for (int j = 0; j < 3; j++) {
                pose[3 * i + j] = fa_dot(h.R + 3 * i, Rc + 3 * j);
            }
        }
    }
}

static void kin_jacobian(const fa_model *model, const fa_call *call)
{
    kin_walk(model, call, KIN_COLUMNS, NULL);
}

static void kin_node_velocity(const fa_model *model, const fa_call *call)
{
    kin_walk(model, call, KIN_VELOCITY, NULL);
}

static void kin_wrench_forces(const fa_model *model, const fa_call *call)
{
    kin_walk(model, call, KIN_FORCES, NULL);
}

#endif
