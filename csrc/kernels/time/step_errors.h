/*
 * step_errors.h -- what steps of methods that may be unstable miss, by what they know
 *
 *             e = v_other - v_1 of velocities of an embedded method, and the size of the
 *             motion so far, by kinetic energy,
 *                 |e|^2 = e' M e,  s_1^2 = max(s_0^2, v_1' M v_1)                    (R6)
 *             e is scaled such that a step misses 0.1 (|e|/s)^(3/2) of the motion. It
 *             adds that to the errors before, which damping and forces of a feedback
 *             forget,
 *                 x_1 = x_0/(1 + 2 h p/s_1^2) + 0.1 |e| (|e|/s)^(1/2),
 *                 p = sum_i D_ii v_i^2 + |tau_i v_i|,  s = max(s_0, s_1/2)           (R7)
 *             The report has the largest x, s and x at the end, and the number of steps
 *             with |e| > s: a stable step has few of them before its mode is gone.
 * M           of an earlier step, as long as errors are small: diagonals or old
 *             matrices make much of stiff motion in which little mass moves.
 * Not in it   errors that the motion makes larger, as a chaotic one; closed chains.
 * Checked by  tests/simulation/test_step_errors.py: exact solutions, short steps,
 *             random arms.
 */
#ifndef FA_STEP_ERRORS_H
#define FA_STEP_ERRORS_H

#include "calls/time_loop.h"
#include "kernels/time/rollout.h"
#include "lanes/dense_lanes.h"
#include "lanes/lane.h"
#include "model/layout.h"

/* (1e-6 rad/s)^2 and so on: no motion; and the factor of what a step misses (R7) */
static const double SE_REST_SQUARE = 1e-12, SE_MISSED_SHARE = 0.1;
/* M is taken anew where errors are more than SE_MIN_ERROR of the motion: after SE_MAX_AGE
 * steps, or SE_MIN_AGE if a step adds more than SE_MIN_CHANGE */
static const double SE_MIN_ERROR = 1e-2, SE_MIN_CHANGE = 1e-3, SE_MIN_AGE = 4.0,
                    SE_MAX_AGE = 16.0;

/* of a block; M follows, its lower triangle, entries below the diagonal twice */
typedef struct {
    fa_real largest, square, now, astray; /* x, s^2, x, steps */
    fa_real still;                        /* s^2 without motion */
    fa_real age;                          /* of M in steps */
} step_errors;

/* whether steps are judged: velocities of closed chains change at their ends, too */
static int se_is_judged(const roll_group *g)
{
    return g->run->report && g->model->n_constraints == 0;
}

static size_t se_size(const fa_model *model)
{
    const size_t nv = (size_t)model->nv;
    return sizeof(step_errors) / sizeof(fa_real) + nv * (nv + 1) / 2;
}

static size_t se_kernel_size(const fa_model *model)
{
    const size_t nv = (size_t)model->nv;
    return roll_mass_size(model) + nv * nv;
}

FA_INLINE fa_real *se_mass(step_errors *errors)
{
    return (fa_real *)(errors + 1);
}

/* M at the start of the step, in the lanes that want it */
static void se_take_mass(const roll_group *g, const roll_block *s, fa_mask wanted,
                         step_errors *errors)
{
    const int nv = g->model->nv;
    fa_real *M = g->work + roll_mass_size(g->model), *mass = se_mass(errors);
    fa_real still = {0};

    roll_mass(g, s, M);
    for (int i = 0, k = 0; i < nv; i++, k++) {
        for (int j = 0; j < i; j++, k++) {
            mass[k] = fa_select(wanted, 2.0 * M[i * nv + j], mass[k]);
        }
        mass[k] = fa_select(wanted, M[i * nv + i], mass[k]);
        still += SE_REST_SQUARE * fa_positive(mass[k]);
    }
    errors->still = still;
    errors->age = fa_select(wanted, (fa_real){0}, errors->age);
}

/* x' M x, not negative where M of linear fidelity is indefinite */
static fa_real se_square(int nv, const fa_real *restrict mass,
                         const fa_real *restrict x)
{
    fa_real square = {0};

    for (int i = 0; i < nv; i++) {
        fa_real sum = {0};
        for (int j = 0; j <= i; j++) {
            sum += mass[j] * x[j];
        }
        square += sum * x[i];
        mass += i + 1;
    }
    return fa_positive(square);
}

