/*
 * laws.c -- one sample of a control law
 *
 * Equations: library/laws.h.
 */
#include "library/laws.h"

/* sum [rows] += M [rows][columns] x */
static void laws_add(int rows, int columns, const double *M, const double *x,
                     double *sum)
{
    for (int i = 0; i < rows; i++) {
        double value = sum[i];
        for (int j = 0; j < columns; j++) {
            value += M[i * columns + j] * x[j];
        }
        sum[i] = value;
    }
}

static void laws_clear(int n, double *x)
{
    for (int i = 0; i < n; i++) {
        x[i] = 0.0;
    }
}

static void laws_copy(int n, const double *from, double *to)
{
    for (int i = 0; i < n; i++) {
        to[i] = from[i];
    }
}

static void laws_add_up(int n, const double *more, double *sum)
{
    for (int i = 0; i < n; i++) {
        sum[i] += more[i];
    }
}

/* x = z + L (y - C z) */
static void laws_observe(int n, int p, const double *C, const double *L,
                         const double *z, const double *y, double *x)
{
    laws_copy(n, z, x);
    for (int i = 0; i < p; i++) {
        double seen = 0.0;
        laws_add(1, n, C + i * n, z, &seen);
        const double off = y[i] - seen;
        for (int k = 0; k < n; k++) {
            x[k] += L[k * p + i] * off;
        }
    }
}

/* linear laws and filters */

void fa_linear_output(const fa_linear_law *law, const double *z, const double *e,
                      const double *f, double *u)
{
    const int nu = law->n_forces;
    laws_clear(nu, u);
    if (f) {
        laws_copy(nu, f, u);
    }
    laws_add(nu, law->n_states, law->C, z, u);
    laws_add(nu, law->n_outputs, law->D, e, u);
}

void fa_linear_next(const fa_linear_law *law, double *z, const double *e, double *next)
{
    const int m = law->n_states;
    laws_clear(m, next);
    laws_add(m, m, law->A, z, next);
    laws_add(m, law->n_outputs, law->B, e, next);
    laws_copy(m, next, z);
}

void fa_linear_correct(const fa_linear_law *law, const double *unfollowed, double *z)
{
    if (law->E) {
        laws_add(law->n_states, law->n_forces, law->E, unfollowed, z);
    }
}

void fa_kalman_estimate(const fa_kalman_filter *filter, const double *z,
                        const double *y, double *x)
{
    const int n = filter->n_states, p = filter->n_outputs;

    laws_observe(n, p, filter->C, filter->L, z, y, x);
}

void fa_kalman_predict(const fa_kalman_filter *filter, const double *x, const double *u,
                       double *z)
{
    const int n = filter->n_states;
    laws_clear(n, z);
    laws_add(n, n, filter->A, x, z);
    laws_add(n, filter->n_inputs, filter->B, u, z);
}

/* commands */

void fa_shaper_step(const fa_shaper *shaper, double *kept, long *count, const double *x,
                    double *v)
{
    const int width = shaper->width, size = shaper->n_kept;
    const int now = (int)(*count % size);

    for (int k = 0; *count == 0 && k < size; k++) {
        laws_copy(width, x, kept + k * width);
    }
    laws_copy(width, x, kept + now * width);
    laws_clear(width, v);
    for (int i = 0; i < shaper->n_impulses; i++) {
        const int d = shaper->delays[i];
        const double *at = kept + (now + size - d) % size * width;
        const double *before = kept + (now + size - d - 1) % size * width;
        for (int j = 0; j < width; j++) {
            const double part = shaper->parts[i];
            v[j] += shaper->amplitudes[i] * (at[j] * (1.0 - part) + before[j] * part);
        }
    }
    ++*count;
}

/* predictive control */

/* the state, and the disturbance that the way from the last one shows (CL6) */
static void predictive_observe(const fa_predictive *law, fa_predictive_state *state,
                               const double *y, double *z, double *x)
{
    const int n = law->n_states, m = law->n_inputs, p = law->n_outputs;
    double *last = state->p, *u = last + n, *w = u + m;

    laws_clear(n, z);
    if (state->begun) {
        laws_add(n, n, law->A, last, z);
        laws_add(n, m, law->B, u, z);
        laws_add_up(n, w, z);
    }
    if (law->L) {
        laws_observe(n, p, law->C, law->L, z, y, x);
    } else {
        laws_copy(n, y, x);
    }
    for (int i = 0; state->begun && i < n; i++) {
        w[i] += law->h * (x[i] - z[i]);
    }
    laws_copy(n, x, last);
    state->begun = 1;
}

/* multipliers of the sample before, a sample later */
static void predictive_shift(const fa_predictive *law, fa_predictive_state *state)
{
    for (int i = 0; i < law->n_rows; i++) {
        const int to = law->next[i];
        if (to >= 0) { /* a row before this one, or itself: it has been read */
            state->side[to] = state->side[i];
            state->y[to] = state->y[i];
        }
    }
}

fa_predictive_status fa_predictive_step(const fa_predictive *law,
                                        fa_predictive_state *state, const double *y,
                                        double *u, int *steps, double *work,
                                        int *places)
{
    const int n = law->n_states, m = law->n_inputs, rows = law->n_rows;
    const int width = 2 * n + m;
    double *z = work, *x = z + n, *lower = x + n, *upper = lower + rows;
    fa_predictive_status status = FA_PREDICTIVE_SOLVED;

    predictive_observe(law, state, y, z, x);
    predictive_shift(law, state);
    /* limits of the rows without what the parameters do to them */
    for (int i = 0; i < rows; i++) {
        double value = 0.0;
        laws_add(1, width, law->R + i * width, state->p, &value);
        lower[i] = law->lower[i] - value;
        upper[i] = law->upper[i] - value;
    }
    fa_active_problem problem = {rows,           law->gram, law->soft,
                                 law->tolerance, lower,     upper};
    *steps = 0;
    for (int level = 0; level < 3; level++) { /* each goes on from the set before */
        problem.soft = law->soft + level * rows;
        const fa_active_status found =
            fa_active_solve(&problem, state->side, state->y, law->max_steps, steps,
                            upper + rows, places);
        status = found == FA_ACTIVE_SOLVED ? (fa_predictive_status)level
                                           : FA_PREDICTIVE_UNFINISHED;
        if (found != FA_ACTIVE_INFEASIBLE) {
            break;
        }
    }
    /* the first of the planned forces */
    laws_clear(m, u);
    laws_add(m, width, law->F, state->p, u);
    for (int i = 0; i < rows; i++) {
        for (int j = 0; state->side[i] && j < m; j++) {
            u[j] -= state->y[i] * law->E[i * m + j];
        }
    }
    for (int j = 0; j < m; j++) {
        u[j] = u[j] < law->least[j] ? law->least[j] : u[j];
        u[j] = u[j] > law->most[j] ? law->most[j] : u[j];
    }
    laws_copy(m, u, state->p + n);
    return status;
}
