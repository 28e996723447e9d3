/*
 * py_rollout.h -- the time loop with NumPy arrays
 */
#ifndef PY_ROLLOUT_H
#define PY_ROLLOUT_H

#include "python/py_base.h"
#include "python/py_record.h"

#include "model/layout.h"
#include "model/stacks.h"

extern const py_record py_options_record, py_gains_record, py_rollout_record,
    py_sampled_record;

/* methods Model.rollout and, with a stack, Stack.rollout; the argument is a Rollout */
PyObject *py_rollout(const fa_model *model, const fa_stack *stack, PyObject *record);

/* methods Model.sampled_loop and Stack.sampled_loop; the argument is a SampledLoop */
PyObject *py_sampled_loop(const fa_model *model, const fa_stack *stack,
                          PyObject *record);

#endif
