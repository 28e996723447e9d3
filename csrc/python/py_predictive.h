/*
 * py_predictive.h -- a sample of predictive control with NumPy arrays
 */
#ifndef PY_PREDICTIVE_H
#define PY_PREDICTIVE_H

#include "python/py_base.h"
#include "python/py_record.h"

extern const py_record py_predictive_record;

/* function _core.predictive_step of a PredictiveStep */
PyObject *py_predictive_step(PyObject *module, PyObject *record);

#endif
