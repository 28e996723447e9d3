/*
 * energy_tangents.c -- gradient of the total energy
 *
 *             E = 1/2 qd'M qd + V(q),  dE/dqd = M qd,
 *             dE/dq = 1/2 (d(M a)/dq)'a + dV/dq  at a = qd                      (G8)
 *             d(M a)/dq are the tangents of inverse dynamics at rest, of an arm without
 *             gravity and springs; dV/dq the forces of gravity and springs. The height of
 *             an arm is that of the deformed one, for any fidelity.
 * Checked by  tests/derivatives/test_forward_derivatives.py: complex step and
 *             differences of E.
 */
#ifndef FA_ENERGY_TANGENTS_C
#define FA_ENERGY_TANGENTS_C

#include "calls/call.h"
#include "kernels/bodies/joint_forces.h"
#include "kernels/bodies/strain.h"
#include "kernels/derivatives/linear.c"
#include "kernels/dynamics/inverse_steps.h"
#include "kernels/dynamics/mass_inverse.c"
#include "lanes/lane.h"
#include "model/kinds.h"
#include "model/layout.h"

static size_t et_work_size(const fa_model *model)
{
    const size_t nv = (size_t)model->nv;
    const int is_linear = model->fidelity == FA_LINEAR;
    const size_t sizes[] = {is_linear ? li_work_size(model) : 0, id_work(model),
                            tg_work_size(model)};
    size_t most = 0;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        most = sizes[i] > most ? sizes[i] : most;
    }
    return nv + 2 * nv * nv + most;
}

/* dV/dq; zero [nv] */
static void et_potential(const fa_model *model, const fa_real *q, const fa_real *zero,
                         fa_real *work, fa_real *dq)
{
    fa_model deformed = *model;

    deformed.fidelity = FA_FULL;
    id_run(&deformed, ID_GRAVITY_ONLY, q, NULL, NULL, work, dq);
    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        const fa_real *eta = q + b->eta_at;
        const int n = b->n_modes;
        for (int r = 0; r < n; r++) {
            for (int s = 0; s < n; s++) {
                dq[b->mode_at + r] += b->modal.K[r * n + s] * eta[s];
            }
        }
        if (b->strain.n > 0) {
            strain_any_add(&b->strain, eta, dq + b->mode_at);
        }
    }
    jf_add(model, 1.0, q, zero, dq); /* at rest what is left has a potential */
}

/* dE/dq, dE/dqd: output [2][nv] */
static void et_energy(const fa_model *model, const fa_call *call)
{
    const int nv = model->nv, size = nv * nv;
    const fa_real *q = call->in[0], *qd = call->in[1];
    fa_real *zero = call->work, *K = zero + nv, *C = K + size, *rest = C + size;
    fa_real *dq = call->out, *dqd = dq + nv;
    const fa_call own = {
        .in = {q, qd}, .out = dqd, .work = rest, .states = call->states};

    fa_zero(zero, nv);
    et_potential(model, q, zero, rest, dq);
    tg_inertial(model, call->states, q, zero, qd, rest, K, C);
    for (int i = 0; i < nv; i++) {
        for (int j = 0; j < nv; j++) {
            dq[j] += 0.5 * K[i * nv + j] * qd[i];
        }
    }
    if (model->fidelity == FA_LINEAR) {
        li_apply(model, &own);
    } else {
        mi_apply(model, &own);
    }
}

#endif
