/*
 * test_motors.c -- an arm with motors: refusals, kernels and time loops on exact memory
 *
 * Two rotors drive the first two joints of arm.h, one of them on a body with modes; the
 * sum of energy and of what is dissipated is kept. Results: tests/dynamics/test_drives.py.
 */
#include "arm.h"
#include "check.h"

enum {
    BODIES = ARM_BODIES + 2,
    NV = ARM_NV + 2,
    NQ = ARM_NQ + 2,
    FORCES = 6,
    COUNT = 11,
    SAMPLES = 5,
    GIVEN = 10
};

typedef struct {
    test_arm tree;
    int topology[BODIES * FA_TOPO_SIZE];
    double joints[BODIES * FA_JOINT_SIZE];
    double modal[16 + 2 * GIVEN];
    double passive[FORCES * FA_PASSIVE_SIZE];
    fa_description description;
} motor_arm;

static void fill(motor_arm *arm)
{
    static const double passive[FORCES][FA_PASSIVE_SIZE] = {
        {FA_SPRING, 0, ARM_BODIES, 0.02, 900.0, 0.1, 0.5, 0.0},
        {FA_SPRING, 1, ARM_BODIES + 1, -0.1, 700.0, 0.0, 0.2, 0.0},
        {FA_FRICTION, ARM_BODIES, -1, 0.0, 0.3, 0.05, 0.0, 0.0},
        {FA_FRICTION, 2, -1, 0.0, 0.5, 0.1, 0.0, 0.0},
        {FA_STOP, 1, -1, 0.0, -0.1, -1.0, 300.0, 0.4},
        {FA_STOP, 6, -1, 0.0, 0.2, 1.0, 200.0, 0.1}};

    test_arm_fill(&arm->tree);
    memset(arm->topology, 0, sizeof arm->topology);
    memset(arm->joints, 0, sizeof arm->joints);
    memset(arm->modal, 0, sizeof arm->modal);
    memcpy(arm->topology, arm->tree.topology, sizeof arm->tree.topology);
    memcpy(arm->joints, arm->tree.joints, sizeof arm->tree.joints);
    memcpy(arm->modal, arm->tree.modal, 16 * sizeof *arm->modal);
    for (int i = 0; i < 2; i++) {
        int *t = arm->topology + (ARM_BODIES + i) * FA_TOPO_SIZE;
        double *joint = arm->joints + (ARM_BODIES + i) * FA_JOINT_SIZE;
        double *given = arm->modal + 16 + i * GIVEN;
        t[FA_TOPO_PARENT] = i ? 1 : -1;
        t[FA_TOPO_NODE] = i ? 3 : -1;
        t[FA_TOPO_JOINT] = i ? FA_JOINT_PRISMATIC : FA_JOINT_REVOLUTE;
        t[FA_TOPO_DOF] = 1;
        t[FA_TOPO_INTEGRALS] = 1;
        t[FA_TOPO_DRIVES] = 1 + i;
        joint[FA_AXIS + 1] = 1.0;
        joint[FA_ROTATION] = joint[FA_ROTATION + 4] = joint[FA_ROTATION + 8] = 1.0;
        joint[FA_DAMPING] = 0.01;
        given[FA_GIVEN_MASS] = 0.3;
        given[FA_GIVEN_J0] = given[FA_GIVEN_J0 + 5] = 0.01 * !i;
        given[FA_GIVEN_J0 + 3] = 0.02 * !i;
    }
    memcpy(arm->passive, passive, sizeof passive);
    arm->description = arm->tree.description;
    arm->description.n_bodies = BODIES;
    arm->description.topology = arm->topology;
    arm->description.joints = arm->joints;
    arm->description.modal = arm->modal;
    arm->description.modal_size = 16 + 2 * GIVEN;
    arm->description.n_passive = FORCES;
    arm->description.passive = arm->passive;
}

