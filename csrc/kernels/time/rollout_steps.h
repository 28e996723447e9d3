/*
 * rollout_steps.h -- one step of a time loop, of all blocks that step together
 */
#ifndef FA_ROLLOUT_STEPS_H
#define FA_ROLLOUT_STEPS_H

#include "calls/time_loop.h"
#include "kernels/time/rollout.h"
#include "lanes/lane.h"

/* forces at the start of interval k, as a record */
static void roll_save_torque(roll_group *g, size_t sample)
{
    const fa_rollout *run = g->run;
    const size_t n = (size_t)run->n_tau, stride = run->n_samples * n;

    for (size_t b = 0; run->tau_out && b < g->n_blocks; b++) {
        roll_write(g, b, roll_commanded(g, b), n, run->tau_out + sample * n, stride);
    }
}

/* the last stage again, until no block asks for it; nonzero if a callback stops */
static int roll_repeat(roll_group *g, const roll_time *when, fa_real h)
{
    const roll_method *method = g->method;

    for (;;) {
        int open = 0;
        for (size_t b = 0; b < g->n_blocks; b++) {
            open |= method->repeat(g, g->blocks + b);
        }
        if (!open) {
            return 0;
        }
        if (roll_forces(g, when)) {
            return 1;
        }
        for (size_t b = 0; b < g->n_blocks; b++) {
            method->stage(g, g->blocks + b, method->n_stages - 1, when, h);
        }
    }
}

/* step j of interval k */
static int roll_step(roll_group *g, const roll_time *start, int j, fa_real h)
{
    const roll_method *method = g->method;
    const double phase_step = 1.0 / g->run->substeps;
    roll_time when = *start;

    for (int stage = 0; stage < method->n_stages; stage++) {
        const double part = method->node[stage];
        when.t = start->t + part * h;
        when.phase = start->phase + part * phase_step;
        when.first = stage == 0;
        /* an iteration asks for forces at the start of a step only to record them */
        if ((stage > 0 || j == 0 || !method->repeat) && roll_forces(g, &when)) {
            return 1;
        }
        if (stage == 0 && j == 0) {
            roll_save_torque(g, start->k[0]);
        }
        for (size_t b = 0; b < g->n_blocks; b++) {
            roll_take(g, b);
            method->stage(g, g->blocks + b, stage, &when, h);
        }
    }
    if (method->repeat && roll_repeat(g, &when, h)) {
        return 1;
    }
    for (size_t b = 0; b < g->n_blocks; b++) {
        roll_take(g, b);
        method->finish(g, g->blocks + b, h);
    }
    return 0;
}

/* steps of one block that are done; nonzero if the run was stopped */
static int roll_count(roll_group *g, size_t steps)
{
    g->since += steps;
    g->done += steps;
    if (g->run->tick && g->since >= ROLL_TICK) {
        g->since = 0;
        return g->run->tick(g->run->context, g->done);
    }
    return 0;
}

#endif
