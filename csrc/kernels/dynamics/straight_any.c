/*
 * straight_any.c -- steps on straight bodies of many modes, in a unit of their own
 *
 * The steps of forward_straight.h, inverse_straight.h and composite_bodies.h with sizes
 * that are read when they run. Their loops are not unrolled here: with a loop of a dozen
 * turns nothing is lost by that, and gcc would take five times as long.
 * Checked by  tests/beams/test_straight.py.
 */
#ifndef FA_STRAIGHT_ANY_C
#define FA_STRAIGHT_ANY_C

#include "kernels/bodies/node.h"
#include "kernels/bodies/straight.h"
#include "kernels/bodies/straight_hop.h"
#include "kernels/dynamics/composite_bodies.h"
#include "kernels/dynamics/forward_straight.h"
#include "kernels/dynamics/forward_work.h"
#include "kernels/dynamics/inverse_steps.h"
#include "kernels/dynamics/inverse_straight.h"
#include "lanes/lane.h"
#include "model/layout.h"

FA_STRAIGHT_STEP(fd_body_start_straight, const fa_real *q, const fa_real *qd,
                 const fd_work *w, fd_body *self)
{
    fd_body_start_straight(model, b, z, q, qd, w, self);
}

FA_STRAIGHT_STEP(fd_outward_straight, const fa_real *q, const fa_real *qd,
                 const fd_work *w, fd_body *self)
{
    fd_outward_straight(model, b, z, q, qd, w, self);
}

FA_STRAIGHT_STEP(fd_inward_straight, const int kept, const fd_work *w, fd_body *self)
{
    fd_inward_straight(model, b, z, kept, w, self);
}

FA_STRAIGHT_STEP(fd_accelerate_straight, const fa_real *base, const fd_work *w,
                 fd_body *self, fa_real *qdd)
{
    fd_accelerate_straight(model, b, z, base, w, self, qdd);
}

FA_STRAIGHT_STEP(id_outward_straight, const int what, const fa_real *q,
                 const fa_real *qd, const fa_real *qdd, fa_real *bent, const id_body *p,
                 id_body *w)
{
    id_outward_straight(model, b, z, what, q, qd, qdd, bent, p, w);
}

FA_STRAIGHT_STEP(id_force_straight, const int what, const fa_real *q, const fa_real *qd,
                 const fa_real *qdd, id_body *w, fa_real *z_f)
{
    id_force_straight(model, b, z, what, q, qd, qdd, w, z_f);
}

FA_STRAIGHT_STEP(straight_force_add, const fa_hop *h, const straight_node *s,
                 const fa_real *bent, const fa_real *f, fa_real *z_r, fa_real *z_f)
{
    straight_force_add(model, b, z, h, s, bent, f, z_r, z_f);
}

FA_STRAIGHT_STEP(mm_start_straight, const fa_real *q, const mm_work *w, mm_body *self)
{
    mm_start_straight(model, b, z, q, w, self);
}

FA_STRAIGHT_STEP(mm_place_straight, const fa_real *q, const mm_work *w, mm_body *self)
{
    mm_place_straight(model, b, z, q, w, self);
}

FA_STRAIGHT_STEP(mm_inward_straight, const mm_work *w, const mm_body *self)
{
    mm_inward_straight(model, b, z, w, self);
}

#endif
