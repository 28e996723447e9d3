/*
 * py_threads.c -- batches, time loops and inverse kinematics on several threads; Ctrl-C
 *
 * The calling thread has slot 0. It alone looks for Ctrl-C, calls back and raises; the
 * others know nothing of Python, and their scratch is made before they start. Whatever
 * the parts are, a state has the same bits.
 */
#include "python/py_threads.h"
#include "python/py_base.h"
#include "python/py_bound.h"

#include "calls/kernels.h"
#include "calls/targets.h"
#include "calls/tick.h"
#include "calls/time_loop.h"
#include "library/pool.h"
#include "library/tables.h"
#include "model/layout.h"
#include "model/stacks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* parts of a batch are multiples of the most lanes */
enum { SPLIT_LANES = 8 };

/* scratch of all slots but the first */
typedef struct {
    void *block; /* NULL: there is none, the calling thread is alone */
    char *first;
    size_t size;
} split_scratch;

static split_scratch split_allocate(int *threads, size_t size)
{
    const int slots = *threads < FA_POOL_MAX ? *threads : FA_POOL_MAX;
    split_scratch scratch = {.size = (size + PY_ALIGN - 1) / PY_ALIGN * PY_ALIGN};

    /* not PyMem_RawMalloc: where it is traced it takes the GIL */
    scratch.block = malloc((size_t)(slots - 1) * scratch.size + PY_ALIGN);
    if (scratch.block) {
        scratch.first =
            (char *)scratch.block + (PY_ALIGN - (uintptr_t)scratch.block % PY_ALIGN);
    }
    *threads = scratch.block ? slots : 1;
    return scratch;
}

static void *split_work(const split_scratch *scratch, int slot, void *own)
{
    return slot == 0 ? own : scratch->first + (size_t)(slot - 1) * scratch->size;
}

/* nonzero if it ended early, with an exception set */
static int split_run(const fa_split *split)
{
    const int ended = fa_pool_run(split);

    if (ended & FA_POOL_LOST) {
        py_raise("FlexarmError",
                 "the process was forked in the middle of a call on several "
                 "threads, of which the child has one; fork before or after it");
    }
    return ended;
}

/* batches */

typedef struct {
    const loop_bound *b;
    const fa_kernels *kernels;
    const loop_index *index;
    const fa_operand *operands;
    split_scratch scratch;
    void *work;
    fa_failures bad[FA_POOL_MAX]; /* of each slot */
} split_states;

static int split_states_part(void *context, int slot, size_t first, size_t count)
{
    split_states *c = context;
    void *work = split_work(&c->scratch, slot, c->work);

    if (slot == 0 && py_interrupted((npy_intp)count)) {
        return 1;
    }
    const fa_failures more =
        py_bound_batch(c->b, c->kernels, first, count, c->index, c->operands, work);
    fa_failures *bad = c->bad + slot;
    if (more.count) {
        const size_t at = first + more.first;
        bad->first = bad->count && bad->first < at ? bad->first : at;
        bad->count += more.count;
    }
    return 0;
}

void py_split_states(const loop_bound *b, const fa_kernels *kernels, npy_intp count,
                     const loop_index *index, const fa_operand *operands, void *work,
                     size_t work_size)
{
    int threads = b->threads;
    split_states c = {
        .b = b, .kernels = kernels, .index = index, .operands = operands, .work = work};
    fa_failures bad = {0, 0};

    c.scratch = split_allocate(&threads, work_size);
    const fa_split split = {.threads = threads,
                            .count = (size_t)count,
                            .grain = SPLIT_LANES,
                            .most = LOOP_CHUNK,
                            .task = split_states_part,
                            .context = &c};
    const int ended = split_run(&split);
    free(c.scratch.block);
    for (int slot = 0; slot < threads; slot++) {
        const fa_failures more = c.bad[slot];
        if (more.count) {
            bad.first = bad.count && bad.first < more.first ? bad.first : more.first;
            bad.count += more.count;
        }
    }
    if (!ended) {
        py_bound_report(b, bad, (size_t)count);
    }
}

/* time loops and inverse kinematics */

typedef struct {
    const fa_model *model;
    const fa_stack *stack; /* or NULL */
    const fa_kernels *kernels;
    const fa_rollout *rollout; /* one of the two */
    const fa_ik *ik;
    split_scratch scratch;
    void *work;
    atomic_size_t done; /* number for the tick */
    atomic_int stopped;
} split_runs;

/* context of the tick of a part */
typedef struct {
    split_runs *runs;
    int slot;
    size_t counted; /* of this part */
} split_part;

/* the user's tick, in the calling thread */
static int split_look(void *context)
{
    split_runs *c = context;
    const fa_tick tick = c->rollout ? c->rollout->tick : c->ik->tick;
    void *own = c->rollout ? c->rollout->context : c->ik->context;

    if (!atomic_load(&c->stopped) && tick && tick(own, atomic_load(&c->done))) {
        atomic_store(&c->stopped, 1);
    }
    return atomic_load(&c->stopped);
}

static int split_tick(void *context, size_t done)
{
    split_part *part = context;

    atomic_fetch_add(&part->runs->done, done - part->counted);
    part->counted = done;
    return part->slot == 0 ? split_look(part->runs) : atomic_load(&part->runs->stopped);
}

static fa_each split_each(fa_each x, size_t first)
{
    x.at = x.at ? x.at + first * x.stride : NULL;
    return x;
}

