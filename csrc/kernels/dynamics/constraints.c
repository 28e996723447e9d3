/*
 * constraints.c -- closed loops and couplings of joints
 *
 * Equations   a loop holds frame A on one node and frame B on another; with the axes
 *             a_i, b_i, origins x_A, x_B, d = x_B - x_A and relative angular velocity
 *             omega = omega_B - omega_A its rows are
 *                 phi = a_i.d,   phi_dot = a_i.(v_B - v_A - omega_A x d)        (L1)
 *                 phi = a_p.b_q, phi_dot = omega.(b_q x a_p)                    (L2)
 *             and sums of two of L2; where B slides on the line of a body, x_A is the
 *             point of this line beside x_B (sliding.h); a coupling is sum c_i q_i = constant       (L3)
 *             A qd = phi_dot, A qdd + gamma = phi_ddot. With s, the rate of
 *             stabilization, forces lambda on the rows and the free motion qdd_0
 *                 (A M^-1 A') lambda = -(A qdd_0 + gamma + 2 s phi_dot + s^2 phi)
 *                 qdd = qdd_0 + M^-1 A' lambda                                  (L4)
 *             M^-1 A' row by row with the factors of the articulated bodies.
 *             Steps back to phi = 0 and A qd = 0 in the metric of M:
 *                 q (+) -M^-1 A'(A M^-1 A')^-1 phi, and likewise for qd         (L5)
 * Redundant   rows that others imply (a planar loop in space) get no force: the Cholesky
 *             factor of A M^-1 A' is pivoted and ends where the rest is rounding.
 * Source      Jain and Rodriguez, US patent 5,546,508, sec. 9 (closed chains through
 *             Omega_psi; its digest, 3.13); J. Baumgarte, Comput. Methods Appl. Mech.
 *             Eng. 1, 1972 (L4); E. Bayo, R. Ledesma, Nonlinear Dynamics 9, 1996 (L5).
 * Checked by  tests/constraints/test_constraints.py: dense KKT systems with rows from
 *             dual numbers.
 */
#ifndef FA_CONSTRAINTS_C
#define FA_CONSTRAINTS_C

#include "calls/call.h"
#include "dense/dense.h"
#include "kernels/dynamics/constraint_rows.h"
#include "kernels/dynamics/followers.c"
#include "kernels/dynamics/forward_steps.h"
#include "kernels/dynamics/forward_work.h"
#include "kernels/dynamics/mass_inverse.c"
#include "kernels/kinematics/positions.c"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/kinds.h"
#include "model/layout.h"

/* S = A X; both given (L4) */
static void cn_compliance(const fa_model *model, const cn_work *w)
{
    const int m = model->n_constraints, nv = model->nv;

    for (int i = 0; i < m; i++) {
        for (int j = 0; j <= i; j++) {
            fa_real sum = {0};
            for (int k = 0; k < nv; k++) {
                sum += w->A[i * nv + k] * w->X[j * nv + k];
            }
            w->S[i * m + j] = w->S[j * m + i] = sum;
        }
    }
}

/* X = M^-1 A' with the factors in f, whose c is lost, and S (L4) */
FA_NOINLINE void cn_factor(const fa_model *model, const fd_work *f, const cn_work *w)
{
    const int m = model->n_constraints, nv = model->nv;

    for (int k = 0; k < model->n_bodies; k++) {
        fa_zero(f->body[k].c, 6);
    }
    for (int i = 0; i < m; i++) {
        mi_solve(model, w->A + i * nv, f, w->X + i * nv);
    }
    cn_compliance(model, w);
}

/* rhs becomes lambda = -S^-1 rhs, lane by lane; the last state fills unused lanes */
static void cn_solve(const fa_model *model, int states, const cn_work *w)
{
    const int m = model->n_constraints;
    double *a = (double *)w->dense, *x = a + m * m, *scratch = x + m;

    for (int lane = 0; lane < states; lane++) {
        for (int i = 0; i < m * m; i++) {
            a[i] = w->S[i][lane];
        }
        for (int i = 0; i < m; i++) {
            x[i] = -w->rhs[i][lane];
        }
        fa_dense_solve_semidefinite(m, a, x, scratch);
        for (int i = 0; i < m; i++) {
            w->rhs[i][lane] = x[i];
            for (int rest = states; lane == states - 1 && rest < FA_LANES; rest++) {
                w->rhs[i][rest] = x[i];
            }
        }
    }
}

/* v += X lambda */
static void cn_add(const fa_model *model, const cn_work *w, fa_real *v)
{
    for (int i = 0; i < model->n_constraints; i++) {
        for (int k = 0; k < model->nv; k++) {
            v[k] += w->X[i * model->nv + k] * w->rhs[i];
        }
    }
}

