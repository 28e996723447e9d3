/*
 * rodas.c -- Rodas4P, a linearly implicit method of order 4(3) that chooses its steps,
 *            one block of trajectories, each with its own time
 *
 *             y = (q, qd), six stages  (1/(gamma h) - J) U_i = f(t + c_i h, Y_i)
 *                 + sum_j<i c_ij U_j / h + d_i h df/dt,  Y_i = y + sum_j<i a_ij U_j,
 *             y += sum_j a_6j U_j + U_6, and U_6 estimates the error            (O5)
 *             with the exact J, since M dF = -K_t dq - C_t dqd at qdd = F (O2).
 *             Elimination of the positions leaves one matrix for all stages. On a pose
 *             U_q is the displacement u from the start of the step, whose rate of Q3
 *             has the derivative 1/2 [u, V]:
 *                 B = (1 + gamma h / 2 [V, .])^-1,
 *                 (M + gamma h C_t + gamma^2 h^2 K_t B) U_qd = gamma h (M (F_i
 *                     + sum c_ij U_j,qd / h) + d_i h dtau/dt - gamma h K_t B w_i),
 *                 U_q = gamma h B (U_qd + w_i),
 *                 w_i = V_i + sum c_ij U_j,q / h                                (O6)
 *             B to third order, which is what order four asks for; on plain coordinates
 *             it is 1.
 * Forces      a function's derivatives by differences; it then has one trajectory.
 * Steps       end at the samples, where forces have corners. Root mean square of
 *             U_6 / (atol + rtol |y|), unit quaternions; the next step by the
 *             predictive controller of Gustafsson.
 * Stability   L-stable, stiffly accurate.
 * Cost        six forward dynamics, a tangent, a mass matrix, factors of size nv.
 * Source      E. Hairer, G. Wanner, Solving Ordinary Differential Equations II (1996),
 *             sec. IV.7 (O5, the controller in sec. IV.8); G. Steinebach, Preprint
 *             1741, TH Darmstadt (1995), the coefficients.
 * Checked by  tests/simulation/test_rodas.py: conditions of order from these
 *             coefficients, a twin
 *             of the step, observed order, error and tolerance.
 */
#ifndef FA_RODAS_C
#define FA_RODAS_C

#include "calls/time_loop.h"
#include "kernels/bodies/joint_forces.h"
#include "kernels/kinematics/positions.c"
#include "kernels/time/implicit.h"
#include "kernels/time/rodas_stages.h"
#include "kernels/time/rollout.h"
#include "lanes/dense_states.h"
#include "lanes/lane.h"
#include "model/layout.h"

/* numbers of the controller: safety, least and largest ratio of steps */
static const double RODAS_SAFETY = 0.9, RODAS_MIN = 1.0 / 6.0, RODAS_MAX = 5.0;

/* where each lane is */
typedef struct {
    fa_real t, h, step;     /* time, wanted step, step that is tried */
    fa_real error, last;    /* squared error, and that of the last step taken */
    fa_real taken;          /* the last step taken, 0: none */
    fa_mask ends, rejected; /* the step ends at a sample; was just rejected */
    fa_mask done;           /* at the last time, or lost */
    size_t k[FA_LANES];     /* interval */
    int fresh[FA_LANES];    /* forces at sample k are not yet recorded */
    int first;              /* nothing tried yet */
} rodas_control;

/* slope of the samples, with those of a feedback, in own->slope */
static void rodas_sample_slope(const roll_group *g, const roll_block *s,
                               const rodas_control *c, const rodas_own *own)
{
    const fa_rollout *run = g->run;
    const size_t n = (size_t)run->n_tau, nu = (size_t)g->model->n_actuators;
    const fa_feedback *f = run->feedback;

    for (size_t w = 0; w < FA_LANES; w++) {
        if (c->done[w]) {
            continue;
        }
        const size_t i = roll_at(g, 0, w), k = c->k[w];
        const double *t = run->t + i * run->t_stride + k;
        const double rate = 1.0 / (t[1] - t[0]);
        const double *tau = run->tau + i * run->tau_stride + k * n;
        for (size_t j = 0; j < n; j++) {
            own->slope[j][w] = rate * (tau[n + j] - tau[j]);
        }
        for (size_t j = 0; f && j < nu; j++) {
            const double *r = f->reference + i * f->reference_stride + k * nu;
            own->x[j][w] = rate * (r[nu + j] - r[j]);
            own->y[j][w] = 0.0;
            if (f->rates) {
                r = f->rates + i * f->rates_stride + k * nu;
                own->y[j][w] = rate * (r[nu + j] - r[j]);
            }
        }
    }
    if (f) {
        const fa_real *kd = s->gains + roll_gains_size(g->model, run) / 2;
        roll_gain((int)nu, f->diagonal, s->gains, own->x, own->slope);
        roll_gain((int)nu, f->diagonal, kd, own->y, own->slope);
    }
    if (run->n_tau < g->model->nv) {
        jf_actuate(g->model, own->slope);
    }
}

