/*
 * loops.c -- building a model: loops, lines on which points slide, couplings
 *
 * Checked by  tests/c/test_model.c (refusals), tests/constraints/.
 */
#include "model/loops.h"

#include "model/kinds.h"

#include <string.h>

/* directions that a point on a line may lock: the turn about x, y and z */
enum { LOOPS_OF_LINE = 1 | 16 | 32 };

/*
 * Rotations of a loop, axes i, j, k in cyclic order: of one locked axis i, a_k . b_j; of
 * two with k free, a_j . b_k and a_i . b_k; of three, the skew part of the relative
 * rotation. Each is the angle about its axis to first order.
 */
static void loops_lock(int directions, fa_loop *loop)
{
    const int turns = directions & 7;

    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        fa_lock lock = {.axis = -1, .n_terms = 1, .weight = {1.0, 0.0}};

        if (!(turns & (1 << i))) {
            continue;
        }
        lock.p[0] = k;
        lock.q[0] = j;
        if (turns == 7) {
            lock.n_terms = 2;
            lock.p[1] = j;
            lock.q[1] = k;
            lock.weight[0] = 0.5;
            lock.weight[1] = -0.5;
        } else if (turns & (1 << j)) { /* k is free */
            lock.p[0] = j;
            lock.q[0] = k;
            lock.weight[0] = -1.0;
        }
        loop->locks[loop->n_rows++] = lock;
    }
    for (int i = 0; i < 3; i++) {
        if (directions & (8 << i)) {
            loop->locks[loop->n_rows++] = (fa_lock){.axis = i};
        }
    }
}

/* nodes of the line of a loop, all of one body, in order along the x axis of its frame */
static fa_status loops_line(const int *given, const fa_model *model, fa_loop *loop)
{
    const double *x = loop->rotation[0];
    const int n = given[FA_LOOP_LINE], *nodes = given + FA_LOOP_NODES;

    if (n == 0) {
        return FA_OK;
    }
    if (n < 2 || n > FA_MAX_LINE || nodes[0] != loop->node[0] ||
        (given[FA_LOOP_DIRECTIONS] & ~LOOPS_OF_LINE)) {
        return FA_BAD_LOOP;
    }
    for (int j = 0; j < n; j++) {
        if (nodes[j] < 0 || nodes[j] >= model->n_nodes ||
            model->nodes[nodes[j]].body != model->nodes[nodes[0]].body) {
            return FA_BAD_LOOP;
        }
        const double *at = model->nodes[nodes[j]].position;
        const double *start = model->nodes[nodes[0]].position;
        const fa_body *b = model->bodies + model->nodes[nodes[j]].body;
        double along = 0.0;
        for (int i = 0; i < 3; i++) { /* of the user, whose axes x has */
            for (int k = 0; k < 3; k++) {
                along += x[3 * i] * b->frame[3 * i + k] * (at[k] - start[k]);
            }
        }
        if (j > 0 && !(along > loop->station[j - 1])) {
            return FA_BAD_LOOP;
        }
        loop->line[j] = nodes[j];
        loop->station[j] = along;
    }
    loop->n_line = n;
    return FA_OK;
}

fa_status fa_loops_build(const fa_description *d, fa_model *model, fa_loop *loops,
                         double *couplings)
{
    for (int k = 0; k < d->n_loops; k++) {
        const int *given = d->loops + (size_t)k * FA_LOOP_SIZE;
        fa_loop *loop = loops + k;

        *loop = (fa_loop){.node = {given[FA_LOOP_FIRST], given[FA_LOOP_SECOND]}};
        for (int side = 0; side < 2; side++) {
            const double *frame = d->frames + (size_t)(2 * k + side) * FA_FRAME_SIZE;
            if (loop->node[side] < -1 || loop->node[side] >= model->n_nodes) {
                return FA_BAD_LOOP;
            }
            memcpy(loop->position[side], frame + FA_FRAME_POSITION, 3 * sizeof *frame);
            memcpy(loop->rotation[side], frame + FA_FRAME_ROTATION, 9 * sizeof *frame);
        }
        const fa_status status = loops_line(given, model, loop);
        if (status != FA_OK) {
            return status;
        }
        loops_lock(given[FA_LOOP_DIRECTIONS], loop);
        model->n_constraints += loop->n_rows;
    }
    if (d->n_couplings > 0) {
        memcpy(couplings, d->couplings, d->couplings_size * sizeof(double));
    }
    model->n_constraints += d->n_couplings;
    model->n_loops = d->n_loops;
    model->n_couplings = d->n_couplings;
    model->loops = loops;
    model->couplings = couplings;
    model->stabilization = d->stabilization;
    return FA_OK;
}
