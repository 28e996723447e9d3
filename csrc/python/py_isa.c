/*
 * py_isa.c -- the instruction set in use
 *
 * Checked by  tests/calls/test_isa.py.
 */
#include "python/py_isa.h"

PyObject *py_isa_available(void)
{
    static const char *const all[] = {"avx512", "avx2", "base"};
    PyObject *list = PyList_New(0);

    for (size_t i = 0; list && i < sizeof all / sizeof *all; i++) {
        PyObject *name = fa_kernels_named(all[i]) ? PyUnicode_FromString(all[i]) : NULL;
        if (name && PyList_Append(list, name) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(name);
    }
    return list;
}

/* set once at import, by FLEXARM_ISA or the machine */
static const fa_kernels *isa_kernels, *isa_kernels_for_few;

static const fa_kernels *isa_find(void)
{
    const char *wanted = getenv("FLEXARM_ISA");
    const fa_kernels *kernels =
        wanted && *wanted ? fa_kernels_named(wanted) : fa_kernels_best();

    if (!kernels) {
        PyObject *list = py_isa_available();
        if (list && PyList_GET_SIZE(list) == 0) {
            PyErr_SetString(PyExc_ImportError,
                            "flexarm was compiled for no instruction set that this "
                            "machine has; build it again with FLEXARM_TARGETS unset");
        } else if (list) {
            PyErr_Format(
                PyExc_ImportError,
                "FLEXARM_ISA is '%.40s', expected one of %R on this machine, or "
                "nothing for the fastest",
                wanted, list);
        }
        Py_XDECREF(list);
    }
    return kernels;
}

int py_isa_choose(void)
{
    const char *forced = getenv("FLEXARM_ISA");

    isa_kernels = isa_find();
    if (!isa_kernels) {
        return -1;
    }
    /* a set that is forced runs alone */
    isa_kernels_for_few =
        forced && *forced ? isa_kernels : fa_kernels_for_few(isa_kernels);
    return 0;
}

const fa_kernels *py_kernels(size_t count)
{
    return count <= FA_MAX_NARROW ? isa_kernels_for_few : isa_kernels;
}
