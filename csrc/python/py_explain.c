/*
 * py_explain.c -- failures of gufuncs in the words of the user
 *
 * The one way from a kernel that failed, or from NumPy that refused, to a sentence about the
 * arm and its arguments, so that a function of flexarm is one call of a gufunc and costs
 * nothing more while all is well.
 */
#include "python/py_explain.h"
#include "python/py_bound.h"
#include "python/py_numpy.h"

#include "calls/maps.h"

static PyObject *explain_function; /* set once at import */

PyObject *py_explain_with(PyObject *module, PyObject *function)
{
    (void)module;
    Py_XSETREF(explain_function, Py_NewRef(function));
    Py_RETURN_NONE;
}

/* the operands from `first` to `end` as a tuple */
static PyObject *explain_operands(PyObject *const *args, Py_ssize_t first,
                                  Py_ssize_t end)
{
    PyObject *operands = PyTuple_New(end - first);
    for (Py_ssize_t i = first; operands && i < end; i++) {
        PyTuple_SET_ITEM(operands, i - first, Py_NewRef(args[i]));
    }
    return operands;
}

/* out of a call, borrowed; NULL if keywords give its axes another meaning */
static PyObject *explain_out(PyObject *const *args, Py_ssize_t n_args, Py_ssize_t n_in,
                             PyObject *keywords)
{
    const Py_ssize_t n = keywords ? PyTuple_GET_SIZE(keywords) : 0;
    PyObject *out = n_args > n_in ? args[n_in] : Py_None;

    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *name = PyTuple_GET_ITEM(keywords, i);
        if (PyUnicode_CompareWithASCIIString(name, "out") == 0) {
            out = args[n_args + i];
        } else if (PyUnicode_CompareWithASCIIString(name, "axes") == 0 ||
                   PyUnicode_CompareWithASCIIString(name, "axis") == 0 ||
                   PyUnicode_CompareWithASCIIString(name, "keepdims") == 0) {
            return NULL;
        }
    }
    return out;
}

/* what the model is bound to, borrowed; None for a map, NULL if the model has no owner */
static PyObject *explain_owner(PyObject *gufunc, const loop_bound *b)
{
    PyObject *capsule = ((PyUFuncObject *)gufunc)->obj;
    return b->model ? PyCapsule_GetContext(capsule) : Py_None;
}

void py_explain(PyObject *gufunc, const loop_bound *b, PyObject *const *args,
                Py_ssize_t n_args, PyObject *keywords)
{
    const Py_ssize_t first = b->row.has_index, n_in = first + b->n_in;
    PyObject *type, *error, *trace;

    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    PyObject *out = explain_out(args, n_args, n_in, keywords);
    PyObject *owner = explain_owner(gufunc, b);
    if (!explain_function || !out || !owner || n_args < n_in) {
        PyErr_Restore(type, error, trace);
        return;
    }

    PyObject *name =
        b->model
            ? PyUnicode_FromString(b->row.name)
            : PyUnicode_FromFormat("%s_%s", fa_map_rows[b->map].module, b->row.name);
    PyObject *index = explain_operands(args, 0, first);
    PyObject *inputs = explain_operands(args, first, n_in);
    PyObject *better = NULL;
    if (name && index && inputs) {
        better = PyObject_CallFunctionObjArgs(explain_function, owner, gufunc, name,
                                              error, index, inputs, out, NULL);
    }
    Py_XDECREF(name);
    Py_XDECREF(index);
    Py_XDECREF(inputs);

    if (better == error) {
        PyErr_Restore(type, error, trace);
        Py_DECREF(better);
        return;
    }
    if (better) { /* as `raise better from None` */
        PyException_SetCause(better, NULL);
        PyErr_SetObject((PyObject *)Py_TYPE(better), better);
        Py_DECREF(better);
    }
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(trace);
}
