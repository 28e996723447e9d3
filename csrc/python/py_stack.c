/*
 * py_stack.c -- the Python type Stack: arms of one topology in C
 *
 * Built from Models, pickled by them, immutable. Its gufuncs are made when asked for;
 * their first operand is the number of the arm. Ownership is that of py_base.h, with
 * the fa_stack in place of the fa_model.
 */
#include "python/py_stack.h"
#include "python/py_base.h"
#include "python/py_isa.h"
#include "python/py_loops.h"
#include "python/py_model.h"
#include "python/py_rollout.h"

#include "calls/kernels.h"
#include "model/description.h"
#include "model/model.h"
#include "model/stacks.h"

#include <string.h>

static const char STACK_CAPSULE[] = "flexarm.fa_stack";

typedef struct {
    PyObject_HEAD PyObject *capsule;
    PyObject *models; /* tuple, for pickling */
} stack_object;

static fa_stack *stack_of(PyObject *capsule)
{
    return PyCapsule_GetPointer(capsule, STACK_CAPSULE);
}

static void stack_capsule_free(PyObject *capsule)
{
    fa_stack_free(stack_of(capsule));
}

static PyObject *stack_build(PyObject *models)
{
    const Py_ssize_t n = PyTuple_GET_SIZE(models);
    fa_description *descriptions = NULL;
    fa_stack *stack = NULL;
    PyObject *capsule = NULL;

    if (n < 1 || n > INT32_MAX) {
        PyErr_SetString(PyExc_ValueError, "a stack needs one Model at least");
        return NULL;
    }
    descriptions = PyMem_Calloc((size_t)n, sizeof *descriptions);
    if (!descriptions) {
        return PyErr_NoMemory();
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        if (py_model_description(PyTuple_GET_ITEM(models, i), descriptions + i) < 0) {
            PyMem_Free(descriptions);
            return NULL;
        }
    }
    const fa_status status = fa_stack_build(descriptions, (int)n, &stack);
    PyMem_Free(descriptions);
    if (status == FA_BAD_TOPOLOGY) {
        PyErr_SetString(PyExc_ValueError, "the arms differ in more than constants");
    } else if (status != FA_OK) {
        py_model_refuse(status);
    } else {
        capsule = PyCapsule_New(stack, STACK_CAPSULE, stack_capsule_free);
        if (!capsule) {
            fa_stack_free(stack);
        }
    }
    return capsule;
}

static PyObject *stack_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *models;

    if (kwargs && PyDict_GET_SIZE(kwargs)) {
        PyErr_SetString(PyExc_TypeError, "Stack takes no keyword arguments");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "O!:Stack", &PyTuple_Type, &models)) {
        return NULL;
    }
    stack_object *self = (stack_object *)type->tp_alloc(type, 0);
    if (self) {
        self->models = Py_NewRef(models);
        self->capsule = stack_build(models);
        if (!self->capsule) {
            Py_CLEAR(self);
        }
    }
    return (PyObject *)self;
}

static void stack_dealloc(PyObject *object)
{
    stack_object *self = (stack_object *)object;
    PyTypeObject *type = Py_TYPE(object);

    Py_XDECREF(self->models);
    Py_XDECREF(self->capsule);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyObject *stack_reduce(PyObject *object, PyObject *unused)
{
    (void)unused;
    return Py_BuildValue("O(O)", Py_TYPE(object), ((stack_object *)object)->models);
}

static PyObject *stack_gufunc(PyObject *object, PyObject *args)
{
    const stack_object *self = (const stack_object *)object;
    const fa_stack *stack = stack_of(self->capsule);
    const char *name;
    int quiet = 0, threads = 1;

    if (!PyArg_ParseTuple(args, "s|pi:gufunc", &name, &quiet, &threads)) {
        return NULL;
    }
    for (int i = 0; i < FA_N_KERNELS; i++) {
        if (strcmp(name, fa_kernel_rows[i].name) == 0 &&
            py_kernels(SIZE_MAX)->stack_has((fa_kernel)i) &&
            fa_kernel_applies(stack->model, (fa_kernel)i)) {
            return py_make_stack_gufunc(stack, self->capsule, (fa_kernel)i, quiet,
                                        threads);
        }
    }
    PyErr_Format(PyExc_KeyError, "no kernel of stacks is named %s", name);
    return NULL;
}

static PyObject *stack_rollout(PyObject *object, PyObject *record)
{
    const fa_stack *stack = stack_of(((stack_object *)object)->capsule);
    return py_rollout(stack->model, stack, record);
}

static PyObject *stack_sampled_loop(PyObject *object, PyObject *record)
{
    const fa_stack *stack = stack_of(((stack_object *)object)->capsule);
    return py_sampled_loop(stack->model, stack, record);
}

static PyMethodDef stack_methods[] = {
    {"__reduce__", stack_reduce, METH_NOARGS, "Pickle by the Models."},
    {"gufunc", stack_gufunc, METH_VARARGS,
     "gufunc(name, quiet=False, threads=1): the gufunc of a kernel, whose first "
     "operand "
     "is the number of the arm; a quiet one leaves failed states as NaN."},
    {"rollout", stack_rollout, METH_O,
     "rollout(run): Model.rollout, each trajectory with the arm of its number."},
    {"sampled_loop", stack_sampled_loop, METH_O,
     "sampled_loop(run): Model.sampled_loop, each loop with the arm of its number."},
    {NULL, NULL, 0, NULL},
};

/* slots hold functions as void *, which POSIX allows and ISO C does not */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
static PyType_Slot stack_slots[] = {
    {Py_tp_doc, "Stack(models): arms of one topology in C."},
    {Py_tp_new, stack_new},
    {Py_tp_dealloc, stack_dealloc},
    {Py_tp_methods, stack_methods},
    {0, NULL},
};
#pragma GCC diagnostic pop

static PyType_Spec stack_spec = {
    .name = "flexarm._core.Stack",
    .basicsize = sizeof(stack_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = stack_slots,
};

int py_add_stack_type(PyObject *module)
{
    return py_add_type(module, &stack_spec, "Stack");
}
