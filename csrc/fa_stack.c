/*
 * fa_stack.c -- building a stack: the same structure in all arms, and what differs
 *
 * Checked by  tests/c/test_stack.c, tests/test_stacks.py.
 */
#include "fa_stack.h"

#include <stdlib.h>
#include <string.h>

/* whether nothing is known of two bodies, or the same */
static int stack_straight_fits(const fa_straight *a, const fa_straight *b)
{
    const size_t size = offsetof(fa_straight, size) + sizeof a->size;
    return a->kind == b->kind && (a->kind == 0 || memcmp(a, b, size) == 0);
}

/* whether two bodies have the same places and the same structure */
static int stack_body_fits(const fa_body *a, const fa_body *b)
{
    return memcmp(a, b, offsetof(fa_body, rot)) == 0 && a->driven.n == b->driven.n &&
           a->driven.axis == b->driven.axis && a->fast.child == b->fast.child &&
           a->fast.is_diagonal == b->fast.is_diagonal && !a->fast.W == !b->fast.W &&
           stack_straight_fits(&a->straight, &b->straight);
}

/* whether two loops have the same nodes and lock the same directions */
static int stack_loop_fits(const fa_loop *a, const fa_loop *b)
{
    int fits =
        a->node[0] == b->node[0] && a->node[1] == b->node[1] && a->n_rows == b->n_rows;

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

static void stack_free_models(int n, fa_model **models)
{
    for (int i = 0; i < n; i++) {
        fa_model_free(models[i]);
        models[i] = NULL;
    }
}

/* which constants are not the same in all arms */
typedef struct {
    int n_inside;            /* numbers inside the structs */
    unsigned char *is_free;  /* [n_nodes]  nothing hangs on it */
    unsigned char *constant; /* [n_constants] */
    unsigned char *inside;   /* [n_inside] */
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
    }
}

static void stack_mark(int n, fa_model *const *models, const stack_marks *marks)
{
    for (int a = 1; a < n; a++) {
        const double *x = models[0]->constants, *y = models[a]->constants;
        for (int i = 0; i < models[0]->n_constants; i++) {
            marks->constant[i] |= memcmp(x + i, y + i, sizeof *x) != 0;
        }
        unsigned char *mark = marks->inside;
        for (int r = 0, size; (size = fa_model_inside(models[0], r, &x)) >= 0; r++) {
            fa_model_inside(models[a], r, &y);
            for (int i = 0; i < size; i++) {
                *mark++ |= memcmp(x + i, y + i, sizeof *x) != 0;
            }
        }
    }
}

/* the constants of a node: up to those of the next one, or to the integrals */
static fa_stack_range stack_node_constants(const fa_model *m, int j)
{
    const fa_body *b = m->bodies + m->nodes[j].body;
    const double *from = m->nodes[j].position;
    const double *to =
        j + 1 < b->first_node + b->n_nodes ? m->nodes[j + 1].position : b->modal.E;
    return (fa_stack_range){from, (int)(to - from)};
}

static int stack_pad(int n)
{
    return (n + FA_STACK_PAD - 1) / FA_STACK_PAD * FA_STACK_PAD;
}

/* columns of marked constants from `begin` up to `end`; only counted without `place` */
static int stack_columns(const stack_marks *marks, int begin, int end, int column,
                         int *place)
{
    for (int i = begin; i < end; i++) {
        if (marks->constant[i]) {
            if (place) {
                place[column] = i;
            }
            column++;
        }
    }
    return column;
}

