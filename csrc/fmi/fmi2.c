/*
 * fmi2.c -- an arm as an FMU of FMI 2.0, for co-simulation and model exchange
 *
 * One shared library serves all arms: an instance reads its arm from resources/arm.bin,
 * which flexarm.interop.export_fmu writes beside modelDescription.xml:
 *
 *     char   magic[8], guid[40]            padded by zeros
 *     double header[HEADER_SIZE]           sizes, see below
 *     double topology, joints, nodes, modal, loops, frames, couplings, passive,
 *     followers
 *                                          as in model/description.h
 *     double start[n_values]               values before the initialization
 *     double rows[n_outputs][2 nv]         of the outputs: they multiply q and qd
 *
 * A value reference is the place of a variable in the array of values, whose groups
 * stand below. Inputs are held over a communication step of co-simulation. Instances share
 * nothing but constants, so that each may run in a thread of its own.
 *
 * Checked by  tests/interop/test_fmu.py.
 */
#include "fmi/fmi2.h"

#include "calls/kernels.h"
#include "calls/time_loop.h"
#include "library/single.h"
#include "library/tables.h"
#include "model/description.h"
#include "model/kinds.h"
#include "model/layout.h"
#include "model/model.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char MAGIC[8] = "FLEXARM1";

enum { GUID_SIZE = 40, ALIGN = 64, POSE_SIZE = 16, MESSAGE_SIZE = 512 };
/* steps of one communication step at most */
enum { MAX_STEP_COUNT = 1000000000 };

enum {
    HEADER_BODIES,
    HEADER_NODES, /* doubles of the nodes, and so on */
    HEADER_MODAL,
    HEADER_LOOPS,
    HEADER_COUPLINGS,
    HEADER_COUPLINGS_SIZE,
    HEADER_PASSIVE,
    HEADER_FOLLOWERS,
    HEADER_FIDELITY,
    HEADER_STABILIZATION,
    HEADER_METHOD,
    HEADER_TIP,
    HEADER_OUTPUTS,
    HEADER_POSITIONS,
    HEADER_VELOCITIES,
    HEADER_ACTUATORS,
    HEADER_SIZE
};

/* groups of values, in their order */
typedef enum {
    TIME,
    MAX_STEP, /* s, as in flexarm.simulate */
    RTOL,
    ATOL,
    GRAVITY, /* [3] m/s^2 */
    TAU,     /* [nu] N m or N, the inputs */
    Q,       /* [nq] */
    QD,      /* [nv] */
    QDD,     /* [nv] this and what follows comes from the state */
    TIP,     /* [3] m */
    OUTPUTS, /* [n_outputs] */
    N_GROUPS
} group;

typedef enum { BEGUN, STARTING, STEPPING, EVENTS, CONTINUOUS, ENDED, FAILED } mode;

/* bits of modes */
#define IN(m) (1u << (m))
#define RUNNING (IN(STEPPING) | IN(EVENTS) | IN(CONTINUOUS))

/* what a state of the FMU is */
typedef struct {
    size_t n_values;
    mode mode;
} head;

typedef struct {
    fmi2CallbackFunctions functions;
    char *name;
    fmi2Type type;
    mode mode;
    /* the file, and what it says */
    double *data;
    int *topology, *loops;
    fa_description arm;
    const double *start, *rows;
    fa_method method;
    int tip;
    size_t nq, nv, nu, n_outputs;
    /* the arm with its gravity of the moment */
    fa_model *model;
    double gravity[3];
    fa_single single;
    void *loop_work;
    /* values, and how far they are known */
    size_t at[N_GROUPS + 1];
    double *values;
    int is_fresh;   /* whether the values from QDD on belong to the state */
    double *motion; /* [2][nq], [2][nv], [2][nu] of a step */
} fmu;

static fmi2Status fail(const fmu *f, fmi2Status status, const char *format, ...)
{
    char text[MESSAGE_SIZE];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (f->functions.logger) {
        f->functions.logger(
            f->functions.componentEnvironment, f->name, status,
            status == fmi2Discard ? "logStatusDiscard" : "logStatusError", "%s", text);
    }
    return status;
}

