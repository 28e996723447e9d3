/*
 * tangent_hop.h -- screws of the freedoms of a hop, and how they move (X1 to X4)
 *
 * Equations   in the axes of the base, about one point for all bodies: twist v and
 *             acceleration a = dv/dt of a body (of the base: (0; -g)), screw J of a
 *             freedom, the twist of everything outboard for a unit of its rate. A
 *             displacement along J at constant rates and accelerations of all freedoms
 *             changes what is outboard, seen from the bodies that it carries, by
 *                 Dv = P, Da = Q + P x v                                        (X1)
 *             and a unit of its rate by
 *                 Dv = J, Da = T + J x v.                                       (X2)
 *             Modes of a body at one of its nodes X, with Lambda, gamma turned with it:
 *                 J = (Lambda; gamma + X x Lambda), P = dJ/dt, Q = d2J/dt2, T = 2 P;
 *                 d2X/dt2 contains -g.                                          (X3)
 *             Joints, from v_o and a_o of the frame before the joint, in which local
 *             displacements and velocities have constant components:
 *                 P = v_o x J, Q = a_o x J + v_o x P, T = P + v x J;
 *             with one freedom v and a will do.                                 (X4)
 * Source      J. M. Wensing et al., arXiv:1704.04450 (rigid bodies, X1 and X2); X3 by
 *             the commutation of variation and time, dv = dJ/dt + J x v.
 * Checked by  tests/derivatives/test_derivatives.py
 */
#ifndef FA_TANGENT_HOP_H
#define FA_TANGENT_HOP_H

#include "kernels/bodies/joint.h"
#include "kernels/bodies/node.h"
#include "kernels/bodies/section_turn.h"
#include "lanes/lane.h"
#include "lanes/lane_math.h"
#include "lanes/spatial.h"
#include "model/kinds.h"
#include "model/layout.h"

/* a freedom of a hop: of the parent's modes, of the joint, or of own modes if floating */
typedef struct {
    fa_real J[6], P[6], Q[6], T[6];
} tg_screw;

/* one body in the axes of the base, with all that is outboard of it */
typedef struct {
    fa_real R[9], x[3]; /* pose of its frame */
    fa_real v[6], a[6];
    fa_real f[6];           /* force that its hop transmits */
    fa_real m, mp[3], I[6]; /* inertia (X5) */
    fa_real Y[6], h[6];     /* rate of I, momentum (X5) */
    fa_real offset[3];      /* moment of mass that only the weight has (B4) */
    /* the node of its hop that modes move: place, and what bends there (X7) */
    fa_real X[3], phi[3], c2, c3, d2, d3;
    section_state of;
} tg_body;

/* y = a x b of twists */
FA_INLINE void tg_cross(fa_real *restrict y, const fa_real *a, const fa_real *b)
{
    fa_cross(y, a, b);
    fa_cross(y + 3, a, b + 3);
    fa_cross_add(y + 3, a + 3, b);
}

FA_INLINE void tg_cross_add(fa_real *restrict y, const fa_real *a, const fa_real *b)
{
    fa_cross_add(y, a, b);
    fa_cross_add(y + 3, a, b + 3);
    fa_cross_add(y + 3, a + 3, b);
}

/* y += a x* f: change of a wrench f that is carried along a */
FA_INLINE void tg_carry_add(fa_real *restrict y, const fa_real *a, const fa_real *f)
{
    fa_cross_add(y, a, f);
    fa_cross_add(y, a + 3, f + 3);
    fa_cross_add(y + 3, a, f + 3);
}

/* y of J.y = m.(J x* f) for any screw J: its adjoint, of a motion m */
FA_INLINE void tg_carry_back(fa_real *restrict y, const fa_real *m, const fa_real *f)
{
    fa_cross(y, f, m);
    fa_cross_add(y, f + 3, m + 3);
    fa_cross(y + 3, f + 3, m);
}

/* y = a twist t of the axes of a body, in those of the base */
FA_INLINE void tg_lift(const tg_body *w, const fa_real *t, fa_real *restrict y)
{
    fa_rotate(y, w->R, t);
    fa_rotate(y + 3, w->R, t + 3);
    fa_cross_add(y + 3, w->x, y);
}

/* the same for a wrench */
FA_INLINE void tg_lift_force(const tg_body *w, const fa_real *f, fa_real *restrict y)
{
    fa_rotate(y, w->R, f);
    fa_rotate(y + 3, w->R, f + 3);
    fa_cross_add(y, w->x, y + 3);
}

