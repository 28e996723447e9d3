/*
 * py_maps.h -- the maps as attributes of the module
 */
#ifndef PY_MAPS_H
#define PY_MAPS_H

#include "python/py_base.h"

/* puts a gufunc of every map into the module, as se3_exp and the like; -1 on failure */
int py_add_maps(PyObject *module);

/* method _core.quiet_map(name): a quiet gufunc of the map of that name */
PyObject *py_quiet_map(PyObject *module, PyObject *name);

#endif
