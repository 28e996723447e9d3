/*
 * tick.h -- what long calls do now and then: look whether they are to stop
 */
#ifndef FA_TICK_H
#define FA_TICK_H

#include <stddef.h>

/* fa_tick: called every few hundred steps with the number of steps of blocks of lanes
 * that are done; nonzero stops the run */
typedef int (*fa_tick)(void *context, size_t steps_done);

#endif
