/*
 * branches.h -- matrices of arms with branches: numbers on paths, and full ones
 *
 * Layout      of fa_branches (model/kinds.h): a symmetric matrix [n_pairs] has its lower
 *             triangle, row by row; any other one [2 n_pairs + 1] the lower triangle, the
 *             upper one at the same pairs, and a zero.
 * Checked by  tests/dynamics/test_branches.py.
 */
#ifndef FA_BRANCHES_LANES_H
#define FA_BRANCHES_LANES_H

#include "lanes/lane.h"
#include "model/kinds.h"
#include "model/layout.h"

/* place of coordinate i in the path of any k that has it */
FA_INLINE int br_depth(const fa_branches *b, int i)
{
    return b->first[i + 1] - b->first[i] - 1;
}

/* size of a matrix that is not symmetric */
FA_INLINE int br_size(const fa_branches *b)
{
    return 2 * b->n_pairs + 1;
}

/* pair of an entry of a symmetric matrix, or n_pairs: zero */
FA_INLINE int br_pair(const fa_branches *b, int place)
{
    return place >= b->n_pairs ? place - b->n_pairs : place;
}

/* M [n][n] of a symmetric matrix [n_pairs + 1], whose last number becomes zero */
FA_NOINLINE void br_expand(const fa_branches *b, fa_real *restrict pairs,
                           fa_real *restrict M)
{
    const int width = b->n_tiles * FA_BRANCH_TILE;

    pairs[b->n_pairs] = (fa_real){0};
    for (int i = 0; i < b->n; i++) {
        for (int j = 0; j < b->n; j++) {
            M[i * b->n + j] = pairs[br_pair(b, b->place[i * width + j])];
        }
    }
}

/* the numbers on paths of any matrix [n][n] */
FA_NOINLINE void br_take(const fa_branches *b, const fa_real *restrict A,
                         fa_real *restrict pairs)
{
    for (int k = 0; k < b->n; k++) {
        for (int p = b->first[k]; p < b->first[k + 1]; p++) {
            pairs[p] = A[k * b->n + b->other[p]];
            pairs[b->n_pairs + p] = A[b->other[p] * b->n + k];
        }
    }
    pairs[2 * b->n_pairs] = (fa_real){0};
}

/* B' A B of a matrix of the tree, for the model in front of it (L6) */
FA_NOINLINE void br_sum(const fa_model *model, const int is_symmetric,
                        const fa_real *restrict tree, fa_real *restrict pairs)
{
    const fa_branches *b = model->branches, *of = model->tree->branches;
    const int n = b->n_pairs, from = of->n_pairs;

    fa_zero(pairs, is_symmetric ? n : br_size(b));
    for (int k = 0; k < of->n; k++) {
        const fa_follow *row = model->velocities + k;
        for (int p = of->first[k]; p < of->first[k + 1]; p++) {
            const fa_follow *column = model->velocities + of->other[p];
            const double ratio = row->ratio * column->ratio;
            const int swaps = row->at < column->at, own = of->other[p] == k;
            const int high = swaps ? column->at : row->at;
            const int low = swaps ? row->at : column->at;
            const int at = b->first[high] + br_depth(b, low);
            if (high == low) { /* both triangles meet on the diagonal */
                pairs[at] += ratio * tree[p];
                if (!own) {
                    pairs[at] += ratio * tree[is_symmetric ? p : from + p];
                }
            } else if (is_symmetric) {
                pairs[at] += ratio * tree[p];
            } else {
                pairs[swaps ? n + at : at] += ratio * tree[p];
                pairs[swaps ? at : n + at] += ratio * tree[from + p];
            }
        }
    }
}

#endif
