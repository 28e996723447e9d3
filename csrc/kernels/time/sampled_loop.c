/*
 * sampled_loop.c -- a linear law at samples around a plant in continuous time, one block
 *                   of trajectories
 *
 *             y_k = round(Y (q; qd) + n_k)  at t_k, n_k the noise               (J1)
 *             u_k = f_k + C z_k + D e_k,  e_k = y_k - r_k                       (J2)
 *             w_k = limits(round(u_k)),  which act from t_k + delay on          (J3)
 *             z_(k+1) = A z_k + B e_k + E (w_k - u_k)                           (J4)
 * Knots       are the times of samples, of changes of the forces and of the result;
 *             from one to the next any of the methods with fixed steps goes, and begins
 *             anew: forces may jump. At a knot samples come first, then changes.
 * Rounding    to multiples of a resolution, ties to even.
 * Memory      y holds the noise until the outputs are added to it; forces that are on
 *             their way are read again from w.
 * Source      K. Astrom, B. Wittenmark, Computer-Controlled Systems (1997), ch. 2, 3.
 * Checked by  tests/control/test_sampled_loop.py: exact solutions of linear plants,
 *             the same
 *             loop in Python.
 */
#ifndef FA_SAMPLED_LOOP_C
#define FA_SAMPLED_LOOP_C

#include "calls/time_loop.h"
#include "kernels/bodies/joint_forces.h"
#include "kernels/time/rollout.h"
#include "kernels/time/rollout_steps.h"
#include "lanes/lane.h"
#include "model/layout.h"

/* arrays of the law of a block */
typedef struct {
    fa_real *A, *B, *C, *D, *E;
    fa_real *z, *next; /* [m] */
    fa_real *y, *r;    /* [p] */
    fa_real *u, *w;    /* [nu] */
    fa_real *held;     /* [nu] forces that act */
    fa_real *rows;     /* [p][2 nv] of (q, qd), if not those of all */
} sl_own;

/* of the next sample, change and time of the result */
typedef struct {
    size_t sample, change, output;
} sl_place;

static size_t sl_size(const fa_model *model, const fa_sampled *law)
{
    const size_t nu = (size_t)model->n_actuators;
    const size_t p = (size_t)law->n_outputs, m = (size_t)law->n_states;
    const size_t rows = law->rows.stride ? 2 * p * (size_t)model->nv : 0;
    return m * (m + p + 2 * nu + 2) + p * (nu + 2) + 3 * nu + rows;
}

static sl_own sl_split(const roll_group *g)
{
    const size_t nu = (size_t)g->model->n_actuators;
    const size_t p = (size_t)g->run->sampled->n_outputs;
    const size_t m = (size_t)g->run->sampled->n_states;
    sl_own own = {.A = g->law};
    own.B = own.A + m * m;
    own.C = own.B + m * p;
    own.D = own.C + nu * m;
    own.E = own.D + nu * p;
    own.z = own.E + m * nu;
    own.next = own.z + m;
    own.y = own.next + m;
    own.r = own.y + p;
    own.u = own.r + p;
    own.w = own.u + nu;
    own.held = own.w + nu;
    own.rows = own.held + nu;
    return own;
}

/* sum += M x, M of `rows` rows */
static void sl_add(int rows, int columns, const fa_real *M, const fa_real *x,
                   fa_real *sum)
{
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            sum[i] += M[i * columns + j] * x[j];
        }
    }
}

/* multiples of the steps that are not zero */
static void sl_round(int n, const double *step, fa_real *x)
{
    for (int i = 0; i < n; i++) {
        for (int w = 0; w < FA_LANES && step[i] > 0.0; w++) {
            x[i][w] = step[i] * rint(x[i][w] / step[i]);
        }
    }
}

/* gains and first state of the law */
static void sl_start(const roll_group *g, const sl_own *own)
{
    const fa_sampled *law = g->run->sampled;
    const size_t nu = (size_t)g->model->n_actuators;
    const size_t p = (size_t)law->n_outputs, m = (size_t)law->n_states;

    roll_read(g, 0, law->A.at, law->A.stride, m * m, own->A);
    roll_read(g, 0, law->B.at, law->B.stride, m * p, own->B);
    roll_read(g, 0, law->C.at, law->C.stride, nu * m, own->C);
    roll_read(g, 0, law->D.at, law->D.stride, nu * p, own->D);
    if (law->E.at) {
        roll_read(g, 0, law->E.at, law->E.stride, m * nu, own->E);
    }
    if (law->rows.stride) {
        const size_t all = 2 * p * (size_t)g->model->nv;
        roll_read(g, 0, law->rows.at, law->rows.stride, all, own->rows);
    }
    roll_read(g, 0, law->z0.at, law->z0.stride, m, own->z);
    roll_read(g, 0, law->held.at, law->held.stride, nu, own->held);
}

