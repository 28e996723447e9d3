/*
 * followers.c -- building a model: joints that follow others
 *
 * Checked by  tests/constraints/test_followers.py,
 *             tests/constraints/test_followers_use.py (refusals).
 */
#include "model/followers.h"

#include "model/branches.h"
#include "model/kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* all in one block of memory */
typedef struct {
    fa_model model;
    fa_grouping grouping;
    fa_body *bodies;
    fa_passive *passive;
    fa_follow *velocities, *positions;
    fa_columns *columns;
    int *group_of; /* [n_bodies] group of the joint, or -1 */
    int *leads;    /* [n_groups] body of the leader */
    int *members;  /* [n_groups] joints */
    int *
        inside; /* [n_bodies][n_groups] joints of a group outboard of a body, and own */
    int *most;  /* [n_bodies][n_groups] those outboard of one of its children */
    int *leader, *groups, *to, *last;
} followers_block;

/* a part of the block, of which all are of pointer or double size; NULL while it is
 * measured */
static void *followers_part(char *block, size_t *size, size_t count, size_t each)
{
    const size_t at = *size;
    *size += (count * each + 7) / 8 * 8;
    return block ? block + at : NULL;
}

static size_t followers_split(const fa_model *tree, size_t groups, char *block,
                              followers_block *b)
{
    const size_t n = (size_t)tree->n_bodies;
    size_t size = (sizeof *b + 7) / 8 * 8;

    b->bodies = followers_part(block, &size, n, sizeof(fa_body));
    b->passive =
        followers_part(block, &size, (size_t)tree->n_passive, sizeof(fa_passive));
    b->velocities = followers_part(block, &size, (size_t)tree->nv, sizeof(fa_follow));
    b->positions = followers_part(block, &size, (size_t)tree->nq, sizeof(fa_follow));
    b->columns = followers_part(block, &size, n, sizeof(fa_columns));
    b->group_of = followers_part(block, &size, n, sizeof(int));
    b->leads = followers_part(block, &size, groups, sizeof(int));
    b->members = followers_part(block, &size, groups, sizeof(int));
    b->inside = followers_part(block, &size, n * groups, sizeof(int));
    b->most = followers_part(block, &size, n * groups, sizeof(int));
    b->leader = followers_part(block, &size, groups, sizeof(int));
    b->groups = followers_part(block, &size, n * groups, sizeof(int));
    b->to = followers_part(block, &size, n * groups, sizeof(int));
    b->last = followers_part(block, &size, groups, sizeof(int));
    return size;
}

/* a body of the description whose joint may follow or lead, or -1 */
static int followers_body(const fa_model *tree, double number)
{
    const int k = number >= 0.0 && number < tree->n_bodies ? (int)number : -1;
    const fa_body *b = k < 0 ? NULL : tree->bodies + k;

    return b && b->n_dof == 1 && b->joint <= FA_JOINT_HELICAL && b->drives < 0 ? k : -1;
}

/* groups of joints: which follow which */
static fa_status followers_groups(const fa_description *d, const fa_model *tree,
                                  followers_block *b)
{
    for (int k = 0; k < tree->n_bodies; k++) {
        b->group_of[k] = -1;
    }
    for (int i = 0; i < d->n_followers; i++) {
        const double *row = d->followers + (size_t)i * FA_FOLLOWER_SIZE;
        const double ratio = row[FA_FOLLOWER_RATIO];
        const int k = followers_body(tree, row[FA_FOLLOWER_BODY]);
        const int lead = followers_body(tree, row[FA_FOLLOWER_LEADER]);

        if (!isfinite(ratio) || !isfinite(row[FA_FOLLOWER_OFFSET])) {
            return FA_NOT_FINITE;
        }
        if (k < 0 || lead < 0 || k == lead || ratio == 0.0 || b->group_of[k] >= 0) {
            return FA_BAD_JOINT; /* a leader has a group, too */
        }
        int g = b->group_of[lead];
        if (g < 0) {
            g = b->grouping.n_groups++;
            b->group_of[lead] = g;
            b->leads[g] = lead;
            b->leader[g] = tree->bodies[lead].joint_at;
            b->members[g] = 1;
            b->columns[lead].ratio = 1.0;
        } else if (b->leads[g] != lead) {
            return FA_BAD_JOINT; /* which follows */
        }
        b->group_of[k] = g;
        b->members[g]++;
        b->columns[k].ratio = ratio;
        b->positions[tree->bodies[k].position_at].offset = row[FA_FOLLOWER_OFFSET];
    }
    return FA_OK;
}

/* whether the joint of a body follows */
static int followers_has(const followers_block *b, int k)
{
    return b->group_of[k] >= 0 && b->leads[b->group_of[k]] != k;
}

static int followers_positions(const fa_body *b)
{
    return b->joint == FA_JOINT_SPHERICAL ? 4
           : b->joint == FA_JOINT_POSE    ? 7
                                          : b->n_dof;
}

