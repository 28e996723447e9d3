/*
 * test_stack.c -- stacks on exact-size memory: each state with an arm of its own
 *
 * Results are checked against a loop over the arms in Python too; here state by state,
 * bit for bit between places of a batch, with scratch and outputs that sanitizers guard.
 * Scratch starts as NaN: a constant that a kernel reads and its list lacks is seen.
 */
#include "arm.h"
#include "check.h"

enum { ARMS = 3, MOST = 11 };

static test_arm parts[ARMS];
static fa_description descriptions[ARMS];
static fa_model *models[ARMS];

/* arms that differ in masses, a joint frame, stiffness, damping and gravity */
static void fill(int bends, int closes)
{
    for (int a = 0; a < ARMS; a++) {
        test_arm *arm = parts + a;
        test_arm_fill(arm);
        if (bends) {
            test_arm_bend(arm, bends > 1);
        }
        if (closes) {
            test_arm_close(arm);
            arm->frames[FA_FRAME_POSITION] += 0.05 * a;
            arm->couplings[ARM_NU] = 0.1 * a;
        }
        arm->nodes[FA_NODE_MASS] *= 1.0 + a;
        arm->joints[2 * FA_JOINT_SIZE + FA_POSITION] = 0.1 * a;
        arm->joints[FA_DAMPING] = 0.2 * a;
        arm->joints[FA_ARMATURE] = 0.3 + 0.1 * a;
        arm->modal[0] *= 1.0 + 0.5 * a;
        arm->gravity[0] = 0.3 * a;
        descriptions[a] = arm->description;
    }
}

static void build_models(void)
{
    for (int a = 0; a < ARMS; a++) {
        descriptions[a].is_general = 0;
        CHECK(fa_model_build(descriptions + a, models + a) == FA_OK);
    }
}

static void free_models(void)
{
    for (int a = 0; a < ARMS; a++) {
        fa_model_free(models[a]);
    }
}

/* a kernel of a stack on contiguous states, scratch of the exact size */
static fa_failures run(const fa_stack *stack, fa_kernel kernel, size_t count,
                       const int64_t *arms, const int64_t *nodes, double *const *arrays,
                       const int *sizes)
{
    const fa_kernels *kernels = test_kernels();
    const int n = fa_kernel_inputs(kernel) + 1;
    fa_operand operands[4];
    ptrdiff_t *offsets[4];

    test_operands(n, arrays, sizes, offsets, operands);
    const size_t size = kernels->work_size(stack->model, kernel, sizes) +
                        kernels->stack_work_size(stack);
    void *work = aligned_alloc(64, (size + 63) / 64 * 64);
    memset(work, 0xff, (size + 63) / 64 * 64); /* NaN */
    const fa_failures bad =
        kernels->stack_batch(stack, kernel, count, (const char *)arms, sizeof *arms,
                             (const char *)nodes, sizeof *nodes, operands, work);
    free(work);
    for (int i = 0; i < n; i++) {
        free(offsets[i]);
    }
    return bad;
}

/* every state against the model of its arm, and the same bits alone */
static void check_kernel(const fa_stack *stack, fa_kernel kernel, int has_node,
                         const int *sizes)
{
    const int n = fa_kernel_inputs(kernel) + 1, size = sizes[n - 1];
    int64_t arms[MOST], nodes[MOST];
    double *batch[4], *one[4], *again = malloc((size_t)size * sizeof *again);

    CHECK(test_kernels()->stack_has(kernel));
    for (int i = 0; i < n; i++) {
        batch[i] = malloc((size_t)(MOST * sizes[i]) * sizeof(double));
        for (int e = 0; e < MOST * sizes[i]; e++) {
            batch[i][e] = 0.4 * sin(0.3 * i + 1.3 * e) + (i == 0 && e % 7 == 0);
        }
    }
    for (int k = 0; k < MOST; k++) {
        arms[k] = (k * k) % ARMS;
        nodes[k] = k < 5 ? 3 : (5 * k) % ARM_NODES;
    }
    const int64_t *index = has_node ? nodes : NULL;
    CHECK(run(stack, kernel, MOST, arms, index, batch, sizes).count == 0);
    one[n - 1] = again;
    for (int k = 0; k < MOST; k++) {
        const double *expected = again, *got = batch[n - 1] + k * size;
        for (int i = 0; i + 1 < n; i++) {
            one[i] = batch[i] + k * sizes[i];
        }
        run(stack, kernel, 1, arms + k, index ? index + k : NULL, one, sizes);
        CHECK(memcmp(again, got, (size_t)size * sizeof *again) == 0);
        test_batch(models[arms[k]], kernel, 1, index ? index + k : NULL, one, sizes);
        for (int e = 0; e < size; e++) {
            CHECK_CLOSE(got[e], expected[e], 1e-9 * fmax(1.0, fabs(expected[e])));
        }
    }
    for (int i = 0; i < n; i++) {
        free(batch[i]);
    }
    free(again);
}

