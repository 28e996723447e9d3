/*
 * local_steps.h -- a correction of accelerations in an implicit step, by articulated bodies
 *
 * Filled by local_steps.c, which has the equations (O8).
 */
#ifndef FA_LOCAL_STEPS_H
#define FA_LOCAL_STEPS_H

#include "kernels/dynamics/forward_work.h"
#include "lanes/lane.h"
#include "model/layout.h"

static inline size_t ls_work_size(const fa_model *model)
{
    return fd_work_size(model) + (size_t)model->nv;
}

/* an iterate, and the factors of damping and stiffness in E; joints [nu] is E of joints */
typedef struct {
    const fa_real *q, *qd, *qdd;
    fa_real c, k;
    const fa_real *joints;
} ls_iterate;

/*
 * The correction of FA_LANES iterates, in a unit of its own.
 *
 *   tau     [nv] forces at the end of the step
 *   work    [ls_work_size]
 *   x       [nv] the correction; must not overlap the inputs
 *   energy  r' x
 */
#define ls_run FA_SHARED(ls_run)
void ls_run(const fa_model *model, const ls_iterate *at, const fa_real *tau,
            fa_real *work, fa_real *x, fa_real *energy);

#endif
