/*
 * model.h -- one arm as an immutable block of constants
 *
 * A tree of bodies in the order of the user, base to tip (the patent of Jain and
 * Rodriguez counts tip to base), every body after its parent. A model is built once,
 * never changed and may be shared by threads.
 *
 * Axes        inside the model each body has axes turned such that its joint moves
 *             along +z (identity where the user's axis is already +z): the motion
 *             subspace of every joint is then a unit vector. fa_body.frame takes
 *             these components back to those of the user. The turn about z that is left
 *             free makes the hop to the first child a short one (V1, model/axes.c).
 * Coordinates joints in the order of the bodies, motors, then the modes body by body; q
 *             has more joint positions than qd has joint velocities where quaternions are.
 * Motors      the rotor of a flexible joint is a body without nodes on the node that
 *             carries the joint, after all others; what couples it to the joint is one of
 *             the forces inside joints (joint_forces.h). Its motor takes the force that
 *             an actuator of the joint would have.
 * Units       SI; modal coordinates have the unit their normalization gives them.
 */
#ifndef FA_MODEL_H
#define FA_MODEL_H

#include "model/description.h"
#include "model/layout.h"

/*
 * Builds a model from a description.
 *
 *   description  arrays as above, copied, not kept
 *   model        on FA_OK the new model, to be freed with fa_model_free
 *
 * Checks what memory safety needs; physics (masses, symmetry) is checked by the
 * Python layer. Returns FA_OK or the reason of the refusal.
 */
fa_status fa_model_build(const fa_description *description, fa_model **model);
void fa_model_free(fa_model *model);

#endif
