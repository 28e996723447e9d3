/*
 * linear_model.h -- the linear model: first order in modal coordinates and their rates
 *
 *             M = M(q0) + dM/deta eta, C = C(q0, qd0) + dC/deta eta + dC/detad etad,
 *             J = J(q0) + dJ/deta eta
 * at q0, qd0 without deformation. What the dual-screw method gives (Cibicik and Egeland,
 * IEEE Trans. Robotics 37, 2021); M is symmetric, and indefinite where deformations are
 * too large for it.
 */
#ifndef FA_LINEAR_H
#define FA_LINEAR_H

#include "model/layout.h"

/* doubles of scratch of the functions below */
size_t fa_linear_work_size(const fa_model *model);

/* M [nv][nv] at q [nq] */
void fa_linear_mass(const fa_model *model, const double *q, double *work, double *M);

/* C [nv] at q [nq], qd [nv]; with qd NULL the gravity forces alone */
void fa_linear_forces(const fa_model *model, const double *q, const double *qd,
                      double *work, double *C);

/* Jacobian J [6][nv] of a node at q [nq], in its axes */
void fa_linear_jacobian(const fa_model *model, int node, const double *q, double *work,
                        double *J);

/* doubles of scratch of the next two functions */
size_t fa_linear_tangents_work_size(const fa_model *model);

/* derivatives [nv][nv] of M qdd + C at q [nq], qd, qdd [nv] along local displacements and
 * velocities; inertial: without stiffness and damping of bodies */
void fa_linear_tangents(const fa_model *model, int inertial, const double *q,
                        const double *qd, const double *qdd, double *work, double *dq,
                        double *dqd);

/* derivatives [6][nv][nv] of the Jacobian of a node along local displacements */
void fa_linear_jacobian_tangents(const fa_model *model, int node, const double *q,
                                 double *work, double *dJ);

/* doubles of scratch of the next function */
size_t fa_linear_links_work_size(const fa_model *model);

/*
 * Body-fixed Jacobians J [links][6][nv] of all bodies of the user at q [nq], and with qd
 * [nv] their rates, which are of first order in modes and modal rates too; without, qd
 * and rate are NULL.
 */
void fa_linear_link_jacobians(const fa_model *model, const double *q, const double *qd,
                              double *work, double *J, double *rate);

#endif