/* the instance, if a function may be called now */
static fmu *called(fmi2Component c, unsigned modes, const char *function)
{
    fmu *f = c;

    if (f && !(IN(f->mode) & modes)) {
        static const char *const names[] = {
            "instantiated",       "in initialization", "stepping",      "in event mode",
            "in continuous time", "terminated",        "after an error"};
        fail(f, fmi2Error, "%s is called while the FMU is %s", function,
             names[f->mode]);
        return NULL;
    }
    return f;
}

/* ---- the file ---- */

static int digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* path of arm.bin at a URI of the resources, "file:///..." or a path; to be freed */
static char *path_of(const char *uri)
{
    static const char end[] = "/arm.bin";
    char *path = malloc(strlen(uri) + sizeof end), *to = path;

    if (!path) {
        return NULL;
    }
    if (strncmp(uri, "file:", 5) == 0) {
        uri += 5;
        if (strncmp(uri, "//", 2) == 0) {
            uri += 2;
            uri += strcspn(uri, "/"); /* a host */
        }
    }
    for (; *uri; uri++) {
        const int high = *uri == '%' ? digit(uri[1]) : -1;
        const int low = high >= 0 ? digit(uri[2]) : -1;
        *to++ = low >= 0 ? (char)(16 * high + low) : *uri;
        uri += low >= 0 ? 2 : 0;
    }
    while (to > path && to[-1] == '/') {
        to--;
    }
    memcpy(to, end, sizeof end);
    return path;
}

/* doubles after the magic and the GUID, `n` of them; NULL with a message */
static double *read_file(const fmu *f, const char *path, const char *guid, size_t *n)
{
    char magic[sizeof MAGIC], own[GUID_SIZE];
    double *data = NULL;
    long size = -1;

    FILE *file = fopen(path, "rb");
    if (!file) {
        fail(f, fmi2Error, "%s cannot be opened", path);
        return NULL;
    }
    if (fseek(file, 0, SEEK_END) == 0) {
        size = ftell(file);
    }
    size -= (long)(sizeof MAGIC + GUID_SIZE);
    rewind(file);
    if (size < (long)(HEADER_SIZE * sizeof *data) || size % (long)sizeof *data ||
        fread(magic, sizeof magic, 1, file) != 1 ||
        fread(own, sizeof own, 1, file) != 1 || memcmp(magic, MAGIC, sizeof MAGIC)) {
        fail(f, fmi2Error, "%s is not an arm of this version of flexarm", path);
    } else if (own[GUID_SIZE - 1] || strcmp(own, guid) != 0) {
        fail(f, fmi2Error, "the GUID %.60s is not that of %s", guid, path);
    } else if ((data = malloc((size_t)size)) == NULL ||
               fread(data, (size_t)size, 1, file) != 1) {
        fail(f, fmi2Error, "%s cannot be read", path);
        free(data);
        data = NULL;
    }
    fclose(file);
    *n = (size_t)size / sizeof *data;
    return data;
}

/* the next `n` doubles, or NULL where there are fewer */
static const double *take(const double **from, size_t *left, size_t n)
{
    const double *x = *from;

    if (n > *left) {
        *left = 0;
        *from = NULL;
        return NULL;
    }
    *from += n;
    *left -= n;
    return x;
}

/* the same as whole numbers; to be freed */
static int *take_whole(const double **from, size_t *left, size_t n)
{
    const double *x = take(from, left, n);
    int *whole = x ? calloc(n + 1, sizeof *whole) : NULL;

    for (size_t i = 0; whole && i < n; i++) {
        if (!(x[i] >= INT_MIN && x[i] <= INT_MAX) || x[i] != floor(x[i])) {
            free(whole);
            return NULL;
        }
        whole[i] = (int)x[i];
    }
    return whole;
}

/* places of the groups of values; returns their number */
static size_t lay_out(fmu *f)
{
    const size_t sizes[N_GROUPS] = {1,     1,     1,     1, 3,           f->nu,
                                    f->nq, f->nv, f->nv, 3, f->n_outputs};

    for (int g = 0; g < N_GROUPS; g++) {
        f->at[g + 1] = f->at[g] + sizes[g];
    }
    return f->at[N_GROUPS];
}

