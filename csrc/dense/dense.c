/*
 * dense.c -- dense linear algebra, by LAPACK (OpenBLAS) where sizes allow it
 *
 * The number of threads is never changed here: it is a setting of the whole process
 * (OPENBLAS_NUM_THREADS).
 */
#include "dense/dense.h"

#include "dense/blas.h"

#include <math.h>

void fa_dense_solve(int n, int n_rhs, double *a, double *b)
{
    int info = 0;

    /* what LAPACK, column by column, takes as the lower triangle */
    FA_LAPACK(dposv)("L", &n, &n_rhs, a, &n, b, &n, &info, 1);
    for (int i = 0; info != 0 && i < n * n_rhs; i++) {
        b[i] = (double)NAN;
    }
}

void fa_dense_solve_symmetric(int n, int n_rhs, double *a, double *b, int *order,
                              double *work)
{
    int info = 0;

    /* most are positive definite: half the work, in one triangle */
    for (int i = 0; i < n; i++) {
        work[i] = a[i * (n + 1)];
    }
    FA_LAPACK(dposv)("L", &n, &n_rhs, a, &n, b, &n, &info, 1);
    if (info == 0) {
        return;
    }
    for (int i = 0; i < n; i++) {
        a[i * (n + 1)] = work[i];
    }
    FA_LAPACK(dsysv)("U", &n, &n_rhs, a, &n, order, b, &n, work, &n, &info, 1);
    for (int i = 0; info != 0 && i < n * n_rhs; i++) {
        b[i] = (double)NAN;
    }
}

void fa_dense_factor_symmetric(int n, double *a, int *order, double *work)
{
    int info = 0;

    /* what LAPACK, column by column, takes as the upper triangle */
    FA_LAPACK(dsytrf)("U", &n, a, &n, order, work, &n, &info, 1);
    for (int i = 0; info != 0 && i < n * n; i++) {
        a[i] = (double)NAN;
    }
}

void fa_dense_solve_factored(int n, const double *a, const int *order, double *x)
{
    const int one = 1;
    int info = 0;

    FA_LAPACK(dsytrs)("U", &n, &one, a, &n, order, x, &n, &info, 1);
}

/*
 * Scales to a unit diagonal; rows of zeros, and of what rounding leaves of zeros (the
 * square of 1e-14 of the largest row), become zero. Nonzero if there is a NaN.
 */
static int dense_scale(int n, double *a, double *x, double *scale)
{
    double sum = 0.0, largest = 0.0;

    for (int i = 0; i < n; i++) {
        largest = fmax(largest, a[i * n + i]);
    }
    for (int i = 0; i < n; i++) {
        const double d = a[i * n + i];
        scale[i] = d > 1e-28 * largest ? 1.0 / sqrt(d) : 0.0;
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            sum += 0.0 * a[i * n + j];
            a[i * n + j] *= scale[i] * scale[j];
        }
        sum += 0.0 * x[i];
        x[i] *= scale[i];
    }
    return sum != 0.0;
}

/* rows, columns and right sides k and p change places */
static void dense_swap(int n, double *a, double *x, double *place, int k, int p)
{
    for (int j = 0; j < n; j++) {
        const double row = a[k * n + j];
        a[k * n + j] = a[p * n + j];
        a[p * n + j] = row;
    }
    for (int j = 0; j < n; j++) {
        const double column = a[j * n + k];
        a[j * n + k] = a[j * n + p];
        a[j * n + p] = column;
    }
    const double y = x[k], at = place[k];
    x[k] = x[p];
    x[p] = y;
    place[k] = place[p];
    place[p] = at;
}

/* lower factor of the leading block in place; returns its size, the rank */
static int dense_pivoted(int n, double *a, double *x, double *place)
{
    for (int k = 0; k < n; k++) {
        int p = k;
        for (int i = k + 1; i < n; i++) {
            p = a[i * n + i] > a[p * n + p] ? i : p;
        }
        if (!(a[p * n + p] > 1e-10)) {
            return k;
        }
        dense_swap(n, a, x, place, k, p);
        const double pivot = sqrt(a[k * n + k]);
        a[k * n + k] = pivot;
        for (int i = k + 1; i < n; i++) {
            a[i * n + k] /= pivot;
        }
        for (int i = k + 1; i < n; i++) {
            for (int j = k + 1; j < n; j++) {
                a[i * n + j] -= a[i * n + k] * a[j * n + k];
            }
        }
    }
    return n;
}

int fa_dense_solve_semidefinite(int n, double *a, double *x, double *scratch)
{
    double *place = scratch, *scale = scratch + n;

    if (dense_scale(n, a, x, scale)) {
        for (int i = 0; i < n; i++) {
            x[i] = (double)NAN;
        }
        return 0;
    }
    for (int i = 0; i < n; i++) {
        place[i] = i;
    }
    const int rank = dense_pivoted(n, a, x, place);
    for (int i = 0; i < rank; i++) {
        for (int j = 0; j < i; j++) {
            x[i] -= a[i * n + j] * x[j];
        }
        x[i] /= a[i * n + i];
    }
    for (int i = rank - 1; i >= 0; i--) {
        for (int j = i + 1; j < rank; j++) {
            x[i] -= a[j * n + i] * x[j];
        }
        x[i] /= a[i * n + i];
    }
    for (int i = 0; i < n; i++) { /* the matrix is no longer needed: back in order */
        a[(int)place[i]] = i < rank ? x[i] : 0.0;
    }
    for (int i = 0; i < n; i++) {
        x[i] = a[i] * scale[i];
    }
    return rank;
}
