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
