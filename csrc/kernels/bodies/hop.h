/*
 * hop.h -- from a body to the next one: node deformation, then joint (K1 to K7)
 *
 * Equations   phi = lambda eta, R_n = exp(phi~),
 *             l = l0 + gamma eta + 1/2 kappa eta eta                            (K1)
 *             R = R_n R_f rot_z(q), r = l + x,
 *             x = R_n (x_f [+ R_f e_z q for a prismatic joint])                 (K2)
 *             Lambda = J_l(phi) lambda, U = gamma + kappa eta + Lambda x x      (K3)
 *             w = Lambda etad, u = U etad                                       (K4)
 *             V_k = R'(omega + w; v + omega x r + u) + S qd                     (K5)
 *             wdot = d/dt(J_l) lambda etad,
 *             beta = (wdot - w x omega; omega x u + kappa etad etad + wdot x x
 *                     + w x (w x x) - w x (v + omega x r + u))                  (K6)
 *             c_k = R' beta + V_k x S qd                                        (K7)
 *             omega, v: twist of the parent in its own axes. exp and J_l are exact,
 *             so the attachment's velocity is the derivative of its pose.
 *             rot_z, e_z q and S are those of the joint; wide joints in joint.h. A
 *             floating body hangs on its own moving node, in floating.h.
 * Lanes       one state each; the modes of the parent are a compile-time constant.
 * Source      A. Jain, G. Rodriguez, US patent 5,546,508, eqs. 5-10 and 87-91; the
 *             acceleration is taken component by component (R. Featherstone, Rigid
 *             Body Dynamics Algorithms, 2008, sec. 2.11), so c_k differs from a_mR.
 * Checked by  tests/dynamics/test_dynamics.py (Lagrangian by complex step),
 *             tests/kinematics/test_kinematics.py.
 */
#ifndef FA_HOP_H
#define FA_HOP_H

#include "kernels/bodies/floating.h"
#include "kernels/bodies/joint.h"
#include "kernels/bodies/node.h"
#include "lanes/lane.h"
#include "lanes/lane_math.h"
#include "lanes/spatial.h"
#include "model/kinds.h"
#include "model/layout.h"

/* from the node to the origin of a body, in the axes of the node: x_f and the way of the
 * joint (K2) */
FA_INLINE void hop_arm(const fa_body *b, const fa_real *q, fa_real *arm)
{
    for (int i = 0; i < 3; i++) {
        arm[i] = fa_spread(b->pos[i]);
    }
    if (b->joint == FA_JOINT_PRISMATIC) {
        for (int i = 0; i < 3; i++) {
            arm[i] += b->rot[3 * i + 2] * q[b->position_at];
        }
    } else if (b->wide) {
        joint_displace(b, q, arm);
    }
}

/* R = base times the rotation of the joint (K2) */
FA_INLINE void hop_turn(const fa_body *b, const fa_real *q, const fa_real *base,
                        fa_real *R)
{
    if (b->joint == FA_JOINT_REVOLUTE) {
        fa_real s, c;
        fa_sincos(q[b->position_at], &s, &c);
        for (int i = 0; i < 3; i++) {
            R[3 * i] = base[3 * i] * c + base[3 * i + 1] * s;
            R[3 * i + 1] = base[3 * i + 1] * c - base[3 * i] * s;
            R[3 * i + 2] = base[3 * i + 2];
        }
    } else if (b->wide) {
        joint_turn(b, q, base, R);
    } else {
        for (int i = 0; i < 9; i++) {
            R[i] = base[i];
        }
    }
}

/*
 * Pose of a body in its parent (K1 to K3).
 *
 *   model, b    the body; np its parent's number of modes, the constant b->parent_modes
 *   q           [nq]  state
 *   eta_of_...  modal coordinates of the parent, and its own, that shape them
 *   h           pose
 *   t           rotation of the node, for the rates; only if np > 0
 *   slope, shift  [3 np]  Lambda and U
 */
