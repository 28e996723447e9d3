/*
 * linear.c -- everything that an arm of linear fidelity computes, state by state
 *
 *             tau = M qdd + C with M, C and Jacobians of linear_model.h; qdd, M^-1 by
 *             LAPACK with a symmetric factor: M may be indefinite, log det M is then NaN.
 *             Couplings, the only constraints of such arms, have constant rows A; with
 *             violations phi and the rate s of stabilization (constraints.c, L3, L4)
 *                 [ M  A' ] [   qdd   ]   [       tau - C         ]
 *                 [ A  0  ] [ -lambda ] = [ -2 s A qd - s^2 phi   ]             (L12)
 * Source      S. Cibicik, O. Egeland, IEEE Trans. Robotics 37, 2021, eq. 112.
 * Checked by  tests/dynamics/test_linear_model.py
 */
#ifndef FA_LINEAR_C
#define FA_LINEAR_C

#include "calls/call.h"
#include "dense/dense.h"
#include "kernels/bodies/followers.h"
#include "kernels/bodies/joint_forces.h"
#include "kernels/derivatives/linear_model.h"
#include "kernels/derivatives/rigid_tangents.c"
#include "kernels/derivatives/tangent.c"
#include "kernels/kinematics/in_base.c"
#include "kernels/kinematics/kinematics.c"
#include "kernels/kinematics/positions.c"
#include "lanes/lane.h"
#include "model/kinds.h"
#include "model/layout.h"

/* doubles of one state */
typedef struct {
    double *q, *qd, *x, *C, *M, *columns, *scratch;
    int *order;
    /* of couplings: independent directions [m][nv], (L12) and its right side, lambda [m] */
    double *rows, *both, *side, *lambda;
} li_work;

/* rows that are independent to this part of their length */
#define LI_INDEPENDENT 1e-10

static size_t li_coupled_size(const fa_model *model)
{
    const size_t nv = (size_t)model->nv, m = (size_t)model->n_couplings, n = nv + m;
    return m == 0 ? 0 : m * nv + n * n + 4 * n + m;
}

static size_t li_work_size(const fa_model *model)
{
    const size_t nv = (size_t)model->nv, nq = (size_t)model->nq;
    const size_t doubles = nq + 4 * nv + 8 * nv + 2 * nv * nv + nv +
                           fa_linear_work_size(model) + li_coupled_size(model);
    return (doubles + FA_LANES - 1) / FA_LANES;
}

static li_work li_split(const fa_model *model, fa_real *work)
{
    const size_t nv = (size_t)model->nv;
    li_work w;
    w.q = (double *)work;
    w.qd = w.q + model->nq;
    w.x = w.qd + nv;
    w.C = w.x + nv;
    w.M = w.C + nv;
    w.columns = w.M + nv * nv; /* [nv][nv] or [6][nv] */
    w.order = (int *)(w.columns + nv * nv + 6 * nv);
    w.rows = w.columns + nv * nv + 8 * nv;
    const size_t m = (size_t)model->n_couplings, n = nv + m;
    w.both = w.rows + m * nv;
    w.side = w.both + n * n;
    w.lambda = w.side + 4 * n;
    w.scratch = w.rows + li_coupled_size(model);
    return w;
}

static void li_read(const fa_real *lanes, int n, int lane, double *x)
{
    for (int i = 0; i < n; i++) {
        x[i] = lanes[i][lane];
    }
}

static void li_write(const double *x, int n, int lane, fa_real *lanes)
{
    for (int i = 0; i < n; i++) {
        lanes[i][lane] = x[i];
    }
}

/* y += M x */
static void li_multiply(int nv, const double *M, const double *x, double *y)
{
    for (int i = 0; i < nv; i++) {
        for (int j = 0; j < nv; j++) {
            y[i] += M[i * nv + j] * x[j];
        }
    }
}

/* whether row i of the couplings is independent of those before it, of which `count`
 * have left orthonormal directions in w.rows; then it leaves one as well */
