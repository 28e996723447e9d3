/* test_math.c -- sine, cosine and Stumpff functions of the lanes against long double */
#define FA_LANES 2
#include "lanes/lane_math.h"

#include "check.h"

#include <float.h>

/* error in units of the last place of the exact value */
static double ulps(double value, long double exact)
{
    int exponent;
    frexpl(exact, &exponent);
    const long double unit = ldexpl(1.0L, exponent - DBL_MANT_DIG);
    return (double)(fabsl((long double)value - exact) / unit);
}

static double worst_sincos(double limit, int n)
{
    double worst = 0.0;
    for (int i = 0; i < n; i++) {
        /* irregular steps, both signs */
        const double x = limit * sin(1.0 + 0.7310585 * i) * (i % 7 ? 1.0 : 1e-3);
        fa_real s, c;
        fa_sincos(fa_splat(x), &s, &c);
        worst = fmax(worst, ulps(s[0], sinl((long double)x)));
        worst = fmax(worst, ulps(c[1], cosl((long double)x)));
    }
    return worst;
}

static void check_special(void)
{
    fa_real s, c;
    fa_sincos((fa_real){0.0, (double)NAN}, &s, &c);
    CHECK(s[0] == 0.0 && c[0] == 1.0);
    CHECK(isnan(s[1]) && isnan(c[1]));
    fa_sincos((fa_real){(double)INFINITY, 1.0}, &s, &c);
    CHECK(isnan(s[0]) && isnan(c[0]));
    CHECK_CLOSE(s[1], sin(1.0), 2e-16);
    fa_sincos((fa_real){1e300, -1e22}, &s, &c);
    CHECK_CLOSE(s[0], sin(1e300), 1e-16);
    CHECK_CLOSE(c[1], cos(1e22), 1e-16);
    fa_sincos(fa_splat(-1e-310), &s, &c);
    CHECK(s[0] == -1e-310);
}

/* c_k by its own series in long double, or by closed forms */
static long double stumpff(int k, long double x)
{
    long double term = 1.0L, sum = 0.0L;
    for (int i = 1; i <= k; i++) {
        term /= i;
    }
    for (int i = 0; i < 60; i++) {
        sum += term;
        term *= -x / ((2 * i + k + 1.0L) * (2 * i + k + 2.0L));
    }
    return sum;
}

static void check_stumpff(void)
{
    for (int i = 0; i <= 400; i++) {
        const double x = i < 200 ? 2.2499999 * i / 199.0 : 2.25 + 0.1 * (i - 200);
        const fa_stumpff f = fa_stumpff_at((fa_real){x, 0.5});
        const fa_real values[6] = {f.c0, f.c1, f.c2, f.c3, f.c4, f.c5};
        for (int k = 0; k < 6; k++) {
            /* c_0 = 1 - x c_2 carries x times the rounding of c_2 */
            CHECK_CLOSE(values[k][0], (double)stumpff(k, x), 5e-16);
            CHECK_CLOSE(values[k][1], (double)stumpff(k, 0.5L), 2e-16);
        }
    }
    const fa_stumpff f = fa_stumpff_at(fa_splat((double)NAN));
    CHECK(isnan(f.c0[0]) && isnan(f.c5[0]));
}

int main(void)
{
    CHECK(worst_sincos(100.0, 20000) < 1.6);
    CHECK(worst_sincos(1e6, 20000) < 2.5);
    CHECK(worst_sincos(1e9, 2000) < 2.5);
    check_special();
    check_stumpff();
    CHECK(fa_any((fa_mask){0, -1}) && !fa_any((fa_mask){0, 0}));
    CHECK(isnan(fa_pivot((fa_real){-1.0, 4.0})[0]) &&
          fa_pivot(fa_splat(4.0))[1] == 0.25);
    return check_report("math");
}
