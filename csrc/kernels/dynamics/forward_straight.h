/*
 * forward_straight.h -- steps of forward dynamics on straight bodies
 *
 * The steps of forward_dynamics.c for a body that is straight (A1, A5 by M2 to M4), and
 * for one that hangs on a node of such a body (A1, A5, A9 by M5 to M7).
 * Checked by  tests/beams/test_straight.py.
 */
#ifndef FA_FORWARD_STRAIGHT_H
#define FA_FORWARD_STRAIGHT_H

#include "kernels/bodies/node.h"
#include "kernels/bodies/straight.h"
#include "kernels/bodies/straight_forces.h"
#include "kernels/bodies/straight_hop.h"
#include "kernels/dynamics/forward_steps.h"
#include "kernels/dynamics/forward_work.h"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/layout.h"

/* fd_body_start of a straight body */
FA_INLINE void fd_body_start_straight(const fa_model *model, const fa_body *b,
                                      const straight_size z, const fa_real *q,
                                      const fa_real *qd, const fd_work *w,
                                      fd_body *self)
{
    straight_shape shape;

    (void)model;
    straight_deform(b, z, q + b->eta_at, &shape);
    straight_force(b, z, &shape, q + b->eta_at, qd + b->mode_at, NULL, 0, self->V, NULL,
                   w->z_f + b->own_at, self->z);
    straight_inertia(b, z, &shape, &self->P, w->Y + 6 * b->own_at, w->L + b->tri_at);
}

/* fd_outward on a straight parent */
FA_INLINE void fd_outward_straight(const fa_model *model, const fa_body *b,
                                   const straight_size z, const fa_real *q,
                                   const fa_real *qd, const fd_work *w, fd_body *self)
{
    const fa_body *on = model->bodies + b->parent;
    const fd_body *p = w->body + b->parent;
    fa_real *slope = w->columns + 6 * b->hop_at, *shift = slope + 3 * on->n_modes;
    fa_real *bent = w->bent + b->hop_at;
    fa_turn turn;

    straight_pose(model, on, b, z, q, &self->hop, &turn, &self->node, bent);
    straight_velocity(model, on, b, z, &self->hop, &turn, &self->node, bent, qd, p->V,
                      0, NULL, NULL, self->V, self->c);
    if (model->n_constraints > 0) { /* which ask for the columns afterwards */
        straight_columns(model->nodes + b->attach, z, &self->node, bent, slope, shift);
    }
    if (model->any_offset) {
        fa_rotate_t(self->g, self->hop.R, p->g);
    }
}

/* fd_inward to a straight parent */
FA_INLINE void fd_inward_straight(const fa_model *model, const fa_body *b,
                                  const straight_size z, const int kept,
                                  const fd_work *w, fd_body *self)
{
    const fa_body *on = model->bodies + b->parent;
    fd_body *parent = w->body + b->parent;
    const fa_real *r = self->hop.r, *bent = w->bent + b->hop_at;
    fa_inertia gamma;

    fd_inward_inertia(kept, self, parent, &gamma);
    straight_inertia_add(model->nodes + b->attach, z, b->is_shifted, &self->node, bent,
                         &gamma, r, w->L + on->tri_at, w->Y + 6 * on->own_at);
    straight_force_add(model, b, z, &self->hop, &self->node, bent, self->z, parent->z,
                       w->z_f + on->own_at);
}

/* fd_accelerate on a straight parent */
FA_INLINE void fd_accelerate_straight(const fa_model *model, const fa_body *b,
                                      const straight_size z, const fa_real *base,
                                      const fd_work *w, fd_body *self, fa_real *qdd)
{
    const fa_body *on = model->bodies + b->parent;

    (void)base;
    straight_accelerate(model, b, z, &self->hop, &self->node, w->bent + b->hop_at,
                        w->body[b->parent].a, qdd + on->mode_at, self->a);
    fd_accelerate_joint(b, w, self, qdd);
}

FA_STRAIGHT_STEP(fd_body_start_straight, const fa_real *q, const fa_real *qd,
                 const fd_work *w, fd_body *self);
FA_STRAIGHT_STEP(fd_outward_straight, const fa_real *q, const fa_real *qd,
                 const fd_work *w, fd_body *self);
FA_STRAIGHT_STEP(fd_inward_straight, const int kept, const fd_work *w, fd_body *self);
FA_STRAIGHT_STEP(fd_accelerate_straight, const fa_real *base, const fd_work *w,
                 fd_body *self, fa_real *qdd);

#endif
