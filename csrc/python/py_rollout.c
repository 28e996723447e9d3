/*
 * py_rollout.c -- the C time loop with NumPy arrays and Python torque functions
 */
#include "python/py_rollout.h"
#include "python/py_base.h"
#include "python/py_isa.h"
#include "python/py_numpy.h"
#include "python/py_threads.h"

#include "calls/time_loop.h"
#include "library/tables.h"
#include "model/kinds.h"
#include "model/layout.h"
#include "model/stacks.h"

enum { ROLLOUT_ALIGN = 64 };

typedef struct {
    npy_intp count, nq, nv, n_tau;
    PyObject *torque; /* callable(t, q, qd) -> tau, or NULL */
    PyObject *tick;   /* callable(steps) -> stop, or NULL */
} rollout_context;

static PyObject *rollout_copy(const double *x, npy_intp rows, npy_intp columns)
{
    const npy_intp shape[2] = {rows, columns};
    PyObject *array = PyArray_SimpleNew(2, shape, NPY_DOUBLE);
    if (array) {
        memcpy(PyArray_DATA((PyArrayObject *)array), x,
               (size_t)(rows * columns) * sizeof(double));
    }
    return array;
}

/* the user's function at one stage; takes the GIL */
static int rollout_torque(void *context, double t, const double *q, const double *qd,
                          double *tau)
{
    const rollout_context *c = context;
    const PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *a = rollout_copy(q, c->count, c->nq);
    PyObject *b = rollout_copy(qd, c->count, c->nv);
    PyObject *given = a && b ? PyObject_CallFunction(c->torque, "dOO", t, a, b) : NULL;
    PyObject *array =
        given ? PyArray_FROMANY(given, NPY_DOUBLE, 2, 2, NPY_ARRAY_IN_ARRAY) : NULL;

    if (array) {
        PyArrayObject *x = (PyArrayObject *)array;
        if (PyArray_DIM(x, 0) == c->count && PyArray_DIM(x, 1) == c->n_tau) {
            memcpy(tau, PyArray_DATA(x),
                   (size_t)(c->count * c->n_tau) * sizeof(double));
        } else {
            PyErr_SetString(PyExc_ValueError, "torque function: wrong shape");
            Py_CLEAR(array);
        }
    }
    const int failed = array == NULL;
    Py_XDECREF(array);
    Py_XDECREF(given);
    Py_XDECREF(a);
    Py_XDECREF(b);
    PyGILState_Release(gil);
    return failed;
}

static int rollout_tick(void *context, size_t steps)
{
    const rollout_context *c = context;
    const PyGILState_STATE gil = PyGILState_Ensure();
    int stop = PyErr_CheckSignals() != 0;

    if (!stop && c->tick) {
        PyObject *answer = PyObject_CallFunction(c->tick, "n", (Py_ssize_t)steps);
        stop = !answer;
        Py_XDECREF(answer);
    }
    PyGILState_Release(gil);
    return stop;
}

/* a C-contiguous float64 array of three axes, as simulate.py makes them */
static double *rollout_data(PyObject *object, const char *what, int written,
                            npy_intp *shape)
{
    PyArrayObject *a = (PyArrayObject *)object;
    if (!PyArray_Check(object) || PyArray_TYPE(a) != NPY_DOUBLE ||
        PyArray_NDIM(a) != 3 ||
        !(written ? PyArray_ISCARRAY(a) : PyArray_ISCARRAY_RO(a))) {
        PyErr_Format(PyExc_TypeError,
                     "%s must be a C-ordered float64 array of three axes", what);
        return NULL;
    }
    memcpy(shape, PyArray_DIMS(a), 3 * sizeof *shape);
    return PyArray_DATA(a);
}

