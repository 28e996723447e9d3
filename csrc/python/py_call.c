/*
 * py_call.c -- a gufunc called with one state
 *
 * A control loop asks for one state at a time, and NumPy's iterator, casting and checks
 * then cost more than the kernel. So each gufunc first looks whether it is called with
 * plain contiguous arrays of exactly its core shapes and no keyword: it is then one call
 * of the kernel. Whatever else it is called with, lists, other types, strides, batches,
 * wrong sizes, goes to NumPy as if this file were not there, and so do all refusals;
 * py_plain.c makes plain arrays of masked ones, data frames and the like before.
 *
 * How      a ufunc has its vectorcall in a public field of its own; ours keeps the one
 *          that NumPy put there and calls it for the rest.
 * GIL      held, as NumPy does for a single state of less than 500 coordinates; larger
 *          ones are left to NumPy.
 * Aliases  out= may be an input: a state is read before its result is written.
 */
#include "python/py_call.h"
#include "python/py_base.h"
#include "python/py_bound.h"
#include "python/py_explain.h"
#include "python/py_isa.h"
#include "python/py_numpy.h"
#include "python/py_plain.h"

#include "calls/kernels.h"
#include "library/tables.h"

#include <fenv.h>

/* coordinates and entries of operands beyond which a call is left to NumPy */
enum { CALL_NV = 500 };

/* whether an operand is a plain contiguous array of so many doubles */
static inline int call_is_plain(PyObject *object, const loop_shape *shape,
                                int n_actuators, int flags)
{
    if (!PyArray_CheckExact(object)) {
        return 0;
    }
    PyArrayObject *array = (PyArrayObject *)object;
    const npy_intp *dims = PyArray_DIMS(array);
    int fits = PyArray_TYPE(array) == NPY_DOUBLE &&
               PyArray_NDIM(array) == shape->n_dims && PyArray_CHKFLAGS(array, flags) &&
               !PyArray_ISBYTESWAPPED(array);
    for (int d = 0; fits && d < shape->n_dims; d++) {
        fits = dims[d] == shape->dims[d] || dims[d] == n_actuators;
    }
    return fits;
}

/*
 * The inputs as operands; a float stands for a scalar.
 *   given    [n_in] what the gufunc was called with
 *   scalars  [FA_MAX_INPUTS] room for numbers
 * Returns whether all of them fit.
 */
static inline int call_inputs(const loop_bound *b, PyObject *const *given,
                              fa_operand *operands, double *scalars)
{
    for (int i = 0; i < b->n_in; i++) {
        const loop_shape *shape = b->shapes + i;
        const int actuators = shape->takes_tau ? b->model->n_actuators : -1;
        operands[i] = (fa_operand){NULL, 0, shape->size, b->contiguous};
        if (call_is_plain(given[i], shape, actuators, NPY_ARRAY_CARRAY_RO)) {
            operands[i].data = PyArray_DATA((PyArrayObject *)given[i]);
            if (shape->takes_tau) {
                operands[i].size = (int)PyArray_DIM((PyArrayObject *)given[i], 0);
                if (i > 2 && operands[i].size != operands[2].size) {
                    return 0; /* tau and its change have one length */
                }
            }
        } else if (shape->n_dims == 0 && PyFloat_CheckExact(given[i])) {
            scalars[i] = PyFloat_AS_DOUBLE(given[i]);
            operands[i].data = (char *)(scalars + i);
        } else {
            return 0;
        }
    }
    return 1;
}

/* the node number or that of a pair; whether it is one */
static inline int call_index(const loop_bound *b, PyObject *given, int64_t *index)
{
    const int64_t n_nodes = b->model->n_nodes;

    if (!PyLong_CheckExact(given)) {
        return 0;
    }
    int overflow;
    *index = PyLong_AsLongLongAndOverflow(given, &overflow);
    return !overflow && *index >= 0 &&
           *index < (fa_kernel_takes_pair(b->kernel) ? n_nodes * n_nodes : n_nodes);
}

/* the kernel on one state; -1 with an exception set */
static int call_kernel(const loop_bound *b, const int64_t *index,
                       const fa_operand *operands)
{
    const fa_kernels *kernels = py_kernels(b->model ? 1 : SIZE_MAX);
    _Alignas(PY_ALIGN) char stack[PY_STACK];
    char *heap, *work = py_scratch(stack, b->work_size, &heap);

    if (!work) {
        py_no_memory(b->row.name, b->work_size);
        return -1;
    }
    const fa_failures bad = b->model
                                ? kernels->batch(b->model, b->kernel, 1,
                                                 (const char *)index, 0, operands, work)
                                : kernels->map(b->map, 1, operands, work);
    PyMem_RawFree(heap);
    if (fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW)) {
        feclearexcept(FE_ALL_EXCEPT);
    }
    if (bad.count && !b->quiet) {
        py_bound_report(b, bad, 1);
        return -1;
    }
    return 0;
}

