/*
 * jacobian_tangents.c -- derivatives of the Jacobian of a node
 *
 * Equations   body-fixed columns J_j of a node, by local displacements k:
 *                 dJ_j/dq_k = [J_j, J_k]  where j is inboard of k,
 *                 0 where it is outboard, or both are of one joint             (G6)
 *             and for modes j, k of one body at a node of it, in the axes of the body
 *                 (d(J_l Dphi)/ds lambda_k lambda_j - Lambda_k x Lambda_j;
 *                  kappa_jk - Lambda_k x (gamma + kappa eta)_j),
 *             reversed and without the turns where they move the body itself
 *                 -(dLambda_jk; -dLambda_jk x l - Lambda_j x gamma_k)           (G7)
 *             A coordinate met twice on the way to the root has the sum of both. Modes of
 *             a ruthless model displace nothing.
 * Cost        O(nv^2), a bracket for each pair.
 * Source      A. Mueller, Screw and Lie group theory in multibody kinematics, Multibody
 *             System Dynamics 43, 2018 (G6).
 * Checked by  tests/derivatives/test_forward_derivatives.py: complex step and
 *             differences of J.
 */
#ifndef FA_JACOBIAN_TANGENTS_C
#define FA_JACOBIAN_TANGENTS_C

#include "calls/call.h"
#include "kernels/bodies/hop.h"
#include "kernels/bodies/joint.h"
#include "kernels/bodies/node.h"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/kinds.h"
#include "model/layout.h"

typedef struct {
    const fa_model *model;
    fa_real *J; /* [nv][6]  columns of what is outboard of the place of the walk */
    fa_real *columns; /* [most][6]  of one group of coordinates */
    fa_real *slope;   /* [6 most modes] */
    fa_real *out;     /* [6][nv][nv] */
} jt_work;

static size_t jt_work_size(const fa_model *model)
{
    int most = 6;
    for (int k = 0; k < model->n_bodies; k++) {
        most = model->bodies[k].n_modes > most ? model->bodies[k].n_modes : most;
    }
    return 6 * (size_t)model->nv + 12 * (size_t)most;
}

static jt_work jt_split(const fa_model *model, const fa_call *call)
{
    const size_t columns = (jt_work_size(model) - 6 * (size_t)model->nv) / 2;
    jt_work w = {.model = model, .J = call->work, .out = call->out};
    w.columns = w.J + 6 * model->nv;
    w.slope = w.columns + columns;
    return w;
}

/* a twist (omega; v) at the place of the node, turned by Rc into its axes */
FA_INLINE void jt_turn(const fa_real *Rc, const fa_real *omega, const fa_real *v,
                       fa_real *twist)
{
    fa_rotate(twist, Rc, omega);
    fa_rotate(twist + 3, Rc, v);
}

/* n coordinates inboard of all that J has: their brackets with it (G6), then they join */
FA_NOINLINE void jt_join(const jt_work *w, int n, int first)
{
    const int nv = w->model->nv;
    const int movers = w->model->fidelity == FA_RUTHLESS ? w->model->nu : nv;

    for (int j = 0; j < n; j++) {
        const fa_real *c = w->columns + 6 * j;
        fa_real *out = w->out + (first + j) * nv;
        for (int k = 0; k < movers; k++) {
            const fa_real *J = w->J + 6 * k;
            fa_real y[6];
            fa_cross(y, c, J);
            fa_cross(y + 3, c, J + 3);
            fa_cross_add(y + 3, c + 3, J);
            for (int i = 0; i < 6; i++) {
                out[i * nv * nv + k] += y[i];
            }
        }
    }
    for (int i = 0; i < 6 * n; i++) {
        w->J[6 * first + i] += w->columns[i];
    }
}

/*
 * Modes of one body with each other (G7).
 *   first      of their velocities
 *   own        the modes move the body itself by one of its nodes
 *   Rc, lever  axes of the node of the walk; its place from the one that moves
 */
FA_NOINLINE void jt_bend(const jt_work *w, const fa_node *node, const int n, int first,
                         const int own, const fa_real *eta, const fa_turn *t,
                         const fa_real *Rc, const fa_real *lever)
{
    const int nv = w->model->nv;
    const double sign = own ? -1.0 : 1.0;

    if (w->model->fidelity == FA_RUTHLESS) {
        return;
    }
    for (int j = 0; j < n; j++) {
        const fa_real *slope_j = w->slope + 3 * j;
        fa_real lambda_j[3], U[3];
        for (int i = 0; i < 3; i++) {
            lambda_j[i] = fa_spread(node->lambda[3 * j + i]);
            U[i] = fa_spread(node->gamma[3 * j + i]);
        }
        if (node->kappa) {
            node_second_column(node, n, j, eta, U);
        }
        for (int k = 0; k < n; k++) {
            const fa_real *slope_k = w->slope + 3 * k;
            fa_real lambda_k[3], turn[3], move[3], y[6];
            for (int i = 0; i < 3; i++) {
                lambda_k[i] = fa_spread(node->lambda[3 * k + i]);
                move[i] = (fa_real){0};
            }
            node_slope_rate(t, lambda_k, lambda_j, turn);
            if (own) {
                fa_real gamma[3];
                for (int i = 0; i < 3; i++) {
                    gamma[i] = fa_spread(node->gamma[3 * k + i]);
                }
                fa_cross_add(move, gamma, slope_j);
                fa_cross_add(move, turn, t->x); /* x = -l */
            } else {
                for (int i = 0; i < 3 && node->kappa; i++) {
                    move[i] = fa_spread(node->kappa[3 * (j * n + k) + i]);
                }
                fa_cross_add(turn, slope_j, slope_k);
                fa_cross_add(move, U, slope_k);
            }
            fa_cross_add(move, turn, lever);
            jt_turn(Rc, turn, move, y);
            for (int i = 0; i < 6; i++) {
                w->out[(i * nv + first + j) * nv + first + k] += sign * y[i];
            }
        }
    }
}

