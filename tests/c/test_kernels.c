/*
 * test_kernels.c -- every kernel on exact-size memory, and the equation of motion
 *
 * Results are checked against the Lagrangian in Python; here against each other, for
 * every batch size around the lanes, with scratch and outputs that sanitizers guard.
 */
#include "arm.h"
#include "check.h"

enum { MOST = 19 };

/* a tree, with loops, of first order, its first two bodies; with driven shapes: of any
 * kind, along one axis */
static fa_model *model, *closed, *linear, *plain, *bent, *axial;

static double *filled(int count, int size, double phase)
{
    double *x = malloc((size_t)(count * size) * sizeof *x);
    for (int i = 0; i < count * size; i++) {
        x[i] = 0.7 * sin(phase + 1.3 * i);
    }
    return x;
}

/* forward dynamics undoes inverse dynamics, by both methods, for any batch size */
static void check_round_trip(const fa_model *of, int count)
{
    const int sizes[4] = {ARM_NQ, ARM_NV, ARM_NV, ARM_NV};
    double *q = filled(count, ARM_NQ, 0.0), *qd = filled(count, ARM_NV, 1.0);
    double *qdd = filled(count, ARM_NV, 2.0), *tau = filled(count, ARM_NV, 0.0);
    double *again = filled(count, ARM_NV, 0.0);
    double *const inverse[4] = {q, qd, qdd, tau}, *const forward[4] = {q, qd, tau,
                                                                       again};

    CHECK(test_batch(of, FA_INVERSE_DYNAMICS, (size_t)count, NULL, inverse, sizes)
              .count == 0);
    const fa_kernel ways[] = {FA_FORWARD_DYNAMICS, FA_FORWARD_BASIC,
                              FA_FORWARD_COMPOSITE};
    for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
        CHECK(test_batch(of, ways[way], (size_t)count, NULL, forward, sizes).count ==
              0);
        for (int i = 0; i < count * ARM_NV; i++) {
            CHECK_CLOSE(again[i], qdd[i], 1e-11);
        }
    }
    free(q);
    free(qd);
    free(qdd);
    free(tau);
    free(again);
}

/* a state alone equals the same state in a batch, bit for bit */
static void check_alone(const fa_model *of, fa_kernel kernel, const int64_t *nodes,
                        const int *sizes)
{
    const int n = fa_kernel_inputs(kernel) + 1, most = check_most(MOST);
    double *batch[FA_MAX_OPERANDS], *alone[FA_MAX_OPERANDS];

    for (int i = 0; i < n; i++) {
        batch[i] = filled(most, sizes[i], 0.5 * i);
    }
    CHECK(test_batch(of, kernel, (size_t)most, nodes, batch, sizes).count == 0);
    alone[n - 1] = filled(1, sizes[n - 1], 0.0);
    for (int k = 0; k < most; k++) {
        for (int i = 0; i + 1 < n; i++) {
            alone[i] = batch[i] + k * sizes[i];
        }
        test_batch(of, kernel, 1, nodes ? nodes + k : NULL, alone, sizes);
        CHECK(memcmp(alone[n - 1], batch[n - 1] + k * sizes[n - 1],
                     (size_t)sizes[n - 1] * sizeof(double)) == 0);
    }
    free(alone[n - 1]);
    for (int i = 0; i < n; i++) {
        free(batch[i]);
    }
}

/* doubles of an operand by the letters of kernel_table.h, T of forces of the joints */
static int size_of(const char *letters)
{
    static const int sizes['Z' + 1] = {
        ['Q'] = ARM_NQ,    ['V'] = ARM_NV,    ['T'] = ARM_NU,
        ['N'] = ARM_NODES, ['B'] = ARM_LINKS, ['C'] = ARM_ROWS,
    };
    int size = 1;

    for (const char *x = letters; *x; x++) {
        size *= *x >= '0' && *x <= '9' ? *x - '0' : sizes[(int)*x];
    }
    return size;
}

