/*
 * model.c -- building a model: topology, nodes, constants
 *
 * Checked by  tests/c/test_model.c (refusals, sizes), tests/dynamics/test_dynamics.py.
 */
#include "model/model.h"

#include "model/axes.h"
#include "model/branches.h"
#include "model/driven_shapes.h"
#include "model/fast.h"
#include "model/followers.h"
#include "model/kinds.h"
#include "model/loops.h"
#include "model/modal.h"
#include "model/motors.h"
#include "model/straight_bodies.h"
#include "model/strain.h"
#include "model/turn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* doubles of a node, of the given integrals and of the driven shapes of a body */
static size_t model_node_size(const int *t)
{
    const int n = t[FA_TOPO_MODES];
    return (size_t)(FA_NODE_SIZE(n) + (t[FA_TOPO_SECOND] ? FA_SECOND_SIZE(n) : 0));
}

static size_t model_given_size(const int *t)
{
    return t[FA_TOPO_INTEGRALS] ? FA_GIVEN_SIZE(t[FA_TOPO_MODES]) : 0;
}

static size_t model_driven_size(const int *t)
{
    return fa_driven_size(t[FA_TOPO_MODES], t[FA_TOPO_SHAPES]);
}

static size_t model_strain_size(const int *t)
{
    return (size_t)FA_STRAIN_SIZE(t[FA_TOPO_MODES], t[FA_TOPO_STRAIN]);
}

/* doubles of a body in the array of modal constants */
static size_t model_modal_size(const int *t)
{
    const int n = t[FA_TOPO_MODES];
    return 2 * (size_t)(n * n) + model_given_size(t) + model_driven_size(t) +
           model_strain_size(t);
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
    b->F1_is_skew = fa_modal_is_skew(n, storage + 9 * n);
    memcpy(out, in, (size_t)triangle * sizeof(double)); /* G */
    in += triangle;
    out += triangle;
    /* J1, J2 */
    for (int i = 0; i < n + n * n; i++, in += 6, out += 6) {
        model_turn_sym(b->frame, in, out);
    }
}

/* whether the number of velocities is one that the kind of joint has */
static int model_dof_fits(const int *topology)
{
    const int n = topology[FA_TOPO_DOF];

    switch (topology[FA_TOPO_JOINT]) {
    case FA_JOINT_FIXED:
    case FA_JOINT_FLOATING:
        return n == 0;
    case FA_JOINT_SPHERICAL:
        return n == 3;
    case FA_JOINT_POSE:
        return n >= 1 && n <= 6;
    default:
        return n == 1;
    }
}

