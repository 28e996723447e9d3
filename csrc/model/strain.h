/*
 * strain.h -- part of fa_model_build: the strain energy of a beam
 */
#ifndef FA_STRAIN_H
#define FA_STRAIN_H

#include "model/layout.h"

/*
 * Constants of the strain energy of a body of p Gauss points, from its description.
 *
 *   given  [FA_STRAIN_SIZE(n, p)]
 *   b      n_modes and straight are known; strain is set. A straight body whose slopes are
 *          not those of its directions is no longer one, and neither are its nodes.
 *   is_general  zeros are not looked for
 *
 * Returns the first unused constant; at most FA_STRAIN_SIZE + FA_STRAIN_FORCES are used.
 */
double *fa_strain_build(int p, const double *given, int is_general, fa_body *b,
                        fa_node *nodes, double *constants);

#endif
