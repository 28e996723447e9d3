/*
 * stacks.c -- building a stack: the same structure in all arms, and what differs
 *
 * Checked by  tests/c/test_stack.c, tests/stacks/test_stacks.py.
 */
#include "model/stacks.h"

#include "model/fast.h"
#include "model/kinds.h"
#include "model/model.h"
#include "model/straight_bodies.h"

#include <stdlib.h>
#include <string.h>

/* whether nothing is known of two bodies, or the same */
static int stack_straight_fits(const fa_straight *a, const fa_straight *b)
{
    const size_t size = offsetof(fa_straight, size) + sizeof a->size;
    return a->kind == b->kind && (a->kind == 0 || memcmp(a, b, size) == 0);
}

static int stack_strain_fits(const fa_strain *a, const fa_strain *b)
{
    return memcmp(a, b, offsetof(fa_strain, constants)) == 0;
}

/* whether two bodies have the same places and the same structure */
static int stack_body_fits(const fa_body *a, const fa_body *b)
{
    return memcmp(a, b, offsetof(fa_body, rot)) == 0 && a->driven.n == b->driven.n &&
           a->driven.axis == b->driven.axis && a->fast.child == b->fast.child &&
           a->fast.is_diagonal == b->fast.is_diagonal && !a->fast.W == !b->fast.W &&
           stack_straight_fits(&a->straight, &b->straight) &&
           stack_strain_fits(&a->strain, &b->strain);
}

/* whether two loops have the same nodes and lock the same directions */
static int stack_loop_fits(const fa_loop *a, const fa_loop *b)
{
    int fits = a->node[0] == b->node[0] && a->node[1] == b->node[1] &&
               a->n_rows == b->n_rows && a->n_line == b->n_line &&
               memcmp(a->line, b->line, sizeof a->line) == 0;

    for (int i = 0; fits && i < a->n_rows; i++) {
        const fa_lock *x = a->locks + i, *y = b->locks + i;
        fits = x->axis == y->axis && x->n_terms == y->n_terms && x->p[0] == y->p[0] &&
               x->q[0] == y->q[0];
    }
    return fits;
}

static int stack_passive_fits(const fa_passive *a, const fa_passive *b)
{
    return a->kind == b->kind && a->joint == b->joint && a->motor == b->motor;
}

/* whether two models differ in constants alone */
static int stack_fits(const fa_model *a, const fa_model *b)
{
    int fits = memcmp(a, b, offsetof(fa_model, gravity)) == 0;

    for (int k = 0; fits && k < a->n_bodies; k++) {
        fits = stack_body_fits(a->bodies + k, b->bodies + k);
    }
    for (int j = 0; fits && j < a->n_nodes; j++) {
        fits = a->nodes[j].body == b->nodes[j].body &&
               !a->nodes[j].kappa == !b->nodes[j].kappa &&
               !a->nodes[j].axis == !b->nodes[j].axis &&
               !a->nodes[j].straight == !b->nodes[j].straight;
    }
    for (int i = 0; fits && i < a->n_loops; i++) {
        fits = stack_loop_fits(a->loops + i, b->loops + i);
    }
    for (int i = 0; fits && i < a->n_passive; i++) {
        fits = stack_passive_fits(a->passive + i, b->passive + i);
    }
    return fits;
}

/* models of all arms; FA_BAD_TOPOLOGY if they do not fit together */
static fa_status stack_models(fa_description *d, int n, int is_general,
                              fa_model **models)
{
    for (int i = 0; i < n; i++) {
        if (d[i].n_followers > 0) {
            return FA_BAD_SIZE;
        }
        d[i].is_general = is_general;
        const fa_status status = fa_model_build(d + i, models + i);
        if (status != FA_OK) {
            return status;
        }
        if (!stack_fits(models[0], models[i])) {
            return FA_BAD_TOPOLOGY;
        }
    }
    return FA_OK;
}

