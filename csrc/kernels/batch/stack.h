/*
 * stack.h -- what the kernels of stacks are called by, for each instruction set
 *
 * They are compiled apart from those of one arm (FA_STACK of units/unit.c); see tables.h for
 * what these functions do.
 */
#ifndef FA_KERNELS_STACK_H
#define FA_KERNELS_STACK_H

#include "calls/kernels.h"
#include "calls/time_loop.h"
#include "lanes/lane.h"
#include "model/stacks.h"

extern int FA_NAME(fa_stack_has)(fa_kernel kernel);
extern size_t FA_NAME(fa_stack_work_size)(const fa_stack *stack);
extern fa_failures FA_NAME(fa_stack_batch)(const fa_stack *stack, fa_kernel kernel,
                                           size_t count, const char *arms,
                                           ptrdiff_t arms_stride, const char *index,
                                           ptrdiff_t index_stride,
                                           const fa_operand *operands, void *work);
extern int FA_NAME(fa_stack_rollout)(const fa_stack *stack, const fa_rollout *run,
                                     void *work);

#endif
