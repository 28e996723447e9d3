/*
 * measure.c -- runs the kernels on given arms, for callgrind or beside the clock
 *
 *   measure ISA count <arms            each job once, in measure_run(); prints its name
 *   measure ISA time ROUNDS <arms      each job for ROUNDS turns, beside the peak loops
 *   measure ISA bandwidth              loads and stores of memory near and far
 *
 * tests/bench/measuring.py writes the arms and builds this program from the objects of
 * the package. The input is words and numbers:
 *
 *   arm NAME  n_bodies nodes_size modal_size n_loops n_couplings couplings_size
 *   n_passive n_followers fidelity stabilization, then the arrays of fa_description
 *   kernel NAME number has_index count n_operands sizes...
 *   rollout NAME method steps count
 *   ik NAME evaluations count
 *   maps count
 *
 * Jobs belong to the arm before them. The inputs are bounded numbers from sines: no
 * branch of a kernel looks at them, but that all results have to be finite.
 */
#define _POSIX_C_SOURCE 199309L
#include "peak.h"

#include "library/tables.h"
#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef enum { JOB_KERNEL, JOB_MAP, JOB_ROLLOUT, JOB_IK } job_kind;

typedef struct {
    job_kind kind;
    char name[96];
    size_t count; /* states, or steps of all trajectories, or evaluations */
    const fa_model *model;
    int number; /* of the kernel, the map, the method */
    int n, sizes[FA_MAX_OPERANDS];
    double *arrays[FA_MAX_OPERANDS]; /* inputs, then the output */
    ptrdiff_t *offsets[FA_MAX_OPERANDS];
    fa_operand operands[FA_MAX_OPERANDS];
    int64_t *index;
    fa_rollout rollout;
    fa_ik ik;
    double *start; /* of inverse kinematics, which overwrites it */
    void *work;
} job;

static const fa_kernels *kernels;

static void stop(const char *text)
{
    fprintf(stderr, "measure: %s\n", text);
    exit(1);
}

static void *zeros(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory) {
        stop("out of memory");
    }
    return memory;
}

static void *aligned(size_t bytes)
{
    void *memory = aligned_alloc(64, (bytes + 127) / 64 * 64);
    if (!memory) {
        stop("out of memory");
    }
    return memory;
}

static int read_int(void)
{
    int x;
    if (scanf("%d", &x) != 1) {
        stop("a whole number is missing in the input");
    }
    return x;
}

static double read_double(void)
{
    double x;
    if (scanf("%lf", &x) != 1) {
        stop("a number is missing in the input");
    }
    return x;
}

static double *read_doubles(size_t count)
{
    double *x = zeros(count, sizeof *x);
    for (size_t i = 0; i < count; i++) {
        x[i] = read_double();
    }
    return x;
}

static int *read_ints(size_t count)
{
    int *x = zeros(count, sizeof *x);
    for (size_t i = 0; i < count; i++) {
        x[i] = read_int();
    }
    return x;
}

static const fa_model *read_arm(void)
{
    fa_description d = {0};
    fa_model *model = NULL;

    d.n_bodies = read_int();
    d.nodes_size = (size_t)read_int();
    d.modal_size = (size_t)read_int();
    d.n_loops = read_int();
    d.n_couplings = read_int();
    d.couplings_size = (size_t)read_int();
    d.n_passive = read_int();
    d.n_followers = read_int();
    d.fidelity = (fa_fidelity)read_int();
    d.stabilization = read_double();
    int *topology = read_ints((size_t)d.n_bodies * FA_TOPO_SIZE);
    double *joints = read_doubles((size_t)d.n_bodies * FA_JOINT_SIZE);
    double *nodes = read_doubles(d.nodes_size), *modal = read_doubles(d.modal_size);
    double *gravity = read_doubles(3);
    int *loops = read_ints((size_t)d.n_loops * FA_LOOP_SIZE);
    double *frames = read_doubles((size_t)d.n_loops * 2 * FA_FRAME_SIZE);
    double *couplings = read_doubles(d.couplings_size);
    double *passive = read_doubles((size_t)d.n_passive * FA_PASSIVE_SIZE);
    double *followers = read_doubles((size_t)d.n_followers * FA_FOLLOWER_SIZE);
    d.topology = topology;
    d.joints = joints;
    d.nodes = nodes;
    d.modal = modal;
    d.gravity = gravity;
    d.loops = loops;
    d.frames = frames;
    d.couplings = couplings;
    d.passive = passive;
    d.followers = followers;
    if (fa_model_build(&d, &model) != FA_OK) {
        stop("an arm cannot be built");
    }
    free(topology);
    free(joints);
    free(nodes);
    free(modal);
    free(gravity);
    free(loops);
    free(frames);
    free(couplings);
    free(passive);
    free(followers);
    return model;
}

