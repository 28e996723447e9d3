/*
 * inverse_steps.h -- what other kernels take of inverse dynamics
 *
 * The bodies of the recursion in inverse_dynamics.c, under its labels (I1-I3), and its
 * functions, which are compiled in a unit of their own.
 */
#ifndef FA_INVERSE_STEPS_H
#define FA_INVERSE_STEPS_H

#include "calls/call.h"
#include "kernels/bodies/node.h"
#include "kernels/bodies/rigid.h"
#include "kernels/bodies/straight_hop.h"
#include "lanes/lane.h"
#include "model/layout.h"

/* what acts besides gravity: velocities and elastic forces, accelerations */
enum {
    ID_GRAVITY_ONLY = 0,
    ID_MOTION = 1,
    ID_ACCELERATION = 2,
    ID_NO_GRAVITY = 4,
    ID_COLUMNS = 8 /* Lambda and U of all hops are asked for */
};

typedef struct {
    fa_hop hop;
    fa_real V[6], a[6], f[6], g[3];
    straight_node node; /* where the parent is straight */
} id_body;

/* a body of an arm without modes */
typedef struct {
    rigid_motion m;
    fa_real f[6];
    fa_hop hop;
} id_rigid;

static inline size_t id_work(const fa_model *model)
{
    if (model->tree) {
        return (size_t)model->tree->nq + 3 * (size_t)model->tree->nv +
               id_work(model->tree);
    }
    const size_t size =
        sizeof(id_rigid) > sizeof(id_body) ? sizeof(id_rigid) : sizeof(id_body);
    return (size_t)model->n_bodies * (size / sizeof(fa_real)) +
           6 * (size_t)model->sum_parent_modes + (size_t)model->n_modes +
           (model->is_rigid ? (size_t)model->nv : 0); /* rates of an arm at rest */
}

/* motion of each body, then the force it takes (I1) */
#define id_outward_all FA_SHARED(id_outward_all)
void id_outward_all(const fa_model *model, int what, const fa_real *q,
                    const fa_real *qd, const fa_real *qdd, id_body *bodies,
                    fa_real *columns, fa_real *z_f);

/* forces of what acts; qd, qdd may be NULL where they do not; tau must not overlap */
#define id_run FA_SHARED(id_run)
void id_run(const fa_model *model, int what, const fa_real *q, const fa_real *qd,
            const fa_real *qdd, fa_real *work, fa_real *tau);

/*
 * Inputs q [nq], qd [nv], qdd [nv]; work [id_work]; output tau [nv], no overlap.
 * A NaN stays in its lane.
 */
#define id_inverse_dynamics FA_SHARED(id_inverse_dynamics)
void id_inverse_dynamics(const fa_model *model, const fa_call *call);

/* the same at qdd = 0: velocity, gravity, elastic, friction and passive forces */
#define id_bias_forces FA_SHARED(id_bias_forces)
void id_bias_forces(const fa_model *model, const fa_call *call);

/* gradient of the gravity potential */
#define id_gravity_forces FA_SHARED(id_gravity_forces)
void id_gravity_forces(const fa_model *model, const fa_call *call);

#endif
