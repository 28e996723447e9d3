/*
 * test_fast.c -- modes freed by constants, on exact-size memory, against the basic form
 *
 * Two flexible bodies with more modes than the switch, the second one with no child.
 */
#include "arm.h"
#include "check.h"
#include "model/fast.h"

enum {
    MODES = FA_FAST_MODES + 1,
    NODES = 4,
    NV = 2 + 2 * MODES,
    MOST = 11,
    NODE = FA_NODE_SIZE(MODES)
};

static int topology[2][FA_TOPO_SIZE] = {
    {-1, -1, FA_JOINT_REVOLUTE, MODES, NODES, 1},
    {0, 3, FA_JOINT_PRISMATIC, MODES, NODES, 1},
};
static double joints[2][FA_JOINT_SIZE], nodes[2 * NODES][NODE];
static double modal[2][2][MODES][MODES];

/* each mode is a motion of one node, with `unit` of no other, without offset masses */
static fa_model *chain(int unit)
{
    static const double gravity[3] = {0.0, 0.0, -9.81};
    fa_model *model;

    memset(nodes, 0, sizeof nodes);
    for (int k = 0; k < 2; k++) {
        joints[k][FA_AXIS + 2 - k] = 1.0;
        joints[k][FA_ROTATION] = joints[k][FA_ROTATION + 4] = 1.0;
        joints[k][FA_ROTATION + 8] = 1.0;
        for (int r = 0; r < MODES; r++) {
            modal[k][0][r][r] = 20.0 + r;
            modal[k][1][r][r] = 0.1;
        }
    }
    for (int j = 0; j < 2 * NODES; j++) {
        test_arm_node(nodes[j], 1.0, 0.3 * (j % NODES));
        if (unit) {
            nodes[j][FA_NODE_COM] = nodes[j][FA_NODE_COM + 1] = 0.0;
            nodes[j][FA_NODE_INERTIA + 4] = 0.0;
        }
        for (int i = 0; i < 6 * MODES && j % NODES > 0; i++) {
            const int row = 6 * (j % NODES - 1) + i / MODES;
            nodes[j][FA_NODE_GAMMA + i] =
                (row == i % MODES) + (unit ? 0.0 : 0.1 * sin(0.7 * i * i + j));
        }
    }
    const fa_description description = {.n_bodies = 2,
                                        .topology = topology[0],
                                        .joints = joints[0],
                                        .nodes = nodes[0],
                                        .modal = modal[0][0][0],
                                        .gravity = gravity,
                                        .nodes_size = sizeof nodes / sizeof(double),
                                        .modal_size = sizeof modal / sizeof(double)};
    return fa_model_build(&description, &model) == FA_OK ? model : NULL;
}

static void check_both_forms(const fa_model *model, int count)
{
    const int sizes[4] = {NV, NV, NV, NV};
    double *state[4], *basic = malloc((size_t)(count * NV) * sizeof(double));

    for (int k = 0; k < 4; k++) {
        state[k] = malloc((size_t)(count * NV) * sizeof(double));
        for (int i = 0; i < count * NV; i++) {
            state[k][i] = 0.2 * sin(1.7 * i + k);
        }
    }
    double *const other[4] = {state[0], state[1], state[2], basic};
    CHECK(test_batch(model, FA_FORWARD_DYNAMICS, (size_t)count, NULL, state, sizes)
              .count == 0);
    CHECK(
        test_batch(model, FA_FORWARD_BASIC, (size_t)count, NULL, other, sizes).count ==
        0);
    for (int i = 0; i < count * NV; i++) {
        CHECK_CLOSE(state[3][i], basic[i], 1e-9 * (1.0 + fabs(basic[i])));
    }
    for (int k = 0; k < 4; k++) {
        free(state[k]);
    }
    free(basic);
}

int main(void)
{
    for (int unit = 0; unit < 2; unit++) {
        fa_model *model = chain(unit);
        if (!model || !test_kernels()) {
            return 1;
        }
        CHECK(model->bodies[0].fast.W && model->bodies[0].fast.child == 1);
        CHECK(model->bodies[1].fast.W && model->bodies[1].fast.child == -1);
        CHECK(model->bodies[0].fast.is_diagonal == unit);
        for (int count = 1; count <= MOST; count++) {
            check_both_forms(model, count);
        }
        fa_model_free(model);
    }
    return check_report("fast");
}
