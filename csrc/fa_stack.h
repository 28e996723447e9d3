/*
 * fa_stack.h -- many arms of one topology, for kernels whose lanes hold different arms
 *
 * Arms that differ in constants alone: payloads, lengths, stiffness, friction, gravity.
 * The stack keeps one model, from whose constants all lanes start, and, arm by arm, the
 * numbers that are not the same in all of them. A kernel of a stack spreads the model
 * over lanes once per call; for each block of lanes it then gathers those numbers of the
 * arms in it, and nothing if the arms are those of the block before (kernels/stack.c).
 *
 * Structure   what a model knows of its constants, such as which are zero, has to be the
 *             same in all arms; else all are built as if nothing were known.
 * Columns     the numbers that differ, in three groups: those inside the structs of
 *             bodies, loops and forces; constants that every kernel may need; those of
 *             the nodes on which nothing hangs, node by node. Each group is filled up to
 *             a multiple of FA_STACK_PAD with columns that have no meaning.
 */
#ifndef FA_STACK_H
#define FA_STACK_H

#include "fa_model.h"

enum { FA_STACK_PAD = 8 }; /* the most lanes that there are */

/* `count` constants that follow each other in the model */
typedef struct {
    const double *from;
    int count;
} fa_stack_range;

/* a node on which nothing hangs: its constants and its columns; counts are zero else */
typedef struct {
    fa_stack_range constants;
    int column, n_columns;
} fa_stack_node;

typedef struct {
    fa_model *model; /* the first arm */
    int n_arms;
    int n_columns, n_inside, n_needed; /* columns: all, first group, first two groups */
    /* constants that every kernel may need: n_structs ranges inside structs, in the order
     * of fa_model_inside, then n_pieces of model->constants */
    int n_structs, n_pieces;
    fa_stack_range *ranges;
    fa_stack_node *nodes; /* [n_nodes] */
    /* where a column belongs: in the first group to entry `place` of range `range`, -1 if
     * it has no meaning; else to constant `place`, n_constants if it has none */
    int *range;     /* [n_inside] */
    int *place;     /* [n_columns] */
    double *values; /* [n_arms][n_columns] */
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
