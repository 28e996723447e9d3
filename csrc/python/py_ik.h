/*
 * py_ik.h -- inverse kinematics with NumPy arrays
 */
#ifndef PY_IK_H
#define PY_IK_H

#include "python/py_base.h"

#include "model/layout.h"

/* method Model.inverse_kinematics */
PyObject *py_inverse_kinematics(const fa_model *model, PyObject *args);

#endif