/* velocity of the point x of a body that moves along a twist t */
FA_INLINE void tg_at(const fa_real *t, const fa_real *x, fa_real *restrict y)
{
    fa_cross(y, t, x);
    for (int i = 0; i < 3; i++) {
        y[i] += t[3 + i];
    }
}

/* pose, twist and acceleration of a body; h, V, a of inverse dynamics in its own axes */
FA_INLINE void tg_place(const fa_hop *h, const fa_real *V, const fa_real *a,
                        const tg_body *p, const fa_real *origin, tg_body *w)
{
    if (p) {
        fa_mat_mul(w->R, p->R, h->R);
        fa_rotate(w->x, p->R, h->r);
        for (int i = 0; i < 3; i++) {
            w->x[i] += p->x[i];
        }
    } else {
        memcpy(w->R, h->R, sizeof w->R);
        for (int i = 0; i < 3; i++) {
            w->x[i] = h->r[i] - origin[i];
        }
    }
    tg_lift(w, V, w->v);
    tg_lift(w, a, w->a);
}

/* M += odd~ + a b' + b a' - 2 a.b */
FA_INLINE void tg_turn_add(const fa_real *odd, const fa_real *a, const fa_real *b,
                           fa_real *M)
{
    const fa_real both = 2.0 * fa_dot(a, b);

    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const fa_real off = a[j] * b[k] + a[k] * b[j];
        M[4 * i] += 2.0 * a[i] * b[i] - both;
        M[3 * j + k] += off - odd[i];
        M[3 * k + j] += off + odd[i];
    }
}

/* Y += w~ M */
FA_INLINE void tg_cross_matrix_add(fa_real *restrict Y, const fa_real *w,
                                   const fa_real *M)
{
    for (int j = 0; j < 3; j++) {
        Y[j] += w[1] * M[6 + j] - w[2] * M[3 + j];
        Y[3 + j] += w[2] * M[j] - w[0] * M[6 + j];
        Y[6 + j] += w[0] * M[3 + j] - w[1] * M[j];
    }
}

/* matrices that give Lambda and gamma of X3 and their first and second rates from
 * constants of the node, and the rates of its place */
typedef struct {
    fa_real A[3][9], B[3][9];
    fa_real Xd[3], Xdd[3];
} tg_node;

/* left Jacobian of phi, and its rates */
FA_INLINE void tg_node_left(const fa_real *phid, const fa_real *phidd, tg_body *w,
                            fa_real J[3][9])
{
    const fa_real *phi = w->phi;
    const fa_real x = fa_dot(phi, phi), xd = 2.0 * fa_dot(phi, phid);
    const fa_real xdd = 2.0 * (fa_dot(phid, phid) + fa_dot(phi, phidd));
    const fa_stumpff f = fa_stumpff_at(x);
    fa_real c6, c7, u[3], y[3];

    /* rates by dc_k/dx = (k c_{k+2} - c_{k+1}) / 2 */
    fa_stumpff_next(x, &f, &c6, &c7);
    w->c2 = f.c2;
    w->c3 = f.c3;
    w->d2 = 0.5 * (2.0 * f.c4 - f.c3);
    w->d3 = 0.5 * (3.0 * f.c5 - f.c4);
    const fa_real d4 = 0.5 * (4.0 * c6 - f.c5), d5 = 0.5 * (5.0 * c7 - c6);
    const fa_real c2d = w->d2 * xd, c3d = w->d3 * xd;
    const fa_real c2dd = 0.5 * (2.0 * d4 - w->d3) * xd * xd + w->d2 * xdd;
    const fa_real c3dd = 0.5 * (3.0 * d5 - d4) * xd * xd + w->d3 * xdd;

    fa_zero(J[0], 27);
    for (int i = 0; i < 3; i++) {
        J[0][4 * i] = fa_splat(1.0);
        u[i] = f.c2 * phi[i];
        y[i] = 0.5 * f.c3 * phi[i];
    }
    tg_turn_add(u, phi, y, J[0]);
    for (int i = 0; i < 3; i++) {
        u[i] = c2d * phi[i] + f.c2 * phid[i];
        y[i] = 0.5 * c3d * phi[i] + f.c3 * phid[i];
    }
    tg_turn_add(u, phi, y, J[1]);
    for (int i = 0; i < 3; i++) {
        u[i] = c2dd * phi[i] + 2.0 * c2d * phid[i] + f.c2 * phidd[i];
        y[i] = 0.5 * c3dd * phi[i] + 2.0 * c3d * phid[i] + f.c3 * phidd[i];
    }
    tg_turn_add(u, phi, y, J[2]);
    fa_zero(u, 3);
    for (int i = 0; i < 3; i++) {
        y[i] = f.c3 * phid[i];
    }
    tg_turn_add(u, phid, y, J[2]);
}

