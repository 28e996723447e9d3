/*
 * lie.h -- SO(3), SE(3) and their exponential, logarithm and Jacobians on lanes
 *
 * Stumpff     c_0 .. c_9 at x = phi.phi: one alternating series for c_8 and c_9 that
 *             holds from 0 to 10 > pi^2, then c_k = 1/k! - x c_(k+2) downward in k.
 *             Rotations up to a half turn therefore meet no join at all. Above 10 a
 *             lane takes closed forms from libm.
 * SO(3)       R = I + c1 phi~ + c2 phi~^2                                        (E1)
 *             J = I + c2 phi~ + c3 phi~^2,  d/dt R = (J phidot)~ R               (E2)
 *             J^-1 = I - 1/2 phi~ + k phi~^2,  k = (c3 - 2 c4) / (2 c2)          (E3)
 *             DJ[a]: derivative of J along a, with dc_k/dx = (k c_(k+2) - c_(k+1))/2,
 *             D2J[a, b]: second derivative along a and b                         (E4)
 * SE(3)       is SO(3) over the dual numbers: phi + eps v in place of phi gives
 *             C = (R, J v),  J6 = [[J, 0], [DJ[v], J]]                           (E5)
 *             and derivatives along (a; b)
 *             [[DJ[a], 0], [D2J[v, a] + DJ[b], DJ[a]]]                           (E6)
 *             Blocks [[A, 0], [B, A]] are kept as the pair A + eps B (lie_pair).
 * Logarithm   quaternion by its largest entry, phi = v 2 atan2(|v|, w) / |v|     (E7)
 * Right       J_right(X) = J(-X): callers negate.
 * Source      A. Mueller, Multibody System Dynamics 43, 2018, appendix A; k without
 *             cancellation and E6 from dc_k/dx; atan by fdlibm (s_atan.c; Sun
 *             Microsystems, 1993).
 * Checked by  tests/c/test_lie.c, tests/se3/test_se3.py (50 digits).
 */
#ifndef FA_LIE_H
#define FA_LIE_H

#include "calls/maps.h"
#include "kernels/bodies/node.h"
#include "lanes/lane.h"
#include "lanes/spatial.h"

/* A + eps B, 3 x 3 matrices by rows */
typedef struct {
    fa_real A[9], B[9];
} lie_pair;

/* the series holds below; above pi^2 */
#define LIE_SERIES 10.0

/* c_0 .. c_9, and k of E3 */
typedef struct {
    fa_real c[10], k;
} lie_stumpff;

/* closed forms for lanes beyond a half turn */
static __attribute__((noinline, unused)) void lie_stumpff_large(fa_real x,
                                                                fa_mask large,
                                                                lie_stumpff *f)
{
    static const double inverse_factorial[8] = {1.0,         1.0,         1.0 / 2.0,
                                                1.0 / 6.0,   1.0 / 24.0,  1.0 / 120.0,
                                                1.0 / 720.0, 1.0 / 5040.0};

    for (int w = 0; w < FA_LANES; w++) {
        if (large[w]) {
            const double t = sqrt(x[w]), half = sin(0.5 * t);
            double c[10];
            c[0] = cos(t);
            c[1] = sin(t) / t;
            c[2] = 2.0 * half * half / x[w]; /* 1 - cos t would cancel near 2 pi */
            for (int k = 3; k < 10; k++) {
                c[k] = (inverse_factorial[k - 2] - c[k - 2]) / x[w];
            }
            for (int k = 0; k < 10; k++) {
                f->c[k][w] = c[k];
            }
            f->k[w] = (2.0 * c[2] - c[1]) / (2.0 * c[2] * x[w]);
        }
    }
}

