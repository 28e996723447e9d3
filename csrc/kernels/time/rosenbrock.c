/*
 * rosenbrock.c -- ROS34PW2, a linearly implicit method for stiff arms, one block of
 *                 trajectories
 *
 *             y = (q, qd), four stages  (1 - gamma h A) k_i = f(t + c_i h, Y_i)
 *             + h A sum_j<i gamma_ij k_j,  Y_i = y + h sum_j<i alpha_ij k_j,
 *             y += h sum_i b_i k_i                                                 (R2)
 *             A W-method: order three for any matrix A. Here A is what makes an arm
 *             stiff, exactly: modal stiffness K, damping D of modes and joints, the
 *             gains of a feedback (their symmetric part), slopes of the passive forces of
 *             joints (H1 to H3) and M(q) at the start of the step. With k_i = (p_i, a_i), accelerations F_i of the stage and
 *             G_i = sum_j<i gamma_ij a_j, elimination of p_i leaves one symmetric
 *             matrix for all stages,
 *                 w_i = V(Y_i) + h G_i,  p_i = w_i + gamma h a_i,
 *                 (M + gamma h D + gamma^2 h^2 K) a_i = M F_i
 *                     - h (K (sum_j<i gamma_ij p_j + gamma w_i) + D G_i)           (R3)
 *             For poses q is the displacement u from the start of the step, V is u_dot
 *             of Q3 and joins A by its value at u = 0 (positions.c).
 * Error       e of an embedded method of order two, by the energies of its velocities
 *             and strains, diagonal terms alone, twice,
 *                 |e|^2 = sum_i M_ii e_i^2 + sum_j K_jj e_j^2 + springs of joints    (R4)
 *             A step of vibration z = omega h has |e| = 0.04 z^3 of its size and is
 *             itself wrong by 0.026 z^4 = 1.9 |e|^(4/3), which holds to a factor of
 *             1.5 up to large z, where both end.  The report has
 *                 sum of |e|^(4/3), largest size of (q, qd),
 *                 sum of h (|tau_i qd_i| + D_ii qd_i^2)                              (R5)
 *             over all steps, the exponent 4/3 - 1/48, by square roots.
 * Stability   L-stable and stiffly accurate: a stiff mode ends each step where balance
 *             of forces puts it. Modes that a step does not resolve are damped.
 * Not in A    derivatives of M, of velocity forces and of gravity, and of samples with
 *             respect to time.
 * Linear      fidelity: M, and with it the matrix of R3, may be indefinite; LAPACK then
 *             factors it lane by lane.
 * Cost        three forward and one inverse dynamics, a mass matrix, a factor of
 *             size nv.
 * Source      J. Rang, L. Angermann, BIT 45 (2005), 761-787.
 * Checked by  tests/simulation/test_rosenbrock.py: conditions of order from these
 *             coefficients,
 *             observed order, stiff modes, a NumPy twin of the step.
 */
#ifndef FA_ROSENBROCK_C
#define FA_ROSENBROCK_C

#include "calls/time_loop.h"
#include "dense/dense.h"
#include "kernels/bodies/joint_forces.h"
#include "kernels/dynamics/inverse_steps.h"
#include "kernels/kinematics/positions.c"
#include "kernels/time/rollout.h"
#include "lanes/dense_lanes.h"
#include "lanes/dense_states.h"
#include "lanes/lane.h"
#include "model/kinds.h"
#include "model/layout.h"

#ifndef FA_STACK_LANES /* of one arm alone */
#include "kernels/derivatives/linear.c"
#endif

enum { ROS_STAGES = 4 };

/* (1e-6 rad/s)^2 and so on: no motion */
static const double ROS_REST_SQUARE = 1e-12;

static const double ros_gamma = 0.435866521508458999416; /* 6x^3 - 18x^2 + 9x = 1 */
static const double ros_node[ROS_STAGES] = {0.0, 0.871733043016917998832,
                                            0.731579957788852395864, 1.0};
/* alpha_ij, gamma_ij, b_j; gamma_ii is ros_gamma. The paper has 16 digits; those after
 * them follow from its conditions of order. */
static const double ros_ahead[ROS_STAGES][ROS_STAGES] = {
    {0.0},
    {0.871733043016917998832},
    {0.844570600153694242531, -0.112990642364841846667},
    {0.0, 0.0, 1.0}};
