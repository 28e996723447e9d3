/*
 * py_ik.c -- inverse kinematics with NumPy arrays
 */
#include "python/py_ik.h"
#include "python/py_base.h"
#include "python/py_isa.h"
#include "python/py_numpy.h"
#include "python/py_record.h"
#include "python/py_threads.h"

#include "calls/targets.h"
#include "calls/tick.h"
#include "library/pool.h"
#include "library/tables.h"
#include "model/layout.h"

typedef struct {
    fa_ik run;
    int threads;
    const fa_model *model;
    const fa_kernels *kernels;
    py_lengths lengths;
} ik_job;

#define PY_JOB ik_job
static const py_field ik_fields[] = {
    PY_FIELD("target", run.target, "c44", 0, ""),
    PY_FIELD("q", run.q, "cq", 0, "start, then the result"),
    PY_FIELD("residual", run.residual, "c6", 0, ""),
    PY_FIELD("cost", run.cost, "c", 0, "weighted norm of the residual"),
    PY_FIELD("status", run.status, "c", 0, "number in IK_STATUSES"),
    PY_FIELD("iterations", run.iterations, "c", 0, "evaluations"),
    PY_FIELD("limits", run.lower, "2q", PY_OPTIONAL, ""),
    PY_EACH("wrench", run.wrench, "c6", PY_OPTIONAL, "on the node"),
    PY_FIELD("weights", run.weights, "6", 0, "angular first"),
    PY_FIELD("node", run.node, "", 0, ""),
    PY_FIELD("place_only", run.place_only, "", PY_BOOL, ""),
    PY_FIELD("deflection", run.deflection, "", PY_BOOL, "modes in static equilibrium"),
    PY_FIELD("wrench_in_base", run.wrench_in_base, "", PY_BOOL, ""),
    PY_FIELD("tolerance", run.tolerance, "", 0, ""),
    PY_FIELD("stationary", run.stationary, "", 0,
             "largest cosine of error and columns at a minimum"),
    PY_FIELD("damping", run.damping, "", 0, "of the first step"),
    PY_FIELD("max_iterations", run.max_iterations, "", 0, ""),
    PY_FIELD("monotone", run.monotone, "", PY_BOOL, "no step increases the error"),
    PY_FIELD("threads", threads, "", 0, ""),
};
const py_record py_target_run =
    PY_RECORD("TargetRun", ik_fields,
              "Run of inverse kinematics to c targets: `Model.inverse_kinematics`.");

/* some targets, as a run of their own */
static int ik_part(const void *all, size_t first, size_t count, fa_tick tick,
                   void *context, void *work, size_t *done)
{
    ik_job job = *(const ik_job *)all;

    py_advance(&py_target_run, &job.lengths, first, &job);
    job.run.count = *done = count;
    job.run.tick = tick;
    job.run.context = context;
    return job.kernels->ik(job.model, &job.run, work);
}

/* nonzero with an exception set on failure */
static int ik_run(const ik_job *job)
{
    const size_t size = job->kernels->ik_work_size(job->model, &job->run);
    const py_runs runs = {.job = job,
                          .part = ik_part,
                          .tick = job->run.tick,
                          .context = job->run.context};
    const fa_split split = {.threads = job->threads,
                            .count = job->run.count,
                            .grain = PY_SPLIT_LANES,
                            .most = LOOP_CHUNK,
                            .seconds = 1e-6 * job->model->nq};
    _Alignas(PY_ALIGN) char stack[PY_STACK];
    char *heap, *work = py_scratch(stack, size, &heap);
    int stopped = 0;

    if (!work) {
        py_no_memory("inverse_kinematics", size);
        return -1;
    }
    Py_BEGIN_ALLOW_THREADS if (job->run.count)
    {
        stopped = job->threads > 1 ? py_split_runs(&runs, split, work, size)
                                   : job->kernels->ik(job->model, &job->run, work);
    }
    Py_END_ALLOW_THREADS PyMem_RawFree(heap);
    return stopped;
}

PyObject *py_inverse_kinematics(const fa_model *model, PyObject *record)
{
    ik_job job = {.run = {.tick = py_tick}, .model = model};
    py_references references = {0};

    memset(&job.lengths, -1, sizeof job.lengths);
    job.lengths.length['q'] = model->nq;
    int failed = py_fetch(record, &py_target_run, &job.lengths, &job, &references) < 0;
    if (!failed && (job.run.node < 0 || job.run.node >= model->n_nodes)) {
        PyErr_SetString(PyExc_ValueError, "no such node");
        failed = 1;
    }
    if (!failed) {
        job.run.count = (size_t)job.lengths.length['c'];
        job.kernels = py_kernels(job.run.count);
        job.run.upper = job.run.lower ? job.run.lower + model->nq : NULL;
        failed = ik_run(&job);
    }
    py_release(&references);
    return failed ? NULL : Py_NewRef(Py_None);
}
