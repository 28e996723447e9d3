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
#include "calls/tick.h"
#include "library/pool.h"
#include "library/tables.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

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
                            .grain = PY_SPLIT_LANES,
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
    const py_runs *runs;
    split_scratch scratch;
    void *work;
    atomic_size_t done; /* number for the tick */
    atomic_int stopped;
} split_runs;

/* context of the tick of a part */
typedef struct {
    split_runs *all;
    int slot;
    size_t counted; /* of this part */
} split_part;

/* the user's tick, in the calling thread */
static int split_look(void *context)
{
    split_runs *c = context;
    const py_runs *runs = c->runs;

    if (!atomic_load(&c->stopped) && runs->tick &&
        runs->tick(runs->context, atomic_load(&c->done))) {
        atomic_store(&c->stopped, 1);
    }
    return atomic_load(&c->stopped);
}

static int split_tick(void *context, size_t done)
{
    split_part *part = context;

    atomic_fetch_add(&part->all->done, done - part->counted);
    part->counted = done;
    return part->slot == 0 ? split_look(part->all) : atomic_load(&part->all->stopped);
}

static int split_runs_part(void *context, int slot, size_t first, size_t count)
{
    split_runs *c = context;
    split_part part = {.all = c, .slot = slot};
    void *work = split_work(&c->scratch, slot, c->work);
    size_t done = 0;

    if (c->runs->part(c->runs->job, first, count, split_tick, &part, work, &done)) {
        return 1;
    }
    /* steps since the last tick of the part */
    atomic_fetch_add(&c->done, done - part.counted);
    return 0;
}

int py_split_runs(const py_runs *runs, fa_split split, void *work, size_t work_size)
{
    split_runs c = {.runs = runs, .work = work};

    c.scratch = split_allocate(&split.threads, work_size);
    split.task = split_runs_part;
    split.wait = split_look;
    split.context = &c;
    const int ended = split_run(&split);
    free(c.scratch.block);
    return ended;
}
