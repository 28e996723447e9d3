/*
 * py_threads.h -- batches, time loops and inverse kinematics on several threads
 */
#ifndef PY_THREADS_H
#define PY_THREADS_H

#include "python/py_bound.h"

#include "calls/kernels.h"
#include "calls/tick.h"
#include "library/pool.h"
#include "library/tables.h"

/* parts of a batch are multiples of the most lanes */
enum { PY_SPLIT_LANES = 8 };

/*
 * A batch on up to b->threads threads.
 *   work  scratch of the calling thread; others get as much as work_size
 */
void py_split_states(const loop_bound *b, const fa_kernels *kernels, npy_intp count,
                     const loop_index *index, const fa_operand *operands, void *work,
                     size_t work_size);

/* a time loop, or inverse kinematics, in parts */
typedef struct {
    const void *job;
    /* some trajectories from `first` on, with another tick; `done` receives the number
     * with which it would end. Nonzero to stop. Knows nothing of Python */
    int (*part)(const void *job, size_t first, size_t count, fa_tick tick,
                void *context, void *work, size_t *done);
    fa_tick tick; /* called by the calling thread alone, or NULL */
    void *context;
} py_runs;

/*
 * Runs on several threads, with what `split` says of their number and size. Nonzero if
 * they ended early, an exception is set then.
 *   work  scratch of the calling thread; others get as much as work_size
 */
int py_split_runs(const py_runs *runs, fa_split split, void *work, size_t work_size);

#endif
