/*
 * py_explain.h -- failures of gufuncs in the words of the user
 */
#ifndef PY_EXPLAIN_H
#define PY_EXPLAIN_H

#include "python/py_bound.h"
#include "python/py_numpy.h"

/* method _core.explain_with(function): sets what py_explain calls */
PyObject *py_explain_with(PyObject *module, PyObject *function);

/*
 * Sets, in place of the exception of a failed call, the one that the function makes of it:
 *
 *   function(owner, gufunc, name, error, index, inputs, out)
 *
 * owner is what the model of an arm is bound to, None for a map; name is that of the kernel,
 * or "se3_exp" and the like; index is (node,) or (); out is None if there is none. The
 * exception stays as it is where keywords give axes another meaning, where operands are
 * missing, and where the model belongs to no arm.
 */
void py_explain(PyObject *gufunc, const loop_bound *b, PyObject *const *args,
                Py_ssize_t n_args, PyObject *keywords);

#endif
