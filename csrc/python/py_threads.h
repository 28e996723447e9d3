/*
 * py_threads.h -- batches, time loops and inverse kinematics on several threads
 */
#ifndef PY_THREADS_H
#define PY_THREADS_H

#include "python/py_bound.h"

#include "calls/kernels.h"
#include "calls/targets.h"
#include "calls/time_loop.h"
#include "library/tables.h"
#include "model/layout.h"
#include "model/stacks.h"

/*
 * A batch on up to b->threads threads.
 *   work  scratch of the calling thread; others get as much as work_size
 */
void py_split_states(const loop_bound *b, const fa_kernels *kernels, npy_intp count,
                     const loop_index *index, const fa_operand *operands, void *work,
                     size_t work_size);

/*
 * Time loop and inverse kinematics on several threads. The tick of `run` is called by
 * the calling thread alone. Nonzero if it ended early, an exception is set then.
 *   stack NULL, or that of `model` and of the arms of `run`
 *   work  scratch of the calling thread; others get as much as work_size
 */
int py_split_rollout(const fa_model *model, const fa_stack *stack,
                     const fa_kernels *kernels, const fa_rollout *run, int threads,
                     void *work, size_t work_size);
int py_split_ik(const fa_model *model, const fa_kernels *kernels, const fa_ik *run,
                int threads, void *work, size_t work_size);

#endif
