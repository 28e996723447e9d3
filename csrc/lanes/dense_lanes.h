/*
 * dense_lanes.h -- small dense systems, one per lane: factors and solutions
 *
 * Symmetric   S = L D L' without pivots, for definite matrices; NaN where a pivot is
 *             not positive.
 * Any         P A = L U. A row gives way only where its pivot is small against the
 *             rest of its column in a sense that no scaling of coordinates changes:
 *                 a_ik a_ki > 100 |a_kk a_ii|,                                  (O1)
 *             which never happens while a matrix is symmetric and definite. Lanes are
 *             then exchanged one by one, so that none depends on the others. A pivot of
 *             zero makes its lane NaN. Solutions are those of the transpose, which
 *             takes rows of the factors alone:
 *                 A' x = b:  U' z = b,  L' v = z,  x = P' v                       (O7)
 * Cost        n^3 / 6 and n^3 / 3 multiplications; n^2 / 2 and n^2 for a solution.
 * Checked by  tests/simulation/test_rosenbrock.py, tests/simulation/test_implicit.py,
 *             tests/c/test_dense.c.
 */
#ifndef FA_DENSE_LANES_H
#define FA_DENSE_LANES_H

#include "lanes/lane.h"

/* S = L D L' in place, reciprocal pivots on the diagonal; NaN where one is not positive */
FA_NOINLINE void ldl_factor(int n, fa_real *restrict S)
{
    for (int k = 0; k < n; k++) {
        const fa_real pivot = fa_pivot(S[k * n + k]);
        S[k * n + k] = pivot;
        for (int i = n - 1; i > k; i--) {
            /* row i still holds L D in column k, as do the rows above it */
            const fa_real scaled = S[i * n + k] * pivot;
            for (int j = k + 1; j <= i; j++) {
                S[i * n + j] -= scaled * S[j * n + k];
            }
            S[i * n + k] = scaled;
        }
    }
}

/* x becomes S^-1 x, with the factors */
FA_NOINLINE void ldl_solve(int n, const fa_real *restrict S, fa_real *restrict x)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            x[i] -= S[i * n + j] * x[j];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        x[i] *= S[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = 0; j < i; j++) {
            x[j] -= S[i * n + j] * x[i];
        }
    }
}

/* y = M x, M symmetric */
FA_NOINLINE void dense_multiply_symmetric(int n, const fa_real *restrict M,
                                          const fa_real *restrict x,
                                          fa_real *restrict y)
{
    fa_zero(y, n);
    for (int j = 0; j < n; j++) { /* columns: sums that do not wait for each other */
        for (int i = 0; i < n; i++) {
            y[i] += M[j * n + i] * x[j];
        }
    }
}

/* columns of factors at a time: as many sums as hide what a multiplication takes */
enum { LU_COLUMNS = 4 };

FA_INLINE fa_real dense_size(fa_real x)
{
    return fa_select(x < 0.0, -x, x);
}

/* the row that replaces row k of one lane: the largest in column k by its own diagonal,
 * or any that is not zero */
FA_NOINLINE int lu_choose(int n, const fa_real *A, int k, int lane)
{
    int chosen = k;
    double best = 0.0;

    for (int i = k; i < n; i++) {
        double most = 0.0;
        for (int j = k; j < n; j++) {
            most = fmax(most, fabs(A[i * n + j][lane]));
        }
        const double size = most > 0.0 ? fabs(A[i * n + k][lane]) / most : 0.0;
        if (size > best) {
            best = size;
            chosen = i;
        }
    }
    return chosen;
}

/* exchanges rows where O1 asks for it; order [n] has the row that came to k */
FA_NOINLINE void lu_pivot(int n, fa_real *A, int k, fa_real *order)
{
    const fa_real d = A[k * n + k];
    fa_mask small = d == 0.0;

    order[k] = fa_splat((double)k);
    for (int i = k + 1; i < n; i++) {
        const fa_real product = A[i * n + k] * A[k * n + i];
        small |= dense_size(product) > 100.0 * dense_size(d * A[i * n + i]);
    }
    if (!fa_any(small)) {
        return;
    }
    for (int w = 0; w < FA_LANES; w++) {
        const int p = small[w] ? lu_choose(n, A, k, w) : k;
        if (p == k) {
            continue;
        }
        order[k][w] = (double)p;
        for (int j = 0; j < n; j++) {
            const double x = A[k * n + j][w];
            A[k * n + j][w] = A[p * n + j][w];
            A[p * n + j][w] = x;
        }
    }
}

