/*
 * fa_model.c -- building a model: topology, joint-aligned axes, constants
 *
 * Checked by  tests/c/test_model.c (refusals, sizes), tests/test_dynamics.py.
 */
#include "fa_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Rotation C with C e_z = axis: columns are the internal axes in user components.
 * Exact (zeros and ones) along the coordinate axes, so that planar arms keep their
 * zeros.
 */
static void model_axes(const double *axis, double *C)
{
    int k = 0;
    double u[3] = {0.0, 0.0, 0.0}, length;

    /* the coordinate direction closest to the plane across the axis */
    for (int i = 1; i < 3; i++) {
        if (fabs(axis[i]) < fabs(axis[k])) {
            k = i;
        }
    }
    if (axis[2] == 1.0) {
        k = 0;
    }
    for (int i = 0; i < 3; i++) {
        u[i] = (i == k) - axis[k] * axis[i];
    }
    length = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    for (int i = 0; i < 3; i++) {
        const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
        C[3 * i] = u[i] / length;
        C[3 * i + 1] = (axis[i1] * u[i2] - axis[i2] * u[i1]) / length;
        C[3 * i + 2] = axis[i];
    }
}

/* y = A' x for 3-vectors with stride s */
static void model_turn(const double *A, const double *x, int sx, double *y, int sy)
{
    for (int i = 0; i < 3; i++) {
        y[i * sy] = A[i] * x[0] + A[3 + i] * x[sx] + A[6 + i] * x[2 * sx];
    }
}

static void model_mul(const double *A, const double *B, double *C)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            C[3 * i + j] =
                A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
        }
    }
}

/* y = C' S C for a symmetric S of six entries */
static void model_turn_sym(const double *C, const double *S, double *y)
{
    const double full[9] = {S[0], S[1], S[2], S[1], S[3], S[4], S[2], S[4], S[5]};
    const double Ct[9] = {C[0], C[3], C[6], C[1], C[4], C[7], C[2], C[5], C[8]};
    double half[9], turned[9];

    model_mul(Ct, full, half);
    model_mul(half, C, turned);
    for (int i = 0, k = 0; i < 3; i++) {
        for (int j = i; j < 3; j++, k++) {
            y[k] = 0.5 * (turned[3 * i + j] + turned[3 * j + i]);
        }
    }
}

/* one node in the internal axes C of its body */
static void model_turn_node(int n, const double *C, const double *node, double *out)
{
    out[FA_NODE_MASS] = node[FA_NODE_MASS];
    model_turn(C, node + FA_NODE_COM, 1, out + FA_NODE_COM, 1);
    model_turn(C, node + FA_NODE_POSITION, 1, out + FA_NODE_POSITION, 1);
    for (int r = 0; r < 2 * n; r++) {
        const int at = FA_NODE_GAMMA + (r < n ? r : 2 * n + r);
        model_turn(C, node + at, n, out + at, n);
    }
    model_turn_sym(C, node + FA_NODE_INERTIA, out + FA_NODE_INERTIA);
}

/* given integrals of a body, in its internal axes, over those of its massless nodes */
static void model_given_integrals(const double *given, double *storage, fa_body *b)
{
    const int n = b->n_modes, vectors = 3 * n + n * n, triangle = n * (n + 1) / 2;
    const double *in = given + FA_GIVEN_MODAL;
    double *out = storage;

    b->mass = given[FA_GIVEN_MASS];
    model_turn(b->frame, given + FA_GIVEN_MP0, 1, b->mp0, 1);
    model_turn_sym(b->frame, given + FA_GIVEN_J0, b->J0);
    for (int i = 0; i < 3 * n; i++) { /* E against mp1 */
        b->node_is_offset |= in[i] != in[6 * n + i];
    }
    /* E, F0, mp1, F1 */
    for (int i = 0; i < vectors; i++, in += 3, out += 3) {
        model_turn(b->frame, in, 1, out, 1);
    }
    memcpy(out, in, (size_t)triangle * sizeof(double)); /* G */
    in += triangle;
    out += triangle;
    /* J1, J2 */
    for (int i = 0; i < n + n * n; i++, in += 6, out += 6) {
        model_turn_sym(b->frame, in, out);
    }
}