/* sizes and refusals, before any memory is taken */
static fa_status model_check(const fa_description *d, size_t *n_nodes,
                             size_t *constants)
{
    size_t nodes_size = 0, modal_size = 0;
    int joints = 0, modes = 0; /* of a limited number of bodies */

    *n_nodes = *constants = 0;
    if (d->n_bodies < 1 || d->n_loops < 0 || d->n_couplings < 0 || d->n_passive < 0 ||
        d->n_followers < 0 || d->n_followers > d->n_bodies ||
        (int)d->fidelity < FA_FULL || d->fidelity > FA_RUTHLESS) {
        return FA_BAD_SIZE;
    }
    if (d->n_bodies > FA_MAX_BODIES || d->n_loops > FA_MAX_LOOPS ||
        d->n_couplings > FA_MAX_COUPLINGS || d->n_passive > FA_MAX_PASSIVE) {
        return FA_TOO_LARGE;
    }
    for (int k = 0; k < d->n_bodies; k++) {
        const int *t = d->topology + (size_t)k * FA_TOPO_SIZE;
        const int n = t[FA_TOPO_MODES];

        if (t[FA_TOPO_PARENT] < -1 || t[FA_TOPO_PARENT] >= k || t[FA_TOPO_DRIVES] < 0 ||
            t[FA_TOPO_DRIVES] > k) {
            return FA_BAD_TOPOLOGY;
        }
        if (t[FA_TOPO_JOINT] < FA_JOINT_FIXED || t[FA_TOPO_JOINT] > FA_JOINT_FLOATING ||
            !model_dof_fits(t)) {
            return FA_BAD_JOINT;
        }
        if (n < 0 || n > FA_MAX_MODES || t[FA_TOPO_SHAPES] < 0 ||
            t[FA_TOPO_SHAPES] > FA_MAX_DRIVEN) {
            return FA_TOO_MANY_MODES;
        }
        if (t[FA_TOPO_NODES] < (n > 0) || t[FA_TOPO_STRAIN] < 0) {
            return FA_BAD_SIZE;
        }
        if (t[FA_TOPO_NODES] > FA_MAX_NODES || t[FA_TOPO_STRAIN] > FA_MAX_NODES) {
            return FA_TOO_LARGE;
        }
        joints += t[FA_TOPO_DOF];
        modes += n;
        *n_nodes += (size_t)t[FA_TOPO_NODES];
        nodes_size += (size_t)t[FA_TOPO_NODES] * model_node_size(t);
        modal_size += model_modal_size(t);
        *constants += n < FA_FAST_MODES ? 0 : fa_fast_size(n);
        *constants += fa_straight_size(n) + model_strain_size(t);
        *constants +=
            t[FA_TOPO_STRAIN] > 0 ? 3 * (size_t)t[FA_TOPO_NODES] + FA_STRAIN_FORCES : 0;
        *constants += (size_t)t[FA_TOPO_NODES] * fa_straight_node_size(n);
        *constants += fa_modal_size(n) + (size_t)t[FA_TOPO_NODES] * (size_t)(3 + 6 * n);
        *constants += model_driven_size(t) + fa_driven_axial_size(n, t[FA_TOPO_SHAPES]);
        *constants += t[FA_TOPO_SECOND]
                          ? (size_t)t[FA_TOPO_NODES] * (size_t)FA_SECOND_SIZE(n)
                          : 0;
    }
    *constants += (size_t)d->n_couplings * (size_t)(joints + 1);
    if (joints + modes > FA_MAX_VELOCITIES || *n_nodes > FA_MAX_NODES ||
        *constants > FA_MAX_CONSTANTS) {
        return FA_TOO_LARGE;
    }
    if (nodes_size != d->nodes_size || modal_size != d->modal_size ||
        d->couplings_size != (size_t)d->n_couplings * (size_t)(joints + 1)) {
        return FA_BAD_SIZE;
    }
    for (size_t i = 0; i < nodes_size; i++) {
        if (!isfinite(d->nodes[i])) {
            return FA_NOT_FINITE;
        }
    }
    return FA_OK;
}

/* where body k hangs; all bodies before it have their places */
static fa_status model_hang(fa_model *model, const fa_body *bodies, int node,
                            fa_body *b)
{
    const fa_body *p = b->parent < 0 ? NULL : bodies + b->parent;
    const int first =
        b->joint == FA_JOINT_FLOATING || !p ? b->first_node : p->first_node;
    const int n = b->joint == FA_JOINT_FLOATING || !p ? b->n_nodes : p->n_nodes;

    if (b->joint == FA_JOINT_FLOATING) {
        if (!p || p->n_modes > 0 || node < first || node >= first + n) {
            return FA_BAD_TOPOLOGY;
        }
        b->own_node = node;
        model->sum_parent_modes += b->n_modes;
        model->any_floating = 1;
    } else if (p) {
        const int on_frame = node == -1 && p->n_modes == 0;
        if (!on_frame && (node < first || node >= first + n)) {
            return FA_BAD_TOPOLOGY;
        }
        b->attach = node;
        b->parent_modes = p->n_modes;
        model->sum_parent_modes += p->n_modes;
    }
    return FA_OK;
}