/*
 * What a gufunc returns for one state.
 *   out  array for the result, or NULL for a new one
 */
static PyObject *call_result(const loop_bound *b, PyObject *out, const int64_t *index,
                             fa_operand *operands)
{
    const loop_shape *shape = b->shapes + b->n_in;
    fa_operand *last = operands + b->n_in;
    double scalar;

    *last = (fa_operand){(char *)&scalar, 0, shape->size, b->contiguous};
    if (!out && shape->n_dims == 0) {
        if (call_kernel(b, index, operands) < 0) {
            return NULL;
        }
        PyArray_Descr *type = PyArray_DescrFromType(NPY_DOUBLE);
        PyObject *number = PyArray_Scalar(&scalar, type, NULL);
        Py_DECREF(type);
        return number;
    }
    PyObject *array =
        out ? Py_NewRef(out)
            : PyArray_SimpleNew(shape->n_dims, (npy_intp *)shape->dims, NPY_DOUBLE);
    if (!array) {
        return NULL;
    }
    last->data = PyArray_DATA((PyArrayObject *)array);
    if (call_kernel(b, index, operands) < 0) {
        Py_CLEAR(array);
    }
    return array;
}

/*
 * Whether a result may be written there. The highest flag is that of arrays of which NumPy
 * warns, such as those of broadcast_arrays: it may do so itself, since its warning runs
 * code in Python, which must not happen between our checks and the kernel.
 */
static inline int call_is_output(const loop_bound *b, PyObject *out)
{
    return call_is_plain(out, b->shapes + b->n_in, -1, NPY_ARRAY_CARRAY) &&
           PyArray_FLAGS((PyArrayObject *)out) >= 0;
}

/*
 * A call with one state.
 *   n_args  with the number of a node, and perhaps out, which may be None
 * Returns NULL without an exception if it is for NumPy.
 */
static PyObject *call_one(const loop_bound *b, PyObject *const *args, Py_ssize_t n_args)
{
    const int n_in = b->row.has_index + b->n_in;
    PyObject *const *given = args + b->row.has_index;
    const int has_out = n_args == n_in + 1 && args[n_in] != Py_None;
    fa_operand operands[FA_MAX_OPERANDS];
    double scalars[FA_MAX_INPUTS];
    int64_t index = 0;

    if (!b->is_quick || (n_args != n_in && n_args != n_in + 1) ||
        (b->row.has_index && !call_index(b, args[0], &index)) ||
        !call_inputs(b, given, operands, scalars) ||
        (has_out && !call_is_output(b, args[n_in]))) {
        return NULL;
    }
    return call_result(b, has_out ? args[n_in] : NULL, b->row.has_index ? &index : NULL,
                       operands);
}

PyObject *py_call_one(PyObject *gufunc, PyObject *const *args, Py_ssize_t n_args)
{
    const loop_bound *b = ((const PyUFuncObject *)gufunc)->ptr;
    PyObject *result = call_one(b, args, n_args);

    if (!result && !b->quiet && PyErr_Occurred()) {
        py_explain(gufunc, b, args, n_args, NULL);
    }
    return result;
}

/* the vectorcall of our gufuncs */
static PyObject *call_gufunc(PyObject *gufunc, PyObject *const *args, size_t n_flags,
                             PyObject *names)
{
    const loop_bound *b = ((const PyUFuncObject *)gufunc)->ptr;
    const Py_ssize_t n_args = PyVectorcall_NARGS(n_flags);
    const int has_names = names && PyTuple_GET_SIZE(names);
    PyObject *result = has_names ? NULL : call_one(b, args, n_args);

    if (!result && !PyErr_Occurred()) {
        result = py_plain_call(gufunc, b, args, n_flags, names);
    }
    if (!result && !b->quiet) {
        py_explain(gufunc, b, args, n_args, names);
    }
    return result;
}

void py_call_attach(PyUFuncObject *gufunc, loop_bound *b, int n_ready)
{
    int sizes[FA_MAX_OPERANDS], fits = !b->model || b->model->nv <= CALL_NV;

    for (int i = 0; i <= b->n_in; i++) {
        const char *letters = b->row.operands[i];
        loop_shape *shape = b->shapes + i;
        *shape = (loop_shape){.n_dims = (int)strlen(letters), .size = 1};
        for (int d = 0; d < shape->n_dims; d++) {
            shape->takes_tau = letters[d] == 'T';
            shape->dims[d] = py_bound_dim(b->model, letters[d]);
            shape->size *= (int)shape->dims[d];
        }
        sizes[i] = shape->size;
        fits = fits && shape->size <= n_ready;
    }
    if (!gufunc->vectorcall) {
        return;
    }
    b->is_quick = fits;
    const fa_kernels *kernels = py_kernels(b->model ? 1 : SIZE_MAX);
    b->work_size = b->model ? kernels->work_size(b->model, b->kernel, sizes)
                            : kernels->map_work_size(b->map);
    b->general = gufunc->vectorcall;
    gufunc->vectorcall = call_gufunc;
}
