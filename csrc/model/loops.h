/*
 * loops.h -- parts of fa_model_build: closed loops, sliding points and couplings
 */
#ifndef FA_LOOPS_H
#define FA_LOOPS_H

#include "model/description.h"
#include "model/layout.h"

/* fills the loops [n_loops] and couplings of the model from the description; all bodies
 * and nodes are there */
fa_status fa_loops_build(const fa_description *description, fa_model *model,
                         fa_loop *loops, double *couplings);

#endif
