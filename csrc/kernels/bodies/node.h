/*
 * node.h -- a node of a deformed body: place, rotation, and their rates (K1, K3)
 *
 * Equations   phi = phi(lambda eta) (U1), R_n = exp(phi~),
 *             l = l0 + gamma eta + 1/2 kappa eta eta                            (K1)
 *             Lambda = J_l(phi) Dphi lambda, U = gamma + kappa eta + Lambda x x      (K3)
 *             wdot = d/dt(J_l Dphi) lambda etad                                 (K6)
 *             Dphi = 1 but for nodes of straight beams (section_turn.h).
 *             exp and J_l are exact, from Stumpff functions of phi.phi.
 * Checked by  tests/kinematics/test_kinematics.py (any angle),
 *             tests/dynamics/test_dynamics.py.
 */
#ifndef FA_NODE_H
#define FA_NODE_H

#include "kernels/bodies/section_turn.h"
#include "lanes/lane.h"
#include "lanes/lane_math.h"
#include "lanes/spatial.h"
#include "model/kinds.h"
#include "model/layout.h"

static const fa_real node_rest[FA_MAX_MODES];

/* modal coordinates that shape a body: none in a ruthless model; `at`: eta_at */
FA_INLINE const fa_real *node_eta(const fa_model *model, const fa_real *q, int at)
{
    return model->fidelity == FA_RUTHLESS ? node_rest : q + at;
}

/* rates in velocity forces, likewise */
FA_INLINE const fa_real *node_etad(const fa_model *model, const fa_real *qd, int at)
{
    return model->fidelity == FA_RUTHLESS ? node_rest : qd + at;
}

/* pose of a child relative to its parent */
typedef struct {
    fa_real R[9], r[3];
} fa_hop;

/* rotation of a node, and what its rates need of it */
typedef struct {
    fa_real x[3];   /* from the node to the origin of the child, parent axes */
    fa_real phi[3]; /* rotation vector of the node */
    fa_real c1, c2, c3, c4, c5; /* Stumpff functions of phi.phi */
    section_state of;           /* whose phi it is */
} fa_turn;

/* y = c2 phi x a + c3 phi x (phi x a) + a, the left Jacobian of SO(3) on a vector */
FA_INLINE void node_left_jacobian(const fa_turn *t, const fa_real *a, fa_real *y)
{
    fa_real once[3], twice[3];
    fa_cross(once, t->phi, a);
    fa_cross(twice, t->phi, once);
    for (int i = 0; i < 3; i++) {
        y[i] = a[i] + t->c2 * once[i] + t->c3 * twice[i];
    }
}

/* y = J_l Dphi a, the angular velocity for the rate a of lambda eta */
FA_INLINE void node_slope(const fa_turn *t, const fa_real *a, fa_real *y)
{
    if (t->of.axis) {
        section_step d;
        fa_real phid[3];
        section_along(&t->of, a, &d);
        section_first(&t->of, &d, phid);
        node_left_jacobian(t, phid, y);
    } else {
        node_left_jacobian(t, a, y);
    }
}

/* the left Jacobian itself, c1 + c2 phi~ + c3 phi phi', times Dphi */
FA_INLINE void node_jacobian(const fa_turn *t, fa_real *J)
{
    const fa_real *p = t->phi;
    const fa_real z = t->c3 * p[2], xy = t->c3 * p[0] * p[1];

    J[0] = t->c1 + t->c3 * p[0] * p[0];
    J[4] = t->c1 + t->c3 * p[1] * p[1];
    J[8] = t->c1 + z * p[2];
    J[1] = xy - t->c2 * p[2];
    J[3] = xy + t->c2 * p[2];
    J[2] = z * p[0] + t->c2 * p[1];
    J[6] = z * p[0] - t->c2 * p[1];
    J[5] = z * p[1] - t->c2 * p[0];
    J[7] = z * p[1] + t->c2 * p[0];
    if (t->of.axis) {
        section_times(&t->of, J);
    }
}

