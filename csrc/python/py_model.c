/*
 * py_model.c -- the Python type Model: one arm in C with its gufuncs
 *
 * Built from the arrays of Arm.pack(), pickled by them, immutable.
 */
#include "python/py_model.h"
#include "python/py_base.h"
#include "python/py_ik.h"
#include "python/py_loops.h"
#include "python/py_numpy.h"
#include "python/py_rollout.h"

#include "calls/kernel_table.h"
#include "calls/kernels.h"
#include "model/description.h"
#include "model/kinds.h"
#include "model/layout.h"
#include "model/model.h"

typedef struct {
    PyObject_HEAD PyObject *capsule;
    PyObject *merged; /* Model of the same arm with fewer bodies, or NULL */
    PyObject *arrays; /* tuple of the arrays, for pickling */
    PyObject *tip;    /* number of the node at the tip, or NULL */
    PyObject *gufuncs[FA_N_KERNELS];
} model_object;

static void model_capsule_free(PyObject *capsule)
{
    Py_XDECREF((PyObject *)PyCapsule_GetContext(capsule));
    fa_model_free(py_model_of(capsule));
}

/* those of kinds.h, in words; with the links and motors of joints as bodies */
#define MODEL_LIMITS                                                                   \
    "4096 bodies and parts of joints, 16384 velocities, 2^24 nodes, 2^30 constants, "  \
    "4096 loops and 4096 couplings"
_Static_assert(FA_MAX_BODIES == 4096 && FA_MAX_VELOCITIES == 16384 &&
                   FA_MAX_NODES == 1 << 24 && FA_MAX_CONSTANTS == 1 << 30 &&
                   FA_MAX_LOOPS == 4096 && FA_MAX_COUPLINGS == 4096,
               "MODEL_LIMITS");

static const char *model_refusal(fa_status status)
{
    switch (status) {
    case FA_BAD_TOPOLOGY:
        return "a body comes before its parent or hangs on a node that is not its "
               "parent's";
    case FA_BAD_JOINT:
        return "a joint kind is unknown";
    case FA_TOO_MANY_MODES:
        return "a body has more modes or driven shapes than supported";
    case FA_BAD_SIZE:
        return "an array has another length than the topology says";
    case FA_BAD_LOOP:
        return "a loop closes at a node that the arm does not have";
    case FA_NOT_FINITE:
        return "a node has a number that is not finite";
    case FA_TOO_LARGE:
        return "the arm is larger than " MODEL_LIMITS
               "; keep fewer bodies, modes, nodes or constraints";
    default:
        return "the model cannot be built";
    }
}

enum { MODEL_ARRAYS = 10 };

/* the arrays as contiguous read-only copies, in a new tuple */
static PyObject *model_arrays(PyObject *args)
{
    static const int types[MODEL_ARRAYS] = {
        NPY_INT, NPY_DOUBLE, NPY_DOUBLE, NPY_DOUBLE, NPY_DOUBLE,
        NPY_INT, NPY_DOUBLE, NPY_DOUBLE, NPY_DOUBLE, NPY_DOUBLE};
    static const int ndims[MODEL_ARRAYS] = {2, 2, 1, 1, 1, 2, 3, 2, 2, 2};
    PyObject *given[MODEL_ARRAYS], *tuple;

    if (!PyArg_ParseTuple(args, "OOOOOOOOOO:Model", given, given + 1, given + 2,
                          given + 3, given + 4, given + 5, given + 6, given + 7,
                          given + 8, given + 9)) {
        return NULL;
    }
    tuple = PyTuple_New(MODEL_ARRAYS);
    for (int i = 0; tuple && i < MODEL_ARRAYS; i++) {
        PyObject *array = PyArray_FROMANY(given[i], types[i], ndims[i], ndims[i],
                                          NPY_ARRAY_IN_ARRAY | NPY_ARRAY_ENSURECOPY);
        if (!array) {
            Py_CLEAR(tuple);
            break;
        }
        PyArray_CLEARFLAGS((PyArrayObject *)array, NPY_ARRAY_WRITEABLE);
        PyTuple_SET_ITEM(tuple, i, array);
    }
    return tuple;
}

PyObject *py_model_refuse(fa_status status)
{
    if (status == FA_NO_MEMORY) {
        PyErr_SetString(PyExc_MemoryError,
                        "the model of the arm needs more memory than is free; keep "
                        "fewer modes or nodes");
        return NULL;
    }
    py_raise("ModelError", model_refusal(status));
    return NULL;
}

