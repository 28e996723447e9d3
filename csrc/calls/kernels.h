/*
 * kernels.h -- what the library computes, for a batch of states
 *
 * One function table per instruction set; fa_kernels_best() picks the widest one the
 * machine has. A batch function copies FA_LANES states into lanes through their
 * strides, calls a kernel, and copies the results out; a short block repeats its last
 * state. A block is read completely before any of its results is written, so an
 * output may alias an input state by state.
 *
 * A state whose result is NaN or infinite is counted and spoils no other.
 * Nothing here allocates: the caller brings fa_work_size() bytes, aligned to 64.
 */
#ifndef FA_KERNELS_H
#define FA_KERNELS_H

#include "calls/maps.h"
#include "model/model.h"
#include "model/stacks.h"
#include <stdint.h>

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

/* how the actuator forces of a time loop are given */
typedef enum {
    FA_TORQUE_ZERO,
    FA_TORQUE_HOLD,
    FA_TORQUE_LINEAR,
    FA_TORQUE_CALL
} fa_torque;

/*
 * fa_torque_call: forces at time t for every state.
 *   q, qd  [count][nq], [count][nv]  current states; tau [count][n_tau] to be filled.
 * Returns nonzero to stop the run.
 */
typedef int (*fa_torque_call)(void *context, double t, const double *q,
                              const double *qd, double *tau);

/* fa_tick: called every few hundred steps with the number of steps of blocks of lanes
 * that are done; nonzero stops the run */
typedef int (*fa_tick)(void *context, size_t steps_done);

/* methods of a time loop, all but the first without constraints; the last one chooses
 * its steps */
typedef enum {
    FA_RK4,
    FA_ROS34PW2,
    FA_NEWMARK,
    FA_LINEAR_ACCELERATION,
    FA_GENERALIZED_ALPHA,
    FA_RODAS4P
} fa_method;

/* how a trajectory ended: at the last time or with numbers that are not finite; with
 * an iteration that did not converge; with a step too short to be added to the time */
typedef enum { FA_REACHED, FA_NOT_CONVERGED, FA_STEP_TOO_SHORT } fa_ending;

/* numbers of a trajectory: steps, steps that were rejected, fa_ending, its time and
 * residual */
enum { FA_REPORT_SIZE = 5 };

/*
 * Feedback of the actuators, nu of them here: of motors where joints have them, else of
 * joints, tau + Kp (reference - q) + Kd (rates - qd), where every joint position has one
 * velocity (no poses). Samples are held or linear as those of tau;
 * strides are doubles between two trajectories, 0: shared.
 */
typedef struct {
    int diagonal;            /* gains are [nu], not [nu][nu] */
    const double *kp, *kd;   /* [count or 1][nu] or [count or 1][nu][nu] */
    const double *reference; /* [count or 1][n_samples][nu] */
    const double *rates;     /* the same, or NULL: zero */
    size_t kp_stride, kd_stride, reference_stride, rates_stride;
} fa_feedback;

/* numbers of all trajectories, or shared by them: `stride` doubles apart, or 0 */
typedef struct {
    const double *at;
    size_t stride;
} fa_each;

/*
 * A linear law at samples, whose forces are held from a delay after each sample until
 * the next ones arrive (kernels/time/sampled_loop.c). It takes the place of the forces of a
 * time loop, whose `n_samples` are then the times of the result; of all methods but
 * the last, where every joint position has one velocity (no poses).
 */
typedef struct {
    size_t n_knots;        /* times between which forces are held */
    const double *knots;   /* [n_knots] increasing */
    const int *substeps;   /* [n_knots - 1] integration steps to the next knot */
    size_t n_steps;        /* their sum */
    size_t n_samples;      /* evaluations of the law */
    size_t n_changes;      /* of the forces, n_samples at most */
    const size_t *samples; /* [n_samples] knot of each, not decreasing */
    const size_t *changes; /* [n_changes] knot from which the forces of a sample act */
    const size_t *outputs; /* knot of each time of the result */
    int n_outputs, n_states; /* p measured ones, m of the law */
    const double *rows;      /* [p][2 nv] of (q, qd) */
    fa_each A, B, C, D, E;   /* [m][m], [m][p], [nu][m], [nu][p], [m][nu] or NULL */
    fa_each z0;              /* [m] first state of the law */
    fa_each reference;       /* [n_reference][p] */
    fa_each feedforward;     /* [n_feedforward][nu] */
    size_t n_reference, n_feedforward; /* 1, or n_samples */
    fa_each held;                      /* [nu] forces before the first ones arrive */
    const double *resolution;          /* [p] of the measured outputs, 0: exact */
    const double *step;                /* [nu] of the forces, 0: exact */
    const double *limits;              /* [2][nu] least and largest forces */
    /* [count][n_samples][...]; y [p] holds the noise before, u and w [nu], z [m] */
    double *y, *u, *w, *z;
    double *tau; /* [count][fa_rollout.n_samples][nu] forces from each time on */
} fa_sampled;

