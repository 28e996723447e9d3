/*
 * rodas_stages.h -- stages of Rodas4P, one block of trajectories
 *
 *             The equations O5 and O6 stand in rodas.c, which chooses the steps.
 * Source      G. Steinebach, Preprint 1741, TH Darmstadt (1995), the coefficients.
 * Checked by  tests/simulation/test_rodas.py: conditions of order from these
 *             coefficients, a twin
 *             of the step.
 */
#ifndef FA_RODAS_STAGES_H
#define FA_RODAS_STAGES_H

#include "kernels/bodies/joint.h"
#include "kernels/kinematics/positions.c"
#include "kernels/lie/lie.h"
#include "kernels/time/rollout.h"
#include "lanes/dense_lanes.h"
#include "lanes/dense_states.h"
#include "lanes/lane.h"
#include "model/layout.h"

enum { RODAS_STAGES = 6 };

static const double rodas_gamma = 0.25;
static const double rodas_node[RODAS_STAGES] = {0.0, 0.75, 0.21, 0.63, 1.0, 1.0};
static const double rodas_time[RODAS_STAGES] = {0.25,    -0.5, -0.023504,
                                                -0.0362, 0.0,  0.0};
/* a_ij, c_ij */
static const double rodas_ahead[RODAS_STAGES][RODAS_STAGES] = {
    {0.0},
    {3.0},
    {1.831036793486759, 0.4955183967433795},
    {2.304376582692669, -0.05249275245743001, -1.176798761832782},
    {-7.170454962423024, -4.741636671481785, -16.31002631330971, -1.062004044111401},
    {-7.170454962423024, -4.741636671481785, -16.31002631330971, -1.062004044111401,
     1.0}};
static const double rodas_mix[RODAS_STAGES][RODAS_STAGES] = {
    {0.0},
    {-12.0},
    {-8.791795173947035, -2.207865586973518},
    {10.81793056857153, 6.780270611428266, 19.53485944642410},
    {34.19095006749676, 15.49671153725963, 54.74760875964130, 14.16005392148534},
    {34.62605830930532, 15.30084976114473, 56.99955578662667, 18.40807009793095,
     -5.714285714285717}};

/* arrays of a block */
typedef struct {
    fa_real *uq[RODAS_STAGES], *ud[RODAS_STAGES]; /* [pos_total], [nv]  U_i */
    fa_real *u, *w;                               /* [pos_total] */
    fa_real *F, *x, *y;                           /* [nv] */
    fa_real *slope, *order;                       /* [nv]  dtau/dt, of the factors */
    fa_real *held;                                /* [nv]  forces at the start */
    fa_real *M, *K, *C, *S; /* [nv][nv], as dense_states.h has it */
    ds_block systems;
} rodas_own;

static size_t rodas_own_size(const fa_model *model)
{
    const size_t nv = (size_t)model->nv, moves = (size_t)pos_total(model);
    return RODAS_STAGES * (moves + nv) + 2 * moves + 6 * nv + 4 * nv * nv +
           ds_work_size(model->nv);
}

static rodas_own rodas_split(const roll_group *g, const roll_block *s)
{
    const fa_model *model = g->model;
    const size_t nv = (size_t)model->nv, moves = (size_t)pos_total(model);
    rodas_own own;
    fa_real *next = s->own;

    for (int i = 0; i < RODAS_STAGES; i++, next += moves + nv) {
        own.uq[i] = next;
        own.ud[i] = next + moves;
    }
    own.u = next;
    own.w = own.u + moves;
    own.F = own.w + moves;
    own.x = own.F + nv;
    own.y = own.x + nv;
    own.slope = own.y + nv;
    own.order = own.slope + nv;
    own.held = own.order + nv;
    own.M = own.held + nv;
    own.K = own.M + nv * nv;
    own.C = own.K + nv * nv;
    own.S = own.C + nv * nv;
    own.systems = ds_split(model->nv, roll_states(g, s), own.S + nv * nv);
    return own;
}

/* x becomes B x on the displacement of each pose (O6); c = gamma h / 2 */
static void rodas_turn(const fa_model *model, const fa_real *qd, fa_real c, fa_real *x)
{
    int at = 0;

    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        if (pos_is_pose(b)) {
            const size_t size = (size_t)pos_size(b) * sizeof(fa_real);
            fa_real V[6], term[6] = {{0}}, next[6];
            joint_motion(b, qd + b->joint_at, V);
            memcpy(term, x + at, size);
            for (int power = 0; power < 3; power++) {
                lie_bracket(V, term, next);
                for (int i = 0; i < 6; i++) {
                    term[i] = -c * next[i];
                }
                for (int i = 0; i < pos_size(b); i++) {
                    x[at + i] += term[i];
                }
            }
        }
        at += pos_size(b);
    }
}

