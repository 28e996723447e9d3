/* test_pool.c -- items over threads: each once, slots apart, stops, forks, many callers */
#define _POSIX_C_SOURCE 200809L
#include "library/pool.h"
#include "library/tables.h"
#include "model/model.h"

#include "arm.h"
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ITEMS = 4000, THREADS = 4 };

/* what a task writes; only atomics are shared by threads */
typedef struct {
    int *seen; /* [ITEMS] */
    atomic_int busy[FA_POOL_MAX];
    atomic_int clashes; /* two threads in one slot */
    atomic_int most;    /* largest slot */
    atomic_int wrong;   /* parts that are no multiple of the grain, slot 0 elsewhere */
    size_t stop_at;     /* item that stops the call, or ITEMS */
    int nested, forks;
    pthread_t caller;
} pool_test;

static void work_for(double seconds)
{
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((double)(now.tv_sec - start.tv_sec) +
                 1e-9 * (double)(now.tv_nsec - start.tv_nsec) <
             seconds);
}

static int task(void *context, int slot, size_t first, size_t count);

static fa_split split_of(pool_test *test, int threads, double seconds)
{
    return (fa_split){.threads = threads,
                      .count = ITEMS,
                      .grain = 8,
                      .most = 512,
                      .seconds = seconds,
                      .task = task,
                      .context = test};
}

static pool_test *new_test(void)
{
    pool_test *test = calloc(1, sizeof *test);
    test->seen = calloc(ITEMS, sizeof *test->seen);
    test->stop_at = ITEMS;
    test->caller = pthread_self();
    return test;
}

static void free_test(pool_test *test)
{
    free(test->seen);
    free(test);
}

/* every item was computed once, and no slot by two threads at a time */
static int is_complete(const pool_test *test)
{
    int complete = test->clashes == 0 && test->wrong == 0;
    for (int i = 0; i < ITEMS; i++) {
        complete &= test->seen[i] == 1;
    }
    return complete;
}

static int task(void *context, int slot, size_t first, size_t count)
{
    pool_test *test = context;
    const int is_caller = pthread_equal(pthread_self(), test->caller) != 0;

    atomic_fetch_add(&test->clashes, atomic_fetch_add(&test->busy[slot], 1) != 0);
    atomic_fetch_add(&test->wrong, first % 8 != 0 || count > 512 ||
                                       (count % 8 != 0 && first + count != ITEMS) ||
                                       is_caller != (slot == 0));
    for (size_t i = first; i < first + count; i++) {
        test->seen[i]++;
    }
    if (slot > atomic_load(&test->most)) {
        atomic_store(&test->most, slot);
    }
    if (test->nested && first == 0) {
        pool_test *inner = new_test();
        const fa_split split = split_of(inner, THREADS, 1e-6);
        const int ended = fa_pool_run(&split);
        atomic_fetch_add(&test->wrong, ended || !is_complete(inner));
        free_test(inner);
    }
    work_for(1e-7 * (double)count);
    atomic_fetch_sub(&test->busy[slot], 1);
    return first <= test->stop_at && test->stop_at < first + count;
}

static void check_items(void)
{
    for (int threads = 1; threads <= 300; threads = 3 * threads) {
        for (int measured = 0; measured <= 1; measured++) {
            pool_test *test = new_test();
            const fa_split split = split_of(test, threads, measured ? 0.0 : 1e-6);
            CHECK(fa_pool_run(&split) == 0);
            CHECK(is_complete(test));
            CHECK(test->most < threads);
            free_test(test);
        }
    }
}

/* too little work for a second thread; none at all */
static void check_little(void)
{
    pool_test *test = new_test();
    fa_split split = split_of(test, THREADS, 1e-9);

    CHECK(fa_pool_run(&split) == 0);
    CHECK(is_complete(test) && test->most == 0);
    split.seconds = 1e-3; /* parts of a single item are worth a thread */
    memset(test->seen, 0, ITEMS * sizeof *test->seen);
    CHECK(fa_pool_run(&split) == 0);
    CHECK(is_complete(test));
    split.count = 0;
    CHECK(fa_pool_run(&split) == 0);
    split.seconds = 0.0;
    CHECK(fa_pool_run(&split) == 0);
    CHECK(is_complete(test));
    free_test(test);
}

static void check_stop(void)
{
    for (size_t at = 0; at < ITEMS; at += 799) {
        pool_test *test = new_test();
        test->stop_at = at;
        const fa_split split = split_of(test, THREADS, 1e-6);
        CHECK(fa_pool_run(&split) == FA_POOL_STOPPED);
        int done = 0;
        for (int i = 0; i < ITEMS; i++) {
            done += test->seen[i];
            CHECK(test->seen[i] <= 1);
        }
        CHECK(done > 0 && done <= ITEMS && test->seen[at] == 1);
        free_test(test);
    }
}

/* the calling thread waits for another one until its look says stop */
typedef struct {
    atomic_int looks, leave;
} wait_test;

static int wait_task(void *context, int slot, size_t first, size_t count)
{
    wait_test *test = context;
    (void)first;
    (void)count;
    if (slot == 0) { /* until another thread has the other part, at most ten minutes */
        for (int i = 0; i < 600000 && atomic_load(&test->leave) == 0; i++) {
            work_for(1e-3);
        }
        return 0;
    }
    atomic_store(&test->leave, 1);
    while (atomic_load(&test->leave) == 1) {
        work_for(1e-4);
    }
    return 1;
}