static void check_every_kernel(void)
{
    int64_t nodes[MOST];

    for (int i = 0; i < MOST; i++) {
        nodes[i] = (i / 3) % ARM_NODES;
    }
    for (int k = 0; k < FA_N_KERNELS; k++) {
        const int is_of_node = fa_kernel_rows[k].node != FA_NO_NODE;
        int sizes[FA_MAX_OPERANDS];
        for (int i = 0; i <= fa_kernel_rows[k].n_in; i++) {
            sizes[i] = size_of(fa_kernel_rows[k].operands[i]);
        }
        if (fa_kernel_applies(model, (fa_kernel)k)) {
            check_alone(model, (fa_kernel)k, is_of_node ? nodes : NULL, sizes);
            if (k != FA_LOG_DET_MASS) { /* its M may be indefinite */
                check_alone(linear, (fa_kernel)k, is_of_node ? nodes : NULL, sizes);
            }
        }
        if (fa_kernel_applies(closed, (fa_kernel)k)) {
            check_alone(closed, (fa_kernel)k, is_of_node ? nodes : NULL, sizes);
        }
        if (fa_kernel_applies(bent, (fa_kernel)k)) {
            check_alone(bent, (fa_kernel)k, is_of_node ? nodes : NULL, sizes);
            check_alone(axial, (fa_kernel)k, is_of_node ? nodes : NULL, sizes);
        }
    }
}

/* tangents of inverse dynamics against central differences along its velocities */
static void check_tangents(const fa_model *of)
{
    const int three[3] = {ARM_NQ, ARM_NV, ARM_NQ};
    const int four[4] = {ARM_NQ, ARM_NV, ARM_NV, ARM_NV};
    const int all[4] = {ARM_NQ, ARM_NV, ARM_NV, 2 * ARM_NV * ARM_NV};
    const double h = 1e-5;
    double q[ARM_NQ], *start = filled(1, ARM_NQ, 0.3), *qd = filled(1, ARM_NV, 1.0);
    double *qdd = filled(1, ARM_NV, 2.0), *step = calloc(ARM_NV, sizeof *step);
    double tangents[2 * ARM_NV * ARM_NV], tau[2][ARM_NV], moved[ARM_NQ];
    double *const unit[3] = {start, step, q}, *const path[3] = {q, step, moved};
    double *const exact[4] = {q, qd, qdd, tangents};

    /* a step of zero makes quaternions units */
    CHECK(test_batch(of, FA_INTEGRATE, 1, NULL, unit, three).count == 0);
    CHECK(test_batch(of, FA_INVERSE_TANGENTS, 1, NULL, exact, all).count == 0);
    for (int j = 0; j < 2 * ARM_NV; j++) {
        const int is_rate = j >= ARM_NV, at = j % ARM_NV;
        for (int side = 0; side < 2; side++) {
            const double change = side ? h : -h;
            double *const forces[4] = {is_rate ? q : moved, qd, qdd, tau[side]};
            if (is_rate) {
                qd[at] += change;
            } else {
                step[at] = change;
                test_batch(of, FA_INTEGRATE, 1, NULL, path, three);
                step[at] = 0.0;
            }
            test_batch(of, FA_INVERSE_DYNAMICS, 1, NULL, forces, four);
            qd[at] -= is_rate ? change : 0.0;
        }
        for (int i = 0; i < ARM_NV; i++) {
            CHECK_CLOSE(tangents[(is_rate * ARM_NV + i) * ARM_NV + at],
                        (tau[1][i] - tau[0][i]) / (2.0 * h), 1e-7);
        }
    }
    free(start);
    free(qd);
    free(qdd);
    free(step);
}

/* a NaN is counted, found, and stays in its state */
static void check_failures_are_counted(void)
{
    const int sizes[2] = {ARM_NQ, ARM_NV};
    double *q = filled(MOST, ARM_NQ, 0.0), *clean = filled(MOST, ARM_NV, 0.0);
    double *tau = filled(MOST, ARM_NV, 0.0);
    double *const good[2] = {q, clean}, *const spoilt[2] = {q, tau};

    test_batch(model, FA_GRAVITY_FORCES, MOST, NULL, good, sizes);
    q[5 * ARM_NQ + 2] = (double)NAN;
    q[11 * ARM_NQ] = (double)INFINITY;
    const fa_failures bad =
        test_batch(model, FA_GRAVITY_FORCES, MOST, NULL, spoilt, sizes);
    CHECK(bad.count == 2 && bad.first == 5);
    for (int i = 0; i < MOST * ARM_NV; i++) {
        const int state = i / ARM_NV;
        CHECK(state == 5 || state == 11 || tau[i] == clean[i]);
    }
    free(q);
    free(clean);
    free(tau);
}

