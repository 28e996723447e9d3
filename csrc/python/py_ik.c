/*
 * py_ik.c -- inverse kinematics with NumPy arrays
 */
#include "python/py_ik.h"
#include "python/py_isa.h"
#include "python/py_numpy.h"
#include "python/py_threads.h"

#include "calls/targets.h"
#include "library/tables.h"
#include "model/layout.h"

enum { IK_ALIGN = 64, IK_STACK = 24 * 1024 };

static int ik_tick(void *context, size_t done)
{
    const PyGILState_STATE gil = PyGILState_Ensure();
    const int stop = PyErr_CheckSignals() != 0;

    (void)context;
    (void)done;
    PyGILState_Release(gil);
    return stop;
}

/* data of a C-contiguous array of the given size; NULL and an exception if it is none */
static void *ik_data(PyObject *object, int type, npy_intp size, int written,
                     const char *what)
{
    PyArrayObject *a = (PyArrayObject *)object;
    if (!PyArray_Check(object) || PyArray_TYPE(a) != type || PyArray_SIZE(a) != size ||
        !(written ? PyArray_ISCARRAY(a) : PyArray_ISCARRAY_RO(a))) {
        PyErr_Format(PyExc_TypeError,
                     "%s must be a C-ordered array of its type with %zd entries", what,
                     (Py_ssize_t)size);
        return NULL;
    }
    return PyArray_DATA(a);
}

/* the arrays of a run; limits (2, nq) and wrench (count or 1, 6) may be None */
static int ik_fill(const fa_model *model, fa_ik *run, PyObject *const *arrays)
{
    const npy_intp count = (npy_intp)run->count, nq = model->nq;

    run->target = ik_data(arrays[0], NPY_DOUBLE, 16 * count, 0, "target");
    run->q = run->target ? ik_data(arrays[1], NPY_DOUBLE, nq * count, 1, "q") : NULL;
    run->residual =
        run->q ? ik_data(arrays[2], NPY_DOUBLE, 6 * count, 1, "residual") : NULL;
    run->cost = run->residual ? ik_data(arrays[3], NPY_DOUBLE, count, 1, "cost") : NULL;
    run->status = run->cost ? ik_data(arrays[4], NPY_INT32, count, 1, "status") : NULL;
    run->iterations =
        run->status ? ik_data(arrays[5], NPY_INT32, count, 1, "iterations") : NULL;
    if (!run->iterations) {
        return -1;
    }
    if (arrays[6] != Py_None) {
        run->lower = ik_data(arrays[6], NPY_DOUBLE, 2 * nq, 0, "limits");
        if (!run->lower) {
            return -1;
        }
        run->upper = run->lower + nq;
    }
    if (arrays[7] != Py_None) {
        const npy_intp size =
            PyArray_Check(arrays[7]) ? PyArray_SIZE((PyArrayObject *)arrays[7]) : 6;
        run->wrench_stride = size == 6 ? 0 : 6;
        run->wrench =
            ik_data(arrays[7], NPY_DOUBLE, size == 6 ? 6 : 6 * count, 0, "wrench");
        if (!run->wrench) {
            return -1;
        }
    }
    return 0;
}

/*
 * inverse_kinematics(target, q, residual, cost, status, iterations, limits, wrench,
 *                    weights, node, place_only, deflection, wrench_in_base, tolerance,
 *                    stationary, damping, max_iterations, monotone, threads)
 */
PyObject *py_inverse_kinematics(const fa_model *model, PyObject *args)
{
    PyObject *arrays[8];
    fa_ik run = {.tick = ik_tick};
    double *w = run.weights;
    _Alignas(IK_ALIGN) char stack[IK_STACK];
    char *heap = NULL, *work = stack;
    int stopped = 0, threads;

    if (!PyArg_ParseTuple(args, "OOOOOOOO(dddddd)ipppdddipi:inverse_kinematics", arrays,
                          arrays + 1, arrays + 2, arrays + 3, arrays + 4, arrays + 5,
                          arrays + 6, arrays + 7, w, w + 1, w + 2, w + 3, w + 4, w + 5,
                          &run.node, &run.place_only, &run.deflection,
                          &run.wrench_in_base, &run.tolerance, &run.stationary,
                          &run.damping, &run.max_iterations, &run.monotone, &threads)) {
        return NULL;
    }
    if (run.node < 0 || run.node >= model->n_nodes || !PyArray_Check(arrays[3])) {
        PyErr_SetString(PyExc_ValueError, "no such node, or cost is no array");
        return NULL;
    }
    run.count = (size_t)PyArray_SIZE((PyArrayObject *)arrays[3]);
    if (ik_fill(model, &run, arrays) < 0) {
        return NULL;
    }
    const fa_kernels *kernels = py_kernels(run.count);
    const size_t size = kernels->ik_work_size(model, &run);
    if (size > IK_STACK) {
        heap = PyMem_RawMalloc(size + IK_ALIGN);
        if (!heap) {
            return PyErr_NoMemory();
        }
        work = heap + (IK_ALIGN - (uintptr_t)heap % IK_ALIGN);
    }
    Py_BEGIN_ALLOW_THREADS if (run.count)
    {
        stopped = py_split_ik(model, kernels, &run, threads, work, size);
    }
    Py_END_ALLOW_THREADS PyMem_RawFree(heap);
    if (stopped) {
        return NULL; /* the exception of Ctrl-C is set */
    }
    Py_RETURN_NONE;
}