/* gamma becomes A qdd + gamma + 2 s phi_dot + s^2 phi (L4) */
static void cn_residual(const fa_model *model, const fa_real *qdd, const cn_work *w)
{
    const fa_constant s = model->stabilization;

    for (int i = 0; i < model->n_constraints; i++) {
        w->rhs[i] += 2.0 * s * w->rate[i] + s * s * w->phi[i];
        for (int k = 0; k < model->nv; k++) {
            w->rhs[i] += w->A[i * model->nv + k] * qdd[k];
        }
    }
}

/* free accelerations become constrained ones, with the factors in f (L4) */
static void cn_correct(const fa_model *model, int states, const fa_real *q,
                       const fa_real *qd, const fd_work *f, const cn_work *w,
                       fa_real *qdd)
{
    cn_rows(model, q, qd, w);
    cn_residual(model, qdd, w);
    cn_factor(model, f, w);
    cn_solve(model, states, w);
    cn_add(model, w, qdd);
}

/*
 * Accelerations under the constraints, by articulated bodies.
 *   work  [cn_forward_work_size]; lambda stays in it, at cn_split(...).rhs
 */
static void cn_forward(const fa_model *model, int states, const fa_real *q,
                       const fa_real *qd, const fa_real *tau, fa_real *work,
                       fa_real *qdd)
{
    fo_forward(model, q, qd, tau, work, qdd);
    if (model->n_constraints > 0) {
        const fd_work f = fd_split(model, work);
        const cn_work w = cn_split(model, work + fd_work_size(model));
        cn_correct(model, states, q, qd, &f, &w, qdd);
    }
}

static size_t cn_forward_work_size(const fa_model *model)
{
    return fo_forward_work_size(model) + cn_work_size(model);
}

static void cn_forward_dynamics(const fa_model *model, const fa_call *call)
{
    cn_forward(model, call->states, call->in[0], call->in[1], call->in[2], call->work,
               call->out);
}

/* forces lambda on the rows at q, qd, tau */
static void cn_forces(const fa_model *model, const fa_call *call)
{
    const cn_work w = cn_split(model, call->work + fd_work_size(model));
    fa_real *qdd = call->work + cn_forward_work_size(model);

    cn_forward(model, call->states, call->in[0], call->in[1], call->in[2], call->work,
               qdd);
    memcpy(call->out, w.rhs, (size_t)model->n_constraints * sizeof(fa_real));
}

static size_t cn_forces_work_size(const fa_model *model)
{
    return cn_forward_work_size(model) + (size_t)model->nv;
}

/* phi (q) */
static void cn_violation(const fa_model *model, const fa_call *call)
{
    const cn_work w = cn_split(model, call->work);
    cn_rows(model, call->in[0], NULL, &w);
    memcpy(call->out, w.phi, (size_t)model->n_constraints * sizeof(fa_real));
}

/* A (q) */
static void cn_jacobian(const fa_model *model, const fa_call *call)
{
    const cn_work w = cn_split(model, call->work);
    cn_rows(model, call->in[0], NULL, &w);
    memcpy(call->out, w.A,
           (size_t)(model->n_constraints * model->nv) * sizeof(fa_real));
    for (int i = 0; i < model->nq; i++) {
        call->out[0] +=
            0.0 * call->in[0][i]; /* nothing moves where there is no place */
    }
}

static size_t cn_project_work_size(const fa_model *model)
{
    return mi_work_size(model) + cn_work_size(model) + (size_t)model->nv +
           pos_work_size(model);
}

/* one step towards phi = 0 (L5) */
static void cn_step_positions(const fa_model *model, const fa_real *q, fa_real *work,
                              fa_real *moved)
{
    const mi_work f = mi_split(model, work);
    const cn_work w = cn_split(model, work + mi_work_size(model));
    fa_real *dq = work + mi_work_size(model) + cn_work_size(model);
    fa_real *u = dq + model->nv;

    cn_rows(model, q, NULL, &w);
    mi_factor(model, q, &f);
    cn_factor(model, &f.w, &w);
    memcpy(w.rhs, w.phi, (size_t)model->n_constraints * sizeof(fa_real));
    cn_solve(model, FA_LANES, &w);
    fa_zero(dq, model->nv);
    cn_add(model, &w, dq);
    pos_rates(model, NULL, dq, u);
    pos_step(model, q, u, moved);
}

/* velocities with A qd = 0, nearest in the metric of M (L5) */
static void cn_step_velocities(const fa_model *model, const fa_real *q,
                               const fa_real *qd, fa_real *work, fa_real *moved)
{
    const mi_work f = mi_split(model, work);
    const cn_work w = cn_split(model, work + mi_work_size(model));

    cn_rows(model, q, qd, &w);
    mi_factor(model, q, &f);
    cn_factor(model, &f.w, &w);
    memcpy(w.rhs, w.rate, (size_t)model->n_constraints * sizeof(fa_real));
    cn_solve(model, FA_LANES, &w);
    memcpy(moved, qd, (size_t)model->nv * sizeof(fa_real));
    cn_add(model, &w, moved);
}

#endif
