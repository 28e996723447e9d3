/*
 * py_rollout.c -- the C time loop with NumPy arrays and Python torque functions
 */
#include "python/py_rollout.h"
#include "python/py_base.h"
#include "python/py_isa.h"
#include "python/py_numpy.h"
#include "python/py_record.h"
#include "python/py_threads.h"

#include "calls/tick.h"
#include "calls/time_loop.h"
#include "library/pool.h"
#include "library/tables.h"
#include "model/kinds.h"
#include "model/layout.h"
#include "model/stacks.h"

typedef struct {
    npy_intp count, nq, nv, n_tau;
    PyObject *torque; /* callable(t, q, qd) -> tau, or NULL */
    PyObject *tick;   /* callable(steps), or NULL */
} rollout_context;

/* a record as it is fetched */
typedef struct {
    fa_rollout run;
    fa_feedback feedback;
    fa_sampled law;
    rollout_context context;
    const char *method;
    int hold, threads;
    PyObject *record, *gains, *options;
    py_references references;
    /* where it is computed, and by which table it was fetched */
    const fa_model *model;
    const fa_stack *stack;
    const fa_kernels *kernels;
    const py_record *table;
    py_lengths lengths;
} rollout_job;

#define PY_JOB rollout_job

static const py_field option_fields[] = {
    PY_FIELD("spectral_radius", run.spectral_radius, "", PY_DEFAULT, "", 1.0),
    PY_FIELD("rtol", run.rtol, "", PY_DEFAULT, "", 1e-6),
    PY_FIELD("atol", run.atol, "", PY_DEFAULT, "", 1e-6),
    PY_FIELD("max_step", run.max_step, "", PY_DEFAULT, "in s", INFINITY),
};
const py_record py_options_record =
    PY_RECORD("Options", option_fields, "Options of the methods of a time loop.");

static const py_field gain_fields[] = {
    PY_FIELD("diagonal", feedback.diagonal, "", PY_BOOL, "gains have no last axis"),
    PY_EACH("kp", feedback.kp, "cu?", 0, ""),
    PY_EACH("kd", feedback.kd, "cu?", 0, ""),
    PY_EACH("reference", feedback.reference, "csu", 0, ""),
    PY_EACH("rates", feedback.rates, "csu", PY_OPTIONAL, "None: zero"),
};
const py_record py_gains_record =
    PY_RECORD("Gains", gain_fields,
              "Feedback ``kp (reference - q) + kd (rates - qd)`` of the u actuators.");

/* rows of all time loops */
#define STATES                                                                         \
    PY_FIELD("q", run.q, "csq", 0, "the first sample is the start"),                   \
        PY_FIELD("qd", run.qd, "csv", 0, "")
#define METHOD PY_FIELD("method", method, "", 0, "")
#define REST                                                                           \
    PY_FIELD("options", options, "Options", PY_DEFAULT, ""),                           \
        PY_FIELD("report", run.report, "cn", PY_OPTIONAL | PY_DEFAULT,                 \
                 "columns of REPORT_COLUMNS"),                                         \
        PY_FIELD("threads", threads, "", PY_DEFAULT, "", 1.0),                         \
        PY_FIELD("arms", run.arms, "c", PY_OPTIONAL | PY_DEFAULT,                      \
                 "numbers of the arms, of a stack")

static const py_field rollout_fields[] = {
    STATES,
    PY_EACH("t", run.t, "cs", 0, "in s"),
    METHOD,
    PY_FIELD("substeps", run.substeps, "", 0, "from sample to sample"),
    {PY_COLUMNS("tau", run.tau, "csf", PY_OPTIONAL),
     .stride = offsetof(rollout_job, run.tau_stride),
     .function = offsetof(rollout_job, context.torque),
     .doc = "or a function of t, q and qd; None: zero"},
    PY_FIELD("hold", hold, "", PY_BOOL, "forces between samples; linear otherwise"),
    PY_FIELD("tau_out", run.tau_out, "csf", 0, ""),
    PY_FIELD("feedback", gains, "Gains", PY_OPTIONAL | PY_DEFAULT, ""),
    PY_FIELD("tick", context.tick, "Callable[[int], object]", PY_OPTIONAL | PY_DEFAULT,
             "gets the number of steps so far"),
    REST,
};
const py_record py_rollout_record = PY_RECORD(
    "Rollout", rollout_fields,
    "Run of c trajectories over s samples: `Model.rollout`, `Stack.rollout`.");

