/*
 * py_record.h -- records of Python, fetched by one table of their attributes
 *
 * A record is a named tuple of the module that is made of its table, at import, and has an
 * attribute for each row. Arrays are C-ordered and belong to Python; pointers to their
 * numbers go into a struct of C, whose members say the types, and references keep them
 * alive until the call ends.
 */
#ifndef PY_RECORD_H
#define PY_RECORD_H

#include "python/py_numpy.h"

/* types of attributes that are not arrays, beside those of NumPy */
enum {
    PY_INT = -1,   /* an int, or a bool as an int */
    PY_REAL = -2,  /* a double */
    PY_TEXT = -3,  /* a const char * */
    PY_OBJECT = -4 /* a PyObject * */
};
/* flags: None gives NULL; the array is written; its numbers are copied into the struct;
 * an int is a bool; there is a default: None if that may be, a record without arguments,
 * or a number */
enum { PY_OPTIONAL = 1, PY_WRITTEN = 2, PY_COPIED = 4, PY_BOOL = 8, PY_DEFAULT = 16 };

/*
 * One attribute. Letters of the shape are lengths: all arrays of a call with one letter
 * have one length there, which the first one sets unless it is known; digits are
 * themselves; a last axis ? may be missing where its length is one. An array with a
 * stride has one row for all, stride 0, or one for each.
 */
typedef struct {
    const char *name;
    int type;          /* of NumPy, or of the enum above */
    const char *shape; /* of an object its type in Python */
    size_t at, stride; /* offsets in the struct; stride 0: none */
    size_t function;   /* where a callable goes in place of an array; 0: nowhere */
    int flags;
    const char *doc;
    double initial; /* default, if it is a number */
} py_field;

typedef struct {
    const char *name, *doc;
    const py_field *fields;
    int count;
} py_record;

/* rows of a table for a struct PY_JOB: name, member, shape, flags, and documentation with
 * the default, if it is a number. An array of a PY_EACH has its stride in member_stride,
 * one of a PY_ALL is an fa_each */
#define PY_FIELD(field, member, axes, more, ...)                                       \
    {PY_COLUMNS(field, member, axes, more), .doc = __VA_ARGS__}
#define PY_EACH(field, member, axes, more, ...)                                        \
    {PY_COLUMNS(field, member, axes, more),                                            \
     .stride = offsetof(PY_JOB, member##_stride), .doc = __VA_ARGS__}
#define PY_ALL(field, member, axes, more, ...)                                         \
    {PY_COLUMNS(field, member.at, axes, more),                                         \
     .stride = offsetof(PY_JOB, member.stride), .doc = __VA_ARGS__}
#define PY_COLUMNS(field, member, axes, more)                                          \
    .name = field, .type = PY_TYPE(((PY_JOB *)0)->member), .shape = axes,              \
    .at = offsetof(PY_JOB, member), .flags = PY_WRITES(((PY_JOB *)0)->member) | (more)
/* from the type of a member: an array of the struct is a copy, and what is not const is
 * written */
#define PY_TYPE(x)                                                                     \
    _Generic((x),                                                                      \
        int: PY_INT,                                                                   \
        double: PY_REAL,                                                               \
        const char *: PY_TEXT,                                                         \
        PyObject *: PY_OBJECT,                                                         \
        double *: NPY_DOUBLE,                                                          \
        const double *: NPY_DOUBLE,                                                    \
        int *: NPY_INT,                                                                \
        const int *: NPY_INT,                                                          \
        const size_t *: NPY_UINTP,                                                     \
        const int64_t *: NPY_INT64)
#define PY_WRITES(x)                                                                   \
    (sizeof(x) > sizeof(double)                                                        \
         ? PY_COPIED                                                                   \
         : _Generic((x), double *: PY_WRITTEN, int *: PY_WRITTEN, default: 0))
#define PY_RECORD(title, fields, text)                                                 \
    {title, text, fields, (int)(sizeof(fields) / sizeof *(fields))}

/* lengths by the letters of shapes, -1: not known yet */
typedef struct {
    npy_intp length['z' + 1];
} py_lengths;

enum { PY_MAX_FIELDS = 48 };
typedef struct {
    int count;
    PyObject *objects[PY_MAX_FIELDS];
} py_references;

/* a read-only mapping from records to their tables, of which Python makes its types; NULL
 * with an exception set on failure */
PyObject *py_records(const py_record *const *records, int n);

/*
 * Fetches the attributes of a record. -1 with an exception set on failure. The caller
 * releases the references after either.
 */
int py_fetch(PyObject *record, const py_record *table, py_lengths *lengths, void *to,
             py_references *references);
void py_release(py_references *references);

/* moves the arrays of a struct that py_fetch has filled, of those with c as first axis, to
 * the row of trajectory `first`; needs no GIL */
void py_advance(const py_record *table, const py_lengths *lengths, size_t first,
                void *to);

#endif
