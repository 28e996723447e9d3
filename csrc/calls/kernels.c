/*
 * kernels.c -- what the kernels take, and to which arms they apply
 *
 * Checked by  tests/c/test_dispatch.c, tests/calls/test_isa.py.
 */
#include "calls/kernels.h"

#include "calls/kernel_table.h"
#include "model/layout.h"

#define OPERANDS(...) {__VA_ARGS__}
#define ROW(kernel, name, function, doc, node, arms, reads, operands, ...)             \
    [kernel] = {#name,                                                                 \
                #function,                                                             \
                doc,                                                                   \
                node,                                                                  \
                arms,                                                                  \
                reads,                                                                 \
                (int)(sizeof((const char *[])OPERANDS operands) / sizeof(char *)) - 1, \
                OPERANDS operands},

const fa_kernel_row fa_kernel_rows[FA_N_KERNELS] = {FA_KERNELS(ROW)};

int fa_kernel_inputs(fa_kernel kernel)
{
    return fa_kernel_rows[kernel].n_in;
}

int fa_kernel_applies(const fa_model *model, fa_kernel kernel)
{
    const fa_kernel_arms arms = fa_kernel_rows[kernel].arms;
    if (arms == FA_ARMS_BY_BODIES) {
        return !model->tree;
    }
    return arms == FA_ALL_ARMS ||
           (arms == FA_CLOSED_ARMS) == (model->n_constraints > 0);
}

int fa_kernel_takes_pair(fa_kernel kernel)
{
    return fa_kernel_rows[kernel].node == FA_NODE_PAIR;
}

int fa_kernel_takes_tau(fa_kernel kernel)
{
    const fa_kernel_row *row = fa_kernel_rows + kernel;
    return row->n_in > 2 && row->operands[2][0] == 'T';
}