/* numbers between -1 and 1, no two columns alike */
static void fill(double *x, size_t count, int size, int phase)
{
    for (size_t i = 0; i < count; i++) {
        for (int e = 0; e < size; e++) {
            x[i * (size_t)size + (size_t)e] = sin(1.0 + 0.37 * phase + 1.7 * (double)i +
                                                  2.3 * e + 0.11 * (double)i * e);
        }
    }
}

/* positions: joints turn as they like, links bend by some degrees */
static void fill_positions(const fa_model *model, double *q, size_t count)
{
    fill(q, count, model->nq, 0);
    for (size_t i = 0; i < count; i++) {
        for (int e = model->nq - model->n_modes; e < model->nq; e++) {
            q[i * (size_t)model->nq + (size_t)e] *= 3e-4;
        }
    }
}

/* an operand of a map: a rotation, pose or pair of either (zero for a hat) where its size
 * is that of one, the numbers of fill() elsewhere */
static void fill_map(double *x, size_t count, int size, int is_hat)
{
    const int side = size % 9 == 0 ? 3 : 4;

    fill(x, count, size, 1);
    if (size % 9 != 0 && size % 16 != 0) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        double *matrix = x + i * (size_t)size;
        memset(matrix, 0, (size_t)size * sizeof *matrix);
        for (int e = 0; e < side && !is_hat; e++) {
            matrix[e * (side + 1)] = 1.0;
        }
    }
}

static job *new_job(job_kind kind, const fa_model *model)
{
    job *j = zeros(1, sizeof *j);
    j->kind = kind;
    j->model = model;
    return j;
}

static void bind_operands(job *j)
{
    for (int i = 0; i < j->n; i++) {
        const size_t size = (size_t)j->sizes[i];
        j->arrays[i] = zeros(j->count * size, sizeof(double));
        j->offsets[i] = zeros(size, sizeof(ptrdiff_t));
        for (size_t e = 0; e < size; e++) {
            j->offsets[i][e] = (ptrdiff_t)(e * sizeof(double));
        }
        j->operands[i] =
            (fa_operand){(char *)j->arrays[i], (ptrdiff_t)(size * sizeof(double)),
                         j->sizes[i], j->offsets[i]};
    }
}

/* the last node of the arm, or the pair of it and the first one */
static int64_t node_of(const job *j)
{
    const int64_t last = j->model->n_nodes - 1;
    return fa_kernel_takes_pair((fa_kernel)j->number) ? last * (last + 1) : last;
}

static job *read_kernel(const fa_model *model)
{
    job *j = new_job(JOB_KERNEL, model);

    j->number = read_int();
    const int has_index = read_int();
    j->count = (size_t)read_int();
    j->n = read_int();
    if (j->n != fa_kernel_inputs((fa_kernel)j->number) + 1) {
        stop("a kernel has another number of operands");
    }
    for (int i = 0; i < j->n; i++) {
        j->sizes[i] = read_int();
    }
    bind_operands(j);
    fill_positions(model, j->arrays[0], j->count);
    for (int i = 1; i + 1 < j->n; i++) {
        fill(j->arrays[i], j->count, j->sizes[i], i);
    }
    if (has_index) {
        j->index = zeros(j->count, sizeof *j->index);
        for (size_t i = 0; i < j->count; i++) {
            j->index[i] = node_of(j);
        }
    }
    j->work = aligned(kernels->work_size(model, (fa_kernel)j->number, j->sizes));
    return j;
}

