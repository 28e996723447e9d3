/*
 * laws.h -- one sample of a control law, for control loops in C
 *
 * flexarm.control.export_c writes a law as constants of these structs. Nothing here
 * allocates, locks or prints, and nothing needs more than C99: with active_set.c this file
 * is all that a controller without a model of the arm compiles. Sums go from left to right
 * from the terms that stand first, without a choice of the compiler unless its flags let it
 * contract products and sums (-ffp-contract).
 *
 * Linear law, of flexarm.control.LinearController: state feedback, LQG, filters.
 *
 *     u = f + C z + D e,  e = y - r                                               (CL1)
 *     z <- A z + B e + E (w - u),  w what the actuators apply                     (CL2)
 *
 * Kalman filter, of flexarm.control.KalmanFilter, about the point of its model:
 *
 *     x = z + L (y - C z),  z <- A x + B u                                        (CL3)
 *
 * Shaper, of flexarm.control.Shaper: amplitudes a_i of the command at delays d_i, linear
 * between its samples x_k, which stay as they were before the first one:
 *
 *     v_k = sum a_i ((1 - s_i) x_(k - d_i) + s_i x_(k - d_i - 1))                 (CL4)
 *
 * Predictive control, of flexarm.control.PredictiveControl: the force without active
 * limits is linear in the parameters p = (x; last u; w), and so are the rows of limits,
 * which the multipliers m of library/active_set.h keep:
 *
 *     u = F p - m' E,  lower <= R p - G m + e <= upper                            (CL5)
 *     z = A x_last + B u_last + w,  x = z + L (y - C z),  w <- w + h (x - z)      (CL6)
 *
 * where y is x without an observer. w is a constant disturbance of the state at each
 * sample, known to be zero if h is.
 *
 * Checked by  tests/control/test_export_laws.py: bits of the laws of Python.
 */
#ifndef FA_LAWS_H
#define FA_LAWS_H

#include "library/active_set.h"

typedef struct {
    int n_states, n_outputs, n_forces;
    const double *A, *B, *C, *D; /* [m][m], [m][p], [nu][m], [nu][p] */
    const double *E;             /* [m][nu], or NULL */
} fa_linear_law;

/* forces u [nu] at the state z and the errors e; f [nu] may be NULL (CL1) */
void fa_linear_output(const fa_linear_law *law, const double *z, const double *e,
                      const double *f, double *u);

/* state z [m] of the next sample, where the actuators follow; next [m] is scratch (CL2) */
void fa_linear_next(const fa_linear_law *law, double *z, const double *e, double *next);

/* what forces that are not followed, w - u [nu], change of the state after that (CL2) */
void fa_linear_correct(const fa_linear_law *law, const double *unfollowed, double *z);

typedef struct {
    int n_states, n_outputs, n_inputs;
    const double *A, *B, *C, *L; /* [n][n], [n][m], [p][n], [n][p] */
} fa_kalman_filter;

/* estimate x [n] with the outputs y [p] of a sample, from the prediction z (CL3) */
void fa_kalman_estimate(const fa_kalman_filter *filter, const double *z,
                        const double *y, double *x);

/* prediction z [n] for the next sample, from x and the inputs u [m] that act until then */
void fa_kalman_predict(const fa_kalman_filter *filter, const double *x, const double *u,
                       double *z);

typedef struct {
    int width, n_impulses, n_kept;
    const int *delays;                /* [n_impulses], below n_kept - 1 */
    const double *parts, *amplitudes; /* [n_impulses] */
} fa_shaper;

/*
 * Shaped sample v [width] of a command at its sample x [width] (CL4).
 *   kept   [n_kept][width] the last samples
 *   count  samples so far, zero at the begin
 */
void fa_shaper_step(const fa_shaper *shaper, double *kept, long *count, const double *x,
                    double *v);

/* how a sample of predictive control ended: from all limits to fewer of them */
typedef enum {
    FA_PREDICTIVE_SOLVED,
    FA_PREDICTIVE_SOFTENED, /* outputs cannot keep their limits: by as little as can be */
    FA_PREDICTIVE_RELAXED,   /* nor can rates of the forces */
    FA_PREDICTIVE_UNFINISHED /* after max_steps; the forces are within their limits */
} fa_predictive_status;

typedef struct {
    int n_states, n_outputs, n_inputs, n_rows, max_steps;
    const double *A, *B;         /* [n][n], [n][m] of the model */
    const double *C, *L;         /* [p][n], [n][p] of the observer; NULL: y is x */
    const double *R, *F;         /* [n_rows][2 n + m], [m][2 n + m] */
    const double *E;             /* [n_rows][m] */
    const double *gram;          /* [n_rows][n_rows] */
    const double *lower, *upper; /* [n_rows] */
    const double *tolerance;     /* [n_rows] */
    const double *soft;          /* [3][n_rows]: none; outputs; outputs and rates */
    const double *least, *most;  /* [m] limits of the forces, infinite for none */
    const int *next;             /* [n_rows] the row that it is a sample later, or -1 */
    double h;
} fa_predictive;

/* what it remembers; all zero at the begin but for u */
typedef struct {
    double *p; /* [2 n + m]: x of the sample before, u before, w */
    double *y; /* [n_rows] */
    int *side; /* [n_rows] */
    int begun; /* whether there was a sample before */
} fa_predictive_state;

#define FA_PREDICTIVE_DOUBLES(n, rows) (2 * (n) + 2 * (rows) + FA_ACTIVE_DOUBLES(rows))
#define FA_PREDICTIVE_INTS(rows) FA_ACTIVE_INTS(rows)

/*
 * Forces u [m] at the outputs y [p], both from the point of the law (CL5, CL6).
 *   steps  receives the steps of the active set
 *   work   [FA_PREDICTIVE_DOUBLES(n, n_rows)], places [FA_PREDICTIVE_INTS(n_rows)]
 * Where actuators apply other forces than u, put those into state->p + n afterwards.
 */
fa_predictive_status fa_predictive_step(const fa_predictive *law,
                                        fa_predictive_state *state, const double *y,
                                        double *u, int *steps, double *work,
                                        int *places);

#endif