/* trajectories of different arms side by side against those of each arm alone */
static void check_rollout(const fa_stack *stack, fa_method method)
{
    enum { COUNT = 6, SAMPLES = 4 };
    const fa_kernels *kernels = test_kernels();
    double t[SAMPLES], tau[SAMPLES * ARM_NU] = {0.0};
    double q[2][COUNT * SAMPLES * ARM_NQ] = {{0.0}};
    double qd[2][COUNT * SAMPLES * ARM_NV] = {{0.0}};
    int64_t arms[COUNT];

    for (int i = 0; i < SAMPLES; i++) {
        t[i] = 1e-3 * i;
    }
    for (int i = 0; i < COUNT; i++) {
        double *start = q[0] + (size_t)i * SAMPLES * ARM_NQ;
        start[0] = 0.1 * i;
        start[3] = start[7] = 1.0; /* quaternions */
        arms[i] = (2 * i) % ARMS;
    }
    memcpy(q[1], q[0], sizeof q[0]);
    fa_rollout run = {.method = method,
                      .count = COUNT,
                      .n_samples = SAMPLES,
                      .substeps = 2,
                      .n_tau = ARM_NU,
                      .t = t,
                      .kind = FA_TORQUE_LINEAR,
                      .tau = tau,
                      .arms = arms,
                      .q = q[0],
                      .qd = qd[0]};
    CHECK(fa_stack_integrates(method));
    const size_t size = kernels->rollout_work_size(stack->model, &run) +
                        kernels->stack_work_size(stack);
    void *work = aligned_alloc(64, (size + 63) / 64 * 64);
    memset(work, 0xff, (size + 63) / 64 * 64);
    CHECK(kernels->stack_rollout(stack, &run, work) == 0);
    run.count = 1;
    for (int i = 0; i < COUNT; i++) {
        run.q = q[1] + (size_t)i * SAMPLES * ARM_NQ;
        run.qd = qd[1] + (size_t)i * SAMPLES * ARM_NV;
        CHECK(kernels->rollout(models[arms[i]], &run, work) == 0);
    }
    free(work);
    for (int i = 0; i < COUNT * SAMPLES * ARM_NQ; i++) {
        CHECK_CLOSE(q[0][i], q[1][i], 1e-11);
    }
}

