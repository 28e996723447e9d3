/*
 * py_shortcut.c -- functions of flexarm that are one call of a kernel, called with one state
 *
 * A function in Python takes its arguments, finds the gufunc and divides its result: for one
 * state all of that costs more than the kernel. So such a function stands in a Shortcut,
 * which does the same in C where the arm has a Model, the options choose a kernel and the
 * operands are plain arrays of one state. All else, and all that is wrong, is for the
 * function, as if this file were not there.
 *
 * Kernel     that of the function's name, or with an option such as frame="base", where the
 *            arm is of full fidelity, that of both names, jacobian_base. Its operands are
 *            the arguments without a default, in their order, after the node, whose default
 *            is the tip.
 * Results    an array, or its first axis divided into the fields of a named tuple.
 * Checked by  tests/calls/test_shortcuts.py.
 */
#include "python/py_shortcut.h"
#include "python/py_call.h"
#include "python/py_model.h"
#include "python/py_numpy.h"

#include "calls/kernels.h"

#include <stddef.h>
#include <structmember.h>

/* at most: parameters of a function (operands, arm, node, options), further kernels */
enum { SHORTCUT_PARAMETERS = FA_MAX_OPERANDS + 6, SHORTCUT_VARIANTS = 4 };

typedef struct {
    PyObject_HEAD vectorcallfunc call;
    PyObject *function; /* in Python */
    PyObject *names;    /* of its parameters, those that need no name first */
    PyObject *defaults; /* of the others, by their names */
    PyObject *values[SHORTCUT_PARAMETERS]; /* the same by their places, borrowed */
    PyObject *parts;                       /* named tuple of the result, or NULL */
    PyObject *attributes, *weak;
    fa_kernel kernel, variants[SHORTCUT_VARIANTS]; /* with an option */
    const char *suffixes[SHORTCUT_VARIANTS];       /* its values */
    int n_variants;
    int n, n_places; /* parameters, and those that need no name */
    int node, out;   /* which parameters these are, or -1 */
} shortcut_object;

/* names of attributes, made once at import */
static PyObject *shortcut_kernels, *shortcut_nodes, *shortcut_qualname;

/* the arguments by their parameters; whether they are those of the function */
static int shortcut_given(const shortcut_object *self, PyObject *const *args,
                          Py_ssize_t n_args, PyObject *names, PyObject **given)
{
    const Py_ssize_t n_names = names ? PyTuple_GET_SIZE(names) : 0;

    if (n_args < 1 || n_args > self->n_places) {
        return 0;
    }
    for (int i = 0; i < self->n; i++) {
        given[i] = i < n_args ? args[i] : self->values[i];
    }
    for (Py_ssize_t k = 0; k < n_names; k++) {
        int i = (int)n_args;
        /* names in a call are interned, as those of parameters */
        while (i < self->n &&
               PyTuple_GET_ITEM(self->names, i) != PyTuple_GET_ITEM(names, k)) {
            i++;
        }
        if (i == self->n) {
            return 0;
        }
        given[i] = args[n_args + k];
    }
    return 1;
}

/* the number of a node, or what else was given; None is the tip, a string a name of
 * `arm.node_names`; NULL, perhaps with an exception, for names of none */
static PyObject *shortcut_node(PyObject *arm, PyObject *model, PyObject *given)
{
    if (given == Py_None) {
        return Py_XNewRef(py_model_tip(model));
    }
    if (!PyUnicode_CheckExact(given)) {
        return Py_NewRef(given);
    }
    PyObject *names = PyObject_GenericGetAttr(arm, shortcut_nodes);
    const Py_ssize_t at = names ? PySequence_Index(names, given) : -1;
    Py_XDECREF(names);
    return at < 0 ? NULL : PyLong_FromSsize_t(at);
}

/* the kernel that a value of an option chooses, or FA_N_KERNELS */
static fa_kernel shortcut_variant(const shortcut_object *self, PyObject *value)
{
    for (int k = 0; PyUnicode_CheckExact(value) && k < self->n_variants; k++) {
        if (PyUnicode_CompareWithASCIIString(value, self->suffixes[k]) == 0) {
            return self->variants[k];
        }
    }
    return FA_N_KERNELS;
}