/* one wrong number in the topology of the first rotor, or in a force */
static void check_refusals(void)
{
    static const int topology[][2] = {{FA_TOPO_DRIVES, 0},
                                      {FA_TOPO_DRIVES, -1},
                                      {FA_TOPO_DRIVES, ARM_BODIES + 1},
                                      {FA_TOPO_DRIVES, BODIES},
                                      {FA_TOPO_DRIVES, 4}, /* a ball */
                                      {FA_TOPO_DOF, 0}};
    static const int forces[][2] = {{FA_PASSIVE_KIND, FA_PASSIVE_KINDS},
                                    {FA_PASSIVE_KIND, -1},
                                    {FA_PASSIVE_BODY, BODIES},
                                    {FA_PASSIVE_BODY, 3}, /* a ball */
                                    {FA_PASSIVE_BODY, -1},
                                    {FA_PASSIVE_ROTOR, 1}};
    motor_arm arm;

    fill(&arm);
    CHECK(test_status(&arm.description) == FA_OK);
    for (size_t i = 0; i < sizeof topology / sizeof *topology; i++) {
        fill(&arm);
        arm.topology[ARM_BODIES * FA_TOPO_SIZE + topology[i][0]] = topology[i][1];
        CHECK(test_status(&arm.description) != FA_OK);
    }
    for (size_t i = 0; i < sizeof forces / sizeof *forces; i++) {
        fill(&arm);
        arm.passive[forces[i][0]] = forces[i][1];
        CHECK(test_status(&arm.description) == FA_BAD_JOINT);
    }
    fill(&arm);
    arm.passive[FA_PASSIVE_PARAMETERS] = (double)NAN;
    CHECK(test_status(&arm.description) == FA_NOT_FINITE);
    fill(&arm);
    arm.description.n_passive = -1;
    CHECK(test_status(&arm.description) == FA_BAD_SIZE);
}

static double *filled(int size, double phase)
{
    double *x = malloc((size_t)(COUNT * size) * sizeof *x);
    for (int i = 0; i < COUNT * size; i++) {
        x[i] = 0.6 * sin(phase + 1.7 * i);
    }
    return x;
}

/* forces of actuators are those on all coordinates, with motors for their joints */
static void check_kernels(const fa_model *model)
{
    const int all[4] = {NQ, NV, NV, NV}, few[4] = {NQ, NV, ARM_NU, NV};
    double *q = filled(NQ, 0.0), *qd = filled(NV, 1.0), *qdd = filled(NV, 2.0);
    double *u = filled(ARM_NU, 3.0), *tau = calloc((size_t)(COUNT * NV), sizeof *tau);
    double *a = filled(NV, 0.0), *b = filled(NV, 0.0);
    double *const given[4] = {q, qd, tau, a}, *const acting[4] = {q, qd, u, b};
    double *const inverse[4] = {q, qd, qdd, tau};

    for (int i = 0; i < COUNT; i++) {
        memcpy(tau + i * NV, u + i * ARM_NU, ARM_NU * sizeof *u);
        tau[i * NV + ARM_NU] = tau[i * NV];
        tau[i * NV + ARM_NU + 1] = tau[i * NV + 1];
        tau[i * NV] = tau[i * NV + 1] = 0.0;
    }
    const fa_kernel ways[] = {FA_FORWARD_DYNAMICS, FA_FORWARD_BASIC,
                              FA_FORWARD_COMPOSITE};
    for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
        CHECK(test_batch(model, ways[way], COUNT, NULL, given, all).count == 0);
        CHECK(test_batch(model, ways[way], COUNT, NULL, acting, few).count == 0);
        CHECK(memcmp(a, b, COUNT * NV * sizeof *a) == 0);
    }
    CHECK(test_batch(model, FA_INVERSE_DYNAMICS, COUNT, NULL, inverse, all).count == 0);
    CHECK(test_batch(model, FA_FORWARD_DYNAMICS, COUNT, NULL, given, all).count == 0);
    for (int i = 0; i < COUNT * NV; i++) {
        CHECK_CLOSE(a[i], qdd[i], 1e-10);
    }
    const int factors[2] = {NQ, 2 * NV * NV}, blocks[2] = {NQ, NV * NV};
    double *wide = malloc(COUNT * 2 * NV * NV * sizeof *wide);
    double *const from_q[2] = {q, wide};
    CHECK(test_batch(model, FA_INNOVATIONS, COUNT, NULL, from_q, factors).count == 0);
    CHECK(test_batch(model, FA_INVERSE_BLOCKS, COUNT, NULL, from_q, blocks).count == 0);
    const int jacobians[2] = {NQ, 6 * ARM_LINKS * NV};
    wide = realloc(wide, COUNT * 6 * ARM_LINKS * NV * sizeof *wide);
    double *const of_links[2] = {q, wide};
    CHECK(
        test_batch(model, FA_LINK_JACOBIANS, COUNT, NULL, of_links, jacobians).count ==
        0);
    free(q);
    free(qd);
    free(qdd);
    free(u);
    free(tau);
    free(a);
    free(b);
    free(wide);
}

