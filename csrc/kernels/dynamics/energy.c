/*
 * energy.c -- kinetic and potential energy
 *
 *             T = 1/2 sum_k V_m' M_m V_m + 1/2 a qd^2, V_m = (etad; omega; v), a armature
 *             V = sum_k 1/2 eta' K eta - (m x_k + R_k (mp0 + E eta + E_k zeta_k)).g
 *             and the potentials of H1 and H3
 *             The height g.x_k is carried outward as a number: g_p.r is added at
 *             each hop, with gravity g_p in the axes of the parent.
 * Source      Jain and Rodriguez, eq. 23.
 * Checked by  tests/dynamics/test_dynamics.py: brute force over nodes, power balance.
 */
#ifndef FA_ENERGY_C
#define FA_ENERGY_C

#include "calls/call.h"
#include "kernels/bodies/body.h"
#include "kernels/bodies/driven.h"
#include "kernels/bodies/hop.h"
#include "kernels/bodies/joint_forces.h"
#include "kernels/bodies/node.h"
#include "kernels/bodies/strain.h"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/kinds.h"
#include "model/layout.h"

typedef struct {
    fa_hop hop;
    fa_real V[6], c[6]; /* V: twist, or gravity and height */
} en_body;

static size_t en_work_size(const fa_model *model)
{
    return (size_t)model->n_bodies * (sizeof(en_body) / sizeof(fa_real)) +
           6 * (size_t)model->sum_parent_modes;
}

/* 1/2 a qd^2 of the joints */
FA_NOINLINE fa_real en_armature(const fa_model *model, const fa_real *qd)
{
    fa_real sum = {0};

    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        for (int j = 0; j < b->n_dof; j++) {
            const fa_real rate = qd[b->joint_at + j];
            sum += 0.5 * b->armature[j] * rate * rate;
        }
    }
    return sum;
}

FA_INLINE fa_real en_kinetic_body(const fa_model *model, const fa_body *b, const int n,
                                  const fa_real *q, const fa_real *qd, const fa_real *V)
{
    const fa_real *etad = qd + b->mode_at;
    fa_real modal[FA_MAX_MODES], momentum[6], sum;
    fa_shape shape;

    fa_zero(modal, n);
    fa_zero(momentum, 6);
    body_shape(b, n, node_eta(model, q, b->eta_at), &shape);
    body_mass_mul_add(b, n, &shape, etad, V, modal, momentum);
    sum = fa_dot(momentum, V) + fa_dot(momentum + 3, V + 3);
    for (int r = 0; r < n; r++) {
        sum += modal[r] * etad[r];
    }
    return 0.5 * sum;
}

static void en_kinetic(const fa_model *model, const fa_call *call)
{
    const fa_real *q = call->in[0], *qd = call->in[1];
    en_body *bodies = (en_body *)call->work;
    fa_real *columns = (fa_real *)(bodies + model->n_bodies), sum = {0};

    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        en_body *self = bodies + k;
        const fa_real *Vp = b->parent < 0 ? NULL : bodies[b->parent].V;
        fa_real *at = columns + 6 * b->hop_at;
        fa_real *shift = at + 3 * b->parent_modes;
        fa_turn turn = {0};
        hop_pose_any(model, b, q, &self->hop, &turn, at, shift);
        hop_velocity(model, b, b->parent_modes, &self->hop, &turn, at, shift, Vp, qd,
                     self->V, self->c);
        sum += en_kinetic_body(model, b, b->n_modes, q, qd, self->V);
    }
    if (model->any_armature) {
        sum += en_armature(model, qd);
    }
    call->out[0] = sum;
}

/* power that dampers of joints and modes, friction and stops take, at q, qd */
static void en_dissipation(const fa_model *model, const fa_call *call)
{
    const fa_real *q = call->in[0], *qd = call->in[1];
    fa_real sum = jf_dissipation(model, q, qd);

    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        const fa_real *etad = qd + b->mode_at;
        for (int j = 0; j < b->n_dof; j++) {
            sum += b->damping[j] * qd[b->joint_at + j] * qd[b->joint_at + j];
        }
        for (int r = 0; r < b->n_modes; r++) {
            for (int s = 0; s < b->n_modes; s++) {
                sum += b->modal.C[r * b->n_modes + s] * etad[r] * etad[s];
            }
        }
    }
    for (int i = 0; i < model->nq; i++) {
        sum += 0.0 * q[i]; /* nothing moves where there is no place */
    }
    call->out[0] = sum;
}

static size_t en_no_work(const fa_model *model)
{
    (void)model;
    return 0;
}

static void en_potential(const fa_model *model, const fa_call *call)
{
    const fa_real *q = call->in[0];
    en_body *bodies = (en_body *)call->work;
    fa_real *columns = (fa_real *)(bodies + model->n_bodies);
    fa_real sum = jf_potential(model, q);

    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        const fa_real *eta = q + b->eta_at;
        en_body *self = bodies + k;
        fa_real *at = columns + 6 * b->hop_at, g[3], mp[3], height = {0};

        fa_turn turn;
        hop_pose_deformed(model, b, q, &self->hop, &turn, at, at + 3 * b->parent_modes);
        for (int i = 0; i < 3; i++) {
            g[i] =
                b->parent < 0 ? fa_spread(model->gravity[i]) : bodies[b->parent].V[i];
        }
        if (b->parent >= 0) {
            height = bodies[b->parent].V[3];
        }
        self->V[3] = height + fa_dot(g, self->hop.r);
        fa_rotate_t(self->V, self->hop.R, g);
        for (int r = 0; r < b->n_modes; r++) {
            for (int s = 0; s < b->n_modes; s++) {
                sum += 0.5 * b->modal.K[r * b->n_modes + s] * eta[r] * eta[s];
            }
        }
        if (b->strain.n > 0) {
            sum += strain_energy(&b->strain, eta);
        }
        body_weight_moment(b, eta, mp);
        sum -= b->mass * self->V[3] + fa_dot(self->V, mp);
    }
    call->out[0] = sum;
}

#endif
