/*
 * py_bound.h -- what a gufunc is bound to, for the ways of calling it
 */
#ifndef PY_BOUND_H
#define PY_BOUND_H

#include "python/py_base.h"
#include "python/py_numpy.h"

#include <numpy/ufuncobject.h>

#include "calls/kernels.h"
#include "calls/maps.h"
#include "library/tables.h"
#include "model/layout.h"
#include "model/stacks.h"

/* operands of a gufunc: numbers of an arm and of a node, the inputs, the output; their
 * core dimensions */
enum { LOOP_OPERANDS = FA_MAX_OPERANDS + 2, LOOP_DIMS = 3 };

/*
 * Core dimensions of an operand: Q nq, V nv, T n_actuators or nv, digits, N nodes,
 * B links, C constraints; one letter each, "" for a scalar. Node kernels have an
 * integer operand in front, and before it there is one more in those of stacks, the
 * number of the arm.
 */
typedef struct {
    const char *name;
    int has_index;
    const char *operands[FA_MAX_OPERANDS]; /* inputs, then the output */
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
    int is_quick;           /* whether its states are few enough numbers for that */
    loop_shape shapes[FA_MAX_OPERANDS];
    ptrdiff_t contiguous[]; /* 0, 8, 16, ...: offsets of a contiguous state */
} loop_bound;

/* doubles along a core dimension; T counts as nv */
int py_bound_dim(const fa_model *model, char letter);

/* numbers of arms and of nodes, one for each state, or NULL */
typedef struct {
    const char *arms, *nodes;
    ptrdiff_t arms_stride, nodes_stride;
} loop_index;

/* computes `count` states of a batch, from state number `first` on; `first` of the result
 * counts from there */
fa_failures py_bound_batch(const loop_bound *b, const fa_kernels *kernels, size_t first,
                           size_t count, const loop_index *index,
                           const fa_operand *operands, void *work);

/* raises NotFiniteError with the GIL held if states failed, unless the gufunc is quiet */
void py_bound_report(const loop_bound *b, fa_failures bad, size_t count);

#endif
