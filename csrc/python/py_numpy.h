/*
 * py_numpy.h -- the C API of NumPy's arrays, which py_module.c imports for all files
 */
#ifndef PY_NUMPY_H
#define PY_NUMPY_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL flexarm_ARRAY_API
#ifndef PY_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/ndarrayobject.h>

#endif