FA_INLINE void lie_stumpff_at(fa_real x, lie_stumpff *f)
{
    fa_real p, q;

    /* (2 i + 8)! and (2 i + 9)!, twelve powers of x */
    p = fa_splat(-1.0 / 265252859812191058636308480000000.0);
    p = p * x + 1.0 / 304888344611713860501504000000.0;
    p = p * x - 1.0 / 403291461126605635584000000.0;
    p = p * x + 1.0 / 620448401733239439360000.0;
    p = p * x - 1.0 / 1124000727777607680000.0;
    p = p * x + 1.0 / 2432902008176640000.0;
    p = p * x - 1.0 / 6402373705728000.0;
    p = p * x + 1.0 / 20922789888000.0;
    p = p * x - 1.0 / 87178291200.0;
    p = p * x + 1.0 / 479001600.0;
    p = p * x - 1.0 / 3628800.0;
    f->c[8] = p * x + 1.0 / 40320.0;
    q = fa_splat(-1.0 / 8222838654177922817725562880000000.0);
    q = q * x + 1.0 / 8841761993739701954543616000000.0;
    q = q * x - 1.0 / 10888869450418352160768000000.0;
    q = q * x + 1.0 / 15511210043330985984000000.0;
    q = q * x - 1.0 / 25852016738884976640000.0;
    q = q * x + 1.0 / 51090942171709440000.0;
    q = q * x - 1.0 / 121645100408832000.0;
    q = q * x + 1.0 / 355687428096000.0;
    q = q * x - 1.0 / 1307674368000.0;
    q = q * x + 1.0 / 6227020800.0;
    q = q * x - 1.0 / 39916800.0;
    f->c[9] = q * x + 1.0 / 362880.0;
    f->c[6] = 1.0 / 720.0 - x * f->c[8];
    f->c[7] = 1.0 / 5040.0 - x * f->c[9];
    f->c[4] = 1.0 / 24.0 - x * f->c[6];
    f->c[5] = 1.0 / 120.0 - x * f->c[7];
    f->c[2] = 0.5 - x * f->c[4];
    f->c[3] = 1.0 / 6.0 - x * f->c[5];
    f->c[0] = 1.0 - x * f->c[2];
    f->c[1] = 1.0 - x * f->c[3];
    f->k = (f->c[3] - 2.0 * f->c[4]) / (2.0 * f->c[2]);

    const fa_mask large = x > LIE_SERIES;
    if (fa_any(large)) {
        lie_stumpff_large(x, large, f);
    }
}

FA_INLINE fa_real lie_sqrt(fa_real x)
{
    fa_real y = x;
    for (int w = 0; w < FA_LANES; w++) {
        y[w] = sqrt(x[w]);
    }
    return y;
}

FA_INLINE fa_real lie_abs(fa_real x)
{
    return fa_select(x < 0.0, -x, x);
}

FA_INLINE fa_real lie_max(fa_real a, fa_real b)
{
    return fa_select(a < b, b, a);
}

/* angle of the point (w, n) in the first quadrant; NaN at the origin */
FA_INLINE fa_real lie_atan2(fa_real n, fa_real w)
{
    static const double from[4] = {7.0 / 16.0, 11.0 / 16.0, 19.0 / 16.0, 39.0 / 16.0};
    static const double part[4] = {0.5, 1.0, 1.5, 0.0};
    static const double high[4] = {
        4.63647609000806093515e-01, 7.85398163397448278999e-01,
        9.82793723247329054082e-01, 1.57079632679489655800e+00};
    static const double low[4] = {
        2.26987774529616870924e-17, 3.06161699786838301793e-17,
        1.39033110312309984516e-17, 6.12323399573676603587e-17};
    fa_real c = {0}, hi = {0}, lo = {0};
    fa_mask turned = {0};

    /* subtract the angle whose tangent is c, or a right angle */
    for (int i = 0; i < 4; i++) {
        turned = n >= from[i] * w;
        c = fa_select(turned, fa_splat(part[i]), c);
        hi = fa_select(turned, fa_splat(high[i]), hi);
        lo = fa_select(turned, fa_splat(low[i]), lo);
    }
    const fa_real t =
        fa_select(turned, -w, n - c * w) / fa_select(turned, n, w + c * n);
    const fa_real z = t * t, y = z * z;

    fa_real odd = fa_splat(1.62858201153657823623e-02);
    odd = odd * y + 4.97687799461593236017e-02;
    odd = odd * y + 6.66107313738753120669e-02;
    odd = odd * y + 9.09088713343650656196e-02;
    odd = odd * y + 1.42857142725034663711e-01;
    odd = odd * y + 3.33333333333329318027e-01;
    fa_real even = fa_splat(-3.65315727442169155270e-02);
    even = even * y - 5.83357013379057348645e-02;
    even = even * y - 7.69187620504482999495e-02;
    even = even * y - 1.11111104054623557880e-01;
    even = even * y - 1.99999999998764832476e-01;
    return hi - ((t * (z * odd + y * even) - lo) - t);
}