/* R_n = exp(phi~) from lambda eta in t->phi, and the functions that its Jacobian needs
 * (K1); axis of a straight beam or NULL */
FA_INLINE void node_turn(const fa_constant *axis, fa_turn *t, fa_real *Rn)
{
    t->of.axis = NULL;
    if (axis) {
        section_start(axis, &t->of, t->phi);
    }
    const fa_real *p = t->phi;
    const fa_stumpff f = fa_stumpff_at(fa_dot(p, p));
    const fa_real xy = f.c2 * p[0] * p[1], xz = f.c2 * p[0] * p[2];
    const fa_real yz = f.c2 * p[1] * p[2];

    Rn[0] = f.c0 + f.c2 * p[0] * p[0];
    Rn[4] = f.c0 + f.c2 * p[1] * p[1];
    Rn[8] = f.c0 + f.c2 * p[2] * p[2];
    Rn[1] = xy - f.c1 * p[2];
    Rn[3] = xy + f.c1 * p[2];
    Rn[2] = xz + f.c1 * p[1];
    Rn[6] = xz - f.c1 * p[1];
    Rn[5] = yz - f.c1 * p[0];
    Rn[7] = yz + f.c1 * p[0];
    t->c1 = f.c1;
    t->c2 = f.c2;
    t->c3 = f.c3;
    t->c4 = f.c4;
    t->c5 = f.c5;
}

/* y += weight kappa x x of a node with foreshortening (K1, K6) */
FA_INLINE void node_second_add(const fa_node *node, const int n, const double weight,
                               const fa_real *x, fa_real *y)
{
    for (int s = 0; s < n; s++) {
        const fa_constant *k = node->kappa + 3 * s * n;
        fa_real sum[3];
        for (int i = 0; i < 3; i++) {
            sum[i] = 0.5 * k[3 * s + i] * x[s];
        }
        for (int r = 0; r < s; r++) {
            for (int i = 0; i < 3; i++) {
                sum[i] += k[3 * r + i] * x[r];
            }
        }
        for (int i = 0; i < 3; i++) {
            y[i] += 2.0 * weight * x[s] * sum[i];
        }
    }
}

/* y += column s of kappa x (K3) */
FA_INLINE void node_second_column(const fa_node *node, const int n, int s,
                                  const fa_real *x, fa_real *y)
{
    const fa_constant *k = node->kappa + 3 * s * n;

    for (int r = 0; r < n; r++) {
        for (int i = 0; i < 3; i++) {
            y[i] += k[3 * r + i] * x[r];
        }
    }
}

/* position and rotation of a node with n modes in its body (K1) */
FA_INLINE void node_place(const fa_node *node, const int n, const fa_real *eta,
                          fa_turn *t, fa_real *Rn, fa_real *l)
{
    for (int i = 0; i < 3; i++) {
        l[i] = fa_spread(node->position[i]);
        t->phi[i] = (fa_real){0};
    }
    for (int s = 0; s < n; s++) {
        for (int i = 0; i < 3; i++) {
            l[i] += node->gamma[3 * s + i] * eta[s];
            t->phi[i] += node->lambda[3 * s + i] * eta[s];
        }
    }
    if (node->kappa) {
        node_second_add(node, n, 0.5, eta, l);
    }
    node_turn(node->axis, t, Rn);
}

/*
 * Columns (Lambda; U) of a node about the point x away from it (K3).
 *   t     rotation of the node by node_place, at eta [n]
 *   x     [3] or NULL for the node itself
 *   slope, shift  [3 n] Lambda and U, mode by mode
 */
FA_INLINE void node_columns(const fa_node *node, const int n, const fa_real *eta,
                            const fa_turn *t, const fa_real *x, fa_real *slope,
                            fa_real *shift)
{
    fa_real J[9];

    node_jacobian(t, J);
    for (int s = 0; s < n; s++) {
        const fa_constant *lambda = node->lambda + 3 * s;
        for (int i = 0; i < 3; i++) {
            slope[3 * s + i] = J[3 * i] * lambda[0] + J[3 * i + 1] * lambda[1] +
                               J[3 * i + 2] * lambda[2];
            shift[3 * s + i] = fa_spread(node->gamma[3 * s + i]);
        }
        if (x) {
            fa_cross_add(shift + 3 * s, slope + 3 * s, x);
        }
    }
    for (int s = 0; s < (node->kappa ? n : 0); s++) {
        node_second_column(node, n, s, eta, shift + 3 * s);
    }
}

