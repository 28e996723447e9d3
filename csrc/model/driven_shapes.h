/*
 * driven_shapes.h -- shapes of a body that its modes drive: foreshortening (B6)
 *
 * Shapes g_k of a body whose amplitudes follow the modes, zeta_k = 1/2 eta' K_k eta.
 * Integrals as in fa_modal, of p shapes beside n modes; driven shapes turn no node.
 */
#ifndef FA_DRIVEN_H
#define FA_DRIVEN_H

#include "model/layout.h"

/* numbers that describe p shapes of a body with n modes: the arrays from K to Jkl */
size_t fa_driven_size(int n, int p);

/* numbers of w and u */
size_t fa_driven_axial_size(int n, int p);

/*
 * Driven shapes of a body with n modes.
 *
 *   p        number of shapes
 *   frame    [9] columns are the internal axes in user components
 *   in       [fa_driven_size(n, p)] the arrays from K to Jkl in the user's axes
 *   out      [fa_driven_size + fa_driven_axial_size] receives them in internal axes
 *   driven   all is set
 *
 * Returns the first number behind `out`.
 */
double *fa_driven_build(int n, int p, const double *frame, const double *in,
                        double *out, fa_driven *driven);

#endif
