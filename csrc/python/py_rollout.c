/*
 * py_rollout.c -- the C time loop with NumPy arrays and Python torque functions
 */
#include "python/py_rollout.h"
#include "python/py_base.h"
#include "python/py_isa.h"
#include "python/py_numpy.h"
#include "python/py_record.h"
#include "python/py_threads.h"

#include "calls/time_loop.h"
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
    PyObject *record, *tau, *gains, *options;
    py_references references;
} rollout_job;

/*
 * Letters of shapes: c trajectories, s times of the result, q, v, u coordinates and
 * actuators, f forces, n numbers of a report; of sampled loops k knots, j intervals
 * between them, i samples of the law, h changes of its forces, p measured outputs,
 * m states of the law, a and b rows of references, w twice v.
 */
#define AT(member) offsetof(rollout_job, member)
#define ROW(name, type, shape, at, flags) {name, type, shape, AT(at), 0, flags}
#define EACH(name, shape, at, stride, flags)                                           \
    {name, NPY_DOUBLE, shape, AT(at), AT(stride), flags}
/* states, options and report of all time loops */
#define STATES                                                                         \
    ROW("q", NPY_DOUBLE, "csq", run.q, PY_WRITTEN),                                    \
        ROW("qd", NPY_DOUBLE, "csv", run.qd, PY_WRITTEN),                              \
        ROW("method", PY_TEXT, "", method, 0),                                         \
        ROW("options", PY_OBJECT, "", options, 0),                                     \
        ROW("report", NPY_DOUBLE, "cn", run.report, PY_OPTIONAL | PY_WRITTEN),         \
        ROW("threads", PY_INT, "", threads, 0)

static const py_field rollout_fields[] = {
    STATES,
    EACH("t", "cs", run.t, run.t_stride, 0),
    ROW("substeps", PY_INT, "", run.substeps, 0),
    ROW("tau_out", NPY_DOUBLE, "csf", run.tau_out, PY_WRITTEN),
    ROW("tau", PY_OBJECT, "", tau, PY_OPTIONAL),
    ROW("hold", PY_INT, "", hold, 0),
    ROW("feedback", PY_OBJECT, "", gains, PY_OPTIONAL),
    ROW("tick", PY_OBJECT, "", context.tick, PY_OPTIONAL),
    ROW("arms", NPY_INT64, "c", run.arms, PY_OPTIONAL),
    {0},
};
static const py_field sample_fields[] = {
    EACH("tau", "csf", run.tau, run.tau_stride, 0),
    {0},
};
static const py_field option_fields[] = {
    ROW("spectral_radius", PY_REAL, "", run.spectral_radius, 0),
    ROW("rtol", PY_REAL, "", run.rtol, 0),
    ROW("atol", PY_REAL, "", run.atol, 0),
    ROW("max_step", PY_REAL, "", run.max_step, 0),
    {0},
};
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

