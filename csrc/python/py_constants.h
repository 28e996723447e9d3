/*
 * py_constants.h -- enums, limits and columns of the library as attributes
 */
#ifndef PY_CONSTANTS_H
#define PY_CONSTANTS_H

#include "python/py_base.h"

/* puts them into the module; -1 with an exception set on failure */
int py_add_constants(PyObject *module);

#endif
