/*
 * rollout.c -- classical Runge-Kutta of order four, a batch of trajectories in lanes
 *
 *             y = (q, qd), k1 = f(t, y), k2 = f(t + h/2, y + h/2 k1),
 *             k3 = f(t + h/2, y + h/2 k2), k4 = f(t + h, y + h k3),
 *             y += h/6 (k1 + 2 k2 + 2 k3 + k4)
 *             Poses are no vectors: there y is the displacement u from the start of the
 *             step, k = u_dot of Q3, and q moves along u by Q2 (positions.c). With
 *             constraints each step ends with one of L5 (constraints.c).
 * Torque      none; held or linear between samples, each block of lanes then runs
 *             alone; or a function that sees all trajectories at each stage, all
 *             blocks then step together.
 * Source      E. Hairer, S. Norsett, G. Wanner, Solving Ordinary Differential
 *             Equations I (1993), sec. II.1; H. Munthe-Kaas, Applied Numerical
 *             Mathematics 29 (1999) for poses.
 * Checked by  tests/test_simulate.py: closed form runs, order four, equal bits with a
 *             loop over the batch.
 */
#include "call.h"

enum { RK4_TICK = 256 }; /* steps of one block between two looks at Ctrl-C */

/* one block of FA_LANES trajectories; each array nq wide, the widest of all sizes */
typedef struct {
    fa_real *q, *qd, *stage_q, *stage_qd, *tau, *qdd, *sum_q, *sum_qd;
    fa_real *u, *u_rate; /* with poses: displacement of the stage; sum_q is then one */
} rk4_block;

enum { RK4_ARRAYS = 10 };

typedef struct {
    const fa_model *model;
    const fa_rollout *run;
    fa_real *work;
    rk4_block *blocks;
    size_t first, n_blocks; /* blocks that step together */
    size_t done, since;     /* steps of one block: in all, since the last tick */
    double *call_q, *call_qd, *call_tau;
} rk4_group;

static size_t rk4_blocks(const fa_rollout *run)
{
    return (run->count + FA_LANES - 1) / FA_LANES;
}

static size_t rk4_together(const fa_rollout *run)
{
    return run->kind == FA_TORQUE_CALL ? rk4_blocks(run) : 1;
}

/* scratch of the kernels that a step calls */
static size_t rk4_kernel_size(const fa_model *model)
{
    const size_t forward = cn_forward_work_size(model);
    const size_t project = model->n_constraints ? cn_project_work_size(model) : 0;
    const size_t linear = model->fidelity == FA_LINEAR ? li_work_size(model) : 0;
    const size_t most = forward > project ? forward : project;
    return most > linear ? most : linear;
}

/* in units of fa_real: dynamics, states, block headers, arrays for the callback */
static size_t rk4_work_size(const fa_model *model, const fa_rollout *run)
{
    const size_t n = rk4_together(run), nq = (size_t)model->nq;
    const size_t called = run->kind == FA_TORQUE_CALL ? n * 3 * nq : 0;
    const size_t headers =
        (n * sizeof(rk4_block) + sizeof(fa_real) - 1) / sizeof(fa_real);
    return (rk4_kernel_size(model) + n * RK4_ARRAYS * nq + headers + called) *
           sizeof(fa_real);
}

/* trajectory number of a lane; the lanes past the end repeat the last one */
static size_t rk4_at(const rk4_group *g, size_t block, size_t lane)
{
    const size_t i = (g->first + block) * FA_LANES + lane;
    return i < g->run->count ? i : g->run->count - 1;
}

/* samples between lanes and (count, n_samples, size) arrays */
static void rk4_read(const rk4_group *g, size_t block, const double *from,
                     size_t sample, size_t size, fa_real *lanes)
{
    for (size_t w = 0; w < FA_LANES; w++) {
        const double *x =
            from + (rk4_at(g, block, w) * g->run->n_samples + sample) * size;
        for (size_t i = 0; i < size; i++) {
            lanes[i][w] = x[i];
        }
    }
}

static void rk4_write(const rk4_group *g, size_t block, const fa_real *lanes,
                      size_t size, double *to, size_t stride)
{
    for (size_t w = 0; w < FA_LANES; w++) {
        double *x = to + rk4_at(g, block, w) * stride;
        for (size_t i = 0; i < size; i++) {
            x[i] = lanes[i][w];
        }
    }
}

/* forces of one block from samples, the part `phase` into interval k */
static void rk4_sampled(const rk4_group *g, size_t block, size_t k, double phase,
                        fa_real *tau)
{
    const fa_rollout *run = g->run;
    const size_t n = (size_t)run->n_tau;

    for (size_t w = 0; w < FA_LANES; w++) {
        const double *a = run->tau + rk4_at(g, block, w) * run->tau_stride + k * n;
        for (size_t i = 0; i < n; i++) {
            if (run->kind == FA_TORQUE_HOLD || phase == 0.0) {
                tau[i][w] = a[i];
            } else {
                tau[i][w] = a[i] + phase * (a[n + i] - a[i]);
            }
        }
    }
}

