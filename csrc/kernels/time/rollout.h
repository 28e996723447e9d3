/*
 * rollout.h -- what the time loops share: blocks of trajectories, samples, forces
 *
 * Forces      none; held or linear between samples; a function that sees all
 *             trajectories at each stage; or feedback of the joints,
 *                 tau = u + Kp (q_ref - q) + Kd (qd_ref - qd)                      (R1)
 *             with u, q_ref and qd_ref held or linear between samples; q and qd of motors
 *             where joints have them.
 */
#ifndef FA_ROLLOUT_H
#define FA_ROLLOUT_H

#include "calls/call.h"
#include "calls/time_loop.h"
#include "kernels/bodies/joint_forces.h"
#include "kernels/dynamics/constraints.c"
#include "kernels/dynamics/mass_matrix.c"
#include "lanes/lane.h"
#include "model/kinds.h"
#include "model/layout.h"

#ifndef FA_STACK_LANES /* of one arm alone */
#include "kernels/derivatives/linear.c"
#include "kernels/derivatives/linear_model.h"
#endif

enum { ROLL_TICK = 256 }; /* steps of one block between two looks at Ctrl-C */

/* one block of FA_LANES trajectories */
typedef struct {
    fa_real *q, *qd;             /* [nq], [nv]  start of the step */
    fa_real *stage_q, *stage_qd; /* those of the next stage */
    fa_real *tau;                /* [nv] */
    fa_real *gains; /* [2][n_actuators][width]  Kp, then Kd, if there is feedback */
    fa_real *own;   /* of the method */
} roll_block;

struct roll_method;

typedef struct {
    const fa_model *model;
    const fa_rollout *run;
    const struct roll_method *method;
    fa_real *work; /* scratch of the kernels */
    roll_block *blocks;
    size_t first, n_blocks; /* blocks that step together */
    size_t done, since;     /* steps of one block: in all, since the last tick */
    double *call_q, *call_qd, *call_tau;
    fa_real *sample;  /* [nv] */
    fa_real *law;     /* of a law at samples, if there is one */
    batch_arms *arms; /* NULL but for stacks */
} roll_group;

/* when a stage is, lane by lane: the part `phase` into interval k */
typedef struct {
    fa_real t;
    size_t k[FA_LANES];
    fa_real phase;
    int first;  /* its state is that of the start of the step */
    int corner; /* forces may jump there: the first time, samples that are held */
} roll_time;

/* one method; sizes in fa_real */
typedef struct roll_method {
    int n_stages;
    const double *node; /* [n_stages] */
    size_t (*own_size)(const fa_model *);
    size_t (*kernel_size)(const fa_model *);
    void (*start)(const roll_group *,
                  roll_block *); /* before the first step, or NULL */
    /* before the next step, where the forces jump; or NULL */
    void (*restart)(const roll_group *, roll_block *);
    /* one stage of one block, which leaves the state of the next one */
    void (*stage)(const roll_group *, roll_block *, int stage, const roll_time *,
                  fa_real h);
    /* q and qd at the end of the step */
    void (*finish)(const roll_group *, roll_block *, fa_real h);
    /* whether the last stage has to be repeated; NULL: never */
    int (*repeat)(const roll_group *, const roll_block *);
    /* after the last step, if there is a report; or NULL */
    void (*end)(const roll_group *, roll_block *);
    /* all samples of one block, in place of steps of equal length; or NULL */
    int (*block_run)(roll_group *);
} roll_method;

static size_t roll_gains_size(const fa_model *model, const fa_rollout *run)
{
    const size_t nu = (size_t)model->n_actuators;
    if (!run->feedback) {
        return 0;
    }
    return 2 * nu * (run->feedback->diagonal ? 1 : nu);
}

/* trajectory number of a lane; the lanes past the end repeat the last one */
static size_t roll_at(const roll_group *g, size_t block, size_t lane)
{
    const size_t i = (g->first + block) * FA_LANES + lane;
    return i < g->run->count ? i : g->run->count - 1;
}

/* lanes in use of a block */
static int roll_states(const roll_group *g, const roll_block *s)
{
    const size_t before = (g->first + (size_t)(s - g->blocks)) * FA_LANES;
    const size_t left = g->run->count - before;
    return left < FA_LANES ? (int)left : FA_LANES;
}

/* the constants of the arms of a block into the lanes, if they belong to a stack */
static void roll_take(const roll_group *g, size_t block)
{
    if (g->arms) {
        const fa_call call = {.states = roll_states(g, g->blocks + block)};
        g->arms->take(g->arms, (g->first + block) * FA_LANES, &call);
    }
}

