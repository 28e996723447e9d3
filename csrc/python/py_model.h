/*
 * py_model.h -- the type Model
 */
#ifndef PY_MODEL_H
#define PY_MODEL_H

#include "python/py_base.h"

#include "calls/kernels.h"
#include "model/description.h"

/* puts the type into the module; -1 with an exception set on failure */
int py_add_model_type(PyObject *module);

/* the arrays of a Model as a description, which lives as long as the Model; -1 with an
 * exception if it is none */
int py_model_description(PyObject *model, fa_description *description);

/* raises what the refusal of a model says, and returns NULL */
PyObject *py_model_refuse(fa_status status);

/* whether an object is a Model */
int py_is_model(PyObject *object);

/* the gufunc of a kernel; NULL without an exception if the Model has none */
PyObject *py_model_gufunc(PyObject *model, fa_kernel kernel);

/* the number of the node at the tip of a Model's arm, borrowed; NULL without an arm */
PyObject *py_model_tip(PyObject *model);

/* whether the arm of a Model is of full fidelity */
int py_model_is_full(PyObject *model);

#endif
