/*
 * test_lie.c -- maps of rotations and poses on exact-size memory
 *
 * Accuracy is checked in Python with 60 digits; here exp against log, the arctangent
 * against libm, every map in batches of any size, and failures.
 */
#include "library/tables.h"

#define FA_LANES 2
#include "kernels/lie/lie.h"

#include "check.h"

#include <stdlib.h>

enum { MOST = 11 };

static const fa_kernels *test_kernels(void)
{
    const char *name = getenv("FLEXARM_ISA");
    return name ? fa_kernels_named(name) : fa_kernels_best();
}

/* one call; arrays [count][size], contiguous */
static fa_failures run(fa_map map, size_t count, double *const *arrays)
{
    const fa_kernels *kernels = test_kernels();
    fa_operand operands[FA_MAP_OPERANDS];
    ptrdiff_t *offsets[FA_MAP_OPERANDS];
    const int n = fa_map_inputs(map) + 1;

    for (int i = 0; i < n; i++) {
        const int size = fa_map_size(map, i);
        offsets[i] = malloc((size_t)size * sizeof(ptrdiff_t));
        for (int e = 0; e < size; e++) {
            offsets[i][e] = e * (ptrdiff_t)sizeof(double);
        }
        operands[i] = (fa_operand){(char *)arrays[i], size * (ptrdiff_t)sizeof(double),
                                   size, offsets[i]};
    }
    void *work = aligned_alloc(64, (kernels->map_work_size(map) + 63) / 64 * 64);
    const fa_failures bad = kernels->map(map, count, operands, work);
    free(work);
    for (int i = 0; i < n; i++) {
        free(offsets[i]);
    }
    return bad;
}

static double *numbers(size_t count, int size, double phase)
{
    double *x = malloc(count * (size_t)size * sizeof *x);
    for (size_t i = 0; i < count * (size_t)size; i++) {
        x[i] = 0.9 * sin(phase + 1.3 * (double)i);
    }
    return x;
}

/* inputs that a map takes: poses of twists, rotations, skew matrices, numbers */
static double *valid(fa_map map, int i, size_t count)
{
    const int size = fa_map_size(map, i);
    const int is_vee = map == FA_SO3_VEE || map == FA_SE3_VEE;
    double *x = numbers(count, size, i);

    if (size == 18 || size == 32) {
        const fa_map from = size == 18 ? FA_SCREWS_ROTATION_EXP : FA_SCREWS_EXP;
        double *twists = numbers(count, fa_map_size(from, 0), 0.3 * i);
        double *const arrays[2] = {twists, x};
        CHECK(run(from, count, arrays).count == 0);
        free(twists);
    }
    if (size == 9 || size == 16) {
        const fa_map from = size == 9 ? (is_vee ? FA_SO3_HAT : FA_SO3_EXP)
                                      : (is_vee ? FA_SE3_HAT : FA_SE3_EXP);
        double *twists = numbers(count, fa_map_size(from, 0), 0.3 * i);
        double *const arrays[2] = {twists, x};
        CHECK(run(from, count, arrays).count == 0);
        free(twists);
    }
    return x;
}

/* a state alone equals the same state in a batch, bit for bit */
static void check_alone(fa_map map)
{
    const int n = fa_map_inputs(map) + 1;
    double *batch[FA_MAP_OPERANDS], *alone[FA_MAP_OPERANDS];

    for (int i = 0; i < n; i++) {
        batch[i] =
            i + 1 < n ? valid(map, i, MOST) : numbers(MOST, fa_map_size(map, i), 0.0);
    }
    CHECK(run(map, MOST, batch).count == 0);
    const size_t size = (size_t)fa_map_size(map, n - 1);
    alone[n - 1] = malloc(size * sizeof(double));
    for (size_t k = 0; k < MOST; k++) {
        for (int i = 0; i + 1 < n; i++) {
            alone[i] = batch[i] + k * (size_t)fa_map_size(map, i);
        }
        CHECK(run(map, 1, alone).count == 0);
        CHECK(memcmp(alone[n - 1], batch[n - 1] + k * size, size * sizeof(double)) ==
              0);
    }
    free(alone[n - 1]);
    for (int i = 0; i < n; i++) {
        free(batch[i]);
    }
}

