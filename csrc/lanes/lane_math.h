/*
 * lane_math.h -- sine, cosine and the Stumpff functions of all lanes at once
 *
 * Sine and cosine  reduction by pi/2 in three parts (Cody and Waite), then the
 *                  polynomials of fdlibm (k_sin.c, k_cos.c; Sun Microsystems, 1993)
 *                  on [-pi/4, pi/4]. About 1.5 ulp for |x| < 100; above 8e5 the
 *                  reduction loses bits and the lane falls back to libm.
 * Stumpff          c_k(x) = sum_i (-x)^i / (2 i + k)!, entire functions:
 *                  c_0(t^2) = cos t, c_1(t^2) = sin t / t,
 *                  c_2(t^2) = (1 - cos t)/t^2, c_3(t^2) = (t - sin t)/t^3,
 *                  c_k = 1/k! - x c_{k+2},  dc_k/dx = (k c_{k+2} - c_{k+1})/2.
 *                  They give rotations and their Jacobians without a 0/0.
 * Checked by       tests/c/test_math.c (long double),
 *                  tests/kinematics/test_kinematics.py (any angle).
 */
#ifndef FA_MATH_H
#define FA_MATH_H

#include "lanes/lane.h"

/* libm for the lanes whose argument is too large for the reduction */
static __attribute__((noinline, unused)) void math_sincos_large(fa_real x,
                                                                fa_mask large,
                                                                fa_real *s, fa_real *c)
{
    for (int w = 0; w < FA_LANES; w++) {
        if (large[w]) {
            (*s)[w] = sin(x[w]);
            (*c)[w] = cos(x[w]);
        }
    }
}

/* |x| */
FA_INLINE fa_real fa_size(fa_real x)
{
    return (fa_real)((fa_mask)x & INT64_MAX);
}

FA_INLINE void fa_sincos(fa_real x, fa_real *s, fa_real *c)
{
    /* nearest multiple of pi/2: adding 1.5 * 2^52 rounds to an integer, whose low
     * bits are then the low bits of the sum */
    const fa_real magic = fa_splat(6755399441055744.0);
    const fa_real shifted = x * 6.36619772367581382433e-01 + magic;
    const fa_mask quadrant = (fa_mask)shifted;
    const fa_real k = shifted - magic;

    const fa_real r =
        ((x - k * 1.57079632673412561417e+00) - k * 6.07710050630396597660e-11) -
        k * 2.02226624879595063154e-21;
    const fa_real z = r * r;

    fa_real p = fa_splat(1.58969099521155010221e-10);
    p = p * z - 2.50507602534068634195e-08;
    p = p * z + 2.75573137070700676789e-06;
    p = p * z - 1.98412698298579493134e-04;
    p = p * z + 8.33333333332248946124e-03;
    p = p * z - 1.66666666666666324348e-01;
    const fa_real sine = r + r * z * p;

    p = fa_splat(-1.13596475577881948265e-11);
    p = p * z + 2.08757232129817482790e-09;
    p = p * z - 2.75573143513906633035e-07;
    p = p * z + 2.48015872894767294178e-05;
    p = p * z - 1.38888888888741095749e-03;
    p = p * z + 4.16666666666666019037e-02;
    p = p * z - 0.5;
    const fa_real cosine = p * z + 1.0;

    /* quadrants 1 and 3 swap the two, 2 and 3 flip the sine, 1 and 2 the cosine */
    const fa_mask swap = -(quadrant & 1);
    const fa_mask flip_s = (quadrant & 2) << 62, flip_c = ((quadrant + 1) & 2) << 62;
    *s = (fa_real)((fa_mask)fa_select(swap, cosine, sine) ^ flip_s);
    *c = (fa_real)((fa_mask)fa_select(swap, sine, cosine) ^ flip_c);

    const fa_mask large = fa_size(x) > 8e5;
    if (fa_any(large)) {
        math_sincos_large(x, large, s, c);
    }
}

/* c_0 .. c_5 at x >= 0 */
typedef struct {
    fa_real c0, c1, c2, c3, c4, c5;
} fa_stumpff;

