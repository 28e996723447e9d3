/* test_sizes.c -- the largest arm: every size in an int, larger ones refused */
#include "arm.h"
#include "check.h"
#include "library/single.h"

#include <limits.h>

/* bodies that fly free, and some on slides: just as many velocities as there may be */
enum {
    FREE = FA_MAX_VELOCITIES / 6,
    SLIDES = FA_MAX_VELOCITIES % 6,
    BODIES = FREE + SLIDES,
    ALIGN = 64
};

typedef struct {
    int topology[(BODIES + 1) * FA_TOPO_SIZE];
    double joints[(BODIES + 1) * FA_JOINT_SIZE];
    double nodes[(BODIES + 1) * FA_NODE_SIZE(0)];
    double gravity[3];
    fa_description description;
} large_arm;

static large_arm arm;

/* all bodies on the ground, one node each; the last one, if there is one more, slides */
static void arm_fill(int n_bodies)
{
    memset(&arm, 0, sizeof arm);
    for (int k = 0; k < n_bodies; k++) {
        int *t = arm.topology + k * FA_TOPO_SIZE;
        double *joint = arm.joints + k * FA_JOINT_SIZE;
        double *node = arm.nodes + k * FA_NODE_SIZE(0);
        t[FA_TOPO_PARENT] = t[FA_TOPO_NODE] = -1;
        t[FA_TOPO_JOINT] = k < FREE ? FA_JOINT_POSE : FA_JOINT_PRISMATIC;
        t[FA_TOPO_NODES] = 1;
        t[FA_TOPO_DOF] = k < FREE ? 6 : 1;
        joint[FA_AXIS + 2] = 1.0;
        for (int i = 0; i < 3; i++) {
            joint[FA_ROTATION + 4 * i] = 1.0;
        }
        for (int i = 0; i < 6; i++) {
            joint[FA_SUBSPACE + 7 * i] = 1.0;
        }
        node[FA_NODE_MASS] = 1.0 + k;
        node[FA_NODE_INERTIA] = node[FA_NODE_INERTIA + 3] = node[FA_NODE_INERTIA + 5] =
            1.0;
    }
    arm.gravity[2] = -9.81;
    arm.description =
        (fa_description){.n_bodies = n_bodies,
                         .topology = arm.topology,
                         .joints = arm.joints,
                         .nodes = arm.nodes,
                         .gravity = arm.gravity,
                         .nodes_size = (size_t)n_bodies * FA_NODE_SIZE(0)};
}

static fa_status arm_status(void)
{
    fa_model *model = NULL;
    const fa_status status = fa_model_build(&arm.description, &model);
    fa_model_free(model);
    return status;
}

/* length of a core dimension, as in py_bound.c */
static long long length_of(const fa_model *m, char letter)
{
    return letter == 'Q'                    ? m->nq
           : letter == 'V' || letter == 'T' ? m->nv
           : letter == 'B'                  ? m->n_links
           : letter == 'C'                  ? m->n_constraints
           : letter == 'N'                  ? m->n_nodes
                                            : letter - '0';
}

/* operands in int, scratch as large as them at least */
static void check_operands(const fa_kernels *kernels, const fa_model *model)
{
    for (int k = 0; k < FA_N_KERNELS; k++) {
        const fa_kernel kernel = (fa_kernel)k;
        int sizes[FA_MAX_OPERANDS];
        double bytes = 0.0;
        if (!fa_kernel_applies(model, kernel)) {
            continue;
        }
        for (int i = 0; i <= fa_kernel_inputs(kernel); i++) {
            long long size = 1;
            for (const char *d = fa_kernel_rows[k].operands[i]; *d; d++) {
                size *= length_of(model, *d);
            }
            CHECK(size >= 0 && size <= INT_MAX);
            sizes[i] = (int)size;
            bytes += (double)size * (double)sizeof(double) * kernels->lanes;
        }
        CHECK((double)kernels->work_size(model, kernel, sizes) >= bytes);
        CHECK((double)kernels->work_size(model, kernel, sizes) < 1e13);
    }
}

static void check_largest(const fa_kernels *kernels)
{
    fa_model *model = NULL;

    arm_fill(BODIES);
    CHECK(fa_model_build(&arm.description, &model) == FA_OK);
    CHECK(model->nv == FA_MAX_VELOCITIES && model->nq == FA_MAX_VELOCITIES + FREE);
    check_operands(kernels, model);

    /* weights, which nothing else feels */
    const size_t nv = (size_t)model->nv, nq = (size_t)model->nq;
    double *q = calloc(nq + 3 * nv, sizeof *q), *qd = q + nq, *tau = qd + 2 * nv;
    const fa_single one = {
        model, kernels,
        aligned_alloc(ALIGN, fa_single_size(kernels, model, FA_INVERSE_DYNAMICS))};
    for (int k = 0; k < FREE; k++) {
        q[model->bodies[k].position_at] = 1.0;
    }
    CHECK(fa_inverse_dynamics(&one, q, qd, qd + nv, tau) == 0);
    for (int k = 0; k < BODIES; k++) {
        const int at = model->bodies[k].joint_at + (k < FREE ? 5 : 0);
        CHECK_CLOSE(tau[at], 9.81 * (1.0 + k), 1e-10 * (1.0 + k));
    }
    free(one.work);
    free(q);
    fa_model_free(model);
}

static void check_refusals(void)
{
    arm_fill(BODIES + 1);
    CHECK(arm_status() == FA_TOO_LARGE); /* one velocity more */
    arm_fill(BODIES);
    arm.description.n_bodies = FA_MAX_BODIES + 1;
    CHECK(arm_status() == FA_TOO_LARGE);
    arm_fill(BODIES);
    arm.description.n_loops = FA_MAX_LOOPS + 1;
    CHECK(arm_status() == FA_TOO_LARGE);
    arm.description.n_loops = 0;
    arm.description.n_couplings = FA_MAX_COUPLINGS + 1;
    CHECK(arm_status() == FA_TOO_LARGE);
    arm.description.n_couplings = 0;
    arm.description.n_passive = FA_MAX_PASSIVE + 1;
    CHECK(arm_status() == FA_TOO_LARGE);
    /* nodes and constants, before the arrays are looked at, which are not that long */
    arm_fill(2);
    arm.topology[FA_TOPO_NODES] = FA_MAX_NODES;
    CHECK(arm_status() == FA_TOO_LARGE); /* with that of the other body */
    arm_fill(1);
    arm.topology[FA_TOPO_NODES] = INT_MAX;
    CHECK(arm_status() == FA_TOO_LARGE);
    arm_fill(1);
    arm.topology[FA_TOPO_MODES] = FA_MAX_MODES;
    arm.topology[FA_TOPO_NODES] = 1 << 20;
    CHECK(arm_status() == FA_TOO_LARGE);
    arm.topology[FA_TOPO_NODES] = 1;
    CHECK(arm_status() == FA_BAD_SIZE);
}

int main(void)
{
    const fa_kernels *kernels = test_kernels();

    CHECK(kernels != NULL);
    if (kernels) {
        check_largest(kernels);
    }
    check_refusals();
    return check_report("sizes");
}
