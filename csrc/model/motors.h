/*
 * motors.h -- parts of fa_model_build: motors and the forces inside of joints
 */
#ifndef FA_MOTORS_H
#define FA_MOTORS_H

#include "model/description.h"
#include "model/layout.h"

/* checks the rotors, the last bodies, of one freedom as the joints that they drive, and
 * gives actuators their places; all bodies have theirs */
fa_status fa_motors_places(const fa_description *description, fa_model *model,
                           fa_body *bodies);

/* fills the forces [n_passive] of the model from the description */
fa_status fa_motors_passive(const fa_description *description, fa_model *model,
                            fa_passive *passive);

#endif