/* places of the actuators, none of which drives a follower; their number */
static int followers_actuators(const fa_model *tree, const followers_block *b)
{
    int lost = 0;

    for (int k = 0; k < tree->n_bodies; k++) {
        const int at = tree->bodies[k].actuator_at;
        if (!followers_has(b, k) || at < 0) {
            continue;
        }
        lost++;
        b->bodies[k].actuator_at = -1;
        for (int i = 0; i < tree->n_bodies; i++) {
            b->bodies[i].actuator_at -= tree->bodies[i].actuator_at > at;
        }
    }
    return tree->n_actuators - lost;
}

/* bodies with the places of independent coordinates, followers as fixed ones */
static void followers_bodies(const fa_model *tree, followers_block *b)
{
    fa_model *m = &b->model;
    int nu = 0, positions = 0;

    for (int k = 0; k < tree->n_bodies; k++) {
        fa_body *own = b->bodies + k;
        *own = tree->bodies[k];
        if (followers_has(b, k)) {
            own->joint = FA_JOINT_FIXED;
            own->n_dof = own->wide = 0;
        }
        own->joint_at = own->n_dof > 0 ? nu : -1;
        own->position_at = positions;
        nu += own->n_dof;
        positions += followers_positions(own);
    }
    for (int k = 0; k < tree->n_bodies; k++) {
        fa_body *own = b->bodies + k;
        const fa_body *of = tree->bodies + k;
        const int moved = nu - tree->nu, placed = positions + tree->n_modes - tree->nq;

        own->mode_at += moved;
        own->eta_at += placed;
        own->parent_mode_at += moved;
        own->parent_eta_at += placed;
        if (followers_has(b, k)) {
            const double square = b->columns[k].ratio * b->columns[k].ratio;
            fa_body *leader = b->bodies + b->leads[b->group_of[k]];
            leader->damping[0] += square * of->damping[0];
            leader->armature[0] += square * of->armature[0];
        }
    }
    *m = *tree;
    m->bodies = b->bodies;
    m->nu = nu;
    m->nv = nu + tree->n_modes;
    m->nq = positions + tree->n_modes;
    m->n_actuators = followers_actuators(tree, b);
}

/* coordinates of the tree */
static void followers_coordinates(const fa_model *tree, followers_block *b)
{
    for (int k = 0; k < tree->n_bodies; k++) {
        const fa_body *of = tree->bodies + k;
        const int follows = followers_has(b, k);
        const fa_body *own = b->bodies + (follows ? b->leads[b->group_of[k]] : k);

        for (int j = 0; j < of->n_dof; j++) {
            fa_follow *v = b->velocities + of->joint_at + j;
            v->at = own->joint_at + j;
            v->follows = follows;
            v->ratio = follows ? b->columns[k].ratio : 1.0;
        }
        for (int j = 0; j < followers_positions(of); j++) {
            fa_follow *p = b->positions + of->position_at + j;
            p->at = own->position_at + j;
            p->follows = follows;
            p->ratio = follows ? b->columns[k].ratio : 1.0;
        }
    }
    for (int r = 0; r < tree->n_modes; r++) {
        b->velocities[tree->nu + r] = (fa_follow){b->model.nu + r, 0, 1.0, 0.0};
        b->positions[tree->nq - tree->n_modes + r] =
            (fa_follow){b->model.nq - tree->n_modes + r, 0, 1.0, 0.0};
    }
}

/* number of the first coordinates, positions and velocities, that the tree has, too */
static int followers_same(const fa_model *tree, const followers_block *b)
{
    int n = 0;
    while (n < tree->nv && n < tree->nq && b->velocities[n].at == n &&
           b->positions[n].at == n && !b->velocities[n].follows &&
           !b->positions[n].follows) {
        n++;
    }
    return n;
}

/* place of a joint in a displacement of independent coordinates (positions.c) */
static int followers_move(const followers_block *b, int joint)
{
    int at = 0;
    for (int k = 0; k < b->model.n_bodies; k++) {
        if (b->bodies[k].joint_at == joint) {
            break;
        }
        at += b->bodies[k].joint == FA_JOINT_POSE ? 6 : b->bodies[k].n_dof;
    }
    return at;
}

/* forces inside of joints, none of which act on followers */
static fa_status followers_passive(const fa_model *tree, followers_block *b)
{
    for (int i = 0; i < tree->n_passive; i++) {
        fa_passive *p = b->passive + i;
        *p = tree->passive[i];
        if (b->velocities[p->joint].follows) {
            return FA_BAD_JOINT;
        }
        p->joint = b->velocities[p->joint].at;
        p->joint_at = b->positions[p->joint_at].at;
        p->joint_move = followers_move(b, p->joint);
        if (p->motor >= 0) {
            p->motor = b->velocities[p->motor].at;
            p->motor_at = b->positions[p->motor_at].at;
            p->motor_move = followers_move(b, p->motor);
        }
    }
    b->model.passive = b->passive;
    return FA_OK;
}

