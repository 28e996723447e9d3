/*
 * newmark_local.h -- what a step of Newmark's methods by local terms of S needs
 *
 * Corrections follow from O8 in place of S: linear in the number of bodies, and with new
 * factors at each iterate. The scale of O4 is then that of O8,
 *             f_i = |tau_i| + |K q|,  S_ii = M_ii + E_ii,
 *             with the diagonal of M from composite bodies (C1).
 * Checked by  tests/simulation/test_local_steps.py
 */
#ifndef FA_NEWMARK_LOCAL_H
#define FA_NEWMARK_LOCAL_H

#include "calls/time_loop.h"
#include "kernels/bodies/joint.h"
#include "kernels/bodies/joint_forces.h"
#include "kernels/dynamics/composite_bodies.h"
#include "kernels/dynamics/local_steps.h"
#include "kernels/dynamics/mass_matrix.c"
#include "kernels/kinematics/positions.c"
#include "kernels/time/rollout.h"
#include "lanes/dense_lanes.h"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/kinds.h"
#include "model/layout.h"

/* whether the stiff terms of S stand in blocks of bodies and joints; without modes S is
 * small, and its kernels are fast */
static int nl_fits(const roll_group *g)
{
    const fa_model *model = g->model;

    return !model->is_rigid && !model->tree && !model->grouping &&
           model->n_passive == 0 && !(g->run->feedback && !g->run->feedback->diagonal);
}

/* E of joints, of their damping and of feedback: joints [nu] */
static void nl_joints(const roll_group *g, const roll_block *s, fa_real c, fa_real k,
                      fa_real *joints)
{
    const fa_model *model = g->model;

    for (int i = 0; i < model->n_bodies; i++) {
        const fa_body *b = model->bodies + i;
        for (int j = 0; j < b->n_dof; j++) {
            joints[b->joint_at + j] = c * b->damping[j];
        }
    }
    for (int i = 0; g->run->feedback && i < model->n_actuators; i++) {
        joints[jf_actuator(model, i)] +=
            k * s->gains[i] + c * s->gains[model->n_actuators + i];
    }
}

/* adds the sizes of K q of modes and joints: f [nv] */
static void nl_stiffness(const roll_group *g, const roll_block *s, fa_real *f)
{
    const fa_model *model = g->model;
    fa_real *gains = g->work; /* [nu] by velocities */

    fa_zero(gains, model->nu);
    for (int i = 0; g->run->feedback && i < model->n_actuators; i++) {
        gains[jf_actuator(model, i)] = s->gains[i];
    }
    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        for (int j = 0; j < b->n_dof && !pos_is_pose(b); j++) {
            f[b->joint_at + j] +=
                dense_size(gains[b->joint_at + j] * s->q[b->position_at + j]);
        }
        for (int r = 0; r < b->n_modes; r++) {
            for (int j = 0; j < b->n_modes; j++) {
                f[b->mode_at + r] +=
                    dense_size(b->modal.K[r * b->n_modes + j] * s->q[b->eta_at + j]);
            }
        }
    }
}

/* the diagonal of M at q: mass [nv] */
static void nl_mass(const fa_model *model, const fa_real *q, fa_real *work,
                    fa_real *mass)
{
    const mm_work w = mm_split(model, work);

    mm_bodies(model, q, &w, NULL);
    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        const mm_body *self = w.body + k;
        for (int j = 0; j < b->n_dof; j++) {
            fa_real S[6], X[6];
            joint_screw(b, j, S);
            mm_rigid_mul(self->m, self->h, self->J, S, S + 3, X);
            mass[b->joint_at + j] = joint_force(b, j, X) + b->armature[j];
        }
        for (int r = 0; r < b->n_modes; r++) {
            mass[b->mode_at + r] = w.ff[b->tri_at + fa_tri(r, r)];
        }
    }
}

/* sum f_i^2/S_ii, with the diagonal of M; f [nv] is free */
static fa_real nl_forces(const roll_group *g, const roll_block *s, const ls_iterate *at,
                         const fa_real *mass, fa_real *f)
{
    const fa_model *model = g->model;
    fa_real sum = {0};

    for (int i = 0; i < model->nv; i++) {
        f[i] = dense_size(s->tau[i]);
    }
    nl_stiffness(g, s, f);
    for (int i = 0; i < model->nu; i++) {
        const fa_real scaled = f[i] * f[i] / (mass[i] + at->joints[i]);
        sum += fa_select(scaled > 0.0, scaled, (fa_real){0});
    }
    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        for (int r = 0; r < b->n_modes; r++) {
            const int i = b->mode_at + r, d = r * (b->n_modes + 1);
            const fa_real E = at->c * b->modal.C[d] + at->k * b->modal.K[d];
            sum += f[i] * f[i] / (mass[i] + E);
        }
    }
    return sum;
}

#endif
