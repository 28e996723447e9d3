/*
 * pool.c -- items of a batch, split over threads
 *
 * One lock guards the list of calls in progress. A thread holds it while it takes a
 * part, never while it computes; parts are long enough for that.
 *
 * Checked by  tests/c/test_pool.c, also under ThreadSanitizer;
 *             tests/calls/test_threads.py.
 */
#define _POSIX_C_SOURCE 200809L

#include "library/pool.h"

#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

/* seconds of work that are worth a thread, and that measure an item */
static const double POOL_WORTH = 50e-6, POOL_PROBE = 10e-6;

/* a part is this part of what a thread still has to do, on average */
enum { POOL_PARTS = 4 };

/* nanoseconds between two looks at Ctrl-C */
enum { POOL_LOOK = 50 * 1000 * 1000 };

/* a call in progress, on the stack of its caller */
typedef struct pool_call {
    const fa_split *split;
    size_t next;  /* the first item that nobody has taken */
    size_t least; /* items of the smallest part */
    int slots;    /* threads that may take part */
    int taken;    /* slots that are in use or were */
    int busy;     /* threads of the pool that are in it */
    int stopped;
    fenv_t environment; /* rounding and the like, as the caller has it */
    struct pool_call *after;
} pool_call;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t asked; /* a call has parts for more threads */
    pthread_cond_t left;  /* a thread has left a call */
    pool_call *calls;
    int threads; /* of the pool */
    int wanted;  /* by the calls in progress */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .asked = PTHREAD_COND_INITIALIZER,
          .left = PTHREAD_COND_INITIALIZER};

static double pool_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static size_t pool_round(const fa_split *split, size_t items)
{
    return (items + split->grain - 1) / split->grain * split->grain;
}

static int pool_has_parts(const pool_call *call)
{
    return !call->stopped && call->next < call->split->count;
}

/* Takes parts of a call until none is left. The lock is held before and after. */
static void pool_take_parts(pool_call *call, int slot)
{
    const fa_split *s = call->split;

    while (pool_has_parts(call)) {
        const size_t first = call->next, rest = s->count - first;
        size_t part = pool_round(s, rest / (size_t)(POOL_PARTS * call->slots));
        part = part < call->least ? call->least : part;
        part = part > s->most ? s->most : part;
        part = part > rest ? rest : part;
        call->next += part;
        pthread_mutex_unlock(&pool.lock);
        const int stop = s->task(s->context, slot, first, part);
        pthread_mutex_lock(&pool.lock);
        call->stopped |= stop ? FA_POOL_STOPPED : 0;
    }
}

/* a call that has parts and a free slot, or NULL */
static pool_call *pool_find(void)
{
    pool_call *call = pool.calls;
    while (call && !(call->taken < call->slots && pool_has_parts(call))) {
        call = call->after;
    }
    return call;
}

static void *pool_thread(void *unused)
{
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        pool_call *call = pool_find();
        if (!call) {
            pthread_cond_wait(&pool.asked, &pool.lock);
            continue;
        }
        const int slot = call->taken++;
        call->busy++;
        fesetenv(&call->environment);
        pool_take_parts(call, slot);
        if (--call->busy == 0) {
            pthread_cond_broadcast(&pool.left);
        }
    }
    return unused;
}

/* Adds threads up to what the calls want; without memory for one there are fewer. */
static void pool_grow(void)
{
    pthread_attr_t attributes;
    sigset_t all, before;

    if (pool.threads >= pool.wanted || pthread_attr_init(&attributes) != 0) {
        return;
    }
    pthread_attr_setstacksize(&attributes, FA_POOL_STACK);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool.threads < pool.wanted && pool.threads < FA_POOL_MAX) {
        pthread_t thread;
        if (pthread_create(&thread, &attributes, pool_thread, NULL) != 0) {
            break;
        }
        pool.threads++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

static void pool_before_fork(void)
{
    pthread_mutex_lock(&pool.lock);
}

static void pool_after_fork(void)
{
    pthread_mutex_unlock(&pool.lock);
}

/*
 * The child has none of the threads. A call that forked in the middle of its own items
 * has lost some of them: it is stopped there.
 */
static void pool_in_child(void)
{
    for (pool_call *call = pool.calls; call; call = call->after) {
        call->stopped |= call->busy > 0 ? FA_POOL_LOST : 0;
        call->busy = 0;
    }
    pool.calls = NULL;
    pool.threads = pool.wanted = 0;
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.asked, NULL);
    pthread_cond_init(&pool.left, NULL);
}

