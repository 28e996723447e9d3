/*
 * test_stack.c -- stacks on exact-size memory: each state with an arm of its own
 *
 * Results are checked against a loop over the arms in Python too; here state by state,
 * bit for bit between places of a batch, with scratch and outputs that sanitizers guard.
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
    if (is_closed) {
        check_kernel(stack, FA_CONSTRAINT_JACOBIAN, 0,
                     (const int[]){ARM_NQ, ARM_ROWS * ARM_NV});
    }
    CHECK(!test_kernels()->stack_has(FA_LINK_JACOBIANS));
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
    check_refusals();
    return check_report("test_stack");
}