/* Y = phi~ */
FA_INLINE void lie_hat(const fa_real *phi, fa_real *Y)
{
    Y[0] = Y[4] = Y[8] = (fa_real){0};
    Y[1] = -phi[2];
    Y[2] = phi[1];
    Y[3] = phi[2];
    Y[5] = -phi[0];
    Y[6] = -phi[1];
    Y[7] = phi[0];
}

/* Y = one I + odd a~ + even b~ c~ symmetrized, (b~ c~ + c~ b~) / 2 */
FA_INLINE void lie_polynomial(double one, fa_real odd, const fa_real *a, fa_real even,
                              const fa_real *b, const fa_real *c, fa_real *Y)
{
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const fa_real mixed = 0.5 * even * (b[i] * c[j] + b[j] * c[i]);
        Y[4 * i] = one - even * (b[j] * c[j] + b[k] * c[k]);
        Y[3 * i + j] = mixed - odd * a[k];
        Y[3 * j + i] = mixed + odd * a[k];
    }
}

/* Y += odd a~ + even (b~ c~ + c~ b~) / 2 */
FA_INLINE void lie_polynomial_add(fa_real odd, const fa_real *a, fa_real even,
                                  const fa_real *b, const fa_real *c, fa_real *Y)
{
    fa_real more[9];
    lie_polynomial(0.0, odd, a, even, b, c, more);
    for (int i = 0; i < 9; i++) {
        Y[i] += more[i];
    }
}

/* R of E1 */
FA_INLINE void lie_rotation(const lie_stumpff *f, const fa_real *phi, fa_real *R)
{
    lie_polynomial(1.0, f->c[1], phi, f->c[2], phi, phi, R);
}

/* J of E2 */
FA_INLINE void lie_jacobian(const lie_stumpff *f, const fa_real *phi, fa_real *J)
{
    lie_polynomial(1.0, f->c[2], phi, f->c[3], phi, phi, J);
}

/* J^-1 of E3 */
FA_INLINE void lie_jacobian_inverse(const lie_stumpff *f, const fa_real *phi,
                                    fa_real *J)
{
    lie_polynomial(1.0, fa_splat(-0.5), phi, f->k, phi, phi, J);
}

/* DJ[a] (E4) */
FA_INLINE void lie_jacobian_rate(const lie_stumpff *f, const fa_real *phi,
                                 const fa_real *a, fa_real *Y)
{
    const fa_real *c = f->c, rate = 2.0 * fa_dot(phi, a);
    const fa_real d2 = 0.5 * (2.0 * c[4] - c[3]), d3 = 0.5 * (3.0 * c[5] - c[4]);

    lie_polynomial(0.0, d2 * rate, phi, d3 * rate, phi, phi, Y);
    lie_polynomial_add(c[2], a, 2.0 * c[3], phi, a, Y);
}

/* D2J[a, b] (E4) */
FA_INLINE void lie_jacobian_second(const lie_stumpff *f, const fa_real *phi,
                                   const fa_real *a, const fa_real *b, fa_real *Y)
{
    const fa_real *c = f->c;
    const fa_real along_a = 2.0 * fa_dot(phi, a), along_b = 2.0 * fa_dot(phi, b);
    const fa_real both = 2.0 * fa_dot(a, b);
    const fa_real d2 = 0.5 * (2.0 * c[4] - c[3]), d3 = 0.5 * (3.0 * c[5] - c[4]);
    const fa_real dd2 = 0.25 * (c[4] - 5.0 * c[5] + 8.0 * c[6]);
    const fa_real dd3 = 0.25 * (c[5] - 7.0 * c[6] + 15.0 * c[7]);
    const fa_real square = along_a * along_b;

    lie_polynomial(0.0, dd2 * square + d2 * both, phi, dd3 * square + d3 * both, phi,
                   phi, Y);
    lie_polynomial_add(d2 * along_b, a, 2.0 * d3 * along_b, phi, a, Y);
    lie_polynomial_add(d2 * along_a, b, 2.0 * d3 * along_a, phi, b, Y);
    lie_polynomial_add((fa_real){0}, a, 2.0 * c[3], a, b, Y);
}

