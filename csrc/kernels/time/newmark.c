/*
 * newmark.c -- Newmark's methods and generalized-alpha, one block of trajectories
 *
 *             qdd are accelerations, a an average of them that steps are made of:
 *                 (1 - alpha_m) a_1 + alpha_m a_0
 *                     = (1 - alpha_f) qdd_1 + alpha_f qdd_0
 *                 q_1 = q_0 (+) h (qd_0 + h ((1/2 - beta) a_0 + beta a_1))
 *                 qd_1 = qd_0 + h ((1 - gamma) a_0 + gamma a_1)                 (O3)
 *             until  r = ID(q_1, qd_1, qdd_1) - tau_1 = 0. With spectral radius rho
 *                 alpha_m = (2 rho - 1)/(rho + 1), alpha_f = rho/(rho + 1),
 *                 gamma = 1/2 + alpha_f - alpha_m, beta = (gamma + 1/2)^2 / 4;
 *             a = qdd with beta = 1/4 is the average acceleration, with beta = 1/6 the
 *             linear one. Poses step along their screw (Q2).
 * Newton      qdd_1 -= S^-1 r with S of O2, c = kappa gamma h, k = kappa beta h^2,
 *             kappa = (1 - alpha_f)/(1 - alpha_m). Factors stay for as many steps as
 *             iterations contract to NM_RATE; each lane has its own. It ends when
 *                 h^2 sum |dqdd_i r_i| <= NM_TOLERANCE^2 (sum M_ii (qd_i^2
 *                     + h^2 qdd_i^2) + h^2 sum f_i^2/S_ii + h^2 m g^2),         (O4)
 *             energies, whatever the coordinates are; f_i = |tau_i| + |K_t| |q|.
 *             Flexible arms first take corrections of O8 in place of S, as long as they
 *             contract to NM_LOCAL, with r' x on the left of O4; a lane where they do
 *             not begins anew with S, and stays with it until that is to be renewed.
 *             It begins at qdd_0, and if that leads astray at constant velocity.
 *             On a pose S leaves out that two displacements do not add up, which costs
 *             a factor of order h^3 in the contraction and nothing in the result.
 * Error       of linear acceleration, which may be unstable, with
 *                 e = 0.558 h (qdd_1 - qdd_0)                                      (R9)
 *             for that of R6: a step of vibration z misses z^3/24.
 * Start       qdd_0 = a_0 from the equations of motion. Where forces jump (corner), qdd
 *             does too, and a by as much.
 * Source      N. Newmark, J. Eng. Mech. Div. 85 (1959); J. Chung, G. Hulbert, J. Appl.
 *             Mech. 60 (1993), 371-375; M. Arnold, O. Bruels, Multibody Syst. Dyn. 18
 *             (2007), 185-202 (O3).
 * Checked by  tests/simulation/test_implicit.py: twin of the step, order,
 *             spectral radius, energy.
 */
#ifndef FA_NEWMARK_C
#define FA_NEWMARK_C

#include "calls/time_loop.h"
#include "kernels/dynamics/inverse_steps.h"
#include "kernels/dynamics/local_steps.h"
#include "kernels/kinematics/positions.c"
#include "kernels/time/implicit.h"
#include "kernels/time/newmark_local.h"
#include "kernels/time/rollout.h"
#include "kernels/time/step_errors.h"
#include "lanes/dense_lanes.h"
#include "lanes/dense_states.h"
#include "lanes/lane.h"
#include "model/layout.h"

/* iterations of Newton's method at most; its tolerance (O4), and the contraction up to
 * which factors stay */
enum { NM_ITERATIONS = 20 };
static const double NM_TOLERANCE = 1e-9, NM_RATE = 0.1;
/* contraction of O8 up to which its corrections, a twentieth of S at 96 unknowns, are
 * worth it; and steps between scales of O4, each a third of a correction */
static const double NM_LOCAL = 0.5;
enum { NM_SCALED = 8 };
/* relative change of a step with which factors stay: they contract to twice that */
static const double NM_STEP = 1e-3;
/* the part of R9: a step of vibration z misses z^3/24 of it */
static const double NM_SHARE = 0.558;

typedef struct {
    double alpha_m, alpha_f, beta, gamma, kappa;
} nm_weights;

/* control of the iteration, lane by lane */
typedef struct {
    fa_mask done, slow; /* converged or lost; wants new factors */
    fa_mask again;      /* began a second time, at constant velocity */
    fa_mask far, tired; /* with S in place of O8; whose factors became slow */
    int steps;          /* since the scale of O8 */
    fa_real error;      /* left side of O4 before */
    fa_real floor;      /* terms of O4 that stay with the factors, without h^2 */
    fa_real h;          /* of the factors, 0: none */
    fa_real worst;      /* largest |r_i| */
    fa_real count;      /* iterations of this step */
} nm_control;

