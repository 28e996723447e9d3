/*
 * screw_error.h -- the screw from a pose to its target, and how it changes
 *
 * Equations   E = pose^-1 target = (R, p), e = log E = (phi; v),
 *             phi by the quaternion of R, v = J^-1 p with the left Jacobian of SO(3)
 *                 J^-1 = 1 - 1/2 phi~ + b phi~^2, b = (1 - h cot h) / phi.phi,
 *                 h = |phi| / 2                                                  (S1)
 *             a twist x of the pose, in its own axes, takes E to exp(-x) E:
 *                 d phi = -J^-1 x_w,  d p = p~ x_w - x_v,  d v = N d phi + J^-1 d p,
 *                 N = 1/2 p~ - b ((phi x p)~ + phi~ p~) + 2 b' (phi x (phi x p)) phi'
 *                                                                                (S2)
 *             so -de/dx = [[A, 0], [B, A]], A = J^-1, B = N A - A p~, which is the
 *             inverse of the left Jacobian of SE(3).
 * Lanes       one error each; at half a turn either of the two logarithms.
 * Source      A. Mueller, Multibody System Dynamics 43, 2018, app. A; the arc tangent
 *             is that of S. Moshier, Methods and Programs for Mathematical Functions,
 *             Prentice Hall, 1989.
 * Checked by  tests/test_inverse_kinematics.py: SciPy's logarithm, quadratic convergence.
 */
#ifndef FA_SCREW_ERROR_H
#define FA_SCREW_ERROR_H

#include "../fa_spatial.h"

typedef struct {
    fa_real e[6];       /* phi, v */
    fa_real A[9], B[9]; /* S2 */
} fa_screw_error;

FA_INLINE fa_real se_sqrt(fa_real x)
{
    for (int w = 0; w < FA_LANES; w++) {
        x[w] = sqrt(x[w]);
    }
    return x;
}

/* the angle of (c, s) in the first quadrant */
FA_INLINE fa_real se_angle(fa_real s, fa_real c)
{
    const fa_mask steep = s > c;
    const fa_real ratio = fa_select(steep, c, s) / fa_select(steep, s, c);
    const fa_mask upper = ratio > 0.66;
    const fa_real x = fa_select(upper, (ratio - 1.0) / (ratio + 1.0), ratio);
    const fa_real z = x * x;
    fa_real p = fa_splat(-8.750608600031904122785e-1), q = z;

    p = p * z - 1.615753718733365076637e1;
    p = p * z - 7.500855792314704667340e1;
    p = p * z - 1.228866684490136173410e2;
    p = p * z - 6.485021904942025371773e1;
    q = q + 2.485846490142306297962e1;
    q = q * z + 1.650270098316988542046e2;
    q = q * z + 4.328810604912902668951e2;
    q = q * z + 4.853903996359136964868e2;
    q = q * z + 1.945506571482613964425e2;
    const fa_real angle = x + x * z * p / q;
    const fa_real whole = fa_select(upper, angle + 7.85398163397448309616e-1, angle);
    return fa_select(steep, 1.57079632679489661923 - whole, whole);
}

/* unit quaternion (w, x, y, z), w >= 0, of a rotation, by its largest entry */
FA_INLINE void se_quaternion(const fa_real *R, fa_real *e)
{
    const fa_real x = R[7] - R[5], y = R[2] - R[6], z = R[3] - R[1];
    const fa_real xy = R[1] + R[3], xz = R[2] + R[6], yz = R[5] + R[7];
    const fa_real rows[4][4] = {{1.0 + R[0] + R[4] + R[8], x, y, z},
                                {x, 1.0 + R[0] - R[4] - R[8], xy, xz},
                                {y, xy, 1.0 - R[0] + R[4] - R[8], yz},
                                {z, xz, yz, 1.0 - R[0] - R[4] + R[8]}};
    fa_real largest = rows[0][0], norm = {0};

    memcpy(e, rows[0], 4 * sizeof *e);
    for (int k = 1; k < 4; k++) {
        const fa_mask larger = rows[k][k] > largest;
        largest = fa_select(larger, rows[k][k], largest);
        for (int i = 0; i < 4; i++) {
            e[i] = fa_select(larger, rows[k][i], e[i]);
        }
    }
    for (int i = 0; i < 4; i++) {
        norm += e[i] * e[i];
    }
    norm = 1.0 / se_sqrt(norm);
    norm = fa_select(e[0] < 0.0, -norm, norm);
    for (int i = 0; i < 4; i++) {
        e[i] *= norm;
    }
}

/*
 * phi, and b and b' at x = phi.phi (S1).
 *   R  [9]
 */