static void pool_watch_forks(void)
{
    pthread_atfork(pool_before_fork, pool_after_fork, pool_in_child);
}

/* Waits for the threads that are still in a call. The lock is held before and after. */
static void pool_wait(pool_call *call)
{
    const fa_split *s = call->split;

    while (call->busy > 0) {
        struct timespec until;
        if (!s->wait) {
            pthread_cond_wait(&pool.left, &pool.lock);
            continue;
        }
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += POOL_LOOK;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (pthread_cond_timedwait(&pool.left, &pool.lock, &until) == ETIMEDOUT) {
            pthread_mutex_unlock(&pool.lock);
            const int stop = s->wait(s->context);
            pthread_mutex_lock(&pool.lock);
            call->stopped |= stop ? FA_POOL_STOPPED : 0;
        }
    }
}

/* everything from `next` on, with the help of others */
static int pool_share(pool_call *call)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const int helpers = call->slots - 1;

    pthread_once(&once, pool_watch_forks);
    fegetenv(&call->environment);
    pthread_mutex_lock(&pool.lock);
    call->after = pool.calls;
    pool.calls = call;
    pool.wanted += helpers;
    pool_grow();
    for (int i = 0; i < helpers; i++) {
        pthread_cond_signal(&pool.asked);
    }
    pool_take_parts(call, 0);

    pool_call **link = &pool.calls;
    while (*link && *link != call) {
        link = &(*link)->after;
    }
    if (*link) { /* or it was forgotten in a fork */
        *link = call->after;
        pool.wanted -= helpers;
    }
    pool_wait(call);
    pthread_mutex_unlock(&pool.lock);
    return call->stopped;
}

/*
 * Runs the first items until the cost of one is known; twice as many each time.
 * Returns the seconds of an item, 0 if nothing is left to be shared.
 */
static double pool_probe(pool_call *call)
{
    const fa_split *s = call->split;
    const double start = pool_seconds();
    double spent = 0.0;

    for (size_t part = s->grain; pool_has_parts(call) && spent < POOL_PROBE;
         part *= 2) {
        const size_t rest = s->count - call->next;
        part = part > rest ? rest : part;
        call->stopped = s->task(s->context, 0, call->next, part) != 0;
        call->next += part;
        spent = pool_seconds() - start;
    }
    return pool_has_parts(call) ? spent / (double)call->next : 0.0;
}

int fa_pool_run(const fa_split *split)
{
    pool_call call = {.split = split, .slots = 1, .taken = 1};
    double seconds = split->seconds;

    if (split->threads > 1 && seconds <= 0.0) {
        seconds = pool_probe(&call);
    }
    if (split->threads > 1 && seconds > 0.0) {
        const double worth = (double)(split->count - call.next) * seconds / POOL_WORTH;
        const int most = split->threads < FA_POOL_MAX ? split->threads : FA_POOL_MAX;
        call.slots = worth < (double)most ? (int)worth : most;
        call.least = pool_round(split, 1 + (size_t)(0.5 * POOL_WORTH / seconds));
    }
    if (call.slots > 1) {
        return pool_share(&call);
    }
    while (pool_has_parts(&call)) {
        const size_t rest = split->count - call.next;
        const size_t part = rest < split->most ? rest : split->most;
        call.stopped = split->task(split->context, 0, call.next, part) != 0;
        call.next += part;
    }
    return call.stopped;
}
