/*
 * test_inverse_kinematics.c -- targets in lanes, on scratch of exact size
 *
 * Poses and equilibria are checked in Python; here the bits of any count, bounds, bad
 * targets, a callback that stops, and deflection on memory that sanitizers guard.
 */
#include "arm.h"
#include "check.h"

enum { MOST = 19, NODE = 3 };

static fa_model *model;

typedef struct {
    double target[16 * MOST], q[ARM_NQ * MOST], residual[6 * MOST], cost[MOST];
    int32_t status[MOST], iterations[MOST];
} ik_arrays;

/* poses of states near those from which the run starts */
static void fill(ik_arrays *a)
{
    const int sizes[2] = {ARM_NQ, 16};
    int64_t nodes[MOST];

    for (int i = 0; i < MOST; i++) {
        double *q = a->q + i * ARM_NQ;
        nodes[i] = NODE;
        for (int j = 0; j < ARM_NQ; j++) {
            q[j] = 0.4 * sin(0.5 * i + j);
        }
        q[3] = q[7] = 1.0; /* quaternions */
    }
    double *const arrays[2] = {a->q, a->target};
    CHECK(test_batch(model, FA_NODE_POSE, MOST, nodes, arrays, sizes).count == 0);
    for (int i = 0; i < MOST; i++) {
        a->q[i * ARM_NQ] += 0.2;
        a->q[i * ARM_NQ + 1] -= 0.3;
    }
}

static int run(ik_arrays *a, size_t count, const fa_ik *options)
{
    const fa_kernels *kernels = test_kernels();
    fa_ik ik = *options;

    ik.count = count;
    ik.node = NODE;
    ik.target = a->target;
    ik.tolerance = 1e-10;
    ik.stationary = 1e-10;
    ik.damping = 0.01;
    ik.max_iterations = ik.max_iterations ? ik.max_iterations : 100;
    ik.q = a->q;
    ik.residual = a->residual;
    ik.cost = a->cost;
    ik.status = a->status;
    ik.iterations = a->iterations;
    for (int i = 0; i < 6; i++) {
        ik.weights[i] = ik.place_only && i < 3 ? 0.0 : 1.0;
    }
    void *work = aligned_alloc(64, (kernels->ik_work_size(model, &ik) + 63) / 64 * 64);
    const int stopped = kernels->ik(model, &ik, work);
    free(work);
    return stopped;
}

/* every count gives each target the bits that it has alone */
static void check_alone(const fa_ik *options)
{
    static ik_arrays all, some, one;
    const int most = check_most(MOST);

    fill(&all);
    some = all;
    CHECK(run(&all, (size_t)most, options) == 0);
    for (size_t count = 1; count < (size_t)most; count++) {
        ik_arrays part = some;
        CHECK(run(&part, count, options) == 0);
        CHECK(memcmp(part.q, all.q, count * ARM_NQ * sizeof(double)) == 0);
        CHECK(memcmp(part.status, all.status, count * sizeof(int32_t)) == 0);
    }
    for (int k = 0; k < most; k++) {
        memcpy(one.target, some.target + 16 * k, sizeof(double[16]));
        memcpy(one.q, some.q + ARM_NQ * k, sizeof(double[ARM_NQ]));
        CHECK(run(&one, 1, options) == 0);
        CHECK(memcmp(one.q, all.q + ARM_NQ * k, sizeof(double[ARM_NQ])) == 0);
        CHECK(memcmp(one.residual, all.residual + 6 * k, sizeof(double[6])) == 0);
        CHECK(one.iterations[0] == all.iterations[k]);
    }
}

static void check_solved(void)
{
    static ik_arrays a;
    const fa_ik options = {.lower = NULL};

    fill(&a);
    CHECK(run(&a, MOST, &options) == 0);
    for (int i = 0; i < MOST; i++) {
        CHECK(a.status[i] == FA_IK_SOLVED);
        CHECK(a.cost[i] <= 1e-10);
    }
    fill(&a);
    const fa_ik first = {.max_iterations = 1};
    CHECK(run(&a, MOST, &first) == 0);
    for (int i = 0; i < MOST; i++) {
        CHECK(a.status[i] == FA_IK_UNFINISHED && a.iterations[i] == 1);
    }
}

