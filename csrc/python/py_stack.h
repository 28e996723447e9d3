/*
 * py_stack.h -- the type Stack
 */
#ifndef PY_STACK_H
#define PY_STACK_H

#include "python/py_base.h"

/* puts the type into the module; -1 with an exception set on failure */
int py_add_stack_type(PyObject *module);

#endif