/* Y = X Z of pairs */
FA_INLINE void lie_pair_mul(lie_pair *restrict Y, const lie_pair *X, const lie_pair *Z)
{
    fa_real more[9];
    fa_mat_mul(Y->A, X->A, Z->A);
    fa_mat_mul(Y->B, X->A, Z->B);
    fa_mat_mul(more, X->B, Z->A);
    for (int i = 0; i < 9; i++) {
        Y->B[i] += more[i];
    }
}

/* J6 at X = (phi; v) (E5) */
FA_INLINE void lie_jacobian6(const lie_stumpff *f, const fa_real *X, lie_pair *J)
{
    lie_jacobian(f, X, J->A);
    lie_jacobian_rate(f, X, X + 3, J->B);
}

/* J6^-1 = [[J^-1, 0], [-J^-1 DJ[v] J^-1, J^-1]] */
FA_INLINE void lie_jacobian6_inverse(const lie_stumpff *f, const fa_real *X,
                                     lie_pair *J)
{
    fa_real rate[9], half[9];
    lie_jacobian_inverse(f, X, J->A);
    lie_jacobian_rate(f, X, X + 3, rate);
    fa_mat_mul(half, rate, J->A);
    fa_mat_mul(J->B, J->A, half);
    for (int i = 0; i < 9; i++) {
        J->B[i] = -J->B[i];
    }
}

/* derivative of J6 along U = (a; b) (E6) */
FA_INLINE void lie_jacobian6_rate(const lie_stumpff *f, const fa_real *X,
                                  const fa_real *U, lie_pair *D)
{
    fa_real more[9];
    lie_jacobian_rate(f, X, U, D->A);
    lie_jacobian_second(f, X, X + 3, U, D->B);
    lie_jacobian_rate(f, X, U + 3, more);
    for (int i = 0; i < 9; i++) {
        D->B[i] += more[i];
    }
}

/* derivative of J6^-1 along U: -J6^-1 DJ6 J6^-1 */
FA_INLINE void lie_jacobian6_inverse_rate(const lie_stumpff *f, const fa_real *X,
                                          const fa_real *U, lie_pair *D)
{
    lie_pair J, rate, half;
    lie_jacobian6_inverse(f, X, &J);
    lie_jacobian6_rate(f, X, U, &rate);
    lie_pair_mul(&half, &rate, &J);
    lie_pair_mul(D, &J, &half);
    for (int i = 0; i < 9; i++) {
        D->A[i] = -D->A[i];
        D->B[i] = -D->B[i];
    }
}

/* y = (A + eps B) x for a twist x */
FA_INLINE void lie_pair_apply(const lie_pair *P, const fa_real *x, fa_real *y)
{
    fa_real more[3];
    fa_rotate(y, P->A, x);
    fa_rotate(y + 3, P->A, x + 3);
    fa_rotate(more, P->B, x);
    for (int i = 0; i < 3; i++) {
        y[3 + i] += more[i];
    }
}

/* out [36] = [[A, 0], [B, A]] */
FA_INLINE void lie_pair_matrix(const lie_pair *P, fa_real *out)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            out[6 * i + j] = out[6 * i + 21 + j] = P->A[3 * i + j];
            out[6 * i + 18 + j] = P->B[3 * i + j];
            out[6 * i + 3 + j] = (fa_real){0};
        }
    }
}

