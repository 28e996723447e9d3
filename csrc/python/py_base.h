/*
 * py_base.h -- what all of the glue needs: models of gufuncs, raising, Ctrl-C
 *
 * Ownership   a Model holds a capsule, the capsule owns the fa_model. Each gufunc of a
 *             Model holds the same capsule (ufunc->obj), so it may outlive the Model
 *             and no reference cycle exists.
 * GIL         released around every batch and every time loop; taken again to raise,
 *             to look for Ctrl-C, and to call a Python torque function. Nothing here
 *             needs it: what changes after import belongs to a call or to the main
 *             thread, or, in pool.c, has a lock. The module says so to
 *             free-threaded CPython.
 */
#ifndef PY_BASE_H
#define PY_BASE_H

#include "python/py_numpy.h"

#include "model/layout.h"

/* name of the capsules that own a model */
#define PY_MODEL_CAPSULE "flexarm.fa_model"

fa_model *py_model_of(PyObject *capsule);

/* raises MemoryError with the GIL held: `what` wanted so many bytes, of which there are
 * none; an exception that is set stays */
void py_no_memory(const char *what, size_t bytes);

/* raises an exception of flexarm.errors with the GIL held, whatever the caller holds */
void py_raise(const char *class_name, const char *message);

/*
 * Counts states that are done in the calling thread, which may be any. Nonzero
 * if it is the main one and Ctrl-C was pressed: KeyboardInterrupt is set then.
 */
int py_interrupted(npy_intp states);

/* tick of a call: looks for Ctrl-C and calls tick(done) unless it is NULL; nonzero with
 * an exception set to stop */
int py_tick(void *tick, size_t done);

/* learns which thread is the main one; -1 with an exception set on failure */
int py_interrupts_import(void);

/* states between two looks for Ctrl-C */
enum { LOOP_CHUNK = 8192 };

/* bytes of scratch on the stack, more is on the heap; alignment of scratch */
enum { PY_STACK = 24 * 1024, PY_ALIGN = 64 };

/* scratch of `size` bytes: `stack`, unless that is NULL or too small, or memory of which
 * the caller frees *heap; NULL without an exception if there is none */
static inline char *py_scratch(char *stack, size_t size, char **heap)
{
    *heap = NULL;
    if (stack && size <= PY_STACK) {
        return stack;
    }
    *heap = PyMem_RawMalloc(size + PY_ALIGN);
    return *heap ? *heap + (PY_ALIGN - (uintptr_t)*heap % PY_ALIGN) : NULL;
}

/* adds a type to the module; -1 with an exception set on failure */
int py_add_type(PyObject *module, PyType_Spec *spec, const char *name);

#endif