/* method, options and sizes of a time loop */
static int rollout_begin(const fa_model *model, rollout_job *job,
                         const py_field *fields, py_lengths *lengths)
{
    fa_rollout *run = &job->run;

    memset(lengths, -1, sizeof *lengths);
    lengths->length['q'] = model->nq;
    lengths->length['v'] = model->nv;
    lengths->length['w'] = 2 * model->nv;
    lengths->length['u'] = model->n_actuators;
    lengths->length['n'] = FA_REPORT_SIZE;
    if (py_fetch(job->record, fields, lengths, job, &job->references) < 0 ||
        py_fetch(job->options, option_fields, lengths, job, &job->references) < 0) {
        return -1;
    }
    run->count = (size_t)lengths->length['c'];
    run->n_samples = (size_t)lengths->length['s'];
    run->n_tau = (int)lengths->length['f'];
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
static int rollout_forces(const fa_model *model, rollout_job *job, py_lengths *lengths)
{
    fa_rollout *run = &job->run;

    run->kind = !job->tau   ? FA_TORQUE_ZERO
                : job->hold ? FA_TORQUE_HOLD
                            : FA_TORQUE_LINEAR;
    if (job->tau && PyCallable_Check(job->tau)) {
        run->kind = FA_TORQUE_CALL;
        run->call = rollout_torque;
        job->context.count = (npy_intp)run->count;
        job->context.nq = model->nq;
        job->context.nv = model->nv;
        job->context.n_tau = run->n_tau;
        job->context.torque = job->tau;
        if (run->count > 1 && (run->method == FA_RODAS4P || run->t_stride)) {
            PyErr_SetString(PyExc_ValueError, "a torque function sees one time alone");
            return -1;
        }
        return 0;
    }
    return job->tau
               ? py_fetch(job->record, sample_fields, lengths, job, &job->references)
               : 0;
}

static int rollout_feedback(const fa_model *model, rollout_job *job,
                            py_lengths *lengths)
{
    fa_rollout *run = &job->run;
    static const py_field kind[] = {ROW("diagonal", PY_INT, "", feedback.diagonal, 0),
                                    {0}};

    if (!job->gains) {
        return 0;
    }
    if (run->kind == FA_TORQUE_CALL || run->kind == FA_TORQUE_ZERO ||
        run->n_tau != model->n_actuators || model->nq != model->nv) {
        PyErr_SetString(PyExc_ValueError,
                        "feedback needs samples of joint forces and no poses");
        return -1;
    }
    if (py_fetch(job->gains, kind, lengths, job, &job->references) < 0) {
        return -1;
    }
    const char *gain = job->feedback.diagonal ? "cu" : "cuu";
    const py_field fields[] = {
        EACH("kp", gain, feedback.kp, feedback.kp_stride, 0),
        EACH("kd", gain, feedback.kd, feedback.kd_stride, 0),
        EACH("reference", "csu", feedback.reference, feedback.reference_stride, 0),
        EACH("rates", "csu", feedback.rates, feedback.rates_stride, PY_OPTIONAL),
        {0},
    };
    run->feedback = &job->feedback;
    return py_fetch(job->gains, fields, lengths, job, &job->references);
}

/* the numbers of the arms of all trajectories of a stack */
static int rollout_arms(const fa_stack *stack, const fa_rollout *run)
{
    if (!stack) {
        return 0;
    }
    if (!run->arms || !fa_stack_integrates(run->method)) {
        PyErr_SetString(PyExc_ValueError,
                        "no arms, or no method of a rollout of stacks");
        return -1;
    }
    for (size_t i = 0; i < run->count; i++) {
        if (run->arms[i] < 0 || run->arms[i] >= stack->n_arms) {
            PyErr_SetString(PyExc_ValueError, "a rollout has an arm that is not there");
            return -1;
        }
    }
    return 0;
}

/* the time loop without the GIL; -1 with an exception set */
static int rollout_run(const fa_model *model, const fa_stack *stack,
                       const rollout_job *job)
{
    const fa_rollout *run = &job->run;
    const fa_kernels *kernels = py_kernels(stack ? SIZE_MAX : run->count);
    const size_t work_size = kernels->rollout_work_size(model, run) +
                             (stack ? kernels->stack_work_size(stack) : 0);
    char *heap, *work = py_scratch(NULL, work_size, &heap);
    int stopped = 0;

    if (!work) {
        py_no_memory("the time loop", work_size);
        return -1;
    }
    Py_BEGIN_ALLOW_THREADS if (run->count)
    {
        stopped =
            py_split_rollout(model, stack, kernels, run, job->threads, work, work_size);
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
    rollout_job job = {.record = record};
    py_lengths lengths;

    const int failed = rollout_begin(model, &job, rollout_fields, &lengths) < 0 ||
                       rollout_forces(model, &job, &lengths) < 0 ||
                       rollout_feedback(model, &job, &lengths) < 0 ||
                       rollout_arms(stack, &job.run) < 0 ||
                       rollout_run(model, stack, &job) < 0;
    return rollout_end(&job, failed);
}

static const py_field law_fields[] = {
    STATES,
    ROW("tau", NPY_DOUBLE, "csf", law.tau, PY_WRITTEN),
    /* knots, and which of them are samples, changes and times of the result */
    ROW("knots", NPY_DOUBLE, "k", law.knots, 0),
    ROW("substeps", NPY_INT, "j", law.substeps, 0),
    ROW("samples", NPY_UINTP, "i", law.samples, 0),
    ROW("changes", NPY_UINTP, "h", law.changes, 0),
    ROW("outputs", NPY_UINTP, "s", law.outputs, 0),
    /* samples */
    ROW("y", NPY_DOUBLE, "cip", law.y, PY_WRITTEN),
    ROW("u", NPY_DOUBLE, "ciu", law.u, PY_WRITTEN),
    ROW("command", NPY_DOUBLE, "ciu", law.w, PY_WRITTEN),
    ROW("states", NPY_DOUBLE, "cim", law.z, PY_WRITTEN),
    /* sensors and actuators */
    EACH("rows", "cpw", law.rows.at, law.rows.stride, 0),
    ROW("resolution", NPY_DOUBLE, "p", law.resolution, 0),
    ROW("step", NPY_DOUBLE, "u", law.step, 0),
    ROW("limits", NPY_DOUBLE, "2u", law.limits, 0),
    EACH("held", "cu", law.held.at, law.held.stride, 0),
    /* the law */
    EACH("A", "cmm", law.A.at, law.A.stride, 0),
    EACH("B", "cmp", law.B.at, law.B.stride, 0),
    EACH("C", "cum", law.C.at, law.C.stride, 0),
    EACH("D", "cup", law.D.at, law.D.stride, 0),
    EACH("E", "cmu", law.E.at, law.E.stride, PY_OPTIONAL),
    EACH("z0", "cm", law.z0.at, law.z0.stride, 0),
    EACH("reference", "cap", law.reference.at, law.reference.stride, 0),
    EACH("feedforward", "cbu", law.feedforward.at, law.feedforward.stride, 0),
    ROW("arms", NPY_INT64, "c", run.arms, PY_OPTIONAL),
    {0},
};

/* lengths of a law at samples */
static int sampled_fill(const fa_model *model, rollout_job *job, const npy_intp *length)
{
    fa_sampled *law = &job->law;

    if (job->run.method == FA_RODAS4P || model->nq != model->nv) {
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
    rollout_job job = {.record = record};
    py_lengths lengths;

    const int failed = rollout_begin(model, &job, law_fields, &lengths) < 0 ||
                       sampled_fill(model, &job, lengths.length) < 0 ||
                       rollout_arms(stack, &job.run) < 0 ||
                       rollout_run(model, stack, &job) < 0;
    return rollout_end(&job, failed);
}