static const double ros_mix[ROS_STAGES][ROS_STAGES] = {
    {0.0},
    {-0.871733043016917998832},
    {-0.903380570130440765879, 0.0541806723880953233190},
    {0.242123807060953474737, -1.22325058390451461599, 0.545260255335102141841}};
static const double ros_weight[ROS_STAGES] = {
    0.242123807060953474737, -1.22325058390451461599, 1.545260255335102141841,
    0.435866521508458999416};
/* b_j less those of the embedded method of order two, 1/2 and gamma/2 for j = 3, 4 */
static const double ros_difference[ROS_STAGES] = {
    -0.135985224397240197694, -1.127208291692091443851, 1.045260255335102141841,
    0.217933260754229499708};

/* arrays of a block, in fa_real */
typedef struct {
    fa_real *M, *S;            /* [nv][nv]  mass matrix, matrix of R3 factored */
    fa_real *T;                /* [nv][nv]  its factors by rows (dense_states.h) */
    fa_real *rate[ROS_STAGES]; /* [pos_total]  p_i */
    fa_real *acceleration[ROS_STAGES]; /* [nv]  a_i */
    fa_real *u, *u_sum, *w;            /* [pos_total] */
    fa_real *G, *F, *x;                /* [nv] */
    fa_real *slopes; /* [n_passive][2]  of the passive forces, at the start */
    fa_real *errors; /* [3]  of R5 */
    int *order;      /* [FA_LANES][nv]  of LAPACK */
    ds_block systems;
} ros_own;

static size_t ros_own_size(const fa_model *model)
{
    const size_t nv = (size_t)model->nv, moves = (size_t)pos_total(model);
    return 3 * nv * nv + (ROS_STAGES + 3) * (moves + nv) + nv +
           2 * (size_t)model->n_passive + 3 + ds_work_size(model->nv);
}

static ros_own ros_split(const roll_group *g, const roll_block *s)
{
    const fa_model *model = g->model;
    const size_t nv = (size_t)model->nv, moves = (size_t)pos_total(model);
    ros_own own;
    fa_real *next = s->own;

    own.M = next;
    own.S = own.M + nv * nv;
    own.T = own.S + nv * nv;
    next = own.T + nv * nv;
    own.systems = ds_split(model->nv, roll_states(g, s), next);
    next += ds_work_size(model->nv);
    for (int i = 0; i < ROS_STAGES; i++, next += moves + nv) {
        own.rate[i] = next;
        own.acceleration[i] = next + moves;
    }
    own.u = next;
    own.u_sum = own.u + moves;
    own.w = own.u_sum + moves;
    own.G = own.w + moves;
    own.F = own.G + nv;
    own.x = own.F + nv;
    own.slopes = own.x + nv;
    own.errors = own.slopes + 2 * model->n_passive;
    own.order = (int *)(own.errors + 3);
    return own;
}

static size_t ros_kernel_size(const fa_model *model)
{
    const size_t most = roll_mass_size(model), inverse = id_work(model);
    return most > inverse ? most : inverse;
}

/* h sum_j weight[j] x[j] of the first n stages */
static void ros_combine(int n, const double *weight, fa_real h, fa_real *const *x,
                        int size, fa_real *restrict sum)
{
    fa_zero(sum, size);
    for (int j = 0; j < n; j++) {
        const fa_real *restrict xj = x[j];
        const fa_real c = h * weight[j];
        if (weight[j] == 0.0) {
            continue;
        }
        for (int i = 0; i < size; i++) {
            sum[i] += c * xj[i];
        }
    }
}

/* the symmetric part of a gain */
FA_INLINE fa_real ros_gain(const fa_real *gains, int nu, int diagonal, int i, int j)
{
    if (diagonal) {
        return i == j ? gains[i] : (fa_real){0};
    }
    return 0.5 * (gains[i * nu + j] + gains[j * nu + i]);
}

