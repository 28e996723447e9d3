/*
 * forms.h -- from body-fixed twists to the other forms of a twist
 *
 * Equations   R, x pose of a frame, (w; v) a column in its axes, V its own twist:
 *             spatial (R w; R v + x x R w), hybrid (R w; R v), mixed (w; R v)      (T3)
 *             rates by (R y)' = R (ydot + V_omega x y), xdot = R V_v               (T4)
 * Source      A. Mueller, Multibody System Dynamics 43, 2018, eqs. 47, 54 and 55.
 * Checked by  tests/kinematics/test_twists.py.
 */
#ifndef FA_FORMS_H
#define FA_FORMS_H

#include "calls/call.h"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/layout.h"

typedef enum { FORM_BODY, FORM_SPATIAL, FORM_HYBRID, FORM_MIXED } form_kind;

/* a frame in the base; omega and speed are for rates */
typedef struct {
    fa_real R[9], x[3];
    fa_real omega[3]; /* in its own axes */
    fa_real speed[3]; /* of its origin, in the axes of the base */
} form_frame;

/* what rates need of the twist V of the frame */
FA_INLINE void form_motion(const fa_real *V, form_frame *f)
{
    memcpy(f->omega, V, sizeof f->omega);
    fa_rotate(f->speed, f->R, V + 3);
}

/* y: t in another form (T3) */
FA_INLINE void form_value(const form_kind form, const form_frame *f, const fa_real *t,
                          fa_real *y)
{
    if (form == FORM_BODY) {
        memcpy(y, t, 6 * sizeof *y);
        return;
    }
    if (form == FORM_MIXED) {
        memcpy(y, t, 3 * sizeof *y);
    } else {
        fa_rotate(y, f->R, t);
    }
    fa_rotate(y + 3, f->R, t + 3);
    if (form == FORM_SPATIAL) {
        fa_cross_add(y + 3, f->x, y);
    }
}

/* ydot: rate of y, for the rate tdot of t (T4) */
FA_INLINE void form_rate(const form_kind form, const form_frame *f, const fa_real *t,
                         const fa_real *tdot, fa_real *ydot)
{
    fa_real moved[6], w[3];

    memcpy(moved, tdot, sizeof moved);
    if (form != FORM_BODY) {
        fa_cross_add(moved + 3, f->omega, t + 3);
        if (form != FORM_MIXED) {
            fa_cross_add(moved, f->omega, t);
        }
    }
    form_value(form, f, moved, ydot);
    if (form == FORM_SPATIAL) {
        fa_rotate(w, f->R, t);
        fa_cross_add(ydot + 3, f->speed, w);
    }
}

/* a kernel of each form */
#define FORM_KERNELS(name, run)                                                        \
    static void name(const fa_model *model, const fa_call *call)                       \
    {                                                                                  \
        run(model, call, FORM_BODY);                                                   \
    }                                                                                  \
    static void name##_spatial(const fa_model *model, const fa_call *call)             \
    {                                                                                  \
        run(model, call, FORM_SPATIAL);                                                \
    }                                                                                  \
    static void name##_hybrid(const fa_model *model, const fa_call *call)              \
    {                                                                                  \
        run(model, call, FORM_HYBRID);                                                 \
    }                                                                                  \
    static void name##_mixed(const fa_model *model, const fa_call *call)               \
    {                                                                                  \
        run(model, call, FORM_MIXED);                                                  \
    }

#endif