static int li_is_independent(const fa_model *model, int i, int count, const li_work *w)
{
    const int nv = model->nv, nu = model->nu;
    const double *c = model->couplings + (size_t)i * (size_t)(nu + 1);
    double *rest = w->rows + count * nv, size = 0.0, left = 0.0;

    for (int j = 0; j < nv; j++) {
        rest[j] = j < nu ? c[j] : 0.0;
        size += rest[j] * rest[j];
    }
    for (int k = 0; k < 2 * count; k++) { /* twice, for rounding */
        const double *known = w->rows + k % count * nv;
        double part = 0.0;
        for (int j = 0; j < nv; j++) {
            part += known[j] * rest[j];
        }
        for (int j = 0; j < nv; j++) {
            rest[j] -= part * known[j];
        }
    }
    for (int j = 0; j < nv; j++) {
        left += rest[j] * rest[j];
    }
    if (!(left > LI_INDEPENDENT * LI_INDEPENDENT * size)) {
        return 0;
    }
    for (int j = 0; j < nv; j++) {
        rest[j] /= sqrt(left);
    }
    return 1;
}

/* 2 s A qd + s^2 phi of row i of the couplings */
static double li_stabilization(const fa_model *model, int i, const li_work *w)
{
    const int nu = model->nu;
    const double *c = model->couplings + (size_t)i * (size_t)(nu + 1);
    const double s = model->stabilization;
    double phi = -c[nu], rate = 0.0;

    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        for (int j = 0; j < b->n_dof && !pos_is_pose(b); j++) {
            phi += c[b->joint_at + j] * w->q[b->position_at + j];
            rate += c[b->joint_at + j] * w->qd[b->joint_at + j];
        }
    }
    return 2.0 * s * rate + s * s * phi;
}

/* solves (L12) for M in w.M and tau - C in w.x, which becomes qdd; rows that others imply
 * have no force */
static void li_couple(const fa_model *model, const li_work *w)
{
    const int nv = model->nv, nu = model->nu, m = model->n_couplings, n = nv + m;
    double *K = w->both, *b = w->side;
    int count = 0;

    memset(K, 0, (size_t)(n * n) * sizeof *K);
    for (int i = 0; i < nv; i++) {
        memcpy(K + i * n, w->M + i * nv, (size_t)nv * sizeof *K);
        b[i] = w->x[i];
    }
    for (int i = 0; i < m; i++) {
        const double *c = model->couplings + (size_t)i * (size_t)(nu + 1);
        const int row = nv + i, some = li_is_independent(model, i, count, w);
        count += some;
        for (int j = 0; j < nu && some; j++) {
            K[row * n + j] = K[j * n + row] = c[j];
        }
        K[row * n + row] = some ? 0.0 : 1.0;
        b[row] = some ? -li_stabilization(model, i, w) : 0.0;
    }
    fa_dense_solve_symmetric(n, 1, K, b, (int *)(void *)(b + n), b + 2 * n);
    memcpy(w->x, b, (size_t)nv * sizeof *b);
    for (int i = 0; i < m; i++) {
        w->lambda[i] = -b[nv + i];
    }
}

/* qdd of one state in w.x, from q, qd and tau in w.q, w.qd and w.x */
static void li_accelerate(const fa_model *model, const li_work *w)
{
    const int nv = model->nv;

    fa_linear_mass(model, w->q, w->scratch, w->M);
    fa_linear_forces(model, w->q, w->qd, w->scratch, w->C);
    for (int i = 0; i < nv; i++) {
        w->x[i] -= w->C[i];
    }
    if (model->n_couplings > 0) {
        li_couple(model, w);
    } else {
        fa_dense_solve_symmetric(nv, 1, w->M, w->x, w->order, w->scratch);
    }
}