static const py_field law_fields[] = {
    STATES,
    PY_FIELD("tau", law.tau, "csf", 0, ""),
    METHOD,
    /* knots, between which forces are held, and what happens at which of them */
    PY_FIELD("knots", law.knots, "k", 0, "in s"),
    PY_FIELD("substeps", law.substeps, "j", 0, "from knot to knot"),
    PY_FIELD("samples", law.samples, "i", 0, "knots at which the law is evaluated"),
    PY_FIELD("changes", law.changes, "h", 0,
             "from which the forces of a sample act, at most i"),
    PY_FIELD("outputs", law.outputs, "s", 0, "of the times of the result"),
    /* samples */
    PY_FIELD("y", law.y, "cip", 0, "the noise before, measured outputs after"),
    PY_FIELD("u", law.u, "ciu", 0, "of the law"),
    PY_FIELD("command", law.w, "ciu", 0, "forces after limits and resolution"),
    PY_FIELD("states", law.z, "cim", 0, ""),
    /* sensors and actuators */
    PY_ALL("rows", law.rows, "cpw", 0, "of (q, qd)"),
    PY_FIELD("resolution", law.resolution, "p", 0, "of the outputs; 0: exact"),
    PY_FIELD("step", law.step, "u", 0, "resolution of the forces"),
    PY_FIELD("limits", law.limits, "2u", 0, "least and largest forces"),
    PY_ALL("held", law.held, "cu", 0, "forces before the first ones arrive"),
    /* next state A z + B e (+ E (applied - u)), forces C z + D e + feedforward */
    PY_ALL("A", law.A, "cmm", 0, ""),
    PY_ALL("B", law.B, "cmp", 0, ""),
    PY_ALL("C", law.C, "cum", 0, ""),
    PY_ALL("D", law.D, "cup", 0, ""),
    PY_ALL("E", law.E, "cmu", PY_OPTIONAL, ""),
    PY_ALL("z0", law.z0, "cm", 0, ""),
    PY_ALL("reference", law.reference, "cap", 0, "a is 1 or i"),
    PY_ALL("feedforward", law.feedforward, "cbu", 0, "b is 1 or i"),
    REST,
};
const py_record py_sampled_record = PY_RECORD(
    "SampledLoop", law_fields,
    "Run of a linear law: `Model.sampled_loop`, `Stack.sampled_loop`.\n\n"
    "Of c loops with s times of the result, k knots, j intervals between them, i\n"
    "samples of the law, p measured outputs and m states; w = 2 nv.\n");

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
    return py_tick(((const rollout_context *)context)->tick, steps);
}

static int rollout_fetch(rollout_job *job, PyObject *record, const py_record *table)
{
    return py_fetch(record, table, &job->lengths, job, &job->references);
}

/* method, options and sizes of a time loop */
static int rollout_begin(rollout_job *job)
{
    const fa_model *model = job->model;
    fa_rollout *run = &job->run;
    npy_intp *length = job->lengths.length;

    memset(length, -1, sizeof job->lengths.length);
    length['q'] = model->nq;
    length['v'] = model->nv;
    length['w'] = 2 * model->nv;
    length['u'] = model->n_actuators;
    length['n'] = FA_REPORT_SIZE;
    if (rollout_fetch(job, job->record, job->table) < 0 ||
        rollout_fetch(job, job->options, &py_options_record) < 0) {
        return -1;
    }
    run->count = (size_t)length['c'];
    run->n_samples = (size_t)length['s'];
    run->n_tau = (int)length['f'];
    run->substeps = run->substeps < 1 ? 1 : run->substeps;
    run->tick = rollout_tick;
    run->context = &job->context;
    if (run->n_samples < 1 ||
        (run->n_tau != model->n_actuators && run->n_tau != model->nv)) {
        PyErr_SetString(PyExc_ValueError, "arrays of a rollout do not fit together");
        return -1;
    }
    for (int i = 0; i < FA_N_METHODS; i++) {
        const fa_method method = (fa_method)i;
        if (strcmp(job->method, fa_method_names[i]) == 0 &&
            (model->n_constraints == 0 || method == FA_RK4) &&
            (model->fidelity != FA_LINEAR || method <= FA_ROS34PW2)) {
            run->method = method;
            return 0;
        }
    }
    PyErr_Format(PyExc_ValueError, "no method of a rollout of this arm: %s",
                 job->method);
    return -1;
}

