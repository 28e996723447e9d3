/*
 * forward_dynamics.c -- accelerations by the articulated-body recursion
 *
 * Solves      M(q) qdd = tau - C(q, qd), without forming M
 *
 * Recursion   P = M_m + children, D_f = P_ff, g = P_rf D_f^-1                  (A1, A2)
 *             P_R = P_rr - g P_rf'                                             (A3)
 *             D_R = S' P_R S + a, G_R = P_R S / D_R, P_R+ = P_R - G_R D_R G_R',
 *             a the armature; without one P_R+ S = 0                           (A4)
 *             z = b_m + K eta + C etad + children                              (A5)
 *             eps_f = tau_f - z_f, nu_f = D_f^-1 eps_f                         (A6)
 *             z_R = z_r + g eps_f + P_R c                                      (A7)
 *             eps_R = tau_r - d qd - S' z_R, nu_R = eps_R / D_R, tau_r less H1 to H3,
 *             z_R+ = z_R + G_R eps_R                                           (A8)
 *             outward: qdd = nu_R - G_R' alpha+, alpha = alpha+ + S qdd + c,
 *                      etadd = nu_f - g' alpha                                 (A9)
 *             A wide joint is freed like modes are, with P_ff = S' P_R S and
 *             P_rf = P_R S. A floating body first changes to the pair (etad; V_O'), F4.
 *             g is never formed: with D_f = L D L', Y = L^-1 P_fr, e = L^-1 eps_f,
 *                 g P_rf' = Y' D^-1 Y,  g eps_f = Y' D^-1 e,
 *                 etadd = L'^-1 D^-1 (e - Y alpha).
 * Frames      every 6-vector is [angular; linear] in the axes of its own body.
 * Lanes       a pivot that is not positive makes its lane NaN.
 * Cost        O(bodies * modes^3), no allocation.
 * Source      Jain and Rodriguez, US patent 5,546,508, eqs. 63 and 64, modes clamped
 *             at the attachment; C. The order is flexible first, then the joint.
 * Checked by  tests/dynamics/test_dynamics.py: ID(FD) = identity, composite path,
 *             Lagrangian.
 */
#ifndef FA_FORWARD_DYNAMICS_C
#define FA_FORWARD_DYNAMICS_C

#include "kernels/bodies/followers.h"
#include "kernels/bodies/straight.h"
#include "kernels/bodies/straight_hop.h"
#include "kernels/dynamics/fast_modes.c"
#include "kernels/dynamics/forward_rows.h"
#include "kernels/dynamics/forward_steps.h"
#include "kernels/dynamics/forward_straight.h"
#include "kernels/dynamics/forward_work.h"
#include "kernels/dynamics/grouped_forward.c"
#include "kernels/dynamics/rigid_forward.c"
#include "lanes/lane.h"
#include "model/layout.h"

/* inertia and velocity force of one body */
FA_NOINLINE void fd_start(const fa_model *model, const fa_body *b, const fa_real *q,
                          const fa_real *qd, const fd_work *w, fd_body *self)
{
    const int is_straight = b->straight.kind > 0;

    FA_BODY_STEP(FA_SWITCH_STRAIGHT, is_straight, fd_body_start, model, b, q, qd, w,
                 self)
}

/* outward: poses and twists; and of bodies that carry several, inertia and force */
FA_INLINE void fd_outward_all(const fa_model *model, const fa_real *q,
                              const fa_real *qd, const fd_work *w)
{
    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        FA_HOP_STEP(FA_SWITCH_STRAIGHT, straight_carries(model, b), fd_outward, model,
                    b, q, qd, w, w->body + k)
        if (b->n_children > 1) {
            fd_start(model, b, q, qd, w, w->body + k);
        }
    }
}

/*
 * inward: eliminate modes, then the joint, hand the rest to the parent. A body with one
 * child starts when that is about to reach it, so that what it starts with is in the
 * first cache.
 */
FA_INLINE void fd_inward_all(const fa_model *model, const fa_real *q, const fa_real *qd,
                             const fa_real *tau, const fd_work *w)
{
    for (int k = model->n_bodies - 1; k >= 0; k--) {
        const fa_body *b = model->bodies + k;
        if (b->n_children == 0) {
            fd_start(model, b, q, qd, w, w->body + k);
        }
        FD_MODES_STEP(fd_eliminate_modes, model, b, q, tau + b->mode_at, w, w->body + k)
        fd_eliminate_joint(b, NULL, qd, tau, w, w->body + k);
        if (b->parent >= 0 && model->bodies[b->parent].n_children == 1) {
            fd_start(model, model->bodies + b->parent, q, qd, w, w->body + b->parent);
        }
        if (b->parent >= 0 && !model->bodies[b->parent].fast.W) {
            FA_HOP_STEP(FA_SWITCH_STRAIGHT, straight_carries(model, b), fd_inward,
                        model, b, b->kept, w, w->body + k)
        }
    }
}

/* outward: accelerations */
FA_INLINE void fd_accelerate_all(const fa_model *model, const fd_work *w, fa_real *qdd)
{
    fa_real base[6] = {{0}};
    for (int i = 0; i < 3; i++) {
        base[3 + i] = fa_spread(-model->gravity[i]);
    }
    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        FA_HOP_STEP(FA_SWITCH_STRAIGHT, straight_carries(model, b), fd_accelerate,
                    model, b, base, w, w->body + k, qdd)
        FD_MODES_STEP(fd_accelerate_modes, model, b, w, w->body + k, qdd + b->mode_at)
    }
}

/* of a model whose tree has groups (L7 to L11) */
FA_NOINLINE void fd_run_tree(const fa_model *model, const fa_real *q, const fa_real *qd,
                             const fa_real *tau, fa_real *work, fa_real *qdd)
{
    const fa_model *tree = model->tree;
    fa_real *full_q = work, *full_qd = full_q + tree->nq;
    fa_real *full_tau = full_qd + tree->nv, *full_qdd = full_tau + tree->nv;

    fo_positions(model, q, full_q);
    fo_velocities(model, qd, full_qd);
    fo_place(model, tau, full_tau);
    fd_run(tree, full_q, full_qd, full_tau, full_qdd + tree->nv, full_qdd);
    fo_pick(model, full_qdd, qdd);
}

void fd_run(const fa_model *model, const fa_real *q, const fa_real *qd,
            const fa_real *tau, fa_real *work, fa_real *qdd)
{
    if (model->tree) {
        fd_run_tree(model, q, qd, tau, work, qdd);
        return;
    }
    const fd_work w = fd_split(model, work);

    if (model->n_passive > 0) {
        tau = fd_passive(model, q, qd, tau, &w);
    }
    if (model->grouping) {
        gf_run(model, q, qd, tau, &w, qdd);
        return;
    }
    if (model->is_rigid) {
        rf_run(model, q, qd, tau, &w, qdd);
        return;
    }
    fd_outward_all(model, q, qd, &w);
    fd_inward_all(model, q, qd, tau, &w);
    fd_accelerate_all(model, &w, qdd);
}

#endif
