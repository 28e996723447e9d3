/*
 * operations.c -- counts the multiplications, additions and divisions of the kernels
 *
 *   operations N n [N n ...]
 *
 * For uniform chains of N bodies with n modes each, on revolute joints, prints lines
 *   kernel N n multiplications additions divisions
 * of one state. tests/operation_counts.py compiles this file for two lanes to assembly,
 * puts an increment of one of the counters below before every arithmetic instruction on
 * doubles, and so counts what runs: an instruction on all lanes is one operation of
 * each state.
 */
#include <stdio.h>
#include <stdlib.h>

#define FA_LANES 2
#define FA_NAME(name) name##_counted
#pragma GCC diagnostic ignored "-Wunused-function" /* kernels that are not counted */
#pragma GCC diagnostic ignored "-Wunused-variable" /* what only left-out steps read */
#include "kernels/bodies/straight.h"
/* the bodies of these chains are not straight: kernels of all sizes of those that are
 * would take five times as long to compile */
#undef FA_SWITCH_STRAIGHT
#define FA_SWITCH_STRAIGHT(...) abort();
#undef FA_SWITCH_SHAPE
#define FA_SWITCH_SHAPE FA_SWITCH_STRAIGHT
#include "kernels/dynamics/forward_dynamics.c"
#include "kernels/dynamics/inverse_dynamics.c"
#include "kernels/dynamics/mass_matrix.c"
#include "model/model.h"

enum { MULTIPLY, ADD, DIVIDE, COUNTERS };

/* written by the added instructions, which keep a register in the last one */
extern volatile long operations_count[COUNTERS], operations_saved;
volatile long operations_count[COUNTERS], operations_saved;

static void forward(const fa_model *model, const fa_call *call)
{
    fd_run(model, call->in[0], call->in[1], call->in[2], call->work, call->out);
}

typedef struct {
    const char *name;
    void (*run)(const fa_model *, const fa_call *);
    size_t (*work_size)(const fa_model *);
} operations_row;

static const operations_row rows[] = {
    {"articulated", forward, fd_work_size},
    {"bias", id_bias_forces, id_work},
    {"mass", mm_mass_matrix, mm_work_size},
};

/* zeros; ends the program if there is no memory */
static void *zeros(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory) {
        perror("operations");
        exit(1);
    }
    return memory;
}

/* the same body N times, each on the last node of the one before, bent and twisted by
 * n modes without a symmetry; all masses sit on their nodes, as those of beams do */
static fa_model *chain(int N, int n)
{
    const int n_nodes = n + 2;
    const size_t size = (size_t)FA_NODE_SIZE(n), per_body = (size_t)n_nodes * size;
    int *topology = zeros((size_t)N * FA_TOPO_SIZE, sizeof *topology);
    double *joints = zeros((size_t)N * FA_JOINT_SIZE, sizeof *joints);
    double *nodes = zeros((size_t)N * per_body, sizeof *nodes);
    double *modal = zeros((size_t)(2 * N * n * n) + 1, sizeof *modal);
    const double gravity[3] = {0.0, -9.81, 0.0};
    fa_model *model = NULL;

    for (int k = 0; k < N; k++) {
        const int row[] = {
            k - 1, k ? k * n_nodes - 1 : -1, FA_JOINT_REVOLUTE, n, n_nodes, 1};
        double *joint = joints + k * FA_JOINT_SIZE;
        memcpy(topology + k * FA_TOPO_SIZE, row, sizeof row);
        joint[FA_AXIS + 2] = 1.0;
        joint[FA_ROTATION] = joint[FA_ROTATION + 4] = joint[FA_ROTATION + 8] = 1.0;
        for (int j = 0; j < n_nodes; j++) {
            double *node = nodes + (size_t)k * per_body + (size_t)j * size;
            node[FA_NODE_MASS] = 1.0;
            node[FA_NODE_INERTIA] = node[FA_NODE_INERTIA + 3] = 0.01;
            node[FA_NODE_INERTIA + 5] = 0.01;
            node[FA_NODE_POSITION] = (double)j / n_nodes;
            for (int i = 0; i < 6 * n; i++) {
                node[FA_NODE_GAMMA + i] = sin(1.0 + i * i + 7.3 * j);
            }
        }
    }
    const fa_description description = {.n_bodies = N,
                                        .topology = topology,
                                        .joints = joints,
                                        .nodes = nodes,
                                        .modal = modal,
                                        .gravity = gravity,
                                        .nodes_size = (size_t)N * per_body,
                                        .modal_size = (size_t)(2 * N * n * n)};
    if (fa_model_build(&description, &model) != FA_OK) {
        fprintf(stderr, "operations: no chain of %d bodies with %d modes\n", N, n);
        exit(1);
    }
    free(topology);
    free(joints);
    free(nodes);
    free(modal);
    return model;
}

static void count(const fa_model *model, const operations_row *row, int N, int n)
{
    const size_t nv = (size_t)model->nv, work = row->work_size(model);
    fa_real *memory = aligned_alloc(64, 64 * (nv * nv + 3 * nv + work));
    fa_real *state = memory + nv * nv;
    long before[COUNTERS], spent[COUNTERS];

    if (!memory) {
        perror("operations");
        exit(1);
    }
    for (size_t i = 0; i < 3 * nv; i++) {
        state[i] = fa_splat(0.001 * sin((double)i)); /* no joint or node turns far */
    }
    const fa_call call = {.in = {state, state + nv, state + 2 * nv},
                          .out = memory,
                          .work = state + 3 * nv};
    for (int i = 0; i < COUNTERS; i++) {
        before[i] = operations_count[i];
    }
    row->run(model, &call);
    for (int i = 0; i < COUNTERS; i++) {
        spent[i] = operations_count[i] - before[i];
    }
    printf("%s %d %d %ld %ld %ld\n", row->name, N, n, spent[MULTIPLY], spent[ADD],
           spent[DIVIDE]);
    free(memory);
}

int main(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        const int N = atoi(argv[i]), n = atoi(argv[i + 1]);
        fa_model *model = chain(N, n);
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
            count(model, rows + k, N, n);
        }
        fa_model_free(model);
    }
    return 0;
}
