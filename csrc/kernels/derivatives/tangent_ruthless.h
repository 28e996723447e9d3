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
 * Checked by  tests/derivatives/test_derivatives.py: differences.
 */
#ifndef FA_TANGENT_RUTHLESS_H
#define FA_TANGENT_RUTHLESS_H

#include "kernels/derivatives/tangent_body.h"
#include "kernels/derivatives/tangent_hop.h"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/kinds.h"
#include "model/layout.h"

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

/* rates in a hop, at the origin of the child: motion of its modes and of its joint */
typedef struct {
    fa_real node[6], u[3];    /* (w; u about the origin of the base), u at the child */
    fa_real rate[6], push[6]; /* J qd, J qdd */
    fa_real omega_p[3], v_k[3], e[3];
} tg_ruthless;

FA_INLINE void tg_ruthless_rates(const int n, const fa_real *etad, const tg_body *p,
                                 const tg_body *w, const tg_screw *modes,
                                 tg_ruthless *r)
{
    fa_zero(r->omega_p, 3);
    if (p) {
        memcpy(r->omega_p, p->v, sizeof r->omega_p);
    }
    fa_zero(r->node, 6);
    for (int s = 0; s < n; s++) {
        for (int i = 0; i < 6; i++) {
            r->node[i] += modes[s].J[i] * etad[s];
        }
    }
    tg_at(r->node, w->x, r->u);
    tg_at(w->v, w->x, r->v_k);
    fa_cross(r->e, r->u, r->omega_p);
    fa_cross_add(r->e, r->v_k, r->node);
}

/* L: that of the parent, z x J qd, and -(0; z_w x u + w x (z at the child)) */
FA_INLINE void tg_ruthless_carried(const tg_ruthless *r, const fa_real *L_p,
                                   const tg_body *w, fa_real *L)
{
    fa_real own[36], y[3];

    tg_carried(r->rate, own);
    for (int i = 0; i < 36; i++) {
        L[i] = own[i] + (L_p ? L_p[i] : (fa_real){0});
    }
    for (int j = 0; j < 6; j++) {
        fa_real unit[6], place[3];
        fa_zero(unit, 6);
        unit[j] = fa_splat(1.0);
        tg_at(unit, w->x, place);
        fa_cross(y, r->u, unit);
        fa_cross_add(y, place, r->node);
        for (int i = 0; i < 3; i++) {
            L[6 * (3 + i) + j] += y[i];
        }
    }
}

/* T of a mode, which has rates alone */
FA_INLINE void tg_ruthless_mode(const tg_ruthless *r, const tg_body *w,
                                const fa_real *L, tg_screw *k)
{
    fa_real y[3], change[6];

    tg_at(k->J, w->x, y);
    tg_cross(k->T, k->J, r->rate);
    tg_times6(L, k->J, change);
    fa_cross_add(k->T + 3, y, r->omega_p);
    fa_cross_add(k->T + 3, r->v_k, k->J);
    fa_cross_add(k->T + 3, y, r->node);
    for (int i = 0; i < 6; i++) {
        k->T[i] -= change[i];
    }
}

/* P, Q and T of a freedom of the joint; v_o and `before`: v and a without what it adds */
FA_INLINE void tg_ruthless_joint(const tg_ruthless *r, const tg_body *w,
                                 const fa_real *v_o, const fa_real *before,
                                 const fa_real *L, tg_screw *k)
{
    fa_real moved[6], du[3], dv[3], place[3], swing[3], change[6];

    tg_cross(k->P, v_o, k->J);
    tg_at(k->J, w->x, place);
    fa_cross(du, r->node, place);
    tg_cross(moved, k->J, w->v);
    for (int i = 0; i < 6; i++) {
        moved[i] += k->P[i];
    }
    tg_at(moved, w->x, dv);
    fa_cross_add(dv, w->v, place);
    tg_cross(k->Q, before, k->J);
    tg_cross_add(k->Q, k->P, r->rate);
    fa_cross_add(k->Q + 3, du, r->omega_p);
    fa_cross_add(k->Q + 3, dv, r->node);
    fa_cross_add(k->Q + 3, r->e, k->J);
    tg_times6(L, k->P, change);
    for (int i = 0; i < 6; i++) {
        k->Q[i] -= change[i];
    }
    tg_cross(k->T, k->J, r->rate);
    tg_cross_add(k->T, w->v, k->J);
    fa_cross(swing, place, r->node);
    tg_times6(L, k->J, change);
    for (int i = 0; i < 6; i++) {
        k->T[i] += (i < 3 ? (fa_real){0} : swing[i % 3]) - change[i];
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
    tg_ruthless r;
    fa_real before[6], v_o[6];

    tg_ruthless_rates(n, etad, p, w, modes, &r);
    tg_joint_lift(b, w, joint);
    tg_joint_sum(b, joint, qd, r.rate);
    tg_joint_sum(b, joint, qdd, r.push);
    tg_ruthless_carried(&r, L_p, w, L);
    for (int s = 0; s < n; s++) {
        tg_ruthless_mode(&r, w, L, modes + s);
    }
    /* as in X4, with e */
    tg_cross_add(r.push, w->v, r.rate);
    for (int i = 0; i < 6; i++) {
        before[i] = w->a[i] - r.push[i] - (i < 3 ? (fa_real){0} : r.e[i % 3]);
        v_o[i] = w->v[i] - r.rate[i];
    }
    for (int j = 0; j < b->n_dof; j++) {
        tg_ruthless_joint(&r, w, v_o, before, L, joint + j);
    }
}

#endif
