/*
 * fast.c -- constants for freeing modes without factoring D_f (D1)
 *
 * Checked by  tests/dynamics/test_fast_modes.py.
 */
#include "model/fast.h"

#include "model/kinds.h"

#include <float.h>
#include <math.h>

/* place of entry (r, s), s <= r, of a lower triangle by rows */
static size_t tri(int r, int s)
{
    return (size_t)(r * (r + 1) / 2 + s);
}

size_t fa_fast_size(int n)
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

/* y [n][3] = W x */
static void whiten(int n, const double *W, const double *x, double *y)
{
    for (int r = 0; r < n; r++) {
        for (int i = 0; i < 3; i++) {
            y[3 * r + i] = 0.0;
            for (int s = 0; s <= r; s++) {
                y[3 * r + i] += W[tri(r, s)] * x[3 * s + i];
            }
        }
    }
}

/* column x of stride `step` becomes (1 - h h') x, entries before `from` unchanged */
static void reflect(int n, int from, const double *h, double *x, int step)
{
    double dot = 0.0;

    for (int r = from; r < n; r++) {
        dot += h[r] * x[r * step];
    }
    for (int r = from; r < n; r++) {
        x[r * step] -= dot * h[r];
    }
}

/*
 * Six columns, the first three in z [n][3], the others in z + 3 n, become [C'; 0] by the
 * reflections h; C is their transpose.
 */
static void triangle(int n, double *z, double *h, double *C)
{
    for (int c = 0; c < 6; c++) {
        double *x = z + (c / 3) * 3 * n + c % 3, *own = h + c * n, norm = 0.0, size;

        for (int r = c; r < n; r++) {
            norm += x[3 * r] * x[3 * r];
        }
        if (norm > 0.0) { /* 1 - h h' with h.h = 2 */
            norm = x[3 * c] > 0.0 ? -sqrt(norm) : sqrt(norm);
            size = sqrt(norm * (norm - x[3 * c]));
            for (int r = c; r < n; r++) {
                own[r] = (x[3 * r] - (r == c ? norm : 0.0)) / size;
            }
            for (int j = c; j < 6; j++) {
                reflect(n, c, own, z + (j / 3) * 3 * n + j % 3, 3);
            }
        }
        for (int j = 0; j <= c; j++) {
            C[6 * c + j] = x[3 * j];
        }
    }
}

void fa_fast_build(int n, const double *G, const double *E, const double *gamma,
                   const double *lambda, double *storage, fa_fast *result)
{
    double *W = storage, *E_w = W + tri(n, 0), *h = E_w + 3 * n;
    double zeta[6 * FA_MAX_MODES] = {0};

    for (size_t i = 0; i < tri(n, 0); i++) {
        W[i] = G[i];
    }
    if (!factor(n, W, &result->is_diagonal)) {
        return;
    }
    invert(n, W);
    whiten(n, W, E, E_w);
    if (gamma) {
        whiten(n, W, lambda, zeta);
        whiten(n, W, gamma, zeta + 3 * n);
        triangle(n, zeta, h, result->C);
        for (int c = 0; c < 6; c++) {
            for (int i = 0; i < 3; i++) {
                reflect(n, c, h + c * n, E_w + i, 3);
            }
        }
    }
    result->W = W;
    result->E = E_w;
    result->h = h;
}
