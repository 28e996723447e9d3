/*
 * inverse_straight.h -- steps of inverse dynamics on straight bodies
 *
 * The steps of inverse_dynamics.c for a body that is straight (I1, by M2 to M4), and for
 * one that hangs on a node of such a body (I1 by M5 to M7).
 * Checked by  tests/beams/test_straight.py.
 */
#ifndef FA_INVERSE_STRAIGHT_H
#define FA_INVERSE_STRAIGHT_H

#include "kernels/bodies/hop.h"
#include "kernels/bodies/node.h"
#include "kernels/bodies/straight.h"
#include "kernels/bodies/straight_forces.h"
#include "kernels/bodies/straight_hop.h"
#include "kernels/dynamics/inverse_steps.h"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/layout.h"

/* id_outward on a straight parent */
FA_INLINE void id_outward_straight(const fa_model *model, const fa_body *b,
                                   const straight_size z, const int what,
                                   const fa_real *q, const fa_real *qd,
                                   const fa_real *qdd, fa_real *bent, const id_body *p,
                                   id_body *w)
{
    const fa_body *on = model->bodies + b->parent;
    const fa_real *etadd = what & ID_ACCELERATION ? qdd + on->mode_at : node_rest;
    fa_turn turn;

    straight_pose(model, on, b, z, q, &w->hop, &turn, &w->node, bent);
    straight_velocity(model, on, b, z, &w->hop, &turn, &w->node, bent, qd, p->V, 1,
                      p->a, etadd, w->V, w->a);
    if (what & ID_ACCELERATION) {
        hop_accelerate(b, NULL, qdd, w->a);
    }
    if (model->any_offset) {
        fa_rotate_t(w->g, w->hop.R, p->g);
    }
}

/* id_force of a straight body that moves */
FA_INLINE void id_force_straight(const fa_model *model, const fa_body *b,
                                 const straight_size z, const int what,
                                 const fa_real *q, const fa_real *qd,
                                 const fa_real *qdd, id_body *w, fa_real *z_f)
{
    const fa_real *etadd = what & ID_ACCELERATION ? qdd + b->mode_at : node_rest;
    straight_shape shape;

    (void)model;
    straight_deform(b, z, q + b->eta_at, &shape);
    straight_force(b, z, &shape, q + b->eta_at, qd + b->mode_at, etadd, 1, w->V, w->a,
                   z_f, w->f);
}

FA_STRAIGHT_STEP(id_outward_straight, const int what, const fa_real *q,
                 const fa_real *qd, const fa_real *qdd, fa_real *bent, const id_body *p,
                 id_body *w);
FA_STRAIGHT_STEP(id_force_straight, const int what, const fa_real *q, const fa_real *qd,
                 const fa_real *qdd, id_body *w, fa_real *z_f);
FA_STRAIGHT_STEP(straight_force_add, const fa_hop *h, const straight_node *s,
                 const fa_real *bent, const fa_real *f, fa_real *z_r, fa_real *z_f);

#endif
