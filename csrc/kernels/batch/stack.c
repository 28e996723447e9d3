/*
 * stack.c -- kernels of a stack: states of different arms side by side
 *
 * A call spreads the constants that its kernel reads over the lanes of a model of its own,
 * in its scratch; the others are left as they are. For each block of states the numbers
 * that differ among the arms are taken from the table of the stack, FA_LANES rows
 * transposed at a time. A state has the same result whatever arms are beside it.
 *
 * Cost        one pass over the constants that the kernel reads for a call, one over its
 *             columns for a block whose arms are not those of the block before.
 * Checked by  tests/stacks/test_stacks.py: a loop over the arms;
 *             tests/c/test_stack.c: scratch
 *             full of NaN, so that a constant that is read and not spread is seen.
 */
#ifndef FA_STACK_C
#define FA_STACK_C

#include "calls/stack_lanes.h"
#include "calls/call.h"
#include "calls/kernels.h"
#include "calls/time_loop.h"
#include "kernels/batch/batch.c"
#include "kernels/batch/stack.h"
#include "kernels/time/rollout.c"
#include "lanes/lane.h"
#include "model/layout.h"
#include "model/stacks.h"

typedef struct {
    batch_arms batch; /* first: batch.c hands this part over */
    const fa_stack *stack;
    fa_model *model;
    fa_real *constants; /* [n_constants + FA_STACK_CHUNK], the last without meaning */
    fa_real **place;    /* [n_chunks] of those that are read */
    const char *index;  /* number of the arm of each state */
    ptrdiff_t index_stride;
    int64_t arms[FA_LANES]; /* now in the lanes, -1: none */
    int node;               /* the one node whose constants are there, or -1 */
    int reads;
} sk_lanes;

static size_t sk_align(size_t size)
{
    return (size + sizeof(fa_real) - 1) / sizeof(fa_real) * sizeof(fa_real);
}

size_t FA_NAME(fa_stack_work_size)(const fa_stack *s)
{
    const fa_model_one *m = s->model;
    return sizeof(fa_real) * ((size_t)m->n_constants + FA_STACK_CHUNK) +
           sk_align(sizeof(fa_model)) + (size_t)m->n_bodies * sizeof(fa_body) +
           (size_t)m->n_loops * sizeof(fa_loop) +
           (size_t)m->n_passive * sizeof(fa_passive) +
           sk_align((size_t)m->n_nodes * sizeof(fa_node)) +
           sk_align((size_t)s->n_chunks * sizeof(fa_real *));
}

static void sk_spread(fa_stack_range range, fa_real *to)
{
    for (int i = 0; i < range.count; i++) {
        to[i] = fa_splat(range.from[i]);
    }
}

/* where constants of the model stand in the lanes */
static fa_real *sk_place(const sk_lanes *l, const double *from)
{
    return from ? l->constants + (from - l->stack->model->constants) : NULL;
}

static void sk_body(const sk_lanes *l, const fa_body_one *from, fa_body *to)
{
#define SK_POINT(name) to->name = sk_place(l, from->name)
    memcpy(to, from, offsetof(fa_body_one, rot));
    SK_POINT(modal.E);
    SK_POINT(modal.F0);
    SK_POINT(modal.F1);
    SK_POINT(modal.mp1);
    SK_POINT(modal.G);
    SK_POINT(modal.J1);
    SK_POINT(modal.J2);
    SK_POINT(modal.K);
    SK_POINT(modal.C);
    to->driven.n = from->driven.n;
    to->driven.axis = from->driven.axis;
    SK_POINT(driven.K);
    SK_POINT(driven.E);
    SK_POINT(driven.F0);
    SK_POINT(driven.Fkr);
    SK_POINT(driven.Frk);
    SK_POINT(driven.Fkl);
    SK_POINT(driven.Gkr);
    SK_POINT(driven.Gkl);
    SK_POINT(driven.J1);
    SK_POINT(driven.Jkr);
    SK_POINT(driven.Jkl);
    SK_POINT(driven.w);
    SK_POINT(driven.u);
    to->fast.child = from->fast.child;
    to->fast.is_diagonal = from->fast.is_diagonal;
    SK_POINT(fast.W);
    SK_POINT(fast.E);
    SK_POINT(fast.h);
    memcpy(&to->straight, &from->straight, offsetof(fa_straight_one, constants));
    SK_POINT(straight.constants);
    memcpy(&to->strain, &from->strain, offsetof(fa_strain_one, constants));
    SK_POINT(strain.constants);
    SK_POINT(strain.forces);
}

