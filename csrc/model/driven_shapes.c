/*
 * driven_shapes.c -- integrals of driven shapes in the internal axes of a body
 *
 * Equations   along one axis e, with g_k = h_k e, w_k = sum m h_k (l0 + p), u_kr = sum m h_k gamma_r across e:
 *                 F0(k) = w_k x e,  F1(k,r) = u_kr x e = -F1(r,k),  F1(k,l) = 0
 *                 J1(k) = 2 w_k.e - e w_k' - w_k e',  J2(k,r) likewise with u_kr
 *                 J2(k,l) = 2 G(k,l) (1 - e e'),  G(k,l) = delta_kl,  G(k,r) = 0
 *                 E(k) = E_k e                                                  (B6)
 * Checked by  tests/beams/test_foreshortening.py: the same body in turned axes.
 */
#include "model/driven_shapes.h"

#include "model/turn.h"

#include <math.h>
#include <string.h>

size_t fa_driven_size(int n, int p)
{
    return (size_t)p * (size_t)(n * n + 13 * n + 10 * p + 12);
}

size_t fa_driven_axial_size(int n, int p)
{
    return (size_t)p * (size_t)(3 + 2 * n);
}

/* whether a vector and an inertia are x e_moved, x x e and those of the pair x, e */
static int axial_fits(int a, const double *x, const double *F, const double *J,
                      double scale)
{
    static const int place[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
    const int b = (a + 1) % 3, c = (a + 2) % 3;
    double turn[3] = {0.0}, inertia[6] = {0.0}, off = 0.0;

    turn[b] = x[2];
    turn[c] = -x[1];
    inertia[place[b][b]] = inertia[place[c][c]] = 2.0 * x[0];
    inertia[place[a][b]] = -x[1];
    inertia[place[a][c]] = -x[2];
    for (int i = 0; i < 3; i++) {
        off = fmax(off, fabs(F[i] - turn[i]));
    }
    for (int i = 0; i < 6; i++) {
        off = fmax(off, fabs(J[i] - inertia[i]));
    }
    return off <= 1e-13 * scale;
}

/* along axis a; sizes of vectors and inertias, and of what goes with two shapes */
static int axial_try(int n, int a, const fa_driven *d, double *w, double *u)
{
    static const int diagonal[3] = {0, 3, 5};
    const int p = d->n, b = (a + 1) % 3, c = (a + 2) % 3;
    double first = 0.0, modal = 0.0, mass = 0.0, none[3] = {0.0},
           twice[3] = {2.0, 0.0, 0.0};
    int fits = 1;

    for (int i = 0; i < 6 * p; i++) {
        first = fmax(first, fabs(d->J1[i]));
    }
    for (int i = 0; i < 3 * p; i++) {
        mass = fmax(mass, fabs(d->E[i]));
    }
    for (int i = 0; i < 6 * p * n; i++) {
        modal = fmax(modal, fabs(d->Jkr[i]));
    }
    for (int k = 0; k < p; k++) {
        const double *E = d->E + 3 * k;
        w[3 * k] = 0.5 * d->J1[6 * k + diagonal[b]];
        w[3 * k + 1] = -d->F0[3 * k + c];
        w[3 * k + 2] = d->F0[3 * k + b];
        fits &= axial_fits(a, w + 3 * k, d->F0 + 3 * k, d->J1 + 6 * k, first);
        fits &= fmax(fabs(E[b]), fabs(E[c])) <= 1e-13 * mass;
        for (int r = 0; r < n; r++) {
            const double *F = d->Fkr + 3 * (k * n + r),
                         *back = d->Frk + 3 * (k * n + r);
            const double x[3] = {0.0, -F[c], F[b]};
            memcpy(u + 2 * (k * n + r), x + 1, 2 * sizeof *x);
            fits &= axial_fits(a, x, F, d->Jkr + 6 * (k * n + r), modal);
            for (int i = 0; i < 3; i++) {
                fits &= fabs(F[i] + back[i]) <= 1e-13 * modal;
            }
            fits &= fabs(d->Gkr[k * n + r]) <= 1e-13 * modal;
        }
        for (int l = 0; l < p; l++) {
            const double *J = d->Jkl + 6 * (k * p + l), *F = d->Fkl + 3 * (k * p + l);
            twice[0] = k == l;
            fits &= axial_fits(a, k == l ? twice : none, none, J, 1.0);
            fits &= fabs(d->Gkl[k * p + l] - (k == l)) <= 1e-13;
            for (int i = 0; i < 3; i++) {
                fits &= fabs(F[i]) <= 1e-13;
            }
        }
    }
    return fits;
}

/* sets axis, w and u where all other integrals, which are in place, follow from them */
static void driven_axial(int n, double *storage, fa_driven *driven)
{
    driven->axis = -1;
    driven->w = storage;
    driven->u = storage + 3 * driven->n;
    for (int a = 0; a < 3 && driven->n > 0; a++) {
        if (axial_try(n, a, driven, storage, storage + 3 * driven->n)) {
            driven->axis = a;
            return;
        }
    }
}

/* `count` constants of `size` numbers (vectors, inertias or others) in internal axes */
static const double *driven_turned(const double *frame, const double **in, double **out,
                                   int count, int size)
{
    const double *start = *out;

    for (int i = 0; i < count; i++, *in += size, *out += size) {
        if (size == 3) {
            model_turn(frame, *in, 1, *out, 1);
        } else if (size == 6) {
            model_turn_sym(frame, *in, *out);
        } else {
            memcpy(*out, *in, (size_t)size * sizeof **out);
        }
    }
    return start;
}

double *fa_driven_build(int n, int p, const double *frame, const double *in,
                        double *out, fa_driven *driven)
{
    const double *C = frame;
    fa_driven *d = driven;

    d->n = p;
    d->K = driven_turned(C, &in, &out, p * n * n, 1);
    d->E = driven_turned(C, &in, &out, p, 3);
    d->F0 = driven_turned(C, &in, &out, p, 3);
    d->Fkr = driven_turned(C, &in, &out, p * n, 3);
    d->Frk = driven_turned(C, &in, &out, p * n, 3);
    d->Fkl = driven_turned(C, &in, &out, p * p, 3);
    d->Gkr = driven_turned(C, &in, &out, p * n, 1);
    d->Gkl = driven_turned(C, &in, &out, p * p, 1);
    d->J1 = driven_turned(C, &in, &out, p, 6);
    d->Jkr = driven_turned(C, &in, &out, p * n, 6);
    d->Jkl = driven_turned(C, &in, &out, p * p, 6);
    driven_axial(n, out, d);
    return out + fa_driven_axial_size(n, p);
}