/* sizes and refusals, before any memory is taken */
static fa_status model_check(const fa_description *d, size_t *n_nodes,
                             size_t *constants)
{
    size_t nodes_size = 0, modal_size = 0;

    *n_nodes = *constants = 0;
    if (d->n_bodies < 1 || d->n_bodies > FA_MAX_BODIES) {
        return FA_BAD_SIZE;
    }
    for (int k = 0; k < d->n_bodies; k++) {
        const int *t = d->topology + (size_t)k * FA_TOPO_SIZE;
        const int n = t[FA_TOPO_MODES];

        if (t[FA_TOPO_PARENT] < -1 || t[FA_TOPO_PARENT] >= k) {
            return FA_BAD_TOPOLOGY;
        }
        if (t[FA_TOPO_JOINT] < FA_JOINT_FIXED ||
            t[FA_TOPO_JOINT] > FA_JOINT_PRISMATIC) {
            return FA_BAD_JOINT;
        }
        if (n < 0 || n > FA_MAX_MODES) {
            return FA_TOO_MANY_MODES;
        }
        if (t[FA_TOPO_NODES] < 1 || t[FA_TOPO_NODES] > (1 << 24)) {
            return FA_BAD_SIZE;
        }
        *n_nodes += (size_t)t[FA_TOPO_NODES];
        nodes_size += (size_t)t[FA_TOPO_NODES] * (size_t)FA_NODE_SIZE(n);
        modal_size += 2 * (size_t)(n * n);
        modal_size += t[FA_TOPO_INTEGRALS] ? FA_GIVEN_SIZE(n) : 0;
        *constants += fa_modal_size(n) + (size_t)t[FA_TOPO_NODES] * (size_t)(3 + 6 * n);
    }
    if (nodes_size != d->nodes_size || modal_size != d->modal_size) {
        return FA_BAD_SIZE;
    }
    for (size_t i = 0; i < nodes_size; i++) {
        if (!isfinite(d->nodes[i])) {
            return FA_NOT_FINITE;
        }
    }
    return FA_OK;
}

/* places of the coordinates and of the scratch of every body */
static fa_status model_places(const fa_description *d, fa_model *model, fa_body *bodies)
{
    int node = 0, modes = 0;

    for (int k = 0; k < d->n_bodies; k++) {
        const int *t = d->topology + (size_t)k * FA_TOPO_SIZE;
        fa_body *b = bodies + k;

        *b = (fa_body){.parent = t[FA_TOPO_PARENT],
                       .attach = t[FA_TOPO_NODE],
                       .joint = (fa_joint)t[FA_TOPO_JOINT],
                       .n_modes = t[FA_TOPO_MODES],
                       .n_nodes = t[FA_TOPO_NODES],
                       .first_node = node,
                       .joint_at = -1,
                       .own_at = modes,
                       .hop_at = model->sum_parent_modes,
                       .tri_at = model->sum_triangles};
        if (b->joint != FA_JOINT_FIXED) {
            b->joint_at = model->nu++;
        }
        if (b->parent >= 0) {
            const fa_body *p = bodies + b->parent;
            if (b->attach < p->first_node || b->attach >= p->first_node + p->n_nodes) {
                return FA_BAD_TOPOLOGY;
            }
            b->parent_modes = p->n_modes;
            model->sum_parent_modes += p->n_modes;
        }
        modes += b->n_modes;
        node += b->n_nodes;
        model->sum_triangles += b->n_modes * (b->n_modes + 1) / 2;
    }
    model->n_modes = modes;
    model->nv = model->nq = model->nu + modes;
    for (int k = 0; k < d->n_bodies; k++) {
        bodies[k].mode_at = model->nu + bodies[k].own_at;
    }
    for (int k = 0; k < d->n_bodies; k++) {
        if (bodies[k].parent >= 0) {
            bodies[k].parent_mode_at = bodies[bodies[k].parent].mode_at;
        }
    }
    return FA_OK;
}

/* joint frame of body k in the internal axes of the parent's node */
static void model_joint(const double *joint, const fa_body *parent, fa_body *b)
{
    static const double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const double *Cp = parent ? parent->frame : one;
    double turned[9];

    b->damping = b->joint == FA_JOINT_FIXED ? 0.0 : joint[FA_DAMPING];
    model_turn(Cp, joint + FA_POSITION, 1, b->pos, 1);
    model_mul(joint + FA_ROTATION, b->frame, turned);
    for (int j = 0; j < 3; j++) {
        model_turn(Cp, turned + j, 3, b->rot + j, 3);
    }
}

