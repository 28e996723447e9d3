/*
 * complex_step.h -- one state and its derivative along a direction, in place of lanes
 *
 * Stands in for lane.h and lane_math.h: with fa_real a complex number, a kernel at
 * x + i h dx returns f(x) + i h f'(x) dx, where h is so small that its square is lost.
 * No cancellation: the derivative is as good as the function (complex step).
 *
 * Source      W. Squire, G. Trapp, SIAM Review 40(1), 1998.
 * Checked by  tests/dynamics/test_linear_model.py
 */
#ifndef FA_COMPLEX_H
#define FA_COMPLEX_H
#define FA_LANE_H
#define FA_MATH_H

#include <complex.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#undef I /* an inertia in the kernels */

#define FA_LANES 1
#define FA_INLINE static inline __attribute__((unused))
#define FA_NOINLINE static __attribute__((noinline, unused))
#define FA_SHARED(name) name##_complex
#define FA_SWITCH_RIGID(n, step, model, b, ...) step(model, b, n, __VA_ARGS__);
#define FA_SWITCH_MODES FA_SWITCH_RIGID
#define FA_UNROLL

typedef double complex fa_real;

static const double FA_STEP = 1e-40;

/* CMPLX of C11, which not every C library has */
FA_INLINE fa_real fa_complex(double real, double imaginary)
{
    const double parts[2] = {real, imaginary};
    fa_real z;
    memcpy(&z, parts, sizeof z);
    return z;
}

FA_INLINE fa_real fa_splat(double x)
{
    return x;
}

/* a constant of the model */
typedef double fa_constant;
#define fa_spread(constant) fa_splat(constant)

FA_INLINE fa_real fa_sqrt(fa_real x)
{
    return csqrt(x);
}

/* the larger part of x and zero, by its real part */
FA_INLINE fa_real fa_positive(fa_real x)
{
    return creal(x) > 0.0 ? x : 0.0 * x;
}

FA_INLINE void fa_zero(fa_real *x, int n)
{
    for (int i = 0; i < n; i++) {
        x[i] = 0.0;
    }
}

FA_INLINE void fa_sincos(fa_real x, fa_real *s, fa_real *c)
{
    const double sine = sin(creal(x)), cosine = cos(creal(x));
    *s = fa_complex(sine, cosine * cimag(x));
    *c = fa_complex(cosine, -sine * cimag(x));
}

/* c_0 .. c_5 of lanes/lane_math.h, and their derivatives (k c_{k+2} - c_{k+1}) / 2 */
typedef struct {
    fa_real c0, c1, c2, c3, c4, c5;
} fa_stumpff;

FA_INLINE fa_stumpff fa_stumpff_at(fa_real argument)
{
    const double x = creal(argument);
    double c[8], d[6];

    if (x > 2.25) {
        const double t = sqrt(x);
        c[0] = cos(t);
        c[1] = sin(t) / t;
        for (int k = 0, factorial = 1; k < 6; k++) {
            factorial *= k > 1 ? k : 1;
            c[k + 2] = (1.0 / factorial - c[k]) / x;
        }
    } else {
        for (int k = 6; k < 8; k++) { /* sum of (-x)^i / (2 i + k)! */
            double term = k == 6 ? 1.0 / 720.0 : 1.0 / 5040.0;
            c[k] = term;
            for (int i = 1; i < 10; i++) {
                term *= -x / ((2 * i + k) * (2 * i + k - 1));
                c[k] += term;
            }
        }
        for (int k = 5, factorial = 120; k >= 0; k--) {
            c[k] = 1.0 / factorial - x * c[k + 2];
            factorial /= k > 0 ? k : 1;
        }
    }
    for (int k = 0; k < 6; k++) {
        d[k] = 0.5 * (k * c[k + 2] - c[k + 1]) * cimag(argument);
    }
    return (fa_stumpff){fa_complex(c[0], d[0]), fa_complex(c[1], d[1]),
                        fa_complex(c[2], d[2]), fa_complex(c[3], d[3]),
                        fa_complex(c[4], d[4]), fa_complex(c[5], d[5])};
}

/* c_6 and c_7, whose series need no closed form below 10 */
FA_INLINE void fa_stumpff_next(fa_real x, const fa_stumpff *f, fa_real *c6, fa_real *c7)
{
    fa_real term6 = 1.0 / 720.0, term7 = 1.0 / 5040.0;

    (void)f;
    *c6 = term6;
    *c7 = term7;
    for (int i = 1; i < 16; i++) {
        term6 *= -x / ((2 * i + 6) * (2 * i + 5));
        term7 *= -x / ((2 * i + 7) * (2 * i + 6));
        *c6 += term6;
        *c7 += term7;
    }
}

#endif
