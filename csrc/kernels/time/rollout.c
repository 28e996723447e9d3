/*
 * rollout.c -- the time loop: a batch of trajectories in lanes, by any of the methods
 *
 * Each block of lanes runs alone through all times, unless a function gives the forces:
 * it sees all trajectories at each stage, all blocks then step together.
 *
 * Checked by  tests/simulation/test_simulate.py,
 *             tests/simulation/test_simulate_calls.py.
 */
#ifndef FA_ROLLOUT_C
#define FA_ROLLOUT_C

#include "calls/call.h"
#include "calls/time_loop.h"
#include "kernels/time/rollout.h"
#include "kernels/time/rollout_steps.h"
#include "kernels/time/rosenbrock.c"
#include "kernels/time/runge_kutta.c"
#include "kernels/time/sampled_loop.c"
#include "lanes/lane.h"
#include "model/layout.h"

#ifndef FA_STACK_LANES /* of one arm alone */
#include "kernels/time/newmark.c"
#include "kernels/time/rodas.c"
#endif

static const roll_method *roll_method_of(const fa_rollout *run)
{
    switch (run->method) {
    case FA_ROS34PW2:
        return &ros_method;
#ifndef FA_STACK_LANES /* which need derivatives */
    case FA_NEWMARK:
    case FA_LINEAR_ACCELERATION:
    case FA_GENERALIZED_ALPHA:
        return &nm_method;
    case FA_RODAS4P:
        return &rodas_method;
#endif
    default:
        return &rk4_method;
    }
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

/* in bytes: dynamics, states, block headers, a sample, arrays for the callback or of a
 * law at samples */
static size_t roll_work_size(const fa_model *model, const fa_rollout *run)
{
    const size_t n = roll_together(run), nq = (size_t)model->nq;
    const size_t called = run->kind == FA_TORQUE_CALL ? n * 3 * nq : 0;
    const size_t headers =
        (n * sizeof(roll_block) + sizeof(fa_real) - 1) / sizeof(fa_real);
    const size_t law = run->sampled ? sl_size(model, run->sampled) : 0;
    return (roll_method_of(run)->kernel_size(model) + n * roll_block_size(model, run) +
            headers + nq + called + law) *
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

/* all samples of the blocks that step together; nonzero if the run was stopped */
static int roll_group_run(roll_group *g)
{
    const fa_rollout *run = g->run;
    const size_t last = run->n_samples - 1;
    roll_time when = {.first = 1};

    roll_start(g);
    for (size_t k = 0; k < last; k++) {
        const fa_real t = roll_sample_time(g, k);
        const fa_real h = (roll_sample_time(g, k + 1) - t) / (double)run->substeps;
        for (size_t w = 0; w < FA_LANES; w++) {
            when.k[w] = k;
        }
        for (int j = 0; j < run->substeps; j++) {
            when.t = t + (double)j * h;
            when.phase = fa_splat((double)j / run->substeps);
            when.corner = j == 0 && (k == 0 || run->kind == FA_TORQUE_HOLD);
            if (roll_step(g, &when, j, h) || roll_count(g, g->n_blocks)) {
                return 1;
            }
        }
        roll_save(g, k + 1);
    }
    roll_end(g);
    when = (roll_time){.t = roll_sample_time(g, last), .first = 1};
    for (size_t w = 0; w < FA_LANES; w++) {
        when.k[w] = last;
    }
    if (roll_forces(g, &when)) {
        return 1;
    }
    roll_save_torque(g, last);
    return 0;
}

/*
 * Runs every trajectory; q and qd sample 0 are the initial states, samples that are
 * not reached stay as they were. Returns nonzero if a callback stopped the run.
 *   arms  of a stack, or NULL
 */
static int roll_run_of(const fa_model *model, const fa_rollout *run, batch_arms *arms,
                       void *work)
{
    const size_t together = roll_together(run), nq = (size_t)model->nq;
    const roll_method *method = roll_method_of(run);
    roll_group g = {.model = model,
                    .run = run,
                    .method = method,
                    .work = work,
                    .n_blocks = together,
                    .arms = arms};

    fa_real *states = g.work + method->kernel_size(model);
    fa_real *next = states + together * roll_block_size(model, run);
    g.blocks = (roll_block *)next;
    next += (together * sizeof(roll_block) + sizeof(fa_real) - 1) / sizeof(fa_real);
    g.sample = next;
    next += nq;
    g.law = next;
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
        const int stopped = run->sampled        ? sl_run(&g)
                            : method->block_run ? method->block_run(&g)
                                                : roll_group_run(&g);
        if (stopped) {
            return 1;
        }
    }
    return 0;
}

#ifndef FA_STACK_LANES
static int roll_run(const fa_model *model, const fa_rollout *run, void *work)
{
    return roll_run_of(model, run, NULL, work);
}
#endif

#endif
