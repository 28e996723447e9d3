/*
 * stack_lanes.h -- models whose constants are one number per lane
 *
 * In the kernels of stacks the lanes of a call belong to different arms. Their sources
 * are those of all kernels; here the structs of a model get a second definition, in which
 * fa_constant is fa_real, under the names that the sources use. The structs of one arm
 * keep a name of their own, fa_..._one. To be included before all else.
 */
#ifndef FA_STACK_LANES_H
#define FA_STACK_LANES_H

#include "calls/kernels.h"
#include "model/layout.h"
#include "model/stacks.h"
#include "model/straight_bodies.h"
#include "model/strain.h"

#define FA_STACK_LANES
#include "lanes/lane.h"

typedef fa_straight fa_straight_one;
typedef fa_strain fa_strain_one;
typedef fa_body fa_body_one;
typedef fa_node fa_node_one;
typedef fa_loop fa_loop_one;
typedef fa_passive fa_passive_one;
typedef fa_model fa_model_one;

static inline int fa_model_inside_one(const fa_model_one *model, int i,
                                      const double **from)
{
    return fa_model_inside(model, i, from);
}

#define fa_modal fa_modal_lanes
#define fa_driven fa_driven_lanes
#define fa_fast fa_fast_lanes
#define fa_straight fa_straight_lanes
#define fa_strain fa_strain_lanes
#define fa_body fa_body_lanes
#define fa_node fa_node_lanes
#define fa_loop fa_loop_lanes
#define fa_passive fa_passive_lanes
#define fa_model fa_model_lanes
#define fa_model_inside fa_model_inside_lanes
#undef FA_LAYOUT_H
#include "model/layout.h"

/*
 * stack.c copies what stands before the constants of a struct, whole numbers and
 * flags, as one piece, and its constants as another (fa_model_inside).
 */
#define STACK_STARTS_AT(type, first)                                                   \
    _Static_assert(offsetof(type, first) ==                                            \
                       (offsetof(type##_one, first) + sizeof(fa_real) - 1) /           \
                           sizeof(fa_real) * sizeof(fa_real),                          \
                   #type ": a constant stands before " #first)
#define STACK_ENDS_AT(type, first, end)                                                \
    _Static_assert(offsetof(type, end) - offsetof(type, first) ==                      \
                       FA_LANES *                                                      \
                           (offsetof(type##_one, end) - offsetof(type##_one, first)),  \
                   #type ": something else stands between " #first " and " #end)

STACK_STARTS_AT(fa_body, rot);
STACK_STARTS_AT(fa_model, gravity);
STACK_STARTS_AT(fa_loop, position);
STACK_STARTS_AT(fa_passive, ratio);
STACK_ENDS_AT(fa_body, rot, modal);
STACK_ENDS_AT(fa_model, gravity, bodies);

/* these kernels are fewer than those of one arm, and so are their numbers of modes that
 * are known when they are compiled */
#if FA_UNROLLED_MODES > 0
#undef FA_SWITCH_MODES
#define FA_SWITCH_MODES(n, step, model, b, ...)                                        \
    switch (n) {                                                                       \
        FA_CASE_MODES(0, step, model, b, __VA_ARGS__)                                  \
        FA_CASE_MODES(2, step, model, b, __VA_ARGS__)                                  \
        FA_CASE_MODES(4, step, model, b, __VA_ARGS__)                                  \
    default:                                                                           \
        step(model, b, n, __VA_ARGS__);                                                \
        break;                                                                         \
    }
#endif

#endif
