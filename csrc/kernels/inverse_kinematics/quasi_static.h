/*
 * quasi_static.h -- modes in static equilibrium, and how they follow the joints
 *
 * Equations   c(q, eta) = g_eta + K eta - (J' w)_eta = 0 with the gravity forces of the
 *             modes and an outer wrench w on a node                              (Y1)
 *             eta -= D^-1 c, D = dc/deta of the first step held for the next ones,
 *             and no longer steps than a node may sensibly move                   (Y2)
 *             deta/dq = -D^-1 dc/dq                                               (Y3)
 *             Both derivatives are central differences of Y1; the forces are those of
 *             the fidelity of the arm.
 * Lanes       one state each; D is factored without pivots, since K is definite and
 *             gravity softens it little. A pivot of zero makes its lane NaN.
 * Cost        2 (modes + joints) + 3 evaluations of the forces.
 * Checked by  tests/ik/test_inverse_kinematics.py: equilibrium by SciPy.
 */
#ifndef FA_QUASI_STATIC_H
#define FA_QUASI_STATIC_H

#include "calls/call.h"
#include "calls/kernels.h"
#include "kernels/batch/batch.c"
#include "kernels/bodies/strain.h"
#include "kernels/kinematics/kinematics.c"
#include "kernels/kinematics/positions.c"
#include "lanes/lane.h"
#include "model/layout.h"

/* steps of Y2 at each posture */
enum { QS_STEPS = 3 };

/* length in rad or m of a probe, and of a step of Y2 at most */
static const double QS_PROBE = 1e-5, QS_MAX_STEP = 10.0;

typedef struct {
    fa_real *force, *c, *delta; /* [nv], [n_modes], [n_modes] */
    fa_real *ahead, *D, *S;     /* [n_modes], [n_modes]^2, [joints][n_modes] */
    fa_real *moved, *step, *u;  /* [nq], [nv], [pos_total] */
    fa_real unbalance;          /* largest motion of a node in the last step of Y2 */
    double *size;               /* [n_modes] largest motion of a node by a mode */
    fa_call call;
    int in_base; /* the wrench has the axes of the base */
} qs_work;

static size_t qs_kernel_size(const fa_model *model)
{
    const size_t gravity = batch_row_of(model, FA_GRAVITY_FORCES)->work_size(model);
    const size_t wrench = batch_row_of(model, FA_WRENCH_FORCES)->work_size(model);
    const size_t pose = batch_row_of(model, FA_NODE_POSE)->work_size(model);
    const size_t most = gravity > wrench ? gravity : wrench;
    return most > pose ? most : pose;
}

/* in fa_real */
static size_t qs_work_size(const fa_model *model)
{
    const size_t nv = (size_t)model->nv, n = (size_t)model->n_modes;
    return 2 * nv + 4 * n + n * n + n * (size_t)model->nu + (size_t)model->nq +
           (size_t)pos_total(model) + qs_kernel_size(model);
}

/* largest translation or rotation of a node per unit of each mode */
static void qs_sizes(const fa_model *model, double *size)
{
    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        for (int r = 0; r < b->n_modes; r++) {
            double most = 0.0;
            for (int j = 0; j < 3 * b->n_nodes; j++) {
                const fa_node *node = model->nodes + b->first_node + j / 3;
                const int at = 3 * r + j % 3;
                most = fmax(most, fmax(fabs(node->gamma[at]), fabs(node->lambda[at])));
            }
            size[b->mode_at - model->nu + r] = most > 0.0 ? most : 1.0;
        }
    }
}

static void qs_start(const fa_model *model, int node, int in_base, fa_real *work,
                     qs_work *w)
{
    const size_t nv = (size_t)model->nv, n = (size_t)model->n_modes;

    w->force = work;
    w->step = w->force + nv;
    w->c = w->step + nv;
    w->delta = w->c + n;
    w->ahead = w->delta + n;
    w->D = w->ahead + n;
    w->S = w->D + n * n;
    w->moved = w->S + n * (size_t)model->nu;
    w->u = w->moved + model->nq;
    w->size = (double *)(w->u + pos_total(model));
    w->call = (fa_call){
        .work = (fa_real *)(void *)w->size + n, .index = node, .states = FA_LANES};
    w->in_base = in_base;
    fa_zero(w->step, model->nv);
    qs_sizes(model, w->size);
}