/* S = M + gamma h D + gamma^2 h^2 K, the lower triangle (R3) */
static void ros_matrix(const roll_group *g, const roll_block *s, const ros_own *own,
                       fa_real h)
{
    const fa_model *model = g->model;
    const int nu = model->n_actuators, nv = model->nv;
    const fa_real first = ros_gamma * h, second = first * first;
    fa_real *S = own->S;

    memcpy(S, own->M, (size_t)(nv * nv) * sizeof(fa_real));
    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        const int n = b->n_modes;
        for (int i = 0; i < b->n_dof; i++) {
            S[(b->joint_at + i) * (nv + 1)] += first * b->damping[i];
        }
        for (int i = 0; i < n; i++) {
            for (int j = 0; j <= i; j++) {
                S[(b->mode_at + i) * nv + b->mode_at + j] +=
                    first * b->modal.C[i * n + j] + second * b->modal.K[i * n + j];
            }
        }
    }
    if (g->run->feedback) {
        const int diagonal = g->run->feedback->diagonal;
        const fa_real *kd = s->gains + roll_gains_size(model, g->run) / 2;
        for (int i = 0; i < nu; i++) {
            for (int j = diagonal ? i : 0; j <= i; j++) {
                const int a = jf_actuator(model, i), b = jf_actuator(model, j);
                S[(a > b ? a * nv + b : b * nv + a)] +=
                    first * ros_gain(kd, nu, diagonal, i, j) +
                    second * ros_gain(s->gains, nu, diagonal, i, j);
            }
        }
    }
    for (int i = 0; i < model->n_passive; i++) {
        const fa_real *slope = own->slopes + 2 * i;
        jf_spread(model->passive + i, nv, second * slope[0] + first * slope[1], S);
    }
}

/* y -= K x + D v of the passive forces of joints */
static void ros_subtract_passive(const fa_model *model, const fa_real *slopes,
                                 const fa_real *x, const fa_real *v, fa_real *y)
{
    for (int i = 0; i < model->n_passive; i++) {
        const fa_passive *p = model->passive + i;
        const fa_real f =
            slopes[2 * i] * jf_relative(p, x, p->joint_move, p->motor_move) +
            slopes[2 * i + 1] * jf_relative(p, v, p->joint, p->motor);
        y[p->joint] -= f;
        if (p->motor >= 0) {
            y[p->motor] += p->ratio * f;
        }
    }
}

/* y -= K x + D v, x in the order of displacements */
static void ros_subtract(const roll_group *g, const roll_block *s, const ros_own *own,
                         const fa_real *x, const fa_real *v, fa_real *y)
{
    const fa_model *model = g->model;
    const int nu = model->n_actuators, modes = pos_total(model) - model->n_modes;

    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        const int n = b->n_modes, at = b->mode_at;
        for (int i = 0; i < b->n_dof; i++) {
            y[b->joint_at + i] -= b->damping[i] * v[b->joint_at + i];
        }
        for (int i = 0; i < n; i++) {
            fa_real sum = {0};
            for (int j = 0; j < n; j++) {
                sum += b->modal.K[i * n + j] * x[modes + at - model->nu + j] +
                       b->modal.C[i * n + j] * v[at + j];
            }
            y[at + i] -= sum;
        }
    }
    if (g->run->feedback) {
        const int diagonal = g->run->feedback->diagonal;
        const fa_real *kd = s->gains + roll_gains_size(model, g->run) / 2;
        for (int i = 0; i < nu; i++) {
            for (int j = diagonal ? i : 0; j < (diagonal ? i + 1 : nu); j++) {
                const int a = jf_actuator(model, i), b = jf_actuator(model, j);
                y[a] -= ros_gain(s->gains, nu, diagonal, i, j) * x[b] +
                        ros_gain(kd, nu, diagonal, i, j) * v[b];
            }
        }
    }
    ros_subtract_passive(model, own->slopes, x, v, y);
}

#ifndef FA_STACK_LANES /* whose arms are not of linear fidelity */
/* factors of a linear model, lane by lane; lanes that are not in use repeat the last */
static void ros_factor_linear(const roll_group *g, const roll_block *s,
                              const ros_own *own)
{
    const int nv = g->model->nv;
    const li_work w = li_split(g->model, g->work);

    for (int lane = 0; lane < roll_states(g, s); lane++) {
        li_read(own->S, nv * nv, lane, w.M);
        fa_dense_factor_symmetric(nv, w.M, own->order + lane * nv, w.scratch);
        li_write(w.M, nv * nv, lane, own->S);
    }
}

static void ros_solve_linear(const roll_group *g, const roll_block *s,
                             const ros_own *own, fa_real *x)
{
    const int nv = g->model->nv, last = roll_states(g, s) - 1;
    const li_work w = li_split(g->model, g->work);

    for (int lane = 0; lane <= last; lane++) {
        li_read(own->S, nv * nv, lane, w.M);
        li_read(x, nv, lane, w.x);
        fa_dense_solve_factored(nv, w.M, own->order + lane * nv, w.x);
        li_write(w.x, nv, lane, x);
    }
    for (int lane = last + 1; lane < FA_LANES; lane++) {
        li_write(w.x, nv, lane, x);
    }
}
#endif

