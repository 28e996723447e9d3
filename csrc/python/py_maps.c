/*
 * py_maps.c -- maps of rotations, poses and screws as attributes of flexarm._core
 */
#include "python/py_maps.h"
#include "python/py_loops.h"

#include "calls/maps.h"

#include <stdio.h>
#include <string.h>

/* se3_exp, screws_compose */
static void maps_name(fa_map map, char *text, size_t size)
{
    snprintf(text, size, "%s_%s", fa_map_rows[map].module, fa_map_rows[map].name);
}

int py_add_maps(PyObject *module)
{
    for (int map = 0; map < FA_N_MAPS; map++) {
        char name[80];
        maps_name((fa_map)map, name, sizeof name);
        PyObject *gufunc = py_make_map((fa_map)map, 0);
        const int failed = !gufunc || PyModule_AddObjectRef(module, name, gufunc) < 0;
        Py_XDECREF(gufunc);
        if (failed) {
            return -1;
        }
    }
    return 0;
}

PyObject *py_quiet_map(PyObject *module, PyObject *name)
{
    const char *wanted = PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : "";
    (void)module;

    if (!wanted) {
        return NULL;
    }
    for (int map = 0; map < FA_N_MAPS; map++) {
        char known[80];
        maps_name((fa_map)map, known, sizeof known);
        if (strcmp(known, wanted) == 0) {
            return py_make_map((fa_map)map, 1);
        }
    }
    PyErr_Format(PyExc_ValueError, "no map is named %R, expected one such as 'se3_exp'",
                 name);
    return NULL;
}
