/*
 * followers.h -- joints that follow others, q_f = ratio q_l + offset: two models in one
 *
 * The tree has every joint with a coordinate of its own. The model in front of it has
 * the independent coordinates alone: q_tree = B q + offset, qd_tree = B qd. Its bodies
 * serve for what concerns coordinates (steps of positions, motors, forces inside
 * joints); there followers are fixed joints. Kernels take the tree
 * (kernels/bodies/followers.h).
 *
 * Forward dynamics of a rigid tree carries the coordinate of a group, a leader and its
 * followers, inward as columns of forces until all joints of the group are passed
 * (kernels/dynamics/grouped_forward.c); which columns a body has is planned here.
 */
#ifndef FA_FOLLOWERS_H
#define FA_FOLLOWERS_H

#include "model/description.h"
#include "model/layout.h"

/*
 * Puts a model of independent coordinates in front of a tree.
 *
 *   description  has followers
 *   tree         taken over on FA_OK: fa_model_free of the result frees it
 *   result       the model
 *
 * Returns FA_OK or the reason of the refusal: FA_BAD_JOINT where a follower or leader is
 * none of one freedom that is no motor, or where a leader follows, FA_NOT_FINITE,
 * FA_BAD_SIZE for trees with constraints or of linear fidelity.
 */
fa_status fa_followers_build(const fa_description *description, fa_model *tree,
                             fa_model **result);

#endif