/* a time loop: free fall of the energy, and lanes that do not fill the last block */
static void check_rollout(const fa_model *of, fa_method method)
{
    enum { COUNT = 11, SAMPLES = 21 };
    const int count = check_most(COUNT), n_samples = check_most(SAMPLES);
    const size_t samples = (size_t)(count * n_samples);
    double *q = calloc(samples * ARM_NQ, sizeof *q);
    double *qd = calloc(samples * ARM_NV, sizeof *qd);
    double t[SAMPLES], tau[SAMPLES * ARM_NU], energy[2];

    for (int i = 0; i < n_samples; i++) {
        t[i] = 1e-3 * i;
    }
    memset(tau, 0, sizeof tau);
    for (int i = 0; i < count; i++) {
        double *start = q + (size_t)(i * n_samples) * ARM_NQ;
        start[0] = 0.1 * i;
        start[3] = start[7] = 1.0; /* quaternions */
    }
    double report[COUNT * FA_REPORT_SIZE] = {0.0};
    const fa_rollout run = {.method = method,
                            .spectral_radius = 0.9,
                            .rtol = 1e-4,
                            .atol = 1e-6,
                            .max_step = 1.0,
                            .report = report,
                            .count = (size_t)count,
                            .n_samples = (size_t)n_samples,
                            .substeps = 2,
                            .n_tau = ARM_NU,
                            .t = t,
                            .kind = FA_TORQUE_LINEAR,
                            .tau = tau,
                            .q = q,
                            .qd = qd};
    CHECK(test_rollout(of, &run) == 0);
    for (int i = 0; i < count; i++) {
        CHECK(report[i * FA_REPORT_SIZE + 2] == FA_REACHED);
    }
    for (int i = 0; i < 2; i++) {
        const size_t at = (size_t)(3 * n_samples + i * (n_samples - 1));
        double *qi = q + at * ARM_NQ, *qdi = qd + at * ARM_NV;
        double T, V;
        double *const kinetic[3] = {qi, qdi, &T}, *const potential[2] = {qi, &V};
        const int sizes[3] = {ARM_NQ, ARM_NV, 1}, two[2] = {ARM_NQ, 1};
        test_batch(of, FA_KINETIC_ENERGY, 1, NULL, kinetic, sizes);
        test_batch(of, FA_POTENTIAL_ENERGY, 1, NULL, potential, two);
        energy[i] = T + V;
    }
    /* damping is weak over 20 ms: it only takes energy, and little of it */
    if (of->n_constraints == 0 && of->fidelity == FA_FULL) {
        CHECK(energy[1] < energy[0] && energy[1] > energy[0] - 0.05);
    }
    free(q);
    free(qd);
}