/* accelerations of `states` states; the last of them fills unused lanes */
static void li_forward(const fa_model *model, int states, const fa_real *q,
                       const fa_real *qd, const fa_real *tau, fa_real *work,
                       fa_real *qdd)
{
    const li_work w = li_split(model, work);
    const int nv = model->nv;

    for (int lane = 0; lane < FA_LANES; lane++) {
        if (lane < states) {
            li_read(q, model->nq, lane, w.q);
            li_read(qd, nv, lane, w.qd);
            li_read(tau, nv, lane, w.x);
            li_accelerate(model, &w);
        }
        li_write(w.x, nv, lane, qdd);
    }
}

/* forces lambda of the couplings */
static void li_constraint_forces(const fa_model *model, const fa_call *call)
{
    const li_work w = li_split(model, call->work);

    fa_zero(call->out, model->n_couplings);
    for (int lane = 0; lane < call->states; lane++) {
        li_read(call->in[0], model->nq, lane, w.q);
        li_read(call->in[1], model->nv, lane, w.qd);
        li_read(call->in[2], model->nv, lane, w.x);
        li_accelerate(model, &w);
        li_write(w.lambda, model->n_couplings, lane, call->out);
    }
}

static void li_forward_dynamics(const fa_model *model, const fa_call *call)
{
    li_forward(model, call->states, call->in[0], call->in[1], call->in[2], call->work,
               call->out);
}

/* what a state needs, and the result of it */
enum { LI_INVERSE, LI_BIAS, LI_GRAVITY, LI_APPLY, LI_SOLVE, LI_KINETIC };

static void li_vector(const fa_model *model, const fa_call *call, int what)
{
    const li_work w = li_split(model, call->work);
    const int nv = model->nv;

    fa_zero(call->out, what == LI_KINETIC ? 1 : nv);
    for (int lane = 0; lane < call->states; lane++) {
        li_read(call->in[0], model->nq, lane, w.q);
        memset(w.C, 0, (size_t)nv * sizeof *w.C);
        if (what == LI_INVERSE || what == LI_BIAS) {
            li_read(call->in[1], nv, lane, w.qd);
            fa_linear_forces(model, w.q, w.qd, w.scratch, w.C);
        } else if (what == LI_GRAVITY) {
            fa_linear_forces(model, w.q, NULL, w.scratch, w.C);
        }
        if (what != LI_BIAS && what != LI_GRAVITY) {
            li_read(call->in[what == LI_INVERSE ? 2 : 1], nv, lane, w.x);
            fa_linear_mass(model, w.q, w.scratch, w.M);
        }
        if (what == LI_SOLVE) {
            fa_dense_solve_symmetric(nv, 1, w.M, w.x, w.order, w.scratch);
            memcpy(w.C, w.x, (size_t)nv * sizeof *w.C);
        } else if (what != LI_BIAS && what != LI_GRAVITY) {
            li_multiply(nv, w.M, w.x, w.C);
        }
        for (int i = 0; i < nv && what == LI_KINETIC; i++) {
            call->out[0][lane] += 0.5 * w.C[i] * w.x[i];
        }
        if (what != LI_KINETIC) {
            li_write(w.C, nv, lane, call->out);
        }
    }
}

static void li_inverse_dynamics(const fa_model *model, const fa_call *call)
{
    li_vector(model, call, LI_INVERSE);
}

static void li_bias_forces(const fa_model *model, const fa_call *call)
{
    li_vector(model, call, LI_BIAS);
}

static void li_gravity_forces(const fa_model *model, const fa_call *call)
{
    li_vector(model, call, LI_GRAVITY);
}

static void li_apply(const fa_model *model, const fa_call *call)
{
    li_vector(model, call, LI_APPLY);
}

static void li_apply_inverse(const fa_model *model, const fa_call *call)
{
    li_vector(model, call, LI_SOLVE);
}

static void li_kinetic(const fa_model *model, const fa_call *call)
{
    li_vector(model, call, LI_KINETIC);
}