static void sk_node(const sk_lanes *l, const fa_node_one *from, fa_node *to)
{
    to->body = from->body;
    SK_POINT(position);
    SK_POINT(gamma);
    SK_POINT(lambda);
    SK_POINT(kappa);
    SK_POINT(axis);
    SK_POINT(straight);
}

/* cuts the block into the parts of a model, with all that is no constant */
static void sk_structs(sk_lanes *l, char *block)
{
    const fa_model_one *m = l->stack->model;

    l->constants = (fa_real *)(void *)block;
    block += sizeof(fa_real) * ((size_t)m->n_constants + FA_STACK_CHUNK);
    fa_model *model = (fa_model *)(void *)block;
    fa_body *bodies = (fa_body *)(void *)(block + sk_align(sizeof(fa_model)));
    fa_loop *loops = (fa_loop *)(bodies + m->n_bodies);
    fa_passive *passive = (fa_passive *)(loops + m->n_loops);
    fa_node *nodes = (fa_node *)(passive + m->n_passive);
    block = (char *)nodes + sk_align((size_t)m->n_nodes * sizeof(fa_node));
    l->place = (fa_real **)(void *)block;

    memcpy(model, m, offsetof(fa_model_one, gravity));
    model->bodies = bodies;
    model->nodes = nodes;
    model->loops = loops;
    model->passive = passive;
    model->couplings = sk_place(l, m->couplings);
    model->constants = l->constants;
    model->tree = NULL; /* fa_stack_build refuses followers */
    model->velocities = model->positions = NULL;
    model->grouping = NULL;
    model->branches = NULL; /* full matrices */
    for (int k = 0; k < m->n_bodies; k++) {
        sk_body(l, m->bodies + k, bodies + k);
    }
    for (int j = 0; j < m->n_nodes; j++) {
        sk_node(l, m->nodes + j, nodes + j);
    }
    for (int i = 0; i < m->n_loops; i++) {
        memcpy(loops + i, m->loops + i, offsetof(fa_loop_one, position));
    }
    for (int i = 0; i < m->n_passive; i++) {
        memcpy(passive + i, m->passive + i, offsetof(fa_passive_one, ratio));
    }
    l->model = model;
}

/* where chunks stand in the lanes */
static void sk_find(const sk_lanes *l, fa_stack_chunks list)
{
    for (int c = list.first; c < list.first + list.count; c++) {
        const fa_stack_chunk *chunk = l->stack->chunks + c;
        const fa_constant *run = l->constants;
        if (chunk->run >= 0) {
            fa_model_inside(l->model, chunk->run, &run);
        }
        l->place[c] = (fa_real *)(uintptr_t)run + chunk->place; /* of our own model */
    }
}

/* the constants of the first arm in all lanes */
static void sk_fill(const sk_lanes *l)
{
    const fa_stack *s = l->stack;
    const double *from;

    for (int r = 0, size; (size = fa_model_inside_one(s->model, r, &from)) >= 0; r++) {
        const fa_constant *to;
        fa_model_inside(l->model, r, &to);
        sk_spread((fa_stack_range){from, size}, (fa_real *)(uintptr_t)to);
    }
    for (int use = 0; use < FA_STACK_USES; use++) {
        const fa_stack_list *list = s->lists + use;
        if (l->reads & 1 << use) {
            for (int r = 0; r < list->n_ranges; r++) {
                sk_spread(list->ranges[r], sk_place(l, list->ranges[r].from));
            }
            sk_find(l, list->chunks);
        }
    }
    for (int j = 0; (l->reads & FA_READS_ALL_NODES) && j < s->model->n_nodes; j++) {
        const fa_stack_range own = s->nodes[j].constants;
        if (own.count > 0) {
            sk_spread(own, sk_place(l, own.from));
            sk_find(l, s->nodes[j].chunks);
        }
    }
}

static int sk_reads(const fa_model_one *m, fa_kernel kernel)
{
    const int reads = fa_kernel_rows[kernel].reads;
    return (reads & FA_READS_BODIES_IF_CLOSED) && m->n_constraints > 0
               ? reads | FA_READS_BODIES
               : reads;
}

