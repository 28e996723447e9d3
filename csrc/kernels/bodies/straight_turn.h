/*
 * straight_turn.h -- how a node of a straight body turns: in a plane, without twist, with it
 *
 * Equations   R_n = exp(phi~), the matrix J_l Dphi, and wdot, as in node.h (K1, K3, K6), with
 *             phi on a, b, c by U1
 * Checked by  tests/beams/test_straight.py: the same arm without the structure.
 */
#ifndef FA_STRAIGHT_TURN_H
#define FA_STRAIGHT_TURN_H

#include "kernels/bodies/driven.h"
#include "kernels/bodies/node.h"
#include "kernels/bodies/straight.h"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/layout.h"

/* the axis about which a body turns its nodes if it bends in one plane, or -1 */
FA_INLINE int straight_plane(const straight_size z)
{
    const driven_axes next = DRIVEN_AXES[z.axis];

    if (z.twists > 0 || (z.bends[0] > 0 && z.bends[1] > 0)) {
        return -1;
    }
    return z.bends[0] > 0 ? next.c : next.b;
}

/* rotation and J of a node that turns about one axis, where J_l is 1 (U1) */
FA_INLINE void straight_turn_plane(const fa_node *node, const int about, fa_turn *t,
                                   fa_real *J, fa_real *Rn)
{
    const fa_real s = t->phi[about], square = s * s;
    fa_real slope = fa_splat(1.0), bend = {0};

    if (node->axis) {
        t->phi[about] = s * (1.0 + square * (1.0 / 6.0 + 0.075 * square));
        slope = 1.0 + square * (0.5 + 0.375 * square);
        bend = s + 1.5 * s * square; /* dJ/ds */
    }
    node_turn(NULL, t, Rn);
    fa_zero(J, 9);
    J[4 * about] = slope;
    t->of.theta = bend;
}

/*
 * The same of a beam that bends in two planes and does not twist: phi = G s, and with
 * J_l s = s the matrix is J_l Dphi = G J_l + g s s', g = 2 dG/dsigma (U1).
 */
FA_INLINE void straight_turn_bends(fa_turn *t, fa_real *J, fa_real *Rn)
{
    fa_real *s = t->of.s;
    const fa_real sigma = fa_dot(t->phi, t->phi);
    const fa_real G = 1.0 + sigma * (1.0 / 6.0 + 0.075 * sigma);
    const fa_real g = 1.0 / 3.0 + 0.3 * sigma;

    for (int i = 0; i < 3; i++) {
        s[i] = t->phi[i];
        t->phi[i] *= G;
    }
    node_turn(NULL, t, Rn);
    node_jacobian(t, J);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            J[3 * i + j] = G * J[3 * i + j] + g * (s[i] * s[j]);
        }
    }
}

/*
 * The same of a beam that also twists, with s = theta on a and x, y on b, c: phi on a is
 * (1 - sigma/12) theta, on b G x + theta y/2, on c G y - theta x/2, sigma = x^2 + y^2 (U1).
 */
FA_INLINE void straight_turn_section(const straight_size z, fa_turn *t, fa_real *J,
                                     fa_real *Rn)
{
    const driven_axes next = DRIVEN_AXES[z.axis];
    const int a = z.axis, b = next.b, c = next.c;
    const fa_real theta = t->phi[a], x = t->phi[b], y = t->phi[c], half = 0.5 * theta;
    const fa_real sigma = x * x + y * y, H = 1.0 - (1.0 / 12.0) * sigma;
    const fa_real G =
        1.0 + sigma * (1.0 / 6.0 + 0.075 * sigma) - (1.0 / 12.0) * (theta * theta);
    const fa_real g = 1.0 / 3.0 + 0.3 * sigma, sixth = (-1.0 / 6.0) * theta;
    fa_real left[9], D[9]; /* J_l, Dphi */

    for (int i = 0; i < 3; i++) {
        t->of.s[i] = t->phi[i];
    }
    t->phi[a] = theta * H;
    t->phi[b] = G * x + half * y;
    t->phi[c] = G * y - half * x;
    node_turn(NULL, t, Rn);
    node_jacobian(t, left);
    D[4 * a] = H;
    D[3 * a + b] = sixth * x;
    D[3 * a + c] = sixth * y;
    D[3 * b + a] = sixth * x + 0.5 * y;
    D[3 * c + a] = sixth * y - 0.5 * x;
    D[4 * b] = G + g * (x * x);
    D[4 * c] = G + g * (y * y);
    D[3 * b + c] = g * (x * y) + half;
    D[3 * c + b] = g * (x * y) - half;
    fa_mat_mul(J, left, D);
}

