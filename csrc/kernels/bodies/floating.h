/*
 * floating.h -- a body whose modes move the node by which it is carried
 *
 * The frame F of a floating body is not fixed to its attachment: modes that are free or
 * pinned at node d move that node by l_d = l0 + gamma eta, R_d = exp(phi~) as seen from
 * F. A massless carrier O sits on node d and has the joint; F follows from it:
 *
 *             R = R_f R_d', r = x_f - R l_d                                     (F1)
 *             V = X V_O - Pi etad, Pi = (Lambda; gamma - Lambda x l_d)          (F2)
 *             c = (Pi etad) x (X V_O) - Pidot etad                              (F3)
 * X takes a twist of O to the place and axes of F. With V_O' = X V_O in place of V the
 * body is as good as clamped; on the pair (etad; V_O')
 *             P_rf -= P_rr Pi, P_ff -= Pi'P_rf + P_fr Pi - Pi'P_rr Pi, z_f -= Pi'z_r
 *                                                                               (F4)
 * and outward alpha -= Pi etadd after the modes are known                       (F5).
 *
 * Source      Jain and Rodriguez, US patent 5,546,508, eqs. 9, 13 and 63; Pi is the
 *             exact form of phi*(d, k) Pi^d of its digest, with the left Jacobian.
 * Checked by  tests/dynamics/test_floating.py,
 *             tests/dynamics/test_dynamics.py: Lagrangian.
 */
#ifndef FA_FLOATING_H
#define FA_FLOATING_H

#include "kernels/bodies/node.h"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/kinds.h"
#include "model/layout.h"

/* pose of F in the carrier, and Pi in `columns` (Lambda, then linear part) (F1, F2) */
FA_NOINLINE void floating_pose(const fa_model *model, const fa_body *b,
                               const fa_real *eta, fa_hop *h, fa_turn *t,
                               fa_real *columns)
{
    const fa_node *node = model->nodes + b->own_node;
    fa_real Rn[9], l[3];

    node_place(node, b->n_modes, eta, t, Rn, l);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            h->R[3 * i + j] = b->rot[3 * i] * Rn[3 * j] +
                              b->rot[3 * i + 1] * Rn[3 * j + 1] +
                              b->rot[3 * i + 2] * Rn[3 * j + 2];
        }
        t->x[i] = -l[i];
    }
    fa_rotate(h->r, h->R, t->x);
    for (int i = 0; i < 3; i++) {
        h->r[i] += b->pos[i];
    }
    node_columns(node, b->n_modes, eta, t, t->x, columns, columns + 3 * b->n_modes);
}

/* y = Pi rates */
FA_INLINE void floating_motion(const fa_body *b, const fa_real *columns,
                               const fa_real *rates, fa_real *y)
{
    const int n = b->n_modes;

    fa_zero(y, 6);
    for (int s = 0; s < n; s++) {
        for (int i = 0; i < 3; i++) {
            y[i] += columns[3 * s + i] * rates[s];
            y[3 + i] += columns[3 * (n + s) + i] * rates[s];
        }
    }
}

/* Pi_s' f */
FA_INLINE fa_real floating_project(const fa_body *b, const fa_real *columns, int s,
                                   const fa_real *f)
{
    return fa_dot(columns + 3 * s, f) + fa_dot(columns + 3 * (b->n_modes + s), f + 3);
}

/*
 * V and c of a ruthless model: no velocity term of the modes in the acceleration of the
 * frame seen from the base, which is c + omega x v - omega_O x v_O'. motion: Pi etad.
 */
FA_INLINE void floating_ruthless(const fa_real *motion, fa_real *V, fa_real *c)
{
    fa_cross_add(c + 3, V, motion + 3);
    for (int i = 0; i < 6; i++) {
        V[i] -= motion[i];
    }
    fa_cross_add(c + 3, motion, V + 3);
}

/*
 * Mode s in (F4): its row of Y [n][6], P_rf, and with it the triangle L, P_ff.
 *   force  [6]  P_rr Pi_s; called for s = 0, 1, ... in this order
 */
FA_INLINE void floating_exchange(const fa_body *b, const fa_real *columns, int s,
                                 const fa_real *force, fa_real *Y, fa_real *L)
{
    const int n = b->n_modes;

    for (int r = s; r < n; r++) { /* Pi_s' P_rf(r), r not yet changed */
        L[fa_tri(r, s)] -= floating_project(b, columns, s, Y + 6 * r);
    }
    for (int i = 0; i < 6; i++) {
        Y[6 * s + i] -= force[i];
    }
    for (int r = s; r < n; r++) { /* Pi_r' P_rf(s), changed */
        L[fa_tri(r, s)] -= floating_project(b, columns, r, Y + 6 * s);
    }
}

/* from V_O' to V, and c (F2, F3); t, columns by floating_pose */
FA_NOINLINE void floating_velocity(const fa_model *model, const fa_body *b,
                                   const fa_turn *t, const fa_real *columns,
                                   const fa_real *qd, fa_real *V, fa_real *c)
{
    const fa_node *node = model->nodes + b->own_node;
    const fa_real *rates = qd + b->mode_at;
    fa_real motion[6], phid[3], u[3], wdot[3], turning[3];

    floating_motion(b, columns, rates, motion);
    fa_zero(phid, 3);
    fa_zero(u, 3);
    for (int s = 0; s < b->n_modes; s++) {
        for (int i = 0; i < 3; i++) {
            phid[i] += node->lambda[3 * s + i] * rates[s];
            u[i] += node->gamma[3 * s + i] * rates[s];
        }
    }
    node_wdot(t, phid, wdot);

    if (model->fidelity == FA_RUTHLESS) {
        floating_ruthless(motion, V, c);
        return;
    }
    /* (Pi etad) x V_O' - (wdot; wdot x x - w x u), x = -l_d */
    fa_cross_add(c, motion, V);
    fa_cross_add(c + 3, motion, V + 3);
    fa_cross_add(c + 3, motion + 3, V);
    fa_cross_add(c + 3, motion, u);
    fa_cross(turning, wdot, t->x);
    for (int i = 0; i < 3; i++) {
        c[i] -= wdot[i];
        c[3 + i] -= turning[i];
    }
    for (int i = 0; i < 6; i++) {
        V[i] -= motion[i];
    }
}

/* alpha -= Pi etadd (F5) */
FA_NOINLINE void floating_accelerate(const fa_body *b, const fa_real *columns,
                                     const fa_real *etadd, fa_real *a)
{
    fa_real motion[6];
    floating_motion(b, columns, etadd, motion);
    for (int i = 0; i < 6; i++) {
        a[i] -= motion[i];
    }
}

/* z_f -= Pi' z_r (F4) */
FA_NOINLINE void floating_force(const fa_body *b, const fa_real *columns,
                                const fa_real *z_r, fa_real *z_f)
{
    for (int s = 0; s < b->n_modes; s++) {
        z_f[s] -= floating_project(b, columns, s, z_r);
    }
}

#endif
