/*
 * py_ik.h -- inverse kinematics with NumPy arrays
 */
#ifndef PY_IK_H
#define PY_IK_H

#include "python/py_base.h"
#include "python/py_record.h"

#include "model/layout.h"

extern const py_record py_target_run;

/* method Model.inverse_kinematics; the argument is a TargetRun */
PyObject *py_inverse_kinematics(const fa_model *model, PyObject *record);

#endif
