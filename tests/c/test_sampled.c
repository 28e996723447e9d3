/* test_sampled.c -- a law at samples: its equations, and the same forces replayed */
#include "arm.h"
#include "check.h"

enum { COUNT = 5, N = 9, NV = 4, NU = 2, P = 4, M = 2 };

typedef struct {
    double q[COUNT][N][NV], qd[COUNT][N][NV], tau[COUNT][N][NU];
    double y[COUNT][N][P], u[COUNT][N][NU], w[COUNT][N][NU], z[COUNT][N][M];
} sampled_run;

static double knots[N], rows[P][2 * NV], A[M][M], B[COUNT][M][P], C[NU][M], D[NU][P];
static double E[M][NU], reference[N][P], feedforward[NU], zero[P];
static const double resolution[P] = {1e-4, 0.0, 1e-3, 0.0}, step[NU] = {0.0, 1e-2};
static const double limits[2][NU] = {{-0.5, -0.4}, {0.6, 0.3}};
static sampled_run run_of, again;

static void fill(void)
{
    double *const arrays[] = {&A[0][0], &B[0][0][0], &C[0][0], &D[0][0], &E[0][0]};
    const int sizes[] = {M * M, COUNT * M * P, NU * M, NU * P, M * NU};

    for (int k = 0; k < N; k++) {
        knots[k] = 0.002 * k;
        for (int i = 0; i < P; i++) {
            reference[k][i] = 0.1 * sin(k + i);
        }
    }
    for (int i = 0; i < P; i++) { /* joints, and their rates */
        rows[i][i < 2 ? i : NV + i - 2] = 1.0;
    }
    for (int a = 0; a < 5; a++) {
        for (int i = 0; i < sizes[a]; i++) {
            arrays[a][i] = 0.4 * sin(3.0 * i + a);
        }
    }
    feedforward[1] = 0.2;
    for (int i = 0; i < COUNT; i++) {
        run_of.q[i][0][0] = again.q[i][0][0] = 0.1 * i;
        for (int k = 0; k < N * P; k++) { /* the noise */
            (&run_of.y[i][0][0])[k] = 0.01 * cos(7.0 * k + i);
        }
    }
}

/* sample k of one trajectory from what was measured and the state of the law */
static void check_sample(int i, int k)
{
    const double *y = run_of.y[i][k], *u = run_of.u[i][k], *w = run_of.w[i][k];
    const double *z = run_of.z[i][k];

    for (int a = 0; a < P; a++) {
        const double *x = a < 2 ? run_of.q[i][k] + a : run_of.qd[i][k] + a - 2;
        double seen = *x + 0.01 * cos(7.0 * (k * P + a) + i);
        if (resolution[a] > 0.0) {
            seen = resolution[a] * rint(seen / resolution[a]);
        }
        CHECK_CLOSE(y[a], seen, 1e-14);
    }
    for (int a = 0; a < NU; a++) {
        double sum = feedforward[a];
        for (int j = 0; j < M; j++) {
            sum += C[a][j] * z[j];
        }
        for (int j = 0; j < P; j++) {
            sum += D[a][j] * (y[j] - reference[k][j]);
        }
        CHECK_CLOSE(u[a], sum, 1e-14);
        sum = step[a] > 0.0 ? step[a] * rint(u[a] / step[a]) : u[a];
        CHECK_CLOSE(w[a], fmin(fmax(sum, limits[0][a]), limits[1][a]), 0.0);
    }
    for (int a = 0; a < M && k + 1 < N; a++) {
        double next = 0.0;
        for (int j = 0; j < M; j++) {
            next += A[a][j] * z[j];
        }
        for (int j = 0; j < P; j++) {
            next += B[i][a][j] * (y[j] - reference[k][j]);
        }
        for (int j = 0; j < NU; j++) {
            next += E[a][j] * (w[j] - u[j]);
        }
        CHECK_CLOSE(run_of.z[i][k + 1][a], next, 1e-14);
    }
}

static void check_law(const fa_model *model, fa_method method, size_t late)
{
    int substeps[N - 1];
    size_t at[N];

    for (size_t k = 0; k < N; k++) {
        at[k] = k;
    }
    for (int k = 0; k + 1 < N; k++) {
        substeps[k] = 2;
    }
    fill();
    const fa_sampled law = {.n_knots = N,
                            .knots = knots,
                            .substeps = substeps,
                            .n_steps = (N - 1) * 2,
                            .n_samples = N,
                            .n_changes = N - late,
                            .samples = at,
                            .changes = at + late,
                            .outputs = at,
                            .n_outputs = P,
                            .n_states = M,
                            .rows.at = &rows[0][0],
                            .A = {&A[0][0], 0},
                            .B = {&B[0][0][0], M * P},
                            .C = {&C[0][0], 0},
                            .D = {&D[0][0], 0},
                            .E = {&E[0][0], 0},
                            .z0 = {zero, 0},
                            .reference = {&reference[0][0], 0},
                            .feedforward = {feedforward, 0},
                            .n_reference = N,
                            .n_feedforward = 1,
                            .held = {zero, 0},
                            .resolution = resolution,
                            .step = step,
                            .limits = &limits[0][0],
                            .y = &run_of.y[0][0][0],
                            .u = &run_of.u[0][0][0],
                            .w = &run_of.w[0][0][0],
                            .z = &run_of.z[0][0][0],
                            .tau = &run_of.tau[0][0][0]};
    fa_rollout run = {.method = method,
                      .spectral_radius = 0.9,
                      .count = COUNT,
                      .n_samples = N,
                      .substeps = 1,
                      .n_tau = NU,
                      .t = knots,
                      .sampled = &law,
                      .q = &run_of.q[0][0][0],
                      .qd = &run_of.qd[0][0][0]};
    CHECK(test_rollout(model, &run) == 0);
    for (int i = 0; i < COUNT; i++) {
        for (int k = 0; k < N; k++) {
            check_sample(i, k);
            for (int j = 0; j < NU; j++) {
                const int sent = k - (int)late;
                CHECK(run_of.tau[i][k][j] == (sent < 0 ? 0.0 : run_of.w[i][sent][j]));
            }
        }
    }
    /* the same forces, known before */
    run.sampled = NULL;
    run.substeps = 2;
    run.kind = FA_TORQUE_HOLD;
    run.tau = &run_of.tau[0][0][0];
    run.tau_stride = N * NU;
    run.q = &again.q[0][0][0];
    run.qd = &again.qd[0][0][0];
    CHECK(test_rollout(model, &run) == 0);
    for (int i = 0; i < COUNT * N * NV; i++) {
        const double tol = method <= FA_ROS34PW2 ? 0.0 : 1e-6;
        CHECK_CLOSE((&run_of.q[0][0][0])[i], (&again.q[0][0][0])[i], tol);
    }
}

int main(void)
{
    test_arm arm;
    fa_model *model;

    test_arm_fill(&arm);
    arm.description.n_bodies = 2; /* revolute joints, two modes */
    arm.description.nodes_size = 2 * FA_NODE_SIZE(0) + 2 * FA_NODE_SIZE(2);
    arm.description.modal_size = 8;
    if (!test_kernels() || fa_model_build(&arm.description, &model) != FA_OK) {
        return 1;
    }
    CHECK(model->nv == NV && model->n_actuators == NU);
    check_law(model, FA_RK4, 0);
    check_law(model, FA_ROS34PW2, 2);
    check_law(model, FA_NEWMARK, 1);
    check_law(model, FA_GENERALIZED_ALPHA, 0);
    fa_model_free(model);
    return check_report("sampled");
}