/* forces of a function at a changed state or time, less those before, over `step` */
static int rodas_probe(roll_group *g, const rodas_own *own, const roll_time *when,
                       double step, fa_real *change, int stride)
{
    roll_block *s = g->blocks;

    if (roll_ask(g, when)) {
        return 1;
    }
    for (int i = 0; i < g->model->nv; i++) {
        change[i * stride] += (s->tau[i] - own->held[i]) / step;
    }
    return 0;
}

/* derivatives of a function of one trajectory, by differences; nonzero if it stops */
static int rodas_differences(roll_group *g, const rodas_own *own,
                             const rodas_control *c, const imp_parts *p)
{
    const fa_model *model = g->model;
    const int nv = model->nv;
    const double eps = 1e-8;
    roll_block *s = g->blocks;
    roll_time when = {.t = c->t + 1e-4 * c->step};
    fa_real *dK = own->M, *dC = own->S; /* M comes after it */

    memcpy(own->held, s->tau, (size_t)nv * sizeof(fa_real));
    memcpy(s->stage_q, s->q, (size_t)model->nq * sizeof(fa_real));
    memcpy(s->stage_qd, s->qd, (size_t)nv * sizeof(fa_real));
    fa_zero(dK, nv * nv);
    fa_zero(dC, nv * nv);
    if (rodas_probe(g, own, &when, 1e-4 * c->step[0], own->slope, 1)) {
        return 1;
    }
    when.t = c->t;
    fa_zero(own->x, nv);
    for (int j = 0; j < nv; j++) {
        const double rate = eps * fmax(1.0, fabs(s->qd[j][0]));
        s->stage_qd[j] += rate;
        if (rodas_probe(g, own, &when, rate, dC + j, nv)) {
            return 1;
        }
        s->stage_qd[j] = s->qd[j];
        own->x[j] = fa_splat(eps);
        pos_rates(model, NULL, own->x, own->u);
        pos_step(model, s->q, own->u, s->stage_q);
        if (rodas_probe(g, own, &when, eps, dK + j, nv)) {
            return 1;
        }
        own->x[j] = (fa_real){0};
        memcpy(s->stage_q, s->q, (size_t)model->nq * sizeof(fa_real));
    }
    memcpy(s->tau, own->held, (size_t)nv * sizeof(fa_real));
    for (int i = 0; i < nv * nv; i++) {
        p->K[i] -= dK[i];
        p->C[i] -= dC[i];
    }
    return 0;
}

/* the first step changes the state by one part in a hundred, or by its tolerance */
static void rodas_first_step(const roll_group *g, const roll_block *s,
                             const rodas_own *own, rodas_control *c)
{
    const double rtol = g->run->rtol, part = fmax(0.01, rtol) / rtol;

    pos_rates(g->model, NULL, s->qd, own->u);
    const fa_real rates = rodas_norm(g, s, own->u, own->F, s->q, s->qd);
    for (int w = 0; w < FA_LANES; w++) {
        const double most = part / sqrt(rates[w]);
        c->h[w] = fmax(most < c->h[w] ? most : c->h[w], 1e-9);
    }
}

/* how long the step of each lane is, and whether it ends at a sample */
static void rodas_plan(const roll_group *g, rodas_control *c)
{
    for (size_t w = 0; w < FA_LANES; w++) {
        if (c->done[w]) {
            continue;
        }
        const double *t = g->run->t + roll_at(g, 0, w) * g->run->t_stride;
        const double rest = t[c->k[w] + 1] - c->t[w];
        c->ends[w] = c->h[w] >= rest * (1.0 - 1e-9) ? -1 : 0;
        /* two equal steps rather than a long and a short one */
        c->step[w] = c->ends[w] ? rest : fmin(c->h[w], 0.5 * rest);
    }
}

/* the time of a stage */
static roll_time rodas_when(const roll_group *g, const rodas_control *c, int stage)
{
    roll_time when = {.t = c->t + rodas_node[stage] * c->step, .first = stage == 0};

    for (size_t w = 0; w < FA_LANES; w++) {
        const double *t = g->run->t + roll_at(g, 0, w) * g->run->t_stride;
        const size_t k = c->k[w];
        when.k[w] = k;
        if (!c->done[w]) {
            when.phase[w] = (when.t[w] - t[k]) / (t[k + 1] - t[k]);
        }
    }
    return when;
}