/* what the file says; zero if it is not whole */
static int understand(fmu *f, size_t n)
{
    const double *from = f->data;
    const double *header = take(&from, &n, HEADER_SIZE);
    size_t size[HEADER_SIZE];

    for (int i = 0; i < HEADER_SIZE; i++) {
        const int whole = i != HEADER_STABILIZATION;
        if (whole && (!(header[i] >= 0 && header[i] <= FA_MAX_CONSTANTS) ||
                      header[i] != floor(header[i]))) {
            return 0;
        }
        size[i] = whole ? (size_t)header[i] : 0;
    }
    f->method = (fa_method)size[HEADER_METHOD];
    f->tip = (int)size[HEADER_TIP];
    f->nq = size[HEADER_POSITIONS];
    f->nv = size[HEADER_VELOCITIES];
    f->nu = size[HEADER_ACTUATORS];
    f->n_outputs = size[HEADER_OUTPUTS];
    const size_t bodies = size[HEADER_BODIES], loops = size[HEADER_LOOPS];
    f->topology = take_whole(&from, &n, bodies * FA_TOPO_SIZE);
    f->arm = (fa_description){
        .n_bodies = (int)bodies,
        .topology = f->topology,
        .joints = take(&from, &n, bodies * FA_JOINT_SIZE),
        .nodes = take(&from, &n, size[HEADER_NODES]),
        .modal = take(&from, &n, size[HEADER_MODAL]),
        .gravity = f->gravity,
        .nodes_size = size[HEADER_NODES],
        .modal_size = size[HEADER_MODAL],
        .n_loops = (int)loops,
        .n_couplings = (int)size[HEADER_COUPLINGS],
        .couplings_size = size[HEADER_COUPLINGS_SIZE],
        .n_passive = (int)size[HEADER_PASSIVE],
        .n_followers = (int)size[HEADER_FOLLOWERS],
        .stabilization = header[HEADER_STABILIZATION],
        .fidelity = (fa_fidelity)size[HEADER_FIDELITY],
    };
    f->loops = take_whole(&from, &n, loops * FA_LOOP_SIZE);
    f->arm.loops = f->loops;
    f->arm.frames = take(&from, &n, loops * 2 * FA_FRAME_SIZE);
    f->arm.couplings = take(&from, &n, size[HEADER_COUPLINGS_SIZE]);
    f->arm.passive = take(&from, &n, size[HEADER_PASSIVE] * FA_PASSIVE_SIZE);
    f->arm.followers = take(&from, &n, size[HEADER_FOLLOWERS] * FA_FOLLOWER_SIZE);
    f->start = take(&from, &n, lay_out(f));
    f->rows = take(&from, &n, f->n_outputs * 2 * f->nv);
    return f->topology && f->loops && f->rows && n == 0 &&
           (f->n_outputs == 0 || f->nq == f->nv) &&
           (f->method == FA_RK4 || f->method == FA_RODAS4P) &&
           (f->arm.fidelity == FA_FULL || f->arm.fidelity == FA_RUTHLESS);
}

/* ---- the arm ---- */

/* one step or more over a time h with the forces of now */
static fa_rollout loop_of(const fmu *f, const double *t, double *report)
{
    double *q = f->motion, *qd = q + 2 * f->nq, *tau = qd + 2 * f->nv;
    const double *v = f->values;
    const double ratio = t[1] / v[f->at[MAX_STEP]] * (1.0 - 1e-12);
    const int fixed = f->method != FA_RODAS4P && ratio > 1.0;

    return (fa_rollout){
        .method = f->method,
        .count = 1,
        .n_samples = 2,
        .substeps = fixed ? (int)ceil(ratio) : 1,
        .n_tau = (int)f->nu,
        .t = t,
        .rtol = v[f->at[RTOL]],
        .atol = v[f->at[ATOL]],
        .max_step = v[f->at[MAX_STEP]],
        .kind = f->nu ? FA_TORQUE_HOLD : FA_TORQUE_ZERO,
        .tau = tau,
        .q = q,
        .qd = qd,
        .report = report,
    };
}

static void *scratch(size_t size)
{
    return aligned_alloc(ALIGN, (size + ALIGN) / ALIGN * ALIGN);
}

static void free_arm(fmu *f)
{
    fa_model_free(f->model);
    free(f->single.work);
    free(f->loop_work);
    f->model = NULL;
    f->single.work = f->loop_work = NULL;
}

