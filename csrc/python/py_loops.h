/*
 * py_loops.h -- kernels and maps as gufuncs
 */
#ifndef PY_LOOPS_H
#define PY_LOOPS_H

#include "python/py_base.h"

#include "calls/kernels.h"
#include "calls/maps.h"
#include "model/layout.h"
#include "model/stacks.h"

/* imports NumPy's ufunc API; -1 with an exception set on failure */
int py_loops_import(void);

/*
 * A gufunc of one kernel bound to one model.
 *   capsule  owner of the model, a new reference is taken
 *   quiet    failed states become NaN without an exception
 *   threads  most threads of a call
 */
PyObject *py_make_gufunc(PyObject *capsule, fa_kernel kernel, int quiet, int threads);

/* a gufunc of one kernel bound to a stack, which `capsule` owns; its first operand is the
 * number of the arm */
PyObject *py_make_stack_gufunc(const fa_stack *stack, PyObject *capsule,
                               fa_kernel kernel, int quiet, int threads);

/* a gufunc of one map; quiet as above */
PyObject *py_make_map(fa_map map, int quiet);

/* bytes of scratch that a batch of a kernel takes, however many states it has */
size_t py_kernel_work_size(const fa_model *model, fa_kernel kernel);

#endif