/* forces at the samples just reached, as a record */
static void rodas_record(const roll_group *g, rodas_control *c)
{
    const fa_rollout *run = g->run;
    const size_t n = (size_t)run->n_tau;
    const fa_real *tau = roll_commanded(g, 0);

    for (size_t w = 0; w < FA_LANES; w++) {
        if (c->fresh[w] && run->tau_out && g->first * FA_LANES + w < run->count) {
            const size_t row = roll_at(g, 0, w) * run->n_samples + c->k[w];
            for (size_t i = 0; i < n; i++) {
                run->tau_out[row * n + i] = tau[i][w];
            }
        }
        c->fresh[w] = 0;
    }
}

/* what belongs to the start of a step: forces, accelerations, M, K and C */
static int rodas_prepare(roll_group *g, rodas_control *c, const rodas_own *own)
{
    const fa_model *model = g->model;
    const fa_rollout *run = g->run;
    const fa_mask all = fa_splat(0.0) == 0.0;
    roll_block *s = g->blocks;
    const roll_time when = rodas_when(g, c, 0);

    if (roll_forces(g, &when)) {
        return 1;
    }
    rodas_record(g, c);
    roll_accelerate(g, s, 1, own->F);
    if (c->first) {
        rodas_first_step(g, s, own, c);
        rodas_plan(g, c);
        c->first = 0;
    }
    fa_zero(own->slope, model->nv);
    const imp_parts p = imp_tangent(g, s, s->q, s->qd, own->F);
    if (run->kind == FA_TORQUE_CALL && rodas_differences(g, own, c, &p)) {
        return 1;
    }
    if (run->kind == FA_TORQUE_LINEAR) {
        rodas_sample_slope(g, s, c, own);
    }
    ds_take(&own->systems, all, model->nv, 1, p.M, own->M);
    ds_take(&own->systems, all, model->nv, 1, p.K, own->K);
    ds_take(&own->systems, all, model->nv, 1, p.C, own->C);
    return 0;
}

/* one step of all lanes, its result in stage_q and stage_qd; nonzero if stopped */
static int rodas_try(roll_group *g, rodas_control *c, const rodas_own *own)
{
    const fa_model *model = g->model;
    const int nv = model->nv, moves = pos_total(model), last = RODAS_STAGES - 1;
    roll_block *s = g->blocks;

    rodas_factor(model, s, own, c->step);
    memcpy(own->held, own->F, (size_t)nv * sizeof(fa_real));
    for (int stage = 0; stage < RODAS_STAGES; stage++) {
        if (stage > 0) {
            const roll_time when = rodas_when(g, c, stage);
            rodas_state(model, s, own, stage);
            if (roll_forces(g, &when)) {
                return 1;
            }
            roll_accelerate(g, s, 0, own->F);
        }
        rodas_stage(model, s, own, stage, c->step);
    }
    memcpy(own->F, own->held, (size_t)nv * sizeof(fa_real));
    /* the last state and U_6 */
    rodas_combine(last, rodas_ahead[last], own->uq, moves, own->u);
    for (int i = 0; i < moves; i++) {
        own->u[i] += own->uq[last][i];
    }
    pos_step(model, s->q, own->u, s->stage_q);
    for (int i = 0; i < nv; i++) {
        s->stage_qd[i] += own->ud[last][i];
    }
    c->error = rodas_norm(g, s, own->uq[last], own->ud[last], s->stage_q, s->stage_qd);
    return 0;
}

/* a step of one lane that was good enough: on, and to the samples */
static void rodas_accept(const roll_group *g, rodas_control *c, int w)
{
    const fa_rollout *run = g->run;
    const fa_model *model = g->model;
    const roll_block *s = g->blocks;
    const size_t i = roll_at(g, 0, (size_t)w), n = run->n_samples;
    const size_t nq = (size_t)model->nq, nv = (size_t)model->nv;

    for (size_t j = 0; j < nq; j++) {
        s->q[j][w] = s->stage_q[j][w];
    }
    for (size_t j = 0; j < nv; j++) {
        s->qd[j][w] = s->stage_qd[j][w];
    }
    if (!c->ends[w]) {
        c->t[w] += c->step[w];
        return;
    }
    const size_t k = ++c->k[w];
    c->t[w] = run->t[i * run->t_stride + k];
    c->fresh[w] = 1;
    c->done[w] = k == n - 1 ? -1 : 0;
    for (size_t j = 0; j < nq && g->first * FA_LANES + (size_t)w < run->count; j++) {
        run->q[(i * n + k) * nq + j] = s->q[j][w];
    }
    for (size_t j = 0; j < nv && g->first * FA_LANES + (size_t)w < run->count; j++) {
        run->qd[(i * n + k) * nv + j] = s->qd[j][w];
    }
}

