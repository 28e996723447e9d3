/*
 * fa_driven.h -- shapes of a body that its modes drive: foreshortening (B6)
 *
 * Shapes g_k of a body whose amplitudes follow the modes, zeta_k = 1/2 eta' K_k eta.
 * Integrals as in fa_modal, of p shapes beside n modes; driven shapes turn no node.
 */
#ifndef FA_DRIVEN_H
#define FA_DRIVEN_H

#include <stddef.h>

enum { FA_MAX_DRIVEN = 12 }; /* all affine fields */

typedef struct {
    int n;             /* p, zero for most bodies */
    const double *K;   /* [p][n][n]     second derivatives of zeta_k */
    const double *E;   /* [p][3] */
    const double *F0;  /* [p][3] */
    const double *Fkr; /* [p][n][3]     F1(k,r) */
    const double *Frk; /* [p][n][3]     F1(r,k) */
    const double *Fkl; /* [p][p][3]     F1(k,l), skew */
    const double *Gkr; /* [p][n] */
    const double *Gkl; /* [p][p] */
    const double *J1;  /* [p][6] */
    const double *Jkr; /* [p][n][6]     J2(k,r) */
    const double *Jkl; /* [p][p][6]     J2(k,l) */
    /*
     * Shapes g_k = h_k e along the internal axis e, orthonormal by mass, of a body whose
     * modes move no mass along e (straight beams): all integrals follow from these.
     */
    int axis; /* 0 to 2, or -1: shapes of any kind */
    const double
        *w; /* [p][3]     sum m h_k (l0 + p): along e, and along the next two */
    const double *u; /* [p][n][2]  sum m h_k gamma_r along these two */
} fa_driven;

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
