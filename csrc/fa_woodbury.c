/*
 * fa_woodbury.c -- constants of the fast inverse of D_f (D1)
 *
 * Checked by  tests/test_fast_inverse.py, tests/c/test_model.c.
 */
#include "fa_woodbury.h"

#include <float.h>
#include <math.h>

/* place of entry (r, s), s <= r, of a lower triangle by rows */
static size_t tri(int r, int s)
{
    return (size_t)(r * (r + 1) / 2 + s);
}

size_t fa_woodbury_size(int n)
{
    return tri(n, 0) + 9 * (size_t)n;
}

/*
 * Cholesky factor of G, in place. Couplings that are rounding beside the masses, as those
 * of orthogonal modes that quadrature has summed, become zero. Returns 0 where a mode is
 * nearly a sum of others: less than a hundredth of its mass is its own.
 */
static int factor(int n, double *L, int *is_diagonal)
{
    *is_diagonal = 1;
    for (int r = 0; r < n; r++) {
        for (int s = 0; s < r; s++) {
            const double size = sqrt(fabs(L[tri(r, r)])) * L[tri(s, s)];
            double sum = L[tri(r, s)];
            for (int k = 0; k < s; k++) {
                sum -= L[tri(r, k)] * L[tri(s, k)];
            }
            const int is_rounding = fabs(sum) <= 8 * DBL_EPSILON * size;
            L[tri(r, s)] = is_rounding ? 0.0 : sum / L[tri(s, s)];
            *is_diagonal &= is_rounding;
        }
        double own = L[tri(r, r)];
        for (int k = 0; k < r; k++) {
            own -= L[tri(r, k)] * L[tri(r, k)];
        }
        if (!(own > 0.01 * L[tri(r, r)])) {
            return 0;
        }
        L[tri(r, r)] = sqrt(own);
    }
    return 1;
}

/* a lower triangle becomes its inverse */
static void invert(int n, double *L)
{
    for (int c = 0; c < n; c++) {
        L[tri(c, c)] = 1.0 / L[tri(c, c)];
        for (int r = c + 1; r < n; r++) {
            double sum = 0.0;
            for (int k = c; k < r; k++) {
                sum -= L[tri(r, k)] * L[tri(k, c)];
            }
            L[tri(r, c)] = sum / L[tri(r, r)]; /* not yet inverted */
        }
    }
}

/* C of zeta_w = Q C' by reflections, row by row of C'; q [n][6] is lost */
static void triangle(int n, double *q, double *C)
{
    for (int i = 0; i < 36; i++) {
        C[i] = 0.0;
    }
    for (int c = 0; c < 6 && c < n; c++) {
        double norm = 0.0;
        for (int r = c; r < n; r++) {
            norm += q[6 * r + c] * q[6 * r + c];
        }
        norm = q[6 * c + c] > 0.0 ? -sqrt(norm) : sqrt(norm);
        if (norm != 0.0) {
            const double head = q[6 * c + c] - norm; /* of the vector, scaled below */
            for (int j = c + 1; j < 6; j++) {
                double dot = head * q[6 * c + j];
                for (int r = c + 1; r < n; r++) {
                    dot += q[6 * r + c] * q[6 * r + j];
                }
                dot /= norm * head;
                q[6 * c + j] += dot * head;
                for (int r = c + 1; r < n; r++) {
                    q[6 * r + j] += dot * q[6 * r + c];
                }
            }
        }
        C[6 * c + c] = norm;
        for (int j = c + 1; j < 6; j++) {
            C[6 * j + c] = q[6 * c + j];
        }
    }
}

/* y [n][width] += W x, columns from `at` of rows of 6 or 3 */
static void whiten(int n, const double *W, const double *x, int rows, int at, double *y)
{
    for (int r = 0; r < n; r++) {
        for (int i = 0; i < 3; i++) {
            double sum = 0.0;
            for (int s = 0; s <= r; s++) {
                sum += W[tri(r, s)] * x[3 * s + i];
            }
            y[rows * r + at + i] = sum;
        }
    }
}

void fa_woodbury_build(int n, const double *G, const double *E, const double *gamma,
                       const double *lambda, double *storage, fa_woodbury *result)
{
    static const int sym[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
    double *W = storage, *E_w = W + tri(n, 0), *zeta = E_w + 3 * n;
    double q[6 * 64] = {0};

    for (size_t i = 0; i < tri(n, 0); i++) {
        W[i] = G[i];
    }
    if (!factor(n, W, &result->is_diagonal)) {
        return;
    }
    invert(n, W);
    whiten(n, W, E, 3, 0, E_w);
    for (int i = 0; gamma && i < 2; i++) {
        whiten(n, W, i == 0 ? lambda : gamma, 6, 3 * i, zeta);
    }
    for (int i = 0; i < 6 * n; i++) {
        q[i] = zeta[i];
    }
    triangle(n, q, result->C);
    for (int r = 0; r < n; r++) {
        for (int i = 0; i < 3; i++) {
            for (int j = i; j < 3; j++) {
                result->EE[sym[i][j]] += E_w[3 * r + i] * E_w[3 * r + j];
            }
            for (int j = 0; j < 6; j++) {
                result->Ezeta[6 * i + j] += E_w[3 * r + i] * zeta[6 * r + j];
            }
        }
    }
    result->W = W;
    result->E = E_w;
    result->zeta = zeta;
}
