/*
 * py_plain.h -- operands that NumPy converts as they are meant, and all others
 */
#ifndef PY_PLAIN_H
#define PY_PLAIN_H

#include "python/py_bound.h"
#include "python/py_numpy.h"

/* method _core.is_plain(value): whether it is an array of NumPy itself, a number, text, or
 * lists of these, not deeply nested */
PyObject *py_is_plain(PyObject *module, PyObject *value);

/* method _core.finite_copy(value, shape): a read-only copy of an array of doubles, or of
 * a tuple of numbers, that has a shape (None: any length) and is finite; else None */
PyObject *py_finite_copy(PyObject *module, PyObject *const *args, Py_ssize_t n_args);

/* method _core.convert_with(function): sets what makes plain operands of others */
PyObject *py_convert_with(PyObject *module, PyObject *function);

/*
 * A call of a gufunc by NumPy, with arguments as of a vectorcall. Unless all are plain,
 * they are first what the function makes of them:
 *
 *   function(gufunc, arguments, names) -> arguments
 */
PyObject *py_plain_call(PyObject *gufunc, const loop_bound *b, PyObject *const *args,
                        size_t n_flags, PyObject *names);

#endif
