/*
 * real_time_loop.c -- forward dynamics of an arm in a loop of 1 kHz
 *
 *     real_time_loop [steps] [period in microseconds, 0: as fast as it goes]
 *
 * An arm that Python wrote as a header (flexarm.export_c) is shaken by its actuators, or
 * moved by a control law (flexarm.control.export_c) where WITH_LAW is defined, from the
 * neutral positions. Each step computes its accelerations and moves it by semi-implicit Euler over 1 ms,
 *
 *     qd += h qdd(q, qd, tau),  q += h qd,
 *
 * and is timed; then the median, the 99.9th percentile and the worst time of a step are
 * printed, by the clock and by what the processor spent on it, and also those of the law
 * alone. Nothing is allocated once
 * the loop has begun, and the pages are locked where the system lets it (ulimit -l).
 * Links the objects of the library alone: no Python, no NumPy, no LAPACK. To build it,
 * see the Makefile beside.
 */
#define _POSIX_C_SOURCE 200809L

#include "library/single.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "arm.h" /* arm, its sizes and ARM_Q, by export_c */
#ifdef WITH_LAW
#include "law.h" /* law, by control.export_c */
#endif

static const double STEP = 1e-3; /* s, of the arm */
#ifndef WITH_LAW
static const double TORQUE = 0.1; /* N m, at 1 Hz */
static const double PI = 3.141592653589793;
#endif

enum { STEPS = 1000, PERIOD = 1000, ALIGN = 64 };

/* a matrix of a pose has its position in the last column */
enum { POSE_X = 3, POSE_Y = 7, POSE_Z = 11 };

typedef struct {
    double q[ARM_NQ], qd[ARM_NV], qdd[ARM_NV], scratch[ARM_NV];
    double tau[ARM_N_ACTUATORS];
#ifdef WITH_LAW
    double y[LAW_N_OUTPUTS];
    law_state law;
    int endings[FA_PREDICTIVE_UNFINISHED + 1]; /* samples by what law_step returned */
#endif
} arm_state;

/* forces of the actuators */
static void actuate(arm_state *s, double t)
{
#ifdef WITH_LAW
    (void)t;
    law_measure(s->q, s->qd, s->y);
    s->endings[law_step(&s->law, s->y, s->tau)]++;
#else
    for (int i = 0; i < ARM_N_ACTUATORS; i++) {
        s->tau[i] = TORQUE * sin(2 * PI * t);
    }
#endif
}

/* one step; nonzero if the arm has left the numbers */
static int step_arm(const fa_single *single, arm_state *s)
{
    int bad = fa_forward_dynamics(single, s->q, s->qd, s->tau, ARM_N_ACTUATORS, s->qdd);

    for (int i = 0; i < ARM_NV; i++) {
        s->qd[i] += STEP * s->qdd[i];
    }
    bad += fa_move(single, STEP, s->q, s->qd, s->scratch);
    return bad;
}

/* a point in time, of the world and of this thread alone */
typedef struct {
    struct timespec wall, own;
} instant;

static instant look(void)
{
    instant now;
    clock_gettime(CLOCK_MONOTONIC, &now.wall);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now.own);
    return now;
}

static double microseconds(const struct timespec *from, const struct timespec *to)
{
    return 1e6 * (double)(to->tv_sec - from->tv_sec) +
           1e-3 * (double)(to->tv_nsec - from->tv_nsec);
}

/* sleeps until the next period begins; `next` is when this one began */
static void wait_for_period(struct timespec *next, long period)
{
    next->tv_nsec += 1000 * period;
    next->tv_sec += next->tv_nsec / 1000000000;
    next->tv_nsec %= 1000000000;
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, next, NULL)) {
    }
}

/*
 * The loop.
 *   wall, own  [steps] receive the times of the steps in microseconds, with what else the
 *              processor did meanwhile and without
 *   force      [steps] those of the forces alone, by the clock
 * Returns nonzero if a result was not finite.
 */
static int run_loop(const fa_single *single, arm_state *state, long steps, long period,
                    double *wall, double *own, double *force)
{
    struct timespec next;
    int bad = 0;

    clock_gettime(CLOCK_MONOTONIC, &next);
    for (long i = 0; i < steps; i++) {
        if (period > 0) {
            wait_for_period(&next, period);
        }
        const instant begin = look();
        actuate(state, STEP * (double)i);
        const instant actuated = look();
        bad += step_arm(single, state);
        const instant end = look();
        force[i] = microseconds(&begin.wall, &actuated.wall);
        wall[i] = microseconds(&begin.wall, &end.wall);
        own[i] = microseconds(&begin.own, &end.own);
    }
    return bad;
}

static int compare_times(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_times(const char *clock, long steps, double *times)
{
    qsort(times, (size_t)steps, sizeof *times, compare_times);
    printf("%s  median %.2f us, 99.9 %% %.2f us, worst %.2f us\n", clock,
           times[steps / 2], times[steps - 1 - steps / 1000], times[steps - 1]);
}

/* pose of the tip where the arm has come to */
static void print_tip(const fa_single *single, const arm_state *state, long steps)
{
    double pose[16];

    fa_node_pose(single, ARM_TIP_NODE, state->q, pose);
    printf("after %g s the tip is at (%.12g, %.12g, %.12g) m\n", STEP * (double)steps,
           pose[POSE_X], pose[POSE_Y], pose[POSE_Z]);
}

int main(int argc, char **argv)
{
    const long steps = argc > 1 ? strtol(argv[1], NULL, 10) : STEPS;
    const long period = argc > 2 ? strtol(argv[2], NULL, 10) : PERIOD;
    fa_model *model = NULL;

    if (steps < 1 || period < 0) {
        fprintf(stderr, "usage: real_time_loop [steps] [period in us, 0: none]\n");
        return 2;
    }
    if (fa_model_build(&arm, &model) != FA_OK) {
        fprintf(stderr, "the arm cannot be built\n");
        return 1;
    }

    /* all memory, before the loop; one array of work for the two kernels of a step */
    const fa_kernels *kernels = fa_kernels_for_few(fa_kernels_best());
    size_t size = 0;
    const fa_kernel needed[] = {FA_FORWARD_DYNAMICS, FA_INTEGRATE, FA_NODE_POSE};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        const size_t one = fa_single_size(kernels, model, needed[i]);
        size = one > size ? one : size;
    }
    const fa_single single = {model, kernels, aligned_alloc(ALIGN, size)};
    double *times = calloc(3 * (size_t)steps, sizeof *times);
    if (!single.work || !times) {
        fprintf(stderr, "no memory\n");
        return 1;
    }
    static arm_state state = {.q = ARM_Q};
#ifdef WITH_LAW
    law_start(&state.law);
#endif
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) {
        printf("pages are not locked: raise `ulimit -l`\n");
    }

    const int bad = run_loop(&single, &state, steps, period, times, times + steps,
                             times + 2 * steps);
    printf("%ld steps of forward dynamics, %d coordinates, kernels for %s\n", steps,
           ARM_NV, kernels->name);
    print_times("time of a step    ", steps, times);
    print_times("on the processor  ", steps, times + steps);
#ifdef WITH_LAW
    print_times("law alone         ", steps, times + 2 * steps);
    printf("samples of the law: %d solved, %d softened, %d relaxed, %d unfinished\n",
           state.endings[0], state.endings[1], state.endings[2], state.endings[3]);
#endif
    print_tip(&single, &state, steps);
    free(times);
    free(single.work);
    fa_model_free(model);
    return bad != 0;
}