static void li_mass_matrix(const fa_model *model, const fa_call *call)
{
    const li_work w = li_split(model, call->work);
    const int size = model->nv * model->nv;

    fa_zero(call->out, size);
    for (int lane = 0; lane < call->states; lane++) {
        li_read(call->in[0], model->nq, lane, w.q);
        fa_linear_mass(model, w.q, w.scratch, w.M);
        li_write(w.M, size, lane, call->out);
    }
}

static void li_mass_inverse(const fa_model *model, const fa_call *call)
{
    const li_work w = li_split(model, call->work);
    const int nv = model->nv;

    fa_zero(call->out, nv * nv);
    for (int lane = 0; lane < call->states; lane++) {
        li_read(call->in[0], model->nq, lane, w.q);
        fa_linear_mass(model, w.q, w.scratch, w.M);
        for (int i = 0; i < nv * nv; i++) {
            w.columns[i] = i % (nv + 1) == 0;
        }
        fa_dense_solve_symmetric(nv, nv, w.M, w.columns, w.order, w.scratch);
        for (int i = 0; i < nv; i++) { /* one triangle for both */
            for (int j = 0; j <= i; j++) {
                w.columns[j * nv + i] = w.columns[i * nv + j];
            }
        }
        li_write(w.columns, nv * nv, lane, call->out);
    }
}

static void li_log_det(const fa_model *model, const fa_call *call)
{
    const li_work w = li_split(model, call->work);
    const int nv = model->nv;

    call->out[0] = (fa_real){0};
    for (int lane = 0; lane < call->states; lane++) {
        li_read(call->in[0], model->nq, lane, w.q);
        fa_linear_mass(model, w.q, w.scratch, w.M);
        w.x[0] = 0.0;
        memset(w.x, 0, (size_t)nv * sizeof *w.x);
        fa_dense_solve(nv, 1, w.M, w.x); /* NaN if M is not positive definite */
        for (int i = 0; i < nv; i++) {
            call->out[0][lane] += 2.0 * log(w.M[i * (nv + 1)]) + w.x[i];
        }
    }
}

/* J, J qd or J' f */
static void li_walk(const fa_model *model, const fa_call *call, int what)
{
    const li_work w = li_split(model, call->work);
    const int nv = model->nv;
    const int size = what == KIN_COLUMNS ? 6 * nv : what == KIN_VELOCITY ? 6 : nv;

    fa_zero(call->out, size);
    for (int lane = 0; lane < call->states; lane++) {
        li_read(call->in[0], model->nq, lane, w.q);
        fa_linear_jacobian(model, call->index, w.q, w.scratch, w.columns);
        for (int i = 0; i < 6 * nv; i++) {
            if (what == KIN_COLUMNS) {
                call->out[i][lane] = w.columns[i];
            } else if (what == KIN_VELOCITY) {
                call->out[i / nv][lane] += w.columns[i] * call->in[1][i % nv][lane];
            } else {
                call->out[i % nv][lane] += w.columns[i] * call->in[1][i / nv][lane];
            }
        }
    }
}

static void li_jacobian(const fa_model *model, const fa_call *call)
{
    li_walk(model, call, KIN_COLUMNS);
}

static void li_node_velocity(const fa_model *model, const fa_call *call)
{
    li_walk(model, call, KIN_VELOCITY);
}

static void li_wrench_forces(const fa_model *model, const fa_call *call)
{
    li_walk(model, call, KIN_FORCES);
}

IB_TWISTS(li_jacobian, model->nv)
IB_TWISTS(li_node_velocity, 1)
IB_WRENCH(li_wrench_forces)

static size_t li_base_work_size(const fa_model *model)
{
    return li_work_size(model) + kin_node_work_size(model);
}

