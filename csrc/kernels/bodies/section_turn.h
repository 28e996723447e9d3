/*
 * section_turn.h -- rotation of a section of a straight beam that bends to third order (U1)
 *
 * Equations   s = lambda eta = s_b + theta e, sigma = s_b.s_b,
 *             phi = s_b G + e H + 1/2 theta s_b x e,
 *             G = 1 + sigma/6 + 3/40 sigma^2 - theta^2/12, H = theta (1 - sigma/12)  (U1)
 *             The transverse displacement of such a beam is linear in its coordinates, and
 *             s_b the sine of the angle of its tangent. Of other bodies phi = s.
 * Checked by  tests/beams/test_strain_energy.py
 */
#ifndef FA_SECTION_TURN_H
#define FA_SECTION_TURN_H

#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/layout.h"

/* a state: e, s_b and theta */
typedef struct {
    const fa_constant *axis; /* NULL: phi = s */
    fa_real s[3], theta;
} section_state;

/* a direction: its parts across and along e, s_b.a and DG[a] */
typedef struct {
    fa_real a[3], theta, along, G;
} section_step;

/* y += weight a x e */
FA_INLINE void section_beside_add(const section_state *c, fa_real weight,
                                  const fa_real *a, fa_real *y)
{
    const fa_constant *e = c->axis;
    y[0] += weight * (e[2] * a[1] - e[1] * a[2]);
    y[1] += weight * (e[0] * a[2] - e[2] * a[0]);
    y[2] += weight * (e[1] * a[0] - e[0] * a[1]);
}

FA_INLINE fa_real section_split(const fa_constant *e, const fa_real *s, fa_real *across)
{
    const fa_real theta = e[0] * s[0] + e[1] * s[1] + e[2] * s[2];
    for (int i = 0; i < 3; i++) {
        across[i] = s[i] - e[i] * theta;
    }
    return theta;
}

FA_INLINE fa_real section_G(const section_state *c, fa_real sigma)
{
    return 1.0 + sigma * (1.0 / 6.0 + 0.075 * sigma) -
           (1.0 / 12.0) * (c->theta * c->theta);
}

/* phi in place of s */
FA_INLINE void section_start(const fa_constant *axis, section_state *c, fa_real *phi)
{
    c->axis = axis;
    c->theta = section_split(axis, phi, c->s);
    const fa_real sigma = fa_dot(c->s, c->s), G = section_G(c, sigma);
    const fa_real H = c->theta * (1.0 - (1.0 / 12.0) * sigma);
    for (int i = 0; i < 3; i++) {
        phi[i] = c->s[i] * G + axis[i] * H;
    }
    section_beside_add(c, 0.5 * c->theta, c->s, phi);
}

FA_INLINE void section_along(const section_state *c, const fa_real *a, section_step *d)
{
    const fa_real sigma = fa_dot(c->s, c->s);
    d->theta = section_split(c->axis, a, d->a);
    d->along = fa_dot(c->s, d->a);
    d->G = (1.0 / 3.0 + 0.3 * sigma) * d->along - (1.0 / 6.0) * (c->theta * d->theta);
}

/* y = Dphi[a] */
FA_INLINE void section_first(const section_state *c, const section_step *d, fa_real *y)
{
    const fa_real sigma = fa_dot(c->s, c->s), G = section_G(c, sigma);
    const fa_real H =
        d->theta * (1.0 - (1.0 / 12.0) * sigma) - (1.0 / 6.0) * (c->theta * d->along);
    for (int i = 0; i < 3; i++) {
        y[i] = d->a[i] * G + c->s[i] * d->G + c->axis[i] * H;
    }
    section_beside_add(c, 0.5 * d->theta, c->s, y);
    section_beside_add(c, 0.5 * c->theta, d->a, y);
}

/* D2G[a, b] */
FA_INLINE fa_real section_G2(const section_state *c, const section_step *a,
                             const section_step *b)
{
    const fa_real sigma = fa_dot(c->s, c->s);
    return (1.0 / 3.0 + 0.3 * sigma) * fa_dot(a->a, b->a) +
           0.6 * (a->along * b->along) - (1.0 / 6.0) * (a->theta * b->theta);
}

/* y += D2phi[a, b] */
FA_INLINE void section_second_add(const section_state *c, const section_step *a,
                                  const section_step *b, fa_real *y)
{
    const fa_real G2 = section_G2(c, a, b);
    const fa_real H2 = (-1.0 / 6.0) * (a->theta * b->along + b->theta * a->along +
                                       c->theta * fa_dot(a->a, b->a));
    for (int i = 0; i < 3; i++) {
        y[i] += a->a[i] * b->G + b->a[i] * a->G + c->s[i] * G2 + c->axis[i] * H2;
    }
    section_beside_add(c, 0.5 * a->theta, b->a, y);
    section_beside_add(c, 0.5 * b->theta, a->a, y);
}

/* y += D3phi[a, b, b] */
FA_INLINE void section_third_add(const section_state *c, const section_step *a,
                                 const section_step *b, fa_real *y)
{
    const fa_real ab = fa_dot(a->a, b->a), bb = fa_dot(b->a, b->a);
    const fa_real Gab = 2.0 * section_G2(c, a, b), Gbb = section_G2(c, b, b);
    const fa_real G3 = 0.6 * (2.0 * ab * b->along + bb * a->along);
    const fa_real H3 = (-1.0 / 6.0) * (a->theta * bb + 2.0 * (b->theta * ab));
    for (int i = 0; i < 3; i++) {
        y[i] += a->a[i] * Gbb + b->a[i] * Gab + c->s[i] * G3 + c->axis[i] * H3;
    }
}

/* step of a unit of component i */
FA_INLINE void section_unit(const section_state *c, int i, section_step *d)
{
    fa_real unit[3];
    fa_zero(unit, 3);
    unit[i] = fa_splat(1.0);
    section_along(c, unit, d);
}

/* M = X Dphi, in place */
FA_INLINE void section_times(const section_state *c, fa_real *M)
{
    fa_real X[9], y[3], turned[3];
    section_step d;

    for (int i = 0; i < 9; i++) {
        X[i] = M[i];
    }
    for (int j = 0; j < 3; j++) {
        section_unit(c, j, &d);
        section_first(c, &d, y);
        fa_rotate(turned, X, y);
        for (int i = 0; i < 3; i++) {
            M[3 * i + j] = turned[i];
        }
    }
}

#endif
