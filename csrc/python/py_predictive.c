/*
 * py_predictive.c -- a sample of predictive control with NumPy arrays
 */
#include "python/py_predictive.h"
#include "python/py_numpy.h"
#include "python/py_record.h"

#include "library/laws.h"

typedef struct {
    fa_predictive law;
    const double *measured;
    double *u, *p, *y;
    int *side, *begun, *status, *steps;
} predictive_job;

/* letters of shapes: n states, o outputs, m inputs, r rows, w parameters, c members of a batch */
#define ROW(name, type, shape, at, flags)                                              \
    {name, type, shape, offsetof(predictive_job, at), 0, flags}

static const py_field predictive_fields[] = {
    ROW("A", NPY_DOUBLE, "nn", law.A, 0),
    ROW("B", NPY_DOUBLE, "nm", law.B, 0),
    ROW("R", NPY_DOUBLE, "rw", law.R, 0),
    ROW("F", NPY_DOUBLE, "mw", law.F, 0),
    ROW("E", NPY_DOUBLE, "rm", law.E, 0),
    ROW("gram", NPY_DOUBLE, "rr", law.gram, 0),
    ROW("lower", NPY_DOUBLE, "r", law.lower, 0),
    ROW("upper", NPY_DOUBLE, "r", law.upper, 0),
    ROW("tolerance", NPY_DOUBLE, "r", law.tolerance, 0),
    ROW("soft", NPY_DOUBLE, "3r", law.soft, 0),
    ROW("least", NPY_DOUBLE, "m", law.least, 0),
    ROW("most", NPY_DOUBLE, "m", law.most, 0),
    ROW("next", NPY_INT, "r", law.next, 0),
    ROW("h", PY_REAL, "", law.h, 0),
    ROW("max_steps", PY_INT, "", law.max_steps, 0),
    ROW("C", NPY_DOUBLE, "on", law.C, PY_OPTIONAL),
    ROW("L", NPY_DOUBLE, "no", law.L, PY_OPTIONAL),
    ROW("measured", NPY_DOUBLE, "co", measured, 0),
    ROW("u", NPY_DOUBLE, "cm", u, PY_WRITTEN),
    ROW("p", NPY_DOUBLE, "cw", p, PY_WRITTEN),
    ROW("y", NPY_DOUBLE, "cr", y, PY_WRITTEN),
    ROW("side", NPY_INT, "cr", side, PY_WRITTEN),
    ROW("begun", NPY_INT, "c", begun, PY_WRITTEN),
    ROW("status", NPY_INT, "c", status, PY_WRITTEN),
    ROW("steps", NPY_INT, "c", steps, PY_WRITTEN),
    {0},
};

static PyObject *predictive_run(predictive_job *job, const npy_intp *length)
{
    enum { MOST = 4096 }; /* rows, whose factors stay far from the end of an int */
    const npy_intp n = length['n'], m = length['m'], rows = length['r'];

    if (length['w'] != 2 * n + m || (!job->law.L && length['o'] != n) || rows > MOST ||
        n > MOST || m > MOST || length['o'] > MOST) {
        PyErr_SetString(PyExc_ValueError, "wrong or too many parameters");
        return NULL;
    }
    job->law.n_states = (int)n;
    job->law.n_outputs = (int)length['o'];
    job->law.n_inputs = (int)m;
    job->law.n_rows = (int)rows;
    const size_t doubles = (size_t)FA_PREDICTIVE_DOUBLES(n, rows) + 1;
    double *work = PyMem_RawMalloc(doubles * sizeof(double));
    int *places = PyMem_RawMalloc((size_t)(FA_PREDICTIVE_INTS(rows) + 1) * sizeof(int));
    if (!work || !places) {
        PyMem_RawFree(work);
        PyMem_RawFree(places);
        return PyErr_NoMemory();
    }
    Py_BEGIN_ALLOW_THREADS for (npy_intp c = 0; c < length['c']; c++)
    {
        fa_predictive_state state = {
            .p = job->p + c * length['w'],
            .y = job->y + c * rows,
            .side = job->side + c * rows,
            .begun = job->begun[c],
        };
        job->status[c] =
            (int)fa_predictive_step(&job->law, &state, job->measured + c * length['o'],
                                    job->u + c * m, job->steps + c, work, places);
        job->begun[c] = state.begun;
    }
    Py_END_ALLOW_THREADS PyMem_RawFree(work);
    PyMem_RawFree(places);
    Py_RETURN_NONE;
}

PyObject *py_predictive_step(PyObject *module, PyObject *record)
{
    predictive_job job = {0};
    py_lengths lengths;
    py_references references = {0};
    (void)module;

    memset(&lengths, -1, sizeof lengths);
    PyObject *result =
        py_fetch(record, predictive_fields, &lengths, &job, &references) < 0
            ? NULL
            : predictive_run(&job, lengths.length);
    py_release(&references);
    return result;
}
