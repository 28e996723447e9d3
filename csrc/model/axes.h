/*
 * axes.h -- parts of fa_model_build: the internal axes of bodies, hops between them
 */
#ifndef FA_AXES_H
#define FA_AXES_H

#include "model/description.h"
#include "model/layout.h"

/*
 * Internal axes of all bodies and the frames of their joints in these.
 *
 *   bodies  places in the tree are known; frame, rot, pos, S and damping are set, and
 *           alpha, delta, is_turned and hop_kind of the hops that have angles (V1)
 */
void fa_axes_turn(const fa_description *description, fa_body *bodies);

/*
 * The rest of what the rigid recursions know of body k: arm, fall, E0, hop_kind by the
 * place of the joint, n_children of the parent. All bodies before k are complete.
 */
void fa_axes_hop(const fa_description *description, const fa_model *model, int k,
                 fa_body *bodies);

#endif