/* the arrays as a description; -1 with an exception if their shapes do not fit */
static int model_describe(PyObject *arrays, fa_description *description)
{
    PyArrayObject *a[MODEL_ARRAYS];

    for (int i = 0; i < MODEL_ARRAYS; i++) {
        a[i] = (PyArrayObject *)PyTuple_GET_ITEM(arrays, i);
    }
    const npy_intp n = PyArray_DIM(a[0], 0);
    if (PyArray_DIM(a[0], 1) != FA_TOPO_SIZE || PyArray_DIM(a[1], 0) != n ||
        PyArray_DIM(a[1], 1) != FA_JOINT_SIZE || PyArray_SIZE(a[4]) != 5 ||
        PyArray_DIM(a[5], 1) != FA_LOOP_SIZE ||
        PyArray_DIM(a[6], 0) != PyArray_DIM(a[5], 0) || PyArray_DIM(a[6], 1) != 2 ||
        PyArray_DIM(a[6], 2) != FA_FRAME_SIZE ||
        PyArray_DIM(a[8], 1) != FA_PASSIVE_SIZE ||
        PyArray_DIM(a[9], 1) != FA_FOLLOWER_SIZE) {
        PyErr_SetString(PyExc_ValueError, "an array of a model has the wrong shape");
        return -1;
    }
    if (n > FA_MAX_BODIES || PyArray_DIM(a[5], 0) > FA_MAX_LOOPS ||
        PyArray_DIM(a[7], 0) > FA_MAX_COUPLINGS ||
        PyArray_DIM(a[8], 0) > FA_MAX_PASSIVE || PyArray_DIM(a[9], 0) > FA_MAX_BODIES) {
        py_model_refuse(FA_TOO_LARGE);
        return -1;
    }
    const double fidelity = ((const double *)PyArray_DATA(a[4]))[4];
    if (!(fidelity >= FA_FULL && fidelity <= FA_RUTHLESS)) { /* a NaN is no number */
        PyErr_Format(PyExc_ValueError, "the number of the fidelity is none of 0 to %d",
                     FA_RUTHLESS);
        return -1;
    }
    *description = (fa_description){
        .n_bodies = (int)n,
        .topology = PyArray_DATA(a[0]),
        .joints = PyArray_DATA(a[1]),
        .nodes = PyArray_DATA(a[2]),
        .modal = PyArray_DATA(a[3]),
        .gravity = PyArray_DATA(a[4]),
        .nodes_size = (size_t)PyArray_SIZE(a[2]),
        .modal_size = (size_t)PyArray_SIZE(a[3]),
        .n_loops = (int)PyArray_DIM(a[5], 0),
        .loops = PyArray_DATA(a[5]),
        .frames = PyArray_DATA(a[6]),
        .n_couplings = (int)PyArray_DIM(a[7], 0),
        .couplings = PyArray_DATA(a[7]),
        .couplings_size = (size_t)PyArray_SIZE(a[7]),
        .n_passive = (int)PyArray_DIM(a[8], 0),
        .passive = PyArray_DATA(a[8]),
        .n_followers = (int)PyArray_DIM(a[9], 0),
        .followers = PyArray_DATA(a[9]),
        .stabilization = ((const double *)PyArray_DATA(a[4]))[3],
        .fidelity = (fa_fidelity)fidelity,
    };
    return 0;
}

static PyObject *model_build(PyObject *arrays)
{
    fa_description description;
    fa_model *model = NULL;

    if (model_describe(arrays, &description) < 0) {
        return NULL;
    }
    const fa_status status = fa_model_build(&description, &model);
    if (status != FA_OK) {
        return py_model_refuse(status);
    }
    PyObject *capsule = PyCapsule_New(model, PY_MODEL_CAPSULE, model_capsule_free);
    if (!capsule) {
        fa_model_free(model);
    }
    return capsule;
}

/* whether operands and output of a kernel live in coordinates alone, and what is of
 * bodies that stand still does not matter */
static int model_in_coordinates(fa_kernel kernel)
{
    const fa_kernel_row *row = &fa_kernel_rows[kernel];

    for (int i = 0; i <= row->n_in; i++) {
        if (strpbrk(row->operands[i], "NBC")) {
            return 0;
        }
    }
    return row->node == FA_NO_NODE && !(row->reads & FA_READS_RESTING) &&
           row->arms != FA_ARMS_BY_BODIES;
}

/* what a kernel computes with */
static PyObject *model_capsule(const model_object *self, fa_kernel kernel)
{
    return self->merged && model_in_coordinates(kernel)
               ? ((const model_object *)self->merged)->capsule
               : self->capsule;
}

static PyObject *model_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    if (kwargs && PyDict_GET_SIZE(kwargs)) {
        PyErr_SetString(PyExc_TypeError, "Model takes no keyword arguments");
        return NULL;
    }
    model_object *self = (model_object *)type->tp_alloc(type, 0);
    if (!self) {
        return NULL;
    }
    self->arrays = model_arrays(args);
    self->capsule = self->arrays ? model_build(self->arrays) : NULL;
    if (!self->capsule) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