/* the kernel that the options choose, or FA_N_KERNELS */
static fa_kernel shortcut_chosen(const shortcut_object *self, PyObject *model,
                                 PyObject *const *given)
{
    fa_kernel chosen = self->kernel;

    for (int i = self->n_places; i < self->n && chosen < FA_N_KERNELS; i++) {
        if (i != self->out && given[i] != self->values[i]) {
            /* of one option, where the function has nothing to say of the fidelity */
            chosen = chosen == self->kernel && py_model_is_full(model)
                         ? shortcut_variant(self, given[i])
                         : FA_N_KERNELS;
        }
    }
    return chosen;
}

/*
 * The operands of the kernel, and out, which may be None.
 *   node  a reference to that among them, or NULL
 * Returns how many they are, 0 without a node of that name.
 */
static int shortcut_operands(const shortcut_object *self, PyObject *model,
                             PyObject *const *given, PyObject **operands,
                             PyObject **node)
{
    int n = 0;

    if (self->node >= 0) {
        operands[n++] = *node = shortcut_node(given[0], model, given[self->node]);
        if (!*node) {
            return 0;
        }
    }
    for (int i = 1; i < self->n_places; i++) {
        if (i != self->node) {
            operands[n++] = given[i];
        }
    }
    operands[n++] = given[self->out];
    return n;
}

/* the first axis of an array as the fields of a named tuple; takes the reference */
static PyObject *shortcut_divide(const shortcut_object *self, PyObject *whole)
{
    PyArrayObject *array = (PyArrayObject *)whole;
    PyTypeObject *type = (PyTypeObject *)self->parts;
    const npy_intp n = PyArray_DIM(array, 0), size = PyArray_STRIDE(array, 0);
    PyObject *tuple = type->tp_alloc(type, n);

    for (npy_intp i = 0; tuple && i < n; i++) {
        PyObject *part = PyArray_NewFromDescr(
            &PyArray_Type, PyArray_DescrFromType(NPY_DOUBLE), PyArray_NDIM(array) - 1,
            PyArray_DIMS(array) + 1, NULL, PyArray_BYTES(array) + i * size,
            NPY_ARRAY_CARRAY, NULL);
        if (part &&
            PyArray_SetBaseObject((PyArrayObject *)part, Py_NewRef(whole)) < 0) {
            Py_CLEAR(part);
        }
        if (!part) {
            Py_CLEAR(tuple);
            break;
        }
        PyTuple_SET_ITEM(tuple, i, part);
    }
    Py_DECREF(whole);
    return tuple;
}

/* the result for one state; NULL without an exception if the call is for Python */
static PyObject *shortcut_one(const shortcut_object *self, PyObject *const *args,
                              Py_ssize_t n_args, PyObject *names)
{
    PyObject *given[SHORTCUT_PARAMETERS], *operands[SHORTCUT_PARAMETERS], *node = NULL;
    PyObject *result = NULL;

    if (!shortcut_given(self, args, n_args, names, given)) {
        return NULL;
    }
    /* what the dictionary of the arm has, without its own __getattr__ */
    PyObject *model = PyObject_GenericGetAttr(given[0], shortcut_kernels);
    const int is_model = model && py_is_model(model);
    const fa_kernel kernel =
        is_model ? shortcut_chosen(self, model, given) : FA_N_KERNELS;
    PyObject *gufunc = kernel < FA_N_KERNELS ? py_model_gufunc(model, kernel) : NULL;
    const int n = gufunc ? shortcut_operands(self, model, given, operands, &node) : 0;
    if (n) {
        result = py_call_one(gufunc, operands, n);
    } else {
        PyErr_Clear();
    }
    Py_XDECREF(node);
    Py_XDECREF(gufunc);
    Py_XDECREF(model);
    return result && self->parts ? shortcut_divide(self, result) : result;
}