/* a contiguous array of one leading and any other axes, of `row` numbers a trajectory */
static const double *rollout_rows(PyObject *object, const char *what, npy_intp count,
                                  npy_intp row, size_t *stride)
{
    PyArrayObject *a = (PyArrayObject *)object;
    if (!PyArray_Check(object) || PyArray_TYPE(a) != NPY_DOUBLE ||
        PyArray_NDIM(a) < 1 || !PyArray_ISCARRAY_RO(a)) {
        PyErr_Format(PyExc_TypeError, "%s must be a C-ordered float64 array", what);
        return NULL;
    }
    const npy_intp n = PyArray_DIM(a, 0);
    if ((n != count && n != 1) || PyArray_SIZE(a) != n * row) {
        PyErr_Format(PyExc_ValueError, "%s of a rollout has the wrong shape", what);
        return NULL;
    }
    *stride = n == 1 ? 0 : (size_t)row;
    return PyArray_DATA(a);
}

/* feedback (diagonal, kp, kd, reference, rates or None) */
static int rollout_feedback(const fa_model *model, fa_rollout *run, fa_feedback *f,
                            PyObject *given)
{
    PyObject *kp, *kd, *reference, *rates;

    if (given == Py_None) {
        return 0;
    }
    if (!PyTuple_Check(given)) {
        PyErr_SetString(
            PyExc_TypeError,
            "feedback must be a tuple (diagonal, kp, kd, reference, rates)");
        return -1;
    }
    if (!PyArg_ParseTuple(given, "pOOOO", &f->diagonal, &kp, &kd, &reference, &rates)) {
        return -1;
    }
    if (run->kind == FA_TORQUE_CALL || run->kind == FA_TORQUE_ZERO ||
        run->n_tau != model->n_actuators || model->nq != model->nv) {
        PyErr_SetString(PyExc_ValueError,
                        "feedback needs samples of joint forces and no poses");
        return -1;
    }
    const npy_intp count = (npy_intp)run->count, nu = model->n_actuators;
    const npy_intp gain = f->diagonal ? nu : nu * nu;
    const npy_intp samples = (npy_intp)run->n_samples * nu;
    f->kp = rollout_rows(kp, "kp", count, gain, &f->kp_stride);
    f->kd = f->kp ? rollout_rows(kd, "kd", count, gain, &f->kd_stride) : NULL;
    f->reference = f->kd ? rollout_rows(reference, "reference", count, samples,
                                        &f->reference_stride)
                         : NULL;
    if (f->reference && rates != Py_None) {
        f->rates = rollout_rows(rates, "rates", count, samples, &f->rates_stride);
    }
    run->feedback = f;
    return f->reference && (f->rates || rates == Py_None) ? 0 : -1;
}

static int rollout_method(const fa_model *model, fa_rollout *run, const char *name)
{
    for (int i = 0; i < FA_N_METHODS; i++) {
        const fa_method method = (fa_method)i;
        if (strcmp(name, fa_method_names[i]) == 0 &&
            (model->n_constraints == 0 || method == FA_RK4) &&
            (model->fidelity != FA_LINEAR || method <= FA_ROS34PW2)) {
            run->method = method;
            return 0;
        }
    }
    PyErr_Format(PyExc_ValueError, "no method of a rollout of this arm: %s", name);
    return -1;
}

/* options of the method, and numbers of each trajectory to be reported */
static int rollout_options(fa_rollout *run, PyObject *given, PyObject *report)
{
    npy_intp shape[3];

    if (report != Py_None) {
        run->report = rollout_data(report, "report", 1, shape);
        if (!run->report) {
            return -1;
        }
        if ((size_t)shape[0] != run->count || shape[1] * shape[2] != FA_REPORT_SIZE) {
            PyErr_SetString(PyExc_ValueError,
                            "report of a rollout has the wrong shape");
            return -1;
        }
    }
    run->spectral_radius = 1.0;
    run->rtol = run->atol = 1e-6;
    run->max_step = (double)INFINITY;
    return given == Py_None || PyArg_ParseTuple(given, "dddd", &run->spectral_radius,
                                                &run->rtol, &run->atol, &run->max_step)
               ? 0
               : -1;
}

