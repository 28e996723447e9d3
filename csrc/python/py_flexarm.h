/*
 * py_flexarm.h -- glue between CPython, NumPy and the C library; no physics
 *
 * Ownership   a Model holds a capsule, the capsule owns the fa_model. Each gufunc of a
 *             Model holds the same capsule (ufunc->obj), so it may outlive the Model
 *             and no reference cycle exists.
 * GIL         released around every batch and every time loop; taken again to raise,
 *             to look for Ctrl-C, and to call a Python torque function. Nothing here
 *             needs it: what changes after import belongs to a call or to the main
 *             thread, or, in library/pool.c, has a lock. Free-threaded CPython is told so.
 */
#ifndef PY_FLEXARM_H
#define PY_FLEXARM_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "calls/kernels.h"

/*
 * The kernels for a call with so many states, chosen at import: those that FLEXARM_ISA
 * names, or the widest, and for a few states the quickest.
 */
const fa_kernels *py_kernels(size_t count);

/* imports NumPy's ufunc API; -1 with an exception set on failure */
int py_loops_import(void);

/*
 * A gufunc of one kernel bound to one model.
 *   capsule  owner of the model, a new reference is taken
 *   quiet    failed states become NaN without an exception
 *   threads  most threads of a call
 */
PyObject *py_make_gufunc(PyObject *capsule, fa_kernel kernel, int quiet, int threads);

/* a gufunc of one kernel bound to a stack, which `capsule` owns; its first operand is the
 * number of the arm */
PyObject *py_make_stack_gufunc(const fa_stack *stack, PyObject *capsule,
                               fa_kernel kernel, int quiet, int threads);

/* a gufunc of one map; quiet as above */
PyObject *py_make_map(fa_map map, int quiet);

/* puts a gufunc of every map into the module, as se3_exp and the like; -1 on failure */
int py_add_maps(PyObject *module);

/* method _core.quiet_map(name): a quiet gufunc of the map of that name */
PyObject *py_quiet_map(PyObject *module, PyObject *name);

/* name of a kernel in Python */
const char *py_kernel_name(fa_kernel kernel);

/* bytes of scratch that a batch of a kernel takes, however many states it has */
size_t py_kernel_work_size(const fa_model *model, fa_kernel kernel);

fa_model *py_model_of(PyObject *capsule);

/*
 * Time loop and inverse kinematics on several threads. The tick of `run` is called by
 * the calling thread alone. Nonzero if it ended early, an exception is set then.
 *   stack NULL, or that of `model` and of the arms of `run`
 *   work  scratch of the calling thread; others get as much as work_size
 */
int py_split_rollout(const fa_model *model, const fa_stack *stack,
                     const fa_kernels *kernels, const fa_rollout *run, int threads,
                     void *work, size_t work_size);
int py_split_ik(const fa_model *model, const fa_kernels *kernels, const fa_ik *run,
                int threads, void *work, size_t work_size);

/* methods Model.rollout and Stack.rollout, which has the numbers of the arms besides */
PyObject *py_rollout(const fa_model *model, const fa_stack *stack, PyObject *arms,
                     PyObject *args, PyObject *kwargs);

/* method Model.sampled_loop */
PyObject *py_sampled_loop(const fa_model *model, PyObject *args);

/* method Model.inverse_kinematics */
PyObject *py_inverse_kinematics(const fa_model *model, PyObject *args);

/* method _core.time_scaling(s, a, b, lower, upper, x_max, controllable, curve, x, u,
 * x_start, (least, largest x at the end), scheme): status and where it failed */
PyObject *py_time_scaling(PyObject *module, PyObject *args);

int py_add_model_type(PyObject *module);

/* the arrays of a Model as a description, which lives as long as the Model; -1 with an
 * exception if it is none */
int py_model_description(PyObject *model, fa_description *description);

/* raises what the refusal of a model says, and returns NULL */
PyObject *py_model_refuse(fa_status status);

int py_add_stack_type(PyObject *module);

#endif
