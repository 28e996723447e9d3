/*
 * matrix_rows.h -- matrices from lanes to the states piece by piece
 *
 * A matrix in lanes is more than the first cache has room for, three of them more than the
 * second. M goes to the states from its lower triangle, that of an arm with branches, most
 * of it zeros, from the numbers on paths; derivatives of such arms one after the other,
 * through one matrix in lanes.
 *
 * Checked by  tests/dynamics/test_branches.py: layouts, failures.
 */
#ifndef FA_MATRIX_ROWS_H
#define FA_MATRIX_ROWS_H

#include "calls/call.h"
#include "calls/kernels.h"
#include "kernels/batch/operands.h"
#include "kernels/bodies/branches.h"
#include "kernels/derivatives/branch_tangents.c"
#include "kernels/dynamics/mass_matrix.c"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/kinds.h"
#include "model/layout.h"

/* a kernel on a block, results written and failures counted; as batch_store */
typedef void (*rows_writer)(const fa_model *, const fa_call *, const fa_operand *out,
                            size_t at, fa_failures *bad);

/* FA_LANES entries of each state, or zeros where x is NULL */
FA_INLINE void rows_put(char *to, ptrdiff_t stride, size_t states, const fa_real *x)
{
    if (x) {
        batch_store_row(to, stride, states, x);
        return;
    }
    for (size_t w = 0; w < states; w++, to += stride) {
        fa_store(to, (fa_real){0});
    }
}

/*
 * n entries that stand side by side, from numbers M at places: those on paths of b, of
 * which FA_LANES at the place `zero` are not moved, or, where b is NULL, any
 */
FA_INLINE void rows_gather(const fa_real *M, const fa_branches *b, const int zero,
                           const int *places, int n, char *to, ptrdiff_t stride,
                           size_t states)
{
    for (int e = 0; e < n; e += FA_LANES) {
        const int from = batch_next_row(e, n);
        fa_real x[FA_LANES];
        int zeros = 0;
        for (int c = 0; c < FA_LANES; c++) {
            const int place = places[from + c];
            x[c] = M[b ? br_pair(b, place) : place];
            zeros += b && place == zero;
        }
        rows_put(to + from * (ptrdiff_t)sizeof(double), stride, states,
                 zeros == FA_LANES ? NULL : x);
    }
}

/* M of the states from `at` on; failures are counted */
FA_NOINLINE void rows_mass(const fa_model *model, const fa_call *call,
                           const fa_operand *out, size_t at, fa_failures *bad)
{
    const fa_branches *b = model->branches;
    const size_t states = (size_t)call->states, failed = bad->count;
    char *to = out->data + (ptrdiff_t)at * out->stride + out->offset[0];
    fa_real *M = call->work;

    mm_run_paths(model, call->in[0], M + b->n_pairs + 1, M);
    M[b->n_pairs] = (fa_real){0};
    batch_count(M, b->n_pairs + 1, at, states, bad);
    /* zeros of states that failed are NaN */
    const int zero = bad->count > failed ? -1 : 2 * b->n_pairs;

    for (int i = 0; i < b->n; i++, to += (ptrdiff_t)b->n * (ptrdiff_t)sizeof(double)) {
        rows_gather(M, b, zero, b->place + i * b->n_tiles * FA_BRANCH_TILE, b->n, to,
                    out->stride, states);
    }
}

/* where the entries of a symmetric matrix [n][n] are in its lower triangle */
FA_INLINE void rows_places(const int n, int *places)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            *places++ = j < i ? fa_tri(i, j) : fa_tri(j, i);
        }
    }
}

/* M of arms without branches, likewise, from its lower triangle */
FA_NOINLINE void rows_triangle(const fa_model *model, const fa_call *call,
                               const fa_operand *out, size_t at, fa_failures *bad)
{
    const int size = model->nv * model->nv, kept = fa_tri(model->nv, 0);
    char *to = out->data + (ptrdiff_t)at * out->stride + out->offset[0];
    fa_real *M = call->out;
    int *places = (int *)(M + kept); /* in the other half of the matrix in lanes */

    if (at == 0) { /* they stay from block to block */
        rows_places(model->nv, places);
    }
    mm_triangle(model, call->in[0], 0, call->work, M);
    batch_count(M, kept, at, (size_t)call->states, bad);
    rows_gather(M, NULL, 0, places, size, to, out->stride, (size_t)call->states);
}

/* X [nv][nv] of the states, n >= FA_LANES; entries between different trees are zero */
FA_INLINE void rows_matrix(const fa_branches *b, const fa_real *restrict X, char *to,
                           ptrdiff_t stride, size_t states)
{
    for (int i = 0; i < b->n; i++, to += (ptrdiff_t)b->n * (ptrdiff_t)sizeof(double)) {
        for (int j = 0; j < b->n; j += FA_LANES) {
            const int from = batch_next_row(j, b->n);
            int apart = 0;
            for (int c = 0; c < FA_LANES && b->is_split; c++) {
                apart += b->root[from + c] != b->root[i];
            }
            rows_put(to + from * (ptrdiff_t)sizeof(double), stride, states,
                     apart == FA_LANES ? NULL : X + i * b->n + from);
        }
    }
}

/* NaN in all entries of a state */
FA_NOINLINE void rows_spoil(const fa_operand *out, size_t state)
{
    char *to = out->data + (ptrdiff_t)state * out->stride;

    for (int e = 0; e < out->size; e++) {
        batch_store_entry(to + out->offset[e], 0, 1, fa_splat((double)NAN));
    }
}

/* dqdd/dq, dqdd/dqd, dqdd/dtau of the states from `at` on */
FA_NOINLINE void rows_tangents(const fa_model *model, const fa_call *call,
                               const fa_operand *out, size_t at, fa_failures *bad)
{
    const int size = model->nv * model->nv;
    const size_t states = (size_t)call->states;
    char *to = out->data + (ptrdiff_t)at * out->stride + out->offset[0];
    bt_state s = bt_prepare(model, call);
    fa_real sum = {0};

    if (at == 0) { /* they stay zero from block to block */
        fa_zero(call->out, size);
    }
    for (int part = 0; part < 3; part++) {
        bt_part(model->branches, &s, part, call->out);
        rows_matrix(model->branches, call->out,
                    to + part * size * (ptrdiff_t)sizeof(double), out->stride, states);
    }
    for (int c = 0; c < FA_BRANCH_TILE; c++) {
        sum += s.finite[c];
    }
    const fa_mask failed = sum != 0.0;
    if (!fa_any(failed)) {
        return;
    }
    fa_zero(call->out, size);
    for (size_t w = 0; w < states; w++) {
        if (failed[w]) {
            rows_spoil(out, at + w);
            bad->first = bad->count++ ? bad->first : at + w;
        }
    }
}

/* the writer of a kernel for states side by side, or NULL */
FA_NOINLINE rows_writer rows_of(const fa_model *model, fa_kernel kernel, int is_row)
{
    if (!is_row || model->nv < FA_LANES) {
        return NULL;
    }
    if (!model->branches) {
        const int is_plain = !model->tree && model->fidelity != FA_LINEAR;
        return kernel == FA_MASS_MATRIX && is_plain ? rows_triangle : NULL;
    }
    return kernel == FA_MASS_MATRIX        ? rows_mass
           : kernel == FA_FORWARD_TANGENTS ? rows_tangents
                                           : NULL;
}

#endif
