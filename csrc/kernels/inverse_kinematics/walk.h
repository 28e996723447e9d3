/*
 * walk.h -- Jacobian and pose of a node for inverse kinematics, and the joints that move it
 *
 * Of arms with joints that follow others in their independent coordinates (L6).
 * Checked by  tests/constraints/test_followers_use.py,
 *             tests/ik/test_inverse_kinematics.py.
 */
#ifndef FA_IK_WALK_H
#define FA_IK_WALK_H

#include "calls/call.h"
#include "kernels/bodies/followers.h"
#include "kernels/kinematics/kinematics.c"
#include "kernels/kinematics/positions.c"
#include "lanes/lane.h"
#include "model/layout.h"

/* a velocity that may move: its place, and the place of its position or -1 */
typedef struct {
    int v, p;
} ik_column;

/* joints between a node and the base at most, followers with their leaders */
static size_t ik_most_columns(const fa_model *model)
{
    return (size_t)(model->tree ? model->tree->nv : model->nv);
}

/* scratch of ik_walk */
static size_t ik_walk_size(const fa_model *model)
{
    const fa_model *tree = model->tree;
    return tree ? (size_t)tree->nq + 6 * (size_t)tree->nv + kin_node_work_size(tree)
                : kin_node_work_size(model);
}

/* Jacobian and pose of the node at q_new */
static void ik_walk(const fa_model *model, const fa_call *call, fa_real *pose)
{
    const fa_model *tree = model->tree;
    if (!tree) {
        kin_walk(model, call, KIN_COLUMNS, pose);
        return;
    }
    fa_call own = *call;
    fa_real *q = call->work;

    fo_positions(model, call->in[0], q);
    own.in[0] = q;
    own.out = q + tree->nq;
    own.work = own.out + 6 * tree->nv;
    kin_walk(tree, &own, KIN_COLUMNS, pose);
    fo_sum(model, 6, 1, own.out, call->out);
}

/* joints between a node and the base, base last, in place of those that follow leaders */
static int ik_columns(const fa_model *model, int node, ik_column *columns)
{
    int n = 0;

    if (model->tree) {
        n = ik_columns(model->tree, node, columns);
        int kept = 0;
        for (int i = 0; i < n; i++) {
            const int v = model->velocities[columns[i].v].at, p = columns[i].p;
            int known = 0;
            for (int j = 0; j < kept; j++) {
                known |= columns[j].v == v;
            }
            if (!known) {
                columns[kept++] = (ik_column){v, p < 0 ? -1 : model->positions[p].at};
            }
        }
        return kept;
    }

    for (int k = model->nodes[node].body; k >= 0; k = model->bodies[k].parent) {
        const fa_body *b = model->bodies + k;
        for (int j = 0; j < b->n_dof; j++) {
            columns[n++] =
                (ik_column){b->joint_at + j, pos_is_pose(b) ? -1 : b->position_at + j};
        }
    }
    return n;
}

#endif