/* numbers of each trajectory, `stride` doubles apart, into lanes */
static void roll_read(const roll_group *g, size_t block, const double *from,
                      size_t stride, size_t size, fa_real *lanes)
{
    for (size_t w = 0; w < FA_LANES; w++) {
        const double *x = from + roll_at(g, block, w) * stride;
        for (size_t i = 0; i < size; i++) {
            lanes[i][w] = x[i];
        }
    }
}

static void roll_write(const roll_group *g, size_t block, const fa_real *lanes,
                       size_t size, double *to, size_t stride)
{
    for (size_t w = 0; w < FA_LANES; w++) {
        double *x = to + roll_at(g, block, w) * stride;
        for (size_t i = 0; i < size; i++) {
            x[i] = lanes[i][w];
        }
    }
}

/* the report of a lane in use */
static double *roll_row(const roll_group *g, const roll_block *s, int lane)
{
    const size_t i = (g->first + (size_t)(s - g->blocks)) * FA_LANES + (size_t)lane;
    return g->run->report + i * FA_REPORT_SIZE;
}

/* the end of the steps of all blocks */
static void roll_end(const roll_group *g)
{
    for (size_t b = 0; b < g->n_blocks && g->method->end && g->run->report; b++) {
        g->method->end(g, g->blocks + b);
    }
}

/* what became of a trajectory; the lanes past the end say nothing */
FA_INLINE void roll_tell(const roll_group *g, const roll_block *s, int lane, int column,
                         double value)
{
    const size_t i = (g->first + (size_t)(s - g->blocks)) * FA_LANES + (size_t)lane;
    if (g->run->report && i < g->run->count) {
        g->run->report[i * FA_REPORT_SIZE + (size_t)column] = value;
    }
}

/* samples of one block at a time, `n` numbers each */
static void roll_sampled(const roll_group *g, size_t block, const roll_time *when,
                         const double *samples, size_t stride, size_t n, fa_real *x)
{
    for (size_t w = 0; w < FA_LANES; w++) {
        const double *a = samples + roll_at(g, block, w) * stride + when->k[w] * n;
        const double phase = when->phase[w];
        for (size_t i = 0; i < n; i++) {
            if (g->run->kind == FA_TORQUE_HOLD || phase == 0.0) {
                x[i][w] = a[i];
            } else {
                x[i][w] = a[i] + phase * (a[n + i] - a[i]);
            }
        }
    }
}

/* tau += gains * error */
static void roll_gain(int nu, int diagonal, const fa_real *gains, const fa_real *error,
                      fa_real *tau)
{
    for (int i = 0; i < nu; i++) {
        if (diagonal) {
            tau[i] += gains[i] * error[i];
            continue;
        }
        for (int j = 0; j < nu; j++) {
            tau[i] += gains[i * nu + j] * error[j];
        }
    }
}

/* adds the feedback of one block to its forces (R1) */
static void roll_feedback(const roll_group *g, size_t block, const roll_time *when)
{
    const fa_feedback *f = g->run->feedback;
    const roll_block *s = g->blocks + block;
    const fa_real *q = when->first ? s->q : s->stage_q;
    const fa_real *qd = when->first ? s->qd : s->stage_qd;
    const int nu = g->model->n_actuators;

    roll_sampled(g, block, when, f->reference, f->reference_stride, (size_t)nu,
                 g->sample);
    for (int i = 0; i < nu; i++) {
        g->sample[i] -= q[jf_actuator(g->model, i)];
    }
    roll_gain(nu, f->diagonal, s->gains, g->sample, s->tau);
    fa_zero(g->sample, nu);
    if (f->rates) {
        roll_sampled(g, block, when, f->rates, f->rates_stride, (size_t)nu, g->sample);
    }
    for (int i = 0; i < nu; i++) {
        g->sample[i] -= qd[jf_actuator(g->model, i)];
    }
    roll_gain(nu, f->diagonal, s->gains + roll_gains_size(g->model, g->run) / 2,
              g->sample, s->tau);
}

/* forces of actuators to where they act */
static void roll_actuate(const roll_group *g, size_t block)
{
    if (g->run->n_tau < g->model->nv) {
        jf_actuate(g->model, g->blocks[block].tau);
    }
}

/* forces of a block as they were given, n_tau of them */
static const fa_real *roll_commanded(const roll_group *g, size_t block)
{
    const fa_real *tau = g->blocks[block].tau;

    if (jf_is_plain(g->model) || g->run->n_tau == g->model->nv) {
        return tau;
    }
    for (int i = 0; i < g->run->n_tau; i++) {
        g->sample[i] = tau[jf_actuator(g->model, i)];
    }
    return g->sample;
}