/* forces: none, a function, or samples */
static int rollout_forces(rollout_job *job)
{
    fa_rollout *run = &job->run;

    run->kind = job->context.torque ? FA_TORQUE_CALL
                : !run->tau         ? FA_TORQUE_ZERO
                : job->hold         ? FA_TORQUE_HOLD
                                    : FA_TORQUE_LINEAR;
    if (run->kind == FA_TORQUE_CALL) {
        run->call = rollout_torque;
        job->context.count = (npy_intp)run->count;
        job->context.nq = job->model->nq;
        job->context.nv = job->model->nv;
        job->context.n_tau = run->n_tau;
        if (run->count > 1 && (run->method == FA_RODAS4P || run->t_stride)) {
            PyErr_SetString(PyExc_ValueError, "a torque function sees one time alone");
            return -1;
        }
    }
    return 0;
}

static int rollout_feedback(rollout_job *job)
{
    const fa_model *model = job->model;
    fa_rollout *run = &job->run;
    const py_record kind = {.fields = gain_fields,
                            .count = 1}; /* which shapes follow */
    const py_record rest = {.fields = gain_fields + 1,
                            .count = py_gains_record.count - 1};

    if (!job->gains) {
        return 0;
    }
    if (run->kind == FA_TORQUE_CALL || run->kind == FA_TORQUE_ZERO ||
        run->n_tau != model->n_actuators || model->nq != model->nv) {
        PyErr_SetString(PyExc_ValueError,
                        "feedback needs samples of joint forces and no poses");
        return -1;
    }
    run->feedback = &job->feedback;
    if (rollout_fetch(job, job->gains, &kind) < 0) {
        return -1;
    }
    job->lengths.length['?'] = job->feedback.diagonal ? 1 : model->n_actuators;
    return rollout_fetch(job, job->gains, &rest);
}

/* the numbers of the arms of all trajectories of a stack */
static int rollout_arms(const rollout_job *job)
{
    const fa_rollout *run = &job->run;

    if (!job->stack) {
        return 0;
    }
    if (!run->arms || !fa_stack_integrates(run->method)) {
        PyErr_SetString(PyExc_ValueError,
                        "no arms, or no method of a rollout of stacks");
        return -1;
    }
    for (size_t i = 0; i < run->count; i++) {
        if (run->arms[i] < 0 || run->arms[i] >= job->stack->n_arms) {
            PyErr_SetString(PyExc_ValueError, "a rollout has an arm that is not there");
            return -1;
        }
    }
    return 0;
}

static int rollout_compute(const rollout_job *job, void *work)
{
    return job->stack ? job->kernels->stack_rollout(job->stack, &job->run, work)
                      : job->kernels->rollout(job->model, &job->run, work);
}

/* some trajectories, as a run of their own */
static int rollout_part(const void *all, size_t first, size_t count, fa_tick tick,
                        void *context, void *work, size_t *done)
{
    rollout_job job = *(const rollout_job *)all;
    fa_rollout *run = &job.run;

    py_advance(job.table, &job.lengths, first, &job);
    if (run->feedback) {
        py_advance(&py_gains_record, &job.lengths, first, &job);
        run->feedback = &job.feedback;
    }
    run->sampled = run->sampled ? &job.law : NULL;
    run->count = count;
    run->tick = tick;
    run->context = context;
    /* steps of all blocks of lanes */
    const size_t lanes = (size_t)job.kernels->lanes;
    const size_t each = run->method == FA_RODAS4P ? 1 : (size_t)run->substeps;
    *done = (count + lanes - 1) / lanes *
            (run->sampled ? job.law.n_steps : (run->n_samples - 1) * each);
    return rollout_compute(&job, work);
}

