/*
 * in_base.c -- twists and wrenches of a node in the axes of the base
 *
 * Equations   V_base = (R omega; R v), f = J' (R' m; R' F), with the rotation R of the node
 *             in the deformed arm                                               (K8)
 * Source      Jain and Rodriguez, US patent 5,546,508, eqs. 5 to 10.
 * Checked by  tests/kinematics/test_kinematics.py: NumPy, Pinocchio.
 */
#ifndef FA_IN_BASE_C
#define FA_IN_BASE_C

#include "calls/call.h"
#include "kernels/kinematics/kinematics.c"
#include "kernels/kinematics/motion.c"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/kinds.h"
#include "model/layout.h"

/* R of the node, by rows; uses the scratch of the call */
FA_NOINLINE void ib_rotation(const fa_model *model, const fa_call *call, fa_real *R)
{
    fa_real pose[16];
    fa_call own = *call;

    own.out = pose;
    kin_node_pose(model, &own);
    for (int i = 0; i < 9; i++) {
        R[i] = pose[4 * (i / 3) + i % 3];
    }
}

/* turns the n twists that the columns of out (6, n) are (K8) */
FA_NOINLINE void ib_turn(const fa_real *R, int n, fa_real *out)
{
    for (int j = 0; j < 2 * n; j++) {
        fa_real *half = out + (j / n) * 3 * n + j % n, x[3], turned[3];
        for (int i = 0; i < 3; i++) {
            x[i] = half[i * n];
        }
        fa_rotate(turned, R, x);
        for (int i = 0; i < 3; i++) {
            half[i * n] = turned[i];
        }
    }
}

/* wrench of the call in the axes of the node, as that of another call (K8) */
FA_NOINLINE fa_call ib_wrench(const fa_model *model, const fa_call *call,
                              fa_real *wrench)
{
    fa_real R[9];
    fa_call own = *call;

    ib_rotation(model, call, R);
    fa_rotate_t(wrench, R, call->in[1]);
    fa_rotate_t(wrench + 3, R, call->in[1] + 3);
    own.in[1] = wrench;
    return own;
}

/* kernels of n twists, from those in the axes of the node */
#define IB_TWISTS(name, n)                                                             \
    static void name##_base(const fa_model *model, const fa_call *call)                \
    {                                                                                  \
        fa_real R[9];                                                                  \
        name(model, call);                                                             \
        ib_rotation(model, call, R);                                                   \
        ib_turn(R, n, call->out);                                                      \
    }

/* the same by the walk that finds R, too, unless twists are those of another arm */
#define IB_WALK(name, what, n)                                                         \
    static void name##_base(const fa_model *model, const fa_call *call)                \
    {                                                                                  \
        fa_real pose[12]; /* R, and the place */                                       \
        const int full = model->fidelity == FA_FULL;                                   \
        kin_walk(model, call, what, full ? pose : NULL);                               \
        if (!full) {                                                                   \
            ib_rotation(model, call, pose);                                            \
        }                                                                              \
        ib_turn(pose, n, call->out);                                                   \
    }

#define IB_WRENCH(name)                                                                \
    static void name##_base(const fa_model *model, const fa_call *call)                \
    {                                                                                  \
        fa_real wrench[6];                                                             \
        const fa_call own = ib_wrench(model, call, wrench);                            \
        name(model, &own);                                                             \
    }

IB_WALK(kin_jacobian, KIN_COLUMNS, model->nv)
IB_WALK(kin_node_velocity, KIN_VELOCITY, 1)
IB_TWISTS(mo_node_acceleration, 1)
IB_WRENCH(kin_wrench_forces)

static size_t mo_base_work_size(const fa_model *model)
{
    return mo_work_size(model) + kin_node_work_size(model);
}

#endif