/* exp and log, at angles from zero to half a turn */
static void check_round_trip(void)
{
    for (int i = 0; i <= 100; i++) {
        double X[6] = {0.6, -0.8, 0.0, 0.3, 1.0, -0.5}, C[16], Y[6];
        double *const exp_arrays[2] = {X, C}, *const log_arrays[2] = {C, Y};
        for (int k = 0; k < 3; k++) {
            X[k] *= 3.14159 * pow(i / 100.0, 8);
        }
        CHECK(run(FA_SE3_EXP, 1, exp_arrays).count == 0);
        CHECK(run(FA_SE3_LOG, 1, log_arrays).count == 0);
        for (int k = 0; k < 6; k++) {
            CHECK_CLOSE(Y[k], X[k], k < 3 ? 1e-15 + 5e-16 * fabs(X[k]) : 5e-15);
        }
    }
}

static void check_arctangent(void)
{
    for (int i = 0; i <= 4000; i++) {
        const double angle = 1.5707963267948966 * i / 4000.0;
        const double n = sin(angle), w = cos(angle);
        const fa_real found = lie_atan2((fa_real){n, 3.0 * n}, (fa_real){w, 3.0 * w});
        CHECK_CLOSE(found[0], atan2(n, w), 2.3e-16);
        CHECK_CLOSE(found[1], atan2(3.0 * n, 3.0 * w), 4.5e-16);
    }
    CHECK(isnan(lie_atan2(fa_splat(0.0), fa_splat(0.0))[0]));
    CHECK(lie_atan2(fa_splat(1e-300), fa_splat(1.0))[1] == 1e-300);
}

/* the series joins the closed forms; c_k satisfy their recurrence beyond it */
static void check_stumpff(void)
{
    lie_stumpff below, above;
    lie_stumpff_at((fa_real){LIE_SERIES, 39.0}, &below);
    lie_stumpff_at((fa_real){nextafter(LIE_SERIES, 11.0), 0.0}, &above);
    for (int k = 0; k < 10; k++) {
        const double size = k < 2 ? 1.0 : below.c[k][0];
        CHECK_CLOSE(above.c[k][0], below.c[k][0], 3e-14 * fabs(size));
    }
    CHECK_CLOSE(above.k[0], below.k[0], 1e-15);
    CHECK_CLOSE(above.k[1], 1.0 / 12.0, 1e-17);
    CHECK_CLOSE(below.c[0][1], cos(sqrt(39.0)), 1e-16);
    CHECK(isnan(lie_abs(fa_splat((double)NAN))[0]));
}

/* no rotation, reflection, other last row, NaN: counted, found, and in their state */
static void check_failures_are_counted(void)
{
    double *C = valid(FA_SE3_LOG, 0, MOST), *X = numbers(MOST, 6, 0.0);
    double *clean = numbers(MOST, 6, 0.0);
    double *const good[2] = {C, clean}, *const spoilt[2] = {C, X};

    CHECK(run(FA_SE3_LOG, MOST, good).count == 0);
    C[2 * 16] += 1e-4;
    for (int i = 0; i < 3; i++) {
        C[4 * 16 + 4 * i] = -C[4 * 16 + 4 * i];
    }
    C[5 * 16 + 12] = 1e-3;
    C[9 * 16 + 3] = (double)NAN;
    const fa_failures bad = run(FA_SE3_LOG, MOST, spoilt);
    CHECK(bad.count == 4 && bad.first == 2);
    for (int i = 0; i < MOST * 6; i++) {
        const int state = i / 6;
        const int failed = state == 2 || state == 4 || state == 5 || state == 9;
        CHECK(failed ? isnan(X[i]) : X[i] == clean[i]);
    }
    free(C);
    free(X);
    free(clean);
}

int main(void)
{
    if (!test_kernels()) {
        return 1;
    }
    for (int map = 0; map < FA_N_MAPS; map++) {
        CHECK(fa_map_rows[map].name != NULL); /* every map has its row */
        check_alone((fa_map)map);
    }
    check_round_trip();
    check_arctangent();
    check_stumpff();
    check_failures_are_counted();
    return check_report("lie");
}