/* row i -= scaled row k, from column k + 1 on */
FA_INLINE void lu_reduce(int n, int k, const fa_real *restrict pivot,
                         fa_real *restrict row, fa_real reciprocal)
{
    const fa_real scaled = row[k] * reciprocal;

    row[k] = scaled;
    for (int j = k + 1; j < n; j++) {
        row[j] -= scaled * pivot[j];
    }
}

/* P A = L U in place, reciprocal pivots on the diagonal; order [n] */
FA_NOINLINE void lu_factor(int n, fa_real *A, fa_real *order)
{
    for (int k = 0; k < n; k++) {
        lu_pivot(n, A, k, order);
        const fa_real d = A[k * n + k];
        const fa_real reciprocal = 1.0 / fa_select(d == 0.0, fa_splat((double)NAN), d);
        A[k * n + k] = reciprocal;
        for (int i = k + 1; i < n; i++) {
            lu_reduce(n, k, A + k * n, A + i * n, reciprocal);
        }
    }
}

/* some numbers of z, from `first` on: U' z = b, by those before them */
FA_INLINE void lu_forward(int count, int first, int n, const fa_real *restrict A,
                          fa_real *restrict x)
{
    fa_real z[LU_COLUMNS];

    memcpy(z, x + first, (size_t)count * sizeof(fa_real));
    for (int k = 0; k < first; k++) {
        FA_UNROLL
        for (int c = 0; c < count; c++) { /* sums that do not wait for each other */
            z[c] -= x[k] * A[k * n + first + c];
        }
    }
    FA_UNROLL
    for (int c = 0; c < count; c++) {
        const fa_real *row = A + (first + c) * n + first;
        z[c] *= row[c];
        FA_UNROLL
        for (int j = c + 1; j < count; j++) {
            z[j] -= z[c] * row[j];
        }
    }
    memcpy(x + first, z, (size_t)count * sizeof(fa_real));
}

/* some numbers of v: L' v = z, by those after them */
FA_INLINE void lu_backward(int count, int first, int n, const fa_real *restrict A,
                           fa_real *restrict x)
{
    fa_real v[LU_COLUMNS];

    memcpy(v, x + first, (size_t)count * sizeof(fa_real));
    for (int k = n - 1; k >= first + count; k--) {
        FA_UNROLL
        for (int c = 0; c < count; c++) {
            v[c] -= x[k] * A[k * n + first + c];
        }
    }
    FA_UNROLL
    for (int c = count - 1; c > 0; c--) {
        const fa_real *row = A + (first + c) * n + first;
        FA_UNROLL
        for (int j = 0; j < c; j++) {
            v[j] -= v[c] * row[j];
        }
    }
    memcpy(x + first, v, (size_t)count * sizeof(fa_real));
}

/* x becomes A'^-1 x, with the factors of A (O7) */
FA_NOINLINE void lu_solve(int n, const fa_real *restrict A,
                          const fa_real *restrict order, fa_real *restrict x)
{
    int at = 0;

    for (; at + LU_COLUMNS <= n; at += LU_COLUMNS) {
        lu_forward(LU_COLUMNS, at, n, A, x);
    }
    switch (n - at) { /* the rest, and the first of the way back */
    case 3:
        lu_forward(3, at, n, A, x);
        lu_backward(3, at, n, A, x);
        break;
    case 2:
        lu_forward(2, at, n, A, x);
        lu_backward(2, at, n, A, x);
        break;
    case 1:
        lu_forward(1, at, n, A, x);
    }
    for (; at > 0; at -= LU_COLUMNS) {
        lu_backward(LU_COLUMNS, at - LU_COLUMNS, n, A, x);
    }
    for (int k = n - 1; k >= 0; k--) {
        const fa_mask moved = order[k] != (double)k;
        for (int w = 0; fa_any(moved) && w < FA_LANES; w++) {
            const int p = (int)order[k][w];
            const double y = x[k][w];
            x[k][w] = x[p][w];
            x[p][w] = y;
        }
    }
}

#endif