typedef struct {
    fa_real *qdd, *a, *next; /* [nv] of O3, at the start; qdd_1 */
    fa_real *r, *x, *v;      /* [nv] */
    fa_real *u;              /* [pos_total] */
    fa_real *S, *order;      /* factors, as dense_states.h has them, [nv] */
    fa_real *mass;           /* [nv] diagonal of M */
    fa_real *joints;         /* [nu] E of O8 */
    nm_control *control;
    step_errors *errors; /* of linear acceleration */
    ds_block systems;
} nm_own;

static size_t nm_control_size(void)
{
    return (sizeof(nm_control) + sizeof(fa_real) - 1) / sizeof(fa_real);
}

static size_t nm_own_size(const fa_model *model)
{
    const size_t nv = (size_t)model->nv;
    return 9 * nv + (size_t)pos_total(model) + nv * nv + ds_work_size(model->nv) +
           nm_control_size() + se_size(model);
}

static size_t nm_kernel_size(const fa_model *model)
{
    const size_t sizes[] = {imp_kernel_size(model), se_kernel_size(model),
                            ls_work_size(model)};
    size_t most = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        most = sizes[i] > most ? sizes[i] : most;
    }
    return most;
}

static nm_own nm_split(const roll_group *g, const roll_block *s)
{
    const fa_model *model = g->model;
    const size_t nv = (size_t)model->nv;
    nm_own own;
    own.qdd = s->own;
    own.a = own.qdd + nv;
    own.next = own.a + nv;
    own.r = own.next + nv;
    own.x = own.r + nv;
    own.v = own.x + nv;
    own.order = own.v + nv;
    own.mass = own.order + nv;
    own.joints = own.mass + nv;
    own.S = own.joints + nv;
    own.systems = ds_split(model->nv, roll_states(g, s), own.S + nv * nv);
    own.u = own.S + nv * nv + ds_work_size(model->nv);
    own.control = (nm_control *)(own.u + pos_total(model));
    own.errors = (step_errors *)(own.u + (size_t)pos_total(model) + nm_control_size());
    return own;
}

static nm_weights nm_weights_of(const fa_rollout *run)
{
    nm_weights w = {0.0, 0.0, 0.25, 0.5, 1.0};

    if (run->method == FA_LINEAR_ACCELERATION) {
        w.beta = 1.0 / 6.0;
    } else if (run->method == FA_GENERALIZED_ALPHA) {
        const double rho = run->spectral_radius;
        w.alpha_m = (2.0 * rho - 1.0) / (rho + 1.0);
        w.alpha_f = rho / (rho + 1.0);
        w.gamma = 0.5 + w.alpha_f - w.alpha_m;
        w.beta = 0.25 * (w.gamma + 0.5) * (w.gamma + 0.5);
        w.kappa = (1.0 - w.alpha_f) / (1.0 - w.alpha_m);
    }
    return w;
}

/* a_1 of one coordinate (O3) */
FA_INLINE fa_real nm_average(const nm_weights *w, const nm_own *own, int i)
{
    return w->kappa * own->next[i] +
           (w->alpha_f * own->qdd[i] - w->alpha_m * own->a[i]) / (1.0 - w->alpha_m);
}

/* q_1 and qd_1 of the iterate (O3) */
static void nm_state(const roll_group *g, roll_block *s, const nm_own *own, fa_real h)
{
    const nm_weights w = nm_weights_of(g->run);

    for (int i = 0; i < g->model->nv; i++) {
        const fa_real a = nm_average(&w, own, i);
        own->v[i] = h * (s->qd[i] + h * ((0.5 - w.beta) * own->a[i] + w.beta * a));
        s->stage_qd[i] = s->qd[i] + h * ((1.0 - w.gamma) * own->a[i] + w.gamma * a);
    }
    pos_rates(g->model, NULL, own->v, own->u);
    pos_step(g->model, s->q, own->u, s->stage_q);
}