/* columns of K_t B that belong to poses, added to k times K_t in S */
static void rodas_turn_columns(const fa_model *model, const rodas_own *own,
                               const fa_real *qd, fa_real h)
{
    const int nv = model->nv;
    const fa_real c = rodas_gamma * h, square = c * c;

    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        for (int j = 0; j < b->n_dof && pos_is_pose(b); j++) {
            fa_zero(own->x, nv);
            own->x[b->joint_at + j] = fa_splat(1.0);
            pos_rates(model, NULL, own->x, own->u);
            rodas_turn(model, qd, 0.5 * c, own->u);
            pos_velocities(model, own->u, own->y);
            own->y[b->joint_at + j] -= 1.0;
            ds_multiply(&own->systems, own->K, own->y, own->x);
            for (int i = 0; i < nv; i++) {
                own->x[i] *= square;
            }
            ds_add_column(&own->systems, b->joint_at + j, own->x, own->S);
        }
    }
}

/* the matrix of O6, factored */
static void rodas_factor(const fa_model *model, const roll_block *s,
                         const rodas_own *own, fa_real h)
{
    const fa_mask all = fa_splat(0.0) == 0.0;

    ds_sum(&own->systems, own->M, own->C, own->K, rodas_gamma * h, own->S);
    if (model->any_pose) {
        rodas_turn_columns(model, own, s->qd, h);
    }
    ds_factor(&own->systems, all, own->S, own->order);
}

/* sum of squares of x over its scale, that of y over its own */
static fa_real rodas_norm(const roll_group *g, const roll_block *s, const fa_real *x,
                          const fa_real *y, const fa_real *q, const fa_real *qd)
{
    const fa_model *model = g->model;
    const double rtol = g->run->rtol, atol = g->run->atol;
    const int nv = model->nv, moves = pos_total(model);
    fa_real sum = {0};
    int at = 0;

#define RODAS_ADD(value, before, after)                                                \
    do {                                                                               \
        const fa_real old = dense_size(before), new = dense_size(after);               \
        const fa_real part = (value) / (atol + rtol * fa_select(old > new, old, new)); \
        sum += part * part;                                                            \
    } while (0)
    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        const int p = b->position_at, n = pos_size(b);
        for (int i = 0; i < n; i++) {
            if (!pos_is_pose(b)) {
                RODAS_ADD(x[at + i], s->q[p + i], q[p + i]);
            } else if (i < 3) {
                RODAS_ADD(x[at + i], fa_splat(1.0), fa_splat(1.0));
            } else {
                RODAS_ADD(x[at + i], s->q[p + 1 + i], q[p + 1 + i]);
            }
        }
        at += n;
    }
    for (int i = 0; i < model->n_modes; i++) {
        const int p = model->nq - model->n_modes + i;
        RODAS_ADD(x[at + i], s->q[p], q[p]);
    }
    for (int i = 0; i < nv; i++) {
        RODAS_ADD(y[i], s->qd[i], qd[i]);
    }
#undef RODAS_ADD
    return sum / (double)(moves + nv);
}

/* sum_j weight[j] x[j] of the first n stages */
static void rodas_combine(int n, const double *weight, fa_real *const *x, int size,
                          fa_real *restrict sum)
{
    fa_zero(sum, size);
    for (int j = 0; j < n; j++) {
        const fa_real *restrict xj = x[j];
        for (int i = 0; i < size; i++) {
            sum[i] += weight[j] * xj[i];
        }
    }
}

/* Y_i (O5) */
static void rodas_state(const fa_model *model, roll_block *s, const rodas_own *own,
                        int stage)
{
    rodas_combine(stage, rodas_ahead[stage], own->uq, pos_total(model), own->u);
    rodas_combine(stage, rodas_ahead[stage], own->ud, model->nv, own->x);
    pos_step(model, s->q, own->u, s->stage_q);
    for (int i = 0; i < model->nv; i++) {
        s->stage_qd[i] = s->qd[i] + own->x[i];
    }
}

/* U_i of O6, with the accelerations in own->F */
static void rodas_stage(const fa_model *model, const roll_block *s,
                        const rodas_own *own, int stage, fa_real h)
{
    const int nv = model->nv, moves = pos_total(model);
    const fa_real reciprocal = 1.0 / h, c = rodas_gamma * h;
    const fa_real *qd = stage == 0 ? s->qd : s->stage_qd;
    fa_real *x = own->ud[stage], *rate = own->uq[stage];

    pos_rates(model, stage == 0 ? NULL : own->u, qd, rate);
    rodas_combine(stage, rodas_mix[stage], own->uq, moves, own->w);
    rodas_combine(stage, rodas_mix[stage], own->ud, nv, own->y);
    for (int i = 0; i < moves; i++) {
        own->w[i] = rate[i] + reciprocal * own->w[i];
    }
    for (int i = 0; i < nv; i++) {
        own->y[i] = own->F[i] + reciprocal * own->y[i];
    }
    ds_multiply(&own->systems, own->M, own->y, x);
    rodas_turn(model, s->qd, 0.5 * c, own->w);
    pos_velocities(model, own->w, own->y);
    ds_multiply(&own->systems, own->K, own->y, own->x);
    for (int i = 0; i < nv; i++) {
        x[i] = c * (x[i] + rodas_time[stage] * h * own->slope[i] - c * own->x[i]);
    }
    ds_solve(&own->systems, own->S, own->order, x);
    pos_rates(model, NULL, x, rate);
    rodas_turn(model, s->qd, 0.5 * c, rate);
    for (int i = 0; i < moves; i++) {
        rate[i] = c * (rate[i] + own->w[i]);
    }
}

#endif
