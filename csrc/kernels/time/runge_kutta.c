/*
 * runge_kutta.c -- classical Runge-Kutta of order four, one block of trajectories
 *
 *             y = (q, qd), k1 = f(t, y), k2 = f(t + h/2, y + h/2 k1),
 *             k3 = f(t + h/2, y + h/2 k2), k4 = f(t + h, y + h k3),
 *             y += h/6 (k1 + 2 k2 + 2 k3 + k4)
 *             Poses are no vectors: there y is the displacement u from the start of the
 *             step, k = u_dot of Q3, and q moves along u by Q2 (positions.c). With
 *             constraints each step ends with one of L5 (constraints.c).
 * Error       if there is a report, beside an embedded method of order two,
 *                 qd_0 + h/3 (4 qdd_3 - qdd_2),                                     (R8)
 *             of the same stages. For y' = lambda y, z = lambda h, the difference is
 *             z^3 (1 - z/4)/6, which is zero for no decay or vibration; the step itself
 *             misses z^5/120, and more where it is unstable (step_errors.h).
 * Source      E. Hairer, S. Norsett, G. Wanner, Solving Ordinary Differential
 *             Equations I (1993), sec. II.1; H. Munthe-Kaas, Applied Numerical
 *             Mathematics 29 (1999) for poses.
 * Checked by  tests/simulation/test_simulate.py: closed form runs, order four,
 *             equal bits with a
 *             loop over the batch.
 */
#ifndef FA_RUNGE_KUTTA_C
#define FA_RUNGE_KUTTA_C

#include "kernels/dynamics/constraints.c"
#include "kernels/kinematics/positions.c"
#include "kernels/time/rollout.h"
#include "kernels/time/step_errors.h"
#include "lanes/lane.h"
#include "model/layout.h"

/* arrays of a block, each nq wide, the widest of all sizes */
typedef struct {
    fa_real *qdd, *sum_q, *sum_qd;
    fa_real *u, *u_rate; /* with poses: displacement of the stage; sum_q is then one */
    fa_real *other;      /* velocities of the embedded method */
    fa_real *mass;       /* diagonal at the start of the run */
    step_errors *errors;
} rk4_own;

enum { RK4_ARRAYS = 6 };

static size_t rk4_own_size(const fa_model *model)
{
    return RK4_ARRAYS * (size_t)model->nq + se_size(model);
}

static rk4_own rk4_split(const fa_model *model, const roll_block *s)
{
    const size_t nq = (size_t)model->nq;
    return (rk4_own){s->own,          s->own + nq,
                     s->own + 2 * nq, s->own + 3 * nq,
                     s->own + 4 * nq, s->own + 5 * nq,
                     s->own + 6 * nq, (step_errors *)(s->own + RK4_ARRAYS * nq)};
}

static size_t rk4_kernel_size(const fa_model *model)
{
    const size_t mass = se_kernel_size(model);
    const size_t project = model->n_constraints ? cn_project_work_size(model) : 0;
    return mass > project ? mass : project;
}

static void rk4_start(const roll_group *g, roll_block *s)
{
    se_start(g, s, rk4_split(g->model, s).errors);
}

static void rk4_end(const roll_group *g, roll_block *s)
{
    se_end(g, s, rk4_split(g->model, s).errors);
}

/* what a stage adds to the velocities of the embedded method (R8) */
static void rk4_embed(const roll_group *g, const roll_block *s, int stage,
                      const rk4_own *own, fa_real h)
{
    const fa_real weight = (stage == 1 ? -1.0 / 3.0 : 4.0 / 3.0) * h;

    for (int i = 0; i < g->model->nv; i++) {
        own->other[i] = (stage == 1 ? s->qd[i] : own->other[i]) + weight * own->qdd[i];
    }
}

/* the positions of one stage by displacements from the start of the step (Q2, Q3) */
static void rk4_stage_poses(const fa_model *model, roll_block *s, const rk4_own *own,
                            const fa_real *qd, int first_stage, fa_real sum_weight,
                            fa_real ahead)
{
    const int n = pos_total(model);

    pos_rates(model, first_stage ? NULL : own->u, qd, own->u_rate);
    for (int i = 0; i < n; i++) {
        const fa_real before = first_stage ? (fa_real){0} : own->sum_q[i];
        own->sum_q[i] = before + sum_weight * own->u_rate[i];
        own->u[i] = ahead * own->u_rate[i];
    }
    pos_step(model, s->q, own->u, s->stage_q);
}

static void rk4_stage(const roll_group *g, roll_block *s, int stage,
                      const roll_time *when, fa_real h)
{
    static const double weight[4] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};
    static const double part[4] = {0.5, 0.5, 1.0, 0.0};
    const fa_real sum_weight = h * weight[stage], ahead = h * part[stage];
    const rk4_own own = rk4_split(g->model, s);
    const fa_real *qd = stage == 0 ? s->qd : s->stage_qd;

    (void)when;
    roll_accelerate(g, s, stage == 0, own.qdd);
    if ((stage == 1 || stage == 2) && se_is_judged(g)) {
        rk4_embed(g, s, stage, &own, h);
    }
    if (g->model->any_pose) {
        rk4_stage_poses(g->model, s, &own, qd, stage == 0, sum_weight, ahead);
    }
    for (int i = 0; i < g->model->nv; i++) {
        const fa_real rate = qd[i], acceleration = own.qdd[i];
        if (stage == 0) {
            own.sum_qd[i] = s->qd[i];
        }
        if (!g->model->any_pose) {
            own.sum_q[i] = (stage == 0 ? s->q[i] : own.sum_q[i]) + sum_weight * rate;
            s->stage_q[i] = s->q[i] + ahead * rate;
        }
        own.sum_qd[i] += sum_weight * acceleration;
        s->stage_qd[i] = s->qd[i] + ahead * acceleration;
    }
}

/* back on the constraints at the end of a step (L5) */
static void rk4_project(const roll_group *g, roll_block *s)
{
    const fa_model *model = g->model;

    cn_step_positions(model, s->q, g->work, s->stage_q);
    memcpy(s->q, s->stage_q, (size_t)model->nq * sizeof(fa_real));
    cn_step_velocities(model, s->q, s->qd, g->work, s->stage_qd);
    memcpy(s->qd, s->stage_qd, (size_t)model->nv * sizeof(fa_real));
}

static void rk4_finish(const roll_group *g, roll_block *s, fa_real h)
{
    const fa_model *model = g->model;
    const rk4_own own = rk4_split(model, s);

    if (se_is_judged(g)) {
        se_add(g, s, own.other, own.sum_qd, h, own.errors);
    }
    if (model->any_pose) {
        pos_step(model, s->q, own.sum_q, s->stage_q);
    }
    memcpy(s->q, model->any_pose ? s->stage_q : own.sum_q,
           (size_t)model->nq * sizeof(fa_real));
    memcpy(s->qd, own.sum_qd, (size_t)model->nv * sizeof(fa_real));
    if (model->n_constraints > 0) {
        rk4_project(g, s);
    }
}

static const double rk4_node[4] = {0.0, 0.5, 0.5, 1.0};
static const roll_method rk4_method = {.n_stages = 4,
                                       .node = rk4_node,
                                       .own_size = rk4_own_size,
                                       .kernel_size = rk4_kernel_size,
                                       .start = rk4_start,
                                       .stage = rk4_stage,
                                       .finish = rk4_finish,
                                       .end = rk4_end};

#endif