/* scratch of the Jacobians of all bodies, in doubles: q, qd, J, their rates */
static size_t li_links_work_size(const fa_model *model)
{
    const size_t nv = (size_t)model->nv, size = 6 * nv * (size_t)model->n_links;
    const size_t doubles =
        (size_t)model->nq + nv + 2 * size + fa_linear_links_work_size(model);
    return (doubles + FA_LANES - 1) / FA_LANES;
}

enum { LI_LINK_JACOBIANS, LI_LINK_RATES, LI_LINK_VELOCITIES, LI_LINK_ACCELERATIONS };

/* J, its rate, J qd, or the rate of J qd */
static void li_links(const fa_model *model, const fa_call *call, int what)
{
    const int nv = model->nv, size = 6 * nv * model->n_links;
    const int vector = what >= LI_LINK_VELOCITIES, rated = what % 2;
    double *q = (double *)call->work, *qd = q + model->nq, *J = qd + nv;
    double *rate = J + size, *scratch = rate + size;
    const double *result = rated ? rate : J;

    fa_zero(call->out, vector ? 6 * model->n_links : size);
    for (int lane = 0; lane < call->states; lane++) {
        li_read(call->in[0], model->nq, lane, q);
        if (call->in[1]) {
            li_read(call->in[1], nv, lane, qd);
        }
        fa_linear_link_jacobians(model, q, rated ? qd : NULL, scratch, J, rate);
        if (!vector) {
            li_write(result, size, lane, call->out);
        }
        for (int i = 0; i < (vector ? size : 0); i++) {
            call->out[i / nv][lane] += result[i] * qd[i % nv];
            if (rated) {
                call->out[i / nv][lane] += J[i] * call->in[2][i % nv][lane];
            }
        }
    }
}

static void li_link_jacobians(const fa_model *model, const fa_call *call)
{
    li_links(model, call, LI_LINK_JACOBIANS);
}

static void li_link_jacobian_rates(const fa_model *model, const fa_call *call)
{
    li_links(model, call, LI_LINK_RATES);
}

static void li_link_velocities(const fa_model *model, const fa_call *call)
{
    li_links(model, call, LI_LINK_VELOCITIES);
}

static void li_link_accelerations(const fa_model *model, const fa_call *call)
{
    li_links(model, call, LI_LINK_ACCELERATIONS);
}

static size_t li_tangents_work_size(const fa_model *model)
{
    const size_t nv = (size_t)model->nv;
    const size_t doubles =
        (size_t)model->nq + 2 * nv + 2 * nv * nv + fa_linear_tangents_work_size(model);
    return (doubles + FA_LANES - 1) / FA_LANES;
}

/* derivatives of inverse dynamics of `states` states; the last fills unused lanes */
static void li_tangents(const fa_model *model, int states, int inertial,
                        const fa_real *q, const fa_real *qd, const fa_real *qdd,
                        fa_real *work, fa_real *dq, fa_real *dqd)
{
    const int nv = model->nv, size = nv * nv;
    double *x = (double *)work, *v = x + model->nq, *a = v + nv, *result = a + nv;

    for (int lane = 0; lane < FA_LANES; lane++) {
        if (lane < states) {
            li_read(q, model->nq, lane, x);
            li_read(qd, nv, lane, v);
            li_read(qdd, nv, lane, a);
            fa_linear_tangents(model, inertial, x, v, a, result + 2 * size, result,
                               result + size);
        }
        li_write(result, size, lane, dq);
        li_write(result + size, size, lane, dqd);
    }
}

/* derivatives of inverse dynamics of any model: scratch, in fa_real, and all lanes */
static size_t tg_work_size(const fa_model *model)
{
    if (model->tree) {
        const size_t n = (size_t)model->tree->nv;
        return (size_t)model->tree->nq + 2 * n + 2 * n * n + n * (size_t)model->nv +
               tg_work_size(model->tree);
    }
    return model->fidelity == FA_LINEAR ? li_tangents_work_size(model)
           : rt_knows(model)            ? rt_work_size(model)
                                        : tg_tree_work_size(model);
}

