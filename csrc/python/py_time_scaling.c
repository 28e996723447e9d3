/*
 * py_time_scaling.c -- the fastest motion along a path with NumPy arrays
 */
#include "python/py_time_scaling.h"
#include "python/py_numpy.h"

#include "library/time_scaling.h"

/* data of a C-ordered array of doubles of this size; NULL and an exception if none */
static double *scaling_data(PyObject *object, size_t size, int written,
                            const char *what)
{
    PyArrayObject *a = (PyArrayObject *)object;

    if (!PyArray_Check(object) || PyArray_TYPE(a) != NPY_DOUBLE ||
        (size_t)PyArray_SIZE(a) != size ||
        !(written ? PyArray_ISCARRAY(a) : PyArray_ISCARRAY_RO(a))) {
        PyErr_Format(PyExc_TypeError,
                     "%s must be a C-ordered array of float64 with %zu entries", what,
                     size);
        return NULL;
    }
    return PyArray_DATA(a);
}

/* the arrays of a problem, in the order of the arguments; -1 with an exception */
static int scaling_fill(fa_time_scaling *problem, PyObject *const *arrays)
{
    const size_t n = problem->n, rows = n * problem->m;
    const size_t sizes[] = {n, rows, rows, rows, rows, n, 2 * n, n, n, n - 1};
    static const char *const names[] = {
        "s", "a", "b", "lower", "upper", "x_max", "controllable", "curve", "x", "u"};
    double *data[10];

    for (int k = 0; k < 10; k++) {
        data[k] = scaling_data(arrays[k], sizes[k], k > 5, names[k]);
        if (!data[k]) {
            return -1;
        }
    }
    problem->s = data[0];
    problem->a = data[1];
    problem->b = data[2];
    problem->lower = data[3];
    problem->upper = data[4];
    problem->x_max = data[5];
    problem->controllable = data[6];
    problem->curve = data[7];
    problem->x = data[8];
    problem->u = data[9];
    return 0;
}

PyObject *py_time_scaling(PyObject *module, PyObject *args)
{
    PyObject *arrays[10];
    fa_time_scaling problem = {0};
    int scheme;
    (void)module;

    if (!PyArg_ParseTuple(args, "OOOOOOOOOOd(dd)i:time_scaling", arrays, arrays + 1,
                          arrays + 2, arrays + 3, arrays + 4, arrays + 5, arrays + 6,
                          arrays + 7, arrays + 8, arrays + 9, &problem.x_start,
                          problem.x_end, problem.x_end + 1, &scheme)) {
        return NULL;
    }
    if (!PyArray_Check(arrays[0]) || !PyArray_Check(arrays[1]) ||
        PyArray_SIZE((PyArrayObject *)arrays[0]) < 2) {
        PyErr_SetString(PyExc_TypeError, "s and a must be arrays, s of two or more");
        return NULL;
    }
    if (scheme < 0 || scheme >= FA_SCALING_SCHEMES) {
        PyErr_SetString(PyExc_ValueError, "no such scheme");
        return NULL;
    }
    problem.scheme = (fa_scaling_scheme)scheme;
    problem.n = (size_t)PyArray_SIZE((PyArrayObject *)arrays[0]);
    problem.m = (size_t)PyArray_SIZE((PyArrayObject *)arrays[1]) / problem.n;
    if (scaling_fill(&problem, arrays) < 0) {
        return NULL;
    }
    double *work =
        PyMem_RawMalloc(fa_time_scaling_work_size(problem.m) * sizeof(double));
    if (!work) {
        return PyErr_NoMemory();
    }
    fa_scaling_status status;
    Py_BEGIN_ALLOW_THREADS status = fa_time_scaling_solve(&problem, work);
    Py_END_ALLOW_THREADS PyMem_RawFree(work);
    return Py_BuildValue("in", (int)status, (Py_ssize_t)problem.failed);
}