/* mass matrix and factors at the start of a step */
static void ros_prepare(const roll_group *g, const roll_block *s, const ros_own *own,
                        fa_real h)
{
    const fa_model *model = g->model;

    for (int i = 0; i < model->n_passive; i++) {
        const fa_passive *p = model->passive + i;
        fa_real *slope = own->slopes + 2 * i;
        jf_slopes(p, jf_relative(p, s->q, p->joint_at, p->motor_at),
                  jf_relative(p, s->qd, p->joint, p->motor), slope, slope + 1);
    }
    roll_mass(g, s, own->M);
    ros_matrix(g, s, own, h);
#ifndef FA_STACK_LANES
    if (model->fidelity == FA_LINEAR) {
        ros_factor_linear(g, s, own);
        return;
    }
#endif
    ds_factor_symmetric(&own->systems, own->S, own->T);
}

/* a becomes its part of the solution of R3 */
static void ros_solve(const roll_group *g, const roll_block *s, const ros_own *own,
                      fa_real *a)
{
#ifndef FA_STACK_LANES
    if (g->model->fidelity == FA_LINEAR) {
        ros_solve_linear(g, s, own, a);
        return;
    }
#endif
    (void)g, (void)s;
    ds_solve_symmetric(&own->systems, own->S, own->T, a);
}

/* M F of a stage; at the first one, where M is that of F, tau - C without F */
static void ros_forces(const roll_group *g, const roll_block *s, int stage,
                       const ros_own *own, fa_real *forces)
{
    const fa_model *model = g->model;

    if (stage > 0 || model->fidelity == FA_LINEAR) {
        roll_accelerate(g, s, stage == 0, own->F);
        dense_multiply_symmetric(model->nv, own->M, own->F, forces);
        return;
    }
    id_run(model, ID_MOTION, s->q, s->qd, NULL, g->work, own->F);
    for (int i = 0; i < model->nv; i++) {
        forces[i] = s->tau[i] - own->F[i];
    }
}

/* p_i and a_i (R3) */
static void ros_stage(const roll_group *g, roll_block *s, int stage,
                      const roll_time *when, fa_real h)
{
    const fa_model *model = g->model;
    const int nv = model->nv, moves = pos_total(model);
    const fa_real *qd = stage == 0 ? s->qd : s->stage_qd;
    const ros_own own = ros_split(g, s);
    const fa_real one = fa_splat(1.0);
    fa_real *a = own.acceleration[stage], *p = own.rate[stage];

    (void)when;
    if (stage == 0) {
        ros_prepare(g, s, &own, h);
    }
    ros_forces(g, s, stage, &own, a);
    ros_combine(stage, ros_mix[stage], one, own.acceleration, nv, own.G);
    ros_combine(stage, ros_mix[stage], one, own.rate, moves, own.u_sum);
    pos_rates(model, stage == 0 ? NULL : own.u, qd, p);
    pos_rates(model, NULL, own.G, own.w);
    for (int i = 0; i < moves; i++) {
        own.w[i] = p[i] + h * own.w[i];
        own.u_sum[i] = h * (own.u_sum[i] + ros_gamma * own.w[i]);
    }
    for (int i = 0; i < nv; i++) {
        own.G[i] *= h;
    }
    ros_subtract(g, s, &own, own.u_sum, own.G, a);
    ros_solve(g, s, &own, a);
    pos_rates(model, NULL, a, p);
    for (int i = 0; i < moves; i++) {
        p[i] = own.w[i] + ros_gamma * h * p[i];
    }

    /* the state of the next stage */
    if (stage + 1 < ROS_STAGES) {
        const double *ahead = ros_ahead[stage + 1];
        ros_combine(stage + 1, ahead, h, own.rate, moves, own.u);
        ros_combine(stage + 1, ahead, h, own.acceleration, nv, own.x);
        pos_step(model, s->q, own.u, s->stage_q);
        for (int i = 0; i < nv; i++) {
            s->stage_qd[i] = s->qd[i] + own.x[i];
        }
    }
}

/* one entry of the error of a step, over h */
FA_INLINE fa_real ros_entry(fa_real *const *x, int i)
{
    return ros_difference[0] * x[0][i] + ros_difference[1] * x[1][i] +
           ros_difference[2] * x[2][i] + ros_difference[3] * x[3][i];
}

