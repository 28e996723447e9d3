/*
 * py_loops.h -- what a gufunc is bound to, for the two ways of calling it
 *
 * python/py_loops.c runs it on what NumPy's iterator hands over, python/py_call.c on one state that
 * needs no iterator.
 */
#ifndef PY_LOOPS_H
#define PY_LOOPS_H

#include "python/py_flexarm.h"

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL flexarm_ARRAY_API
#define NO_IMPORT_ARRAY
#include <numpy/ndarrayobject.h>
#include <numpy/ufuncobject.h>

/* bytes of scratch on the stack, more is on the heap; alignment of scratch */
enum { LOOP_STACK = 24 * 1024, LOOP_ALIGN = 64 };

/* operands of a gufunc: numbers of an arm and of a node, the inputs, the output; their
 * core dimensions */
enum { LOOP_OPERANDS = FA_MOST_OPERANDS + 2, LOOP_DIMS = 3 };

/*
 * Core dimensions of an operand: Q nq, V nv, T n_actuators or nv, digits, N nodes, B links, C
 * constraints; one
 * letter each, "" for a scalar. Node kernels have an integer operand in front, and before
 * it there is one more in those of stacks, the number of the arm.
 */
typedef struct {
    const char *name;
    int has_index;
    const char *operands[FA_MOST_OPERANDS]; /* inputs, then the output */
} loop_row;

/* an operand of one state */
typedef struct {
    int n_dims, size;
    int takes_tau; /* may have n_actuators entries in place of nv */
    npy_intp dims[LOOP_DIMS];
} loop_shape;

/* everything one gufunc needs, in one block that NumPy frees with the gufunc */
typedef struct {
    const fa_model *model; /* NULL for a map; of a stack the first */
    const fa_stack *stack; /* or NULL */
    loop_row row;
    int n_in; /* without the numbers of an arm and of a node */
    fa_kernel kernel;
    fa_map map;
    int quiet;
    int threads;    /* most threads of a call */
    int torque_dim; /* place of T among NumPy's core dimensions, or -1 */
    PyUFuncGenericFunction function[1];
    void *data[1];
    char types[LOOP_OPERANDS];
    char doc[160];
    /* for calls with one state */
    vectorcallfunc general; /* the call that NumPy gave the gufunc */
    size_t work_size;       /* bytes of scratch */
    loop_shape shapes[FA_MOST_OPERANDS];
    ptrdiff_t contiguous[]; /* 0, 8, 16, ...: offsets of a contiguous state */
} loop_bound;

/* doubles along a core dimension; T counts as nv */
int py_loop_dim(const fa_model *model, char letter);

/* numbers of arms and of nodes, one for each state, or NULL */
typedef struct {
    const char *arms, *nodes;
    ptrdiff_t arms_stride, nodes_stride;
} loop_index;

/* computes `count` states of a batch, from state number `first` on; `first` of the result
 * counts from there */
fa_failures py_loop_batch(const loop_bound *b, const fa_kernels *kernels, size_t first,
                          size_t count, const loop_index *index,
                          const fa_operand *operands, void *work);

/* raises NotFiniteError with the GIL held if states failed and the gufunc tells it */
void py_loop_report(const loop_bound *b, fa_failures bad, size_t count);

/* raises an exception of flexarm.errors with the GIL held, whatever the caller holds */
void py_loop_raise(const char *class_name, const char *message);

/*
 * Tells of so many states that are done in the calling thread, which may be any. Nonzero
 * if it is the main one and Ctrl-C was pressed: KeyboardInterrupt is set then.
 */
int py_loop_interrupted(npy_intp states);

/* learns which thread is the main one; -1 with an exception set on failure */
int py_threads_import(void);

/* states between two looks for Ctrl-C */
enum { LOOP_CHUNK = 8192 };

/*
 * A batch on up to b->threads threads.
 *   work  scratch of the calling thread; others get as much as work_size
 */
void py_split_states(const loop_bound *b, const fa_kernels *kernels, npy_intp count,
                     const loop_index *index, const fa_operand *operands, void *work,
                     size_t work_size);

/*
 * Gives a gufunc the quick way for calls with one state.
 *   n_ready  entries of b->contiguous
 */
void py_call_attach(PyUFuncObject *gufunc, loop_bound *b, int n_ready);

#endif
