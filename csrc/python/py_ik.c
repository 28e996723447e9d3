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
#include "library/tables.h"
#include "model/layout.h"

typedef struct {
    fa_ik run;
    int threads;
} ik_job;

/* letters of shapes: c targets, q positions */
#define ROW(name, type, shape, at, flags)                                              \
    {name, type, shape, offsetof(ik_job, at), 0, flags}

static const py_field ik_fields[] = {
    ROW("target", NPY_DOUBLE, "c44", run.target, 0),
    ROW("q", NPY_DOUBLE, "cq", run.q, PY_WRITTEN),
    ROW("residual", NPY_DOUBLE, "c6", run.residual, PY_WRITTEN),
    ROW("cost", NPY_DOUBLE, "c", run.cost, PY_WRITTEN),
    ROW("status", NPY_INT32, "c", run.status, PY_WRITTEN),
    ROW("iterations", NPY_INT32, "c", run.iterations, PY_WRITTEN),
    ROW("limits", NPY_DOUBLE, "2q", run.lower, PY_OPTIONAL),
    {"wrench", NPY_DOUBLE, "c6", offsetof(ik_job, run.wrench),
     offsetof(ik_job, run.wrench_stride), PY_OPTIONAL},
    ROW("weights", NPY_DOUBLE, "6", run.weights, PY_COPIED),
    ROW("node", PY_INT, "", run.node, 0),
    ROW("place_only", PY_INT, "", run.place_only, 0),
    ROW("deflection", PY_INT, "", run.deflection, 0),
    ROW("wrench_in_base", PY_INT, "", run.wrench_in_base, 0),
    ROW("tolerance", PY_REAL, "", run.tolerance, 0),
    ROW("stationary", PY_REAL, "", run.stationary, 0),
    ROW("damping", PY_REAL, "", run.damping, 0),
    ROW("max_iterations", PY_INT, "", run.max_iterations, 0),
    ROW("monotone", PY_INT, "", run.monotone, 0),
    ROW("threads", PY_INT, "", threads, 0),
    {0},
};

/* nonzero with an exception set on failure */
static int ik_run(const fa_model *model, const ik_job *job)
{
    const fa_kernels *kernels = py_kernels(job->run.count);
    const size_t size = kernels->ik_work_size(model, &job->run);
    _Alignas(PY_ALIGN) char stack[PY_STACK];
    char *heap, *work = py_scratch(stack, size, &heap);
    int stopped = 0;

    if (!work) {
        py_no_memory("inverse_kinematics", size);
        return -1;
    }
    Py_BEGIN_ALLOW_THREADS if (job->run.count)
    {
        stopped = py_split_ik(model, kernels, &job->run, job->threads, work, size);
    }
    Py_END_ALLOW_THREADS PyMem_RawFree(heap);
    return stopped;
}

PyObject *py_inverse_kinematics(const fa_model *model, PyObject *record)
{
    ik_job job = {.run = {.tick = py_tick}};
    py_lengths lengths;
    py_references references = {0};

    memset(&lengths, -1, sizeof lengths);
    lengths.length['q'] = model->nq;
    int failed = py_fetch(record, ik_fields, &lengths, &job, &references) < 0;
    if (!failed && (job.run.node < 0 || job.run.node >= model->n_nodes)) {
        PyErr_SetString(PyExc_ValueError, "no such node");
        failed = 1;
    }
    if (!failed) {
        job.run.count = (size_t)lengths.length['c'];
        job.run.upper = job.run.lower ? job.run.lower + model->nq : NULL;
        failed = ik_run(model, &job);
    }
    py_release(&references);
    return failed ? NULL : Py_NewRef(Py_None);
}
