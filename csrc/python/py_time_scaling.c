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

#define PY_JOB scaling_job
static const py_field scaling_fields[] = {
    PY_FIELD("s", problem.s, "n", 0, ""),
    PY_FIELD("a", problem.a, "nm", 0, "lower <= a u + b x <= upper"),
    PY_FIELD("b", problem.b, "nm", 0, ""),
    PY_FIELD("lower", problem.lower, "nm", 0, ""),
    PY_FIELD("upper", problem.upper, "nm", 0, ""),
    PY_FIELD("x_max", problem.x_max, "n", 0, ""),
    PY_FIELD("x_start", problem.x_start, "", 0, ""),
    PY_FIELD("x_end", problem.x_end, "2", 0, "least and largest"),
    PY_FIELD("scheme", scheme, "", 0, "number in SCALING_SCHEMES"),
    PY_FIELD("controllable", problem.controllable, "n2", 0, ""),
    PY_FIELD("curve", problem.curve, "n", 0, ""),
    PY_FIELD("x", problem.x, "n", 0, ""),
    PY_FIELD("u", problem.u, "k", 0, ""),
};
const py_record py_scaling_run =
    PY_RECORD("ScalingRun", scaling_fields,
              "Fastest motion along a path of n points with m rows: `time_scaling`.");

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
    PyObject *result =
        py_fetch(record, &py_scaling_run, &lengths, &job, &references) < 0
            ? NULL
            : scaling_solve(&job, lengths.length);
    py_release(&references);
    return result;
}