/* modes behind the coordinates of all joints, wide joints behind the modes */
static void model_modes_last(const fa_model *model, fa_body *bodies)
{
    for (int k = 0; k < model->n_bodies; k++) {
        fa_body *b = bodies + k;
        b->mode_at = model->nu + b->own_at;
        b->eta_at = model->nq - model->n_modes + b->own_at;
        b->wide_at += model->n_modes;
        b->wide_tri_at += model->sum_triangles;
        if (b->parent >= 0) {
            b->parent_mode_at = bodies[b->parent].mode_at;
            b->parent_eta_at = bodies[b->parent].eta_at;
        }
    }
}

/* places of the coordinates and of the scratch of every body */
static fa_status model_places(const fa_description *d, fa_model *model, fa_body *bodies)
{
    int node = 0, modes = 0, positions = 0, wide = 0, wide_triangles = 0;

    for (int k = 0; k < d->n_bodies; k++) {
        const int *t = d->topology + (size_t)k * FA_TOPO_SIZE;
        const fa_joint joint = (fa_joint)t[FA_TOPO_JOINT];
        fa_body *b = bodies + k;

        *b = (fa_body){.parent = t[FA_TOPO_PARENT],
                       .link = t[FA_TOPO_NODES] > 0 ? model->n_links++ : -1,
                       .attach = -1,
                       .own_node = -1,
                       .drives = t[FA_TOPO_DRIVES] - 1,
                       .joint = joint,
                       .wide = joint >= FA_JOINT_HELICAL && joint <= FA_JOINT_POSE,
                       .n_modes = t[FA_TOPO_MODES],
                       .n_dof = t[FA_TOPO_DOF],
                       .n_nodes = t[FA_TOPO_NODES],
                       .first_node = node,
                       .joint_at = t[FA_TOPO_DOF] > 0 ? model->nu : -1,
                       .position_at = positions,
                       .own_at = modes,
                       .hop_at = model->sum_parent_modes,
                       .tri_at = model->sum_triangles,
                       .wide_at = wide,
                       .wide_tri_at = wide_triangles};
        const fa_status status = model_hang(model, bodies, t[FA_TOPO_NODE], b);
        if (status != FA_OK) {
            return status;
        }
        model->nu += b->n_dof;
        positions += joint == FA_JOINT_SPHERICAL ? 4
                     : joint == FA_JOINT_POSE    ? 7
                                                 : b->n_dof;
        if (b->wide) {
            wide += b->n_dof;
            wide_triangles += b->n_dof * (b->n_dof + 1) / 2;
            model->any_wide = 1;
            model->any_pose |= joint != FA_JOINT_HELICAL;
        }
        modes += b->n_modes;
        node += b->n_nodes;
        model->sum_triangles += b->n_modes * (b->n_modes + 1) / 2;
    }
    const fa_status status = fa_motors_places(d, model, bodies);
    if (status != FA_OK) {
        return status;
    }
    model->n_modes = modes;
    model->n_rows = modes + wide;
    model->nv = model->nu + modes;
    model->nq = positions + modes;
    model_modes_last(model, bodies);
    model->sum_triangles += wide_triangles;
    return FA_OK;
}

/*
 * Second derivatives of the position of a node, given 3 x n x n by rows, in internal axes
 * mode by mode; NULL if they are zero. Takes their place from the constants.
 */
static const double *model_kappa(int n, const double *C, const double *given,
                                 double **constants)
{
    double *kappa = *constants;
    int bends = 0;

    *constants += FA_SECOND_SIZE(n);
    for (int i = 0; i < n * n; i++) {
        model_turn(C, given + i, n * n, kappa + 3 * i, 1);
        for (int j = 0; j < 3; j++) {
            bends |= kappa[3 * i + j] != 0.0;
        }
    }
    return bends ? kappa : NULL;
}

/*
 * Nodes and modal integrals of one body, given or summed; returns the first unused
 * constant.
 */
