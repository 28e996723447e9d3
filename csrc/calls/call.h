/*
 * call.h -- one kernel call: FA_LANES states side by side
 */
#ifndef FA_CALL_H
#define FA_CALL_H

#include "calls/kernels.h"
#include "lanes/lane.h"

typedef struct {
    const fa_real *in[FA_MAX_INPUTS]; /* element by element */
    fa_real *out;                     /* overlaps no input */
    fa_real *work;                    /* scratch, no meaning before or after */
    int index, second; /* node; of a pair the first one, and the second */
    int states;        /* lanes in use; the others repeat the last of them */
} fa_call;

/*
 * What a stack does before a block: `take` puts the constants of the arms of its states
 * into the lanes of the model.
 */
typedef struct batch_arms {
    void (*take)(struct batch_arms *, size_t at, const fa_call *call);
} batch_arms;

#endif
