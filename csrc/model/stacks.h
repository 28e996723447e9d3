/*
 * stacks.h -- many arms of one topology, for kernels whose lanes hold different arms
 *
 * Arms that differ in constants alone: payloads, lengths, stiffness, friction, gravity.
 * The stack keeps one model, from whose constants all lanes start, and, arm by arm, the
 * numbers that are not the same in all of them. A kernel of a stack spreads the model
 * over lanes once per call; for each block of lanes it then gathers those numbers of the
 * arms in it, and nothing if the arms are those of the block before (stack.c).
 *
 * Structure   what a model knows of its constants, such as which are zero, has to be the
 *             same in all arms; else all are built as if nothing were known.
 * Lists       kernels do not read all constants: recursions that know straight bodies or
 *             rigid arms read few, kinematics no inertia. For each use there is a list of
 *             what its kernels read, and of that what is not the same in all arms.
 * Chunks      numbers that differ are gathered FA_STACK_CHUNK at a time, with those that
 *             follow them in the model, equal or not: a row of the table is a row of the
 *             model. Lists are filled up to FA_STACK_PAD columns with chunks that have no
 *             place.
 */
#ifndef FA_STACK_H
#define FA_STACK_H

#include "model/description.h"
#include "model/layout.h"

enum {
    FA_STACK_PAD = 8,  /* the most lanes that there are */
    FA_STACK_CHUNK = 4 /* columns that have one place */
};

/* what kernels read */
typedef enum {
    FA_STACK_PLACES, /* joint frames, nodes, constraints: kinematics */
    FA_STACK_MOTION, /* what the recursions of forward and inverse dynamics read */
    FA_STACK_BODIES, /* places, and bodies of any kind: all other kernels */
    FA_STACK_USES
} fa_stack_use;

/* `count` constants that follow each other in the model */
typedef struct {
    const double *from;
    int count;
} fa_stack_range;

/* chunks from `first` on */
typedef struct {
    int first, count;
} fa_stack_chunks;

/* where a chunk belongs: to run `run` inside the structs (fa_model_inside), or, if that is
 * -1, to the constants of the model, from entry `place` on; n_constants: no place */
typedef struct {
    int run, place;
} fa_stack_chunk;

/* what the kernels of one use read: ranges of model->constants, and what differs */
typedef struct {
    int n_ranges;
    fa_stack_range *ranges;
    fa_stack_chunks chunks;
} fa_stack_list;

/* a node on which nothing hangs, of which kernels read the one that they are asked for:
 * its constants; counts are zero else */
typedef struct {
    fa_stack_range constants;
    fa_stack_chunks chunks;
} fa_stack_node;

typedef struct {
    fa_model *model; /* the first arm */
    int n_arms, n_chunks;
    fa_stack_list lists[FA_STACK_USES];
    fa_stack_node *nodes; /* [n_nodes] */
    fa_stack_chunk *chunks;
    double *values;         /* [n_arms][n_chunks][FA_STACK_CHUNK] */
    fa_stack_range *ranges; /* of all lists */
} fa_stack;

/*
 * Builds a stack.
 *
 *   descriptions  [n_arms], not kept; is_general is set here
 *   stack         on FA_OK the new stack, to be freed with fa_stack_free
 *
 * Returns FA_OK, why a model is refused, or FA_BAD_TOPOLOGY where arms differ in more
 * than constants.
 */
fa_status fa_stack_build(fa_description *descriptions, int n_arms, fa_stack **stack);
void fa_stack_free(fa_stack *stack);

#endif
