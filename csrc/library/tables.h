/*
 * tables.h -- what the library computes, for a batch of states
 *
 * One function table per instruction set; fa_kernels_best() picks the widest one the
 * machine has. A batch function copies FA_LANES states into lanes through their
 * strides, calls a kernel, and copies the results out; a short block repeats its last
 * state. A block is read completely before any of its results is written, so an
 * output may alias an input state by state.
 *
 * A state whose result is NaN or infinite is counted and spoils no other.
 * Nothing here allocates: the caller brings fa_work_size() bytes, aligned to 64.
 */
#ifndef FA_TABLES_H
#define FA_TABLES_H

#include "calls/kernels.h"
#include "calls/maps.h"
#include "calls/targets.h"
#include "calls/time_loop.h"
#include "model/layout.h"
#include "model/stacks.h"

typedef struct {
    const char *name;
    int lanes;
    /* bytes of scratch of one batch call; sizes: doubles of each operand */
    size_t (*work_size)(const fa_model *, fa_kernel, const int *sizes);
    /*
     * Runs a kernel on `count` states.
     *   index         node numbers, one per state, or NULL; index_stride in bytes; a
     *                 pair (i, j) is the number i N + j
     *   operands      inputs, then the output
     */
    fa_failures (*batch)(const fa_model *, fa_kernel, size_t count, const char *index,
                         ptrdiff_t index_stride, const fa_operand *operands,
                         void *work);
    /* the same for a map, which needs no model */
    size_t (*map_work_size)(fa_map);
    fa_failures (*map)(fa_map, size_t count, const fa_operand *operands, void *work);
    size_t (*rollout_work_size)(const fa_model *, const fa_rollout *);
    /* nonzero if a callback stopped it, later samples are then left as they were */
    int (*rollout)(const fa_model *, const fa_rollout *, void *work);
    size_t (*ik_work_size)(const fa_model *, const fa_ik *);
    /* nonzero if the callback stopped it, targets that are not done are then left */
    int (*ik)(const fa_model *, const fa_ik *, void *work);
    /* whether a kernel can be run on a stack */
    int (*stack_has)(fa_kernel);
    /* bytes of scratch beside work_size of the model of the stack */
    size_t (*stack_work_size)(const fa_stack *);
    /* the same as batch, each state with an arm of its own: `arms` has their numbers */
    fa_failures (*stack_batch)(const fa_stack *, fa_kernel, size_t count,
                               const char *arms, ptrdiff_t arms_stride,
                               const char *index, ptrdiff_t index_stride,
                               const fa_operand *operands, void *work);
    /* the time loop, each trajectory with an arm of its own, by fa_stack_integrates */
    int (*stack_rollout)(const fa_stack *, const fa_rollout *, void *work);
} fa_kernels;

/* the table of one instruction set, "avx512", "avx2" or "base"; NULL if the machine
 * lacks it or the name is unknown */
const fa_kernels *fa_kernels_named(const char *name);

/* the widest table the machine has */
const fa_kernels *fa_kernels_best(void);

/* states of a call up to which the narrow table below is the faster one */
enum { FA_MAX_NARROW = 4 };

/*
 * The table for calls with at most FA_MAX_NARROW states: AVX2 where the widest is
 * AVX-512. Half the width has the shorter latency on processors that split 512 bits in
 * two, and the same bits: both sets have the same fused operations, and the compiler
 * contracts the same expressions (tests/calls/test_isa.py).
 */
const fa_kernels *fa_kernels_for_few(const fa_kernels *kernels);

#endif
