/*
 * py_constants.c -- enums, limits and columns of the library as attributes
 *
 * What Python has to know of the headers of C it reads here: the names of an enum are a
 * tuple in its order, the columns of a packed array a mapping from names to slices.
 *
 * Checked by  tests/calls/test_core_constants.py, tests/calls/test_stubs.py.
 */
#include "python/py_constants.h"
#include "python/py_base.h"

#include "calls/kernels.h"
#include "calls/maps.h"
#include "calls/targets.h"
#include "calls/time_loop.h"
#include "library/laws.h"
#include "library/time_scaling.h"
#include "model/description.h"
#include "model/kinds.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static const char *const joint_kinds[] = {
    [FA_JOINT_FIXED] = "fixed",         [FA_JOINT_REVOLUTE] = "revolute",
    [FA_JOINT_PRISMATIC] = "prismatic", [FA_JOINT_HELICAL] = "helical",
    [FA_JOINT_SPHERICAL] = "spherical", [FA_JOINT_POSE] = "pose",
    [FA_JOINT_FLOATING] = "floating",
};
static const char *const fidelities[] = {
    [FA_FULL] = "full", [FA_LINEAR] = "linear", [FA_RUTHLESS] = "ruthless"};
static const char *const passive_kinds[] = {
    [FA_SPRING] = "spring", [FA_FRICTION] = "friction", [FA_STOP] = "stop"};
/* bits of FA_LOOP_DIRECTIONS */
static const char *const directions[] = {"rx", "ry", "rz", "x", "y", "z"};
static const char *const endings[] = {
    [FA_REACHED] = "reached",
    [FA_NOT_CONVERGED] = "not converged",
    [FA_STEP_TOO_SHORT] = "step too short",
};
static const char *const ik_statuses[] = {
    [FA_IK_SOLVED] = "solved",
    [FA_IK_STATIONARY] = "stationary",
    [FA_IK_UNFINISHED] = "unfinished",
    [FA_IK_NOT_FINITE] = "not finite",
};
static const char *const predictive_statuses[] = {
    [FA_PREDICTIVE_SOLVED] = "solved",
    [FA_PREDICTIVE_SOFTENED] = "softened",
    [FA_PREDICTIVE_RELAXED] = "relaxed",
    [FA_PREDICTIVE_UNFINISHED] = "unfinished",
};
static const char *const scaling_statuses[] = {
    [FA_SCALING_SOLVED] = "solved",
    [FA_SCALING_NO_WAY] = "no way",
    [FA_SCALING_NO_POINT] = "no point",
    [FA_SCALING_START] = "start",
};
static const char *const scaling_schemes[] = {
    [FA_SCALING_BEGIN] = "collocation",
    [FA_SCALING_ENDS] = "interpolation",
    [FA_SCALING_MIDDLE] = "midpoint",
};

/* columns of an array: where each begins, the last one ends the row; -1: it is open */
typedef struct {
    const char *name;
    int from;
} column;

static const column topology_columns[] = {
    {"parent", FA_TOPO_PARENT},
    {"node", FA_TOPO_NODE},
    {"joint", FA_TOPO_JOINT},
    {"modes", FA_TOPO_MODES},
    {"nodes", FA_TOPO_NODES},
    {"dof", FA_TOPO_DOF},
    {"integrals", FA_TOPO_INTEGRALS},
    {"second", FA_TOPO_SECOND},
    {"shapes", FA_TOPO_SHAPES},
    {"drives", FA_TOPO_DRIVES},
    {"strain", FA_TOPO_STRAIN},
    {"idle", FA_TOPO_IDLE},
    {NULL, FA_TOPO_SIZE},
};
static const column joint_columns[] = {
    {"axis", FA_AXIS},       {"position", FA_POSITION}, {"rotation", FA_ROTATION},
    {"damping", FA_DAMPING}, {"armature", FA_ARMATURE}, {"subspace", FA_SUBSPACE},
    {NULL, FA_JOINT_SIZE},
};
static const column node_columns[] = {
    {"mass", FA_NODE_MASS},       {"com", FA_NODE_COM},
    {"inertia", FA_NODE_INERTIA}, {"position", FA_NODE_POSITION},
    {"modes", FA_NODE_GAMMA},     {NULL, -1},
};
static const column integral_columns[] = {
    {"mass", FA_GIVEN_MASS},
    {"mp0", FA_GIVEN_MP0},
    {"J0", FA_GIVEN_J0},
    {"modal", FA_GIVEN_MODAL},
    {NULL, -1},
};
static const column loop_columns[] = {
    {"first", FA_LOOP_FIRST},           {"second", FA_LOOP_SECOND},
    {"directions", FA_LOOP_DIRECTIONS}, {"line", FA_LOOP_LINE},
    {"nodes", FA_LOOP_NODES},           {NULL, FA_LOOP_SIZE},
};
static const column frame_columns[] = {
    {"position", FA_FRAME_POSITION},
    {"rotation", FA_FRAME_ROTATION},
    {NULL, FA_FRAME_SIZE},
};
static const column passive_columns[] = {
    {"kind", FA_PASSIVE_KIND},
    {"body", FA_PASSIVE_BODY},
    {"rotor", FA_PASSIVE_ROTOR},
    {"ratio", FA_PASSIVE_RATIO},
    {"parameters", FA_PASSIVE_PARAMETERS},
    {NULL, FA_PASSIVE_SIZE},
};
static const column report_columns[] = {
    {"steps", FA_REPORT_STEPS},       {"rejected", FA_REPORT_REJECTED},
    {"ending", FA_REPORT_ENDING},     {"time", FA_REPORT_TIME},
    {"residual", FA_REPORT_RESIDUAL}, {"error", FA_REPORT_ERROR},
    {"scale", FA_REPORT_SCALE},       {"work", FA_REPORT_WORK},
    {"astray", FA_REPORT_ASTRAY},     {NULL, FA_REPORT_SIZE},
};