/* set where R'R is the identity to the tolerance and the determinant is positive */
FA_INLINE fa_mask lie_is_rotation(const fa_real *R)
{
    fa_real normal[3], columns[9];

    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            columns[3 * i + j] = R[3 * j + i];
        }
    }
    fa_cross(normal, columns, columns + 3);
    fa_mask fine = fa_dot(normal, columns + 6) > 0.0;
    for (int i = 0; i < 3; i++) {
        for (int j = i; j < 3; j++) {
            const fa_real entry = fa_dot(columns + 3 * i, columns + 3 * j) - (i == j);
            fine &= lie_abs(entry) <= LIE_TOLERANCE; /* false for NaN */
        }
    }
    return fine;
}

/* rotation and position of a pose [16] */
FA_INLINE void lie_split(const fa_real *C, fa_hop *h)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            h->R[3 * i + j] = C[4 * i + j];
        }
        h->r[i] = C[4 * i + 3];
    }
}

/* the same, NaN where C is no pose */
FA_INLINE void lie_split_checked(const fa_real *C, fa_hop *h)
{
    fa_mask fine;

    lie_split(C, h);
    fine = lie_is_rotation(h->R);
    for (int j = 0; j < 4; j++) {
        fine &= lie_abs(C[12 + j] - (j == 3)) <= LIE_TOLERANCE;
    }
    for (int i = 0; i < 3; i++) {
        h->r[i] = fa_select(fine, h->r[i], fa_splat((double)NAN));
    }
    h->R[0] = fa_select(fine, h->R[0], fa_splat((double)NAN));
}

/* a pose [16] of rotation and position */
FA_INLINE void lie_join(const fa_hop *h, fa_real *C)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            C[4 * i + j] = h->R[3 * i + j];
        }
        C[4 * i + 3] = h->r[i];
        C[12 + i] = (fa_real){0};
    }
    C[15] = fa_splat(1.0);
}

/* h = a b */
FA_INLINE void lie_compose(const fa_hop *a, const fa_hop *b, fa_hop *h)
{
    fa_mat_mul(h->R, a->R, b->R);
    fa_rotate(h->r, a->R, b->r);
    for (int i = 0; i < 3; i++) {
        h->r[i] += a->r[i];
    }
}

FA_INLINE void lie_inverse(const fa_hop *a, fa_hop *h)
{
    fa_rotate_t(h->r, a->R, a->r);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            h->R[3 * i + j] = a->R[3 * j + i];
        }
        h->r[i] = -h->r[i];
    }
}

/* y = Ad x = (R w; R v + r x R w) */
FA_INLINE void lie_adjoint(const fa_hop *h, const fa_real *x, fa_real *y)
{
    fa_rotate(y, h->R, x);
    fa_rotate(y + 3, h->R, x + 3);
    fa_cross_add(y + 3, h->r, y);
}

/* y = Ad^-1 x = (R' w; R' (v - r x w)) */
FA_INLINE void lie_adjoint_inverse(const fa_hop *h, const fa_real *x, fa_real *y)
{
    fa_real v[3];
    fa_cross(v, x, h->r);
    for (int i = 0; i < 3; i++) {
        v[i] += x[3 + i];
    }
    fa_rotate_t(y, h->R, x);
    fa_rotate_t(y + 3, h->R, v);
}

/* y = [a, b] of two twists */
FA_INLINE void lie_bracket(const fa_real *a, const fa_real *b, fa_real *y)
{
    fa_cross(y, a, b);
    fa_cross(y + 3, a, b + 3);
    fa_cross_add(y + 3, a + 3, b);
}

/* y = a o (w; v), product of quaternions */
FA_INLINE void lie_quaternion_multiply(const fa_real *a, fa_real w, const fa_real *v,
                                       fa_real *y)
{
    y[0] = a[0] * w - fa_dot(a + 1, v);
    fa_cross(y + 1, a + 1, v);
    for (int i = 0; i < 3; i++) {
        y[1 + i] += a[0] * v[i] + w * a[1 + i];
    }
}

