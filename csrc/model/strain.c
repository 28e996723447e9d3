/*
 * strain.c -- the strain energy of a beam, as kernels take it
 *
 * Slopes of a section are its rotations about its axes y and z; any two axes across the
 * beam that are right-handed with it will do: (y, z) or (z, -y). In a straight body the
 * first ones are those of the modes along b.
 *
 * Checked by  tests/test_strain_energy.py
 */
#include "model/strain.h"

#include "model/description.h"

/* whether rotation i (0: twist, 1, 2) and its rate are zero but for modes of a range */
static int strain_within(int n, int p, const double *given, int i, int at, int count)
{
    int fits = 1;

    for (int g = 0; g < p; g++) {
        const double *rows =
            given + FA_STRAIN_POINTS + g * FA_STRAIN_POINT(n) + FA_STRAIN_ROWS;
        for (int r = 0; r < n; r++) {
            const int inside = r >= at && r < at + count;
            fits &= inside || (rows[i * n + r] == 0.0 && rows[(3 + i) * n + r] == 0.0);
        }
    }
    return fits;
}

/* whether the section axes first and second (1, 2) turn by the modes along b, along c */
static int strain_fits(int p, const double *given, const fa_body *b, int first)
{
    const fa_straight *s = &b->straight;
    const int of[3] = {first, 3 - first, 0};
    int fits = 1;

    for (int d = 0; d < 3; d++) {
        fits &= strain_within(b->n_modes, p, given, of[d], s->at[d], s->count[d]);
    }
    return fits;
}

/* a body of any kind */
static void strain_not_straight(fa_body *b, fa_node *nodes)
{
    b->straight.kind = 0;
    for (int j = b->first_node; j < b->first_node + b->n_nodes; j++) {
        nodes[j].straight = NULL;
    }
}

double *fa_strain_build(int p, const double *given, fa_body *b, fa_node *nodes,
                        double *constants)
{
    const int n = b->n_modes;
    fa_strain *s = &b->strain;
    int first = 1;

    s->n = p;
    s->constants = constants;
    if (b->straight.kind > 0) {
        first = strain_fits(p, given, b, 1) ? 1 : 2;
        if (!strain_fits(p, given, b, first)) {
            strain_not_straight(b, nodes);
            first = 1;
        }
    }
    for (int d = 0; d < 3; d++) {
        s->at[d] = b->straight.kind > 0 ? b->straight.at[d] : 0;
        s->count[d] = b->straight.kind > 0 ? b->straight.count[d] : n;
    }
    for (int g = 0; g < p; g++) {
        const double *point = given + FA_STRAIN_POINTS + g * FA_STRAIN_POINT(n);
        const double *rows = point + FA_STRAIN_ROWS;
        const int of[3] = {first, 3 - first, 0};
        for (int d = 0; d < 3; d++) {
            *constants++ = point[FA_STRAIN_STIFFNESS + of[d]];
        }
        for (int d = 0; d < 3; d++) {
            const double sign = first == 2 && d == 1 ? -1.0 : 1.0;
            for (int k = 0; k < 2; k++) {
                const double *row = rows + (3 * k + of[d]) * n + s->at[d];
                for (int r = 0; r < s->count[d]; r++) {
                    *constants++ = sign * row[r];
                }
            }
        }
    }
    return constants;
}