/* a model in lanes, at the start of the scratch of a call; returns what is behind it */
static char *sk_start(const fa_stack *s, int reads, char *block, sk_lanes *l)
{
    *l = (sk_lanes){.stack = s, .node = -1, .reads = reads};
    sk_structs(l, block);
    sk_fill(l);
    for (int w = 0; w < FA_LANES; w++) {
        l->arms[w] = -1;
    }
    return block + FA_NAME(fa_stack_work_size)(s);
}

/* chunks of the arms in the lanes */
static void sk_gather(const sk_lanes *l, fa_stack_chunks list)
{
    const fa_stack *s = l->stack;
    const size_t row = (size_t)s->n_chunks * FA_STACK_CHUNK * sizeof(double);
    const size_t begin = (size_t)list.first * FA_STACK_CHUNK;
    const size_t end = begin + (size_t)list.count * FA_STACK_CHUNK;
    const char *rows[FA_LANES];

    for (int w = 0; w < FA_LANES; w++) {
        rows[w] = (const char *)s->values + (size_t)l->arms[w] * row;
    }
    for (size_t c = begin; c < end; c += FA_LANES) {
        fa_real numbers[FA_LANES];
        for (int w = 0; w < FA_LANES; w++) {
            numbers[w] = fa_load(rows[w] + c * sizeof(double));
        }
        fa_transpose(numbers, numbers);
        for (size_t i = 0; i < FA_LANES; i++) {
            const size_t at = c + i;
            l->place[at / FA_STACK_CHUNK][at % FA_STACK_CHUNK] = numbers[i];
        }
    }
}

/* the arms of a block; lanes that are not in use repeat the last state, and its arm */
static void sk_take(batch_arms *batch, size_t at, const fa_call *call)
{
    sk_lanes *l = (sk_lanes *)batch;
    const fa_stack *s = l->stack;
    int is_new = 0;

    for (int w = 0; w < FA_LANES; w++) {
        const int state = w < call->states ? w : call->states - 1;
        const int64_t arm = batch_index(l->index, l->index_stride, at + (size_t)state);
        is_new |= arm != l->arms[w];
        l->arms[w] = arm;
    }
    const int is_other = (l->reads & FA_READS_ONE_NODE) && call->index != l->node;
    if (is_other) {
        const fa_stack_node *node = s->nodes + call->index;
        l->node = call->index;
        if (node->constants.count > 0) {
            sk_spread(node->constants, sk_place(l, node->constants.from));
            sk_find(l, node->chunks);
        }
    }
    for (int use = 0; is_new && use < FA_STACK_USES; use++) {
        if (l->reads & 1 << use) {
            sk_gather(l, s->lists[use].chunks);
        }
    }
    for (int j = 0; is_new && (l->reads & FA_READS_ALL_NODES) && j < s->model->n_nodes;
         j++) {
        sk_gather(l, s->nodes[j].chunks);
    }
    if (l->node >= 0 && (is_new || is_other)) {
        sk_gather(l, s->nodes[l->node].chunks);
    }
}

int FA_NAME(fa_stack_has)(fa_kernel kernel)
{
    return batch_rows[kernel].run != NULL;
}

fa_failures FA_NAME(fa_stack_batch)(const fa_stack *s, fa_kernel kernel, size_t count,
                                    const char *arms, ptrdiff_t arms_stride,
                                    const char *index, ptrdiff_t index_stride,
                                    const fa_operand *operands, void *work)
{
    sk_lanes lanes;
    char *rest = sk_start(s, sk_reads(s->model, kernel), work, &lanes);

    lanes.batch.take = sk_take;
    lanes.index = arms;
    lanes.index_stride = arms_stride;
    return batch_blocks(lanes.model, kernel, count, index, index_stride, operands, rest,
                        &lanes.batch);
}

int FA_NAME(fa_stack_rollout)(const fa_stack *s, const fa_rollout *run, void *work)
{
    /* bodies for mass matrices, which all methods have but rk4 without a report */
    const int rk4 =
        run->method == FA_RK4 && s->model->n_constraints == 0 && !run->report;
    sk_lanes lanes;
    char *rest = sk_start(s, rk4 ? FA_READS_MOTION : FA_READS_MOTION | FA_READS_BODIES,
                          work, &lanes);

    lanes.batch.take = sk_take;
    lanes.index = (const char *)run->arms;
    lanes.index_stride = sizeof *run->arms;
    return roll_run_of(lanes.model, run, &lanes.batch, rest);
}

#endif