/* the first iterate */
static void nm_begin(const roll_group *g, roll_block *s, const roll_time *when,
                     fa_real h)
{
    const nm_own own = nm_split(g, s);
    const int nv = g->model->nv, start = own.control->h[0] < 0.0;

    if (when->corner) {
        roll_accelerate(g, s, 1, own.next);
        for (int i = 0; i < nv; i++) {
            own.a[i] = start ? own.next[i] : own.a[i] + (own.next[i] - own.qdd[i]);
            own.qdd[i] = own.next[i];
        }
    }
    if (start) {
        own.control->h = (fa_real){0};
    }
    memcpy(own.next, own.qdd, (size_t)nv * sizeof(fa_real));
    nm_state(g, s, &own, h);
    own.control->done = (fa_mask){0};
    own.control->slow = own.control->again = (fa_mask){0};
    if (nl_fits(g)) {
        own.control->far &= ~own.control->tired;
    }
    own.control->tired = (fa_mask){0};
    own.control->steps = (own.control->steps + 1) % NM_SCALED;
    own.control->count = (fa_real){0};
}

/* m g^2 of O4 */
static fa_real nm_weight(const fa_model *model)
{
    const double *gravity = model->gravity;
    double mass = 0.0;

    for (int k = 0; k < model->n_bodies; k++) {
        mass += model->bodies[k].mass;
    }
    return fa_splat(mass * (gravity[0] * gravity[0] + gravity[1] * gravity[1] +
                            gravity[2] * gravity[2]));
}

/* terms of O4 that hold as long as the factors */
static fa_real nm_floor(const roll_group *g, const roll_block *s, const imp_parts *p,
                        const fa_real *S)
{
    const fa_model *model = g->model;
    const int nv = model->nv;
    fa_real sum = nm_weight(model);

    for (int i = 0; i < nv; i++) {
        fa_real f = dense_size(s->tau[i]);
        for (int k = 0; k < model->n_bodies; k++) {
            const fa_body *b = model->bodies + k;
            for (int j = 0; j < b->n_dof && !pos_is_pose(b); j++) {
                f += dense_size(p->K[i * nv + b->joint_at + j] *
                                s->q[b->position_at + j]);
            }
            for (int j = 0; j < b->n_modes; j++) {
                f += dense_size(p->K[i * nv + b->mode_at + j] * s->q[b->eta_at + j]);
            }
        }
        const fa_real scaled = f * f / dense_size(S[i * nv + i]);
        sum += fa_select(scaled > 0.0, scaled, (fa_real){0});
    }
    return sum;
}

/* factors at the iterate, for the lanes that want them */
static void nm_factor(const roll_group *g, const roll_block *s, const nm_own *own,
                      fa_real h, fa_mask wanted)
{
    const nm_weights w = nm_weights_of(g->run);
    const int nv = g->model->nv;
    const fa_real c = w.kappa * w.gamma * h, k = w.kappa * w.beta * h * h;
    const imp_parts p = imp_tangent(g, s, s->stage_q, s->stage_qd, own->next);
    fa_real *S = p.work;

    for (int i = 0; i < nv; i++) { /* by columns, as systems are kept */
        for (int j = 0; j < nv; j++) {
            const int at = i * nv + j;
            S[j * nv + i] = p.M[at] + c * p.C[at] + k * p.K[at];
        }
    }
    const fa_real floor = nm_floor(g, s, &p, S);
    own->control->floor = fa_select(wanted, floor, own->control->floor);
    for (int i = 0; i < nv; i++) {
        own->mass[i] = fa_select(wanted, p.M[i * nv + i], own->mass[i]);
    }
    ds_factor_wanted(&own->systems, wanted, S, own->x, own->S, own->order);
    own->control->h = fa_select(wanted, h, own->control->h);
}

/* lanes that cannot go on: NaN, with the reason reported */
static void nm_lose(const roll_group *g, const roll_block *s, const roll_time *when,
                    const nm_own *own, fa_mask lost)
{
    for (int w = 0; fa_any(lost) && w < FA_LANES; w++) {
        if (!lost[w]) {
            continue;
        }
        if (isfinite(s->q[0][w])) { /* what diverged before says so itself */
            roll_tell(g, s, w, FA_REPORT_ENDING, FA_NOT_CONVERGED);
            roll_tell(g, s, w, FA_REPORT_TIME, when->t[w]);
            roll_tell(g, s, w, FA_REPORT_RESIDUAL, own->control->worst[w]);
        }
        own->next[0][w] = (double)NAN;
    }
    own->control->done |= lost;
}

/* left side of O4 without h^2, and the largest residual; x is the correction */
static fa_real nm_error(int nv, const nm_own *own, nm_control *c)
{
    fa_real sum = {0};

    c->worst = (fa_real){0};
    for (int i = 0; i < nv; i++) {
        const fa_real size = dense_size(own->r[i]);
        sum += dense_size(own->x[i]) * size;
        c->worst = fa_select(size <= c->worst, c->worst, size);
    }
    return sum;
}