typedef struct {
    fa_method method;
    size_t count;     /* trajectories */
    size_t n_samples; /* times, first one is the start */
    int substeps;     /* integration steps between two samples */
    int n_tau;        /* n_actuators or nv */
    const double *t;  /* [count or 1][n_samples] */
    size_t t_stride;  /* doubles between two trajectories, 0: shared; else no call */
    double spectral_radius;      /* of generalized-alpha, 0 to 1 */
    double rtol, atol, max_step; /* of the one that chooses its steps */
    fa_torque kind;
    const double *tau;           /* [count or 1][n_samples][n_tau] */
    size_t tau_stride;           /* doubles between two trajectories, 0: shared */
    const fa_feedback *feedback; /* or NULL; with held or linear tau of actuators */
    const fa_sampled *sampled;   /* or NULL; with no other forces */
    fa_torque_call call;
    fa_tick tick;
    void *context;
    /* [count][n_samples][nq], [nv]; sample 0 is the initial state */
    double *q, *qd;
    double *tau_out;     /* [count][n_samples][n_tau] or NULL */
    double *report;      /* [count][FA_REPORT_SIZE], zeros before, or NULL */
    const int64_t *arms; /* [count] numbers of the arms, of a stack alone */
} fa_rollout;

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

typedef struct {
    const char *name;
    int lanes;
    /* bytes of scratch of one batch call; sizes: doubles of each operand */
    size_t (*work_size)(const fa_model *, fa_kernel, const int *sizes);
    /*
     * Runs a kernel on `count` states.
     *   index         node numbers, one per state, or NULL; index_stride in bytes; a
     *                 pair (i, j) is the number i N + j
     *   operands      inputs, then the output
     */
    fa_failures (*batch)(const fa_model *, fa_kernel, size_t count, const char *index,
                         ptrdiff_t index_stride, const fa_operand *operands,
                         void *work);
    /* the same for a map, which needs no model */
    size_t (*map_work_size)(fa_map);
    fa_failures (*map)(fa_map, size_t count, const fa_operand *operands, void *work);
    size_t (*rollout_work_size)(const fa_model *, const fa_rollout *);
    /* nonzero if a callback stopped it, later samples are then left as they were */
    int (*rollout)(const fa_model *, const fa_rollout *, void *work);
    size_t (*ik_work_size)(const fa_model *, const fa_ik *);
    /* nonzero if the callback stopped it, targets that are not done are then left */
    int (*ik)(const fa_model *, const fa_ik *, void *work);
    /* whether a kernel can be run on a stack */
    int (*stack_has)(fa_kernel);
    /* bytes of scratch beside work_size of the model of the stack */
    size_t (*stack_work_size)(const fa_stack *);
    /* the same as batch, each state with an arm of its own: `arms` has their numbers */
    fa_failures (*stack_batch)(const fa_stack *, fa_kernel, size_t count,
                               const char *arms, ptrdiff_t arms_stride,
                               const char *index, ptrdiff_t index_stride,
                               const fa_operand *operands, void *work);
    /* the time loop, each trajectory with an arm of its own, by fa_stack_integrates */
    int (*stack_rollout)(const fa_stack *, const fa_rollout *, void *work);
} fa_kernels;

/* whether time loops of stacks have a method: those that need no derivatives */
int fa_stack_integrates(fa_method method);

/* whether a kernel has a meaning for an arm: some need constraints */
int fa_kernel_applies(const fa_model *model, fa_kernel kernel);

/* whether the third input of a kernel is tau, of n_actuators or nv entries */
int fa_kernel_takes_tau(fa_kernel kernel);

/* whether the node number of a kernel is that of a pair */
int fa_kernel_takes_pair(fa_kernel kernel);

/* number of inputs of a kernel, without the node number */
int fa_kernel_inputs(fa_kernel kernel);

/* the table of one instruction set, "avx512", "avx2" or "base"; NULL if the machine
 * lacks it or the name is unknown */
const fa_kernels *fa_kernels_named(const char *name);

/* the widest table the machine has */
const fa_kernels *fa_kernels_best(void);

enum { FA_FEW_STATES = 4 };

/*
 * The table for calls with at most FA_FEW_STATES states: AVX2 where the widest is
 * AVX-512. Half the width has the shorter latency on processors that split 512 bits in
 * two, and the same bits: both sets have the same fused operations, and the compiler
 * contracts the same expressions (tests/test_isa.py).
 */
const fa_kernels *fa_kernels_for_few(const fa_kernels *kernels);

#endif
