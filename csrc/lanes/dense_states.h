/*
 * dense_states.h -- dense systems of implicit steps, of all states of a block or of few
 *
 *             Matrices A are kept as B = A', of which solutions and products take rows
 *             alone (O7). All lanes in use: one system per lane (dense_lanes.h). Few of
 *             them, and many unknowns: one state after the other, numbers of a row side
 *             by side in the lanes, so that a state alone does a part of the work, in a
 *             part of the memory. Here alone lanes read each other.
 * Bits        are the same in both: each number goes through the same operations in the
 *             same order, also where panels of FA_LANES columns put some of them off.
 * Cost        n^3 / 3 multiplications; n^2 for a solution or a product.
 * Checked by  tests/c/test_dense.c, tests/simulation/test_many_unknowns.py.
 */
#ifndef FA_DENSE_STATES_H
#define FA_DENSE_STATES_H

#include "lanes/dense_lanes.h"
#include "lanes/lane.h"

/* fewest unknowns of systems by rows: at half of it a step of one state takes as long
 * as on lanes, at double a tenth longer than it needs */
enum { DS_MIN_UNKNOWNS = 24 };

/* systems of one block */
typedef struct {
    int n, width;   /* unknowns; vectors of a row */
    int states;     /* lanes in use: those past them repeat the last of these */
    int rows;       /* one state after the other */
    fa_real *x;     /* [width] of one state */
    double *column; /* [width FA_LANES] */
    double *diagonal;
} ds_block;

static int ds_width(int n)
{
    return (n + FA_LANES - 1) / FA_LANES;
}

/* scratch, in fa_real */
static size_t ds_work_size(int n)
{
    return 3 * (size_t)ds_width(n);
}

static ds_block ds_split(int n, int states, fa_real *work)
{
    const int width = ds_width(n);
    return (ds_block){n,
                      width,
                      states,
                      n >= DS_MIN_UNKNOWNS && 2 * states <= FA_LANES,
                      work,
                      (double *)(work + width),
                      (double *)(work + 2 * width)};
}

/* where the matrix of one state begins */
FA_INLINE size_t ds_at(const ds_block *d, int state)
{
    return (size_t)state * (size_t)(d->n * d->width);
}

/* vectors of all matrices of a kind; that of one state has n * width */
FA_INLINE int ds_total(const ds_block *d)
{
    return d->rows ? d->states * d->n * d->width : d->n * d->n;
}

/* B of A, one per lane, for the wanted states; without `rows` for all of them. Rows of A
 * are `along` apart, columns `across`: n and 1, or 1 and n if it is B already */
FA_NOINLINE void ds_take(const ds_block *d, fa_mask wanted, int along, int across,
                         const fa_real *restrict A, fa_real *restrict B)
{
    const int n = d->n, stride = d->width * FA_LANES;

    for (int i = 0; i < n && !d->rows; i++) {
        for (int j = 0; j < n; j++) {
            B[j * n + i] = A[i * along + j * across];
        }
    }
    for (int w = 0; w < d->states && d->rows; w++) {
        double *numbers = (double *)(B + ds_at(d, w));
        for (int i = 0; i < stride && wanted[w]; i++) {
            for (int j = 0; j < n; j++) {
                numbers[j * stride + i] = i < n ? A[i * along + j * across][w] : 0.0;
            }
        }
    }
}

/* S = M + c (C + c K) */
FA_NOINLINE void ds_sum(const ds_block *d, const fa_real *restrict M,
                        const fa_real *restrict C, const fa_real *restrict K, fa_real c,
                        fa_real *restrict S)
{
    const int total = ds_total(d), size = d->rows ? d->n * d->width : total;

    for (int first = 0, w = 0; first < total; first += size, w++) {
        const fa_real own = d->rows ? fa_splat(c[w]) : c;
        for (int i = first; i < first + size; i++) {
            S[i] = M[i] + own * (C[i] + own * K[i]);
        }
    }
}

/* x joins column j of A */
FA_NOINLINE void ds_add_column(const ds_block *d, int j, const fa_real *x, fa_real *B)
{
    for (int i = 0; i < d->n && !d->rows; i++) {
        B[j * d->n + i] += x[i];
    }
    for (int w = 0; w < d->states && d->rows; w++) {
        double *row = (double *)(B + ds_at(d, w) + j * d->width);
        for (int i = 0; i < d->n; i++) {
            row[i] += x[i][w];
        }
    }
}