static job *new_map(int map, size_t count)
{
    job *j = new_job(JOB_MAP, NULL);

    j->number = map;
    j->count = count;
    j->n = fa_map_inputs((fa_map)map) + 1;
    for (int i = 0; i < j->n; i++) {
        j->sizes[i] = fa_map_size((fa_map)map, i);
    }
    bind_operands(j);
    const int is_hat = strstr(fa_map_rows[map].name, "vee") != NULL;
    for (int i = 0; i + 1 < j->n; i++) {
        fill_map(j->arrays[i], count, j->sizes[i], is_hat);
    }
    j->work = aligned(kernels->map_work_size((fa_map)map));
    return j;
}

/* free motion with steps so small that Newton's method takes the same number of them */
static job *read_rollout(const fa_model *model)
{
    job *j = new_job(JOB_ROLLOUT, model);
    fa_rollout *run = &j->rollout;

    run->method = (fa_method)read_int();
    const size_t steps = (size_t)read_int(), count = (size_t)read_int();
    run->count = count;
    run->n_samples = 2;
    run->substeps = (int)steps;
    run->n_tau = model->n_actuators;
    run->spectral_radius = 0.9;
    run->rtol = run->atol = 1e3; /* all steps of the method that chooses are max_step */
    run->max_step = 1e-5;
    double *t = zeros(2, sizeof *t);
    t[1] = 1e-5 * (double)steps;
    run->t = t;
    run->kind = FA_TORQUE_ZERO;
    run->q = zeros(count * 2 * (size_t)model->nq, sizeof(double));
    run->qd = zeros(count * 2 * (size_t)model->nv, sizeof(double));
    fill_positions(model, run->q, 2 * count);
    run->report = zeros(count * FA_REPORT_SIZE, sizeof(double));
    j->count = count * steps;
    j->work = aligned(kernels->rollout_work_size(model, run));
    return j;
}

/* targets that are out of reach, so that every one takes all evaluations */
static job *read_ik(const fa_model *model)
{
    job *j = new_job(JOB_IK, model);
    fa_ik *ik = &j->ik;
    const int evaluations = read_int();
    const size_t count = (size_t)read_int(), nq = (size_t)model->nq;
    double *target = zeros(count * 16, sizeof *target);

    for (size_t i = 0; i < count; i++) {
        for (size_t e = 0; e < 4; e++) {
            target[16 * i + 5 * e] = 1.0;
        }
        target[16 * i + 3] = 100.0;
    }
    for (int i = 0; i < 6; i++) {
        ik->weights[i] = 1.0;
    }
    ik->count = count;
    ik->node = model->n_nodes - 1;
    ik->target = target;
    ik->damping = 1e-2;
    ik->max_iterations = evaluations;
    j->start = zeros(count * nq, sizeof(double));
    fill_positions(model, j->start, count);
    ik->q = zeros(count * nq, sizeof(double));
    ik->residual = zeros(count * 6, sizeof(double));
    ik->cost = zeros(count, sizeof(double));
    ik->status = zeros(count, sizeof *ik->status);
    ik->iterations = zeros(count, sizeof *ik->iterations);
    j->count = count * (size_t)evaluations;
    j->work = aligned(kernels->ik_work_size(model, ik));
    return j;
}

/* all that is counted, and timed: callgrind collects inside of this function alone */
void measure_run(job *j);
__attribute__((noinline)) void measure_run(job *j)
{
    fa_failures bad = {0, 0};

    switch (j->kind) {
    case JOB_KERNEL:
        bad = kernels->batch(j->model, (fa_kernel)j->number, j->count,
                             (const char *)j->index, sizeof *j->index, j->operands,
                             j->work);
        break;
    case JOB_MAP:
        bad = kernels->map((fa_map)j->number, j->count, j->operands, j->work);
        break;
    case JOB_ROLLOUT:
        kernels->rollout(j->model, &j->rollout, j->work);
        break;
    case JOB_IK:
        kernels->ik(j->model, &j->ik, j->work);
        break;
    }
    if (bad.count) {
        fprintf(stderr, "measure: %s: results of %zu states are not finite\n", j->name,
                bad.count);
        exit(1);
    }
}