static PyObject *shortcut_call(PyObject *object, PyObject *const *args, size_t n_flags,
                               PyObject *names)
{
    const shortcut_object *self = (const shortcut_object *)object;
    PyObject *result = shortcut_one(self, args, PyVectorcall_NARGS(n_flags), names);

    return result || PyErr_Occurred()
               ? result
               : PyObject_Vectorcall(self->function, args, n_flags, names);
}

/* the kernel of a function, by its name; -1 with an exception set without one */
static int shortcut_kernel(PyObject *function)
{
    PyObject *name = PyObject_GetAttrString(function, "__name__");
    int found = -1;

    for (int i = 0; name && found < 0 && i < FA_N_KERNELS; i++) {
        found = PyUnicode_CompareWithASCIIString(name, fa_kernel_rows[i].name) ? -1 : i;
    }
    if (name && found < 0) {
        PyErr_Format(PyExc_TypeError, "no kernel has the name of the function %R",
                     name);
    }
    Py_XDECREF(name);
    return found;
}

/* the kernels of the same function with an option, name_value */
static void shortcut_find_variants(shortcut_object *self)
{
    const fa_kernel_row *row = fa_kernel_rows + self->kernel;
    const size_t length = strlen(row->name);

    for (int i = 0; i < FA_N_KERNELS && self->n_variants < SHORTCUT_VARIANTS; i++) {
        const fa_kernel_row *other = fa_kernel_rows + i;
        if (strcmp(other->function, row->name) == 0 &&
            strncmp(other->name, row->name, length) == 0 &&
            other->name[length] == '_') {
            self->variants[self->n_variants] = (fa_kernel)i;
            self->suffixes[self->n_variants++] = other->name + length + 1;
        }
    }
}

/* the class that a function says it returns, if that is a tuple; else NULL */
static PyObject *shortcut_parts(PyObject *function)
{
    PyObject *hints = PyFunction_GetAnnotations(function);
    PyObject *hint = hints ? PyDict_GetItemString(hints, "return") : NULL;
    PyObject *class =
        hint ? PyDict_GetItem(PyFunction_GetGlobals(function), hint) : NULL;
    const int is_tuple = class && PyType_Check(class) &&
                         PyType_IsSubtype((PyTypeObject *)class, &PyTuple_Type);
    return is_tuple ? Py_NewRef(class) : NULL;
}

/* reads the parameters; -1 with an exception set if they are not those of the kernel */
static int shortcut_read(shortcut_object *self, PyObject *function)
{
    const fa_kernel_row *row = fa_kernel_rows + self->kernel;
    const PyCodeObject *code = (PyCodeObject *)PyFunction_GetCode(function);
    PyObject *defaults = PyFunction_GetKwDefaults(function);

    self->names = PyObject_GetAttrString(PyFunction_GetCode(function), "co_varnames");
    self->defaults = Py_XNewRef(defaults);
    if (!self->names) {
        return -1;
    }
    self->n_places = code->co_argcount;
    self->n = code->co_argcount + code->co_kwonlyargcount;
    self->node = self->out = -1;
    for (int i = 0; i < self->n && i < SHORTCUT_PARAMETERS; i++) {
        PyObject *name = PyTuple_GET_ITEM(self->names, i);
        if (PyUnicode_CompareWithASCIIString(name, "node") == 0) {
            self->node = i;
        } else if (PyUnicode_CompareWithASCIIString(name, "out") == 0) {
            self->out = i;
        }
        /* without a default None, which is no operand, and for the node the tip */
        PyObject *value = defaults ? PyDict_GetItem(defaults, name) : NULL;
        self->values[i] = value ? value : Py_None;
    }
    const int has_node = self->node >= 0;
    if (self->n > SHORTCUT_PARAMETERS || self->n_places != 1 + has_node + row->n_in ||
        self->node >= self->n_places || self->out < self->n_places ||
        row->node != (has_node ? FA_ONE_NODE : FA_NO_NODE)) {
        PyErr_Format(PyExc_TypeError, "parameters of %s are not those of its kernel",
                     row->name);
        return -1;
    }
    return 0;
}

static PyTypeObject *shortcut_type; /* made once at import */

