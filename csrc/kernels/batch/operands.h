/*
 * operands.h -- operands of a batch to and from lanes, through their strides
 *
 * Checked by  tests/calls/test_gufunc_layouts.py.
 */
#ifndef FA_OPERANDS_H
#define FA_OPERANDS_H

#include "calls/kernels.h"
#include "lanes/lane.h"

/* whether n numbers of a state stand side by side */
FA_INLINE int batch_is_row(const ptrdiff_t *offset, const int n)
{
    int is_row = 1;
    for (int i = 1; i < n; i++) {
        is_row &= offset[i] == offset[0] + i * (ptrdiff_t)sizeof(double);
    }
    return is_row;
}

/* whether the states of a full block stand side by side */
FA_INLINE int batch_is_straight(const fa_operand *o, size_t states)
{
    return states == FA_LANES && o->stride == (ptrdiff_t)sizeof(double);
}

/*
 * The next entry after e - FA_LANES to be moved in a row: e, or, where fewer than
 * FA_LANES are left, the first of the last ones, some of which are moved twice.
 */
FA_INLINE int batch_next_row(int e, int size)
{
    return e < size && e + FA_LANES > size && size >= FA_LANES ? size - FA_LANES : e;
}

FA_INLINE double batch_number(const char *from)
{
    double value;
    memcpy(&value, from, sizeof value);
    return value;
}

/* a state alone, in every lane */
FA_INLINE void batch_load_one(const fa_operand *o, const char *state, fa_real *lanes)
{
    for (int e = 0; e < o->size; e++) {
        lanes[e] = fa_splat(batch_number(state + o->offset[e]));
    }
}

/* is_row: all numbers of a state stand side by side */
FA_INLINE void batch_load(const fa_operand *o, int is_row, size_t at, size_t states,
                          fa_real *lanes)
{
    const char *state[FA_LANES];

    /* unused lanes repeat the last state: a valid one, never zeros */
    for (size_t w = 0; w < FA_LANES; w++) {
        const size_t i = at + (w < states ? w : states - 1);
        state[w] = o->data + (ptrdiff_t)i * o->stride;
    }
    if (batch_is_straight(o, states)) {
        for (int e = 0; e < o->size; e++) {
            lanes[e] = fa_load(state[0] + o->offset[e]);
        }
        return;
    }
    if (states == 1) {
        batch_load_one(o, state[0], lanes);
        return;
    }
    for (int e = 0; e < o->size;) {
        const int row = batch_next_row(e, o->size);
        if (row + FA_LANES <= o->size &&
            (is_row || batch_is_row(o->offset + row, FA_LANES))) {
            fa_real rows[FA_LANES];
            for (int w = 0; w < FA_LANES; w++) {
                rows[w] = fa_load(state[w] + o->offset[row]);
            }
            fa_transpose(rows, lanes + row);
            e = row + FA_LANES;
        } else {
            fa_real x = {0};
            for (int w = 0; w < FA_LANES; w++) {
                x[w] = batch_number(state[w] + o->offset[e]);
            }
            lanes[e++] = x;
        }
    }
}

/* FA_LANES entries that stand side by side, state by state */
FA_INLINE void batch_store_row(char *to, ptrdiff_t stride, size_t states,
                               const fa_real *x)
{
    fa_real rows[FA_LANES];

    fa_transpose(x, rows);
    if (states == FA_LANES) {
        for (int w = 0; w < FA_LANES; w++) {
            fa_store(to + w * stride, rows[w]);
        }
        return;
    }
    for (size_t w = 0; w < states; w++) {
        fa_store(to, rows[w]);
        to += stride;
    }
}

/* one entry of each state */
FA_INLINE void batch_store_entry(char *to, ptrdiff_t stride, size_t states, fa_real x)
{
    for (size_t w = 0; w < states; w++) {
        const double value = x[w];
        memcpy(to, &value, sizeof value);
        to += stride;
    }
}

/* entries e to e + n of lanes: sums that are zero unless one is not finite */
FA_INLINE void batch_watch(const fa_real *lanes, const int n, fa_real *sums)
{
    for (int i = 0; i < n; i++) {
        sums[i % 4] += 0.0 * lanes[i]; /* additions need not wait for each other */
    }
}

/* is_row as for batch_load; which states have a NaN or an infinity */
FA_INLINE fa_mask batch_store(const fa_operand *o, int is_row, size_t at, size_t states,
                              const fa_real *lanes)
{
    /* copies, which the compiler knows to be none of the numbers that are written */
    const ptrdiff_t stride = o->stride, *offset = o->offset;
    char *const to = o->data + (ptrdiff_t)at * stride;
    const int size = o->size;
    fa_real sums[4] = {{0}, {0}, {0}, {0}};

    if (batch_is_straight(o, states)) {
        for (int e = 0; e < size; e++) {
            fa_store(to + offset[e], lanes[e]);
            sums[0] += 0.0 * lanes[e];
        }
    } else if (states == 1) {
        for (int e = 0; e < size; e++) {
            const double value = lanes[e][0];
            memcpy(to + offset[e], &value, sizeof value);
            sums[0] += 0.0 * lanes[e];
        }
    } else {
        for (int e = 0; e < size;) {
            const int row = batch_next_row(e, size);
            if (row + FA_LANES <= size &&
                (is_row || batch_is_row(offset + row, FA_LANES))) {
                batch_watch(lanes + row, FA_LANES, sums);
                batch_store_row(to + offset[row], stride, states, lanes + row);
                e = row + FA_LANES;
            } else {
                batch_watch(lanes + e, 1, sums);
                batch_store_entry(to + offset[e], stride, states, lanes[e]);
                e++;
            }
        }
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]) != 0.0;
}

/* whether one of `size` numbers is not finite, lane by lane: 0 x summed over them is zero */
FA_INLINE fa_mask batch_not_finite(const fa_real *x, int size)
{
    fa_real sums[4] = {{0}, {0}, {0}, {0}};
    int e = 0;

    for (; e + 4 <= size; e += 4) {
        batch_watch(x + e, 4, sums);
    }
    for (; e < size; e++) {
        batch_watch(x + e, 1, sums);
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]) != 0.0;
}

/* counts the states that failed, and makes all of their results NaN */
FA_INLINE void batch_spoil(const fa_mask failed, fa_real *out, int size, size_t at,
                           size_t states, fa_failures *bad)
{
    /* added, not selected, which gcc 12 cannot compile for two lanes; -0 changes no bit */
    const fa_real spoil = fa_select(failed, fa_splat((double)NAN), fa_splat(-0.0));
    for (int e = 0; e < size; e++) {
        out[e] += spoil;
    }
    for (size_t w = 0; w < states; w++) {
        if (failed[w]) {
            bad->first = bad->count++ ? bad->first : at + w;
        }
    }
}

/* the same for states with a NaN or an infinity among their results */
FA_INLINE void batch_count(fa_real *out, int size, size_t at, size_t states,
                           fa_failures *bad)
{
    const fa_mask failed = batch_not_finite(out, size);
    if (fa_any(failed)) {
        batch_spoil(failed, out, size, at, states, bad);
    }
}

/* results to the states, in one pass; failures are counted */
FA_INLINE void batch_finish(const fa_operand *o, int is_row, size_t at, size_t states,
                            fa_real *lanes, fa_failures *bad)
{
    const fa_mask failed = batch_store(o, is_row, at, states, lanes);
    if (fa_any(failed)) {
        batch_spoil(failed, lanes, o->size, at, states, bad);
        batch_store(o, is_row, at, states, lanes);
    }
}

#endif