/* phi and its rates from those of lambda eta, and Dphi and its rates (U1) */
FA_NOINLINE void tg_section(const fa_constant *axis, fa_real phi[3][3],
                            section_state *of, fa_real D[3][9])
{
    section_step rate, second;
    fa_real y[3][3];

    section_start(axis, of, phi[0]);
    section_along(of, phi[1], &rate);
    section_along(of, phi[2], &second);
    for (int j = 0; j < 3; j++) {
        section_step unit;
        section_unit(of, j, &unit);
        section_first(of, &unit, y[0]);
        fa_zero(y[1], 3);
        fa_zero(y[2], 3);
        section_second_add(of, &unit, &rate, y[1]);
        section_second_add(of, &unit, &second, y[2]);
        section_third_add(of, &unit, &rate, y[2]);
        for (int d = 0; d < 3; d++) {
            for (int i = 0; i < 3; i++) {
                D[d][3 * i + j] = y[d][i];
            }
        }
    }
    section_first(of, &rate, phi[1]);
    section_first(of, &second, phi[2]);
    section_second_add(of, &rate, &rate, phi[2]);
}

/* J = J_l Dphi and its rates from those of the two */
FA_NOINLINE void tg_section_times(fa_real D[3][9], fa_real J[3][9])
{
    fa_real y[3][9], z[9];

    fa_mat_mul(y[0], J[0], D[0]);
    fa_mat_mul(y[1], J[1], D[0]);
    fa_mat_mul(z, J[0], D[1]);
    for (int i = 0; i < 9; i++) {
        y[1][i] += z[i];
    }
    fa_mat_mul(y[2], J[2], D[0]);
    fa_mat_mul(z, J[1], D[1]);
    for (int i = 0; i < 9; i++) {
        y[2][i] += 2.0 * z[i];
    }
    fa_mat_mul(z, J[0], D[2]);
    for (int i = 0; i < 9; i++) {
        y[2][i] += z[i];
    }
    memcpy(J, y, sizeof y);
}

/* left Jacobian of the node times Dphi, and its rates; phi: lambda eta and its rates */
FA_INLINE void tg_node_turn(const fa_node *node, fa_real phi[3][3], tg_body *w,
                            fa_real J[3][9])
{
    fa_real D[3][9];

    w->of.axis = node->axis;
    if (node->axis) {
        tg_section(node->axis, phi, &w->of, D);
    }
    memcpy(w->phi, phi[0], sizeof w->phi);
    tg_node_left(phi[1], phi[2], w, J);
    if (node->axis) {
        tg_section_times(D, J);
    }
}

/* place l and turn lambda eta of a node in the frame of its body, and their rates */
FA_INLINE void tg_node_motion(const fa_node *node, const int n,
                              const fa_real *const motion[3], fa_real l[3][3],
                              fa_real phi[3][3])
{
    for (int i = 0; i < 3; i++) {
        fa_zero(l[i], 3);
        fa_zero(phi[i], 3);
        l[0][i] = fa_spread(node->position[i]);
    }
    for (int s = 0; s < n; s++) {
        for (int d = 0; d < 3; d++) {
            for (int i = 0; i < 3; i++) {
                l[d][i] += node->gamma[3 * s + i] * motion[d][s];
                phi[d][i] += node->lambda[3 * s + i] * motion[d][s];
            }
        }
    }
    if (node->kappa) { /* l = l0 + gamma eta + 1/2 kappa eta eta and its rates */
        node_second_add(node, n, 0.5, motion[0], l[0]);
        node_second_add(node, n, 1.0, motion[1], l[2]);
        for (int s = 0; s < n; s++) {
            fa_real bent[3];
            fa_zero(bent, 3);
            node_second_column(node, n, s, motion[0], bent);
            for (int i = 0; i < 3; i++) {
                l[1][i] += bent[i] * motion[1][s];
                l[2][i] += bent[i] * motion[2][s];
            }
        }
    }
}