static int wait_look(void *context)
{
    wait_test *test = context;
    if (atomic_fetch_add(&test->looks, 1) == 1) {
        atomic_store(&test->leave, 2);
    }
    return 0;
}

static void check_wait(void)
{
    wait_test test = {0, 0};
    const fa_split split = {.threads = 2,
                            .count = 2,
                            .grain = 1,
                            .most = 1,
                            .seconds = 1.0,
                            .task = wait_task,
                            .wait = wait_look,
                            .context = &test};
    CHECK(fa_pool_run(&split) == FA_POOL_STOPPED);
    CHECK(atomic_load(&test.looks) >= 2); /* more, if the other thread gets no core */
}

static void *run_some(void *failed)
{
    for (int i = 0; i < check_most(20); i++) {
        pool_test *test = new_test();
        test->nested = i % 5 == 0;
        const fa_split split = split_of(test, 2 + i % 3, i % 2 ? 0.0 : 1e-6);
        if (fa_pool_run(&split) != 0 || !is_complete(test)) {
            atomic_fetch_add((atomic_int *)failed, 1);
        }
        free_test(test);
    }
    return NULL;
}

/* many threads that all ask for more */
static void check_callers(void)
{
    pthread_t threads[8];
    atomic_int failed = 0;

    for (int i = 0; i < 8; i++) {
        CHECK(pthread_create(threads + i, NULL, run_some, &failed) == 0);
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(threads[i], NULL);
    }
    CHECK(atomic_load(&failed) == 0);
}

/* ThreadSanitizer allows no threads after a fork */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__
#endif
#endif
#if defined(__SANITIZE_THREAD__)
enum { CAN_FORK = 0 };
#else
enum { CAN_FORK = 1 };
#endif

/* a child has a pool of its own, its parent's goes on */
static void check_fork(void)
{
    for (int i = 0; CAN_FORK && i < 5; i++) {
        atomic_int failed = 0;
        const pid_t child = fork();
        CHECK(child >= 0);
        run_some(&failed);
        if (child == 0) {
            _exit(atomic_load(&failed));
        }
        int status = -1;
        CHECK(waitpid(child, &status, 0) == child && status == 0);
        CHECK(atomic_load(&failed) == 0);
    }
}

/* one model, one batch cut among threads, the bits of one call */
typedef struct {
    const fa_model *model;
    const fa_kernels *kernels;
    const fa_operand *operands;
    char *work;
    size_t work_size;
    atomic_size_t bad;
} batch_test;

static int batch_task(void *context, int slot, size_t first, size_t count)
{
    batch_test *test = context;
    fa_operand operands[4];

    for (int i = 0; i < 4; i++) {
        operands[i] = test->operands[i];
        operands[i].data += (ptrdiff_t)first * operands[i].stride;
    }
    const fa_failures bad =
        test->kernels->batch(test->model, FA_FORWARD_DYNAMICS, count, NULL, 0, operands,
                             test->work + (size_t)slot * test->work_size);
    atomic_fetch_add(&test->bad, bad.count);
    return 0;
}

static void check_batch(void)
{
    enum { STATES = 3000 };
    const int sizes[4] = {ARM_NQ, ARM_NV, ARM_NV, ARM_NV};
    const fa_kernels *kernels = test_kernels();
    ptrdiff_t offset[ARM_NQ + ARM_NV];
    double *x[4], *alone = calloc(STATES * ARM_NV, sizeof *alone);
    fa_operand operands[4];
    fa_model *model = NULL;
    test_arm arm;

    test_arm_fill(&arm);
    CHECK(fa_model_build(&arm.description, &model) == FA_OK);
    for (int e = 0; e < ARM_NQ + ARM_NV; e++) {
        offset[e] = e * (ptrdiff_t)sizeof(double);
    }
    for (int i = 0; i < 4; i++) {
        x[i] = calloc(STATES * (size_t)sizes[i], sizeof *x[i]);
        for (int e = 0; e < STATES * sizes[i]; e++) {
            x[i][e] = 0.7 * sin(i + 1.3 * e);
        }
        operands[i] = (fa_operand){(char *)x[i], (ptrdiff_t)sizeof(double) * sizes[i],
                                   sizes[i], offset};
    }
    x[0][1234 * ARM_NQ] = (double)NAN;
    double *const data[4] = {x[0], x[1], x[2], alone};
    CHECK(test_batch(model, FA_FORWARD_DYNAMICS, STATES, NULL, data, sizes).count == 1);

    batch_test test = {.model = model, .kernels = kernels, .operands = operands};
    test.work_size =
        (kernels->work_size(model, FA_FORWARD_DYNAMICS, sizes) + 63) / 64 * 64;
    test.work = aligned_alloc(64, THREADS * test.work_size);
    const fa_split split = {.threads = THREADS,
                            .count = STATES,
                            .grain = 8,
                            .most = 512,
                            .task = batch_task,
                            .context = &test};
    for (int i = 0; i < check_most(10); i++) {
        memset(x[3], 0, STATES * ARM_NV * sizeof(double));
        test.bad = 0;
        CHECK(fa_pool_run(&split) == 0);
        CHECK(atomic_load(&test.bad) == 1);
        CHECK(memcmp(x[3], alone, STATES * ARM_NV * sizeof(double)) == 0);
    }
    for (int i = 0; i < 4; i++) {
        free(x[i]);
    }
    free(alone);
    free(test.work);
    fa_model_free(model);
}

int main(void)
{
    check_items();
    check_little();
    check_stop();
    check_wait();
    check_callers();
    check_batch();
    check_fork();
    return check_report("pool");
}
