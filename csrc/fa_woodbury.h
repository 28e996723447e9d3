/*
 * fa_woodbury.h -- constants with which the modes of a body are freed without factors
 *
 * Equations   D_f = G + zeta Gamma zeta' differs from the constant modal mass G by the
 *             inertia Gamma of the child alone. With G = L L', W = L^-1:
 *             zeta_w = W zeta, E_w = W E, zeta_w = Q C'                          (D1)
 *             zeta = [lambda gamma] at the node of the child, Omega = C C'.
 * Source      Jain and Rodriguez, US patent 5,546,508, eqs. 76 to 78.
 */
#ifndef FA_WOODBURY_H
#define FA_WOODBURY_H

#include <stddef.h>

/* least number of modes for which this is faster than factors; see csrc/README.md */
enum { FA_WOODBURY_MODES = 12 };

typedef struct {
    int child;       /* the only body that hangs on this one, or -1 */
    int is_diagonal; /* W */
    const double
        *W; /* [n(n+1)/2] lower triangle; NULL: the modes have to be factored */
    const double *E;    /* [n][3] E_w */
    const double *zeta; /* [n][6] zeta_w, zero without a child */
    double C[36];       /* [6][6] */
    double EE[6];       /* E_w' E_w, xx xy xz yy yz zz */
    double Ezeta[18];   /* [3][6] E_w' zeta_w */
} fa_woodbury;

/* number of doubles of the constants of a body with n modes */
size_t fa_woodbury_size(int n);

/*
 * Constants of one body.
 *
 *   n            modes
 *   G            [n(n+1)/2] modal mass
 *   E            [n][3]
 *   gamma, lambda  [n][3] at the node of the child, or NULL
 *   storage      [fa_woodbury_size(n)]
 *   result       all but `child` is set
 *
 * Leaves W = NULL where G is so close to singular that its inverse would cost digits.
 */
void fa_woodbury_build(int n, const double *G, const double *E, const double *gamma,
                       const double *lambda, double *storage, fa_woodbury *result);

#endif
