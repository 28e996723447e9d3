/* test_dense.c -- small dense systems on lanes: residuals, pivots, lanes apart */
#define FA_LANES 2
#include "lanes/dense_lanes.h"

#include "check.h"

enum { MOST = 24 };

/* a number in -1 ... 1, without a pattern */
static double irregular(int i)
{
    const double x = sin(1.0 + 12.9898 * i) * 43758.5453;
    return 2.0 * (x - floor(x)) - 1.0;
}

/* two matrices that are definite, the second one scaled by its coordinates; or, if
 * not `definite`, any, and one that has zeros on its diagonal */
static void fill(int n, int definite, fa_real *A)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            const double x = irregular(31 * i + 7 * j), y = irregular(31 * j + 7 * i);
            const double scale = pow(10.0, 0.3 * ((i % 7) + (j % 7)));
            const double z = (i == j ? (double)n : 0.0) + 0.5 * (x + y);
            A[i * n + j] =
                definite ? (fa_real){z, scale * z} : (fa_real){x, i == j ? 0.0 : x};
        }
    }
}

/* largest residual of A x = b, relative to the terms in it */
static double residual(int n, const fa_real *A, const fa_real *x, const fa_real *b,
                       int lane)
{
    double worst = 0.0;
    for (int i = 0; i < n; i++) {
        double sum = -b[i][lane], size = fabs(b[i][lane]);
        for (int j = 0; j < n; j++) {
            sum += A[i * n + j][lane] * x[j][lane];
            size += fabs(A[i * n + j][lane] * x[j][lane]);
        }
        worst = fmax(worst, fabs(sum) / size);
    }
    return worst;
}

static void check_size(int n, int definite)
{
    static fa_real A[MOST * MOST], F[MOST * MOST];
    fa_real b[MOST], x[MOST], order[MOST];

    fill(n, definite, A);
    memcpy(F, A, (size_t)(n * n) * sizeof(fa_real));
    for (int i = 0; i < n; i++) {
        b[i] = (fa_real){irregular(1000 + i), irregular(1050 + i)};
        x[i] = b[i];
    }
    lu_factor(n, F, order);
    lu_solve(n, F, order, x);
    for (int w = 0; w < FA_LANES; w++) {
        if (n > 1 || definite || w == 0) { /* else (0) */
            CHECK_CLOSE(residual(n, A, x, b, w), 0.0, definite ? 1e-15 : 1e-12);
        }
    }
    for (int k = 0; definite && k < n; k++) { /* no row gives way */
        CHECK(order[k][0] == k && order[k][1] == k);
    }
    if (definite) { /* the same with half of the work */
        memcpy(F, A, (size_t)(n * n) * sizeof(fa_real));
        memcpy(x, b, (size_t)n * sizeof(fa_real));
        ldl_factor(n, F);
        ldl_solve(n, F, x);
        CHECK_CLOSE(residual(n, A, x, b, 0), 0.0, 1e-15);
        CHECK_CLOSE(residual(n, A, x, b, 1), 0.0, 1e-15);
        dense_multiply_symmetric(n, A, x, F);
        CHECK_CLOSE(F[0][1], b[0][1], 1e-12);
    }
}

/* a singular lane or one of NaN spoils no other, which keeps its bits */
static void check_apart(void)
{
    enum { N = 5 };
    fa_real A[N * N], B[N * N], x[N], y[N], order[N];

    for (int other = 0; other < 2; other++) {
        fill(N, 0, A);
        memcpy(B, A, sizeof A);
        for (int j = 0; j < N; j++) {
            B[2 * N + j][0] = other ? 0.0 : (double)NAN;
            x[j] = y[j] = fa_splat(irregular(j));
        }
        lu_factor(N, A, order);
        lu_solve(N, A, order, x);
        lu_factor(N, B, order);
        lu_solve(N, B, order, y);
        CHECK(isnan(y[0][0]));
        for (int i = 0; i < N; i++) {
            CHECK(x[i][1] == y[i][1]);
        }
    }
}

int main(void)
{
    for (int n = 1; n <= MOST; n++) {
        check_size(n, 0);
        check_size(n, 1);
    }
    check_apart();
    return check_report("dense");
}