static void prepare(job *j)
{
    if (j->kind == JOB_IK) {
        memcpy(j->ik.q, j->start,
               j->ik.count * (size_t)j->model->nq * sizeof *j->start);
    }
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* seconds of one run: the mean of so many that they take a fifth of a millisecond */
static double time_of(job *j)
{
    double begun = now(), spent;
    int runs = 0;

    do {
        prepare(j);
        measure_run(j);
        runs++;
        spent = now() - begun;
    } while (spent < 2e-4);
    return spent / runs;
}

/* turns of the job and the peak loops one after the other: a line for each turn, ns of
 * a state, then GFlop/s fused and not, GB/s of loads from the nearest cache */
static void time_job(job *j, int rounds)
{
    static char near[PEAK_NEAR] __attribute__((aligned(64)));
    const peak_loops loops = peak_of(kernels->name);

    prepare(j);
    measure_run(j);
    for (int i = 0; i < rounds; i++) {
        double rate[3];
        rate[0] = peak_rate(&loops, PEAK_FUSED, NULL, 0, 1e-4, now);
        const double seconds = time_of(j);
        rate[1] = peak_rate(&loops, PEAK_PLAIN, NULL, 0, 1e-4, now);
        rate[2] = peak_rate(&loops, PEAK_LOADS, near, sizeof near, 1e-4, now);
        printf("%s %zu %.6g %.6g %.6g %.6g\n", j->name, j->count,
               1e9 * seconds / (double)j->count, 1e-9 * rate[0], 1e-9 * rate[1],
               1e-9 * rate[2]);
    }
}

/* a line for each size: bytes, GB/s of loads and of stores, best of some turns */
static void print_bandwidth(void)
{
    const size_t sizes[] = {PEAK_NEAR, 16 * PEAK_NEAR, 8192 * PEAK_NEAR};
    const peak_loops loops = peak_of(kernels->name);
    char *memory = aligned(sizes[2]);

    memset(memory, 1, sizes[2]);
    for (int i = 0; i < 3; i++) {
        double best[2] = {0.0, 0.0};
        for (int turn = 0; turn < 20; turn++) {
            for (int k = 0; k < 2; k++) {
                const double rate = peak_rate(&loops, k ? PEAK_STORES : PEAK_LOADS,
                                              memory, sizes[i], 1e-3, now);
                best[k] = rate > best[k] ? rate : best[k];
            }
        }
        printf("%zu %.4g %.4g\n", sizes[i], 1e-9 * best[0], 1e-9 * best[1]);
    }
    free(memory);
}

static void run_job(job *j, const char *arm, const char *name, int rounds)
{
    snprintf(j->name, sizeof j->name, "%s %s", arm, name);
    prepare(j);
    if (rounds > 0) {
        time_job(j, rounds);
    } else {
        measure_run(j);
        printf("%s %zu\n", j->name, j->count);
    }
    fflush(stdout);
    for (int i = 0; i < j->n; i++) {
        free(j->arrays[i]);
        free(j->offsets[i]);
    }
    free(j->index);
    free(j->work);
    free(j);
}

int main(int argc, char **argv)
{
    const fa_model *model = NULL;
    char word[32], arm[48] = "maps", name[48];

    kernels = argc > 2 ? fa_kernels_named(argv[1]) : NULL;
    if (!kernels) {
        stop("expected an instruction set of this machine, and count, time or "
             "bandwidth");
    }
    if (strcmp(argv[2], "bandwidth") == 0) {
        print_bandwidth();
        return 0;
    }
    const int rounds = argc > 3 ? atoi(argv[3]) : 0;
    while (scanf("%31s", word) == 1) {
        if (strcmp(word, "maps") == 0) {
            const size_t count = (size_t)read_int();
            for (int map = 0; map < FA_N_MAPS; map++) {
                snprintf(name, sizeof name, "%s.%s", fa_map_rows[map].module,
                         fa_map_rows[map].name);
                run_job(new_map(map, count), "maps", name, rounds);
            }
            continue;
        }
        if (scanf("%47s", name) != 1) {
            stop("a name is missing in the input");
        }
        if (strcmp(word, "arm") == 0) {
            snprintf(arm, sizeof arm, "%s", name);
            model = read_arm();
        } else if (strcmp(word, "kernel") == 0) {
            run_job(read_kernel(model), arm, name, rounds);
        } else if (strcmp(word, "rollout") == 0) {
            run_job(read_rollout(model), arm, name, rounds);
        } else if (strcmp(word, "ik") == 0) {
            run_job(read_ik(model), arm, name, rounds);
        } else {
            stop("the input has an unknown word");
        }
    }
    return 0;
}