/* the gufunc of a kernel, made at its first use: those of an arm take longer than the
 * rest of its model */
static PyObject *model_gufunc(PyObject *object, void *closure)
{
    model_object *self = (model_object *)object;
    const fa_kernel kernel = (fa_kernel)(intptr_t)closure;
    PyObject *gufunc;

#if PY_VERSION_HEX >= 0x030D0000
    Py_BEGIN_CRITICAL_SECTION(object);
#endif
    if (!self->gufuncs[kernel]) {
        if (fa_kernel_applies(py_model_of(self->capsule), kernel)) {
            self->gufuncs[kernel] =
                py_make_gufunc(model_capsule(self, kernel), kernel, 0, 1);
        } else {
            PyErr_SetString(PyExc_AttributeError, fa_kernel_rows[kernel].name);
        }
    }
    gufunc = Py_XNewRef(self->gufuncs[kernel]);
#if PY_VERSION_HEX >= 0x030D0000
    Py_END_CRITICAL_SECTION();
#endif
    return gufunc;
}

static void model_dealloc(PyObject *object)
{
    model_object *self = (model_object *)object;
    PyTypeObject *type = Py_TYPE(object);

    for (int i = 0; i < FA_N_KERNELS; i++) {
        Py_XDECREF(self->gufuncs[i]);
    }
    Py_XDECREF(self->arrays);
    Py_XDECREF(self->tip);
    Py_XDECREF(self->merged);
    Py_XDECREF(self->capsule);
    type->tp_free(object);
    Py_DECREF(type);
}

int py_model_description(PyObject *model, fa_description *description)
{
    if (!py_is_model(model)) {
        PyErr_Format(PyExc_TypeError, "a stack needs Models, not %s",
                     Py_TYPE(model)->tp_name);
        return -1;
    }
    return model_describe(((model_object *)model)->arrays, description);
}

int py_is_model(PyObject *object)
{
    return Py_TYPE(object)->tp_dealloc == model_dealloc;
}

PyObject *py_model_gufunc(PyObject *model, fa_kernel kernel)
{
    PyObject *gufunc = model_gufunc(model, (void *)(intptr_t)kernel);
    if (!gufunc) {
        PyErr_Clear();
    }
    return gufunc;
}

PyObject *py_model_tip(PyObject *model)
{
    return ((model_object *)model)->tip;
}

int py_model_is_full(PyObject *model)
{
    return py_model_of(((model_object *)model)->capsule)->fidelity == FA_FULL;
}

static PyObject *model_reduce(PyObject *object, PyObject *unused)
{
    const model_object *self = (const model_object *)object;

    (void)unused;
    return self->merged
               ? Py_BuildValue("OOO", Py_TYPE(object), self->arrays, self->merged)
               : Py_BuildValue("OO", Py_TYPE(object), self->arrays);
}

/* the kernel of that name; -1 with an exception set if the arm has none */
static int model_kernel(PyObject *object, const char *name)
{
    const model_object *self = (const model_object *)object;

    for (int i = 0; i < FA_N_KERNELS; i++) {
        if (strcmp(name, fa_kernel_rows[i].name) == 0 &&
            fa_kernel_applies(py_model_of(self->capsule), (fa_kernel)i)) {
            return i;
        }
    }
    PyErr_Format(PyExc_KeyError, "no kernel is named %s", name);
    return -1;
}

static PyObject *model_variant(PyObject *object, const char *name, int quiet,
                               int threads)
{
    const model_object *self = (const model_object *)object;
    const int kernel = model_kernel(object, name);

    return kernel < 0 ? NULL
                      : py_make_gufunc(model_capsule(self, (fa_kernel)kernel),
                                       (fa_kernel)kernel, quiet, threads);
}

/* kernels that live in coordinates compute with a model of fewer bodies from now on */
static PyObject *model_merge(PyObject *object, PyObject *other)
{
    model_object *self = (model_object *)object;

    if (Py_TYPE(other) != Py_TYPE(object) || self->merged) {
        PyErr_SetString(PyExc_TypeError, "merge needs a Model, and only one");
        return NULL;
    }
    PyObject *capsule = ((model_object *)other)->capsule;
    const fa_model *full = py_model_of(self->capsule), *fewer = py_model_of(capsule);
    if (full->nq != fewer->nq || full->nv != fewer->nv ||
        full->n_actuators != fewer->n_actuators ||
        full->n_constraints != fewer->n_constraints) {
        PyErr_SetString(PyExc_ValueError, "a merged Model has other coordinates");
        return NULL;
    }
    self->merged = Py_NewRef(other);
    for (int i = 0; i < FA_N_KERNELS; i++) {
        if (model_in_coordinates((fa_kernel)i)) {
            Py_CLEAR(self->gufuncs[i]);
        }
    }
    Py_RETURN_NONE;
}

