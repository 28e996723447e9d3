/*
 * py_module.c -- the extension module flexarm._core
 */
#define PY_IMPORTS_NUMPY
#include "python/py_base.h"
#include "python/py_constants.h"
#include "python/py_explain.h"
#include "python/py_ik.h"
#include "python/py_isa.h"
#include "python/py_loops.h"
#include "python/py_maps.h"
#include "python/py_model.h"
#include "python/py_numpy.h"
#include "python/py_plain.h"
#include "python/py_predictive.h"
#include "python/py_record.h"
#include "python/py_rollout.h"
#include "python/py_shortcut.h"
#include "python/py_stack.h"
#include "python/py_time_scaling.h"

#include "dense/blas.h"
#include "library/tables.h"
#include "model/description.h"
#include "model/kinds.h"
#include "model/layout.h"
#include "model/modal.h"

#define MODULE_TEXT(x) #x
#define MODULE_STRING(x) MODULE_TEXT(x)

static PyObject *module_build_info(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    const fa_kernels *kernels = py_kernels(SIZE_MAX);
    PyObject *available = py_isa_available();
    if (!available) {
        return NULL;
    }
    return Py_BuildValue(
        "{s:s,s:i,s:N,s:s,s:s,s:s}", "isa", kernels->name, "lanes", kernels->lanes,
        "available", available, "compiler",
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
    if (n < 0 || n > FA_MAX_MODES || PyArray_DIM(nodes, 1) != FA_NODE_SIZE(n) ||
        PyArray_DIM(nodes, 0) > FA_MAX_NODES) {
        PyErr_Format(
            PyExc_ValueError,
            "nodes have %zd rows, %zd columns and %d modes, expected at most %d rows, "
            "13 + 6 modes columns and at most %d modes",
            (Py_ssize_t)PyArray_DIM(nodes, 0), (Py_ssize_t)PyArray_DIM(nodes, 1), n,
            FA_MAX_NODES, FA_MAX_MODES);
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
    {"explain_with", py_explain_with, METH_O,
     "explain_with(function): what turns the exception of a failed gufunc into one "
     "about the arm and its arguments."},
    {"convert_with", py_convert_with, METH_O,
     "convert_with(function): what makes plain arrays of the other operands of a "
     "gufunc."},
    {"is_plain", py_is_plain, METH_O,
     "is_plain(value): whether it is an array of NumPy itself, a number, text, or "
     "lists "
     "of these, not deeply nested."},
    {"finite_copy", (PyCFunction)(void (*)(void))py_finite_copy, METH_FASTCALL,
     "finite_copy(value, shape): a read-only copy of an array of floats, or of a tuple "
     "of numbers, of a shape (None: any length) and without NaN and infinity, else "
     "None."},
    {"shortcut", py_shortcut, METH_VARARGS,
     "shortcut(function, inner): a function of which calls with one state go to the "
     "kernel of its name at once, and all others to inner."},
    {"quiet_map", py_quiet_map, METH_O,
     "quiet_map(name): a gufunc such as se3_exp whose failed states are NaN."},
    {"time_scaling", py_time_scaling, METH_O,
     "time_scaling(run): the fastest motion along a path within limits."},
    {"predictive_step", py_predictive_step, METH_O,
     "predictive_step(step): a sample of predictive control."},
    {NULL, NULL, 0, NULL},
};

static int module_exec(PyObject *module)
{
    const py_record *const records[] = {
        &py_options_record, &py_gains_record, &py_rollout_record,    &py_sampled_record,
        &py_target_run,     &py_scaling_run,  &py_predictive_record,
    };

    if (py_isa_choose() < 0 || PyArray_ImportNumPyAPI() < 0 || py_loops_import() < 0 ||
        py_interrupts_import() < 0 || py_shortcuts_import(module) < 0) {
        return -1;
    }
    PyObject *tables = py_records(records, (int)(sizeof records / sizeof *records));
    const int added = tables ? PyModule_AddObjectRef(module, "RECORDS", tables) : -1;
    Py_XDECREF(tables);
    if (added < 0 || py_add_constants(module) < 0 || py_add_maps(module) < 0 ||
        py_add_model_type(module) < 0) {
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
