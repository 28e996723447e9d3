/*
 * py_record.h -- records of Python, fetched by one table of their attributes
 *
 * A record (flexarm/_calls/records.py) has an attribute for each row. Arrays are C-ordered
 * and belong to Python; pointers to their numbers go into a struct of C, and references
 * keep them alive until the call ends.
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
/* flags: None gives NULL; the array is written; its numbers are copied into the struct */
enum { PY_OPTIONAL = 1, PY_WRITTEN = 2, PY_COPIED = 4 };

/*
 * One attribute. Letters of the shape are lengths: all arrays of a call with one letter
 * have one length there, which the first one sets unless it is known; digits are
 * themselves. An array with a stride has one row for all, stride 0, or one for each.
 */
typedef struct {
    const char *name;
    int type; /* of NumPy, or of the enum above */
    const char *shape;
    size_t at, stride; /* offsets in the struct; stride 0: none */
    int flags;
} py_field;

/* lengths by the letters of shapes, -1: not known yet */
typedef struct {
    npy_intp length['z' + 1];
} py_lengths;

enum { PY_MAX_FIELDS = 48 };
typedef struct {
    int count;
    PyObject *objects[PY_MAX_FIELDS];
} py_references;

/*
 * Fetches the attributes of rows, the last of which has no name. -1 with an exception
 * set on failure. The caller releases the references after either.
 */
int py_fetch(PyObject *record, const py_field *fields, py_lengths *lengths, void *to,
             py_references *references);
void py_release(py_references *references);

#endif