/* the right side without the tolerance */
static fa_real nm_scale(const roll_block *s, int nv, const nm_own *own, fa_real h)
{
    fa_real sum = h * h * own->control->floor;

    for (int i = 0; i < nv; i++) {
        const fa_real v = s->stage_qd[i], a = h * own->next[i];
        sum += own->mass[i] * (v * v + a * a);
    }
    return sum;
}

/* an iterate at constant velocity, qd_1 = qd_0, for the lanes that need another start:
 * where accelerations are large and short, those of the start lead far away */
static void nm_begin_again(const roll_group *g, const nm_own *own, fa_mask lanes)
{
    const nm_weights w = nm_weights_of(g->run);
    nm_control *c = own->control;

    for (int i = 0; i < g->model->nv; i++) {
        const fa_real a = (1.0 - 1.0 / w.gamma) * own->a[i];
        const fa_real rest =
            (w.alpha_f * own->qdd[i] - w.alpha_m * own->a[i]) / (1.0 - w.alpha_m);
        own->next[i] = fa_select(lanes, (a - rest) / w.kappa, own->next[i]);
    }
    c->count = fa_select(lanes, (fa_real){0}, c->count);
    c->slow |= lanes;
    c->again |= lanes;
}

/* v and the left side of O4, by O8; at the first iterate of some steps, the scale */
static fa_real nm_correct_local(const roll_group *g, const roll_block *s,
                                const nm_own *own, fa_real h, fa_mask near)
{
    const nm_weights w = nm_weights_of(g->run);
    nm_control *c = own->control;
    const ls_iterate at = {s->stage_q,
                           s->stage_qd,
                           own->next,
                           w.kappa * w.gamma * h,
                           w.kappa * w.beta * h * h,
                           own->joints};
    const fa_mask first = near & (c->count == 0.0);
    fa_real energy;

    nl_joints(g, s, at.c, at.k, own->joints);
    if (c->steps == 0 && fa_any(first)) {
        nl_mass(g->model, s->q, g->work, own->r); /* the iterate may be astray */
        for (int i = 0; i < g->model->nv; i++) {
            own->mass[i] = fa_select(first, own->r[i], own->mass[i]);
        }
        const fa_real floor =
            nm_weight(g->model) + nl_forces(g, s, &at, own->mass, own->x);
        c->floor = fa_select(first, floor, c->floor);
    }
    ls_run(g->model, &at, s->tau, g->work, own->v, &energy);
    return h * h * energy;
}

/* x and the left side of O4, by S */
static fa_real nm_correct(const roll_group *g, const roll_block *s, const nm_own *own,
                          fa_real h, fa_mask far)
{
    nm_control *c = own->control;
    const int nv = g->model->nv;
    const fa_mask wanted = far & (c->slow | ~(dense_size(c->h - h) <= NM_STEP * h));

    if (fa_any(wanted)) {
        nm_factor(g, s, own, h, wanted);
    }
    id_run(g->model, ID_MOTION | ID_ACCELERATION, s->stage_q, s->stage_qd, own->next,
           imp_split(g->model, g->work).work, own->r);
    for (int i = 0; i < nv; i++) {
        own->x[i] = own->r[i] -= s->tau[i];
    }
    ds_solve(&own->systems, own->S, own->order, own->x);
    return h * h * nm_error(nv, own, c);
}

/* x and the left side of O4, of the lanes that are open */
static fa_real nm_correct_all(const roll_group *g, const roll_block *s,
                              const nm_own *own, fa_real h)
{
    nm_control *c = own->control;
    const fa_mask far = ~c->done & c->far, near = ~c->done & ~c->far;
    fa_real error = {0}, local = {0};

    if (fa_any(near)) { /* first, as it writes to x */
        local = nm_correct_local(g, s, own, h, near);
    }
    if (fa_any(far)) {
        error = nm_correct(g, s, own, h, far);
    }
    for (int i = 0; i < g->model->nv; i++) {
        own->x[i] = fa_select(near, own->v[i], own->x[i]);
    }
    return fa_select(near, local, error);
}

/* lanes of O8 that do not contract begin anew with S */
static void nm_leave(const roll_group *g, const nm_own *own, fa_mask lanes)
{
    nm_control *c = own->control;

    for (int i = 0; i < g->model->nv; i++) {
        own->next[i] = fa_select(lanes, own->qdd[i], own->next[i]);
    }
    c->far |= lanes;
    c->h = fa_select(lanes, (fa_real){0}, c->h);
    c->count = fa_select(lanes, (fa_real){0}, c->count);
}