/* times of all trajectories, or of each */
static int rollout_times(fa_rollout *run, PyArrayObject *t)
{
    const npy_intp n = (npy_intp)run->n_samples, rows = PyArray_SIZE(t) / n;
    const int each = PyArray_NDIM(t) == 2;

    run->t = PyArray_DATA(t);
    run->t_stride = each ? run->n_samples : 0;
    if (PyArray_SIZE(t) != rows * n || rows != (each ? (npy_intp)run->count : 1) ||
        (each && run->kind == FA_TORQUE_CALL)) {
        PyErr_SetString(PyExc_ValueError, "times of a rollout do not fit");
        return -1;
    }
    return 0;
}

static int rollout_fill(const fa_model *model, fa_rollout *run, rollout_context *c,
                        PyObject *q, PyObject *qd, PyArrayObject *t, PyObject *tau,
                        PyObject *tau_out)
{
    npy_intp shape[3], rates[3], other[3];

    run->q = rollout_data(q, "q", 1, shape);
    run->qd = run->q ? rollout_data(qd, "qd", 1, rates) : NULL;
    run->tau_out = run->qd ? rollout_data(tau_out, "tau_out", 1, other) : NULL;
    if (!run->tau_out) {
        return -1;
    }
    if (shape[2] != model->nq || shape[1] < 1 || rates[0] != shape[0] ||
        rates[1] != shape[1] || rates[2] != model->nv || other[0] != shape[0] ||
        other[1] != shape[1] ||
        (other[2] != model->n_actuators && other[2] != model->nv)) {
        PyErr_SetString(PyExc_ValueError, "arrays of a rollout do not fit together");
        return -1;
    }
    run->count = (size_t)shape[0];
    run->n_samples = (size_t)shape[1];
    run->n_tau = (int)other[2];
    *c = (rollout_context){shape[0], shape[2], rates[2], other[2], NULL, c->tick};
    if (tau == Py_None) {
        run->kind = FA_TORQUE_ZERO;
    } else if (PyCallable_Check(tau)) {
        run->kind = FA_TORQUE_CALL;
        run->call = rollout_torque;
        c->torque = tau;
    } else {
        run->tau = rollout_data(tau, "tau", 0, other);
        if (!run->tau) {
            return -1;
        }
        if ((other[0] != shape[0] && other[0] != 1) || other[1] != shape[1] ||
            other[2] != run->n_tau) {
            PyErr_SetString(PyExc_ValueError, "tau of a rollout has the wrong shape");
            return -1;
        }
        run->tau_stride = other[0] == 1 ? 0 : (size_t)(other[1] * other[2]);
    }
    if (run->method == FA_RODAS4P && run->kind == FA_TORQUE_CALL && run->count > 1) {
        PyErr_SetString(PyExc_ValueError, "a torque function sees one time alone");
        return -1;
    }
    return rollout_times(run, t);
}

/* the time loop without the GIL; -1 with an exception set */
static int rollout_run(const fa_model *model, const fa_stack *stack,
                       const fa_rollout *run, int threads)
{
    const fa_kernels *kernels = py_kernels(stack ? SIZE_MAX : run->count);
    const size_t work_size = kernels->rollout_work_size(model, run) +
                             (stack ? kernels->stack_work_size(stack) : 0);
    char *work = PyMem_RawMalloc(work_size + ROLLOUT_ALIGN);
    if (!work) {
        PyErr_NoMemory();
        return -1;
    }
    char *aligned = work + (ROLLOUT_ALIGN - (uintptr_t)work % ROLLOUT_ALIGN);
    int stopped = 0;
    Py_BEGIN_ALLOW_THREADS if (run->count)
    {
        stopped =
            py_split_rollout(model, stack, kernels, run, threads, aligned, work_size);
    }
    Py_END_ALLOW_THREADS PyMem_RawFree(work);
    return stopped ? -1 : 0;
}