FA_NOINLINE void tg_run(const fa_model *model, int states, const fa_real *q,
                        const fa_real *qd, const fa_real *qdd, fa_real *work,
                        fa_real *dq, fa_real *dqd);

/* of a model with a tree (L6) */
FA_NOINLINE void tg_run_tree(const fa_model *model, int states, const fa_real *q,
                             const fa_real *qd, const fa_real *qdd, fa_real *work,
                             fa_real *dq, fa_real *dqd)
{
    const fa_model *tree = model->tree;
    const int n = tree->nv;
    fa_real *full_q = work, *full_qd = full_q + tree->nq, *full_qdd = full_qd + n;
    fa_real *full_dq = full_qdd + n, *full_dqd = full_dq + n * n;
    fa_real *half = full_dqd + n * n;

    fo_positions(model, q, full_q);
    fo_velocities(model, qd, full_qd);
    fo_velocities(model, qdd, full_qdd);
    tg_run(tree, states, full_q, full_qd, full_qdd, half + n * model->nv, full_dq,
           full_dqd);
    fo_sum_both(model, full_dq, half, dq);
    fo_sum_both(model, full_dqd, half, dqd);
}

/* of linear models those of `states` states alone */
FA_NOINLINE void tg_run(const fa_model *model, int states, const fa_real *q,
                        const fa_real *qd, const fa_real *qdd, fa_real *work,
                        fa_real *dq, fa_real *dqd)
{
    if (model->tree) {
        tg_run_tree(model, states, q, qd, qdd, work, dq, dqd);
        return;
    }
    if (model->fidelity == FA_LINEAR) {
        li_tangents(model, states, 0, q, qd, qdd, work, dq, dqd);
    } else if (rt_knows(model)) {
        rt_tangents(model, q, qd, qdd, work, dq, dqd);
    } else {
        tg_tree(model, 0, q, qd, qdd, work, dq, dqd);
    }
    jf_derivatives_add(model, q, qd, dq, dqd);
}

/* d tau / d q, then d tau / d qd: output [2][nv][nv] */
static void tg_derivatives(const fa_model *model, const fa_call *call)
{
    tg_run(model, call->states, call->in[0], call->in[1], call->in[2], call->work,
           call->out, call->out + model->nv * model->nv);
}

/* the same without gravity, springs and dampers; dqd is of no use */
static void tg_inertial(const fa_model *model, int states, const fa_real *q,
                        const fa_real *qd, const fa_real *qdd, fa_real *work,
                        fa_real *dq, fa_real *dqd)
{
    fa_model weightless = *model;

    for (int i = 0; i < 3; i++) {
        weightless.gravity[i] = 0.0;
    }
    if (model->fidelity == FA_LINEAR) {
        li_tangents(&weightless, states, 1, q, qd, qdd, work, dq, dqd);
    } else if (rt_knows(model)) {
        rt_tangents(&weightless, q, qd, qdd, work, dq, dqd);
    } else {
        tg_tree(&weightless, 1, q, qd, qdd, work, dq, dqd);
    }
}

/* derivatives of the Jacobian of a node, state by state */
static size_t li_jacobian_tangents_work_size(const fa_model *model)
{
    const size_t nv = (size_t)model->nv;
    const size_t doubles =
        (size_t)model->nq + 6 * nv * nv + fa_linear_tangents_work_size(model);
    return (doubles + FA_LANES - 1) / FA_LANES;
}

static void li_jacobian_tangents(const fa_model *model, const fa_call *call)
{
    const int size = 6 * model->nv * model->nv;
    double *q = (double *)call->work, *dJ = q + model->nq;

    fa_zero(call->out, size);
    for (int lane = 0; lane < call->states; lane++) {
        li_read(call->in[0], model->nq, lane, q);
        fa_linear_jacobian_tangents(model, call->index, q, dJ + size, dJ);
        li_write(dJ, size, lane, call->out);
    }
}

#endif