/*
 * Unit quaternion of a rotation: the largest of 4 w^2, 4 x^2, 4 y^2, 4 z^2 gives one
 * entry, sums and differences across the diagonal the others. w >= 0; where w is zero
 * the largest entry is positive.
 */
FA_INLINE void lie_quaternion(const fa_real *R, fa_real *q)
{
    const fa_real a = R[0], b = R[4], c = R[8], one = fa_splat(1.0);
    const fa_real row[4][4] = {
        {one + a + b + c, R[7] - R[5], R[2] - R[6], R[3] - R[1]},
        {R[7] - R[5], one + a - b - c, R[3] + R[1], R[2] + R[6]},
        {R[2] - R[6], R[3] + R[1], one - a + b - c, R[7] + R[5]},
        {R[3] - R[1], R[2] + R[6], R[7] + R[5], one - a - b + c}};
    fa_real largest = row[0][0], norm = {0};

    /* row i is 4 q_i q */
    memcpy(q, row[0], sizeof row[0]);
    for (int i = 1; i < 4; i++) {
        const fa_mask larger = row[i][i] > largest;
        largest = fa_select(larger, row[i][i], largest);
        for (int j = 0; j < 4; j++) {
            q[j] = fa_select(larger, row[i][j], q[j]);
        }
    }
    for (int i = 0; i < 4; i++) {
        norm += q[i] * q[i];
    }
    fa_real scale = 1.0 / lie_sqrt(norm);
    scale = fa_select(q[0] < 0.0, -scale, scale);
    for (int i = 0; i < 4; i++) {
        q[i] *= scale;
    }
}

/* y = q / scale, of a size whose square neither overflows nor vanishes, NaN for zero;
 * returns the scale, one for quaternions of ordinary length */
FA_INLINE fa_real lie_quaternion_scaled(const fa_real *q, fa_real *y)
{
    fa_real most = lie_abs(q[0]);
    for (int i = 1; i < 4; i++) {
        most = lie_max(most, lie_abs(q[i]));
    }
    /* 1e-200 times the square of `most` is a number of lie_quaternion_log */
    const fa_mask fits = (most > 1e-50) & (most < 1e50);
    const fa_real scale = fa_select(fits, fa_splat(1.0), most);
    for (int i = 0; i < 4; i++) {
        y[i] = q[i] / scale;
    }
    return scale;
}

/* rotation vector of a quaternion of any length, |phi| <= pi (E7) */
FA_INLINE void lie_quaternion_log(const fa_real *q, fa_real *phi)
{
    const fa_mask back = q[0] < 0.0;
    const fa_real w = fa_select(back, -q[0], q[0]);
    const fa_real square = fa_dot(q + 1, q + 1);
    /* so far from any angle that the arc is its sine: the square may vanish */
    const fa_mask tiny = square < 1e-200 * (w * w);
    const fa_real n = fa_select(tiny, w, lie_sqrt(square));
    fa_real scale = fa_select(tiny, fa_splat(1.0), lie_atan2(n, w)) * 2.0 / n;

    scale = fa_select(back, -scale, scale);
    for (int i = 0; i < 3; i++) {
        phi[i] = scale * q[1 + i];
    }
}

/* rotation vector of a rotation */
FA_INLINE void lie_rotation_log(const fa_real *R, fa_real *phi)
{
    fa_real q[4];
    lie_quaternion(R, q);
    lie_quaternion_log(q, phi);
}

/* C = exp(X) (E5) */
FA_INLINE void lie_exp(const fa_real *X, fa_hop *C)
{
    lie_stumpff f;
    fa_real J[9];
    lie_stumpff_at(fa_dot(X, X), &f);
    lie_rotation(&f, X, C->R);
    lie_jacobian(&f, X, J);
    fa_rotate(C->r, J, X + 3);
}

/* X = log(C) */
FA_INLINE void lie_log(const fa_hop *C, fa_real *X)
{
    lie_stumpff f;
    fa_real J[9];
    lie_rotation_log(C->R, X);
    lie_stumpff_at(fa_dot(X, X), &f);
    lie_jacobian_inverse(&f, X, J);
    fa_rotate(X + 3, J, C->r);
}

#endif
