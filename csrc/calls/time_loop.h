/*
 * time_loop.h -- what a time loop is given: methods, forces, feedback, laws at samples
 */
#ifndef FA_TIME_LOOP_H
#define FA_TIME_LOOP_H

#include "calls/tick.h"

#include <stddef.h>
#include <stdint.h>

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

/* methods of a time loop, all but the first without constraints; the last one chooses
 * its steps */
typedef enum {
    FA_RK4,
    FA_ROS34PW2,
    FA_NEWMARK,
    FA_LINEAR_ACCELERATION,
    FA_GENERALIZED_ALPHA,
    FA_RODAS4P,
    FA_N_METHODS
} fa_method;

/* their names in Python */
extern const char *const fa_method_names[FA_N_METHODS];

/* how a trajectory ended: at the last time or with numbers that are not finite; with
 * an iteration that did not converge; with a step too short to be added to the time */
typedef enum {
    FA_REACHED,
    FA_NOT_CONVERGED,
    FA_STEP_TOO_SHORT,
    FA_N_ENDINGS
} fa_ending;

/* numbers of a trajectory: steps, steps that were rejected, fa_ending, its time and
 * residual; of ROS34PW2 errors, size of the motion and work (rosenbrock.c, R5); of
 * methods that may be unstable the largest error, size of the motion, error that is
 * left and steps that miss all of it (step_errors.h, R7), which a next run goes on with */
enum {
    FA_REPORT_STEPS,
    FA_REPORT_REJECTED,
    FA_REPORT_ENDING,
    FA_REPORT_TIME,
    FA_REPORT_RESIDUAL,
    FA_REPORT_ERROR,
    FA_REPORT_SCALE,
    FA_REPORT_WORK,
    FA_REPORT_ASTRAY,
    FA_REPORT_SIZE
};

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
 * the next ones arrive (sampled_loop.c). It takes the place of the forces of a
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
    fa_each rows;            /* [p][2 nv] of (q, qd) */
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

/* whether time loops of stacks have a method: those that need no derivatives */
int fa_stack_integrates(fa_method method);

#endif
