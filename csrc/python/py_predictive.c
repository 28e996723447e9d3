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

#define PY_JOB predictive_job
static const py_field predictive_fields[] = {
    PY_FIELD("A", law.A, "nn", 0, ""),
    PY_FIELD("B", law.B, "nm", 0, ""),
    PY_FIELD("R", law.R, "rw", 0, "rows of limits without multipliers"),
    PY_FIELD("F", law.F, "mw", 0, "inputs without multipliers"),
    PY_FIELD("E", law.E, "rm", 0, "what multipliers take from the inputs"),
    PY_FIELD("gram", law.gram, "rr", 0, ""),
    PY_FIELD("lower", law.lower, "r", 0, ""),
    PY_FIELD("upper", law.upper, "r", 0, ""),
    PY_FIELD("tolerance", law.tolerance, "r", 0, ""),
    PY_FIELD("soft", law.soft, "3r", 0, "none, outputs, outputs and rates give way"),
    PY_FIELD("least", law.least, "m", 0, ""),
    PY_FIELD("most", law.most, "m", 0, ""),
    PY_FIELD("next", law.next, "r", 0, "the row that it is a sample later"),
    PY_FIELD("h", law.h, "", 0, "of the disturbance"),
    PY_FIELD("max_steps", law.max_steps, "", 0, ""),
    PY_FIELD("C", law.C, "on", PY_OPTIONAL, "of the observer; None: measured states"),
    PY_FIELD("L", law.L, "no", PY_OPTIONAL, ""),
    PY_FIELD("measured", measured, "co", 0, ""),
    PY_FIELD("u", u, "cm", 0, ""),
    PY_FIELD("p", p, "cw", 0, "kept from sample to sample, as y, side and begun"),
    PY_FIELD("y", y, "cr", 0, ""),
    PY_FIELD("side", side, "cr", 0, ""),
    PY_FIELD("begun", begun, "c", 0, ""),
    PY_FIELD("status", status, "c", 0, "number in PREDICTIVE_STATUSES"),
    PY_FIELD("steps", steps, "c", 0, ""),
};
const py_record py_predictive_record =
    PY_RECORD("PredictiveStep", predictive_fields,
              "A sample of predictive control of c loops: `predictive_step`.\n\n"
              "Of n states, o outputs, m inputs and r rows of limits; w = 2 n + m are "
              "the state,\nthe last inputs and the disturbance, as deviations.\n");

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
        py_fetch(record, &py_predictive_record, &lengths, &job, &references) < 0
            ? NULL
            : predictive_run(&job, lengths.length);
    py_release(&references);
    return result;
}