/* the numbers of the arms of all trajectories */
static int rollout_arms(const fa_stack *stack, fa_rollout *run, PyObject *arms)
{
    PyArrayObject *a = (PyArrayObject *)arms;

    if (!stack) {
        return 0;
    }
    if (!PyArray_Check(arms) || PyArray_TYPE(a) != NPY_INT64 ||
        !PyArray_ISCARRAY_RO(a) || (size_t)PyArray_SIZE(a) != run->count) {
        PyErr_SetString(PyExc_TypeError,
                        "arms must be an int64 array, one number for each trajectory");
        return -1;
    }
    run->arms = PyArray_DATA(a);
    for (size_t i = 0; i < run->count; i++) {
        if (run->arms[i] < 0 || run->arms[i] >= stack->n_arms) {
            PyErr_SetString(PyExc_ValueError, "a rollout has an arm that is not there");
            return -1;
        }
    }
    if (!fa_stack_integrates(run->method)) {
        PyErr_SetString(PyExc_ValueError, "no method of a rollout of stacks");
        return -1;
    }
    return 0;
}

PyObject *py_rollout(const fa_model *model, const fa_stack *stack, PyObject *arms,
                     PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"q",       "qd",     "t",       "method",  "substeps",
                            "tau",     "hold",   "tick",    "tau_out", "feedback",
                            "options", "report", "threads", NULL};
    PyObject *q, *qd, *t, *tau, *tick, *tau_out, *feedback = Py_None;
    PyObject *options = Py_None, *report = Py_None;
    const char *method;
    int substeps, hold, threads = 1;
    rollout_context context = {0, 0, 0, 0, NULL, NULL};
    fa_feedback gains = {0};
    fa_rollout run = {.tick = rollout_tick};

    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOOsiOpOO|OOOi:rollout", names, &q,
                                     &qd, &t, &method, &substeps, &tau, &hold, &tick,
                                     &tau_out, &feedback, &options, &report,
                                     &threads)) {
        return NULL;
    }
    PyObject *times = PyArray_FROMANY(t, NPY_DOUBLE, 1, 2, NPY_ARRAY_IN_ARRAY);
    if (!times) {
        return NULL;
    }
    context.tick = tick == Py_None ? NULL : tick;
    run.kind = hold ? FA_TORQUE_HOLD : FA_TORQUE_LINEAR;
    run.substeps = substeps < 1 ? 1 : substeps;
    run.context = &context;
    if (rollout_method(model, &run, method) < 0 ||
        rollout_fill(model, &run, &context, q, qd, (PyArrayObject *)times, tau,
                     tau_out) < 0 ||
        rollout_feedback(model, &run, &gains, feedback) < 0 ||
        rollout_options(&run, options, report) < 0 ||
        rollout_arms(stack, &run, arms) < 0) {
        goto fail;
    }
    if (rollout_run(model, stack, &run, threads) < 0) {
        goto fail; /* the exception of the callback is set */
    }
    Py_DECREF(times);
    Py_RETURN_NONE;

fail:
    Py_DECREF(times);
    return NULL;
}

/* an array of so many numbers a trajectory */
static int rollout_each(PyObject *object, const char *what, npy_intp count,
                        npy_intp row, fa_each *each)
{
    each->at = rollout_rows(object, what, count, row, &each->stride);
    return each->at ? 0 : -1;
}

/* a shared array of so many numbers */
static const double *rollout_shared(PyObject *object, const char *what, npy_intp size)
{
    size_t stride;
    PyArrayObject *a = (PyArrayObject *)object;
    if (PyArray_Check(object) && PyArray_SIZE(a) != size) {
        PyErr_Format(PyExc_ValueError, "%s of a rollout has the wrong shape", what);
        return NULL;
    }
    const npy_intp rows =
        PyArray_Check(object) && PyArray_NDIM(a) > 0 ? PyArray_DIM(a, 0) : 1;
    return rollout_rows(object, what, rows, rows ? size / rows : 0, &stride);
}

/* an array of indices or of numbers of steps, of any length if that is negative */
static const void *rollout_whole(PyObject *object, const char *what, int type,
                                 npy_intp size, npy_intp *length)
{
    PyArrayObject *a = (PyArrayObject *)object;
    if (!PyArray_Check(object) || PyArray_TYPE(a) != type || PyArray_NDIM(a) != 1 ||
        !PyArray_ISCARRAY_RO(a) || (size >= 0 && PyArray_SIZE(a) != size)) {
        PyErr_Format(PyExc_ValueError, "%s of a rollout has the wrong type or length",
                     what);
        return NULL;
    }
    *length = PyArray_SIZE(a);
    return PyArray_DATA(a);
}

