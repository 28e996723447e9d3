/*
 * single.h -- one state of one arm, for control loops in C
 *
 * The kernels of tables.h take batches through strides; these take the arrays of one
 * state. Nothing here allocates, locks or prints, and the time of a call does not depend
 * on the state, so that they may run in a real-time loop:
 *
 *     fa_model *model;
 *     fa_status status = fa_model_build(&description, &model);
 *     const fa_kernels *kernels = fa_kernels_for_few(fa_kernels_best());
 *     void *work = aligned_alloc(64, fa_single_size(kernels, model, FA_FORWARD_DYNAMICS));
 *     const fa_single arm = {model, kernels, work};
 *     ...
 *     int bad = fa_forward_dynamics(&arm, q, qd, tau, model->nv, qdd);
 *
 * Arrays     [n] doubles side by side; the result may be one of the inputs.
 * Status     0, or 1 where a result was NaN or infinite: all of it is then NaN.
 * Threads    a model may be shared, each thread brings its own `work`.
 * LAPACK     only called by FA_FORWARD_COMPOSITE and for arms of fidelity "linear".
 */
#ifndef FA_SINGLE_H
#define FA_SINGLE_H

#include "calls/kernels.h"
#include "library/tables.h"
#include "model/layout.h"
#include "model/model.h" /* a program needs this header alone */

typedef struct {
    const fa_model *model;
    const fa_kernels *kernels;
    void *work; /* [fa_single_size()] bytes, aligned to 64; no meaning between calls */
} fa_single;

/*
 * Bytes of `work` for the kernel of a function below (FA_INTEGRATE for fa_move): a
 * multiple of 64. One array serves several of them if it has room for the largest.
 */
size_t fa_single_size(const fa_kernels *kernels, const fa_model *model,
                      fa_kernel kernel);

/*
 * Accelerations qdd [nv] at positions q [nq], velocities qd [nv] and forces
 * tau [n_tau], n_tau = model->nv or model->n_actuators.
 */
int fa_forward_dynamics(const fa_single *arm, const double *q, const double *qd,
                        const double *tau, int n_tau, double *qdd);

/* forces tau [nv] of accelerations qdd [nv]: joint rows, then the modal residual */
int fa_inverse_dynamics(const fa_single *arm, const double *q, const double *qd,
                        const double *qdd, double *tau);

/* mass matrix M [nv][nv] */
int fa_mass_matrix(const fa_single *arm, const double *q, double *M);

/* pose [4][4] of a node, 0 <= node < model->n_nodes */
int fa_node_pose(const fa_single *arm, int node, const double *q, double *pose);

/* Jacobian J [6][nv] of a node in its own axes, angular rows first */
int fa_jacobian(const fa_single *arm, int node, const double *q, double *J);

/*
 * A step of length h: positions q [nq] moved by the velocities qd [nv] that stand for
 * all of it, quaternions included. With qd += h qdd before, semi-implicit Euler.
 *   moved  [nv] scratch
 */
int fa_move(const fa_single *arm, double h, double *q, const double *qd, double *moved);

#endif
