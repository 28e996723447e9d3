/*
 * py_call.h -- a gufunc called with one state, without the iterator of NumPy
 */
#ifndef PY_CALL_H
#define PY_CALL_H

#include "python/py_bound.h"

/*
 * Gives a gufunc the quick way for calls with one state.
 *   n_ready  entries of b->contiguous
 */
void py_call_attach(PyUFuncObject *gufunc, loop_bound *b, int n_ready);

/*
 * Calls a gufunc of a Model with one state.
 *   args  its operands, and perhaps out, which may be None
 * Returns NULL without an exception if that is for NumPy.
 */
PyObject *py_call_one(PyObject *gufunc, PyObject *const *args, Py_ssize_t n_args);

#endif