/* the joint of a body, or the modes of a floating one; rho: place of the node */
static void jt_joint(const jt_work *w, const fa_body *b, const fa_real *eta,
                     const fa_turn *t, const fa_real *Rc, const fa_real *rho)
{
    const int n = b->n_modes;

    for (int j = 0; j < b->n_dof; j++) {
        fa_real S[6];
        joint_screw(b, j, S);
        fa_cross_add(S + 3, S, rho);
        jt_turn(Rc, S, S + 3, w->columns + 6 * j);
    }
    if (b->n_dof > 0) {
        jt_join(w, b->n_dof, b->joint_at);
    }
    if (b->joint != FA_JOINT_FLOATING) {
        return;
    }
    for (int s = 0; s < n; s++) {
        fa_real S[6];
        for (int i = 0; i < 3; i++) {
            S[i] = -w->slope[3 * s + i];
            S[3 + i] = -w->slope[3 * (n + s) + i];
        }
        fa_cross_add(S + 3, S, rho);
        jt_turn(Rc, S, S + 3, w->columns + 6 * s);
    }
    jt_join(w, n, b->mode_at);
    jt_bend(w, w->model->nodes + b->own_node, n, b->mode_at, 1, eta, t, Rc, rho);
}

/* the modes of a body at one of its nodes, from which the one of the walk is `lever` off;
 * slope and shift about `from`, itself off the node */
static void jt_modes(const jt_work *w, const fa_node *node, const int n, int first,
                     const fa_real *eta, const fa_turn *t, const fa_real *Rc,
                     const fa_real *from, const fa_real *lever)
{
    fa_real arm[3];

    for (int i = 0; i < 3; i++) {
        arm[i] = lever[i] - from[i];
    }
    for (int s = 0; s < n; s++) {
        fa_real v[3];
        memcpy(v, w->slope + 3 * (n + s), sizeof v);
        fa_cross_add(v, w->slope + 3 * s, arm);
        jt_turn(Rc, w->slope + 3 * s, v, w->columns + 6 * s);
    }
    jt_join(w, n, first);
    jt_bend(w, node, n, first, 0, eta, t, Rc, lever);
}

/* the walk from a node to the root; node, q -> [6][nv][nv] */
static void jt_run(const fa_model *model, const fa_call *call)
{
    const fa_node *node = model->nodes + call->index;
    const fa_body *b = model->bodies + node->body;
    const fa_real *q = call->in[0], *eta = node_eta(model, q, b->eta_at);
    const jt_work w = jt_split(model, call);
    fa_real Rn[9], Rc[9], rho[3], none[3];
    fa_hop h;
    fa_turn turn;
    int n = b->n_modes;

    fa_zero(w.J, 6 * model->nv);
    fa_zero(w.out, 6 * model->nv * model->nv);
    fa_zero(none, 3);
    node_place(node, n, eta, &turn, Rn, rho);
    node_columns(node, n, eta, &turn, NULL, w.slope, w.slope + 3 * n);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            Rc[3 * i + j] = b->frame[3 * i] * Rn[3 * j] +
                            b->frame[3 * i + 1] * Rn[3 * j + 1] +
                            b->frame[3 * i + 2] * Rn[3 * j + 2];
        }
    }
    jt_modes(&w, node, n, b->mode_at, eta, &turn, Rc, none, none);
    for (;;) {
        fa_real lever[3], turned[9];

        n = b->parent_modes;
        if (b->parent >= 0) {
            hop_pose_any(model, b, q, &h, &turn, w.slope, w.slope + 3 * n);
        }
        jt_joint(&w, b, node_eta(model, q, b->eta_at), &turn, Rc, rho);
        if (b->parent < 0) {
            break;
        }
        fa_rotate(lever, h.R, rho);
        for (int i = 0; i < 3; i++) {
            rho[i] = h.r[i] + lever[i];
            for (int j = 0; j < 3; j++) {
                turned[3 * i + j] = fa_dot(Rc + 3 * i, h.R + 3 * j);
            }
        }
        memcpy(Rc, turned, sizeof Rc);
        if (n > 0) {
            for (int i = 0; i < 3; i++) {
                lever[i] += turn.x[i];
            }
            jt_modes(&w, model->nodes + b->attach, n, b->parent_mode_at,
                     node_eta(model, q, b->parent_eta_at), &turn, Rc, turn.x, lever);
        }
        b = model->bodies + b->parent;
    }
}

#endif
