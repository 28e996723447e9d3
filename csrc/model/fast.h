/*
 * fast.h -- constants with which the modes of a body are freed without factoring D_f
 *
 * Equations   G = L L', W = L^-1: modal mass, which no deformation changes
 *             W [lambda gamma] = Q [C'; 0], lambda and gamma at the node of the child,
 *             Q six reflections 1 - h h'                                         (D1)
 *             In the coordinates Q' L' eta the modal mass is one and the child moves
 *             with the first six alone.
 * Source      Jain and Rodriguez, US patent 5,546,508, eqs. 76 to 78, where W'W is
 *             Lambda, W'W zeta Upsilon and C C' Omega.
 */
#ifndef FA_FAST_H
#define FA_FAST_H

#include "model/layout.h"

/* least number of modes for which this is faster, see tests/bench/README.md */
enum { FA_FAST_MODES = 12 };

/* number of doubles of the constants of a body with n modes */
size_t fa_fast_size(int n);

/*
 * Constants of one body with n >= 6 modes.
 *
 *   G              [n(n+1)/2] modal mass
 *   E              [n][3]
 *   gamma, lambda  [n][3] at the node of the child, or NULL
 *   storage        [fa_fast_size(n)] zeros
 *   result         all but `child` is set
 *
 * Leaves W = NULL where G is so close to singular that its inverse would cost digits.
 */
void fa_fast_build(int n, const double *G, const double *E, const double *gamma,
                   const double *lambda, double *storage, fa_fast *result);

#endif
