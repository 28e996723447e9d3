/*
 * py_plain.c -- operands that NumPy converts as they are meant, and all others
 *
 * NumPy lets subclasses of its arrays and classes with __array_ufunc__ change what a gufunc
 * does: masks are lost, a matrix stays one, data frames take axes for columns. So all
 * operands but arrays and numbers, and lists that contain others or themselves, first go to
 * flexarm/_calls/operands.py, which refuses them or makes plain arrays of them.
 *
 * Cost  a check of the type for each operand, and for each item of a list.
 */
#include "python/py_plain.h"

#include <math.h>

/* lists in lists, and items of all of them, beyond which Python looks */
enum { PLAIN_DEPTH = 8, PLAIN_ITEMS = 1 << 24 };

typedef struct {
    PyObject *lists[PLAIN_DEPTH]; /* around the present one */
    int depth, n_items;
} plain_walk;

static PyObject *convert_function; /* set once at import */

PyObject *py_convert_with(PyObject *module, PyObject *function)
{
    (void)module;
    Py_XSETREF(convert_function, Py_NewRef(function));
    Py_RETURN_NONE;
}

static int plain_is(PyObject *value, plain_walk *walk);

static int plain_list(PyObject *list, plain_walk *walk)
{
    if (walk->depth == PLAIN_DEPTH) {
        return 0;
    }
    for (int i = 0; i < walk->depth; i++) {
        if (walk->lists[i] == list) {
            return 0;
        }
    }
    int plain = 1;
    walk->lists[walk->depth++] = list;
#if PY_VERSION_HEX >= 0x030D0000
    Py_BEGIN_CRITICAL_SECTION(list);
#endif
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(list);
    PyObject **items = PySequence_Fast_ITEMS(list);
    for (Py_ssize_t i = 0; plain && i < n; i++) {
        plain = plain_is(items[i], walk);
    }
#if PY_VERSION_HEX >= 0x030D0000
    Py_END_CRITICAL_SECTION();
#endif
    walk->depth--;
    return plain;
}

/* looks at types only, so that no code of others runs meanwhile */
static int plain_is(PyObject *value, plain_walk *walk)
{
    if (PyFloat_CheckExact(value) || PyLong_CheckExact(value) ||
        PyArray_CheckExact(value)) {
        return ++walk->n_items < PLAIN_ITEMS;
    }
    if (PyList_CheckExact(value) || PyTuple_CheckExact(value)) {
        return plain_list(value, walk);
    }
    return ++walk->n_items < PLAIN_ITEMS &&
           (value == Py_None || PyBool_Check(value) || PyComplex_CheckExact(value) ||
            PyUnicode_CheckExact(value) || PyArray_IsScalar(value, Generic));
}

PyObject *py_is_plain(PyObject *module, PyObject *value)
{
    plain_walk walk = {.depth = 0};
    (void)module;
    return PyBool_FromLong(plain_is(value, &walk));
}

/* whether an array has a shape, given as a tuple of numbers and None for any length */
static int plain_fits(PyArrayObject *array, PyObject *shape)
{
    const int n = PyArray_NDIM(array);
    int fits = PyTuple_CheckExact(shape) && PyTuple_GET_SIZE(shape) == n;

    for (int i = 0; fits && i < n; i++) {
        PyObject *size = PyTuple_GET_ITEM(shape, i);
        fits = size == Py_None || (PyLong_CheckExact(size) &&
                                   PyLong_AsSsize_t(size) == PyArray_DIM(array, i));
    }
    return fits && !PyErr_Occurred();
}

/* a vector of the numbers of a tuple; NULL, perhaps with an exception, for others */
static PyObject *plain_vector(PyObject *tuple)
{
    npy_intp n = PyTuple_GET_SIZE(tuple);
    PyObject *vector = PyArray_SimpleNew(1, &n, NPY_DOUBLE);

    for (npy_intp i = 0; vector && i < n; i++) {
        PyObject *item = PyTuple_GET_ITEM(tuple, i);
        if (PyFloat_CheckExact(item) || PyLong_CheckExact(item)) {
            ((double *)PyArray_DATA((PyArrayObject *)vector))[i] =
                PyFloat_AsDouble(item);
        } else {
            Py_CLEAR(vector);
        }
    }
    return vector;
}

PyObject *py_finite_copy(PyObject *module, PyObject *const *args, Py_ssize_t n_args)
{
    PyObject *copy = NULL;

    (void)module;
    if (n_args != 2) {
        PyErr_Format(PyExc_TypeError, "finite_copy takes 2 arguments (%zd given)",
                     n_args);
        return NULL;
    }
    if (PyArray_CheckExact(args[0])) {
        PyArrayObject *given = (PyArrayObject *)args[0];
        if (PyArray_TYPE(given) == NPY_DOUBLE && PyArray_ISNOTSWAPPED(given) &&
            plain_fits(given, args[1])) {
            copy = PyArray_NewCopy(given, NPY_KEEPORDER);
        }
    } else if (PyTuple_CheckExact(args[0])) {
        copy = plain_vector(args[0]);
        if (copy && !plain_fits((PyArrayObject *)copy, args[1])) {
            Py_CLEAR(copy);
        }
    }
    if (copy && !PyErr_Occurred()) {
        PyArrayObject *array = (PyArrayObject *)copy;
        const double *x = PyArray_DATA(array);
        const npy_intp n = PyArray_SIZE(array);
        int finite = 1;
        for (npy_intp i = 0; i < n; i++) {
            finite &= isfinite(x[i]) != 0;
        }
        if (finite) {
            PyArray_CLEARFLAGS(array, NPY_ARRAY_WRITEABLE);
            return copy;
        }
    }
    /* what is left is for Python, which says what is wrong */
    Py_XDECREF(copy);
    PyErr_Clear();
    Py_RETURN_NONE;
}

/* the arguments that the function makes of those of a call */
static PyObject *plain_arguments(PyObject *gufunc, PyObject *const *args, Py_ssize_t n,
                                 PyObject *names)
{
    PyObject *given = PyTuple_New(n), *made = NULL;

    for (Py_ssize_t i = 0; given && i < n; i++) {
        PyTuple_SET_ITEM(given, i, Py_NewRef(args[i]));
    }
    if (given) {
        made = PyObject_CallFunctionObjArgs(convert_function, gufunc, given,
                                            names ? names : Py_None, NULL);
        Py_DECREF(given);
    }
    if (made && (!PyTuple_CheckExact(made) || PyTuple_GET_SIZE(made) != n)) {
        PyErr_SetString(PyExc_SystemError,
                        "converted arguments are no tuple of theirs");
        Py_CLEAR(made);
    }
    return made;
}

PyObject *py_plain_call(PyObject *gufunc, const loop_bound *b, PyObject *const *args,
                        size_t n_flags, PyObject *names)
{
    const Py_ssize_t n_args = PyVectorcall_NARGS(n_flags);
    const Py_ssize_t n = n_args + (names ? PyTuple_GET_SIZE(names) : 0);
    plain_walk walk = {.depth = 0};
    int plain = 1;

    for (Py_ssize_t i = 0; plain && i < n; i++) {
        plain = plain_is(args[i], &walk);
    }
    if (plain || !convert_function) {
        return b->general(gufunc, args, n_flags, names);
    }
    PyObject *made = plain_arguments(gufunc, args, n, names);
    if (!made) {
        return NULL;
    }
    PyObject *result =
        b->general(gufunc, PySequence_Fast_ITEMS(made), (size_t)n_args, names);
    Py_DECREF(made);
    return result;
}