FA_INLINE void hop_pose_of(const fa_model *model, const fa_body *b, const int np,
                           const fa_real *q, const fa_real *eta_of_parent,
                           const fa_real *eta_of_own, fa_hop *h, fa_turn *t,
                           fa_real *slope, fa_real *shift)
{
    fa_real base[9], l[3], arm[3];

    if (b->joint == FA_JOINT_FLOATING) {
        floating_pose(model, b, eta_of_own, h, t, slope);
        return;
    }
    hop_arm(b, q, arm);
    if (np > 0) {
        const fa_node *node = model->nodes + b->attach;
        fa_real Rn[9];
        node_place(node, np, eta_of_parent, t, Rn, l);
        fa_rotate(t->x, Rn, arm);
        node_columns(node, np, eta_of_parent, t, t->x, slope, shift);
        fa_mat_mul_const(base, Rn, b->rot);
        for (int i = 0; i < 3; i++) {
            h->r[i] = l[i] + t->x[i];
        }
    } else {
        const fa_constant *node =
            b->attach < 0 ? NULL : model->nodes[b->attach].position;
        for (int i = 0; i < 3; i++) {
            h->r[i] = arm[i] + (node ? node[i] : (fa_constant){0});
        }
        for (int i = 0; i < 9; i++) {
            base[i] = fa_spread(b->rot[i]);
        }
    }
    hop_turn(b, q, base, h->R);
}

/* the same at q, undeformed in a ruthless model */
FA_INLINE void hop_pose(const fa_model *model, const fa_body *b, const int np,
                        const fa_real *q, fa_hop *h, fa_turn *t, fa_real *slope,
                        fa_real *shift)
{
    hop_pose_of(model, b, np, q, node_eta(model, q, b->parent_eta_at),
                node_eta(model, q, b->eta_at), h, t, slope, shift);
}

/* motion of the child's frame by the parent's twist and modes: R'(...) of K5 or K7 */
FA_INLINE void hop_motion(const fa_hop *h, const int np, const fa_real *slope,
                          const fa_real *shift, const fa_real *parent,
                          const fa_real *rates, fa_real *child)
{
    fa_real a[6];
    for (int i = 0; i < 6; i++) {
        a[i] = parent[i];
    }
    fa_cross_add(a + 3, parent, h->r);
    for (int s = 0; s < np; s++) {
        for (int i = 0; i < 3; i++) {
            a[i] += slope[3 * s + i] * rates[s];
            a[3 + i] += shift[3 * s + i] * rates[s];
        }
    }
    fa_rotate_t(child, h->R, a);
    fa_rotate_t(child + 3, h->R, a + 3);
}

/* S qd and V x S qd, for joints along z: adds to V and to c (K5, K7) */
FA_INLINE void hop_joint(const fa_model *model, const fa_body *b, const fa_turn *t,
                         const fa_real *columns, const fa_real *qd, fa_real *V,
                         fa_real *c)
{
    if (b->joint == FA_JOINT_REVOLUTE) {
        const fa_real s = qd[b->joint_at];
        V[2] += s;
        c[0] += V[1] * s;
        c[1] -= V[0] * s;
        c[3] += V[4] * s;
        c[4] -= V[3] * s;
    } else if (b->joint == FA_JOINT_PRISMATIC) {
        const fa_real s = qd[b->joint_at];
        V[5] += s;
        c[3] += V[1] * s;
        c[4] -= V[0] * s;
    } else if (b->wide) {
        joint_velocity(b, qd, V, c);
    } else if (b->joint == FA_JOINT_FLOATING) {
        floating_velocity(model, b, t, columns, qd, V, c);
    }
}

/*
 * c of a ruthless model: seen from the base, the acceleration of a child has no velocity
 * term of the parent's modes (a_m^0, eq. 75), in its own axes it is less by omega x v:
 *             c = V x S qd - (0; R'(omega x u) + R'w x v_k)
 */
FA_NOINLINE void hop_ruthless(const fa_hop *h, const fa_real *w, const fa_real *u,
                              const fa_real *Vp, const fa_real *V, fa_real *c)
{
    fa_real swing[3], turned[3], turning[3];

    fa_cross(swing, Vp, u);
    fa_rotate_t(turned, h->R, swing);
    fa_rotate_t(turning, h->R, w);
    fa_cross(swing, turning, V + 3);
    for (int i = 0; i < 3; i++) {
        c[3 + i] -= turned[i] + swing[i];
    }
}

/*
 * Twist V and velocity-product acceleration c of a body (K4 to K7).
 *
 *   h, t, slope, shift   by hop_pose
 *   Vp    [6]  twist of the parent, or NULL on the ground
 *   qd    [nv] state
 *   V, c  [6]  results in the axes of the body
 */