/* forces of all blocks at a stage; nonzero if the callback stops the run */
static int rk4_torque(rk4_group *g, double t, size_t k, double phase, int first_stage)
{
    const fa_rollout *run = g->run;
    const size_t nv = (size_t)g->model->nv, nq = (size_t)g->model->nq;
    const size_t n = (size_t)run->n_tau;

    if (run->kind == FA_TORQUE_CALL) {
        for (size_t b = 0; b < g->n_blocks; b++) {
            const rk4_block *s = g->blocks + b;
            rk4_write(g, b, first_stage ? s->q : s->stage_q, nq, g->call_q, nq);
            rk4_write(g, b, first_stage ? s->qd : s->stage_qd, nv, g->call_qd, nv);
        }
        if (run->call(run->context, t, g->call_q, g->call_qd, g->call_tau)) {
            return 1;
        }
    }
    for (size_t b = 0; b < g->n_blocks; b++) {
        fa_real *tau = g->blocks[b].tau;
        if (run->kind == FA_TORQUE_CALL) {
            for (size_t w = 0; w < FA_LANES; w++) {
                const double *x = g->call_tau + rk4_at(g, b, w) * n;
                for (size_t i = 0; i < n; i++) {
                    tau[i][w] = x[i];
                }
            }
        } else if (run->kind != FA_TORQUE_ZERO) {
            rk4_sampled(g, b, k, phase, tau);
        }
    }
    return 0;
}

/* the positions of one stage by displacements from the start of the step (Q2, Q3) */
static void rk4_stage_poses(const fa_model *model, rk4_block *s, const fa_real *qd,
                            int first_stage, double sum_weight, double ahead)
{
    const int n = pos_total(model);

    pos_rates(model, first_stage ? NULL : s->u, qd, s->u_rate);
    for (int i = 0; i < n; i++) {
        const fa_real before = first_stage ? (fa_real){0} : s->sum_q[i];
        s->sum_q[i] = before + sum_weight * s->u_rate[i];
        s->u[i] = ahead * s->u_rate[i];
    }
    pos_step(model, s->q, s->u, s->stage_q);
}

/*
 * One stage of one block: f at (q, qd), summed with weight `sum_weight`, and the next
 * stage's state at `ahead`.
 */
static void rk4_stage(const rk4_group *g, rk4_block *s, int first_stage,
                      double sum_weight, double ahead)
{
    const int nv = g->model->nv;
    const fa_real *q = first_stage ? s->q : s->stage_q;
    const fa_real *qd = first_stage ? s->qd : s->stage_qd;

    if (g->model->fidelity == FA_LINEAR) {
        li_forward(g->model, FA_LANES, q, qd, s->tau, g->work, s->qdd);
    } else {
        cn_forward(g->model, FA_LANES, q, qd, s->tau, g->work, s->qdd);
    }
    if (g->model->any_pose) {
        rk4_stage_poses(g->model, s, qd, first_stage, sum_weight, ahead);
    }
    for (int i = 0; i < nv; i++) {
        const fa_real rate = qd[i], acceleration = s->qdd[i];
        if (first_stage) {
            s->sum_qd[i] = s->qd[i];
        }
        if (!g->model->any_pose) {
            s->sum_q[i] = (first_stage ? s->q[i] : s->sum_q[i]) + sum_weight * rate;
            s->stage_q[i] = s->q[i] + ahead * rate;
        }
        s->sum_qd[i] += sum_weight * acceleration;
        s->stage_qd[i] = s->qd[i] + ahead * acceleration;
    }
}

static void rk4_save(rk4_group *g, size_t sample)
{
    const fa_rollout *run = g->run;
    const size_t nv = (size_t)g->model->nv, nq = (size_t)g->model->nq;
    const size_t n = run->n_samples;

    for (size_t b = 0; b < g->n_blocks; b++) {
        rk4_write(g, b, g->blocks[b].q, nq, run->q + sample * nq, n * nq);
        rk4_write(g, b, g->blocks[b].qd, nv, run->qd + sample * nv, n * nv);
    }
}

/* forces at the start of interval k, as a record */
static void rk4_save_torque(rk4_group *g, size_t sample)
{
    const fa_rollout *run = g->run;
    const size_t n = (size_t)run->n_tau, stride = run->n_samples * n;

    for (size_t b = 0; run->tau_out && b < g->n_blocks; b++) {
        rk4_write(g, b, g->blocks[b].tau, n, run->tau_out + sample * n, stride);
    }
}