/* the energy of a batch at one sample, and the power that is lost */
static void look(const fa_model *model, const double *q, const double *qd,
                 double *energy, double *power)
{
    const int kinetic[3] = {NQ, NV, 1}, potential[2] = {NQ, 1};
    double *place = malloc(NQ * sizeof *place), *rate = malloc(NV * sizeof *rate);
    double T, V;
    double *const moving[3] = {place, rate, &T}, *const still[2] = {place, &V};
    double *const losing[3] = {place, rate, power};

    memcpy(place, q, NQ * sizeof *place);
    memcpy(rate, qd, NV * sizeof *rate);
    test_batch(model, FA_KINETIC_ENERGY, 1, NULL, moving, kinetic);
    test_batch(model, FA_POTENTIAL_ENERGY, 1, NULL, still, potential);
    test_batch(model, FA_DISSIPATED_POWER, 1, NULL, losing, kinetic);
    *energy = T + V;
    free(place);
    free(rate);
}

static void check_rollout(const fa_model *model, fa_method method)
{
    static const double t[SAMPLES] = {0.0, 0.0002, 0.0004, 0.0006, 0.0008};
    double *q = calloc(COUNT * SAMPLES * NQ, sizeof *q);
    double *qd = calloc(COUNT * SAMPLES * NV, sizeof *qd);
    double *tau = calloc(SAMPLES * ARM_NU, sizeof *tau);
    double *out = calloc(COUNT * SAMPLES * ARM_NU, sizeof *out);
    double *q0 = filled(NQ, 0.4), *qd0 = filled(NV, 0.9);

    for (int i = 0; i < COUNT; i++) {
        memcpy(q + i * SAMPLES * NQ, q0 + i * NQ, NQ * sizeof *q);
        memcpy(qd + i * SAMPLES * NV, qd0 + i * NV, NV * sizeof *qd);
    }
    for (int i = 0; i < SAMPLES * ARM_NU; i++) {
        tau[i] = i % ARM_NU < 2 ? 0.1 : 0.0;
    }
    const fa_rollout run = {.method = method,
                            .count = COUNT,
                            .n_samples = SAMPLES,
                            .substeps = 2,
                            .n_tau = ARM_NU,
                            .t = t,
                            .kind = FA_TORQUE_LINEAR,
                            .tau = tau,
                            .q = q,
                            .qd = qd,
                            .tau_out = out};
    CHECK(test_rollout(model, &run) == 0);
    for (int i = 0; i < COUNT; i++) {
        double energy[SAMPLES], change[SAMPLES];
        for (int k = 0; k < SAMPLES; k++) {
            const double *v = qd + (i * SAMPLES + k) * NV;
            CHECK(memcmp(out + (i * SAMPLES + k) * ARM_NU, tau + k * ARM_NU,
                         ARM_NU * sizeof *tau) == 0);
            look(model, q + (i * SAMPLES + k) * NQ, v, energy + k, change + k);
            change[k] = 0.1 * (v[ARM_NU] + v[ARM_NU + 1]) - change[k];
        }
        const double work_done = (t[SAMPLES - 1] / 90.0) *
                                 (7.0 * (change[0] + change[4]) +
                                  32.0 * (change[1] + change[3]) + 12.0 * change[2]);
        CHECK_CLOSE(energy[SAMPLES - 1] - energy[0], work_done,
                    method == FA_RK4 ? 1e-7 : 1e-5);
    }
    free(q);
    free(qd);
    free(tau);
    free(out);
    free(q0);
    free(qd0);
}

int main(void)
{
    fa_model *model, *linear;
    motor_arm arm;

    check_refusals();
    fill(&arm);
    if (!test_kernels() || fa_model_build(&arm.description, &model) != FA_OK) {
        return 1;
    }
    CHECK(model->nv == NV && model->nq == NQ && model->n_links == ARM_LINKS);
    CHECK(model->n_motors == 2 && model->n_actuators == ARM_NU);
    CHECK(model->nu == ARM_NU + 2);
    check_kernels(model);
    check_rollout(model, FA_RK4);
    check_rollout(model, FA_ROS34PW2);
    arm.description.fidelity = FA_LINEAR;
    if (fa_model_build(&arm.description, &linear) != FA_OK) {
        return 1;
    }
    const int sizes[4] = {NQ, NV, ARM_NU, NV};
    double *q = filled(NQ, 0.0), *qd = filled(NV, 1.0), *u = filled(ARM_NU, 2.0);
    double *qdd = filled(NV, 0.0);
    double *const arrays[4] = {q, qd, u, qdd};
    CHECK(test_batch(linear, FA_FORWARD_DYNAMICS, COUNT, NULL, arrays, sizes).count ==
          0);
    free(q);
    free(qd);
    free(u);
    free(qdd);
    fa_model_free(model);
    fa_model_free(linear);
    return check_report("motors");
}