/* grid (knots, substeps, samples, changes, outputs) */
static int sampled_grid(fa_rollout *run, fa_sampled *law, PyObject *grid)
{
    PyObject *knots, *substeps, *samples, *changes, *outputs;
    npy_intp n, n_samples, n_changes;

    if (!PyArg_ParseTuple(grid, "OOOOO", &knots, &substeps, &samples, &changes,
                          &outputs)) {
        return -1;
    }
    law->knots = rollout_whole(knots, "knots", NPY_DOUBLE, -1, &n);
    if (!law->knots) {
        return -1;
    }
    law->n_knots = (size_t)n;
    law->substeps = rollout_whole(substeps, "substeps", NPY_INT, n > 0 ? n - 1 : 0, &n);
    law->samples = rollout_whole(samples, "samples", NPY_UINTP, -1, &n_samples);
    law->changes = rollout_whole(changes, "changes", NPY_UINTP, -1, &n_changes);
    law->outputs =
        rollout_whole(outputs, "outputs", NPY_UINTP, (npy_intp)run->n_samples, &n);
    if (!law->substeps || !law->samples || !law->changes || !law->outputs) {
        return -1;
    }
    law->n_samples = (size_t)n_samples;
    law->n_changes = (size_t)n_changes;
    for (size_t i = 0; i + 1 < law->n_knots; i++) {
        law->n_steps += law->substeps[i] > 0 ? (size_t)law->substeps[i] : 0;
    }
    run->t = law->knots;
    if (law->n_knots < 1 || n_changes > n_samples) {
        PyErr_SetString(PyExc_ValueError, "the grid of a sampled loop does not fit");
        return -1;
    }
    return 0;
}

/* law (rows, A, B, C, D, E or None, z0, reference, feedforward) */
static int sampled_law(const fa_model *model, fa_rollout *run, fa_sampled *law,
                       PyObject *given)
{
    PyObject *rows, *A, *B, *C, *D, *E, *z0, *reference, *feedforward;

    if (!PyArg_ParseTuple(given, "OOOOOOOOO", &rows, &A, &B, &C, &D, &E, &z0,
                          &reference, &feedforward)) {
        return -1;
    }
    if (!PyArray_Check(reference) || !PyArray_Check(feedforward) ||
        PyArray_NDIM((PyArrayObject *)reference) != 3 ||
        PyArray_NDIM((PyArrayObject *)feedforward) != 3) {
        PyErr_SetString(PyExc_ValueError, "references must be arrays of three axes");
        return -1;
    }
    const npy_intp count = (npy_intp)run->count, nu = model->n_actuators;
    const npy_intp p = law->n_outputs, m = law->n_states;
    const npy_intp n_r = PyArray_DIM((PyArrayObject *)reference, 1);
    const npy_intp n_f = PyArray_DIM((PyArrayObject *)feedforward, 1);
    law->n_reference = (size_t)n_r;
    law->n_feedforward = (size_t)n_f;
    if ((n_r != 1 && law->n_reference != law->n_samples) ||
        (n_f != 1 && law->n_feedforward != law->n_samples)) {
        PyErr_SetString(PyExc_ValueError, "references need one row, or one per sample");
        return -1;
    }
    law->rows = rollout_shared(rows, "rows", p * 2 * model->nv);
    return law->rows && rollout_each(A, "A", count, m * m, &law->A) == 0 &&
                   rollout_each(B, "B", count, m * p, &law->B) == 0 &&
                   rollout_each(C, "C", count, nu * m, &law->C) == 0 &&
                   rollout_each(D, "D", count, nu * p, &law->D) == 0 &&
                   (E == Py_None ||
                    rollout_each(E, "E", count, m * nu, &law->E) == 0) &&
                   rollout_each(z0, "z0", count, m, &law->z0) == 0 &&
                   rollout_each(reference, "reference", count, n_r * p,
                                &law->reference) == 0 &&
                   rollout_each(feedforward, "feedforward", count, n_f * nu,
                                &law->feedforward) == 0
               ? 0
               : -1;
}