static void check_kernels(int is_closed)
{
    fa_stack *stack = NULL;

    build_models();
    CHECK(fa_stack_build(descriptions, ARMS, &stack) == FA_OK);
    check_kernel(stack, FA_FORWARD_DYNAMICS, 0,
                 (const int[]){ARM_NQ, ARM_NV, ARM_NV, ARM_NV});
    check_kernel(stack, FA_INVERSE_DYNAMICS, 0,
                 (const int[]){ARM_NQ, ARM_NV, ARM_NV, ARM_NV});
    check_kernel(stack, FA_MASS_MATRIX, 0, (const int[]){ARM_NQ, ARM_NV * ARM_NV});
    check_kernel(stack, FA_POTENTIAL_ENERGY, 0, (const int[]){ARM_NQ, 1});
    check_kernel(stack, FA_NODE_POSES, 0, (const int[]){ARM_NQ, 16 * ARM_NODES});
    check_kernel(stack, FA_NODE_POSE, 1, (const int[]){ARM_NQ, 16});
    check_kernel(stack, FA_JACOBIAN, 1, (const int[]){ARM_NQ, 6 * ARM_NV});
    check_kernel(stack, FA_LINK_JACOBIANS, 0,
                 (const int[]){ARM_NQ, 6 * ARM_LINKS * ARM_NV});
    check_kernel(stack, FA_MASS_INVERSE, 0, (const int[]){ARM_NQ, ARM_NV * ARM_NV});
    check_kernel(stack, FA_MOMENTUM, 0, (const int[]){ARM_NQ, ARM_NV, 6});
    check_kernel(stack, FA_INTEGRATE, 0, (const int[]){ARM_NQ, ARM_NV, ARM_NQ});
    if (is_closed) {
        check_kernel(stack, FA_CONSTRAINT_JACOBIAN, 0,
                     (const int[]){ARM_NQ, ARM_ROWS * ARM_NV});
        check_kernel(stack, FA_CONSTRAINT_FORCES, 0,
                     (const int[]){ARM_NQ, ARM_NV, ARM_NV, ARM_ROWS});
    }
    CHECK(!test_kernels()->stack_has(FA_INVERSE_TANGENTS));
    if (!is_closed) { /* loops would have to be closed at the start */
        check_rollout(stack, FA_RK4);
        check_rollout(stack, FA_ROS34PW2);
    }
    fa_stack_free(stack);
    free_models();
}

/* arms of which one has offset masses where the others have none, or no structure */
static void check_structure(void)
{
    fill(0, 0);
    for (int a = 0; a < ARMS; a++) {
        for (int j = 2; j < 4; j++) { /* the nodes of the first flexible body */
            double *node = parts[a].nodes + 2 * FA_NODE_SIZE(0) +
                           (j - 2) * FA_NODE_SIZE(2) + FA_NODE_COM;
            node[0] *= a > 0;
            node[1] *= a > 0;
        }
    }
    check_kernels(0);
}

/*
 * Chains of three bodies on revolute joints about y: rigid ones, or the second a straight
 * beam with two modes along z. Kernels that know them read few constants.
 */
enum { CHAIN = 3 };

typedef struct {
    int topology[CHAIN * FA_TOPO_SIZE];
    double joints[CHAIN * FA_JOINT_SIZE];
    double nodes[3 * FA_NODE_SIZE(0) + 3 * FA_NODE_SIZE(2)], modal[8];
    double gravity[3];
} chain;

static fa_description fill_chain(chain *c, int modes, double scale)
{
    const int nodes = modes > 0 ? 3 : 2;
    const int topology[CHAIN][FA_TOPO_SIZE] = {
        {-1, -1, FA_JOINT_REVOLUTE, 0, 2, 1},
        {0, 1, FA_JOINT_REVOLUTE, modes, nodes, 1},
        {1, 1 + nodes, FA_JOINT_REVOLUTE, 0, 1, 1}};
    double *node = c->nodes;

    memset(c, 0, sizeof *c);
    memcpy(c->topology, topology, sizeof topology);
    for (int k = 0; k < CHAIN; k++) {
        double *joint = c->joints + k * FA_JOINT_SIZE;
        joint[FA_AXIS + 1] = 1.0;
        joint[FA_ROTATION] = joint[FA_ROTATION + 4] = joint[FA_ROTATION + 8] = 1.0;
        joint[FA_DAMPING] = 0.1 * scale;
        joint[FA_POSITION] = k == 2 ? 0.1 * scale : 0.0;
        for (int j = 0; j < topology[k][FA_TOPO_NODES]; j++) {
            const int n = topology[k][FA_TOPO_MODES];
            const double x = 0.5 * j;
            node[FA_NODE_MASS] = scale * (1.0 + 0.5 * j);
            node[FA_NODE_POSITION] = x;
            for (int r = 0; r < n; r++) { /* along z, about y */
                node[FA_NODE_GAMMA + 2 * n + r] = r ? x * x * x : x * x;
                node[FA_NODE_GAMMA + 4 * n + r] = r ? -3.0 * x * x : -2.0 * x;
            }
            if (n == 0) {
                node[FA_NODE_INERTIA] = node[FA_NODE_INERTIA + 3] = 0.1;
                node[FA_NODE_INERTIA + 5] = 0.15 * scale;
                node[FA_NODE_COM + 2] = 0.1 * scale;
            }
            node += FA_NODE_SIZE(n);
        }
    }
    c->modal[0] = 50.0 * scale;
    c->modal[3] = 400.0;
    c->modal[4] = c->modal[7] = 0.2;
    c->gravity[2] = -9.81 * scale;
    return (fa_description){.n_bodies = CHAIN,
                            .topology = c->topology,
                            .joints = c->joints,
                            .nodes = c->nodes,
                            .modal = c->modal,
                            .gravity = c->gravity,
                            .nodes_size = (size_t)(node - c->nodes),
                            .modal_size = modes > 0 ? 8 : 0};
}