/* a law at samples for some trajectories */
static fa_sampled split_law(const fa_model *model, const fa_rollout *run, size_t first)
{
    const size_t nu = (size_t)model->n_actuators;
    fa_sampled law = *run->sampled;
    fa_each *each[] = {&law.rows, &law.A,  &law.B,         &law.C,           &law.D,
                       &law.E,    &law.z0, &law.reference, &law.feedforward, &law.held};

    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        *each[i] = split_each(*each[i], first);
    }
    law.y += first * law.n_samples * (size_t)law.n_outputs;
    law.u += first * law.n_samples * nu;
    law.w += first * law.n_samples * nu;
    law.z += first * law.n_samples * (size_t)law.n_states;
    law.tau += first * run->n_samples * nu;
    return law;
}

static int split_roll(const split_runs *c, const fa_rollout *run, void *work)
{
    return c->stack ? c->kernels->stack_rollout(c->stack, run, work)
                    : c->kernels->rollout(c->model, run, work);
}

/* some trajectories of a rollout, as one of their own */
static int split_rollout_part(void *context, int slot, size_t first, size_t count)
{
    split_runs *c = context;
    const fa_rollout *all = c->rollout;
    const size_t n = all->n_samples;
    const size_t nq = (size_t)c->model->nq, nv = (size_t)c->model->nv;
    split_part part = {.runs = c, .slot = slot};
    fa_rollout run = *all;
    fa_feedback gains;
    fa_sampled law;

    run.count = count;
    run.t += first * all->t_stride;
    run.q += first * n * nq;
    run.qd += first * n * nv;
    run.tau = run.tau ? run.tau + first * all->tau_stride : NULL;
    run.tau_out = run.tau_out ? run.tau_out + first * n * (size_t)all->n_tau : NULL;
    run.report = run.report ? run.report + first * FA_REPORT_SIZE : NULL;
    run.arms = run.arms ? run.arms + first : NULL;
    if (all->feedback) {
        gains = *all->feedback;
        gains.kp += first * gains.kp_stride;
        gains.kd += first * gains.kd_stride;
        gains.reference += first * gains.reference_stride;
        gains.rates = gains.rates ? gains.rates + first * gains.rates_stride : NULL;
        run.feedback = &gains;
    }
    if (all->sampled) {
        law = split_law(c->model, all, first);
        run.sampled = &law;
    }
    run.tick = split_tick;
    run.context = &part;
    if (split_roll(c, &run, split_work(&c->scratch, slot, c->work))) {
        return 1;
    }
    /* steps since the last tick of the part */
    const size_t lanes = (size_t)c->kernels->lanes,
                 blocks = (count + lanes - 1) / lanes;
    const size_t each = run.method == FA_RODAS4P ? 1 : (size_t)run.substeps;
    const size_t steps = run.sampled ? run.sampled->n_steps : (n - 1) * each;
    atomic_fetch_add(&c->done, blocks * steps - part.counted);
    return 0;
}

static int split_ik_part(void *context, int slot, size_t first, size_t count)
{
    split_runs *c = context;
    split_part part = {.runs = c, .slot = slot};
    fa_ik run = *c->ik;

    run.count = count;
    run.target += first * 16;
    run.wrench = run.wrench ? run.wrench + first * run.wrench_stride : NULL;
    run.q += first * (size_t)c->model->nq;
    run.residual += first * 6;
    run.cost += first;
    run.status += first;
    run.iterations += first;
    run.tick = split_tick;
    run.context = &part;
    if (c->kernels->ik(c->model, &run, split_work(&c->scratch, slot, c->work))) {
        return 1;
    }
    atomic_fetch_add(&c->done, count - part.counted);
    return 0;
}

static int split_start(split_runs *c, fa_split *split, size_t work_size)
{
    c->scratch = split_allocate(&split->threads, work_size);
    split->wait = split_look;
    split->context = c;
    const int ended = split_run(split);
    free(c->scratch.block);
    return ended;
}

int py_split_rollout(const fa_model *model, const fa_stack *stack,
                     const fa_kernels *kernels, const fa_rollout *run, int threads,
                     void *work, size_t work_size)
{
    split_runs c = {.model = model,
                    .stack = stack,
                    .kernels = kernels,
                    .rollout = run,
                    .work = work};
    /* four forward dynamics at 20 ns for each coordinate */
    const double step = 80e-9 * model->nv;
    const double steps = run->sampled ? (double)run->sampled->n_steps
                                      : (double)run->substeps * (double)run->n_samples;
    fa_split split = {.threads = threads,
                      .count = run->count,
                      .grain = (size_t)kernels->lanes,
                      .most = run->count,
                      .seconds = step * steps,
                      .task = split_rollout_part};

    if (threads <= 1 || run->kind == FA_TORQUE_CALL) { /* a function sees all of them */
        return split_roll(&c, run, work);
    }
    return split_start(&c, &split, work_size);
}

int py_split_ik(const fa_model *model, const fa_kernels *kernels, const fa_ik *run,
                int threads, void *work, size_t work_size)
{
    split_runs c = {.model = model, .kernels = kernels, .ik = run, .work = work};
    fa_split split = {.threads = threads,
                      .count = run->count,
                      .grain = SPLIT_LANES,
                      .most = LOOP_CHUNK,
                      .seconds = 1e-6 * model->nq,
                      .task = split_ik_part};

    return threads <= 1 ? kernels->ik(model, run, work)
                        : split_start(&c, &split, work_size);
}