/* its angular acceleration: that of Dphi sd, and J_l D2phi[sd, sd] */
FA_INLINE void straight_wdot_section(const straight_size z, const fa_turn *t,
                                     const fa_real *sd, fa_real *wdot)
{
    const driven_axes next = DRIVEN_AXES[z.axis];
    const int a = z.axis, b = next.b, c = next.c;
    const fa_real *s = t->of.s;
    const fa_real theta = s[a], x = s[b], y = s[c], T = sd[a], X = sd[b], Y = sd[c];
    const fa_real sigma = x * x + y * y, along = x * X + y * Y, square = X * X + Y * Y;
    const fa_real G =
        1.0 + sigma * (1.0 / 6.0 + 0.075 * sigma) - (1.0 / 12.0) * (theta * theta);
    const fa_real g = 1.0 / 3.0 + 0.3 * sigma;
    const fa_real G1 = g * along - (1.0 / 6.0) * (theta * T);
    const fa_real G2 = g * square + 0.6 * (along * along) - (1.0 / 6.0) * (T * T);
    fa_real phid[3], bend[3], more[3];

    phid[a] = T * (1.0 - (1.0 / 12.0) * sigma) - (1.0 / 6.0) * (theta * along);
    phid[b] = G * X + G1 * x + 0.5 * (T * y + theta * Y);
    phid[c] = G * Y + G1 * y - 0.5 * (T * x + theta * X);
    bend[a] = (-1.0 / 6.0) * (2.0 * (T * along) + theta * square);
    bend[b] = 2.0 * (G1 * X) + G2 * x + T * Y;
    bend[c] = 2.0 * (G1 * Y) + G2 * y - T * X;
    node_left_wdot(t, phid, wdot);
    node_left_jacobian(t, bend, more);
    for (int i = 0; i < 3; i++) {
        wdot[i] += more[i];
    }
}

/* its angular acceleration */
FA_INLINE void straight_wdot_bends(const fa_turn *t, const fa_real *sd, fa_real *wdot)
{
    const fa_real *s = t->of.s;
    const fa_real sigma = fa_dot(s, s), along = fa_dot(s, sd);
    const fa_real G = 1.0 + sigma * (1.0 / 6.0 + 0.075 * sigma);
    const fa_real g = 1.0 / 3.0 + 0.3 * sigma, rate = g * along;
    const fa_real second = g * fa_dot(sd, sd) + 0.6 * (along * along);
    fa_real phid[3], bend[3], more[3];

    for (int i = 0; i < 3; i++) {
        phid[i] = G * sd[i] + rate * s[i];
        bend[i] = 2.0 * rate * sd[i] + second * s[i];
    }
    node_left_wdot(t, phid, wdot);
    node_left_jacobian(t, bend, more);
    for (int i = 0; i < 3; i++) {
        wdot[i] += more[i];
    }
}

/* angular acceleration of a node at constant rates (K6) */
FA_INLINE void straight_wdot(const fa_node *node, const straight_size z,
                             const fa_turn *t, const fa_real *sd, fa_real *wdot)
{
    const int about = straight_plane(z);

    if (about < 0 && node->axis) {
        if (z.twists > 0) {
            straight_wdot_section(z, t, sd, wdot);
        } else {
            straight_wdot_bends(t, sd, wdot);
        }
        return;
    }
    if (about < 0) {
        node_wdot(t, sd, wdot);
        return;
    }
    fa_zero(wdot, 3);
    wdot[about] = t->of.theta * (sd[about] * sd[about]);
}

#endif