FA_INLINE void se_rotation(const fa_real *R, fa_real *phi, fa_real *b, fa_real *b_rate)
{
    fa_real e[4];

    se_quaternion(R, e);
    const fa_real s = se_sqrt(fa_dot(e + 1, e + 1)), c = e[0];
    const fa_real h = se_angle(s, c), x = 4.0 * h * h;
    const fa_mask tiny = s < 1e-150;
    const fa_real safe = fa_select(tiny, fa_splat(1.0), s);
    const fa_real factor = fa_select(tiny, 2.0 / c, 2.0 * h / safe);

    for (int i = 0; i < 3; i++) {
        phi[i] = factor * e[1 + i];
    }
    /* sum of |B_2n| x^(n-1) / (2n)!, and its derivative, up to 0.3 */
    fa_real p = fa_splat(3617.0 / 10670622842880000.0), r = 7.0 * p;
    p = p * x + 1.0 / 74724249600.0;
    r = r * x + 6.0 / 74724249600.0;
    p = p * x + 691.0 / 1307674368000.0;
    r = r * x + 5.0 * 691.0 / 1307674368000.0;
    p = p * x + 1.0 / 47900160.0;
    r = r * x + 4.0 / 47900160.0;
    p = p * x + 1.0 / 1209600.0;
    r = r * x + 3.0 / 1209600.0;
    p = p * x + 1.0 / 30240.0;
    r = r * x + 2.0 / 30240.0;
    p = p * x + 1.0 / 720.0;
    r = r * x + 1.0 / 720.0;
    p = p * x + 1.0 / 12.0;
    const fa_mask small = x < 0.3;
    const fa_real x1 = fa_select(small, fa_splat(1.0), x);
    const fa_real s1 = fa_select(small, fa_splat(1.0), s);
    const fa_real h1 = fa_select(small, fa_splat(1.0), h);
    const fa_real closed = (1.0 - h1 * c / s1) / x1;
    *b = fa_select(small, p, closed);
    *b_rate =
        fa_select(small, r, (0.125 / (s1 * s1) - 0.125 * c / (h1 * s1) - closed) / x1);
}

/*
 * The error of a pose and its rates (S1, S2).
 *   R, x    [9], [3]  pose
 *   target  [12]  rotation by rows, then the position
 */
FA_INLINE void se_error(const fa_real *R, const fa_real *x, const fa_real *target,
                        fa_screw_error *s)
{
    fa_real E[9], d[3], p[3], once[3], twice[3], b, b_rate, N[9];
    fa_real *phi = s->e;

    for (int i = 0; i < 3; i++) {
        d[i] = target[9 + i] - x[i];
        for (int j = 0; j < 3; j++) {
            E[3 * i + j] =
                R[i] * target[j] + R[3 + i] * target[3 + j] + R[6 + i] * target[6 + j];
        }
    }
    fa_rotate_t(p, R, d);
    se_rotation(E, phi, &b, &b_rate);
    fa_cross(once, phi, p);
    fa_cross(twice, phi, once);
    const fa_real square = fa_dot(phi, phi), along = fa_dot(phi, p);
    for (int i = 0; i < 3; i++) {
        s->e[3 + i] = p[i] - 0.5 * once[i] + b * twice[i];
        for (int j = 0; j < 3; j++) {
            /* phi~ p~ = p phi' - phi.p, and phi~^2 likewise */
            s->A[3 * i + j] = b * phi[i] * phi[j];
            N[3 * i + j] = 2.0 * b_rate * twice[i] * phi[j] - b * p[i] * phi[j];
        }
        s->A[4 * i] += 1.0 - b * square;
        N[4 * i] += b * along;
    }
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3; /* v~ has v_i at (k, j) */
        const fa_real v = 0.5 * p[i] - b * once[i];
        s->A[3 * k + j] -= 0.5 * phi[i];
        s->A[3 * j + k] += 0.5 * phi[i];
        N[3 * k + j] += v;
        N[3 * j + k] -= v;
    }
    fa_mat_mul(s->B, N, s->A);
    for (int i = 0; i < 3; i++) { /* rows of A p~ */
        fa_cross_add(s->B + 3 * i, p, s->A + 3 * i);
    }
}

/* the same for a target without orientation: it turns with the node */
FA_INLINE void se_error_of_place(const fa_real *R, const fa_real *x,
                                 const fa_real *target, fa_screw_error *s)
{
    const fa_real zero = {0}, one = fa_splat(1.0);
    const fa_real unit[9] = {one, zero, zero, zero, one, zero, zero, zero, one};
    fa_real d[3], *p = s->e + 3;

    for (int i = 0; i < 3; i++) {
        d[i] = target[9 + i] - x[i];
    }
    fa_rotate_t(p, R, d);
    fa_zero(s->e, 3);
    memcpy(s->A, unit, sizeof unit);
    const fa_real cross[9] = {zero, p[2], -p[1], -p[2], zero, p[0], p[1], -p[0], zero};
    memcpy(s->B, cross, sizeof cross);
}

#endif