/*
 * Nodes and modal integrals of one body, given or summed; returns the first unused
 * constant.
 */
static double *model_nodes(const double *nodes, const double *modal, int given,
                           fa_body *b, int k, fa_node *out, double *constants,
                           double *scratch)
{
    const int n = b->n_modes;

    for (int j = 0; j < b->n_nodes; j++) {
        double *turned = scratch + (size_t)j * (size_t)FA_NODE_SIZE(n);
        double *position = constants, *gamma = position + 3, *lambda = gamma + 3 * n;

        model_turn_node(n, b->frame, nodes + (size_t)j * (size_t)FA_NODE_SIZE(n),
                        turned);
        memcpy(position, turned + FA_NODE_POSITION, 3 * sizeof(double));
        for (int r = 0; r < n; r++) {
            for (int i = 0; i < 3; i++) {
                gamma[3 * r + i] = turned[FA_NODE_GAMMA + i * n + r];
                lambda[3 * r + i] = turned[FA_NODE_GAMMA + (3 + i) * n + r];
            }
        }
        out[j] = (fa_node){k, position, gamma, lambda};
        constants = lambda + 3 * n;
    }
    fa_modal_integrals(n, b->n_nodes, scratch, constants, b);
    if (given) {
        model_given_integrals(modal + 2 * n * n, constants, b);
    }
    constants += fa_modal_size(n);
    memcpy(constants - 2 * n * n, modal, 2 * (size_t)(n * n) * sizeof(double));
    return constants;
}

fa_status fa_model_build(const fa_description *d, fa_model **result)
{
    size_t n_nodes, n_constants;
    fa_status status = model_check(d, &n_nodes, &n_constants);
    if (status != FA_OK) {
        return status;
    }

    /* one block: model, bodies, nodes, constants (all of pointer or double size) */
    const size_t bodies_at = sizeof(fa_model);
    const size_t nodes_at = bodies_at + (size_t)d->n_bodies * sizeof(fa_body);
    const size_t constants_at = nodes_at + n_nodes * sizeof(fa_node);
    char *block = calloc(1, constants_at + n_constants * sizeof(double));
    double *scratch = malloc((d->nodes_size + 1) * sizeof(double));
    if (!block || !scratch) {
        free(block);
        free(scratch);
        return FA_NO_MEMORY;
    }
    fa_model *model = (fa_model *)(void *)block;
    fa_body *bodies = (fa_body *)(void *)(block + bodies_at);
    fa_node *nodes = (fa_node *)(void *)(block + nodes_at);
    double *constants = (double *)(void *)(block + constants_at);

    model->n_bodies = d->n_bodies;
    model->n_nodes = (int)n_nodes;
    model->bodies = bodies;
    model->nodes = nodes;
    memcpy(model->gravity, d->gravity, sizeof model->gravity);
    status = model_places(d, model, bodies);

    const double *node = d->nodes, *modal = d->modal;
    for (int k = 0; k < d->n_bodies && status == FA_OK; k++) {
        const double *joint = d->joints + (size_t)k * FA_JOINT_SIZE;
        fa_body *b = bodies + k;

        model_axes(joint + FA_AXIS, b->frame);
        model_joint(joint, b->parent < 0 ? NULL : bodies + b->parent, b);
        const int given = d->topology[k * FA_TOPO_SIZE + FA_TOPO_INTEGRALS];
        constants = model_nodes(node, modal, given, b, k, nodes + b->first_node,
                                constants, scratch);
        model->any_offset |= b->node_is_offset;
        node += (size_t)b->n_nodes * (size_t)FA_NODE_SIZE(b->n_modes);
        modal += 2 * (size_t)(b->n_modes * b->n_modes);
        modal += given ? FA_GIVEN_SIZE(b->n_modes) : 0;
    }
    free(scratch);
    if (status != FA_OK) {
        free(block);
        return status;
    }
    *result = model;
    return FA_OK;
}

void fa_model_free(fa_model *model)
{
    free(model);
}