FA_INLINE void hop_velocity(const fa_model *model, const fa_body *b, const int np,
                            const fa_hop *h, const fa_turn *t, const fa_real *slope,
                            const fa_real *shift, const fa_real *Vp, const fa_real *qd,
                            fa_real *V, fa_real *c)
{
    fa_zero(c, 6);
    if (!Vp) {
        fa_zero(V, 6);
    } else {
        hop_motion(h, np, slope, shift, Vp, qd + b->parent_mode_at, V);
    }
    if (np > 0) {
        const fa_node *node = model->nodes + b->attach;
        const fa_real *rates = qd + b->parent_mode_at;
        fa_real phid[3], w[3], u[3], wdot[3], v[3], wx[3], beta[6];

        fa_zero(phid, 3);
        fa_zero(w, 3);
        fa_zero(u, 3);
        for (int s = 0; s < np; s++) {
            for (int i = 0; i < 3; i++) {
                phid[i] += node->lambda[3 * s + i] * rates[s];
                w[i] += slope[3 * s + i] * rates[s];
                u[i] += shift[3 * s + i] * rates[s];
            }
        }
        node_wdot(t, phid, wdot);
        if (model->fidelity == FA_RUTHLESS) {
            hop_joint(model, b, t, slope, qd, V, c);
            hop_ruthless(h, w, u, Vp, V, c);
            return;
        }

        /* v = v_p + omega x r + u of the child's origin, minus w x x for the bracket
         * w x (w x x - v) of beta */
        for (int i = 0; i < 3; i++) {
            v[i] = Vp[3 + i] + u[i];
        }
        fa_cross_add(v, Vp, h->r);
        fa_cross(wx, w, t->x);
        for (int i = 0; i < 3; i++) {
            v[i] = wx[i] - v[i];
            beta[i] = wdot[i];
        }
        fa_cross_add(beta, Vp, w);
        fa_cross(beta + 3, Vp, u);
        fa_cross_add(beta + 3, wdot, t->x);
        fa_cross_add(beta + 3, w, v);
        if (node->kappa) {
            node_second_add(node, np, 1.0, rates, beta + 3);
        }
        fa_rotate_t(c, h->R, beta);
        fa_rotate_t(c + 3, h->R, beta + 3);
    }
    hop_joint(model, b, t, slope, qd, V, c);
}

/*
 * Hands the force of a child to its parent: F = R f at r, then modal rows and body
 * rows (I2, A5).
 *   f           [6]  in child axes at the child's origin
 *   z_r, z_f    [6], [np]  of the parent, accumulated
 */
FA_INLINE void hop_force_add(const fa_hop *h, const int np, const fa_real *slope,
                             const fa_real *shift, const fa_real *f, fa_real *z_r,
                             fa_real *z_f)
{
    fa_real F[6];
    fa_rotate(F, h->R, f);
    fa_rotate(F + 3, h->R, f + 3);
    for (int s = 0; s < np; s++) {
        z_f[s] += fa_dot(slope + 3 * s, F) + fa_dot(shift + 3 * s, F + 3);
    }
    for (int i = 0; i < 6; i++) {
        z_r[i] += F[i];
    }
    fa_cross_add(z_r, h->r, F + 3);
}

/* hop_pose for any number of modes, out of line: for kernels that seldom matter */
FA_NOINLINE void hop_pose_any(const fa_model *model, const fa_body *b, const fa_real *q,
                              fa_hop *h, fa_turn *t, fa_real *slope, fa_real *shift)
{
    hop_pose(model, b, b->parent_modes, q, h, t, slope, shift);
}

/* the pose in the deformed arm, whatever the dynamics take of it */
FA_NOINLINE void hop_pose_deformed(const fa_model *model, const fa_body *b,
                                   const fa_real *q, fa_hop *h, fa_turn *t,
                                   fa_real *slope, fa_real *shift)
{
    hop_pose_of(model, b, b->parent_modes, q, q + b->parent_eta_at, q + b->eta_at, h, t,
                slope, shift);
}

/* the part of the joint's, or of a floating body's modes, in the acceleration (K7) */
FA_INLINE void hop_accelerate(const fa_body *b, const fa_real *columns,
                              const fa_real *qdd, fa_real *a)
{
    if (b->wide) {
        fa_real s[6];
        joint_motion(b, qdd + b->joint_at, s);
        for (int i = 0; i < 6; i++) {
            a[i] += s[i];
        }
    } else if (b->joint_at >= 0) {
        a[b->joint == FA_JOINT_REVOLUTE ? 2 : 5] += qdd[b->joint_at];
    } else if (b->joint == FA_JOINT_FLOATING) {
        floating_accelerate(b, columns, qdd + b->mode_at, a);
    }
}

#endif