/* X, and by the axes of the body dX/dt, d2X/dt2 */
FA_INLINE void tg_node_place(fa_real l[3][3], const tg_body *p, const fa_real *V,
                             const fa_real *a, tg_body *w, tg_node *t)
{
    fa_real y[3], swing[3];

    fa_rotate(w->X, p->R, l[0]);
    for (int i = 0; i < 3; i++) {
        w->X[i] += p->x[i];
        y[i] = V[3 + i] + l[1][i];
    }
    fa_cross_add(y, V, l[0]);
    fa_rotate(t->Xd, p->R, y);
    for (int i = 0; i < 3; i++) {
        swing[i] = y[i] + l[1][i];
        y[i] = a[3 + i] + l[2][i];
    }
    fa_cross_add(y, a, l[0]);
    fa_cross_add(y, V, swing);
    fa_rotate(t->Xdd, p->R, y);
}

/* rates in space of vectors that turn with the body: omega~, then
 * alpha~ + omega~ omega~; with those that J has in the body */
FA_INLINE void tg_node_rates(const tg_body *p, const fa_real *V, const fa_real *a,
                             fa_real J[3][9], tg_node *t)
{
    fa_real Z[3][9], W[3][9];

    memset(W, 0, sizeof W);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        W[0][4 * i] = fa_splat(1.0);
        W[1][3 * j + k] = -V[i];
        W[1][3 * k + j] = V[i];
        W[2][3 * j + k] = -a[i];
        W[2][3 * k + j] = a[i];
    }
    tg_cross_matrix_add(W[2], V, W[1]);
    memcpy(Z, J, sizeof Z);
    tg_cross_matrix_add(Z[1], V, J[0]);
    tg_cross_matrix_add(Z[2], a, J[0]);
    for (int i = 0; i < 9; i++) {
        J[1][i] += Z[1][i]; /* omega~ J + 2 dJ/dt */
    }
    tg_cross_matrix_add(Z[2], V, J[1]);
    for (int d = 0; d < 3; d++) {
        fa_mat_mul(t->A[d], p->R, Z[d]);
        fa_mat_mul(t->B[d], p->R, W[d]);
    }
}

/*
 * A node of the body p that its modes move (X3).
 *   V, a    twist and acceleration of p in its own axes
 *   motion  eta, etad, etadd [n]
 *   w       receives place and turn of the node
 */
FA_NOINLINE void tg_node_at(const fa_node *node, const int n,
                            const fa_real *const motion[3], const tg_body *p,
                            const fa_real *V, const fa_real *a, tg_body *w, tg_node *t)
{
    fa_real l[3][3], phi[3][3], J[3][9];

    tg_node_motion(node, n, motion, l, phi);
    tg_node_turn(node, phi, w, J);
    tg_node_place(l, p, V, a, w, t);
    tg_node_rates(p, V, a, J, t);
}

/* y = M c with constants c of the model */
FA_INLINE void tg_times(fa_real *restrict y, const fa_real *M, const double *c)
{
    for (int i = 0; i < 3; i++) {
        y[i] = M[3 * i] * c[0] + M[3 * i + 1] * c[1] + M[3 * i + 2] * c[2];
    }
}

/* what gamma_s = gamma + kappa eta and its rates add to the screw of mode s */
FA_NOINLINE void tg_second_screw(const fa_node *node, const int n, int s,
                                 const fa_real *const motion[3], const tg_node *t,
                                 tg_screw *k)
{
    fa_real g[3][3], y[3];

    for (int d = 0; d < 3; d++) {
        fa_zero(g[d], 3);
        node_second_column(node, n, s, motion[d], g[d]);
    }
    fa_rotate(y, t->B[0], g[0]);
    for (int i = 0; i < 3; i++) {
        k->J[3 + i] += y[i];
    }
    fa_rotate(y, t->B[1], g[0]);
    for (int i = 0; i < 3; i++) {
        k->P[3 + i] += y[i];
    }
    fa_rotate(y, t->B[0], g[1]);
    for (int i = 0; i < 3; i++) {
        k->P[3 + i] += y[i];
    }
    fa_rotate(y, t->B[2], g[0]);
    for (int i = 0; i < 3; i++) {
        k->Q[3 + i] += y[i];
    }
    fa_rotate(y, t->B[1], g[1]);
    for (int i = 0; i < 3; i++) {
        k->Q[3 + i] += 2.0 * y[i];
    }
    fa_rotate(y, t->B[0], g[2]);
    for (int i = 0; i < 3; i++) {
        k->Q[3 + i] += y[i];
    }
}