/* x -= z_0 row 0 + z_1 row 1 + ... in this order, some vectors of them */
FA_INLINE void ds_subtract_some(int vectors, int stride, const fa_real *restrict rows,
                                const double *restrict z, int count,
                                fa_real *restrict x)
{
    fa_real sum[4];

    memcpy(sum, x, (size_t)vectors * sizeof(fa_real));
    for (int m = 0; m < count; m++) {
        FA_UNROLL
        for (int c = 0; c < vectors; c++) { /* sums that do not wait for each other */
            sum[c] -= z[m] * rows[m * stride + c];
        }
    }
    memcpy(x, sum, (size_t)vectors * sizeof(fa_real));
}

/* the same of vectors `from` to `to`; rows are `stride` vectors apart */
FA_INLINE void ds_subtract(int from, int to, int stride, const fa_real *rows,
                           const double *z, int count, fa_real *x)
{
    for (; from + 4 <= to; from += 4) {
        ds_subtract_some(4, stride, rows + from, z, count, x + from);
    }
    for (; from < to; from++) {
        ds_subtract_some(1, stride, rows + from, z, count, x + from);
    }
}

/* 0, 1, 2, ... */
FA_INLINE fa_mask ds_numbers(void)
{
    fa_mask number;
    for (int m = 0; m < FA_LANES; m++) {
        number[m] = m;
    }
    return number;
}

/* one state from its lane */
static void ds_read(const ds_block *d, int w, const fa_real *x)
{
    double *own = (double *)d->x;

    d->x[d->width - 1] = (fa_real){0};
    for (int i = 0; i < d->n; i++) {
        own[i] = x[i][w];
    }
}

/* the result of one state to its lane, and to those that repeat it */
static void ds_write(const ds_block *d, int w, fa_real *x)
{
    const double *own = (const double *)d->x;
    const int end = w == d->states - 1 ? FA_LANES : w + 1;

    for (int i = 0; i < d->n; i++) {
        for (int v = w; v < end; v++) {
            x[i][v] = own[i];
        }
    }
}

/* y = A x */
FA_NOINLINE void ds_multiply(const ds_block *d, const fa_real *restrict B,
                             const fa_real *restrict x, fa_real *restrict y)
{
    const int n = d->n, width = d->width;

    if (!d->rows) {
        dense_multiply_symmetric(n, B, x, y);
        return;
    }
    for (int w = 0; w < d->states; w++) {
        fa_zero(d->x, width);
        for (int j = 0; j < n; j += FA_LANES) {
            const int count = n - j < FA_LANES ? n - j : FA_LANES;
            double z[FA_LANES];
            for (int m = 0; m < count; m++) {
                z[m] = -x[j + m][w];
            }
            ds_subtract(0, width, width, B + ds_at(d, w) + j * width, z, count, d->x);
        }
        ds_write(d, w, y);
    }
}

/* the row that replaces row k, as lu_choose has it */
static int ds_choose(int n, int stride, const double *B, int k)
{
    int chosen = k;
    double best = 0.0;

    for (int i = k; i < n; i++) {
        double most = 0.0;
        for (int j = k; j < n; j++) {
            most = fmax(most, fabs(B[i * stride + j]));
        }
        const double size = most > 0.0 ? fabs(B[i * stride + k]) / most : 0.0;
        if (size > best) {
            best = size;
            chosen = i;
        }
    }
    return chosen;
}

/* whether row k gives way (O1); column and diagonal are ahead of the rows */
static int ds_gives_way(const ds_block *d, const fa_real *row, int k)
{
    const fa_real *column = (const fa_real *)d->column;
    const fa_real *diagonal = (const fa_real *)d->diagonal;
    const fa_mask number = ds_numbers();
    const fa_real pivot = fa_splat(((const double *)row)[k]);
    fa_mask small = pivot == 0.0;

    for (int c = k / FA_LANES; c < d->width; c++) {
        const fa_real product = column[c] * row[c];
        const fa_mask after = number > k - c * FA_LANES;
        small |=
            after & (dense_size(product) > 100.0 * dense_size(pivot * diagonal[c]));
    }
    return fa_any(small);
}

/* rows `from` on, right of the panel of column k, less those of pivots `first` to
 * `last` */
static void ds_reduce(const ds_block *d, fa_real *B, int k, int first, int last,
                      int from, int to)
{
    for (int i = from; i < to; i++) {
        fa_real *row = B + i * d->width;
        ds_subtract(k / FA_LANES + 1, d->width, d->width, B + first * d->width,
                    (const double *)row + first, last - first, row);
    }
}