/* whether a joint of any arm has armature */
static int stack_is_armed(const fa_description *d, int n)
{
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < d[i].n_bodies; k++) {
            const double *joint = d[i].joints + (size_t)k * FA_JOINT_SIZE;
            for (int j = 0; j < 6; j++) {
                if (joint[FA_ARMATURE + j] != 0.0) {
                    return 1;
                }
            }
        }
    }
    return 0;
}

static void stack_free_models(int n, fa_model **models)
{
    for (int i = 0; i < n; i++) {
        fa_model_free(models[i]);
        models[i] = NULL;
    }
}

/* which constants differ, and which are read; marks of the constants, then of those inside
 * the structs, run after run */
typedef struct {
    int n_constants, n_inside;
    unsigned char *is_free; /* [n_nodes]  nothing hangs on it */
    unsigned char *differs; /* [n_constants + n_inside] */
    unsigned char *is_read; /* [n_constants + n_inside] */
} stack_marks;

/* nodes that the recursions need: those that carry something */
static void stack_mark_nodes(const fa_model *m, unsigned char *is_free)
{
    memset(is_free, 1, (size_t)m->n_nodes);
    for (int k = 0; k < m->n_bodies; k++) {
        if (m->bodies[k].attach >= 0) {
            is_free[m->bodies[k].attach] = 0;
        }
        if (m->bodies[k].own_node >= 0) {
            is_free[m->bodies[k].own_node] = 0;
        }
    }
    for (int i = 0; i < m->n_loops; i++) {
        for (int side = 0; side < 2; side++) {
            if (m->loops[i].node[side] >= 0) {
                is_free[m->loops[i].node[side]] = 0;
            }
        }
        for (int j = 0; j < m->loops[i].n_line; j++) {
            is_free[m->loops[i].line[j]] = 0;
        }
    }
}

static void stack_mark(int n, fa_model *const *models, const stack_marks *marks)
{
    for (int a = 1; a < n; a++) {
        const double *x = models[0]->constants, *y = models[a]->constants;
        for (int i = 0; i < marks->n_constants; i++) {
            marks->differs[i] |= memcmp(x + i, y + i, sizeof *x) != 0;
        }
        unsigned char *mark = marks->differs + marks->n_constants;
        for (int r = 0, size; (size = fa_model_inside(models[0], r, &x)) >= 0; r++) {
            fa_model_inside(models[a], r, &y);
            for (int i = 0; i < size; i++) {
                *mark++ |= memcmp(x + i, y + i, sizeof *x) != 0;
            }
        }
    }
}

/* the constants of node j: up to those of the next one, or to the integrals */
static fa_stack_range stack_node_constants(const fa_model *m, int j)
{
    const fa_body *b = m->bodies + m->nodes[j].body;
    const double *from = m->nodes[j].position;
    const double *to =
        j + 1 < b->first_node + b->n_nodes ? m->nodes[j + 1].position : b->modal.E;
    return (fa_stack_range){from, (int)(to - from)};
}

/* the integrals and driven shapes of body k: up to the constants of the next one */
static fa_stack_range stack_body_constants(const fa_model *m, int k)
{
    const fa_body *b = m->bodies + k, *next = b + 1;
    const double *to = m->couplings;
    if (k + 1 < m->n_bodies) {
        to = next->n_nodes > 0 ? m->nodes[next->first_node].position : next->modal.E;
    }
    return (fa_stack_range){b->modal.E, (int)(to - b->modal.E)};
}

static void stack_read(const fa_model *m, const stack_marks *marks, const double *from,
                       size_t count)
{
    if (from && count > 0) {
        memset(marks->is_read + (from - m->constants), 1, count);
    }
}

