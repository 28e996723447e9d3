/*
 * branch_factors.h -- M = L' D L of arms with branches, on their paths
 *
 *             L, unit lower triangular, has numbers where M has them on paths, and so
 *             has L^-T x where x is zero but on the path and outboard of one coordinate:
 *                 L'y = x inward, over few rows; x = L^-1 D^-1 y outward, over all  (N3)
 *             A tile of columns is solved for side by side, in registers; its rows fit
 *             in the first cache.
 * Layout      kernels/bodies/branches.h; D^-1 stands on the diagonal. A tile [n][8].
 * Cost        n d^2 / 2 to factor with paths of length d, n^2 d for n columns.
 * Source      R. Featherstone, Int. J. Robotics Research 24(6), 2005.
 * Checked by  tests/dynamics/test_branches.py.
 */
#ifndef FA_BRANCH_FACTORS_H
#define FA_BRANCH_FACTORS_H

#include "kernels/bodies/branches.h"
#include "lanes/lane.h"
#include "model/kinds.h"
#include "model/layout.h"

/* factors in place of M [n_pairs]; NaN where a pivot is not positive */
FA_NOINLINE void br_factor(const fa_branches *b, fa_real *M)
{
    for (int k = b->n - 1; k >= 0; k--) {
        const int *path = b->other + b->first[k], depth = br_depth(b, k);
        fa_real *row = M + b->first[k];
        const fa_real pivot = fa_pivot(row[depth]);

        row[depth] = pivot;
        for (int t = depth - 1; t >= 0; t--) {
            /* entries up to t are still those of L D, as the row needs them */
            const fa_real scaled = row[t] * pivot;
            fa_real *restrict to = M + b->first[path[t]];
            for (int s = 0; s <= t; s++) {
                to[s] -= scaled * row[s];
            }
            row[t] = scaled;
        }
    }
}

/* x becomes M^-1 x, with the factors */
FA_NOINLINE void br_solve(const fa_branches *b, const fa_real *restrict L,
                          fa_real *restrict x)
{
    for (int k = b->n - 1; k >= 0; k--) {
        for (int p = b->first[k]; p < b->first[k + 1] - 1; p++) {
            x[b->other[p]] -= L[p] * x[k];
        }
    }
    for (int k = 0; k < b->n; k++) {
        const int last = b->first[k + 1] - 1;
        fa_real sum = x[k] * L[last];
        for (int p = b->first[k]; p < last; p++) {
            sum -= L[p] * x[b->other[p]];
        }
        x[k] = sum;
    }
}

/* row k of a tile, handed to all before it on its path from coordinate `from` on */
FA_INLINE void br_hand(const fa_branches *b, const fa_real *restrict L, int k, int from,
                       fa_real *T)
{
    fa_real row[FA_BRANCH_TILE];

    for (int c = 0; c < FA_BRANCH_TILE; c++) {
        row[c] = T[k * FA_BRANCH_TILE + c];
    }
    for (int p = b->first[k + 1] - 2; p >= b->first[k] && b->other[p] >= from; p--) {
        fa_real *to = T + b->other[p] * FA_BRANCH_TILE;
        const fa_real factor = L[p];
        for (int c = 0; c < FA_BRANCH_TILE; c++) {
            to[c] -= factor * row[c];
        }
    }
}

/* row k of a tile less the rows outboard, whose pairs with k, and numbers, are listed */
FA_INLINE void br_gather(const fa_real *restrict L, int k, int count, const int *listed,
                         fa_real *T)
{
    fa_real row[FA_BRANCH_TILE];

    for (int c = 0; c < FA_BRANCH_TILE; c++) {
        row[c] = T[k * FA_BRANCH_TILE + c];
    }
    for (int i = 0; i < count; i++) {
        const fa_real *from = T + listed[2 * i + 1] * FA_BRANCH_TILE;
        const fa_real factor = L[listed[2 * i]];
        for (int c = 0; c < FA_BRANCH_TILE; c++) {
            row[c] -= factor * from[c];
        }
    }
    for (int c = 0; c < FA_BRANCH_TILE; c++) {
        T[k * FA_BRANCH_TILE + c] = row[c];
    }
}

