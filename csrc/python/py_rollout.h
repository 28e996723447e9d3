/*
 * py_rollout.h -- the time loop with NumPy arrays
 */
#ifndef PY_ROLLOUT_H
#define PY_ROLLOUT_H

#include "python/py_base.h"

#include "model/layout.h"
#include "model/stacks.h"

/* methods Model.rollout and Stack.rollout, which has the numbers of the arms besides */
PyObject *py_rollout(const fa_model *model, const fa_stack *stack, PyObject *arms,
                     PyObject *args, PyObject *kwargs);

/* method Model.sampled_loop */
PyObject *py_sampled_loop(const fa_model *model, PyObject *args);

#endif