/* closed forms for the lanes in which the series has too few terms */
static __attribute__((noinline, unused)) void math_stumpff_large(fa_real x,
                                                                 fa_mask large,
                                                                 fa_stumpff *f)
{
    for (int w = 0; w < FA_LANES; w++) {
        if (large[w]) {
            const double t = sqrt(x[w]), c0 = cos(t), c1 = sin(t) / t;
            const double c2 = (1.0 - c0) / x[w], c3 = (1.0 - c1) / x[w];
            f->c0[w] = c0;
            f->c1[w] = c1;
            f->c2[w] = c2;
            f->c3[w] = c3;
            f->c4[w] = (0.5 - c2) / x[w];
            f->c5[w] = (1.0 / 6.0 - c3) / x[w];
        }
    }
}

FA_INLINE fa_stumpff fa_stumpff_at(fa_real x)
{
    fa_stumpff f;
    fa_real p, q;

    /* (2 i + 4)! and (2 i + 5)!, nine powers of x: complete to x = 2.25 */
    p = fa_splat(-1.0 / 1124000727777607680000.0);
    p = p * x + 1.0 / 2432902008176640000.0;
    p = p * x - 1.0 / 6402373705728000.0;
    p = p * x + 1.0 / 20922789888000.0;
    p = p * x - 1.0 / 87178291200.0;
    p = p * x + 1.0 / 479001600.0;
    p = p * x - 1.0 / 3628800.0;
    p = p * x + 1.0 / 40320.0;
    p = p * x - 1.0 / 720.0;
    f.c4 = p * x + 1.0 / 24.0;
    q = fa_splat(-1.0 / 25852016738884976640000.0);
    q = q * x + 1.0 / 51090942171709440000.0;
    q = q * x - 1.0 / 121645100408832000.0;
    q = q * x + 1.0 / 355687428096000.0;
    q = q * x - 1.0 / 1307674368000.0;
    q = q * x + 1.0 / 6227020800.0;
    q = q * x - 1.0 / 39916800.0;
    q = q * x + 1.0 / 362880.0;
    q = q * x - 1.0 / 5040.0;
    f.c5 = q * x + 1.0 / 120.0;
    f.c2 = 0.5 - x * f.c4;
    f.c3 = 1.0 / 6.0 - x * f.c5;
    f.c0 = 1.0 - x * f.c2;
    f.c1 = 1.0 - x * f.c3;

    const fa_mask large = x > 2.25;
    if (fa_any(large)) {
        math_stumpff_large(x, large, &f);
    }
    return f;
}

/* c_6 and c_7, which second derivatives need; f at the same x */
FA_INLINE void fa_stumpff_next(fa_real x, const fa_stumpff *f, fa_real *c6, fa_real *c7)
{
    fa_real p, q;

    /* (2 i + 6)! and (2 i + 7)!, eight powers of x */
    p = fa_splat(1.0 / 1124000727777607680000.0);
    p = p * x - 1.0 / 2432902008176640000.0;
    p = p * x + 1.0 / 6402373705728000.0;
    p = p * x - 1.0 / 20922789888000.0;
    p = p * x + 1.0 / 87178291200.0;
    p = p * x - 1.0 / 479001600.0;
    p = p * x + 1.0 / 3628800.0;
    p = p * x - 1.0 / 40320.0;
    p = p * x + 1.0 / 720.0;
    q = fa_splat(1.0 / 25852016738884976640000.0);
    q = q * x - 1.0 / 51090942171709440000.0;
    q = q * x + 1.0 / 121645100408832000.0;
    q = q * x - 1.0 / 355687428096000.0;
    q = q * x + 1.0 / 1307674368000.0;
    q = q * x - 1.0 / 6227020800.0;
    q = q * x + 1.0 / 39916800.0;
    q = q * x - 1.0 / 362880.0;
    q = q * x + 1.0 / 5040.0;

    const fa_mask large = x > 2.25;
    *c6 = fa_select(large, (1.0 / 24.0 - f->c4) / x, p);
    *c7 = fa_select(large, (1.0 / 120.0 - f->c5) / x, q);
}

#endif