/* the measured outputs of sample k (J1) */
static void sl_measure(const roll_group *g, const sl_own *own, size_t k)
{
    const fa_sampled *law = g->run->sampled;
    const roll_block *s = g->blocks;
    const int p = law->n_outputs, nv = g->model->nv;
    const size_t size = (size_t)p, stride = law->n_samples * size;

    roll_read(g, 0, law->y + k * size, stride, size, own->y);
    for (int i = 0; i < p; i++) {
        const double *row = law->rows.at + 2 * i * nv;
        fa_real sum = {0};
        for (int j = 0; j < nv && law->rows.stride; j++) {
            const fa_real *each = own->rows + 2 * i * nv + j;
            sum += each[0] * s->q[j];
            sum += each[nv] * s->qd[j];
        }
        for (int j = 0; j < nv && !law->rows.stride; j++) {
            if (row[j] != 0.0) {
                sum += row[j] * s->q[j];
            }
            if (row[nv + j] != 0.0) {
                sum += row[nv + j] * s->qd[j];
            }
        }
        own->y[i] += sum;
    }
    sl_round(p, law->resolution, own->y);
    roll_write(g, 0, own->y, size, law->y + k * size, stride);
}

/* sample k: the command (J2), what the actuators make of it (J3), the next state (J4) */
static void sl_sample(const roll_group *g, const sl_own *own, size_t k)
{
    const fa_sampled *law = g->run->sampled;
    const int nu = g->model->n_actuators, p = law->n_outputs, m = law->n_states;
    const size_t n = law->n_samples, inputs = (size_t)nu, states = (size_t)m;
    const size_t at_r = law->n_reference == 1 ? 0 : k * (size_t)p;
    const size_t at_f = law->n_feedforward == 1 ? 0 : k * inputs;

    sl_measure(g, own, k);
    roll_read(g, 0, law->reference.at + at_r, law->reference.stride, (size_t)p, own->r);
    for (int i = 0; i < p; i++) {
        own->r[i] = own->y[i] - own->r[i];
    }
    roll_read(g, 0, law->feedforward.at + at_f, law->feedforward.stride, inputs,
              own->u);
    sl_add(nu, m, own->C, own->z, own->u);
    sl_add(nu, p, own->D, own->r, own->u);
    roll_write(g, 0, own->u, inputs, law->u + k * inputs, n * inputs);
    memcpy(own->w, own->u, inputs * sizeof(fa_real));
    sl_round(nu, law->step, own->w);
    for (int i = 0; i < nu; i++) {
        const fa_real least = fa_splat(law->limits[i]);
        const fa_real most = fa_splat(law->limits[nu + i]);
        own->w[i] = fa_select(own->w[i] < least, least, own->w[i]);
        own->w[i] = fa_select(own->w[i] > most, most, own->w[i]);
        own->u[i] = own->w[i] - own->u[i];
    }
    roll_write(g, 0, own->w, inputs, law->w + k * inputs, n * inputs);
    roll_write(g, 0, own->z, states, law->z + k * states, n * states);
    fa_zero(own->next, m);
    sl_add(m, m, own->A, own->z, own->next);
    sl_add(m, p, own->B, own->r, own->next);
    if (law->E.at) {
        sl_add(m, nu, own->E, own->u, own->next);
    }
    memcpy(own->z, own->next, states * sizeof(fa_real));
}

/* all that happens at a knot */
static void sl_knot(const roll_group *g, const sl_own *own, sl_place *at, size_t knot)
{
    const fa_rollout *run = g->run;
    const fa_sampled *law = run->sampled;
    roll_block *s = g->blocks;
    const size_t nq = (size_t)g->model->nq, nv = (size_t)g->model->nv;
    const size_t nu = (size_t)g->model->n_actuators, n = run->n_samples;

    for (; at->sample < law->n_samples && law->samples[at->sample] == knot;
         at->sample++) {
        sl_sample(g, own, at->sample);
    }
    for (; at->change < law->n_changes && law->changes[at->change] == knot;
         at->change++) {
        roll_read(g, 0, law->w + at->change * nu, law->n_samples * nu, nu, own->held);
    }
    memcpy(s->tau, own->held, nu * sizeof(fa_real));
    jf_actuate(g->model, s->tau);
    for (; at->output < n && law->outputs[at->output] == knot; at->output++) {
        roll_write(g, 0, s->q, nq, run->q + at->output * nq, n * nq);
        roll_write(g, 0, s->qd, nv, run->qd + at->output * nv, n * nv);
        roll_write(g, 0, own->held, nu, law->tau + at->output * nu, n * nu);
    }
}

/* all times of one block; nonzero if the run was stopped */
static int sl_run(roll_group *g)
{
    const fa_sampled *law = g->run->sampled;
    const sl_own own = sl_split(g);
    sl_place at = {0, 0, 0};

    roll_start(g);
    sl_start(g, &own);
    for (size_t knot = 0;; knot++) {
        sl_knot(g, &own, &at, knot);
        if (knot + 1 >= law->n_knots) {
            roll_end(g);
            return 0;
        }
        if (knot > 0 && g->method->restart) {
            g->method->restart(g, g->blocks);
        }
        const fa_real t = fa_splat(law->knots[knot]);
        const fa_real h =
            (fa_splat(law->knots[knot + 1]) - t) / (double)law->substeps[knot];
        for (int j = 0; j < law->substeps[knot]; j++) {
            const roll_time when = {.t = t + (double)j * h, .corner = j == 0};
            if (roll_step(g, &when, j, h) || roll_count(g, 1)) {
                return 1;
            }
        }
    }
}

#endif
