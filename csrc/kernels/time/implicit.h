/*
 * implicit.h -- what implicit methods share: the matrix of a step
 *
 *             S = M + c C_t + k K_t                                             (O2)
 *             with M(q), and K_t = dr/dq, C_t = dr/dqd of r = ID(q, qd, qdd) - tau, the
 *             gains of a feedback included (R1). Unsymmetric: rates, accelerations and
 *             coupled gains have no potential.
 * Checked by  tests/simulation/test_implicit.py, tests/simulation/test_rodas.py.
 */
#ifndef FA_IMPLICIT_H
#define FA_IMPLICIT_H

#include "kernels/bodies/joint_forces.h"
#include "kernels/derivatives/linear.c"
#include "kernels/dynamics/inverse_steps.h"
#include "kernels/dynamics/mass_matrix.c"
#include "kernels/time/rollout.h"
#include "lanes/lane.h"
#include "model/layout.h"

/* parts of O2, [nv][nv] each, at the start of the scratch; then that of the kernels */
typedef struct {
    fa_real *M, *K, *C, *work;
} imp_parts;

static imp_parts imp_split(const fa_model *model, fa_real *work)
{
    const size_t n = (size_t)model->nv * (size_t)model->nv;
    return (imp_parts){work, work + n, work + 2 * n, work + 3 * n};
}

/* scratch of the kernels of an implicit method */
static size_t imp_kernel_size(const fa_model *model)
{
    const size_t sizes[] = {roll_forward_size(model), id_work(model),
                            mm_work_size(model), tg_work_size(model)};
    size_t most = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        most = sizes[i] > most ? sizes[i] : most;
    }
    const size_t n = (size_t)model->nv * (size_t)model->nv;
    return 3 * n + (most > n ? most : n);
}

/* the gains of a feedback join K and C */
static void imp_gains(const roll_group *g, const roll_block *s, fa_real *K, fa_real *C)
{
    const int nu = g->model->n_actuators, nv = g->model->nv;
    const int diagonal = g->run->feedback->diagonal;
    const fa_real *kp = s->gains, *kd = kp + roll_gains_size(g->model, g->run) / 2;

    for (int i = 0; i < nu; i++) {
        for (int j = diagonal ? i : 0; j < (diagonal ? i + 1 : nu); j++) {
            const int at = diagonal ? i : i * nu + j;
            const int entry = jf_actuator(g->model, i) * nv + jf_actuator(g->model, j);
            K[entry] += kp[at];
            C[entry] += kd[at];
        }
    }
}

/* M, K and C at a state, into the scratch */
static imp_parts imp_tangent(const roll_group *g, const roll_block *s, const fa_real *q,
                             const fa_real *qd, const fa_real *qdd)
{
    const imp_parts p = imp_split(g->model, g->work);

    mm_run(g->model, q, p.work, p.M);
    tg_run(g->model, FA_LANES, q, qd, qdd, p.work, p.K, p.C);
    if (g->run->feedback) {
        imp_gains(g, s, p.K, p.C);
    }
    return p;
}

#endif