/* the time loop without the GIL; -1 with an exception set */
static int rollout_run(rollout_job *job)
{
    const fa_rollout *run = &job->run;
    const fa_kernels *kernels = py_kernels(job->stack ? SIZE_MAX : run->count);
    const size_t work_size = kernels->rollout_work_size(job->model, run) +
                             (job->stack ? kernels->stack_work_size(job->stack) : 0);
    const py_runs runs = {
        .job = job, .part = rollout_part, .tick = run->tick, .context = run->context};
    const size_t steps =
        run->sampled ? job->law.n_steps : (size_t)run->substeps * run->n_samples;
    const fa_split split = {
        .threads = job->threads,
        .count = run->count,
        .grain = (size_t)kernels->lanes,
        .most = run->count,
        /* four forward dynamics at 20 ns for each coordinate */
        .seconds = 80e-9 * job->model->nv * (double)steps,
    };
    char *heap, *work = py_scratch(NULL, work_size, &heap);
    int stopped = 0;

    if (!work) {
        py_no_memory("the time loop", work_size);
        return -1;
    }
    job->kernels = kernels;
    Py_BEGIN_ALLOW_THREADS if (run->count)
    {
        /* a function sees all trajectories */
        stopped = job->threads > 1 && run->kind != FA_TORQUE_CALL
                      ? py_split_runs(&runs, split, work, work_size)
                      : rollout_compute(job, work);
    }
    Py_END_ALLOW_THREADS PyMem_RawFree(heap);
    return stopped ? -1 : 0;
}

/* None once the references are released; NULL with the exception that is set */
static PyObject *rollout_end(rollout_job *job, int failed)
{
    py_release(&job->references);
    return failed ? NULL : Py_NewRef(Py_None);
}

PyObject *py_rollout(const fa_model *model, const fa_stack *stack, PyObject *record)
{
    rollout_job job = {
        .record = record, .model = model, .stack = stack, .table = &py_rollout_record};

    const int failed = rollout_begin(&job) < 0 || rollout_forces(&job) < 0 ||
                       rollout_feedback(&job) < 0 || rollout_arms(&job) < 0 ||
                       rollout_run(&job) < 0;
    return rollout_end(&job, failed);
}

/* lengths of a law at samples */
static int sampled_fill(rollout_job *job)
{
    const npy_intp *length = job->lengths.length;
    fa_sampled *law = &job->law;

    if (job->run.method == FA_RODAS4P || job->model->nq != job->model->nv) {
        PyErr_SetString(PyExc_ValueError,
                        "a sampled loop needs fixed steps and no poses");
        return -1;
    }
    if (length['k'] < 1 || length['j'] != length['k'] - 1 ||
        length['h'] > length['i'] || length['f'] != length['u'] ||
        (length['a'] != 1 && length['a'] != length['i']) ||
        (length['b'] != 1 && length['b'] != length['i'])) {
        PyErr_SetString(PyExc_ValueError, "arrays of a sampled loop do not fit");
        return -1;
    }
    if (length['m'] > FA_MAX_VELOCITIES || length['p'] > FA_MAX_VELOCITIES) {
        PyErr_Format(
            PyExc_ValueError,
            "the law has %zd states and %zd inputs, expected at most %d of each",
            (Py_ssize_t)length['m'], (Py_ssize_t)length['p'], FA_MAX_VELOCITIES);
        return -1;
    }
    law->n_knots = (size_t)length['k'];
    law->n_samples = (size_t)length['i'];
    law->n_changes = (size_t)length['h'];
    law->n_outputs = (int)length['p'];
    law->n_states = (int)length['m'];
    law->n_reference = (size_t)length['a'];
    law->n_feedforward = (size_t)length['b'];
    for (size_t i = 0; i + 1 < law->n_knots; i++) {
        law->n_steps += law->substeps[i] > 0 ? (size_t)law->substeps[i] : 0;
    }
    job->run.t = law->knots;
    job->run.sampled = law;
    return 0;
}

PyObject *py_sampled_loop(const fa_model *model, const fa_stack *stack,
                          PyObject *record)
{
    rollout_job job = {
        .record = record, .model = model, .stack = stack, .table = &py_sampled_record};

    const int failed = rollout_begin(&job) < 0 || sampled_fill(&job) < 0 ||
                       rollout_arms(&job) < 0 || rollout_run(&job) < 0;
    return rollout_end(&job, failed);
}