/* adds the error of a step that is not yet taken, the size of the motion and the work of
 * forces and damping, without signs (R4, R5) */
static void ros_judge(const roll_group *g, const roll_block *s, const ros_own *own,
                      fa_real h)
{
    const fa_model *model = g->model;
    const int nv = model->nv, first = pos_total(model) - model->n_modes - model->nu;
    const fa_real *q = s->q + (model->nq - model->n_modes - model->nu), *qd = s->qd;
    fa_real error = {0}, size = {0}, power = {0}, part;

    for (int i = 0; i < nv; i++) {
        const fa_real m = fa_positive(own->M[i * (nv + 1)]);
        const fa_real e = ros_entry(own->acceleration, i);
        error += m * (e * e);
        size += m * (qd[i] * qd[i] + ROS_REST_SQUARE);
        power += dense_size(s->tau[i] * qd[i]);
    }
    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        const int n = b->n_modes;
        for (int i = b->joint_at; i < b->joint_at + b->n_dof; i++) {
            power += b->damping[i - b->joint_at] * (qd[i] * qd[i]);
        }
        for (int i = 0; i < n; i++) {
            const int at = b->mode_at + i;
            const fa_real e = ros_entry(own->rate, first + at);
            error += b->modal.K[i * (n + 1)] * (e * e);
            size += b->modal.K[i * (n + 1)] * (q[at] * q[at]);
            power += b->modal.C[i * (n + 1)] * (qd[at] * qd[at]);
        }
    }
    for (int i = 0; i < model->n_passive; i++) {
        const fa_passive *p = model->passive + i;
        const fa_real *slope = own->slopes + 2 * i;
        const fa_real k = fa_positive(slope[0]), d = fa_positive(slope[1]);
        const fa_real x = jf_relative(p, s->q, p->joint_at, p->motor_at);
        const fa_real v = jf_relative(p, qd, p->joint, p->motor);
        fa_real e = ros_entry(own->rate, p->joint_move);
        if (p->motor >= 0) {
            e -= p->ratio * ros_entry(own->rate, p->motor_move);
        }
        error += k * (e * e);
        size += k * (x * x);
        power += d * (v * v);
    }
    /* error to the power of 2/3, by 1/2 + 1/8 + 1/32 */
    part = fa_sqrt(h * h * error);
    error = part;
    for (int i = 0; i < 2; i++) {
        part = fa_sqrt(fa_sqrt(part));
        error *= part;
    }
    own->errors[0] += error;
    own->errors[1] = fa_select(size > own->errors[1], size, own->errors[1]);
    own->errors[2] += h * power;
}

static void ros_start(const roll_group *g, roll_block *s)
{
    fa_zero(ros_split(g, s).errors, 3);
}

/* adds the errors to the report */
static void ros_end(const roll_group *g, roll_block *s)
{
    const ros_own own = ros_split(g, s);

    for (int lane = 0; lane < roll_states(g, s); lane++) {
        double *row = roll_row(g, s, lane);
        row[FA_REPORT_ERROR] += own.errors[0][lane];
        row[FA_REPORT_SCALE] = fmax(row[FA_REPORT_SCALE], own.errors[1][lane]);
        row[FA_REPORT_WORK] += own.errors[2][lane];
    }
}

static void ros_finish(const roll_group *g, roll_block *s, fa_real h)
{
    const fa_model *model = g->model;
    const int nv = model->nv, moves = pos_total(model);
    const ros_own own = ros_split(g, s);

    if (g->run->report) {
        ros_judge(g, s, &own, h);
    }
    ros_combine(ROS_STAGES, ros_weight, h, own.rate, moves, own.u);
    ros_combine(ROS_STAGES, ros_weight, h, own.acceleration, nv, own.x);
    pos_step(model, s->q, own.u, s->stage_q);
    memcpy(s->q, s->stage_q, (size_t)model->nq * sizeof(fa_real));
    for (int i = 0; i < nv; i++) {
        s->qd[i] += own.x[i];
    }
}

static const roll_method ros_method = {.n_stages = ROS_STAGES,
                                       .node = ros_node,
                                       .own_size = ros_own_size,
                                       .kernel_size = ros_kernel_size,
                                       .start = ros_start,
                                       .stage = ros_stage,
                                       .finish = ros_finish,
                                       .end = ros_end};

#endif