/* back on the constraints at the end of a step (L5) */
static void rk4_project(const rk4_group *g, rk4_block *s)
{
    const fa_model *model = g->model;

    cn_step_positions(model, s->q, g->work, s->stage_q);
    memcpy(s->q, s->stage_q, (size_t)model->nq * sizeof(fa_real));
    cn_step_velocities(model, s->q, s->qd, g->work, s->stage_qd);
    memcpy(s->qd, s->stage_qd, (size_t)model->nv * sizeof(fa_real));
}

static int rk4_step(rk4_group *g, double t, double h, size_t k, double phase,
                    double phase_step)
{
    static const double node[4] = {0.0, 0.5, 0.5, 1.0};
    static const double weight[4] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};
    static const double ahead[4] = {0.5, 0.5, 1.0, 0.0};

    for (int stage = 0; stage < 4; stage++) {
        const double part = node[stage];
        if (rk4_torque(g, t + part * h, k, phase + part * phase_step, stage == 0)) {
            return 1;
        }
        if (stage == 0 && phase == 0.0) {
            rk4_save_torque(g, k);
        }
        for (size_t b = 0; b < g->n_blocks; b++) {
            rk4_stage(g, g->blocks + b, stage == 0, h * weight[stage],
                      h * ahead[stage]);
        }
    }
    for (size_t b = 0; b < g->n_blocks; b++) {
        rk4_block *s = g->blocks + b;
        if (g->model->any_pose) {
            pos_step(g->model, s->q, s->sum_q, s->stage_q);
        }
        memcpy(s->q, g->model->any_pose ? s->stage_q : s->sum_q,
               (size_t)g->model->nq * sizeof(fa_real));
        memcpy(s->qd, s->sum_qd, (size_t)g->model->nv * sizeof(fa_real));
        if (g->model->n_constraints > 0) {
            rk4_project(g, s);
        }
    }
    return 0;
}

/* all samples of the blocks that step together; nonzero if the run was stopped */
static int rk4_group_run(rk4_group *g)
{
    const fa_rollout *run = g->run;
    const size_t last = run->n_samples - 1;

    for (size_t b = 0; b < g->n_blocks; b++) {
        rk4_read(g, b, run->q, 0, (size_t)g->model->nq, g->blocks[b].q);
        rk4_read(g, b, run->qd, 0, (size_t)g->model->nv, g->blocks[b].qd);
    }
    for (size_t k = 0; k < last; k++) {
        const double h = (run->t[k + 1] - run->t[k]) / run->substeps;
        for (int j = 0; j < run->substeps; j++) {
            const double phase = (double)j / run->substeps;
            if (rk4_step(g, run->t[k] + j * h, h, k, phase, 1.0 / run->substeps)) {
                return 1;
            }
            g->since += g->n_blocks;
            g->done += g->n_blocks;
            if (run->tick && g->since >= RK4_TICK) {
                g->since = 0;
                if (run->tick(run->context, g->done)) {
                    return 1;
                }
            }
        }
        rk4_save(g, k + 1);
    }
    if (rk4_torque(g, run->t[last], last, 0.0, 1)) {
        return 1;
    }
    rk4_save_torque(g, last);
    return 0;
}

/*
 * Runs every trajectory; q and qd sample 0 are the initial states, samples that are
 * not reached stay as they were. Returns nonzero if a callback stopped the run.
 */
static int rk4_run(const fa_model *model, const fa_rollout *run, void *work)
{
    const size_t together = rk4_together(run), nq = (size_t)model->nq;
    rk4_group g = {.model = model, .run = run, .work = work, .n_blocks = together};

    fa_real *states = g.work + rk4_kernel_size(model);
    fa_real *next = states + together * RK4_ARRAYS * nq;
    g.blocks = (rk4_block *)next;
    next += (together * sizeof(rk4_block) + sizeof(fa_real) - 1) / sizeof(fa_real);
    g.call_q = (double *)next;
    g.call_qd = g.call_q + together * FA_LANES * nq;
    g.call_tau = g.call_qd + together * FA_LANES * nq;
    for (size_t b = 0; b < together; b++) {
        fa_real *s = states + b * RK4_ARRAYS * nq;
        g.blocks[b] =
            (rk4_block){s,          s + nq,     s + 2 * nq, s + 3 * nq, s + 4 * nq,
                        s + 5 * nq, s + 6 * nq, s + 7 * nq, s + 8 * nq, s + 9 * nq};
        fa_zero(g.blocks[b].tau, (int)nq);
    }
    for (g.first = 0; g.first < rk4_blocks(run); g.first += together) {
        if (rk4_group_run(&g)) {
            return 1;
        }
    }
    return 0;
}