/* whether group g reaches the parent of body k */
static int followers_leaves(const followers_block *b, int k, size_t g)
{
    const int inside = b->inside[(size_t)k * (size_t)b->grouping.n_groups + g];
    return inside > 0 && inside < b->members[g];
}

/* the list of the columns of body k; whether it can be freed with them */
static int followers_list(const fa_model *tree, followers_block *b, int k)
{
    fa_grouping *of = &b->grouping;
    fa_columns *c = b->columns + k;
    const int own = b->group_of[k];
    const size_t n = (size_t)of->n_groups;

    c->first = of->n_columns;
    c->own = -1;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t g = 0; g < n; g++) {
            const int inside = b->inside[(size_t)k * n + g];
            const int arrives =
                inside > 0 && b->most[(size_t)k * n + g] < b->members[g];
            if (arrives && (int)g != own && (inside == b->members[g]) == !pass) {
                b->groups[of->n_columns++] = (int)g;
            }
        }
        if (!pass) {
            c->before = of->n_columns - c->first;
        }
    }
    if (own >= 0) {
        c->own = of->n_columns - c->first;
        c->frees_own = !followers_leaves(b, k, (size_t)own);
        b->groups[of->n_columns++] = own;
    }
    c->count = of->n_columns - c->first;
    return c->count == 0 || !tree->bodies[k].wide;
}

/* where the columns of body k go */
static void followers_to(const fa_model *tree, followers_block *b, int k)
{
    const fa_columns *c = b->columns + k;
    const int parent = tree->bodies[k].parent;

    for (int i = c->first; i < c->first + c->count; i++) {
        const fa_columns *up = parent < 0 ? NULL : b->columns + parent;
        b->to[i] = -1;
        for (int j = 0;
             up && j < up->count && followers_leaves(b, k, (size_t)b->groups[i]); j++) {
            if (b->groups[up->first + j] == b->groups[i]) {
                b->to[i] = up->first + j;
            }
        }
    }
}

/* columns of all bodies, for rigid trees without wide joints on their way */
static void followers_plan(fa_model *tree, followers_block *b)
{
    fa_grouping *of = &b->grouping;
    const size_t n = (size_t)of->n_groups;
    int fits = tree->is_rigid;

    for (int k = tree->n_bodies - 1; k >= 0; k--) {
        const int parent = tree->bodies[k].parent;
        if (b->group_of[k] >= 0) {
            b->inside[(size_t)k * n + (size_t)b->group_of[k]]++;
        }
        for (size_t g = 0; g < n && parent >= 0; g++) {
            const int inside = b->inside[(size_t)k * n + g];
            int *most = b->most + (size_t)parent * n + g;
            b->inside[(size_t)parent * n + g] += inside;
            *most = inside > *most ? inside : *most;
        }
    }
    for (int k = 0; k < tree->n_bodies; k++) {
        fits &= followers_list(tree, b, k);
    }
    for (size_t g = 0; g < n; g++) {
        int ends = 0;
        for (int k = 0; k < tree->n_bodies; k++) {
            ends |= b->inside[(size_t)k * n + g] == b->members[g];
        }
        if (!ends) {
            b->last[of->n_last++] = (int)g;
        }
    }
    for (int k = 0; k < tree->n_bodies; k++) {
        followers_to(tree, b, k);
    }
    of->columns = b->columns;
    of->groups = b->groups;
    of->to = b->to;
    of->last = b->last;
    of->leader = b->leader;
    tree->grouping = fits ? of : NULL;
}

fa_status fa_followers_build(const fa_description *d, fa_model *tree, fa_model **result)
{
    followers_block parts;

    if (tree->n_constraints > 0 || tree->fidelity == FA_LINEAR || d->is_general) {
        return FA_BAD_SIZE;
    }
    /* as many groups as followers at most */
    const size_t groups = (size_t)d->n_followers;
    char *memory = calloc(1, followers_split(tree, groups, NULL, &parts));
    followers_block *b = (followers_block *)(void *)memory;
    if (!b) {
        return FA_NO_MEMORY;
    }
    followers_split(tree, groups, memory, b);
    fa_status status = followers_groups(d, tree, b);
    if (status == FA_OK) {
        followers_bodies(tree, b);
        followers_coordinates(tree, b);
        status = followers_passive(tree, b);
    }
    if (status != FA_OK) {
        free(b);
        return status;
    }
    followers_plan(tree, b);
    b->model.is_rigid = 0;
    b->model.n_same = followers_same(tree, b);
    b->model.tree = tree;
    b->model.velocities = b->velocities;
    b->model.positions = b->positions;
    status = fa_branches_build(&b->model);
    if (status != FA_OK) {
        free(b);
        return status;
    }
    *result = &b->model;
    return FA_OK;
}
