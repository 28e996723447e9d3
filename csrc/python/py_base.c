/*
 * py_base.c -- models of gufuncs, raising, Ctrl-C
 *
 * Checked by  tests/calls/test_threads.py, tests/simulation/test_simulate_calls.py.
 */
#include "python/py_base.h"
#include "python/py_numpy.h"

#include <pthread.h>

fa_model *py_model_of(PyObject *capsule)
{
    return PyCapsule_GetPointer(capsule, PY_MODEL_CAPSULE);
}

int py_add_type(PyObject *module, PyType_Spec *spec, const char *name)
{
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
    const int status = type ? PyModule_AddObjectRef(module, name, type) : -1;
    Py_XDECREF(type);
    return status;
}

/*
 * Raises with the GIL held, whatever the caller holds. A batch may come in pieces; where
 * an earlier piece has raised, its exception stays.
 */
void py_raise(const char *class_name, const char *message)
{
    const PyGILState_STATE gil = PyGILState_Ensure();
    if (!PyErr_Occurred()) {
        PyObject *module = PyImport_ImportModule("flexarm.errors");
        PyObject *class = module ? PyObject_GetAttrString(module, class_name) : NULL;
        if (class) {
            PyErr_SetString(class, message);
        }
        Py_XDECREF(class);
        Py_XDECREF(module);
    }
    PyGILState_Release(gil);
}

void py_no_memory(const char *what, size_t bytes)
{
    const PyGILState_STATE gil = PyGILState_Ensure();
    if (!PyErr_Occurred()) {
        PyErr_Format(
            PyExc_MemoryError,
            "%s needs %zu MB of scratch for an arm of this size, which is more "
            "than the memory that is free; take an arm of fewer coordinates",
            what, bytes >> 20);
    }
    PyGILState_Release(gil);
}

/*
 * Only the main thread receives Ctrl-C, others need not look. It asks for the GIL when
 * it has computed LOOP_CHUNK states, in however many pieces and calls: where another
 * thread is busy in Python, the GIL takes 5 ms to get. All but `thread` is used by that
 * thread alone.
 */
static struct {
    unsigned long thread; /* set once at import */
    npy_intp states;      /* since the last look */
    int stopped;          /* by Ctrl-C, in this call or, left over, in an earlier one */
} base_main;

/*
 * Nonzero if Ctrl-C was pressed, now or at an earlier piece of this call. States that
 * failed in an earlier piece stop nothing: the rest is computed.
 */
int py_interrupted(npy_intp states)
{
    PyObject *type, *value, *trace; /* of an earlier piece that failed */

    if (PyThread_get_thread_ident() != base_main.thread) {
        return 0;
    }
    base_main.states += states;
    if (base_main.states < LOOP_CHUNK && !base_main.stopped) {
        return 0;
    }
    const PyGILState_STATE gil = PyGILState_Ensure();
    base_main.states = 0;
    if (base_main.stopped && PyErr_Occurred()) {
        PyGILState_Release(gil);
        return 1;
    }
    PyErr_Fetch(&type, &value, &trace);
    base_main.stopped = PyErr_CheckSignals() != 0;
    if (base_main.stopped) {
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(trace);
    } else {
        PyErr_Restore(type, value, trace);
    }
    PyGILState_Release(gil);
    return base_main.stopped;
}

int py_tick(void *tick, size_t done)
{
    const PyGILState_STATE gil = PyGILState_Ensure();
    int stop = PyErr_CheckSignals() != 0;

    if (!stop && tick) {
        PyObject *answer = PyObject_CallFunction(tick, "n", (Py_ssize_t)done);
        stop = !answer;
        Py_XDECREF(answer);
    }
    PyGILState_Release(gil);
    return stop;
}

/* the thread that forked is the main one of the child */
static void base_in_child(void)
{
    base_main.thread = PyThread_get_thread_ident();
    base_main.states = 0;
    base_main.stopped = 0;
}

int py_interrupts_import(void)
{
    if (pthread_atfork(NULL, NULL, base_in_child) != 0) {
        PyErr_NoMemory();
        return -1;
    }

    PyObject *threading = PyImport_ImportModule("threading");
    PyObject *thread =
        threading ? PyObject_CallMethod(threading, "main_thread", NULL) : NULL;
    PyObject *ident = thread ? PyObject_GetAttrString(thread, "ident") : NULL;
    if (ident) {
        base_main.thread = PyLong_AsUnsignedLong(ident);
    }
    Py_XDECREF(ident);
    Py_XDECREF(thread);
    Py_XDECREF(threading);
    return PyErr_Occurred() ? -1 : 0;
}
