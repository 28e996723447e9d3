/*
 * py_record.c -- records of Python, fetched by one table of their attributes
 *
 * Checked by  tests/simulation/test_simulate_failures.py,
 *             tests/control/test_sampled_loop_calls.py.
 */
#include "python/py_record.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

/* whether an array has the shape of its row; sets lengths that are not known */
static int record_fits(PyArrayObject *a, const py_field *field, py_lengths *lengths)
{
    const int n = (int)strlen(field->shape);

    if (PyArray_NDIM(a) != n) {
        return 0;
    }
    for (int i = 0; i < n; i++) {
        const char letter = field->shape[i];
        const npy_intp length = PyArray_DIM(a, i);
        npy_intp *known = &lengths->length[(int)letter];
        if (letter >= '0' && letter <= '9') {
            if (length != letter - '0') {
                return 0;
            }
        } else if (*known < 0) {
            *known = length;
        } else if (length != *known && (i || !field->stride || length != 1)) {
            return 0;
        }
    }
    return 1;
}

static int record_array(PyObject *object, const py_field *field, py_lengths *lengths,
                        char *to)
{
    PyArrayObject *a = (PyArrayObject *)object;

    if (!PyArray_Check(object) || PyArray_TYPE(a) != field->type ||
        !(field->flags & PY_WRITTEN ? PyArray_ISCARRAY(a) : PyArray_ISCARRAY_RO(a))) {
        PyErr_Format(PyExc_TypeError, "%s must be a C-ordered array of its type",
                     field->name);
        return -1;
    }
    if (!record_fits(a, field, lengths)) {
        PyErr_Format(PyExc_ValueError, "%s has the wrong shape, expected the axes (%s)",
                     field->name, field->shape);
        return -1;
    }
    void *data = PyArray_DATA(a);
    if (field->flags & PY_COPIED) {
        memcpy(to + field->at, data, (size_t)PyArray_NBYTES(a));
        return 0;
    }
    memcpy(to + field->at, &data, sizeof data);
    if (field->stride) {
        const npy_intp n = PyArray_DIM(a, 0);
        const size_t stride = n > 1 ? (size_t)(PyArray_SIZE(a) / n) : 0;
        memcpy(to + field->stride, &stride, sizeof stride);
    }
    return 0;
}

static int record_set(PyObject *object, const py_field *field, py_lengths *lengths,
                      char *to)
{
    if (object == Py_None && field->flags & PY_OPTIONAL) {
        memset(to + field->at, 0, sizeof object);
        return 0;
    }
    if (field->type == PY_INT) {
        int overflow;
        const long x = PyLong_AsLongAndOverflow(object, &overflow);
        if (overflow || x < INT_MIN || x > INT_MAX) {
            PyErr_Format(PyExc_ValueError, "%s is out of range, expected at most %d",
                         field->name, INT_MAX);
            return -1;
        }
        const int whole = (int)x;
        memcpy(to + field->at, &whole, sizeof whole);
    } else if (field->type == PY_REAL) {
        const double x = PyFloat_AsDouble(object);
        memcpy(to + field->at, &x, sizeof x);
    } else if (field->type == PY_TEXT) {
        const char *text = PyUnicode_AsUTF8(object);
        memcpy(to + field->at, &text, sizeof text);
    } else if (field->type == PY_OBJECT) {
        memcpy(to + field->at, &object, sizeof object);
    } else {
        return record_array(object, field, lengths, to);
    }
    return PyErr_Occurred() ? -1 : 0;
}

int py_fetch(PyObject *record, const py_field *fields, py_lengths *lengths, void *to,
             py_references *references)
{
    for (const py_field *field = fields; field->name; field++) {
        PyObject *object = PyObject_GetAttrString(record, field->name);
        if (!object) {
            return -1;
        }
        assert(references->count < PY_MAX_FIELDS);
        references->objects[references->count++] = object;
        if (record_set(object, field, lengths, to) < 0) {
            return -1;
        }
    }
    return 0;
}

void py_release(py_references *references)
{
    for (int i = 0; i < references->count; i++) {
        Py_DECREF(references->objects[i]);
    }
}