static void check_chains(int modes)
{
    const int n = CHAIN + modes;
    chain chains[ARMS];
    fa_stack *stack = NULL;

    for (int a = 0; a < ARMS; a++) {
        descriptions[a] = fill_chain(chains + a, modes, 1.0 + 0.3 * a);
    }
    build_models();
    CHECK(models[0]->is_rigid == (modes == 0));
    CHECK((models[0]->bodies[1].straight.kind > 0) == (modes > 0));
    CHECK(fa_stack_build(descriptions, ARMS, &stack) == FA_OK);
    CHECK((stack->model->bodies[1].straight.kind > 0) == (modes > 0));
    check_kernel(stack, FA_FORWARD_DYNAMICS, 0, (const int[]){n, n, n, n});
    check_kernel(stack, FA_INVERSE_DYNAMICS, 0, (const int[]){n, n, n, n});
    check_kernel(stack, FA_BIAS_FORCES, 0, (const int[]){n, n, n});
    check_kernel(stack, FA_GRAVITY_FORCES, 0, (const int[]){n, n});
    check_kernel(stack, FA_MASS_MATRIX, 0, (const int[]){n, n * n});
    check_kernel(stack, FA_KINETIC_ENERGY, 0, (const int[]){n, n, 1});
    check_kernel(stack, FA_CENTER_OF_MASS, 0, (const int[]){n, 3});
    check_kernel(stack, FA_DISSIPATED_POWER, 0, (const int[]){n, n, 1});
    check_kernel(stack, FA_LINK_ACCELERATIONS, 0, (const int[]){n, n, n, 6 * CHAIN});
    fa_stack_free(stack);
    free_models();
}

static void check_refusals(void)
{
    fa_stack *stack = NULL;

    fill(0, 0);
    CHECK(fa_stack_build(descriptions, 0, &stack) == FA_BAD_SIZE);
    parts[2].topology[2 * FA_TOPO_SIZE + FA_TOPO_JOINT] = FA_JOINT_REVOLUTE;
    CHECK(fa_stack_build(descriptions, ARMS, &stack) == FA_BAD_TOPOLOGY);
    parts[2].nodes[0] = (double)NAN;
    CHECK(fa_stack_build(descriptions, ARMS, &stack) == FA_NOT_FINITE ||
          fa_stack_build(descriptions, ARMS, &stack) == FA_BAD_TOPOLOGY);
    CHECK(stack == NULL);
    fa_stack_free(NULL);
}

int main(void)
{
    for (int bends = 0; bends < 3; bends++) {
        for (int closes = 0; closes < 2; closes++) {
            fill(bends, closes);
            check_kernels(closes);
        }
    }
    check_structure();
    check_chains(0);
    check_chains(2);
    check_refusals();
    return check_report("stack");
}
