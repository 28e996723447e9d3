/*
 * arm.h -- a small arm for the C tests: rigid, then flexible, in space
 */
#ifndef TEST_ARM_H
#define TEST_ARM_H

#include "library/tables.h"
#include "model/modal.h"
#include "model/model.h"

#include <math.h>
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
    ARM_ROWS = 6 + 5 + 1, /* two loops, one coupling */
    ARM_DRIVEN = 52       /* integrals of one driven shape beside two modes */
};

typedef struct {
    int topology[ARM_BODIES * FA_TOPO_SIZE];
    double joints[ARM_BODIES * FA_JOINT_SIZE];
    double nodes[8 * FA_NODE_SIZE(0) + 4 * (FA_NODE_SIZE(2) + FA_SECOND_SIZE(2))];
    double modal[16 + 2 * ARM_DRIVEN];
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
        joint[FA_ARMATURE] = 0.05 * (k % 3);
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
        .nodes_size = 8 * FA_NODE_SIZE(0) + 4 * FA_NODE_SIZE(2),
        .modal_size = 16,
    };
}

static inline void test_arm_cross(const double *a, const double *b, double *x)
{
    for (int i = 0; i < 3; i++) {
        x[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
    }
}

/* S += m (2 a.b - a b' - b a') */
static inline void test_arm_pair(double m, const double *a, const double *b, double *S)
{
    for (int i = 0, at = 0; i < 3; i++) {
        for (int j = i; j < 3; j++, at++) {
            const double dot = i == j ? a[0] * b[0] + a[1] * b[1] + a[2] * b[2] : 0.0;
            S[at] += m * (2.0 * dot - a[i] * b[j] - b[i] * a[j]);
        }
    }
}

/*
 * Integrals of one shape g beside the two modes of a body (B6), into [ARM_DRIVEN]: g
 * moves the given node alone, by a vector that the modes drive with K.
 */
static inline void test_arm_driven(const double *node, const double *K, const double *g,
                                   double *out)
{
    const double m = node[FA_NODE_MASS], *p = node + FA_NODE_COM;
    double *E = out + 4, *F0 = E + 3, *Fkr = F0 + 3, *Frk = Fkr + 6, *Gkr = Frk + 9;
    double *J1 = Gkr + 3, *Jkr = J1 + 6, *Jkl = Jkr + 12, place[3], x[3];

    memset(out, 0, ARM_DRIVEN * sizeof *out);
    memcpy(out, K, 4 * sizeof *out);
    for (int i = 0; i < 3; i++) {
        E[i] = m * g[i];
        Gkr[2] += m * g[i] * g[i]; /* G(k,l) */
        place[i] = node[FA_NODE_POSITION + i] + p[i];
    }
    test_arm_cross(place, E, F0);
    test_arm_pair(m, g, place, J1);
    test_arm_pair(m, g, g, Jkl);
    for (int r = 0; r < 2; r++) {
        double gamma[3], lambda[3], centre[3];
        for (int i = 0; i < 3; i++) {
            gamma[i] = node[FA_NODE_GAMMA + 2 * i + r];
            lambda[i] = node[FA_NODE_GAMMA + 6 + 2 * i + r];
        }
        test_arm_cross(p, lambda, x);
        for (int i = 0; i < 3; i++) {
            centre[i] = gamma[i] - x[i];
            Gkr[r] += E[i] * centre[i];
        }
        test_arm_cross(gamma, E, Fkr + 3 * r);
        test_arm_cross(E, centre, Frk + 3 * r);
        test_arm_pair(m, gamma, g, Jkr + 6 * r);
    }
}

/*
 * The same arm with positions quadratic in the modes of both flexible bodies, at the
 * node that carries the next one. Along one axis the shape of the first is like that of
 * a straight beam: orthonormal by mass, of a node without offset that the modes move
 * across. Call it before test_arm_close.
 */
static inline void test_arm_bend(test_arm *arm, int axial)
{
    static const double K[4] = {-0.4, 0.15, 0.15, -0.3};
    double nodes[sizeof arm->nodes / sizeof(double)], modal[16];
    double *to = arm->nodes, *integrals = arm->modal;
    const double *from = nodes, *given = modal;

    memcpy(nodes, arm->nodes, sizeof nodes);
    memcpy(modal, arm->modal, sizeof modal);
    for (int k = 0; k < ARM_BODIES; k++) {
        int *t = arm->topology + k * FA_TOPO_SIZE;
        const int n = t[FA_TOPO_MODES], moved = k == 1;
        for (int j = 0; j < t[FA_TOPO_NODES]; j++, from += FA_NODE_SIZE(n)) {
            double g[3] = {0.7, 0.2, -0.1}, *node = to;
            memcpy(node, from, (size_t)FA_NODE_SIZE(n) * sizeof *node);
            to += FA_NODE_SIZE(n);
            if (n == 0) {
                continue;
            }
            if (axial && k == 1) {
                memset(node + FA_NODE_COM, 0, 3 * sizeof *node);
                node[FA_NODE_GAMMA] = node[FA_NODE_GAMMA + 1] = 0.0;
                g[0] = 1.0 / sqrt(node[FA_NODE_MASS]);
                g[1] = g[2] = 0.0;
            }
            for (int i = 0; i < 3 * 4; i++) {
                to[i] = j == moved ? g[i / 4] * K[i % 4] : 0.0;
            }
            to += FA_SECOND_SIZE(2);
            if (j == moved) {
                memcpy(integrals, given, 8 * sizeof *integrals);
                test_arm_driven(node, K, g, integrals + 8);
                integrals += 8 + ARM_DRIVEN;
                given += 8;
            }
        }
        t[FA_TOPO_SECOND] = t[FA_TOPO_SHAPES] = n > 0;
    }
    arm->description.nodes_size = sizeof arm->nodes / sizeof(double);
    arm->description.modal_size = sizeof arm->modal / sizeof(double);
}

/*
 * The same arm with its last body held to the ground in all directions, a loop between
 * two nodes in five, and a coupling of the first two joints.
 */
static inline void test_arm_close(test_arm *arm)
{
    static const int loops[2][3] = {{11, -1, 63}, {7, 8, 59}}; /* without lines */

    memset(arm->loops, 0, sizeof arm->loops);
    for (int i = 0; i < 2; i++) {
        memcpy(arm->loops + i * FA_LOOP_SIZE, loops[i], sizeof loops[i]);
    }
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

/* contiguous states of sizes[i] doubles in each of n arrays; offsets are to be freed */
static inline void test_operands(int n, double *const *arrays, const int *sizes,
                                 ptrdiff_t **offsets, fa_operand *operands)
{
    for (int i = 0; i < n; i++) {
        offsets[i] = malloc((size_t)sizes[i] * sizeof(ptrdiff_t));
        for (int e = 0; e < sizes[i]; e++) {
            offsets[i][e] = e * (ptrdiff_t)sizeof(double);
        }
        operands[i] =
            (fa_operand){(char *)arrays[i], sizes[i] * (ptrdiff_t)sizeof(double),
                         sizes[i], offsets[i]};
    }
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
    fa_operand operands[FA_MAX_OPERANDS];
    ptrdiff_t *offsets[FA_MAX_OPERANDS];
    fa_failures bad;

    test_operands(n, arrays, sizes, offsets, operands);
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

/* Integrates, in work of the exact size. */
static inline int test_rollout(const fa_model *model, const fa_rollout *run)
{
    const fa_kernels *kernels = test_kernels();
    void *work =
        aligned_alloc(64, (kernels->rollout_work_size(model, run) + 63) / 64 * 64);
    const int status = kernels->rollout(model, run, work);

    free(work);
    return status;
}

/* what building a description returns */
static inline fa_status test_status(const fa_description *description)
{
    fa_model *model = NULL;
    const fa_status status = fa_model_build(description, &model);
    fa_model_free(model);
    return status;
}

#endif
