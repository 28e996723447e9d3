/*
 * rollout.c -- the time loop: a batch of trajectories in lanes, by any of the methods
 *
 * Each block of lanes runs alone through all times, unless a function gives the forces:
 * it sees all trajectories at each stage, all blocks then step together.
 *
 * Checked by  tests/test_simulate.py, tests/test_simulate_calls.py.
 */
#include "rollout.h"

enum { ROLL_TICK = 256 }; /* steps of one block between two looks at Ctrl-C */

static const roll_method *roll_method_of(const fa_rollout *run)
{
    return run->method == FA_ROS34PW2 ? &ros_method : &rk4_method;
}

static size_t roll_blocks(const fa_rollout *run)
{
    return (run->count + FA_LANES - 1) / FA_LANES;
}

static size_t roll_together(const fa_rollout *run)
{
    return run->kind == FA_TORQUE_CALL ? roll_blocks(run) : 1;
}

/* fa_real of one block: states, stages and forces nq wide, gains, arrays of the method */
static size_t roll_block_size(const fa_model *model, const fa_rollout *run)
{
    return 5 * (size_t)model->nq + roll_gains_size(model, run) +
           roll_method_of(run)->own_size(model);
}

/* in bytes: dynamics, states, block headers, a sample, arrays for the callback */
static size_t roll_work_size(const fa_model *model, const fa_rollout *run)
{
    const size_t n = roll_together(run), nq = (size_t)model->nq;
    const size_t called = run->kind == FA_TORQUE_CALL ? n * 3 * nq : 0;
    const size_t headers =
        (n * sizeof(roll_block) + sizeof(fa_real) - 1) / sizeof(fa_real);
    return (roll_method_of(run)->kernel_size(model) + n * roll_block_size(model, run) +
            headers + nq + called) *
           sizeof(fa_real);
}

static void roll_save(roll_group *g, size_t sample)
{
    const fa_rollout *run = g->run;
    const size_t nv = (size_t)g->model->nv, nq = (size_t)g->model->nq;
    const size_t n = run->n_samples;

    for (size_t b = 0; b < g->n_blocks; b++) {
        roll_write(g, b, g->blocks[b].q, nq, run->q + sample * nq, n * nq);
        roll_write(g, b, g->blocks[b].qd, nv, run->qd + sample * nv, n * nv);
    }
}

/* forces at the start of interval k, as a record */
static void roll_save_torque(roll_group *g, size_t sample)
{
    const fa_rollout *run = g->run;
    const size_t n = (size_t)run->n_tau, stride = run->n_samples * n;

    for (size_t b = 0; run->tau_out && b < g->n_blocks; b++) {
        const fa_real *tau = g->blocks[b].tau;
        if (g->model->n_motors > 0 && run->n_tau < g->model->nv) {
            for (int i = 0; i < run->n_tau; i++) {
                g->sample[i] = tau[jf_actuator(g->model, i)];
            }
            tau = g->sample;
        }
        roll_write(g, b, tau, n, run->tau_out + sample * n, stride);
    }
}

static int roll_step(roll_group *g, double t, double h, size_t k, double phase,
                     double phase_step)
{
    const roll_method *method = roll_method_of(g->run);

    for (int stage = 0; stage < method->n_stages; stage++) {
        const double part = method->node[stage];
        const roll_time when = {t + part * h, k, phase + part * phase_step, stage == 0};
        if (roll_forces(g, &when)) {
            return 1;
        }
        if (stage == 0 && phase == 0.0) {
            roll_save_torque(g, k);
        }
        for (size_t b = 0; b < g->n_blocks; b++) {
            method->stage(g, g->blocks + b, stage, h);
        }
    }
    for (size_t b = 0; b < g->n_blocks; b++) {
        method->finish(g, g->blocks + b, h);
    }
    return 0;
}

/* initial states and gains of the blocks that step together */
static void roll_start(roll_group *g)
{
    const fa_rollout *run = g->run;
    const size_t nq = (size_t)g->model->nq, nv = (size_t)g->model->nv;
    const size_t half = roll_gains_size(g->model, run) / 2;

    for (size_t b = 0; b < g->n_blocks; b++) {
        const roll_block *s = g->blocks + b;
        roll_read(g, b, run->q, run->n_samples * nq, nq, s->q);
        roll_read(g, b, run->qd, run->n_samples * nv, nv, s->qd);
        if (run->feedback) {
            const fa_feedback *f = run->feedback;
            roll_read(g, b, f->kp, f->kp_stride, half, s->gains);
            roll_read(g, b, f->kd, f->kd_stride, half, s->gains + half);
        }
    }
}

/* all samples of the blocks that step together; nonzero if the run was stopped */
static int roll_group_run(roll_group *g)
{
    const fa_rollout *run = g->run;
    const size_t last = run->n_samples - 1;
    const roll_time end = {run->t[last], last, 0.0, 1};

    roll_start(g);
    for (size_t k = 0; k < last; k++) {
        const double h = (run->t[k + 1] - run->t[k]) / run->substeps;
        for (int j = 0; j < run->substeps; j++) {
            const double phase = (double)j / run->substeps;
            if (roll_step(g, run->t[k] + j * h, h, k, phase, 1.0 / run->substeps)) {
                return 1;
            }
            g->since += g->n_blocks;
            g->done += g->n_blocks;
            if (run->tick && g->since >= ROLL_TICK) {
                g->since = 0;
                if (run->tick(run->context, g->done)) {
                    return 1;
                }
            }
        }
        roll_save(g, k + 1);
    }
    if (roll_forces(g, &end)) {
        return 1;
    }
    roll_save_torque(g, last);
    return 0;
}

/*
 * Runs every trajectory; q and qd sample 0 are the initial states, samples that are
 * not reached stay as they were. Returns nonzero if a callback stopped the run.
 */
static int roll_run(const fa_model *model, const fa_rollout *run, void *work)
{
    const size_t together = roll_together(run), nq = (size_t)model->nq;
    roll_group g = {.model = model, .run = run, .work = work, .n_blocks = together};

    fa_real *states = g.work + roll_method_of(run)->kernel_size(model);
    fa_real *next = states + together * roll_block_size(model, run);
    g.blocks = (roll_block *)next;
    next += (together * sizeof(roll_block) + sizeof(fa_real) - 1) / sizeof(fa_real);
    g.sample = next;
    next += nq;
    g.call_q = (double *)next;
    g.call_qd = g.call_q + together * FA_LANES * nq;
    g.call_tau = g.call_qd + together * FA_LANES * nq;
    for (size_t b = 0; b < together; b++) {
        fa_real *s = states + b * roll_block_size(model, run);
        fa_real *gains = s + 5 * nq;
        g.blocks[b] = (roll_block){s,
                                   s + nq,
                                   s + 2 * nq,
                                   s + 3 * nq,
                                   s + 4 * nq,
                                   gains,
                                   gains + roll_gains_size(model, run)};
        fa_zero(g.blocks[b].tau, (int)nq);
    }
    for (g.first = 0; g.first < roll_blocks(run); g.first += together) {
        if (roll_group_run(&g)) {
            return 1;
        }
    }
    return 0;
}