static PyObject *model_bind(PyObject *object, PyObject *args)
{
    model_object *self = (model_object *)object;
    PyObject *owner, *tip;

    if (!PyArg_ParseTuple(args, "OO!:bind", &owner, &PyLong_Type, &tip)) {
        return NULL;
    }
    if (PyCapsule_GetContext(self->capsule)) {
        PyErr_SetString(PyExc_ValueError, "the model has an owner");
        return NULL;
    }
    if (PyCapsule_SetContext(self->capsule, owner) < 0) {
        return NULL;
    }
    Py_INCREF(owner);
    self->tip = Py_NewRef(tip);
    return self->merged ? model_bind(self->merged, args) : Py_NewRef(Py_None);
}

static PyObject *model_work_size(PyObject *object, PyObject *name)
{
    const model_object *self = (const model_object *)object;
    const char *text = PyUnicode_AsUTF8(name);
    const int kernel = text ? model_kernel(object, text) : -1;

    return kernel < 0 ? NULL
                      : PyLong_FromSize_t(py_kernel_work_size(
                            py_model_of(model_capsule(self, (fa_kernel)kernel)),
                            (fa_kernel)kernel));
}

static PyObject *model_quiet(PyObject *object, PyObject *args)
{
    const char *name;
    int threads = 1;

    return PyArg_ParseTuple(args, "s|i:quiet", &name, &threads)
               ? model_variant(object, name, 1, threads)
               : NULL;
}

static PyObject *model_threaded(PyObject *object, PyObject *args)
{
    const char *name;
    int threads;

    return PyArg_ParseTuple(args, "si:threaded", &name, &threads)
               ? model_variant(object, name, 0, threads)
               : NULL;
}

/* the model of time loops, which know no nodes */
static const fa_model *model_that_moves(PyObject *object)
{
    const model_object *self = (const model_object *)object;

    return py_model_of(self->merged ? ((const model_object *)self->merged)->capsule
                                    : self->capsule);
}

static PyObject *model_rollout(PyObject *object, PyObject *record)
{
    return py_rollout(model_that_moves(object), NULL, record);
}

static PyObject *model_sampled_loop(PyObject *object, PyObject *record)
{
    return py_sampled_loop(model_that_moves(object), NULL, record);
}

static PyObject *model_inverse_kinematics(PyObject *object, PyObject *record)
{
    return py_inverse_kinematics(py_model_of(((model_object *)object)->capsule),
                                 record);
}

#define MODEL_GUFUNC(kernel, name, ...)                                                \
    {#name, model_gufunc, NULL, NULL, (void *)(intptr_t)(kernel)},

static PyGetSetDef model_gufuncs[] = {
    FA_KERNELS(MODEL_GUFUNC){NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef model_methods[] = {
    {"__reduce__", model_reduce, METH_NOARGS, "Pickle by the arrays."},
    {"__setstate__", model_merge, METH_O, "Take the merged model of a pickle."},
    {"bind", model_bind, METH_VARARGS,
     "bind(owner, tip): what py_explain.c hands on, a weak reference to the arm, and "
     "the "
     "number of the node at its tip."},
    {"merge", model_merge, METH_O,
     "merge(model): kernels that live in coordinates take another model of the arm."},
    {"quiet", model_quiet, METH_VARARGS,
     "quiet(name, threads=1): the gufunc that leaves failed states as NaN and does not "
     "raise."},
    {"threaded", model_threaded, METH_VARARGS,
     "threaded(name, threads): the gufunc whose calls take up to so many threads."},
    {"work_size", model_work_size, METH_O,
     "work_size(name): bytes of scratch of one thread, for any number of states."},
    {"rollout", model_rollout, METH_O,
     "rollout(run): a batch of trajectories; see simulate."},
    {"sampled_loop", model_sampled_loop, METH_O,
     "sampled_loop(run): a batch of loops of a linear law at samples; see "
     "control.simulate_loop."},
    {"inverse_kinematics", model_inverse_kinematics, METH_O,
     "inverse_kinematics(run): joint positions of many target poses."},
    {NULL, NULL, 0, NULL},
};

/* slots hold functions as void *, which POSIX allows and ISO C does not */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
static PyType_Slot model_slots[] = {
    {Py_tp_doc, "Model(topology, joints, nodes, modal, constants, loops, frames, "
                "couplings, passive, followers): an arm in C."},
    {Py_tp_new, model_new},
    {Py_tp_dealloc, model_dealloc},
    {Py_tp_getset, model_gufuncs},
    {Py_tp_methods, model_methods},
    {0, NULL},
};
#pragma GCC diagnostic pop

static PyType_Spec model_spec = {
    .name = "flexarm._core.Model",
    .basicsize = sizeof(model_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = model_slots,
};

int py_add_model_type(PyObject *module)
{
    return py_add_type(module, &model_spec, "Model");
}