static double *model_nodes(const double *nodes, const double *modal, const int *t,
                           fa_body *b, int k, fa_node *out, double *constants,
                           double *scratch)
{
    const int n = b->n_modes;
    const double *strain = modal + model_modal_size(t) - model_strain_size(t);

    for (int j = 0; j < b->n_nodes; j++) {
        const double *node = nodes + (size_t)j * model_node_size(t);
        double *turned = scratch + (size_t)j * (size_t)FA_NODE_SIZE(n);
        double *position = constants, *gamma = position + 3, *lambda = gamma + 3 * n;

        model_turn_node(n, b->frame, node, turned);
        memcpy(position, turned + FA_NODE_POSITION, 3 * sizeof(double));
        for (int r = 0; r < n; r++) {
            for (int i = 0; i < 3; i++) {
                gamma[3 * r + i] = turned[FA_NODE_GAMMA + i * n + r];
                lambda[3 * r + i] = turned[FA_NODE_GAMMA + (3 + i) * n + r];
            }
        }
        constants = lambda + 3 * n;
        out[j] = (fa_node){k, position, gamma, lambda, NULL, NULL, NULL};
        if (t[FA_TOPO_SECOND]) {
            out[j].kappa = model_kappa(n, b->frame, node + FA_NODE_SIZE(n), &constants);
        }
        if (t[FA_TOPO_STRAIN] > 0) {
            model_turn(b->frame, strain + FA_STRAIN_AXIS, 1, constants, 1);
            out[j].axis = constants;
            constants += 3;
        }
    }
    fa_modal_integrals(n, b->n_nodes, scratch, constants, b);
    if (t[FA_TOPO_INTEGRALS]) {
        model_given_integrals(modal + 2 * n * n, constants, b);
    }
    constants += fa_modal_size(n);
    if (n > 0) { /* rigid arms may come without the array */
        memcpy(constants - 2 * n * n, modal, 2 * (size_t)(n * n) * sizeof(double));
    }
    return fa_driven_build(n, t[FA_TOPO_SHAPES], b->frame,
                           modal + 2 * n * n + model_given_size(t), constants,
                           &b->driven);
}

/*
 * Whether forward dynamics frees the modes of a body without factors, and the constants
 * for it: there are enough modes, one child at most, no foreshortening, with which D_f
 * and the columns of the child change with the state, and no constraints, which need the
 * factors. Returns the first unused constant.
 */
static double *model_fast(const fa_model *model, fa_body *b, int k, double *constants)
{
    int children = 0, child = -1;

    if (b->n_modes < FA_FAST_MODES || model->n_constraints > 0 ||
        b->joint == FA_JOINT_FLOATING || b->driven.n > 0) {
        return constants;
    }
    for (int j = k + 1; j < model->n_bodies; j++) {
        if (model->bodies[j].parent == k) {
            child = j;
            children++;
        }
    }
    if (children > 1 ||
        (child >= 0 && (model->nodes[model->bodies[child].attach].kappa ||
                        model->nodes[model->bodies[child].attach].axis))) {
        return constants;
    }
    const fa_node *node = child < 0 ? NULL : model->nodes + model->bodies[child].attach;
    b->fast.child = child;
    fa_fast_build(b->n_modes, b->modal.G, b->modal.E, node ? node->gamma : NULL,
                  node ? node->lambda : NULL, constants, &b->fast);
    return constants + fa_fast_size(b->n_modes);
}

/* joints with inertia of their own, all of them if `all`, and what freeing one leaves */
static void model_armature(fa_model *model, int all, fa_body *bodies)
{
    model->any_armature = 0;
    for (int k = 0; k < model->n_bodies; k++) {
        fa_body *b = bodies + k;

        b->is_armed = all && b->n_dof > 0;
        for (int j = 0; j < b->n_dof; j++) {
            b->is_armed |= b->armature[j] != 0.0;
        }
        b->kept = b->joint == FA_JOINT_REVOLUTE && !b->is_armed ? 2 : 3;
        model->any_armature |= b->is_armed;
    }
}

/* no constant is zero or follows from others, whatever its value is: what models of one
 * topology then do depends on their topology alone */
