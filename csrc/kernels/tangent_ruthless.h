/*
 * tangent_ruthless.h -- screws of the hops of a ruthless model (X11)
 *
 * Equations   modes have rates and no displacement, so that their P and Q vanish, and
 *             the acceleration of a child lacks terms of these rates (hop_ruthless):
 *                 a = a_p + J etadd + v x J qd + J qdd + (0; e),
 *                 e = -(omega_p x u + w x v_k), (w; u) = (Lambda; U) etad
 *             Carried along, z being Dv of all that is outboard, bodies have
 *             Da = zd + L z with the sum over the hops inboard of them
 *                 L z = z x J qd - (0; z_w x u + w x (z at the child))          (X11)
 *             The screws follow as differences of a: Q = Da - L P, T = da - L J.
 * Source      Jain and Rodriguez, US patent 5,546,508, eq. 75.
 * Checked by  tests/test_derivatives.py: differences.
 */
#ifndef FA_TANGENT_RUTHLESS_H
#define FA_TANGENT_RUTHLESS_H

#include "tangent_body.h"

/* L of a full model: L z = z x v */
FA_INLINE void tg_carried(const fa_real *v, fa_real *L)
{
    fa_zero(L, 36);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        for (int half = 0; half < 2; half++) {
            L[6 * (3 * half + j) + 3 * half + k] = v[i];
            L[6 * (3 * half + k) + 3 * half + j] = -v[i];
        }
        L[6 * (3 + j) + k] = v[3 + i];
        L[6 * (3 + k) + j] = -v[3 + i];
    }
}

/* J of the modes of a hop of a ruthless model, from Lambda and U of inverse dynamics */
FA_INLINE void tg_ruthless_modes(const fa_body *b, const int n, const fa_real *columns,
                                 const tg_body *p, const tg_body *w, tg_screw *modes)
{
    const int floats = b->joint == FA_JOINT_FLOATING;

    for (int s = 0; s < n; s++) {
        tg_screw *k = modes + s;
        memset(k, 0, sizeof *k);
        fa_rotate(k->J, floats ? w->R : p->R, columns + 3 * s);
        fa_rotate(k->J + 3, floats ? w->R : p->R, columns + 3 * (n + s));
        fa_cross_add(k->J + 3, w->x, k->J);
        for (int i = 0; i < 6 && floats; i++) {
            k->J[i] = -k->J[i];
        }
    }
}

/*
 * Screws of a hop, and L of its child.
 *   etad     [n] rates of the modes of this hop
 *   p, L_p   the parent, NULL on the ground
 *   modes    [n] J given, P and Q zero; T is set
 */
FA_NOINLINE void tg_ruthless_screws(const fa_body *b, const int n, const fa_real *qd,
                                    const fa_real *qdd, const fa_real *etad,
                                    const tg_body *p, const fa_real *L_p,
                                    const tg_body *w, tg_screw *modes, tg_screw *joint,
                                    fa_real *L)
{
    fa_real rest[3], rate[6], push[6], node[6], u[3], e[3], v_k[3], own[36], y[3],
        change[6];

    fa_zero(rest, 3);
    const fa_real *omega_p = p ? p->v : rest;

    /* w and u at the origin of the child */
    fa_zero(node, 6);
    for (int s = 0; s < n; s++) {
        for (int i = 0; i < 6; i++) {
            node[i] += modes[s].J[i] * etad[s];
        }
    }
    tg_at(node, w->x, u);
    tg_at(w->v, w->x, v_k);
    fa_cross(e, u, omega_p);
    fa_cross_add(e, v_k, node);

    /* L: that of the parent, z x J qd, and -(0; z_w x u + w x (z at x)) */
    tg_joint_lift(b, w, joint);
    tg_joint_sum(b, joint, qd, rate);
    tg_joint_sum(b, joint, qdd, push);
    tg_carried(rate, own);
    for (int i = 0; i < 36; i++) {
        L[i] = own[i] + (L_p ? L_p[i] : (fa_real){0});
    }
    for (int j = 0; j < 6; j++) {
        fa_real unit[6], place[3];
        fa_zero(unit, 6);
        unit[j] = fa_splat(1.0);
        tg_at(unit, w->x, place);
        fa_cross(y, u, unit);
        fa_cross_add(y, place, node);
        for (int i = 0; i < 3; i++) {
            L[6 * (3 + i) + j] += y[i];
        }
    }

    /* modes: rates alone */
    for (int s = 0; s < n; s++) {
        tg_screw *k = modes + s;
        tg_at(k->J, w->x, y);
        tg_cross(k->T, k->J, rate);
        tg_times6(L, k->J, change);
        fa_cross_add(k->T + 3, y, omega_p);
        fa_cross_add(k->T + 3, v_k, k->J);
        fa_cross_add(k->T + 3, y, node);
        for (int i = 0; i < 6; i++) {
            k->T[i] -= change[i];
        }
    }

    /* joint: a without what it adds, then as in X4 with e */
    fa_real before[6], v_o[6];
    tg_cross_add(push, w->v, rate);
    for (int i = 0; i < 6; i++) {
        before[i] = w->a[i] - push[i] - (i < 3 ? (fa_real){0} : e[i % 3]);
        v_o[i] = w->v[i] - rate[i];
    }
    for (int j = 0; j < b->n_dof; j++) {
        tg_screw *k = joint + j;
        fa_real moved[6], du[3], dv[3], place[3], swing[3];

        tg_cross(k->P, v_o, k->J);
        tg_at(k->J, w->x, place);
        fa_cross(du, node, place);
        tg_cross(moved, k->J, w->v);
        for (int i = 0; i < 6; i++) {
            moved[i] += k->P[i];
        }
        tg_at(moved, w->x, dv);
        fa_cross_add(dv, w->v, place);
        tg_cross(k->Q, before, k->J);
        tg_cross_add(k->Q, k->P, rate);
        fa_cross_add(k->Q + 3, du, omega_p);
        fa_cross_add(k->Q + 3, dv, node);
        fa_cross_add(k->Q + 3, e, k->J);
        tg_times6(L, k->P, change);
        for (int i = 0; i < 6; i++) {
            k->Q[i] -= change[i];
        }
        tg_cross(k->T, k->J, rate);
        tg_cross_add(k->T, w->v, k->J);
        fa_cross(swing, place, node);
        tg_times6(L, k->J, change);
        for (int i = 0; i < 6; i++) {
            k->T[i] += (i < 3 ? (fa_real){0} : swing[i % 3]) - change[i];
        }
    }
}

#endif
