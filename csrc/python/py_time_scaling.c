/*
 * py_time_scaling.c -- the fastest motion along a path with NumPy arrays
 */
#include "python/py_time_scaling.h"
#include "python/py_numpy.h"
#include "python/py_record.h"

#include "library/time_scaling.h"

typedef struct {
    fa_time_scaling problem;
    int scheme;
} scaling_job;

/* letters of shapes: n points, m rows of each, k intervals */
#define ROW(name, type, shape, at, flags)                                              \
    {name, type, shape, offsetof(scaling_job, at), 0, flags}

static const py_field scaling_fields[] = {
    ROW("s", NPY_DOUBLE, "n", problem.s, 0),
    ROW("a", NPY_DOUBLE, "nm", problem.a, 0),
    ROW("b", NPY_DOUBLE, "nm", problem.b, 0),
    ROW("lower", NPY_DOUBLE, "nm", problem.lower, 0),
    ROW("upper", NPY_DOUBLE, "nm", problem.upper, 0),
    ROW("x_max", NPY_DOUBLE, "n", problem.x_max, 0),
    ROW("x_start", PY_REAL, "", problem.x_start, 0),
    ROW("x_end", NPY_DOUBLE, "2", problem.x_end, PY_COPIED),
    ROW("scheme", PY_INT, "", scheme, 0),
    ROW("controllable", NPY_DOUBLE, "n2", problem.controllable, PY_WRITTEN),
    ROW("curve", NPY_DOUBLE, "n", problem.curve, PY_WRITTEN),
    ROW("x", NPY_DOUBLE, "n", problem.x, PY_WRITTEN),
    ROW("u", NPY_DOUBLE, "k", problem.u, PY_WRITTEN),
    {0},
};

/* status and where it ended */
static PyObject *scaling_solve(scaling_job *job, const npy_intp *length)
{
    fa_time_scaling *problem = &job->problem;

    if (length['n'] < 2 || length['k'] != length['n'] - 1 || job->scheme < 0 ||
        job->scheme >= FA_SCALING_SCHEMES) {
        PyErr_SetString(PyExc_ValueError, "fewer than two points, or no such scheme");
        return NULL;
    }
    problem->scheme = (fa_scaling_scheme)job->scheme;
    problem->n = (size_t)length['n'];
    problem->m = (size_t)length['m'];
    double *work =
        PyMem_RawMalloc(fa_time_scaling_work_size(problem->m) * sizeof(double));
    if (!work) {
        return PyErr_NoMemory();
    }
    fa_scaling_status status;
    Py_BEGIN_ALLOW_THREADS status = fa_time_scaling_solve(problem, work);
    Py_END_ALLOW_THREADS PyMem_RawFree(work);
    return Py_BuildValue("in", (int)status, (Py_ssize_t)problem->failed);
}

PyObject *py_time_scaling(PyObject *module, PyObject *record)
{
    scaling_job job = {0};
    py_lengths lengths;
    py_references references = {0};
    (void)module;

    memset(&lengths, -1, sizeof lengths);
    PyObject *result = py_fetch(record, scaling_fields, &lengths, &job, &references) < 0
                           ? NULL
                           : scaling_solve(&job, lengths.length);
    py_release(&references);
    return result;
}