/* the constants of straight and of fast bodies, which motion alone reads */
static void stack_read_known(const fa_model *m, const stack_marks *marks)
{
    for (int k = 0; k < m->n_bodies; k++) {
        const fa_body *b = m->bodies + k;
        if (b->straight.kind > 0) {
            stack_read(m, marks, b->straight.constants, (size_t)b->straight.size);
        }
        if (b->fast.W) {
            stack_read(m, marks, b->fast.W, fa_fast_size(b->n_modes));
        }
    }
    for (int j = 0; j < m->n_nodes; j++) {
        const fa_straight *s = &m->bodies[m->nodes[j].body].straight;
        if (!marks->is_free[j] && m->nodes[j].straight) {
            stack_read(m, marks, m->nodes[j].straight,
                       (size_t)(FA_NODE_BEND_SIZE(s->count[0]) +
                                FA_NODE_BEND_SIZE(s->count[1]) + s->count[2]));
        }
    }
}

/* the constants of strain energies, which motion and bodies read */
static void stack_read_strains(const fa_model *m, const stack_marks *marks)
{
    for (int k = 0; k < m->n_bodies; k++) {
        const fa_strain *s = &m->bodies[k].strain;
        const int size = 3 + 2 * (s->count[0] + s->count[1] + s->count[2]);
        stack_read(m, marks, s->constants, (size_t)(s->n * size));
        stack_read(m, marks, s->forces, FA_STRAIN_FORCES);
    }
}

/* marks the constants that the kernels of a use read */
static void stack_read_constants(const fa_model *m, fa_stack_use use,
                                 const stack_marks *marks)
{
    const int motion = use == FA_STACK_MOTION;

    memset(marks->is_read, 0, (size_t)marks->n_constants);
    for (int k = 0; k < m->n_bodies && use != FA_STACK_PLACES; k++) {
        if (!motion || m->bodies[k].straight.kind == 0) {
            const fa_stack_range own = stack_body_constants(m, k);
            stack_read(m, marks, own.from, (size_t)own.count);
        }
    }
    for (int j = 0; j < m->n_nodes; j++) {
        const fa_stack_range own = stack_node_constants(m, j);
        const int few = motion && m->nodes[j].straight;
        if (!marks->is_free[j]) {
            stack_read(m, marks, own.from, few ? 3 : (size_t)own.count);
            stack_read(m, marks, m->nodes[j].axis, 3);
        }
    }
    stack_read(m, marks, m->couplings, (size_t)m->n_couplings * (size_t)(m->nu + 1));
    if (motion) {
        stack_read_known(m, marks);
    }
    if (use != FA_STACK_PLACES) {
        stack_read_strains(m, marks);
    }
}

/* numbers of a body from its member `name` on, among those of its run inside the structs */
#define STACK_INSIDE(name) ((offsetof(fa_body, name) - offsetof(fa_body, rot)) / 8)

/* forgets the numbers of a body from one member up to another one */
#define STACK_SKIP(mark, first, end)                                                   \
    memset((mark) + STACK_INSIDE(first), 0, STACK_INSIDE(end) - STACK_INSIDE(first))

/* marks the numbers of a body that the kernels of a use read */
static void stack_read_body(const fa_model *m, const fa_body *b, fa_stack_use use,
                            unsigned char *mark)
{
    memset(mark, 1, STACK_INSIDE(modal));
    if (use == FA_STACK_PLACES) {
        STACK_SKIP(mark, damping, S);
        STACK_SKIP(mark, mass, modal);
        return;
    }
    if (!b->wide) {
        STACK_SKIP(mark, S, mass);
    }
    if (use == FA_STACK_BODIES) {
        STACK_SKIP(mark, fall, modal);
        return;
    }
    STACK_SKIP(mark, frame, damping);
    if (!m->is_rigid) {
        STACK_SKIP(mark, alpha, modal);
        if (b->straight.kind > 0) {
            STACK_SKIP(mark, mp0, alpha);
        }
    } else if (b->hop_kind != FA_HOP_GENERAL) {
        STACK_SKIP(mark, rot, frame);
    }
}

