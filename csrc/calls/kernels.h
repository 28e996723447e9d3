/*
 * kernels.h -- what can be computed of an arm, and the operands of a batch
 */
#ifndef FA_KERNELS_H
#define FA_KERNELS_H

#include "calls/kernel_table.h"
#include "model/layout.h"
#include "model/stacks.h"

#include <stddef.h>

#define FA_KERNEL_NUMBER(kernel, ...) kernel,
typedef enum { FA_KERNELS(FA_KERNEL_NUMBER) FA_N_KERNELS } fa_kernel;
#undef FA_KERNEL_NUMBER

/* inputs of a kernel without the node number */
enum { FA_MAX_INPUTS = 6, FA_MAX_OPERANDS = FA_MAX_INPUTS + 1 };

/* one operand of a batch: element e of state i is at data + i * stride + offset[e] */
typedef struct {
    char *data;
    ptrdiff_t stride;
    int size;
    const ptrdiff_t *offset; /* [size] in bytes */
} fa_operand;

typedef struct {
    size_t count; /* states whose result is not finite */
    size_t first; /* the first of them */
} fa_failures;

/* numbers of nodes in front of the other operands */
typedef enum { FA_NO_NODE, FA_ONE_NODE, FA_NODE_PAIR } fa_kernel_node;

/* arms to which a kernel applies: all; those with constraints; those without; those
 * without followers, as it has rows by bodies, and that of a follower is part of its
 * leader's */
typedef enum {
    FA_ALL_ARMS,
    FA_CLOSED_ARMS,
    FA_OPEN_ARMS,
    FA_ARMS_BY_BODIES
} fa_kernel_arms;

/* what a kernel reads: lists of a stack, as bits, and what others do without: nodes on
 * which nothing hangs, bodies that never move */
enum {
    FA_READS_PLACES = 1 << FA_STACK_PLACES,
    FA_READS_MOTION = 1 << FA_STACK_MOTION,
    FA_READS_BODIES = 1 << FA_STACK_BODIES,
    FA_READS_ONE_NODE = 1 << FA_STACK_USES,
    FA_READS_ALL_NODES = 2 << FA_STACK_USES,
    FA_READS_BODIES_IF_CLOSED = 4 << FA_STACK_USES,
    FA_READS_RESTING = 8 << FA_STACK_USES /* also bodies that never move */
};

/* a row of kernel_table.h */
typedef struct {
    const char *name, *function, *doc;
    fa_kernel_node node;
    fa_kernel_arms arms;
    int reads;
    int n_in;                              /* inputs, without the node */
    const char *operands[FA_MAX_OPERANDS]; /* inputs, then the output */
} fa_kernel_row;

extern const fa_kernel_row fa_kernel_rows[FA_N_KERNELS];

/* whether a kernel has a meaning for an arm: some need constraints */
int fa_kernel_applies(const fa_model *model, fa_kernel kernel);

/* whether the third input of a kernel is tau, of n_actuators or nv entries */
int fa_kernel_takes_tau(fa_kernel kernel);

/* whether the node number of a kernel is that of a pair */
int fa_kernel_takes_pair(fa_kernel kernel);

/* number of inputs of a kernel, without the node number */
int fa_kernel_inputs(fa_kernel kernel);

#endif