/* rates of the Stumpff functions in the left Jacobian, c_k' = (k c_{k+2} - c_{k+1}) / 2 */
FA_INLINE void node_stumpff_rates(const fa_turn *t, const fa_real *phid,
                                  fa_real *c2_dot, fa_real *c3_dot)
{
    const fa_real rate = 2.0 * fa_dot(t->phi, phid);

    *c2_dot = 0.5 * (2.0 * t->c4 - t->c3) * rate;
    *c3_dot = 0.5 * (3.0 * t->c5 - t->c4) * rate;
}

/* y = d/dt(J_left) a for a constant a */
FA_INLINE void node_left_jacobian_rate(const fa_turn *t, const fa_real *phid,
                                       const fa_real *a, fa_real *y)
{
    fa_real c2_dot, c3_dot, once[3], twice[3], moved[3], turn[3];

    node_stumpff_rates(t, phid, &c2_dot, &c3_dot);
    fa_cross(once, t->phi, a);
    fa_cross(twice, t->phi, once);
    fa_cross(moved, phid, a);
    fa_cross(turn, phid, once);
    fa_cross_add(turn, t->phi, moved);
    for (int i = 0; i < 3; i++) {
        y[i] =
            c2_dot * once[i] + c3_dot * twice[i] + t->c2 * moved[i] + t->c3 * turn[i];
    }
}

/* y = d/dt(J_left Dphi) a for a constant a, at the rate sd of lambda eta */
FA_INLINE void node_slope_rate(const fa_turn *t, const fa_real *sd, const fa_real *a,
                               fa_real *y)
{
    if (t->of.axis) {
        section_step move, turn;
        fa_real phid[3], phi_a[3], bend[3], more[3];
        fa_zero(bend, 3);
        section_along(&t->of, sd, &move);
        section_along(&t->of, a, &turn);
        section_first(&t->of, &move, phid);
        section_first(&t->of, &turn, phi_a);
        section_second_add(&t->of, &move, &turn, bend);
        node_left_jacobian_rate(t, phid, phi_a, y);
        node_left_jacobian(t, bend, more);
        for (int i = 0; i < 3; i++) {
            y[i] += more[i];
        }
    } else {
        node_left_jacobian_rate(t, sd, a, y);
    }
}

/* d/dt(J_left) phid at constant phid */
FA_INLINE void node_left_wdot(const fa_turn *t, const fa_real *phid, fa_real *wdot)
{
    fa_real c2_dot, c3_dot, once[3], arm[3];

    node_stumpff_rates(t, phid, &c2_dot, &c3_dot);
    fa_cross(once, t->phi, phid);
    for (int i = 0; i < 3; i++) {
        arm[i] = c3_dot * t->phi[i] + t->c3 * phid[i];
        wdot[i] = c2_dot * once[i];
    }
    fa_cross_add(wdot, arm, once);
}

/* wdot: angular acceleration of the node at constant rates, sd of lambda eta (K6) */
FA_INLINE void node_wdot(const fa_turn *t, const fa_real *sd, fa_real *wdot)
{
    if (t->of.axis) {
        section_step move;
        fa_real phid[3], bend[3], more[3];
        fa_zero(bend, 3);
        section_along(&t->of, sd, &move);
        section_first(&t->of, &move, phid);
        section_second_add(&t->of, &move, &move, bend);
        node_left_wdot(t, phid, wdot);
        node_left_jacobian(t, bend, more);
        for (int i = 0; i < 3; i++) {
            wdot[i] += more[i];
        }
    } else {
        node_left_wdot(t, sd, wdot);
    }
}

#endif
