/*
 * py_time_scaling.h -- the fastest motion along a path with NumPy arrays
 */
#ifndef PY_TIME_SCALING_H
#define PY_TIME_SCALING_H

#include "python/py_base.h"
#include "python/py_record.h"

extern const py_record py_scaling_run;

/* function _core.time_scaling of a ScalingRun: status and where it failed */
PyObject *py_time_scaling(PyObject *module, PyObject *record);

#endif