/* column k below the pivot, and the diagonal, of rows that are complete */
static void ds_look(const ds_block *d, const fa_real *B, int k)
{
    const int stride = d->width * FA_LANES;
    const double *numbers = (const double *)B;

    for (int i = k; i < d->n; i++) {
        d->column[i] = numbers[i * stride + k];
        d->diagonal[i] = numbers[i * stride + i];
    }
}

/* exchanges rows, all of them complete; returns the one that came to k */
FA_NOINLINE int ds_exchange(const ds_block *d, fa_real *B, int k)
{
    const int p = ds_choose(d->n, d->width * FA_LANES, (const double *)B, k);

    for (int c = 0; p != k && c < d->width; c++) {
        const fa_real x = B[k * d->width + c];
        B[k * d->width + c] = B[p * d->width + c];
        B[p * d->width + c] = x;
    }
    ds_look(d, B, k);
    return p;
}

/* rows below the pivot k, within its panel; the next column, if it is in the panel */
static void ds_eliminate(const ds_block *d, fa_real *B, int k)
{
    const int panel = k / FA_LANES, width = d->width, stride = width * FA_LANES;
    const fa_mask number = ds_numbers() - (k - panel * FA_LANES);
    const int next = k + 1 < (panel + 1) * FA_LANES ? k + 1 : k;
    double *pivot = (double *)(B + k * width);
    fa_real *column = (fa_real *)d->column, *diagonal = (fa_real *)d->diagonal;
    const double reciprocal = 1.0 / (pivot[k] == 0.0 ? (double)NAN : pivot[k]);
    const fa_real own = B[k * width + panel];

    for (int c = panel; c < width; c++) {
        column[c] *= reciprocal;
        diagonal[c] -= column[c] * B[k * width + c];
    }
    pivot[k] = reciprocal;
    for (int i = k + 1; i < d->n; i++) {
        fa_real *row = B + i * width + panel;
        const fa_real scaled = fa_splat(d->column[i]);
        const fa_real reduced = fa_select(number > 0, *row - scaled * own, *row);
        *row = fa_select(number == 0, scaled, reduced);
        d->column[i] = ((const double *)B)[i * stride + next];
    }
}

/* P B = L U in place, reciprocal pivots on the diagonal; order [n] has lanes */
FA_NOINLINE void ds_factor_state(const ds_block *d, fa_real *B, int w, fa_real *order)
{
    const int n = d->n;
    int first = 0; /* of the pivots that rows right of the panel still lack */

    fa_zero(d->x, (int)ds_work_size(n));
    for (int k = 0; k < n; k++) {
        if (k % FA_LANES == 0) {
            ds_reduce(d, B, k - 1, first, k, k, n);
            first = k;
            ds_look(d, B, k);
        }
        ds_reduce(d, B, k, first, k, k, k + 1);
        order[k][w] = k;
        if (ds_gives_way(d, B + k * d->width, k)) {
            ds_reduce(d, B, k, first, k, k + 1, n);
            first = k;
            order[k][w] = ds_exchange(d, B, k);
        }
        ds_eliminate(d, B, k);
    }
}

/* rows of a symmetric matrix, L D L' in place as ldl_factor has it: reciprocal pivots on
 * the diagonal, L below and L' above it */
FA_NOINLINE void ds_factor_symmetric_state(const ds_block *d, fa_real *B)
{
    const int n = d->n, width = d->width, stride = width * FA_LANES;
    double *numbers = (double *)B, *left = d->column, *pivots = d->diagonal;

    for (int j = 0; j < n; j++) {
        double *row = numbers + j * stride;
        const int panel = j / FA_LANES;
        /* what rows above it have left of themselves: (L D)' */
        memcpy(left, row, (size_t)j * sizeof(double));
        ds_subtract(panel, width, width, B, left, j, B + j * width);
        pivots[j] = 1.0 / (row[j] > 0.0 ? row[j] : (double)NAN);
        for (int i = j + 1; i < n; i++) {
            numbers[i * stride + j] = row[i];
            row[i] *= pivots[j];
        }
        for (int k = 0; k < j; k++) {
            row[k] = left[k] * pivots[k];
        }
        row[j] = pivots[j];
    }
}

