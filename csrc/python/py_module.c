/*
 * py_module.c -- the extension module flexarm._core
 */
#include "python/py_flexarm.h"

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL flexarm_ARRAY_API
#include <numpy/ndarrayobject.h>

#include "dense/blas.h"

#define MODULE_TEXT(x) #x
#define MODULE_STRING(x) MODULE_TEXT(x)

static PyObject *module_available(void)
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
static const fa_kernels *module_kernels, *module_kernels_for_few;

static const fa_kernels *module_choose(void)
{
    const char *wanted = getenv("FLEXARM_ISA");
    const fa_kernels *kernels =
        wanted && *wanted ? fa_kernels_named(wanted) : fa_kernels_best();

    if (!kernels) {
        PyObject *list = module_available();
        if (list && PyList_GET_SIZE(list) == 0) {
            PyErr_SetString(PyExc_ImportError,
                            "flexarm was compiled for no instruction set that this "
                            "machine has; build it again with FLEXARM_TARGETS unset");
        } else if (list) {
            PyErr_Format(PyExc_ImportError,
                         "FLEXARM_ISA is '%s', expected one of %R on this machine, or "
                         "nothing for the fastest",
                         wanted, list);
        }
        Py_XDECREF(list);
    }
    return kernels;
}

const fa_kernels *py_kernels(size_t count)
{
    return count <= FA_FEW_STATES ? module_kernels_for_few : module_kernels;
}

static PyObject *module_build_info(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    PyObject *available = module_available();
    if (!available) {
        return NULL;
    }
    return Py_BuildValue(
        "{s:s,s:i,s:N,s:s,s:s,s:s}", "isa", module_kernels->name, "lanes",
        module_kernels->lanes, "available", available, "compiler",
#if defined(__clang__)
        "clang " MODULE_STRING(__clang_major__) "." MODULE_STRING(__clang_minor__),
#else
        "gcc " MODULE_STRING(__GNUC__) "." MODULE_STRING(__GNUC_MINOR__),
#endif
        "numpy_at_build", MODULE_STRING(FLEXARM_NUMPY_VERSION), "openblas",
        FA_BLAS_NAME);
}

/*
 * modal_integrals(n_modes, nodes): integrals of one body from its nodes, as a tuple
 * (mass, mp0, J0, E, F0, mp1, F1, G, J1, J2) of flat arrays in the layout of fa_modal.
 */
static PyObject *module_modal_integrals(PyObject *module, PyObject *args)
{
    int n;
    PyObject *given;
    (void)module;

    if (!PyArg_ParseTuple(args, "iO:modal_integrals", &n, &given)) {
        return NULL;
    }
    PyArrayObject *nodes =
        (PyArrayObject *)PyArray_FROMANY(given, NPY_DOUBLE, 2, 2, NPY_ARRAY_IN_ARRAY);
    if (!nodes) {
        return NULL;
    }
    if (n < 0 || n > FA_MAX_MODES || PyArray_DIM(nodes, 1) != FA_NODE_SIZE(n)) {
        PyErr_Format(
            PyExc_ValueError,
            "nodes have %zd columns and %d modes, expected at most %d modes and "
            "13 + 6 modes columns",
            (Py_ssize_t)PyArray_DIM(nodes, 1), n, FA_MAX_MODES);
        Py_DECREF(nodes);
        return NULL;
    }
    const npy_intp size = (npy_intp)fa_modal_size(n);
    PyObject *storage = PyArray_ZEROS(1, &size, NPY_DOUBLE, 0);
    if (!storage) {
        Py_DECREF(nodes);
        return NULL;
    }
    fa_body body;
    fa_modal_integrals(n, (int)PyArray_DIM(nodes, 0), PyArray_DATA(nodes),
                       PyArray_DATA((PyArrayObject *)storage), &body);
    Py_DECREF(nodes);
    return Py_BuildValue("d(ddd)(dddddd)N", body.mass, body.mp0[0], body.mp0[1],
                         body.mp0[2], body.J0[0], body.J0[1], body.J0[2], body.J0[3],
                         body.J0[4], body.J0[5], storage);
}

static PyMethodDef module_methods[] = {
    {"build_info", module_build_info, METH_NOARGS,
     "build_info()\n--\n\n"
     "How the kernels were built and which instruction set is in use.\n\n"
     "Returns\n-------\n"
     "dict\n"
     "    `isa`, the instruction set in use, and `lanes`, how many states a kernel\n"
     "    computes at once; `available`, the sets of this build that this machine\n"
     "    has, widest first; `compiler`; `numpy_at_build`; `openblas`.\n\n"
     "Examples\n--------\n"
     ">>> import flexarm as fa\n"
     ">>> info = fa.build_info()\n"
     ">>> info[\"isa\"] in info[\"available\"]\n"
     "True"},
    {"modal_integrals", module_modal_integrals, METH_VARARGS,
     "modal_integrals(n_modes, nodes): mass, mp0, J0 and the flat modal integrals."},
    {"quiet_map", py_quiet_map, METH_O,
     "quiet_map(name): a gufunc such as se3_exp whose failed states are NaN."},
    {"time_scaling", py_time_scaling, METH_VARARGS,
     "The fastest motion along a path within limits; fills arrays."},
    {NULL, NULL, 0, NULL},
};

static int module_exec(PyObject *module)
{
    const char *forced = getenv("FLEXARM_ISA");

    module_kernels = module_choose();
    if (!module_kernels || PyArray_ImportNumPyAPI() < 0 || py_loops_import() < 0) {
        return -1;
    }
    /* a set that is forced runs alone */
    module_kernels_for_few =
        forced && *forced ? module_kernels : fa_kernels_for_few(module_kernels);
    if (py_add_maps(module) < 0 || py_add_model_type(module) < 0) {
        return -1;
    }
    return py_add_stack_type(module);
}

/* slots hold functions as void *, which POSIX allows and ISO C does not */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, module_exec},
#if PY_VERSION_HEX >= 0x030C0000
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
#if PY_VERSION_HEX >= 0x030D0000
    /* models never change, scratch belongs to a call, the pool has a lock of its own */
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};
#pragma GCC diagnostic pop

static struct PyModuleDef module_def = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_core",
    .m_doc = "C kernels of flexarm as NumPy generalized ufuncs.",
    .m_size = 0,
    .m_methods = module_methods,
    .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void)
{
    return PyModuleDef_Init(&module_def);
}