/* one step of Newton's method */
static void nm_iterate(const roll_group *g, roll_block *s, const roll_time *when,
                       fa_real h)
{
    const nm_own own = nm_split(g, s);
    const int nv = g->model->nv;
    nm_control *c = own.control;

    if (!fa_any(~c->done)) {
        return;
    }
    const fa_real error = nm_correct_all(g, s, &own, h);
    const fa_real limit = NM_TOLERANCE * NM_TOLERANCE * nm_scale(s, nv, &own, h);
    for (int i = 0; i < nv; i++) {
        own.next[i] -= fa_select(c->done, (fa_real){0}, own.x[i]);
    }
    const fa_mask met = error <= limit, first = c->count == 0.0;
    const fa_mask number = error < fa_splat((double)INFINITY);
    const fa_mask grows = ~first & ~(error <= c->error);
    const fa_mask weak = ~first & ~(error <= NM_LOCAL * NM_LOCAL * c->error);
    c->slow = ~(error <= NM_RATE * NM_RATE * c->error) & ~first;
    c->error = fa_select(c->done, c->error, error);
    c->count += 1.0;
    const fa_mask open = ~c->done & ~met;
    const fa_mask astray = open & (~number | (c->count >= (double)NM_ITERATIONS));
    const fa_mask lost = astray & c->far & c->again;
    const fa_mask again = (astray | (open & grows)) & c->far & ~c->again;
    const fa_mask leave = (astray | (open & weak)) & ~c->far;
    c->done |= met;
    c->tired |= open & c->far & c->slow;
    nm_lose(g, s, when, &own, lost);
    if (fa_any(again)) {
        nm_begin_again(g, &own, again);
    }
    if (fa_any(leave)) {
        nm_leave(g, &own, leave);
    }
    nm_state(g, s, &own, h);
}

static void nm_stage(const roll_group *g, roll_block *s, int stage,
                     const roll_time *when, fa_real h)
{
    if (stage == 0) {
        nm_begin(g, s, when, h);
    } else {
        nm_iterate(g, s, when, h);
    }
}

static int nm_repeat(const roll_group *g, const roll_block *s)
{
    return fa_any(~nm_split(g, s).control->done);
}

/* whether steps are judged: those that may be unstable */
static int nm_is_judged(const roll_group *g)
{
    return se_is_judged(g) && g->run->method == FA_LINEAR_ACCELERATION;
}

/* the error of a step that is done (R9); x is free */
static void nm_judge(const roll_group *g, const roll_block *s, const nm_own *own,
                     fa_real h)
{
    for (int i = 0; i < g->model->nv; i++) {
        own->x[i] = s->stage_qd[i] + NM_SHARE * h * (own->next[i] - own->qdd[i]);
    }
    se_add(g, s, own->x, s->stage_qd, h, own->errors);
}

static void nm_finish(const roll_group *g, roll_block *s, fa_real h)
{
    const nm_own own = nm_split(g, s);
    const nm_weights w = nm_weights_of(g->run);

    nm_state(g, s, &own, h); /* of lanes that are lost too */
    if (nm_is_judged(g)) {
        nm_judge(g, s, &own, h);
    }
    for (int i = 0; i < g->model->nv; i++) {
        own.a[i] = nm_average(&w, &own, i);
        own.qdd[i] = own.next[i];
    }
    memcpy(s->q, s->stage_q, (size_t)g->model->nq * sizeof(fa_real));
    memcpy(s->qd, s->stage_qd, (size_t)g->model->nv * sizeof(fa_real));
}

/* no factors yet, and no accelerations */
static void nm_start(const roll_group *g, roll_block *s)
{
    fa_zero(s->own, (int)(nm_own_size(g->model) - se_size(g->model)));
    nm_control *c = nm_split(g, s).control;
    c->h = fa_splat(-1.0);
    c->steps = -1;
    if (!nl_fits(g)) {
        c->far = c->h < 0.0;
    }
    if (nm_is_judged(g)) {
        se_start(g, s, nm_split(g, s).errors);
    }
}

static void nm_end(const roll_group *g, roll_block *s)
{
    if (nm_is_judged(g)) {
        se_end(g, s, nm_split(g, s).errors);
    }
}

static void nm_restart(const roll_group *g, roll_block *s)
{
    nm_end(g, s);
    nm_start(g, s);
}

static const double nm_node[2] = {0.0, 1.0};
static const roll_method nm_method = {.n_stages = 2,
                                      .node = nm_node,
                                      .own_size = nm_own_size,
                                      .kernel_size = nm_kernel_size,
                                      .start = nm_start,
                                      .restart = nm_restart,
                                      .stage = nm_stage,
                                      .finish = nm_finish,
                                      .repeat = nm_repeat,
                                      .end = nm_end};

#endif