/* the arm with the gravity among the values; zero if it cannot be built */
static int build(fmu *f)
{
    static const fa_kernel used[] = {FA_FORWARD_DYNAMICS, FA_NODE_POSE};
    const double t[2] = {0.0, 1.0}, *given = f->values + f->at[GRAVITY];
    double report[FA_REPORT_SIZE];
    size_t most = 0;

    if (f->model && memcmp(f->gravity, given, sizeof f->gravity) == 0) {
        return 1;
    }
    free_arm(f);
    memcpy(f->gravity, given, sizeof f->gravity);
    if (fa_model_build(&f->arm, &f->model) != FA_OK) {
        fail(f, fmi2Error, "the arm cannot be built");
        f->model = NULL;
        return 0;
    }
    const fa_model *m = f->model;
    if ((size_t)m->nq != f->nq || (size_t)m->nv != f->nv ||
        (size_t)m->n_actuators != f->nu || f->tip >= m->n_nodes ||
        (m->n_constraints && f->method != FA_RK4)) {
        fail(f, fmi2Error, "the arm is not the one of the description");
        free_arm(f);
        return 0;
    }
    const fa_kernels *kernels = fa_kernels_for_few(fa_kernels_best());
    for (size_t i = 0; i < sizeof used / sizeof *used; i++) {
        const size_t size = fa_single_size(kernels, m, used[i]);
        most = size > most ? size : most;
    }
    const fa_rollout run = loop_of(f, t, report);
    f->single = (fa_single){m, kernels, scratch(most)};
    f->loop_work = scratch(kernels->rollout_work_size(m, &run));
    if (!f->single.work || !f->loop_work) {
        fail(f, fmi2Error, "no memory for the arm");
        free_arm(f);
        return 0;
    }
    return 1;
}

/* the values that follow from the state; zero if they are not finite */
static int refresh(fmu *f)
{
    double pose[POSE_SIZE];
    double *v = f->values;

    if (f->is_fresh) {
        return 1;
    }
    const double *q = v + f->at[Q], *qd = v + f->at[QD];
    if (!build(f) ||
        fa_forward_dynamics(&f->single, q, qd, v + f->at[TAU], (int)f->nu,
                            v + f->at[QDD]) ||
        fa_node_pose(&f->single, f->tip, q, pose)) {
        return 0;
    }
    for (size_t i = 0; i < 3; i++) {
        v[f->at[TIP] + i] = pose[4 * i + 3];
    }
    for (size_t i = 0; i < f->n_outputs; i++) {
        const double *row = f->rows + i * 2 * f->nv;
        double sum = 0.0;
        for (size_t j = 0; j < 2 * f->nv; j++) { /* qd stands behind q */
            sum += row[j] * q[j];
        }
        v[f->at[OUTPUTS] + i] = sum;
    }
    f->is_fresh = 1;
    return 1;
}

/* ---- life of an instance ---- */

FMI2(const char *) fmi2GetTypesPlatform(void)
{
    return "default";
}

FMI2(const char *) fmi2GetVersion(void)
{
    return "2.0";
}

FMI2(fmi2Status)
fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t n,
                    const fmi2String categories[])
{
    (void)on, (void)n, (void)categories; /* errors are always told */
    return c ? fmi2OK : fmi2Error;
}

FMI2(void) fmi2FreeInstance(fmi2Component c)
{
    fmu *f = c;

    if (f) {
        free_arm(f);
        free(f->name);
        free(f->data);
        free(f->topology);
        free(f->loops);
        free(f->values);
        free(f->motion);
        free(f);
    }
}

static void begin(fmu *f)
{
    memcpy(f->values, f->start, f->at[N_GROUPS] * sizeof *f->values);
    f->mode = BEGUN;
    f->is_fresh = 0;
}

FMI2(fmi2Component)
fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                const fmi2CallbackFunctions *functions, fmi2Boolean visible,
                fmi2Boolean logging)
{
    fmu *f = calloc(1, sizeof *f);
    size_t n = 0;

    (void)visible, (void)logging;
    if (!f) {
        return NULL;
    }
    f->functions = functions ? *functions : (fmi2CallbackFunctions){0};
    f->type = type;
    name = name ? name : "";
    f->name = malloc(strlen(name) + 1);
    char *path = resources ? path_of(resources) : NULL;
    if (f->name) {
        strcpy(f->name, name);
    }
    if (f->name && path && guid) {
        f->data = read_file(f, path, guid, &n);
    } else {
        fail(f, fmi2Error, "no GUID, no place of the resources, or no memory");
    }
    free(path);
    if (!f->data) {
        fmi2FreeInstance(f);
        return NULL;
    }
    if (!understand(f, n)) {
        fail(f, fmi2Error, "resources/arm.bin is not whole");
        fmi2FreeInstance(f);
        return NULL;
    }
    if (type == fmi2ModelExchange && f->nq != f->nv) {
        fail(f, fmi2Error, "an arm with quaternions is for co-simulation only");
        fmi2FreeInstance(f);
        return NULL;
    }
    f->values = calloc(f->at[N_GROUPS], sizeof *f->values);
    f->motion = calloc(2 * (f->nq + f->nv + f->nu), sizeof *f->motion);
    if (f->values && f->motion) {
        begin(f);
    }
    if (!f->values || !f->motion || !build(f)) {
        fmi2FreeInstance(f);
        return NULL;
    }
    return f;
}