/* pieces of the constants between free nodes, their columns, and those of the nodes */
static void stack_lay_constants(fa_stack *s, const stack_marks *marks)
{
    const fa_model *m = s->model;
    int begin = 0, column = s->n_inside, pieces = 0;

    for (int j = 0; j <= m->n_nodes; j++) {
        fa_stack_range own = {m->constants + m->n_constants, 0};
        if (j < m->n_nodes && !marks->is_free[j]) {
            continue;
        }
        if (j < m->n_nodes) {
            own = stack_node_constants(m, j);
        }
        const int end = (int)(own.from - m->constants);
        if (end > begin) {
            if (s->place) {
                s->ranges[s->n_structs + pieces] =
                    (fa_stack_range){m->constants + begin, end - begin};
            }
            pieces++;
        }
        column = stack_columns(marks, begin, end, column, s->place);
        begin = end + own.count;
    }
    s->n_pieces = pieces;
    s->n_needed = column = stack_pad(column);
    for (int j = 0; j < m->n_nodes; j++) {
        if (marks->is_free[j]) {
            const fa_stack_range own = stack_node_constants(m, j);
            const int first = (int)(own.from - m->constants), start = column;
            column = stack_columns(marks, first, first + own.count, column, s->place);
            if (s->place) {
                s->nodes[j] = (fa_stack_node){own, start, column - start};
            }
        }
    }
    s->n_columns = stack_pad(column);
}

/* runs inside the structs, and their columns */
static void stack_lay_structs(fa_stack *s, const stack_marks *marks)
{
    const unsigned char *mark = marks->inside;
    const double *from;
    int column = 0, r = 0, size;

    for (; (size = fa_model_inside(s->model, r, &from)) >= 0; r++) {
        if (s->place) {
            s->ranges[r] = (fa_stack_range){from, size};
        }
        for (int i = 0; i < size; i++) {
            if (*mark++) {
                if (s->place) {
                    s->range[column] = r;
                    s->place[column] = i;
                }
                column++;
            }
        }
    }
    s->n_structs = r;
    s->n_inside = stack_pad(column);
}

/* the numbers of one arm, column by column */
static void stack_values(const fa_stack *s, const fa_model *arm, double *values)
{
    for (int c = 0; c < s->n_columns; c++) {
        const double *from = arm->constants;
        int has_meaning = s->place[c] < arm->n_constants;
        if (c < s->n_inside) {
            has_meaning = s->range[c] >= 0;
            fa_model_inside(arm, has_meaning ? s->range[c] : 0, &from);
        }
        values[c] = has_meaning ? from[s->place[c]] : 0.0;
    }
}

/* memory for the arrays of a stack; columns have no meaning yet */
static int stack_allocate(fa_stack *s)
{
    const size_t columns = (size_t)s->n_columns, arms = (size_t)s->n_arms;
    const size_t ranges = (size_t)(s->n_structs + s->n_pieces);
    const size_t nodes = (size_t)s->model->n_nodes;

    s->ranges = calloc(ranges + 1, sizeof *s->ranges);
    s->nodes = calloc(nodes + 1, sizeof *s->nodes);
    s->range = malloc((columns + 1) * sizeof *s->range);
    s->place = malloc((columns + 1) * sizeof *s->place);
    s->values = malloc((columns * arms + 1) * sizeof *s->values);
    for (size_t c = 0; c < columns && s->range && s->place; c++) {
        s->range[c] = -1;
        s->place[c] = s->model->n_constants;
    }
    return s->ranges && s->nodes && s->range && s->place && s->values;
}

static fa_status stack_fill(fa_stack *s, fa_model *const *models,
                            const stack_marks *marks)
{
    stack_mark_nodes(s->model, marks->is_free);
    stack_mark(s->n_arms, models, marks);
    /* count, then write */
    stack_lay_structs(s, marks);
    stack_lay_constants(s, marks);
    if (!stack_allocate(s)) {
        return FA_NO_MEMORY;
    }
    stack_lay_structs(s, marks);
    stack_lay_constants(s, marks);
    for (int a = 0; a < s->n_arms; a++) {
        stack_values(s, models[a], s->values + (size_t)a * (size_t)s->n_columns);
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
    const size_t sizes[3] = {(size_t)m->n_nodes, (size_t)m->n_constants,
                             (size_t)inside};
    fa_stack *s = calloc(1, sizeof *s);
    unsigned char *bytes = calloc(1, sizes[0] + sizes[1] + sizes[2] + 1);
    fa_status status = FA_NO_MEMORY;
    if (s && bytes) {
        const stack_marks marks = {inside, bytes, bytes + sizes[0],
                                   bytes + sizes[0] + sizes[1]};
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
        status = stack_models(descriptions, n_arms, 1, models);
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
        free(stack->range);
        free(stack->place);
        free(stack->values);
    }
    free(stack);
}
