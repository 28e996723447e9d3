/*
 * arm.h -- a small arm for the C tests: rigid, then flexible, in space
 */
#ifndef TEST_ARM_H
#define TEST_ARM_H

#include "fa_kernels.h"

#include <stdlib.h>
#include <string.h>

/*
 * A chain of three bodies: a rigid one on a revolute joint about y, a flexible one with
 * two modes on a revolute joint about z, a rigid one on a slide along x. Two nodes each,
 * attached at the second.
 */
enum { ARM_BODIES = 3, ARM_NV = 5, ARM_NODES = 6 };

typedef struct {
    int topology[ARM_BODIES * FA_TOPO_SIZE];
    double joints[ARM_BODIES * FA_JOINT_SIZE];
    double nodes[2 * (FA_NODE_SIZE(0) + FA_NODE_SIZE(2) + FA_NODE_SIZE(0))];
    double modal[8];
    double gravity[3];
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
    static const int topology[] = {-1, -1, FA_JOINT_REVOLUTE,  0, 2, 0,
                                   0,  1,  FA_JOINT_REVOLUTE,  2, 2, 0,
                                   1,  3,  FA_JOINT_PRISMATIC, 0, 2, 0};
    static const double axes[] = {0, 1, 0, 0, 0, 1, 1, 0, 0};
    static const double shapes[12] = {0.1, 0.0, 0.5, 0.2,  0.0, 0.6,
                                      0.0, 0.3, 0.2, -0.4, 0.7, 0.1};
    const int size0 = FA_NODE_SIZE(0), size2 = FA_NODE_SIZE(2);

    memset(arm, 0, sizeof *arm);
    memcpy(arm->topology, topology, sizeof topology);
    for (int k = 0; k < ARM_BODIES; k++) {
        double *joint = arm->joints + k * FA_JOINT_SIZE;
        memcpy(joint + FA_AXIS, axes + 3 * k, 3 * sizeof(double));
        joint[FA_ROTATION] = joint[FA_ROTATION + 4] = joint[FA_ROTATION + 8] = 1.0;
        joint[FA_DAMPING] = 0.1 * k;
    }
    for (int j = 0; j < 2; j++) {
        double *flexible = arm->nodes + 2 * size0 + j * size2;
        test_arm_node(arm->nodes + j * size0, 1.0 + j, 0.5 * j);
        test_arm_node(flexible, 1.0 + j, 0.6 * j);
        test_arm_node(arm->nodes + 2 * size0 + 2 * size2 + j * size0, 0.5, 0.2 * j);
        if (j == 1) {
            memcpy(flexible + FA_NODE_GAMMA, shapes, sizeof shapes);
        }
    }
    arm->modal[0] = 50.0;
    arm->modal[3] = 400.0;
    arm->modal[4] = arm->modal[7] = 0.2;
    arm->gravity[2] = -9.81;
    arm->description = (fa_description){
        .n_bodies = ARM_BODIES,
        .topology = arm->topology,
        .joints = arm->joints,
        .nodes = arm->nodes,
        .modal = arm->modal,
        .gravity = arm->gravity,
        .nodes_size = sizeof arm->nodes / sizeof(double),
        .modal_size = 8,
    };
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
