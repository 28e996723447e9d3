/*
 * py_record.c -- records of Python, fetched by one table of their attributes
 *
 * Checked by  tests/simulation/test_simulate_failures.py,
 *             tests/control/test_sampled_loop_calls.py, tests/calls/test_stubs.py.
 */
#include "python/py_record.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

/* types, their names in Python and sizes of numbers of arrays */
typedef struct {
    int type;
    const char *name;
    size_t size;
} record_kind;

static const record_kind record_kinds[] = {
    {PY_INT, "int", 0},
    {PY_REAL, "float", 0},
    {PY_TEXT, "str", 0},
    {PY_OBJECT, "object", 0},
    {NPY_DOUBLE, "float64", sizeof(double)},
    {NPY_INT, "intc", sizeof(int)},
    {NPY_UINTP, "uintp", sizeof(size_t)},
    {NPY_INT64, "int64", sizeof(int64_t)},
};

static const record_kind *record_kind_of(const py_field *field)
{
    const record_kind *kind = record_kinds;

    while (kind->type != field->type) {
        kind++;
    }
    return kind;
}

/* whether an array has the shape of its row; sets lengths that are not known */
static int record_fits(PyArrayObject *a, const py_field *field, py_lengths *lengths)
{
    int n = (int)strlen(field->shape);

    if (PyArray_NDIM(a) == n - 1 && field->shape[n - 1] == '?' &&
        lengths->length['?'] == 1) {
        n--;
    }
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
    } else if (field->function && PyCallable_Check(object)) {
        memcpy(to + field->function, &object, sizeof object);
    } else {
        return record_array(object, field, lengths, to);
    }
    return PyErr_Occurred() ? -1 : 0;
}

int py_fetch(PyObject *record, const py_record *table, py_lengths *lengths, void *to,
             py_references *references)
{
    for (int i = 0; i < table->count; i++) {
        const py_field *field = &table->fields[i];
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

void py_advance(const py_record *table, const py_lengths *lengths, size_t first,
                void *to)
{
    for (int i = 0; i < table->count; i++) {
        const py_field *field = &table->fields[i];
        char *data;
        size_t step = 1;
        if (field->type < 0 || field->shape[0] != 'c') {
            continue;
        }
        memcpy(&data, (char *)to + field->at, sizeof data);
        for (const char *x = field->shape + 1; *x; x++) {
            step *= *x >= '0' && *x <= '9' ? (size_t)(*x - '0')
                                           : (size_t)lengths->length[(int)*x];
        }
        if (field->stride) {
            memcpy(&step, (char *)to + field->stride, sizeof step);
        }
        if (data) {
            data += first * step * record_kind_of(field)->size;
            memcpy((char *)to + field->at, &data, sizeof data);
        }
    }
}

void py_release(py_references *references)
{
    for (int i = 0; i < references->count; i++) {
        Py_DECREF(references->objects[i]);
    }
}

/* a row in Python: type, shape, flags, documentation, default if it is a number */
static PyObject *record_row(const py_field *f)
{
    return Py_BuildValue(
        "(ssNsd)", f->flags & PY_BOOL ? "bool" : record_kind_of(f)->name, f->shape,
        PyUnicode_FromFormat("%s%s%s%s%s", f->flags & PY_WRITTEN ? "written " : "",
                             f->flags & PY_OPTIONAL ? "optional " : "",
                             f->flags & PY_DEFAULT ? "default " : "",
                             f->function ? "function " : "", f->stride ? "each " : ""),
        f->doc, f->initial);
}

/* documentation of a record, and its rows by their names; NULL with an exception set on
 * failure */
static PyObject *record_table(const py_record *record)
{
    PyObject *rows = PyDict_New();

    for (int i = 0; rows && i < record->count; i++) {
        PyObject *row = record_row(&record->fields[i]);
        if (!row || PyDict_SetItemString(rows, record->fields[i].name, row) < 0) {
            Py_CLEAR(rows);
        }
        Py_XDECREF(row);
    }
    return rows ? Py_BuildValue("(sN)", record->doc, rows) : NULL;
}

PyObject *py_records(const py_record *const *records, int n)
{
    PyObject *tables = PyDict_New();

    for (int i = 0; tables && i < n; i++) {
        PyObject *table = record_table(records[i]);
        if (!table || PyDict_SetItemString(tables, records[i]->name, table) < 0) {
            Py_CLEAR(tables);
        }
        Py_XDECREF(table);
    }
    PyObject *proxy = tables ? PyDictProxy_New(tables) : NULL;
    Py_XDECREF(tables);
    return proxy;
}
