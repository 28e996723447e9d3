/*
 * arm.h -- a small arm for the C tests: rigid, then flexible, in space
 */
#ifndef TEST_ARM_H
#define TEST_ARM_H

#include "fa_kernels.h"

#include <stdlib.h>
#include <string.h>

/*
 * A tree of six links: a rigid one on a revolute joint about y, a flexible one with two
 * modes on a revolute joint about z; on that a rigid one on a slide along x with a ball
 * on a spherical joint, and a massless carrier on a pose with two freedoms, on which a
 * flexible body floats by its second node; on that one a rigid body on a screw. Two nodes
 * each but the carrier, attached at the second.
 */
enum {
    ARM_BODIES = 7,
    ARM_LINKS = 6,
    ARM_NU = 9,
    ARM_NV = ARM_NU + 4,
    ARM_NQ = ARM_NV + 1 + 5,
    ARM_NODES = 12,
    ARM_ROWS = 6 + 5 + 1 /* two loops, one coupling */
};

typedef struct {
    int topology[ARM_BODIES * FA_TOPO_SIZE];
    double joints[ARM_BODIES * FA_JOINT_SIZE];
    double nodes[8 * FA_NODE_SIZE(0) + 4 * FA_NODE_SIZE(2)];
    double modal[16];
    double gravity[3];
    int loops[2 * FA_LOOP_SIZE];
    double frames[4 * FA_FRAME_SIZE];
    double couplings[ARM_NU + 1];
    fa_description description;
} test_arm;

static inline void test_arm_node(double *node, double mass, double x)
{
    node[FA_NODE_MASS] = mass;
    node[FA_NODE_COM] = 0.1;
    node[FA_NODE_COM + 1] = -0.05;
    node[FA_NODE_INERTIA] = 0.2;
    node[FA_NODE_INERTIA + 3] = 0.3;
    node[FA_NODE_INERTIA + 4] = 0.01;
    node[FA_NODE_INERTIA + 5] = 0.4;
    node[FA_NODE_POSITION] = x;
}

static inline void test_arm_fill(test_arm *arm)
{
    static const int topology[ARM_BODIES][FA_TOPO_SIZE] = {
        {-1, -1, FA_JOINT_REVOLUTE, 0, 2, 1}, {0, 1, FA_JOINT_REVOLUTE, 2, 2, 1},
        {1, 3, FA_JOINT_PRISMATIC, 0, 2, 1},  {2, 5, FA_JOINT_SPHERICAL, 0, 2, 3},
        {1, 3, FA_JOINT_POSE, 0, 0, 2},       {4, 9, FA_JOINT_FLOATING, 2, 2, 0},
        {5, 8, FA_JOINT_HELICAL, 0, 2, 1},
    };
    static const double axes[ARM_BODIES][3] = {
        {0, 1, 0}, {0, 0, 1}, {1, 0, 0}, {0, 0, 1}, {0, 0, 1}, {0, 0, 1}, {0, 1, 0}};
    static const double pose[12] = {1, 0, 0, 0, 0.2, 0, 0, 0.5, 1, 0, 0, 0.3};
    static const double screw[6] = {0, 1, 0, 0, 0.1, 0};
    static const double shapes[12] = {0.1, 0.0, 0.5, 0.2,  0.0, 0.6,
                                      0.0, 0.3, 0.2, -0.4, 0.7, 0.1};
    double *node = arm->nodes;

    memset(arm, 0, sizeof *arm);
    memcpy(arm->topology, topology, sizeof topology);
    for (int k = 0; k < ARM_BODIES; k++) {
        double *joint = arm->joints + k * FA_JOINT_SIZE;
        memcpy(joint + FA_AXIS, axes[k], 3 * sizeof(double));
        joint[FA_ROTATION] = joint[FA_ROTATION + 4] = joint[FA_ROTATION + 8] = 1.0;
        joint[FA_DAMPING] = 0.1 * k;
        for (int j = 0; j < topology[k][FA_TOPO_NODES]; j++) {
            const int n = topology[k][FA_TOPO_MODES];
            test_arm_node(node, 1.0 + 0.3 * k + j, 0.5 * j);
            if (n > 0 && j == 1) {
                memcpy(node + FA_NODE_GAMMA, shapes, sizeof shapes);
            }
            node += FA_NODE_SIZE(n);
        }
    }
    for (int i = 0; i < 6; i++) {
        arm->joints[3 * FA_JOINT_SIZE + FA_SUBSPACE + 6 * (i % 3) + i % 3] = 1.0;
    }
    memcpy(arm->joints + 4 * FA_JOINT_SIZE + FA_SUBSPACE, pose, sizeof pose);
    memcpy(arm->joints + 6 * FA_JOINT_SIZE + FA_SUBSPACE, screw, sizeof screw);
    for (int body = 0; body < 16; body += 8) {
        arm->modal[body] = 50.0;
        arm->modal[body + 3] = 400.0;
        arm->modal[body + 4] = arm->modal[body + 7] = 0.2;
    }
    arm->gravity[2] = -9.81;
    arm->description = (fa_description){
        .n_bodies = ARM_BODIES,
        .topology = arm->topology,
        .joints = arm->joints,
        .nodes = arm->nodes,
        .modal = arm->modal,
        .gravity = arm->gravity,
        .nodes_size = sizeof arm->nodes / sizeof(double),
        .modal_size = 16,
    };
}

