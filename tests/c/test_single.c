/* test_single.c -- one state: the bits of a batch, room for work, failures */
#include "arm.h"
#include "check.h"
#include "library/single.h"

enum { STATES = 5, ALIGN = 64, LARGEST = ARM_NV * ARM_NV, GUARD = 0x5a };

static double test_q[STATES][ARM_NQ], test_qd[STATES][ARM_NV], test_tau[STATES][ARM_NV];

/* a kernel on one state */
static int test_call(const fa_single *arm, fa_kernel kernel, int i, int node,
                     double *out)
{
    switch (kernel) {
    case FA_FORWARD_DYNAMICS:
        return fa_forward_dynamics(arm, test_q[i], test_qd[i], test_tau[i], ARM_NV,
                                   out);
    case FA_INVERSE_DYNAMICS:
        return fa_inverse_dynamics(arm, test_q[i], test_qd[i], test_tau[i], out);
    case FA_MASS_MATRIX:
        return fa_mass_matrix(arm, test_q[i], out);
    case FA_NODE_POSE:
        return fa_node_pose(arm, node, test_q[i], out);
    default:
        return fa_jacobian(arm, node, test_q[i], out);
    }
}

/* the bits of a batch, with as much work as is asked for and no more */
static void test_kernel(const fa_kernels *kernels, const fa_model *model,
                        fa_kernel kernel, int node, const int *sizes)
{
    static double expected[STATES * LARGEST], out[LARGEST];
    const int n_out = sizes[fa_kernel_inputs(kernel)];
    const size_t size = fa_single_size(kernels, model, kernel);
    unsigned char *work = aligned_alloc(ALIGN, size + ALIGN);
    const fa_single arm = {model, kernels, work};

    memset(work, GUARD, size + ALIGN);
    double *arrays[4] = {test_q[0], test_qd[0], test_tau[0]};
    arrays[fa_kernel_inputs(kernel)] = expected;
    int64_t nodes[STATES];
    for (int i = 0; i < STATES; i++) {
        nodes[i] = node;
    }
    test_batch(model, kernel, STATES, node < 0 ? NULL : nodes, arrays, sizes);
    for (int i = 0; i < STATES; i++) {
        CHECK(test_call(&arm, kernel, i, node, out) == 0);
        CHECK(memcmp(out, expected + i * n_out, (size_t)n_out * sizeof *out) == 0);
    }
    for (int i = 0; i < ALIGN; i++) {
        CHECK(work[size + (size_t)i] == GUARD);
    }
    free(work);
}

static void test_steps(const fa_kernels *kernels, const fa_model *model)
{
    size_t size = fa_single_size(kernels, model, FA_FORWARD_DYNAMICS);
    const size_t other = fa_single_size(kernels, model, FA_INTEGRATE);
    double scratch[ARM_NV], q[ARM_NQ], moved[ARM_NQ], qdd[ARM_NV], same[ARM_NV];

    size = other > size ? other : size;
    const fa_single arm = {model, kernels, aligned_alloc(ALIGN, size)};

    /* forces of the actuators alone are those with zeros on the modes */
    double tau[ARM_NV] = {0};
    memcpy(tau, test_tau[0], ARM_NU * sizeof *tau);
    CHECK(fa_forward_dynamics(&arm, test_q[0], test_qd[0], tau, ARM_NV, qdd) == 0);
    CHECK(fa_forward_dynamics(&arm, test_q[0], test_qd[0], tau, ARM_NU, same) == 0);
    CHECK(memcmp(qdd, same, sizeof qdd) == 0);

    /* a result may take the place of an input */
    CHECK(fa_forward_dynamics(&arm, test_q[0], test_qd[0], tau, ARM_NV, tau) == 0);
    CHECK(memcmp(qdd, tau, sizeof qdd) == 0);

    /* there and back */
    memcpy(q, test_q[0], sizeof q);
    CHECK(fa_move(&arm, 0.01, q, test_qd[0], scratch) == 0);
    memcpy(moved, q, sizeof q);
    CHECK(memcmp(q, test_q[0], sizeof q) != 0);
    CHECK(q[0] == test_q[0][0] + 0.01 * test_qd[0][0]);
    for (int i = 0; i < 4; i++) {
        CHECK(fa_move(&arm, 0.0, moved, test_qd[0], scratch) == 0);
    }
    for (int i = 0; i < ARM_NQ; i++) {
        CHECK_CLOSE(moved[i], q[i], 1e-15 * 8);
    }

    /* what is not finite is reported and spoils nothing after it */
    scratch[0] = (double)NAN;
    memcpy(q, test_q[0], sizeof q);
    q[0] = (double)NAN;
    CHECK(fa_forward_dynamics(&arm, q, test_qd[0], tau, ARM_NV, same) == 1);
    for (int i = 0; i < ARM_NV; i++) {
        CHECK(same[i] != same[i]);
    }
    memset(tau, 0, sizeof tau);
    memcpy(tau, test_tau[0], ARM_NU * sizeof *tau);
    CHECK(fa_forward_dynamics(&arm, test_q[0], test_qd[0], tau, ARM_NV, same) == 0);
    CHECK(memcmp(qdd, same, sizeof qdd) == 0);
    free(arm.work);
}

int main(void)
{
    const fa_kernels *kernels = test_kernels();
    static test_arm arm;
    fa_model *model = NULL;

    test_arm_fill(&arm);
    CHECK(fa_model_build(&arm.description, &model) == FA_OK && kernels);
    if (!model || !kernels) {
        return check_report("single");
    }
    const int nq = model->nq, nv = model->nv;
    CHECK(nq == ARM_NQ && nv == ARM_NV);
    for (int i = 0; i < STATES; i++) {
        for (int e = 0; e < ARM_NQ; e++) {
            test_q[i][e] = 0.3 + 0.1 * sin(1.0 + i + 3.0 * e);
        }
        for (int e = 0; e < ARM_NV; e++) {
            test_qd[i][e] = sin(2.0 + i + 5.0 * e);
            test_tau[i][e] = cos(2.0 + i + 7.0 * e);
        }
    }
    test_kernel(kernels, model, FA_FORWARD_DYNAMICS, -1, (int[]){nq, nv, nv, nv});
    test_kernel(kernels, model, FA_INVERSE_DYNAMICS, -1, (int[]){nq, nv, nv, nv});
    test_kernel(kernels, model, FA_MASS_MATRIX, -1, (int[]){nq, nv * nv});
    test_kernel(kernels, model, FA_NODE_POSE, 7, (int[]){nq, 16});
    test_kernel(kernels, model, FA_JACOBIAN, ARM_NODES - 1, (int[]){nq, 6 * nv});
    test_steps(kernels, model);
    fa_model_free(model);
    return check_report("single");
}