static void check_bounds(void)
{
    static ik_arrays a;
    double lower[ARM_NQ], upper[ARM_NQ];

    for (int j = 0; j < ARM_NQ; j++) {
        const int bounded = j < 2;
        lower[j] = bounded ? -0.25 : -(double)INFINITY;
        upper[j] = bounded ? 0.3 : (double)INFINITY;
    }
    const fa_ik options = {.lower = lower, .upper = upper, .monotone = 1};
    fill(&a);
    CHECK(run(&a, MOST, &options) == 0);
    for (int i = 0; i < MOST; i++) {
        for (int j = 0; j < 2; j++) {
            CHECK(a.q[i * ARM_NQ + j] >= lower[j] && a.q[i * ARM_NQ + j] <= upper[j]);
        }
        CHECK(a.status[i] == FA_IK_SOLVED || a.status[i] == FA_IK_STATIONARY);
    }
    check_alone(&options);
}

/* what is no pose or no number becomes NaN and spoils no other */
static void check_bad_targets(void)
{
    static ik_arrays a, clean;
    const fa_ik options = {.lower = NULL};

    fill(&a);
    clean = a;
    CHECK(run(&clean, MOST, &options) == 0);
    a.target[16 * 2 + 1] += 1e-3;            /* no rotation */
    a.target[16 * 5 + 3] = (double)NAN;      /* no place */
    a.target[16 * 9 + 15] = 2.0;             /* no pose */
    a.q[ARM_NQ * 12 + 1] = (double)INFINITY; /* no start */
    for (int i = 0; i < 3; i++) {            /* a reflection */
        a.target[16 * 14 + 4 * i] = -a.target[16 * 14 + 4 * i];
    }
    CHECK(run(&a, MOST, &options) == 0);
    for (int i = 0; i < MOST; i++) {
        const int bad = i == 2 || i == 5 || i == 9 || i == 12 || i == 14;
        CHECK((a.status[i] == FA_IK_NOT_FINITE) == bad);
        CHECK(bad ? isnan(a.q[i * ARM_NQ]) && isnan(a.residual[6 * i])
                  : memcmp(a.q + i * ARM_NQ, clean.q + i * ARM_NQ,
                           sizeof(double[ARM_NQ])) == 0);
    }
}

static int stop_at_once(void *context, size_t done)
{
    (void)done;
    (*(int *)context)++;
    return 1;
}

static void check_stop(void)
{
    static ik_arrays a;
    int calls = 0;
    const fa_ik options = {
        .tick = stop_at_once, .context = &calls, .max_iterations = 100000};

    fill(&a);
    for (int i = 0; i < MOST; i++) { /* out of reach, so that steps are many */
        a.target[16 * i + 3] += 50.0 + i;
    }
    CHECK(run(&a, MOST, &options) == 1 || calls == 0);
    CHECK(calls <= 1);
}

int main(void)
{
    static const double wrench[6] = {0.1, 0.0, 0.2, 1.0, -2.0, 0.5};
    test_arm arm;

    test_arm_fill(&arm);
    if (!test_kernels() || fa_model_build(&arm.description, &model) != FA_OK) {
        return 1;
    }
    check_solved();
    check_bounds();
    check_bad_targets();
    check_stop();
    check_alone(&(fa_ik){.place_only = 0});
    check_alone(&(fa_ik){.place_only = 1});
    check_alone(&(fa_ik){.deflection = 1, .max_iterations = 20});
    check_alone(&(fa_ik){
        .deflection = 1, .wrench = wrench, .wrench_in_base = 1, .max_iterations = 20});
    fa_model_free(model);
    return check_report("inverse_kinematics");
}