/* marks the numbers inside the structs that the kernels of a use read */
static void stack_read_inside(const fa_model *m, fa_stack_use use,
                              const stack_marks *marks)
{
    unsigned char *mark = marks->is_read + marks->n_constants;
    const double *from;

    for (int r = 0, size; (size = fa_model_inside(m, r, &from)) >= 0; r++) {
        const int is_body = r >= 1 && r <= 2 * m->n_bodies;
        memset(mark, 1, (size_t)size);
        if (is_body && r % 2 == 1) {
            stack_read_body(m, m->bodies + (r - 1) / 2, use, mark);
        } else if (is_body && use != FA_STACK_MOTION) { /* of the fast way */
            memset(mark, 0, (size_t)size);
        }
        mark += size;
    }
}

/*
 * Chunks for the numbers of a run, `size` of them, that differ and are read. A chunk at
 * the end stands before it: it must not reach into what follows a struct.
 */
static void stack_lay_run(fa_stack *s, const unsigned char *differs,
                          const unsigned char *is_read, int run, int size)
{
    for (int i = 0; i < size; i++) {
        if (differs[i] && (!is_read || is_read[i])) {
            int place = i + FA_STACK_CHUNK > size ? size - FA_STACK_CHUNK : i;
            place = place < 0 ? 0 : place;
            if (s->chunks) {
                s->chunks[s->n_chunks] = (fa_stack_chunk){run, place};
            }
            s->n_chunks++;
            i = place + FA_STACK_CHUNK - 1;
        }
    }
}

/* fills up the last columns, so that lists start where a vector does */
static void stack_lay_end(fa_stack *s, fa_stack_chunks *list)
{
    while (s->n_chunks % (FA_STACK_PAD / FA_STACK_CHUNK) != 0) {
        if (s->chunks) {
            s->chunks[s->n_chunks] = (fa_stack_chunk){-1, s->model->n_constants};
        }
        s->n_chunks++;
    }
    list->count = s->n_chunks - list->first;
}

/* ranges of constants that are read; returns their number */
static int stack_lay_ranges(const fa_stack *s, const stack_marks *marks,
                            fa_stack_range *ranges)
{
    int n = 0;

    for (int i = 0, end; i < marks->n_constants; i = end) {
        end = i + 1;
        while (end < marks->n_constants && marks->is_read[end] == marks->is_read[i]) {
            end++;
        }
        if (marks->is_read[i]) {
            if (ranges) {
                ranges[n] = (fa_stack_range){s->model->constants + i, end - i};
            }
            n++;
        }
    }
    return n;
}

/* all lists; only counted as long as there is no memory for them */
static int stack_lay(fa_stack *s, const stack_marks *marks)
{
    const fa_model *m = s->model;
    const double *from;
    int n_ranges = 0;

    s->n_chunks = 0;
    for (int use = 0; use < FA_STACK_USES; use++) {
        fa_stack_list *list = s->lists + use;
        int at = marks->n_constants;
        stack_read_constants(m, (fa_stack_use)use, marks);
        stack_read_inside(m, (fa_stack_use)use, marks);
        list->chunks.first = s->n_chunks;
        list->ranges = s->ranges ? s->ranges + n_ranges : NULL;
        list->n_ranges = stack_lay_ranges(s, marks, list->ranges);
        n_ranges += list->n_ranges;
        stack_lay_run(s, marks->differs, marks->is_read, -1, marks->n_constants);
        for (int r = 0, size; (size = fa_model_inside(m, r, &from)) >= 0; r++) {
            stack_lay_run(s, marks->differs + at, marks->is_read + at, r, size);
            at += size;
        }
        stack_lay_end(s, &list->chunks);
    }
    for (int j = 0; j < m->n_nodes; j++) {
        if (marks->is_free[j]) {
            fa_stack_node node = {stack_node_constants(m, j), {s->n_chunks, 0}};
            const int first = (int)(node.constants.from - m->constants),
                      before = s->n_chunks;
            stack_lay_run(s, marks->differs + first, NULL, -1, node.constants.count);
            for (int c = before; s->chunks && c < s->n_chunks; c++) {
                s->chunks[c].place += first;
            }
            stack_lay_end(s, &node.chunks);
            if (s->nodes) {
                s->nodes[j] = node;
            }
        }
    }
    return n_ranges;
}