/* c at q (Y1); wrench [6] or NULL */
static void qs_forces(const fa_model *model, qs_work *w, const fa_real *q,
                      const fa_real *wrench, fa_real *c)
{
    fa_real turned[6], pose[16];

    w->call.in[0] = q;
    w->call.out = w->force;
    batch_row_of(model, FA_GRAVITY_FORCES)->run(model, &w->call);
    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        const int at = b->mode_at - model->nu, n = b->n_modes;
        for (int r = 0; r < n; r++) {
            c[at + r] = w->force[b->mode_at + r];
            for (int s = 0; s < n; s++) {
                c[at + r] += b->modal.K[r * n + s] * q[b->eta_at + s];
            }
        }
        if (b->strain.n > 0) {
            strain_any_add(&b->strain, q + b->eta_at, c + at);
        }
    }
    if (!wrench) {
        return;
    }
    w->call.in[1] = wrench;
    if (w->in_base) {
        w->call.out = pose;
        batch_row_of(model, FA_NODE_POSE)->run(model, &w->call);
        for (int i = 0; i < 6; i++) {
            const fa_real *x = wrench + i / 3 * 3, *column = pose + i % 3;
            turned[i] = column[0] * x[0] + column[4] * x[1] + column[8] * x[2];
        }
        w->call.in[1] = turned;
        w->call.out = w->force;
    }
    batch_row_of(model, FA_WRENCH_FORCES)->run(model, &w->call);
    for (int r = 0; r < model->n_modes; r++) {
        c[r] -= w->force[model->nu + r];
    }
}

/* dc [n_modes] for a unit of velocity v, by steps of +-h */
static void qs_probe(const fa_model *model, qs_work *w, const fa_real *q,
                     const fa_real *wrench, int v, double h, fa_real *dc)
{
    for (int side = 0; side < 2; side++) {
        w->step[v] = fa_splat(side ? -h : h);
        pos_rates(model, NULL, w->step, w->u);
        pos_step(model, q, w->u, w->moved);
        qs_forces(model, w, w->moved, wrench, side ? w->ahead : dc);
    }
    w->step[v] = (fa_real){0};
    for (int r = 0; r < model->n_modes; r++) {
        dc[r] = (dc[r] - w->ahead[r]) * (0.5 / h);
    }
}

/* D = L U in place, L with ones on its diagonal; D is stored by columns */
static void qs_factor(int n, fa_real *D)
{
    for (int k = 0; k < n; k++) {
        const fa_real pivot = 1.0 / D[k * n + k];
        for (int i = k + 1; i < n; i++) {
            D[k * n + i] *= pivot;
        }
        for (int j = k + 1; j < n; j++) {
            for (int i = k + 1; i < n; i++) {
                D[j * n + i] -= D[k * n + i] * D[j * n + k];
            }
        }
    }
}

static void qs_solve(int n, const fa_real *D, fa_real *x)
{
    for (int k = 0; k < n; k++) {
        for (int i = k + 1; i < n; i++) {
            x[i] -= D[k * n + i] * x[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        x[k] /= D[k * n + k];
        for (int i = 0; i < k; i++) {
            x[i] -= D[k * n + i] * x[k];
        }
    }
}

/* modes of q to equilibrium (Y2), D factored on return */
static void qs_balance(const fa_model *model, qs_work *w, fa_real *q,
                       const fa_real *wrench)
{
    const int n = model->n_modes;
    fa_real *eta = q + model->nq - n;

    for (int r = 0; r < n; r++) {
        qs_probe(model, w, q, wrench, model->nu + r, QS_PROBE / w->size[r],
                 w->D + (size_t)r * (size_t)n);
    }
    qs_factor(n, w->D);
    for (int step = 0; step < QS_STEPS; step++) {
        qs_forces(model, w, q, wrench, w->delta);
        qs_solve(n, w->D, w->delta);
        w->unbalance = (fa_real){0};
        for (int r = 0; r < n; r++) {
            const fa_real x = w->size[r] * w->delta[r], y = fa_select(x < 0.0, -x, x);
            w->unbalance = fa_select(y < w->unbalance, w->unbalance, y);
        }
        /* loads without equilibrium: forces of high degree stay finite */
        const fa_real part = fa_select(w->unbalance > QS_MAX_STEP,
                                       QS_MAX_STEP / w->unbalance, fa_splat(1.0));
        for (int r = 0; r < n; r++) {
            eta[r] -= part * w->delta[r];
        }
    }
}

/* S of one velocity (Y3); after qs_balance */
static void qs_follow(const fa_model *model, qs_work *w, const fa_real *q,
                      const fa_real *wrench, int v, fa_real *S)
{
    qs_probe(model, w, q, wrench, v, QS_PROBE, S);
    qs_solve(model->n_modes, w->D, S);
    for (int r = 0; r < model->n_modes; r++) {
        S[r] = -S[r];
    }
}

#endif