FMI2(fmi2Status)
fmi2SetupExperiment(fmi2Component c, fmi2Boolean has_tolerance, fmi2Real tolerance,
                    fmi2Real start, fmi2Boolean has_stop, fmi2Real stop)
{
    fmu *f = called(c, IN(BEGUN), "fmi2SetupExperiment");

    (void)has_stop, (void)stop;
    if (!f) {
        return fmi2Error;
    }
    if (!isfinite(start)) {
        return fail(f, fmi2Error, "the start time is %g", start);
    }
    if (has_tolerance && f->type == fmi2CoSimulation && tolerance > 0.0 &&
        tolerance < 1.0) {
        f->values[f->at[RTOL]] = tolerance;
    }
    f->values[f->at[TIME]] = start;
    return fmi2OK;
}

FMI2(fmi2Status) fmi2EnterInitializationMode(fmi2Component c)
{
    fmu *f = called(c, IN(BEGUN), "fmi2EnterInitializationMode");

    if (f) {
        f->mode = STARTING;
    }
    return f ? fmi2OK : fmi2Error;
}

FMI2(fmi2Status) fmi2ExitInitializationMode(fmi2Component c)
{
    fmu *f = called(c, IN(STARTING), "fmi2ExitInitializationMode");

    if (!f) {
        return fmi2Error;
    }
    f->mode = f->type == fmi2CoSimulation ? STEPPING : EVENTS;
    return build(f) ? fmi2OK : fmi2Error;
}

FMI2(fmi2Status) fmi2Terminate(fmi2Component c)
{
    fmu *f = called(c, RUNNING, "fmi2Terminate");

    if (f) {
        f->mode = ENDED;
    }
    return f ? fmi2OK : fmi2Error;
}

FMI2(fmi2Status) fmi2Reset(fmi2Component c)
{
    if (!c) {
        return fmi2Error;
    }
    begin(c);
    return fmi2OK;
}

/* ---- values ---- */

FMI2(fmi2Status)
fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Real x[])
{
    fmu *f = c;

    if (!f || (n && (!vr || !x))) {
        return fmi2Error;
    }
    for (size_t i = 0; i < n; i++) {
        if (vr[i] >= f->at[N_GROUPS]) {
            return fail(f, fmi2Error, "there is no variable %u", vr[i]);
        }
        if (vr[i] >= f->at[QDD] && !refresh(f)) {
            return fail(f, fmi2Discard, "the accelerations are not finite");
        }
        x[i] = f->values[vr[i]];
    }
    return fmi2OK;
}

/* whether a value may be set now; what it is, in a message */
static const char *refusal(const fmu *f, size_t i, double x)
{
    const int early = f->mode == BEGUN || f->mode == STARTING;
    const int option = i >= f->at[MAX_STEP] && i < f->at[GRAVITY];

    if (i >= f->at[N_GROUPS]) {
        return "there is no such variable";
    }
    if (i < f->at[MAX_STEP] || i >= f->at[QDD]) {
        return "it cannot be set";
    }
    if (!early && (i < f->at[TAU] || i >= f->at[Q])) {
        return "it can be set before the end of the initialization only";
    }
    if (!isfinite(x)) {
        return "expected a finite number";
    }
    return option && x <= 0.0 ? "expected a positive number" : NULL;
}

FMI2(fmi2Status)
fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n,
            const fmi2Real x[])
{
    fmu *f = called(c, IN(BEGUN) | IN(STARTING) | RUNNING, "fmi2SetReal");

    if (!f || (n && (!vr || !x))) {
        return fmi2Error;
    }
    for (size_t i = 0; i < n; i++) { /* all of them, or none */
        const char *reason = refusal(f, vr[i], x[i]);
        if (reason) {
            return fail(f, fmi2Error, "variable %u is set to %g: %s", vr[i], x[i],
                        reason);
        }
    }
    for (size_t i = 0; i < n; i++) {
        f->values[vr[i]] = x[i];
        f->is_fresh = 0;
    }
    return fmi2OK;
}