/* the numbers of one arm, chunk by chunk */
static void stack_values(const fa_stack *s, const fa_model *arm, double *values)
{
    for (int c = 0; c < s->n_chunks; c++) {
        const fa_stack_chunk *chunk = s->chunks + c;
        const double *from = arm->constants;
        int size = arm->n_constants;
        if (chunk->run >= 0) {
            size = fa_model_inside(arm, chunk->run, &from);
        }
        for (int i = 0; i < FA_STACK_CHUNK; i++) {
            const int at = chunk->place + i;
            *values++ = at < size ? from[at] : 0.0;
        }
    }
}

static fa_status stack_fill(fa_stack *s, fa_model *const *models,
                            const stack_marks *marks)
{
    stack_mark_nodes(s->model, marks->is_free);
    stack_mark(s->n_arms, models, marks);
    const size_t n_ranges = (size_t)stack_lay(s, marks); /* counts, then writes */
    const size_t chunks = (size_t)s->n_chunks, arms = (size_t)s->n_arms;
    s->ranges = calloc(n_ranges + 1, sizeof *s->ranges);
    s->nodes = calloc((size_t)s->model->n_nodes + 1, sizeof *s->nodes);
    s->chunks = calloc(chunks + 1, sizeof *s->chunks);
    s->values = malloc((chunks * FA_STACK_CHUNK * arms + 1) * sizeof *s->values);
    if (!s->ranges || !s->nodes || !s->chunks || !s->values) {
        return FA_NO_MEMORY;
    }
    stack_lay(s, marks);
    for (int a = 0; a < s->n_arms; a++) {
        stack_values(s, models[a], s->values + (size_t)a * chunks * FA_STACK_CHUNK);
    }
    return FA_OK;
}

/* a stack of models that fit together; it takes the first of them */
static fa_status stack_of(int n, fa_model **models, fa_stack **stack)
{
    const fa_model *m = models[0];
    const double *from;
    int inside = 0;

    for (int r = 0, size; (size = fa_model_inside(m, r, &from)) >= 0; r++) {
        inside += size;
    }
    const size_t nodes = (size_t)m->n_nodes,
                 numbers = (size_t)m->n_constants + (size_t)inside;
    fa_stack *s = calloc(1, sizeof *s);
    unsigned char *bytes = calloc(1, nodes + 2 * numbers + 1);
    fa_status status = FA_NO_MEMORY;
    if (s && bytes) {
        const stack_marks marks = {m->n_constants, inside, bytes, bytes + nodes,
                                   bytes + nodes + numbers};
        s->model = models[0];
        s->n_arms = n;
        status = stack_fill(s, models, &marks);
        models[0] = NULL;
    }
    free(bytes);
    if (status != FA_OK) {
        fa_stack_free(s);
        return status;
    }
    *stack = s;
    return FA_OK;
}

fa_status fa_stack_build(fa_description *descriptions, int n_arms, fa_stack **stack)
{
    if (n_arms < 1) {
        return FA_BAD_SIZE;
    }
    fa_model **models = calloc((size_t)n_arms, sizeof *models);
    if (!models) {
        return FA_NO_MEMORY;
    }
    fa_status status = stack_models(descriptions, n_arms, 0, models);
    if (status == FA_BAD_TOPOLOGY) {
        stack_free_models(n_arms, models);
        status = stack_models(descriptions, n_arms,
                              1 + stack_is_armed(descriptions, n_arms), models);
    }
    if (status == FA_OK) {
        status = stack_of(n_arms, models, stack);
    }
    stack_free_models(n_arms, models);
    free(models);
    return status;
}

void fa_stack_free(fa_stack *stack)
{
    if (stack) {
        fa_model_free(stack->model);
        free(stack->ranges);
        free(stack->nodes);
        free(stack->chunks);
        free(stack->values);
    }
    free(stack);
}