/* what follows from the error of one lane; returns whether it moved */
static int rodas_judge(const roll_group *g, rodas_control *c, int w, double *counts)
{
    const double error = c->error[w], step = c->step[w], wanted = c->h[w];
    const double root = sqrt(sqrt(sqrt(error))); /* of the squared one: 1/4 */
    double ratio = root / RODAS_SAFETY;

    ratio = ratio < RODAS_MIN ? RODAS_MIN : ratio < RODAS_MAX ? ratio : RODAS_MAX;
    if (error <= 1.0) {
        const double floor = fmax(c->last[w], 1e-4);
        if (c->taken[w] > 0.0) {
            const double gain = sqrt(sqrt(sqrt(error * error / floor)));
            const double predicted = c->taken[w] / step * gain / RODAS_SAFETY;
            ratio = fmax(ratio, fmin(predicted, RODAS_MAX));
        }
        double next = step / ratio;
        if (c->rejected[w] && next > step) {
            next = step;
        }
        if (step < wanted && next < wanted) { /* cut short by a sample */
            next = error < 0.5 ? wanted : next;
        }
        c->last[w] = fmax(error, 1e-4);
        c->taken[w] = step;
        c->rejected[w] = 0;
        c->h[w] = fmin(next, g->run->max_step);
        counts[FA_REPORT_STEPS] += 1.0;
        rodas_accept(g, c, w);
        return 1;
    }
    counts[FA_REPORT_REJECTED] += 1.0;
    c->rejected[w] = -1;
    c->h[w] = step / (error > 1.0 ? ratio : RODAS_MAX); /* NaN: the most */
    if (!(c->t[w] + 0.01 * c->h[w] > c->t[w])) {
        roll_tell(g, g->blocks, w, FA_REPORT_ENDING, FA_STEP_TOO_SHORT);
        roll_tell(g, g->blocks, w, FA_REPORT_TIME, c->t[w]);
        c->done[w] = -1;
    }
    return 0;
}

/* nothing is tried yet */
static void rodas_start(const roll_group *g, rodas_control *c)
{
    const double span = fmin(g->run->max_step, 1e300);

    *c = (rodas_control){.first = 1, .h = fa_splat(span)};
    for (size_t w = 0; w < FA_LANES; w++) {
        const double *t = g->run->t + roll_at(g, 0, w) * g->run->t_stride;
        c->t[w] = t[0];
        c->fresh[w] = 1;
        c->done[w] = g->run->n_samples < 2 ? -1 : 0;
        if (!c->done[w]) {
            c->h[w] = fmin(span, t[1] - t[0]);
        }
    }
    c->step = c->h;
}

/* samples that all lanes of the run have reached, as a number of samples of blocks */
static int rodas_tick(const roll_group *g, const rodas_control *c)
{
    const fa_rollout *run = g->run;
    size_t least = run->n_samples;

    if (!run->tick) {
        return 0;
    }
    for (int w = 0; w < FA_LANES; w++) {
        least = c->done[w] || c->k[w] > least ? least : c->k[w];
    }
    least = least == run->n_samples ? least - 1 : least;
    return run->tick(run->context, g->first * (run->n_samples - 1) + least);
}

/* all samples of one block; nonzero if the run was stopped */
static int rodas_run(roll_group *g)
{
    const rodas_own own = rodas_split(g, g->blocks);
    double counts[FA_LANES][2] = {{0.0}};
    rodas_control c;
    int moved = 1;

    roll_start(g);
    rodas_start(g, &c);
    while (fa_any(~c.done)) {
        rodas_plan(g, &c);
        if ((moved && rodas_prepare(g, &c, &own)) || rodas_try(g, &c, &own)) {
            return 1;
        }
        moved = 0;
        for (int w = 0; w < FA_LANES; w++) {
            if (!c.done[w]) {
                moved |= rodas_judge(g, &c, w, counts[w]);
            }
            roll_tell(g, g->blocks, w, FA_REPORT_STEPS, counts[w][FA_REPORT_STEPS]);
            roll_tell(g, g->blocks, w, FA_REPORT_REJECTED,
                      counts[w][FA_REPORT_REJECTED]);
        }
        if (++g->since >= ROLL_TICK) {
            g->since = 0;
            if (rodas_tick(g, &c)) {
                return 1;
            }
        }
    }
    const roll_time end = rodas_when(g, &c, 0);
    if (roll_forces(g, &end)) {
        return 1;
    }
    rodas_record(g, &c);
    return 0;
}

static const roll_method rodas_method = {
    .own_size = rodas_own_size, .kernel_size = imp_kernel_size, .block_run = rodas_run};

#endif