/* there are no variables of other types */
static fmi2Status none(fmi2Component c, size_t n, const char *type)
{
    if (!c || n == 0) {
        return c ? fmi2OK : fmi2Error;
    }
    return fail(c, fmi2Error, "there are no variables of type %s", type);
}

#define NONE(type, name)                                                               \
    FMI2(fmi2Status)                                                                   \
    fmi2Get##name(fmi2Component c, const fmi2ValueReference vr[], size_t n, type x[])  \
    {                                                                                  \
        (void)vr, (void)x;                                                             \
        return none(c, n, #name);                                                      \
    }                                                                                  \
    FMI2(fmi2Status)                                                                   \
    fmi2Set##name(fmi2Component c, const fmi2ValueReference vr[], size_t n,            \
                  const type x[])                                                      \
    {                                                                                  \
        (void)vr, (void)x;                                                             \
        return none(c, n, #name);                                                      \
    }

NONE(fmi2Integer, Integer)
NONE(fmi2Boolean, Boolean)
NONE(fmi2String, String)

FMI2(fmi2Status)
fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference unknown[],
                             size_t n_unknown, const fmi2ValueReference known[],
                             size_t n_known, const fmi2Real dv_known[],
                             fmi2Real dv_unknown[])
{
    (void)unknown, (void)n_unknown, (void)known, (void)n_known, (void)dv_known;
    (void)dv_unknown;
    return c ? fail(c, fmi2Error, "there are no directional derivatives") : fmi2Error;
}

/* ---- states of the FMU ---- */

static size_t state_size(const fmu *f)
{
    return sizeof(head) + f->at[N_GROUPS] * sizeof *f->values;
}

FMI2(fmi2Status) fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *state)
{
    fmu *f = c;

    if (!f || !state) {
        return fmi2Error;
    }
    char *kept = *state ? *state : malloc(state_size(f));
    if (!kept) {
        return fail(f, fmi2Error, "no memory for a state");
    }
    memset(kept, 0, sizeof(head));
    *(head *)(void *)kept = (head){f->at[N_GROUPS], f->mode};
    memcpy(kept + sizeof(head), f->values, state_size(f) - sizeof(head));
    *state = kept;
    return fmi2OK;
}

FMI2(fmi2Status) fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state)
{
    fmu *f = c;

    if (!f || !state) {
        return fmi2Error;
    }
    f->mode = ((const head *)state)->mode;
    memcpy(f->values, (const char *)state + sizeof(head), state_size(f) - sizeof(head));
    f->is_fresh = 0;
    return fmi2OK;
}

FMI2(fmi2Status) fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *state)
{
    if (!c || !state) {
        return fmi2Error;
    }
    free(*state);
    *state = NULL;
    return fmi2OK;
}

FMI2(fmi2Status)
fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t *size)
{
    if (!c || !state || !size) {
        return fmi2Error;
    }
    *size = state_size(c);
    return fmi2OK;
}

FMI2(fmi2Status)
fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[],
                      size_t size)
{
    if (!c || !state || !bytes || size < state_size(c)) {
        return fmi2Error;
    }
    memcpy(bytes, state, state_size(c));
    return fmi2OK;
}

FMI2(fmi2Status)
fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size,
                        fmi2FMUstate *state)
{
    fmu *f = c;
    head h;

    if (!f || !bytes || !state) {
        return fmi2Error;
    }
    if (size >= sizeof h) {
        memcpy(&h, bytes, sizeof h);
    }
    if (size < state_size(f) || h.n_values != f->at[N_GROUPS] || h.mode > FAILED) {
        return fail(f, fmi2Error, "the bytes are not a state of this FMU");
    }
    char *kept = malloc(state_size(f));
    if (!kept) {
        return fail(f, fmi2Error, "no memory for a state");
    }
    memcpy(kept, bytes, state_size(f));
    *state = kept;
    return fmi2OK;
}

/* ---- co-simulation ---- */