/* takes the reference of an attribute; -1 with an exception set on failure */
static int constants_add(PyObject *module, const char *name, PyObject *value)
{
    const int status = value ? PyModule_AddObjectRef(module, name, value) : -1;
    Py_XDECREF(value);
    return status;
}

static PyObject *constants_names(const char *const *names, int n)
{
    PyObject *tuple = PyTuple_New(n);

    for (int i = 0; tuple && i < n; i++) {
        PyObject *name = PyUnicode_FromString(names[i]);
        if (!name) {
            Py_CLEAR(tuple);
            break;
        }
        PyTuple_SET_ITEM(tuple, i, name);
    }
    return tuple;
}

/* a read-only mapping from names to slices */
static PyObject *constants_columns(const column *columns)
{
    PyObject *made = PyDict_New();

    for (const column *c = columns; made && c->name; c++) {
        PyObject *from = PyLong_FromLong(c->from);
        PyObject *to = c[1].from < 0 ? Py_NewRef(Py_None) : PyLong_FromLong(c[1].from);
        PyObject *slice = from && to ? PySlice_New(from, to, NULL) : NULL;
        if (!slice || PyDict_SetItemString(made, c->name, slice) < 0) {
            Py_CLEAR(made);
        }
        Py_XDECREF(slice);
        Py_XDECREF(from);
        Py_XDECREF(to);
    }
    PyObject *proxy = made ? PyDictProxy_New(made) : NULL;
    Py_XDECREF(made);
    return proxy;
}

/* a read-only mapping from kernels to function, documentation, how many nodes the number in
 * front stands for, and operands */
static PyObject *constants_kernels(void)
{
    PyObject *made = PyDict_New();

    for (int i = 0; made && i < FA_N_KERNELS; i++) {
        const fa_kernel_row *row = &fa_kernel_rows[i];
        PyObject *operands = constants_names(row->operands, row->n_in + 1);
        PyObject *value = operands ? Py_BuildValue("(ssiN)", row->function, row->doc,
                                                   (int)row->node, operands)
                                   : NULL;
        if (!value || PyDict_SetItemString(made, row->name, value) < 0) {
            Py_CLEAR(made);
        }
        Py_XDECREF(value);
    }
    PyObject *proxy = made ? PyDictProxy_New(made) : NULL;
    Py_XDECREF(made);
    return proxy;
}

int py_add_constants(PyObject *module)
{
    const char *stacked[FA_N_METHODS]; /* methods of time loops of stacks */
    int n_stacked = 0;

    for (int i = 0; i < FA_N_METHODS; i++) {
        if (fa_stack_integrates((fa_method)i)) {
            stacked[n_stacked++] = fa_method_names[i];
        }
    }
    const struct {
        const char *name;
        const char *const *names;
        int n;
    } tuples[] = {
        {"JOINT_KINDS", joint_kinds, COUNT(joint_kinds)},
        {"FIDELITIES", fidelities, COUNT(fidelities)},
        {"PASSIVE_KINDS", passive_kinds, COUNT(passive_kinds)},
        {"DIRECTIONS", directions, COUNT(directions)},
        {"METHODS", fa_method_names, FA_N_METHODS},
        {"STACK_METHODS", stacked, n_stacked},
        {"ENDINGS", endings, COUNT(endings)},
        {"IK_STATUSES", ik_statuses, COUNT(ik_statuses)},
        {"PREDICTIVE_STATUSES", predictive_statuses, COUNT(predictive_statuses)},
        {"SCALING_STATUSES", scaling_statuses, COUNT(scaling_statuses)},
        {"SCALING_SCHEMES", scaling_schemes, COUNT(scaling_schemes)},
    };
    const struct {
        const char *name;
        const column *columns;
    } tables[] = {
        {"TOPOLOGY_COLUMNS", topology_columns}, {"JOINT_COLUMNS", joint_columns},
        {"NODE_COLUMNS", node_columns},         {"INTEGRAL_COLUMNS", integral_columns},
        {"LOOP_COLUMNS", loop_columns},         {"FRAME_COLUMNS", frame_columns},
        {"PASSIVE_COLUMNS", passive_columns},   {"REPORT_COLUMNS", report_columns},
    };

    for (int i = 0; i < COUNT(tuples); i++) {
        PyObject *names = constants_names(tuples[i].names, tuples[i].n);
        if (constants_add(module, tuples[i].name, names) < 0) {
            return -1;
        }
    }
    for (int i = 0; i < COUNT(tables); i++) {
        PyObject *columns = constants_columns(tables[i].columns);
        if (constants_add(module, tables[i].name, columns) < 0) {
            return -1;
        }
    }
    if (constants_add(module, "KERNELS", constants_kernels()) < 0 ||
        constants_add(module, "LIE_TOLERANCE", PyFloat_FromDouble(LIE_TOLERANCE)) < 0 ||
        constants_add(module, "LIE_ROUNDING", PyFloat_FromDouble(LIE_ROUNDING)) < 0 ||
        PyModule_AddIntConstant(module, "MAX_MODES", FA_MAX_MODES) < 0 ||
        PyModule_AddIntConstant(module, "MAX_BODIES", FA_MAX_BODIES) < 0 ||
        PyModule_AddIntConstant(module, "MAX_VELOCITIES", FA_MAX_VELOCITIES) < 0 ||
        PyModule_AddIntConstant(module, "MAX_NODES", FA_MAX_NODES) < 0) {
        return -1;
    }
    return PyModule_AddIntConstant(module, "MAX_DRIVEN", FA_MAX_DRIVEN);
}
