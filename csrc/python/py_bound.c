/*
 * py_bound.c -- what a gufunc computes with, and what it says of failures
 */
#include "python/py_bound.h"

#include "model/layout.h"

#include <stdio.h>

int py_bound_dim(const fa_model *model, char letter)
{
    switch (letter) {
    case 'Q':
        return model->nq;
    case 'V':
    case 'T':
        return model->nv;
    case 'B':
        return model->n_links;
    case 'C':
        return model->n_constraints;
    case 'N':
        return model->n_nodes;
    default:
        return letter - '0';
    }
}

void py_bound_report(const loop_bound *b, fa_failures bad, size_t count)
{
    char text[200];

    if (!bad.count || b->quiet) {
        return;
    }
    snprintf(text, sizeof text,
             "%s: %zu of %zu states gave a result that is NaN or infinite, the first "
             "at position %zu",
             b->row.name, bad.count, count, bad.first);
    py_raise("NotFiniteError", text);
}

fa_failures py_bound_batch(const loop_bound *b, const fa_kernels *kernels, size_t first,
                           size_t count, const loop_index *index,
                           const fa_operand *operands, void *work)
{
    const ptrdiff_t at = (ptrdiff_t)first;
    const char *nodes = index->nodes ? index->nodes + at * index->nodes_stride : NULL;
    fa_operand part[FA_MAX_OPERANDS];

    for (int i = 0; i <= b->n_in; i++) {
        part[i] = operands[i];
        part[i].data += at * part[i].stride;
    }
    if (b->stack) {
        return kernels->stack_batch(
            b->stack, b->kernel, count, index->arms + at * index->arms_stride,
            index->arms_stride, nodes, index->nodes_stride, part, work);
    }
    return b->model ? kernels->batch(b->model, b->kernel, count, nodes,
                                     index->nodes_stride, part, work)
                    : kernels->map(b->map, count, part, work);
}