FMI2(fmi2Status)
fmi2DoStep(fmi2Component c, fmi2Real time, fmi2Real step, fmi2Boolean no_return)
{
    fmu *f = called(c, IN(STEPPING), "fmi2DoStep");
    const double t[2] = {0.0, step};
    double report[FA_REPORT_SIZE] = {0};

    (void)no_return;
    if (!f) {
        return fmi2Error;
    }
    double *v = f->values, *now = v + f->at[TIME];
    if (!isfinite(time) || fabs(time - *now) > 1e-9 * fmax(1.0, fabs(*now))) {
        return fail(f, fmi2Error, "a step begins at %.12g s, expected %.12g s", time,
                    *now);
    }
    if (!(step >= 0.0 && step / v[f->at[MAX_STEP]] < MAX_STEP_COUNT)) {
        return fail(f, fmi2Error,
                    "a step of %g s is asked for, expected a positive one of less than "
                    "%d steps of %g s",
                    step, MAX_STEP_COUNT, v[f->at[MAX_STEP]]);
    }
    if (step == 0.0) {
        return fmi2OK;
    }
    if (!build(f)) {
        return fmi2Error;
    }
    const fa_rollout run = loop_of(f, t, report);
    double *q = run.q, *qd = run.qd, *tau = qd + 2 * f->nv;
    memcpy(q, v + f->at[Q], f->nq * sizeof *q);
    memcpy(qd, v + f->at[QD], f->nv * sizeof *q);
    memcpy(tau, v + f->at[TAU], f->nu * sizeof *q);
    memcpy(tau + f->nu, tau, f->nu * sizeof *q);
    q[f->nq] = NAN; /* of a loop that ends before */
    f->single.kernels->rollout(f->model, &run, f->loop_work);
    int fine = (int)report[FA_REPORT_ENDING] == FA_REACHED;
    for (size_t i = 0; i < f->nq; i++) {
        fine &= isfinite(q[f->nq + i]) != 0;
    }
    for (size_t i = 0; i < f->nv; i++) {
        fine &= isfinite(qd[f->nv + i]) != 0;
    }
    if (!fine) {
        return fail(f, fmi2Discard,
                    "no step of %g s from %.12g s: the motion becomes infinite, try a "
                    "smaller max_step",
                    step, *now);
    }
    memcpy(v + f->at[Q], q + f->nq, f->nq * sizeof *q);
    memcpy(v + f->at[QD], qd + f->nv, f->nv * sizeof *q);
    *now = time + step;
    f->is_fresh = 0;
    return fmi2OK;
}

FMI2(fmi2Status) fmi2CancelStep(fmi2Component c)
{
    return c ? fail(c, fmi2Error, "there is no step to be cancelled") : fmi2Error;
}

FMI2(fmi2Status)
fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                            const fmi2Integer order[], const fmi2Real x[])
{
    (void)vr, (void)n, (void)order, (void)x;
    return c ? fail(c, fmi2Error, "inputs are held over a step") : fmi2Error;
}

FMI2(fmi2Status)
fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                             const fmi2Integer order[], fmi2Real x[])
{
    (void)vr, (void)n, (void)order, (void)x;
    return c ? fail(c, fmi2Error, "there are no derivatives of outputs") : fmi2Error;
}

FMI2(fmi2Status) fmi2GetStatus(fmi2Component c, fmi2StatusKind kind, fmi2Status *x)
{
    (void)kind, (void)x;
    return c ? fmi2Discard : fmi2Error; /* no step is pending */
}

FMI2(fmi2Status) fmi2GetRealStatus(fmi2Component c, fmi2StatusKind kind, fmi2Real *x)
{
    const fmu *f = c;

    if (!f || !x || kind != fmi2LastSuccessfulTime) {
        return f && x ? fmi2Discard : fmi2Error;
    }
    *x = f->values[f->at[TIME]];
    return fmi2OK;
}

FMI2(fmi2Status)
fmi2GetIntegerStatus(fmi2Component c, fmi2StatusKind kind, fmi2Integer *x)
{
    (void)kind, (void)x;
    return c ? fmi2Discard : fmi2Error;
}

FMI2(fmi2Status)
fmi2GetBooleanStatus(fmi2Component c, fmi2StatusKind kind, fmi2Boolean *x)
{
    if (!c || !x || kind != fmi2Terminated) {
        return c && x ? fmi2Discard : fmi2Error;
    }
    *x = 0;
    return fmi2OK;
}

