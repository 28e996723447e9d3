/*
 * pool.h -- items of a batch, split over threads
 *
 * The calling thread takes part; the others come from a pool that grows to what is
 * asked for at one time and sleeps in between. A call waits for no thread but those
 * that are in the middle of its own items: with all of them busy elsewhere, or none to
 * be had, it does everything itself, so calls may be nested and come from many threads.
 *
 * A forked child starts with an empty pool. Threads of the pool receive no signals,
 * know nothing of Python and never end; their stacks have FA_POOL_STACK bytes.
 */
#ifndef FA_POOL_H
#define FA_POOL_H

#include <stddef.h>

enum { FA_POOL_MAX = 256, FA_POOL_STACK = 2 * 1024 * 1024 };

/* how a call ended early, bits: a task stopped it; the process was forked by a task, and
 * the child has not the threads that were computing */
enum { FA_POOL_STOPPED = 1, FA_POOL_LOST = 2 };

/*
 * Computes some items; nonzero stops the whole call.
 *   slot   0 in the calling thread, below `threads` in others, of one thread at a time:
 *          the number of its scratch
 */
typedef int (*fa_pool_task)(void *context, int slot, size_t first, size_t count);

typedef struct {
    int threads;    /* most of them, the calling one included; up to FA_POOL_MAX */
    size_t count;   /* items */
    size_t grain;   /* parts are multiples of it, but for the last */
    size_t most;    /* items of the largest part, after which a call can be stopped */
    double seconds; /* of an item; 0: the first items are measured */
    fa_pool_task task;
    /* what the calling thread does every 50 ms while it waits for the last parts of
     * others; nonzero stops the call; or NULL */
    int (*wait)(void *context);
    void *context;
} fa_split;

/*
 * Runs all items, on fewer threads where each would have less than 50 us of work.
 * Returns nonzero if it ended early, items that were not begun are then left.
 */
int fa_pool_run(const fa_split *split);

#endif