/*
 * The same arm with its last body held to the ground in all directions, a loop between
 * two nodes in five, and a coupling of the first two joints.
 */
static inline void test_arm_close(test_arm *arm)
{
    static const int loops[] = {11, -1, 63, 7, 8, 59};

    memcpy(arm->loops, loops, sizeof loops);
    for (int i = 0; i < 4; i++) {
        double *frame = arm->frames + i * FA_FRAME_SIZE;
        frame[FA_FRAME_POSITION + i % 3] = 0.1;
        frame[FA_FRAME_ROTATION] = frame[FA_FRAME_ROTATION + 4] = 1.0;
        frame[FA_FRAME_ROTATION + 8] = 1.0;
    }
    arm->couplings[0] = 1.0;
    arm->couplings[1] = -2.0;
    arm->description.n_loops = 2;
    arm->description.loops = arm->loops;
    arm->description.frames = arm->frames;
    arm->description.n_couplings = 1;
    arm->description.couplings = arm->couplings;
    arm->description.couplings_size = ARM_NU + 1;
    arm->description.stabilization = 5.0;
}

/* the instruction set that FLEXARM_ISA names, or the best */
static inline const fa_kernels *test_kernels(void)
{
    const char *name = getenv("FLEXARM_ISA");
    return name && *name ? fa_kernels_named(name) : fa_kernels_best();
}

/*
 * Runs a kernel on contiguous states: inputs of sizes[i] doubles, then the output.
 * Scratch is allocated to the exact size, so that sanitizers see every overrun.
 */
static inline fa_failures test_batch(const fa_model *model, fa_kernel kernel,
                                     size_t count, const int64_t *index,
                                     double *const *arrays, const int *sizes)
{
    const fa_kernels *kernels = test_kernels();
    const int n = fa_kernel_inputs(kernel) + 1;
    fa_operand operands[4];
    ptrdiff_t *offsets[4];
    fa_failures bad;

    for (int i = 0; i < n; i++) {
        offsets[i] = malloc((size_t)sizes[i] * sizeof(ptrdiff_t));
        for (int e = 0; e < sizes[i]; e++) {
            offsets[i][e] = e * (ptrdiff_t)sizeof(double);
        }
        operands[i] =
            (fa_operand){(char *)arrays[i], sizes[i] * (ptrdiff_t)sizeof(double),
                         sizes[i], offsets[i]};
    }
    void *work =
        aligned_alloc(64, (kernels->work_size(model, kernel, sizes) + 63) / 64 * 64);
    bad = kernels->batch(model, kernel, count, (const char *)index, sizeof *index,
                         operands, work);
    free(work);
    for (int i = 0; i < n; i++) {
        free(offsets[i]);
    }
    return bad;
}

#endif