FMI2(fmi2Status)
fmi2GetStringStatus(fmi2Component c, fmi2StatusKind kind, fmi2String *x)
{
    (void)kind, (void)x;
    return c ? fmi2Discard : fmi2Error;
}

/* ---- model exchange ---- */

FMI2(fmi2Status) fmi2EnterEventMode(fmi2Component c)
{
    fmu *f = called(c, IN(CONTINUOUS), "fmi2EnterEventMode");

    if (f) {
        f->mode = EVENTS;
    }
    return f ? fmi2OK : fmi2Error;
}

FMI2(fmi2Status) fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *info)
{
    fmu *f = called(c, IN(EVENTS), "fmi2NewDiscreteStates");

    if (!f || !info) {
        return fmi2Error;
    }
    *info = (fmi2EventInfo){0};
    return fmi2OK;
}

FMI2(fmi2Status) fmi2EnterContinuousTimeMode(fmi2Component c)
{
    fmu *f = called(c, IN(EVENTS), "fmi2EnterContinuousTimeMode");

    if (f) {
        f->mode = CONTINUOUS;
    }
    return f ? fmi2OK : fmi2Error;
}

FMI2(fmi2Status)
fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean no_set_state,
                            fmi2Boolean *enter_event_mode, fmi2Boolean *terminate)
{
    fmu *f = called(c, IN(CONTINUOUS), "fmi2CompletedIntegratorStep");

    (void)no_set_state;
    if (!f || !enter_event_mode || !terminate) {
        return fmi2Error;
    }
    *enter_event_mode = *terminate = 0;
    return fmi2OK;
}

FMI2(fmi2Status) fmi2SetTime(fmi2Component c, fmi2Real time)
{
    fmu *f = called(c, IN(EVENTS) | IN(CONTINUOUS), "fmi2SetTime");

    if (f) {
        f->values[f->at[TIME]] = time;
    }
    return f ? fmi2OK : fmi2Error;
}

/* the instance, if a vector of states has the right length */
static fmu *with_states(fmi2Component c, unsigned modes, const char *function,
                        const void *x, size_t n)
{
    fmu *f = called(c, modes, function);

    if (f && (n != f->nq + f->nv || !x || f->type != fmi2ModelExchange)) {
        fail(f, fmi2Error, "%s with %zu states, expected %zu", function, n,
             f->nq + f->nv);
        return NULL;
    }
    return f;
}

#define STATES_KNOWN (IN(STARTING) | IN(EVENTS) | IN(CONTINUOUS) | IN(ENDED))

FMI2(fmi2Status)
fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], size_t n)
{
    fmu *f = with_states(c, IN(CONTINUOUS), "fmi2SetContinuousStates", x, n);

    if (!f) {
        return fmi2Error;
    }
    memcpy(f->values + f->at[Q], x, n * sizeof *x);
    f->is_fresh = 0;
    return fmi2OK;
}

FMI2(fmi2Status) fmi2GetContinuousStates(fmi2Component c, fmi2Real x[], size_t n)
{
    const fmu *f = with_states(c, STATES_KNOWN, "fmi2GetContinuousStates", x, n);

    if (f) {
        memcpy(x, f->values + f->at[Q], n * sizeof *x);
    }
    return f ? fmi2OK : fmi2Error;
}

FMI2(fmi2Status) fmi2GetDerivatives(fmi2Component c, fmi2Real x[], size_t n)
{
    fmu *f = with_states(c, STATES_KNOWN, "fmi2GetDerivatives", x, n);

    if (!f) {
        return fmi2Error;
    }
    if (!refresh(f)) {
        return fail(f, fmi2Discard, "the accelerations are not finite");
    }
    memcpy(x, f->values + f->at[QD], n * sizeof *x); /* velocities, accelerations */
    return fmi2OK;
}

FMI2(fmi2Status)
fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real x[], size_t n)
{
    const fmu *f =
        with_states(c, STATES_KNOWN, "fmi2GetNominalsOfContinuousStates", x, n);

    for (size_t i = 0; f && i < n; i++) {
        x[i] = 1.0;
    }
    return f ? fmi2OK : fmi2Error;
}

FMI2(fmi2Status) fmi2GetEventIndicators(fmi2Component c, fmi2Real x[], size_t n)
{
    (void)x;
    return c && n == 0 ? fmi2OK : fmi2Error;
}
