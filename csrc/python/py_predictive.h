/*
 * py_predictive.h -- a sample of predictive control with NumPy arrays
 */
#ifndef PY_PREDICTIVE_H
#define PY_PREDICTIVE_H

#include "python/py_base.h"

/* function _core.predictive_step of a PredictiveStep */
PyObject *py_predictive_step(PyObject *module, PyObject *record);

#endif