/* what the function says about the state of all blocks; nonzero if it stops the run */
static int roll_ask(roll_group *g, const roll_time *when)
{
    const fa_rollout *run = g->run;
    const size_t nv = (size_t)g->model->nv, nq = (size_t)g->model->nq;
    const size_t n = (size_t)run->n_tau;

    for (size_t b = 0; b < g->n_blocks; b++) {
        const roll_block *s = g->blocks + b;
        roll_write(g, b, when->first ? s->q : s->stage_q, nq, g->call_q, nq);
        roll_write(g, b, when->first ? s->qd : s->stage_qd, nv, g->call_qd, nv);
    }
    if (run->call(run->context, when->t[0], g->call_q, g->call_qd, g->call_tau)) {
        return 1;
    }
    for (size_t b = 0; b < g->n_blocks; b++) {
        roll_read(g, b, g->call_tau, n, n, g->blocks[b].tau);
        roll_actuate(g, b);
    }
    return 0;
}

/* forces of all blocks at a stage; nonzero if the callback stops the run */
static int roll_forces(roll_group *g, const roll_time *when)
{
    const fa_rollout *run = g->run;

    if (run->kind == FA_TORQUE_CALL) {
        return roll_ask(g, when);
    }
    for (size_t b = 0; b < g->n_blocks && run->kind != FA_TORQUE_ZERO; b++) {
        roll_sampled(g, b, when, run->tau, run->tau_stride, (size_t)run->n_tau,
                     g->blocks[b].tau);
        if (run->feedback) {
            roll_feedback(g, b, when);
        }
        roll_actuate(g, b);
    }
    return 0;
}

/* accelerations of one block at a stage */
static void roll_accelerate(const roll_group *g, const roll_block *s, int first,
                            fa_real *qdd)
{
    const fa_real *q = first ? s->q : s->stage_q, *qd = first ? s->qd : s->stage_qd;

#ifndef FA_STACK_LANES
    if (g->model->fidelity == FA_LINEAR) {
        li_forward(g->model, roll_states(g, s), q, qd, s->tau, g->work, qdd);
        return;
    }
#endif
    cn_forward(g->model, roll_states(g, s), q, qd, s->tau, g->work, qdd);
}

/* scratch of the accelerations */
static size_t roll_forward_size(const fa_model *model)
{
    const size_t forward = cn_forward_work_size(model);
#ifndef FA_STACK_LANES
    const size_t linear = model->fidelity == FA_LINEAR ? li_work_size(model) : 0;
    return forward > linear ? forward : linear;
#else
    return forward;
#endif
}

/* mass matrices M [nv][nv] at the start of a step */
static void roll_mass(const roll_group *g, const roll_block *s, fa_real *M)
{
    const fa_model *model = g->model;

#ifndef FA_STACK_LANES
    if (model->fidelity == FA_LINEAR) {
        const li_work w = li_split(model, g->work);
        for (int lane = 0; lane < FA_LANES; lane++) {
            if (lane < roll_states(g, s)) {
                li_read(s->q, model->nq, lane, w.q);
                fa_linear_mass(model, w.q, w.scratch, w.M);
            }
            li_write(w.M, model->nv * model->nv, lane, M);
        }
        return;
    }
#endif
    mm_run(model, s->q, g->work, M);
}

/* scratch of the mass matrices */
static size_t roll_mass_size(const fa_model *model)
{
    const size_t forward = roll_forward_size(model), mass = mm_work_size(model);
    return forward > mass ? forward : mass;
}

/* initial states and gains of the blocks that step together */
static void roll_start(roll_group *g)
{
    const fa_rollout *run = g->run;
    const size_t nq = (size_t)g->model->nq, nv = (size_t)g->model->nv;
    const size_t half = roll_gains_size(g->model, run) / 2;

    for (size_t b = 0; b < g->n_blocks; b++) {
        roll_block *s = g->blocks + b;
        roll_read(g, b, run->q, run->n_samples * nq, nq, s->q);
        roll_read(g, b, run->qd, run->n_samples * nv, nv, s->qd);
        roll_take(g, b);
        if (run->feedback) {
            const fa_feedback *f = run->feedback;
            roll_read(g, b, f->kp, f->kp_stride, half, s->gains);
            roll_read(g, b, f->kd, f->kd_stride, half, s->gains + half);
        }
        if (g->method->start) {
            g->method->start(g, s);
        }
    }
}

/* times of sample k, of a block of its own or of all */
static fa_real roll_sample_time(const roll_group *g, size_t k)
{
    fa_real t;
    for (size_t w = 0; w < FA_LANES; w++) {
        t[w] = g->run->t[roll_at(g, 0, w) * g->run->t_stride + k];
    }
    return t;
}

#endif
