/*
 * kernels.h -- what can be computed of an arm, and the operands of a batch
 */
#ifndef FA_KERNELS_H
#define FA_KERNELS_H

#include "model/layout.h"

#include <stddef.h>

/* inputs -> outputs; (n) are numbers of doubles, N the nodes, B the links */
typedef enum {
    FA_INVERSE_DYNAMICS,   /* q (nq), qd (nv), qdd (nv) -> tau (nv) */
    FA_BIAS_FORCES,        /* q (nq), qd (nv) -> (nv) */
    FA_GRAVITY_FORCES,     /* q (nq) -> (nv) */
    FA_INVERSE_TANGENTS,   /* q (nq), qd (nv), qdd (nv) -> dq, dqd (2, nv, nv) */
    FA_FORWARD_DYNAMICS,   /* q (nq), qd (nv), tau (nv or n_actuators) -> qdd (nv) */
    FA_FORWARD_BASIC,      /* the same, modes and joint of a body freed at once */
    FA_FORWARD_COMPOSITE,  /* the same by the mass matrix and a dense solve */
    FA_MASS_MATRIX,        /* q (nq) -> (nv, nv) */
    FA_MASS_INVERSE,       /* q (nq) -> (nv, nv) */
    FA_APPLY_MASS,         /* q (nq), x (nv) -> M x (nv) */
    FA_APPLY_MASS_INVERSE, /* q (nq), x (nv) -> M^-1 x (nv) */
    FA_LOG_DET_MASS,       /* q (nq) -> () */
    FA_INNOVATIONS,        /* q (nq) -> L, D (2, nv, nv), rows by bodies */
    FA_INVERSE_BLOCKS,     /* q (nq) -> (nv, nv), rows by bodies */
    FA_KINETIC_ENERGY,     /* q (nq), qd (nv) -> () */
    FA_POTENTIAL_ENERGY,   /* q (nq) -> () */
    FA_DISSIPATED_POWER,   /* q (nq), qd (nv) -> () */
    FA_LINK_POSES,         /* q (nq) -> (B, 4, 4) */
    FA_NODE_POSES,         /* q (nq) -> (N, 4, 4) */
    FA_NODE_POSE,          /* node, q (nq) -> (4, 4) */
    FA_NODE_VELOCITY,      /* node, q (nq), qd (nv) -> (6) */
    FA_JACOBIAN,           /* node, q (nq) -> (6, nv) */
    FA_WRENCH_FORCES,      /* node, q (nq), wrench (6) -> (nv) */
    FA_NODE_COMPLIANCE,    /* pair of nodes, q (nq) -> (6, 6) */
    FA_NODE_ACCELERATION,  /* node, q (nq), qd (nv), qdd (nv) -> (6) */
    FA_MOMENTUM,           /* q (nq), qd (nv) -> (6) */
    FA_CENTER_OF_MASS,     /* q (nq) -> (3) */
    FA_INTEGRATE,          /* q (nq), dq (nv) -> (nq) */
    FA_POSITION_RATES,     /* q (nq), qd (nv) -> (nq) */
    /* twists of bodies, body-fixed; then spatial, hybrid and mixed, for arms of full
     * fidelity or without modes */
    FA_LINK_VELOCITIES, /* q (nq), qd (nv) -> (B, 6) */
    FA_LINK_VELOCITIES_SPATIAL,
    FA_LINK_VELOCITIES_HYBRID,
    FA_LINK_VELOCITIES_MIXED,
    FA_LINK_ACCELERATIONS, /* q (nq), qd (nv), qdd (nv) -> (B, 6) */
    FA_LINK_ACCELERATIONS_SPATIAL,
    FA_LINK_ACCELERATIONS_HYBRID,
    FA_LINK_ACCELERATIONS_MIXED,
    FA_LINK_JACOBIANS, /* q (nq) -> (B, 6, nv) */
    FA_LINK_JACOBIANS_SPATIAL,
    FA_LINK_JACOBIANS_HYBRID,
    FA_LINK_JACOBIANS_MIXED,
    FA_LINK_JACOBIAN_RATES, /* q (nq), qd (nv) -> (B, 6, nv) */
    FA_LINK_JACOBIAN_RATES_SPATIAL,
    FA_LINK_JACOBIAN_RATES_HYBRID,
    FA_LINK_JACOBIAN_RATES_MIXED,
    /* only of arms with constraints, m of them */
    FA_CONSTRAINT_VIOLATION, /* q (nq) -> (m) */
    FA_CONSTRAINT_JACOBIAN,  /* q (nq) -> (m, nv) */
    FA_CONSTRAINT_FORCES,    /* q (nq), qd (nv), tau (nv or n_actuators) -> (m) */
    /* derivatives; of forward dynamics only for arms without constraints */
    FA_FORWARD_TANGENTS,  /* q (nq), qd (nv), tau (nv or n_actuators) -> (3, nv, nv) */
    FA_INVERSE_JVP,       /* q, qd, qdd, changes of all three (nv) -> (nv) */
    FA_FORWARD_JVP,       /* q, qd, tau, changes of all three -> (nv) */
    FA_INVERSE_VJP,       /* q, qd, qdd, cotangent (nv) -> (3, nv) */
    FA_FORWARD_VJP,       /* q, qd, tau, cotangent (nv) -> (3, nv) */
    FA_JACOBIAN_TANGENTS, /* node, q (nq) -> (6, nv, nv) */
    FA_ENERGY_TANGENTS,   /* q (nq), qd (nv) -> dq, dqd (2, nv) */
    FA_N_KERNELS
} fa_kernel;

/* inputs of a kernel without the node number */
enum { FA_MOST_INPUTS = 6, FA_MOST_OPERANDS = FA_MOST_INPUTS + 1 };

/* one operand of a batch: element e of state i is at data + i * stride + offset[e] */
typedef struct {
    char *data;
    ptrdiff_t stride;
    int size;
    const ptrdiff_t *offset; /* [size] in bytes */
} fa_operand;

typedef struct {
    size_t count; /* states whose result is not finite */
    size_t first; /* the first of them */
} fa_failures;

/* whether a kernel has a meaning for an arm: some need constraints */
int fa_kernel_applies(const fa_model *model, fa_kernel kernel);

/* whether the third input of a kernel is tau, of n_actuators or nv entries */
int fa_kernel_takes_tau(fa_kernel kernel);

/* whether the node number of a kernel is that of a pair */
int fa_kernel_takes_pair(fa_kernel kernel);

/* number of inputs of a kernel, without the node number */
int fa_kernel_inputs(fa_kernel kernel);

#endif