/* samples (y, u, w, z), then actuators (held, resolution, step, limits) */
static int sampled_arrays(const fa_model *model, fa_rollout *run, fa_sampled *law,
                          PyObject *samples, PyObject *actuators)
{
    PyObject *given[4], *held, *resolution, *step, *limits;
    double **const arrays[4] = {&law->y, &law->u, &law->w, &law->z};
    npy_intp shape[4][3];

    if (!PyArg_ParseTuple(samples, "OOOO", given, given + 1, given + 2, given + 3) ||
        !PyArg_ParseTuple(actuators, "OOOO", &held, &resolution, &step, &limits)) {
        return -1;
    }
    const npy_intp nu = model->n_actuators;
    for (int i = 0; i < 4; i++) {
        *arrays[i] = rollout_data(given[i], "samples", 1, shape[i]);
        if (!*arrays[i]) {
            return -1;
        }
        if (shape[i][0] != (npy_intp)run->count ||
            shape[i][1] != (npy_intp)law->n_samples ||
            ((i == 1 || i == 2) && shape[i][2] != nu)) {
            PyErr_SetString(PyExc_ValueError, "samples of a loop do not fit together");
            return -1;
        }
    }
    law->n_outputs = (int)shape[0][2];
    law->n_states = (int)shape[3][2];
    law->resolution = rollout_shared(resolution, "resolution", shape[0][2]);
    law->step = law->resolution ? rollout_shared(step, "step", nu) : NULL;
    law->limits = law->step ? rollout_shared(limits, "limits", 2 * nu) : NULL;
    return law->limits &&
                   rollout_each(held, "held", (npy_intp)run->count, nu, &law->held) == 0
               ? 0
               : -1;
}

PyObject *py_sampled_loop(const fa_model *model, PyObject *args)
{
    PyObject *q, *qd, *tau, *grid, *law_of, *samples, *actuators, *options, *report;
    PyObject *tick;
    const char *method;
    int threads;
    rollout_context context = {0, 0, 0, 0, NULL, NULL};
    fa_sampled law = {0};
    fa_rollout run = {.tick = rollout_tick, .substeps = 1};
    npy_intp shape[3], rates[3], forces[3];

    if (!PyArg_ParseTuple(args, "OOOO!sO!O!O!OOOi:sampled_loop", &q, &qd, &tau,
                          &PyTuple_Type, &grid, &method, &PyTuple_Type, &law_of,
                          &PyTuple_Type, &samples, &PyTuple_Type, &actuators, &options,
                          &report, &tick, &threads)) {
        return NULL;
    }
    context.tick = tick == Py_None ? NULL : tick;
    if (rollout_method(model, &run, method) < 0) {
        return NULL;
    }
    if (run.method == FA_RODAS4P || model->nq != model->nv) {
        PyErr_SetString(PyExc_ValueError,
                        "a sampled loop needs fixed steps and no poses");
        return NULL;
    }
    run.q = rollout_data(q, "q", 1, shape);
    run.qd = run.q ? rollout_data(qd, "qd", 1, rates) : NULL;
    law.tau = run.qd ? rollout_data(tau, "tau", 1, forces) : NULL;
    if (!law.tau) {
        return NULL;
    }
    if (shape[2] != model->nq || rates[2] != model->nv || shape[1] < 1 ||
        forces[2] != model->n_actuators || rates[0] != shape[0] ||
        rates[1] != shape[1] || forces[0] != shape[0] || forces[1] != shape[1]) {
        PyErr_SetString(PyExc_ValueError, "arrays of a rollout do not fit together");
        return NULL;
    }
    run.count = (size_t)shape[0];
    run.n_samples = (size_t)shape[1];
    run.n_tau = model->n_actuators;
    run.context = &context;
    run.sampled = &law;
    if (sampled_grid(&run, &law, grid) < 0 ||
        sampled_arrays(model, &run, &law, samples, actuators) < 0 ||
        sampled_law(model, &run, &law, law_of) < 0 ||
        rollout_options(&run, options, report) < 0 ||
        rollout_run(model, NULL, &run, threads) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}