/* screws of the modes of a node, reversed (sign -1) where it carries the body (X3) */
FA_INLINE void tg_mode_screws(const fa_node *node, const int n, const double sign,
                              const fa_real *const motion[3], const tg_body *w,
                              const tg_node *t, tg_screw *screws)
{
    for (int s = 0; s < n; s++) {
        const double lambda[3] = {sign * node->lambda[3 * s],
                                  sign * node->lambda[3 * s + 1],
                                  sign * node->lambda[3 * s + 2]};
        const double gamma[3] = {sign * node->gamma[3 * s],
                                 sign * node->gamma[3 * s + 1],
                                 sign * node->gamma[3 * s + 2]};
        tg_screw *k = screws + s;
        fa_real twice[3];

        tg_times(k->J, t->A[0], lambda);
        tg_times(k->P, t->A[1], lambda);
        tg_times(k->Q, t->A[2], lambda);
        tg_times(k->J + 3, t->B[0], gamma);
        tg_times(k->P + 3, t->B[1], gamma);
        tg_times(k->Q + 3, t->B[2], gamma);
        if (node->kappa) { /* of nodes that do not carry their body */
            tg_second_screw(node, n, s, motion, t, k);
        }
        for (int i = 0; i < 3; i++) {
            twice[i] = 2.0 * k->P[i];
        }
        fa_cross_add(k->J + 3, w->X, k->J);
        fa_cross_add(k->P + 3, t->Xd, k->J);
        fa_cross_add(k->P + 3, w->X, k->P);
        fa_cross_add(k->Q + 3, t->Xdd, k->J);
        fa_cross_add(k->Q + 3, t->Xd, twice);
        fa_cross_add(k->Q + 3, w->X, k->Q);
        for (int i = 0; i < 6; i++) {
            k->T[i] = 2.0 * k->P[i];
        }
    }
}

/* J of all freedoms of a joint */
FA_INLINE void tg_joint_lift(const fa_body *b, const tg_body *w, tg_screw *screws)
{
    for (int j = 0; j < b->n_dof; j++) {
        fa_real *J = screws[j].J;
        if (b->wide) {
            fa_real S[6];
            joint_screw(b, j, S);
            tg_lift(w, S, J);
        } else {
            const int turns = b->joint == FA_JOINT_REVOLUTE;
            for (int i = 0; i < 3; i++) {
                J[3 + i] = w->R[3 * i + 2];
            }
            fa_zero(J, 3);
            if (turns) {
                memcpy(J, J + 3, 3 * sizeof *J);
                fa_cross(J + 3, w->x, J);
            }
        }
    }
}

/* sum of J times rates of a joint */
FA_INLINE void tg_joint_sum(const fa_body *b, const tg_screw *screws,
                            const fa_real *rates, fa_real *y)
{
    fa_zero(y, 6);
    for (int j = 0; j < b->n_dof; j++) {
        for (int i = 0; i < 6; i++) {
            y[i] += screws[j].J[i] * rates[j];
        }
    }
}

/* screws of a joint (X4); qd, qdd of its freedoms */
FA_INLINE void tg_joint_screws(const fa_body *b, const fa_real *qd, const fa_real *qdd,
                               const tg_body *w, tg_screw *screws)
{
    fa_real v[6], a[6], rate[6], push[6];

    tg_joint_lift(b, w, screws);
    memcpy(v, w->v, sizeof v);
    memcpy(a, w->a, sizeof a);
    if (b->n_dof > 1) {
        tg_joint_sum(b, screws, qd, rate);
        tg_joint_sum(b, screws, qdd, push);
        tg_cross_add(push, w->v, rate);
        for (int i = 0; i < 6; i++) {
            v[i] -= rate[i];
            a[i] -= push[i];
        }
    }
    for (int j = 0; j < b->n_dof; j++) {
        tg_screw *k = screws + j;
        tg_cross(k->P, v, k->J);
        tg_cross(k->Q, a, k->J);
        tg_cross_add(k->Q, v, k->P);
        if (b->n_dof > 1) {
            tg_cross(k->T, w->v, k->J);
        } else {
            memcpy(k->T, k->P, sizeof k->T);
        }
        for (int i = 0; i < 6; i++) {
            k->T[i] += k->P[i];
        }
    }
}

#endif