/* b in d->x becomes z: U' z = b (O7), or, with the diagonal of L', L z = b */
static void ds_forward(const ds_block *d, const fa_real *B, int is_symmetric)
{
    const fa_mask number = ds_numbers();

    for (int c = 0; c < d->width; c++) {
        const fa_real *rows = B + c * FA_LANES * d->width;
        const int left = d->n - c * FA_LANES, count = left < FA_LANES ? left : FA_LANES;
        double z[FA_LANES];
        fa_real b = d->x[c];
        FA_UNROLL
        for (int m = 0; m < FA_LANES; m++) {
            if (m < count) {
                const fa_real own = rows[m * d->width + c];
                z[m] = is_symmetric ? b[m] : b[m] * own[m];
                b = fa_select(number > m, b - z[m] * own, b);
            }
        }
        memcpy(d->x + c, z, (size_t)count * sizeof(double));
        ds_subtract(c + 1, d->width, d->width, rows, z, count, d->x);
    }
}

/* L' v = z, from z in d->x (O7) */
static void ds_backward(const ds_block *d, const fa_real *B)
{
    const fa_mask number = ds_numbers();

    for (int c = d->width - 1; c >= 0; c--) {
        const int left = d->n - c * FA_LANES, count = left < FA_LANES ? left : FA_LANES;
        const fa_real *last = B + (c * FA_LANES + count - 1) * d->width;
        double z[FA_LANES]; /* the last one first */
        fa_real b = d->x[c];
        for (int m = 0; m < count; m++) {
            const int lane = count - 1 - m;
            z[m] = b[lane];
            b = fa_select(number < lane, b - z[m] * last[c - m * d->width], b);
        }
        d->x[c] = b;
        ds_subtract(0, c, -d->width, last, z, count, d->x);
    }
}

/* factors of systems as they are kept, in place; order [n] */
static void ds_factor(const ds_block *d, fa_mask wanted, fa_real *S, fa_real *order)
{
    if (!d->rows) {
        lu_factor(d->n, S, order);
    }
    for (int w = 0; w < d->states && d->rows; w++) {
        if (wanted[w]) {
            ds_factor_state(d, S + ds_at(d, w), w, order);
        }
    }
}

/* factors of B, one system per lane, which goes, of the wanted lanes alone; x [n] is
 * free */
static void ds_factor_wanted(const ds_block *d, fa_mask wanted, fa_real *B, fa_real *x,
                             fa_real *S, fa_real *order)
{
    if (d->rows) {
        ds_take(d, wanted, 1, d->n, B, S);
        ds_factor(d, wanted, S, order);
        return;
    }
    lu_factor(d->n, B, x);
    for (int i = 0; i < d->n * d->n; i++) {
        S[i] = fa_select(wanted, B[i], S[i]);
    }
    for (int i = 0; i < d->n; i++) {
        order[i] = fa_select(wanted, x[i], order[i]);
    }
}

/* x becomes A^-1 x, with the factors */
static void ds_solve(const ds_block *d, const fa_real *S, const fa_real *order,
                     fa_real *x)
{
    double *own = (double *)d->x;

    if (!d->rows) {
        lu_solve(d->n, S, order, x);
    }
    for (int w = 0; w < d->states && d->rows; w++) {
        ds_read(d, w, x);
        ds_forward(d, S + ds_at(d, w), 0);
        ds_backward(d, S + ds_at(d, w));
        for (int k = d->n - 1; k >= 0; k--) {
            const int p = (int)order[k][w];
            const double y = own[k];
            own[k] = own[p];
            own[p] = y;
        }
        ds_write(d, w, x);
    }
}

/* factors of a symmetric matrix, one per lane, of which the lower triangle is read; T is
 * as large, and has them where systems are by rows */
static void ds_factor_symmetric(const ds_block *d, fa_real *A, fa_real *T)
{
    if (!d->rows) {
        ldl_factor(d->n, A);
        return;
    }
    ds_take(d, fa_splat(0.0) == 0.0, d->n, 1, A, T);
    for (int w = 0; w < d->states; w++) {
        ds_factor_symmetric_state(d, T + ds_at(d, w));
    }
}

/* x becomes A^-1 x, with these factors */
static void ds_solve_symmetric(const ds_block *d, const fa_real *A, const fa_real *T,
                               fa_real *x)
{
    double *own = (double *)d->x;

    if (!d->rows) {
        ldl_solve(d->n, A, x);
    }
    for (int w = 0; w < d->states && d->rows; w++) {
        const double *numbers = (const double *)(T + ds_at(d, w));
        ds_read(d, w, x);
        ds_forward(d, T + ds_at(d, w), 1);
        for (int i = 0; i < d->n; i++) {
            own[i] *= numbers[i * (d->width * FA_LANES + 1)];
        }
        ds_backward(d, T + ds_at(d, w));
        ds_write(d, w, x);
    }
}

#endif
