/* test_dense.c -- dense systems on lanes and by rows: residuals, pivots, lanes apart */
#define FA_LANES 2
#include "lanes/dense_states.h"

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

/* largest residual of A' x = b, relative to the terms in it */
static double residual(int n, const fa_real *A, const fa_real *x, const fa_real *b,
                       int lane)
{
    double worst = 0.0;
    for (int i = 0; i < n; i++) {
        double sum = -b[i][lane], size = fabs(b[i][lane]);
        for (int j = 0; j < n; j++) {
            sum += A[j * n + i][lane] * x[j][lane];
            size += fabs(A[j * n + i][lane] * x[j][lane]);
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

/* S = M + c (C + c K) with a column more, A x, A^-1 b of one state alone and of two */
static void run_both(int n, int states, int singular, fa_real *product, fa_real *x)
{
    static fa_real M[MOST * MOST], K[MOST * MOST], T[MOST * MOST];
    static fa_real kept[4][MOST * (MOST + 1)], factors[MOST * (MOST + 1)];
    const fa_mask all = {-1, -1}, none = {0, 0};
    fa_real work[3 * MOST], order[MOST], other[MOST], free[MOST];
    const ds_block d = ds_split(n, states, work);

    CHECK(d.rows == (states == 1 && n >= DS_MIN_UNKNOWNS));
    CHECK(ds_work_size(n) <= 3 * MOST);
    fill(n, 1, M);
    fill(n, 0, K);
    for (int i = 0; i < n * n; i++) { /* lane 0 is the state that is alone */
        K[i] = 2e3 * (fa_real){K[i][1], K[i][0]};
        M[i] = (fa_real){singular && i / n == n / 2 ? 0.0 : M[i][0], M[i][1]};
        K[i] = singular && i / n == n / 2 ? (fa_real){0} : K[i];
    }
    ds_take(&d, all, n, 1, M, kept[0]);
    ds_take(&d, all, n, 1, K, kept[1]);
    ds_sum(&d, kept[0], kept[1], kept[1], (fa_real){0.7, 0.2}, kept[2]);
    for (int i = 0; i < n; i++) {
        other[i] = singular ? (fa_real){0} : fa_splat(0.1 * irregular(i));
        x[i] = (fa_real){irregular(1000 + i), irregular(1050 + i)};
    }
    ds_add_column(&d, n / 3, other, kept[2]);
    ds_multiply(&d, kept[2], x, product);
    ds_factor(&d, all, kept[2], order);
    ds_solve(&d, kept[2], order, x);

    int exchanged = 0;
    for (int k = 0; k < n; k++) {
        exchanged += order[k][0] > k;
    }
    CHECK(n < DS_MIN_UNKNOWNS || exchanged > 0);

    /* the same with another set of functions; what is not wanted stays */
    for (int i = 0; i < n * n; i++) {
        const fa_real c = {0.7, 0.2};
        K[i] = M[i] + c * (K[i] + c * K[i]) +
               (i % n == n / 3 ? other[i / n] : (fa_real){0});
    }
    memcpy(M, K, sizeof M);
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < n * n; i++) {
            T[i] = M[i % n * n + i / n];
        }
        ds_factor_wanted(&d, turn ? none : all, T, free, factors, other);
        CHECK(!memcmp(factors, kept[2], (size_t)n * sizeof(fa_real)));
    }
    for (int i = 0; i < n; i++) {
        CHECK(order[i][0] == other[i][0]);
    }
    for (int i = 0; i < n && !singular; i++) { /* A of the product, A^-1 of the other */
        double sum = 0.0, size = 0.0;
        for (int j = 0; j < n; j++) {
            sum += M[i * n + j][0] * x[j][0];
            size += fabs(M[i * n + j][0] * x[j][0]);
        }
        CHECK_CLOSE(sum - irregular(1000 + i), 0.0, 1e-11 * (1.0 + size));
        sum = size = 0.0;
        for (int j = 0; j < n; j++) {
            sum += M[i * n + j][0] * irregular(1000 + j);
            size += fabs(M[i * n + j][0]);
        }
        CHECK_CLOSE(product[i][0], sum, 1e-14 * size);
    }
}

/* A^-1 b of a definite matrix, whose triangle above the diagonal is not read, or of one
 * that is not definite */
static void run_symmetric(int n, int states, int definite, fa_real *x)
{
    static fa_real A[MOST * MOST], T[MOST * (MOST + 1)];
    fa_real work[3 * MOST];
    const ds_block d = ds_split(n, states, work);

    fill(n, 1, A);
    for (int i = 0; i < n; i++) {
        x[i] = (fa_real){irregular(1000 + i), irregular(1050 + i)};
        for (int j = i + 1; j < n; j++) {
            A[i * n + j] = fa_splat((double)NAN);
        }
    }
    if (!definite) {
        A[(n / 2) * (n + 1)] *= -1.0;
    }
    ds_factor_symmetric(&d, A, T);
    ds_solve_symmetric(&d, A, T, x);
}

/* one state by rows has the bits of its lane, also where rows are exchanged */
static void check_layouts(int n, int singular)
{
    fa_real product[MOST], x[MOST], other[MOST], y[MOST];

    run_both(n, 2, singular, product, x);
    run_both(n, 1, singular, other, y);
    for (int i = 0; i < n; i++) {
        CHECK(product[i][0] == other[i][0]);
        CHECK(x[i][0] == y[i][0] || (singular && isnan(x[i][0]) && isnan(y[i][0])));
        if (n >= DS_MIN_UNKNOWNS && !singular) { /* the lane past the end repeats it */
            CHECK(y[i][0] == y[i][1] && other[i][0] == other[i][1]);
        }
    }
    CHECK(!singular || isnan(y[0][0]));
    run_symmetric(n, 2, !singular, x);
    run_symmetric(n, 1, !singular, y);
    for (int i = 0; i < n; i++) {
        CHECK(singular ? isnan(x[i][0]) == isnan(y[i][0]) : x[i][0] == y[i][0]);
    }
    CHECK(!singular || isnan(y[0][0]));
}

int main(void)
{
    for (int n = 1; n <= MOST; n++) {
        check_size(n, 0);
        check_size(n, 1);
    }
    check_apart();
    for (int n = 1; n <= MOST; n++) {
        check_layouts(n, 0);
        check_layouts(n, 1);
    }
    return check_report("dense");
}
