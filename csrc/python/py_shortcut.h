/*
 * py_shortcut.h -- functions of flexarm, called with one state
 */
#ifndef PY_SHORTCUT_H
#define PY_SHORTCUT_H

#include "python/py_base.h"

/* shortcut(function, inner): a function of which calls with one state go to the kernel of
 * its name at once, and all others to `inner` */
PyObject *py_shortcut(PyObject *module, PyObject *args);

/* makes the type of these functions; -1 with an exception set on failure */
int py_shortcuts_import(PyObject *module);

#endif
