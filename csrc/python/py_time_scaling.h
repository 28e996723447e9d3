/*
 * py_time_scaling.h -- the fastest motion along a path with NumPy arrays
 */
#ifndef PY_TIME_SCALING_H
#define PY_TIME_SCALING_H

#include "python/py_base.h"

/* method _core.time_scaling(s, a, b, lower, upper, x_max, controllable, curve, x, u,
 * x_start, (least, largest x at the end), scheme): status and where it failed */
PyObject *py_time_scaling(PyObject *module, PyObject *args);

#endif