PyObject *py_shortcut(PyObject *module, PyObject *args)
{
    PyObject *function, *inner;

    (void)module;
    if (!PyArg_ParseTuple(args, "O!O:shortcut", &PyFunction_Type, &function, &inner)) {
        return NULL;
    }
    const int kernel = shortcut_kernel(function);
    if (kernel < 0) {
        return NULL;
    }
    shortcut_object *self =
        (shortcut_object *)shortcut_type->tp_alloc(shortcut_type, 0);
    if (!self) {
        return NULL;
    }
    self->call = shortcut_call;
    self->kernel = (fa_kernel)kernel;
    shortcut_find_variants(self);
    self->function = Py_NewRef(inner);
    self->parts = shortcut_parts(function);
    self->attributes = PyDict_New();
    if (!self->attributes || shortcut_read(self, function) < 0) {
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

static int shortcut_traverse(PyObject *object, visitproc visit, void *arg)
{
    const shortcut_object *self = (const shortcut_object *)object;

    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->function);
    Py_VISIT(self->names);
    Py_VISIT(self->defaults);
    Py_VISIT(self->parts);
    Py_VISIT(self->attributes);
    return 0;
}

/* what is needed for a call stays: a circle is broken by the attributes */
static int shortcut_clear(PyObject *object)
{
    Py_CLEAR(((shortcut_object *)object)->attributes);
    return 0;
}

static void shortcut_dealloc(PyObject *object)
{
    shortcut_object *self = (shortcut_object *)object;
    PyTypeObject *type = Py_TYPE(object);

    PyObject_GC_UnTrack(object);
    if (self->weak) {
        PyObject_ClearWeakRefs(object);
    }
    Py_XDECREF(self->function);
    Py_XDECREF(self->names);
    Py_XDECREF(self->defaults);
    Py_XDECREF(self->parts);
    Py_XDECREF(self->attributes);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyObject *shortcut_repr(PyObject *object)
{
    return PyObject_Repr(((shortcut_object *)object)->function);
}

/* a method of the class that has it as an attribute */
static PyObject *shortcut_get(PyObject *object, PyObject *instance, PyObject *type)
{
    (void)type;
    return instance && instance != Py_None ? PyMethod_New(object, instance)
                                           : Py_NewRef(object);
}

/* pickled by its name, as functions are */
static PyObject *shortcut_reduce(PyObject *object, PyObject *unused)
{
    (void)unused;
    return PyObject_GetAttr(object, shortcut_qualname);
}

static PyMethodDef shortcut_methods[] = {
    {"__reduce__", shortcut_reduce, METH_NOARGS, "Pickle by the name."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef shortcut_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(shortcut_object, call), READONLY,
     NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(shortcut_object, attributes), READONLY,
     NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(shortcut_object, weak), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef shortcut_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

/* slots hold functions as void *, which POSIX allows and ISO C does not */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
static PyType_Slot shortcut_slots[] = {
    {Py_tp_dealloc, shortcut_dealloc}, {Py_tp_traverse, shortcut_traverse},
    {Py_tp_clear, shortcut_clear},     {Py_tp_call, PyVectorcall_Call},
    {Py_tp_repr, shortcut_repr},       {Py_tp_descr_get, shortcut_get},
    {Py_tp_methods, shortcut_methods}, {Py_tp_members, shortcut_members},
    {Py_tp_getset, shortcut_getset},   {0, NULL},
};
#pragma GCC diagnostic pop

static PyType_Spec shortcut_spec = {
    .name = "flexarm._core.Shortcut",
    .basicsize = sizeof(shortcut_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE |
             Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = shortcut_slots,
};

int py_shortcuts_import(PyObject *module)
{
    shortcut_kernels = PyUnicode_InternFromString("kernels");
    shortcut_nodes = PyUnicode_InternFromString("node_names");
    shortcut_qualname = PyUnicode_InternFromString("__qualname__");
    shortcut_type =
        (PyTypeObject *)PyType_FromModuleAndSpec(module, &shortcut_spec, NULL);
    return shortcut_kernels && shortcut_nodes && shortcut_qualname && shortcut_type
               ? 0
               : -1;
}