static void model_generalize(const fa_description *d, fa_model *model, fa_body *bodies,
                             fa_node *nodes)
{
    for (int k = 0; k < d->n_bodies; k++) {
        fa_body *b = bodies + k;
        const int n = b->n_modes;

        b->node_is_offset = n > 0;
        b->F1_is_skew = 0;
        b->driven.axis = -1;
        model->any_offset |= b->node_is_offset;
        if (d->topology[(size_t)k * FA_TOPO_SIZE + FA_TOPO_SECOND]) {
            for (int j = b->first_node; j < b->first_node + b->n_nodes; j++) {
                nodes[j].kappa = nodes[j].lambda + 3 * n;
            }
        }
    }
}

/* joints, nodes and modal integrals of all bodies; returns the first unused constant */
static double *model_bodies(const fa_description *d, fa_model *model, fa_body *bodies,
                            fa_node *nodes, double *constants, double *scratch)
{
    static const double nothing[1] = {0.0}; /* an empty array may be NULL */
    const double *node = d->nodes ? d->nodes : nothing;
    const double *modal = d->modal ? d->modal : nothing;

    fa_axes_turn(d, bodies);
    for (int k = 0; k < d->n_bodies; k++) {
        const int *t = d->topology + (size_t)k * FA_TOPO_SIZE;
        fa_body *b = bodies + k;

        constants = model_nodes(node, modal, t, b, k, nodes + b->first_node, constants,
                                scratch);
        model->any_offset |= b->node_is_offset;
        node += (size_t)b->n_nodes * model_node_size(t);
        modal += model_modal_size(t);
        fa_axes_hop(d, model, k, bodies);
    }
    return constants;
}

/* strain energies of all bodies, after their kinds are known */
static void model_strains(const fa_description *d, fa_body *bodies, fa_node *nodes,
                          double *constants)
{
    const double *modal = d->modal;

    for (int k = 0; k < d->n_bodies; k++) {
        const int *t = d->topology + (size_t)k * FA_TOPO_SIZE;
        modal += model_modal_size(t);
        if (t[FA_TOPO_STRAIN] > 0) {
            constants = fa_strain_build(t[FA_TOPO_STRAIN], modal - model_strain_size(t),
                                        d->is_general, bodies + k, nodes, constants);
        }
    }
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
    const size_t loops_at = nodes_at + n_nodes * sizeof(fa_node);
    const size_t passive_at = loops_at + (size_t)d->n_loops * sizeof(fa_loop);
    const size_t constants_at = passive_at + (size_t)d->n_passive * sizeof(fa_passive);
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
    model->constants = constants;
    model->n_constants = (int)n_constants;
    memcpy(model->gravity, d->gravity, sizeof model->gravity);
    model->fidelity = d->fidelity;
    status = model_places(d, model, bodies);

    if (status == FA_OK) {
        constants = model_bodies(d, model, bodies, nodes, constants, scratch);
    }
    free(scratch);
    if (status == FA_OK) {
        status =
            fa_loops_build(d, model, (fa_loop *)(void *)(block + loops_at), constants);
    }
    if (status == FA_OK) {
        status =
            fa_motors_passive(d, model, (fa_passive *)(void *)(block + passive_at));
    }
    model->is_rigid =
        model->n_modes == 0 && !model->any_floating && model->n_constraints == 0;
    constants += d->couplings_size;
    model_armature(model, d->is_general > 1, bodies);
    if (status == FA_OK && d->is_general) {
        model_generalize(d, model, bodies, nodes);
    }
    for (int k = 0; k < d->n_bodies && status == FA_OK && !d->is_general; k++) {
        constants = model_fast(model, bodies + k, k, constants);
        if (d->fidelity == FA_FULL && !d->is_general) {
            constants = fa_straight_build(bodies + k, nodes, constants);
        }
    }
    if (status != FA_OK) {
        free(block);
        return status;
    }
    model_strains(d, bodies, nodes, constants);
    *result = model;
    status = fa_branches_build(model);
    if (status == FA_OK && d->n_followers > 0) {
        status = fa_followers_build(d, model, result);
    }
    if (status != FA_OK) {
        fa_model_free(model);
    }
    return status;
}

void fa_model_free(fa_model *model)
{
    if (model) {
        fa_model_free(model->tree);
        free((void *)model->branches);
    }
    free(model);
}
