/*
 * targets.h -- what inverse kinematics is given
 */
#ifndef FA_TARGETS_H
#define FA_TARGETS_H

#include "calls/tick.h"

#include <stddef.h>
#include <stdint.h>

/* how the iteration of a target ended */
typedef enum {
    FA_IK_SOLVED,     /* error and unbalance of the modes are below the tolerance */
    FA_IK_STATIONARY, /* a least error, or a saddle of it */
    FA_IK_UNFINISHED, /* out of iterations */
    FA_IK_NOT_FINITE  /* a number of the target or of the start is none, or the target
                       * is no rotation */
} fa_ik_status;

/* inverse kinematics of many targets; arrays are contiguous */
typedef struct {
    size_t count;         /* targets */
    int node;             /* which the joints bring to its target */
    const double *target; /* [count][4][4] */
    const double *lower;  /* [nq] bounds of the positions, or NULL for none; those of */
    const double *upper;  /* poses and of modes are infinite */
    double weights[6];    /* of the error's components, angular first */
    int place_only;       /* targets have no orientation, weights neither */
    int deflection;       /* modes in static equilibrium, else as they start */
    const double *wrench; /* [count or 1][6] on the node, or NULL; only if deflected */
    size_t wrench_stride; /* doubles between two, 0: shared */
    int wrench_in_base;   /* axes of the base, else of the node */
    double tolerance;     /* of the weighted error */
    double stationary;    /* largest cosine of error and column that ends it */
    double damping;       /* mu of the first step */
    int max_iterations;   /* evaluations of one target */
    int monotone;         /* no step may increase the error */
    fa_tick tick;         /* with the number of targets that are done */
    void *context;
    double *q;           /* [count][nq] start, then the result; NaN if not finite */
    double *residual;    /* [count][6] error without weights */
    double *cost;        /* [count] norm of the weighted error */
    int32_t *status;     /* [count] fa_ik_status */
    int32_t *iterations; /* [count] evaluations */
} fa_ik;

#endif