/* feedback brings the joints to their references, each trajectory by gains of its own */
static void check_feedback(const fa_model *of, int diagonal)
{
    enum { COUNT = 5, SAMPLES = 601, NV = 4, NU = 2 };
    double *q = calloc((size_t)COUNT * SAMPLES * NV, sizeof *q);
    double *qd = calloc((size_t)COUNT * SAMPLES * NV, sizeof *qd);
    double *reference = calloc((size_t)SAMPLES * NU, sizeof *reference);
    double *zero = calloc((size_t)SAMPLES * NU, sizeof *zero), t[SAMPLES];
    double *out = calloc((size_t)COUNT * SAMPLES * NU, sizeof *out);
    const size_t size = diagonal ? NU : NU * NU;
    double *gains = calloc(2 * COUNT * size, sizeof *gains);

    CHECK(of->nu == NU && of->nv == NV && of->nq == NV);
    for (int k = 0; k < SAMPLES; k++) {
        t[k] = 0.01 * k;
        reference[k * NU] = 0.3;
        reference[k * NU + 1] = -0.2;
    }
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t j = 0; j < NU; j++) {
            const size_t at = i * size + (diagonal ? j : j * (NU + 1));
            gains[at] = 40.0 * (1.0 + 0.2 * (double)i);
            gains[COUNT * size + at] = 25.0;
        }
    }
    const fa_feedback feedback = {.diagonal = diagonal,
                                  .kp = gains,
                                  .kd = gains + COUNT * size,
                                  .reference = reference,
                                  .rates = zero,
                                  .kp_stride = size,
                                  .kd_stride = size};
    const fa_rollout run = {.method = FA_ROS34PW2,
                            .count = COUNT,
                            .n_samples = SAMPLES,
                            .substeps = 1,
                            .n_tau = NU,
                            .t = t,
                            .kind = FA_TORQUE_LINEAR,
                            .tau = zero,
                            .feedback = &feedback,
                            .q = q,
                            .qd = qd,
                            .tau_out = out};
    CHECK(test_rollout(of, &run) == 0);
    for (size_t i = 0; i < COUNT; i++) {
        const double *end = q + (i * SAMPLES + SAMPLES - 1) * NV;
        CHECK_CLOSE(end[0], 0.3, 1e-2);
        CHECK_CLOSE(end[1], -0.2, 1e-2);
        CHECK(out[i * SAMPLES * NU] == gains[i * size] * 0.3);
    }
    free(q);
    free(qd);
    free(reference);
    free(zero);
    free(out);
    free(gains);
}

/* bodies that their modes draw in */
static void build_bent(void)
{
    fa_model **const models[3] = {&bent, &axial, &linear};

    for (int i = 0; i < 3; i++) {
        test_arm arm;
        test_arm_fill(&arm);
        test_arm_bend(&arm, i > 0);
        arm.description.fidelity = i == 2 ? FA_LINEAR : FA_FULL;
        if (fa_model_build(&arm.description, models[i]) != FA_OK) {
            exit(1);
        }
        CHECK((*models[i])->bodies[1].driven.n == 1);
        CHECK(((*models[i])->bodies[1].driven.axis >= 0) == (i > 0));
        CHECK((*models[i])->bodies[5].driven.n == 1);
    }
}

int main(void)
{
    test_arm arm, plain_arm;

    test_arm_fill(&arm);
    test_arm_fill(&plain_arm);
    memset(plain_arm.gravity, 0, sizeof plain_arm.gravity);
    plain_arm.description.n_bodies = 2; /* revolute joints, two modes */
    plain_arm.description.nodes_size = 2 * FA_NODE_SIZE(0) + 2 * FA_NODE_SIZE(2);
    plain_arm.description.modal_size = 8;
    if (!test_kernels() || fa_model_build(&arm.description, &model) != FA_OK) {
        return 1;
    }
    build_bent();
    for (int count = 1; count <= check_most(MOST); count++) {
        check_round_trip(model, count);
        check_round_trip(bent, count);
        check_round_trip(axial, count);
    }
    if (fa_model_build(&plain_arm.description, &plain) != FA_OK) {
        return 1;
    }
    test_arm_close(&arm);
    if (fa_model_build(&arm.description, &closed) != FA_OK) {
        return 1;
    }
    CHECK(closed->n_constraints == ARM_ROWS);
    check_every_kernel();
    check_failures_are_counted();
    check_rollout(model, FA_RK4);
    for (fa_method method = FA_ROS34PW2; method <= FA_RODAS4P; method++) {
        check_rollout(model, method);
        check_rollout(bent, method);
    }
    check_rollout(axial, FA_NEWMARK);
    check_tangents(model);
    check_tangents(bent);
    check_tangents(axial);
    check_rollout(closed, FA_RK4);
    check_rollout(linear, FA_RK4);
    check_rollout(linear, FA_ROS34PW2);
    check_feedback(plain, 1);
    check_feedback(plain, 0);
    fa_model_free(plain);
    fa_model_free(linear);
    fa_model_free(closed);
    fa_model_free(model);
    fa_model_free(bent);
    fa_model_free(axial);
    return check_report("kernels");
}