/* what a run before has left, and the size of the motion at the start */
static void se_start(const roll_group *g, const roll_block *s, step_errors *errors)
{
    const fa_mask all = fa_splat(0.0) == 0.0;

    if (!se_is_judged(g)) {
        return;
    }
    fa_zero((fa_real *)errors, (int)se_size(g->model));
    for (int lane = 0; lane < roll_states(g, s); lane++) {
        const double *row = roll_row(g, s, lane);
        errors->largest[lane] = row[FA_REPORT_ERROR];
        errors->square[lane] = row[FA_REPORT_SCALE] * row[FA_REPORT_SCALE];
        errors->now[lane] = row[FA_REPORT_WORK];
        errors->astray[lane] = row[FA_REPORT_ASTRAY];
    }
    se_take_mass(g, s, all, errors);
    const fa_real square =
        se_square(g->model->nv, se_mass(errors), s->qd) + errors->still;
    errors->square = fa_select(square > errors->square, square, errors->square);
}

static void se_end(const roll_group *g, const roll_block *s, const step_errors *errors)
{
    for (int lane = 0; se_is_judged(g) && lane < roll_states(g, s); lane++) {
        double *row = roll_row(g, s, lane);
        row[FA_REPORT_ERROR] = errors->largest[lane];
        row[FA_REPORT_SCALE] = sqrt(errors->square[lane]);
        row[FA_REPORT_WORK] = errors->now[lane];
        row[FA_REPORT_ASTRAY] = errors->astray[lane];
    }
}

/* p at velocities v */
static fa_real se_power(const roll_group *g, const roll_block *s, const fa_real *v)
{
    const fa_model *model = g->model;
    const fa_rollout *run = g->run;
    fa_real power = {0};

    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        for (int i = 0; i < b->n_dof; i++) {
            const fa_real rate = v[b->joint_at + i];
            power += b->damping[i] * (rate * rate);
        }
        for (int i = 0; i < b->n_modes; i++) {
            const fa_real rate = v[b->mode_at + i];
            power += b->modal.C[i * (b->n_modes + 1)] * (rate * rate);
        }
    }
    if (run->kind != FA_TORQUE_CALL && !run->feedback && !run->sampled) {
        return power; /* forces that do not know of errors */
    }
    for (int i = 0; i < model->nv; i++) {
        power += dense_size(s->tau[i] * v[i]);
    }
    return power;
}

/* the errors after a step with the difference e that ends with velocities v (R6, R7) */
static step_errors se_step(int nv, step_errors *errors, const fa_real *e,
                           const fa_real *v, fa_real work)
{
    const fa_real *mass = se_mass(errors);
    const fa_real before = errors->square;
    const fa_real square = se_square(nv, mass, v) + errors->still;
    const fa_real error = se_square(nv, mass, e), root = fa_sqrt(error);
    step_errors next = *errors;

    next.square = fa_select(square > before, square, before);
    const fa_real least = 0.25 * next.square;
    const fa_real size = fa_sqrt(fa_select(before > least, before, least));
    next.now = errors->now * (next.square / (next.square + 2.0 * work)) +
               SE_MISSED_SHARE * root * fa_sqrt(root / size);
    next.astray += fa_select(error > next.square, fa_splat(1.0), (fa_real){0});
    return next;
}

/* adds the error of a step, q of whose start is in s, with the velocities of an embedded
 * method, which become e, and those of its end */
static void se_add(const roll_group *g, const roll_block *s, fa_real *other,
                   const fa_real *v, fa_real h, step_errors *errors)
{
    const int nv = g->model->nv;
    const fa_real work = h * se_power(g, s, v);

    for (int i = 0; i < nv; i++) {
        other[i] -= v[i];
    }
    step_errors next = se_step(nv, errors, other, v, work);
    const fa_real size = fa_sqrt(next.square);
    const fa_mask coarse = next.now > errors->now + SE_MIN_CHANGE * size;
    const fa_mask wanted =
        (next.now > SE_MIN_ERROR * size) &
        ((coarse & (errors->age >= SE_MIN_AGE)) | (errors->age >= SE_MAX_AGE));
    if (fa_any(wanted)) {
        se_take_mass(g, s, wanted, errors);
        next = se_step(nv, errors, other, v, work);
    }
    next.largest = fa_select(next.now > next.largest, next.now, next.largest);
    next.age += 1.0;
    *errors = next;
}

#endif