/* row k of a tile of solutions: D^-1 of what it has, less those before it on its path */
FA_INLINE void br_row(const fa_branches *b, const fa_real *restrict L, int k,
                      fa_real *T)
{
    const int last = b->first[k + 1] - 1;
    const fa_real pivot = L[last];
    fa_real row[FA_BRANCH_TILE];

    for (int c = 0; c < FA_BRANCH_TILE; c++) {
        row[c] = pivot * T[k * FA_BRANCH_TILE + c];
    }
    for (int p = b->first[k]; p < last; p++) {
        const fa_real *from = T + b->other[p] * FA_BRANCH_TILE;
        const fa_real factor = L[p];
        for (int c = 0; c < FA_BRANCH_TILE; c++) {
            row[c] -= factor * from[c];
        }
    }
    for (int c = 0; c < FA_BRANCH_TILE; c++) {
        T[k * FA_BRANCH_TILE + c] = row[c];
    }
}

FA_INLINE int br_columns(const fa_branches *b, int tile)
{
    const int left = b->n - tile * FA_BRANCH_TILE;
    return left < FA_BRANCH_TILE ? left : FA_BRANCH_TILE;
}

/* a row of a tile to a matrix, negative; no zero gets a sign */
FA_INLINE void br_put(const int count, const fa_real *restrict row,
                      fa_real *restrict to)
{
    if (count == FA_BRANCH_TILE) {
        for (int c = 0; c < FA_BRANCH_TILE; c++) {
            to[c] = 0.0 - row[c];
        }
        return;
    }
    for (int c = 0; c < count; c++) {
        to[c] = 0.0 - row[c];
    }
}

/*
 * -M^-1 A in a tile of columns of X [n][n], whose other trees are zero, A [br_size] (N3).
 *   T      [n][FA_BRANCH_TILE] scratch
 *   finite  [FA_BRANCH_TILE] where 0 x is added of all numbers
 */
FA_NOINLINE void br_solve_tile(const fa_branches *b, const fa_real *restrict L,
                               const fa_real *restrict A, int tile, fa_real *restrict T,
                               fa_real *restrict finite, fa_real *restrict X)
{
    const int *reached = b->reached + tile * b->n, *rows = b->rows + tile * b->n;
    const int *outboard = b->outboard + b->first_outboard[tile];
    const int n = b->n, at = tile * FA_BRANCH_TILE, count = br_columns(b, tile);

    for (int r = 0; r < b->n_reached[tile]; r++) {
        const int k = reached[r];
        const int *place = b->place + k * b->n_tiles * FA_BRANCH_TILE + at;
        for (int c = 0; c < FA_BRANCH_TILE; c++) {
            T[k * FA_BRANCH_TILE + c] = A[place[c]];
        }
    }
    for (int r = 0; r < b->n_rows[tile]; r++) {
        const int listed = b->n_outboard[tile * b->n + r];
        br_gather(L, rows[r], listed, outboard, T);
        outboard += 2 * listed;
    }
    for (int r = 0; r < b->n_reached[tile]; r++) {
        const int k = reached[r];
        br_row(b, L, k, T);
        for (int c = 0; c < FA_BRANCH_TILE; c++) {
            finite[c] += 0.0 * T[k * FA_BRANCH_TILE + c];
        }
        br_put(count, T + k * FA_BRANCH_TILE, X + k * n + at);
    }
}

/* a tile of columns of M^-1, and what stands across the diagonal; tiles in order */
FA_NOINLINE void br_inverse_tile(const fa_branches *b, const fa_real *restrict L,
                                 int tile, fa_real *restrict T,
                                 fa_real *restrict finite, fa_real *restrict W)
{
    const int *reached = b->reached + tile * b->n;
    const int n = b->n, at = tile * FA_BRANCH_TILE, count = br_columns(b, tile);

    for (int r = 0; r < b->n_reached[tile]; r++) {
        const int k = reached[r];
        for (int c = 0; c < FA_BRANCH_TILE; c++) {
            T[k * FA_BRANCH_TILE + c] = k >= at     ? fa_splat(k == at + c ? 1.0 : 0.0)
                                        : c < count ? W[k * n + at + c]
                                                    : (fa_real){0};
        }
    }
    for (int k = at + count - 1; k > at; k--) {
        br_hand(b, L, k, at, T);
    }
    for (int r = 0; r < b->n_reached[tile]; r++) {
        const int k = reached[r];
        if (k < at) {
            continue;
        }
        br_row(b, L, k, T);
        for (int c = 0; c < FA_BRANCH_TILE; c++) {
            finite[c] += 0.0 * T[k * FA_BRANCH_TILE + c];
        }
        for (int c = 0; c < count && at + c <= k; c++) {
            const fa_real x = T[k * FA_BRANCH_TILE + c];
            W[k * n + at + c] = W[(at + c) * n + k] = x;
        }
    }
}

#endif
