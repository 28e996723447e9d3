/*
 * sliding.h -- the centre line of a flexible body, on which a point slides
 *
 * Equations   nodes x_j with tangents t_j, at distances s_j along the undeformed line; the
 *             line between two of them is the cubic of both ends,
 *                 c(s) = sum_j H_j(s) x_j + G_j(s) t_j                         (SL1)
 *             which has a continuous slope, not a continuous curvature. At the place s of
 *             a point P it has the x coordinate of P in the axes a_i of the first node:
 *                 a_1.(P - c(s)) = 0                                           (SL2)
 *             by Newton's method. The loop of a line and a point has the rows y and z of
 *                 phi_i = a_i.(P - c(s)),  i = 2, 3                            (SL3)
 *             along m_i = a_i - (a_i.c' / a_1.c') a_1, normal to c': constraints.c.
 *             A locked turn about the line has the row
 *                 phi = z(s).b_2,  z(s) = sum_j H_j(s) z_j + G_j(s) z'_j       (SL4)
 *             of the axes z_j of the nodes, with the slopes z'_j of parabolas through
 *             neighbouring nodes, and the axis y of the point.
 * Range       beyond either end by more than a millionth of the line there is no place: it
 *             is NaN, as it is where the line does not go forward along a_1.
 * Source      cubic of Hermite, as in beam elements; A. A. Shabana, Dynamics of Multibody
 *             Systems, sec. 3.4 (a sliding joint has the place as a coordinate; here it
 *             is eliminated).
 * Checked by  tests/constraints/test_sliders.py: element models, a moving mass.
 */
#ifndef FA_SLIDING_H
#define FA_SLIDING_H

#include "lanes/lane.h"
#include "model/layout.h"

/* Newton steps: each doubles the number of digits; slopes of 60 degrees need 9 */
enum { SLIDE_STEPS = 12 };
/* share of the line that the place may be beyond an end: drift of a run, no more */
#define SLIDE_MARGIN 1e-6

/* what a node adds to the line and to its first two derivatives: x and t of each */
typedef struct {
    fa_real H[3], G[3];
} slide_weights;

/* cubics of the distance u from a node towards the next one at the distance h: value 1 or
 * slope `sign` at the node, where s grows along sign u */
FA_INLINE void slide_half(fa_real u, fa_real h, double sign, fa_mask is_in,
                          slide_weights *w)
{
    const fa_real none = {0}, r = u / h;
    const fa_real H[3] = {1.0 - r * r * (3.0 - 2.0 * r), sign * 6.0 * r * (r - 1.0) / h,
                          (12.0 * r - 6.0) / (h * h)};
    const fa_real G[3] = {sign * u * (1.0 - r) * (1.0 - r), (1.0 - r) * (1.0 - 3.0 * r),
                          sign * (6.0 * r - 4.0) / h};

    for (int i = 0; i < 3; i++) {
        w->H[i] += fa_select(is_in, H[i], none);
        w->G[i] += fa_select(is_in, G[i], none);
    }
}

/* weights of node j at the place s; ends go on beyond the line (SL1) */
FA_INLINE void slide_at(const fa_loop *loop, int j, fa_real s, slide_weights *w)
{
    const int last = loop->n_line - 1;
    const fa_real own = fa_spread(loop->station[j]);

    memset(w, 0, sizeof *w);
    if (j > 0) {
        const fa_real before = fa_spread(loop->station[j - 1]);
        const fa_mask is_in = (j == 1 ? s <= own : (s >= before) & (s < own)) |
                              (j == last ? s >= own : (fa_mask){0});
        slide_half(own - s, own - before, -1.0, is_in, w);
    }
    if (j < last) {
        const fa_real next = fa_spread(loop->station[j + 1]);
        const fa_mask is_in = (j == last - 1 ? s >= own : (s >= own) & (s < next)) |
                              (j == 0 ? s < own : (fa_mask){0});
        slide_half(s - own, next - own, 1.0, is_in, w);
    }
}

/* derivative by s at node i of what is 1 at node j of its neighbours or itself and 0 at
 * the others: of a parabola, at the ends of a line (SL4) */
FA_INLINE fa_real slide_slope(const fa_loop *loop, int i, int j)
{
    const int last = loop->n_line - 1;
    const fa_constant *s = loop->station;

    if (i == 0 || i == last) {
        const int from = i == 0 ? 0 : last - 1;
        const fa_real h = fa_spread(s[from + 1]) - fa_spread(s[from]);
        return (j == from ? -1.0 : 1.0) / h;
    }
    const fa_real before = fa_spread(s[i]) - fa_spread(s[i - 1]);
    const fa_real after = fa_spread(s[i + 1]) - fa_spread(s[i]), both = before + after;
    return j < i   ? -after / (before * both)
           : j > i ? before / (after * both)
                   : (after - before) / (before * after);
}

/* weights of an axis of node j at the place s, whose slopes are those of neighbours */
FA_INLINE void slide_axis_at(const fa_loop *loop, int j, fa_real s, fa_real *weight)
{
    slide_weights w;

    slide_at(loop, j, s, &w);
    memcpy(weight, w.H, sizeof w.H);
    for (int i = j > 0 ? j - 1 : 0; i <= j + 1 && i < loop->n_line; i++) {
        slide_at(loop, i, s, &w);
        for (int k = 0; k < 3; k++) {
            weight[k] += w.G[k] * slide_slope(loop, i, j);
        }
    }
}

/*
 * Place of a point on the line, NaN without one (SL2).
 *   along  x coordinate of the point, from the first node
 *   x, t   [n_line] x coordinates of the nodes and of the tangents
 */
FA_NOINLINE fa_real slide_place(const fa_loop *loop, fa_real along, const fa_real *x,
                                const fa_real *t)
{
    const fa_real end = fa_spread(loop->station[loop->n_line - 1]);
    const fa_real low = -SLIDE_MARGIN * end, high = end - low;
    fa_real s = along, miss = {0};

    for (int step = 0; step <= SLIDE_STEPS; step++) {
        fa_real value = -along, slope = {0};
        /* not far beyond the ends, where cubics are no lines */
        s = fa_select(s < 2.0 * low, 2.0 * low, s);
        s = fa_select(s > high - low, high - low, s);
        for (int j = 0; j < loop->n_line; j++) {
            slide_weights w;
            slide_at(loop, j, s, &w);
            value += w.H[0] * x[j] + w.G[0] * t[j];
            slope += w.H[1] * x[j] + w.G[1] * t[j];
        }
        miss = value;
        if (step < SLIDE_STEPS) {
            s -= value / slope;
        } else {
            miss = fa_select(slope > 0.0, miss, fa_splat((double)NAN));
        }
    }
    const fa_mask is_there =
        (s >= low) & (s <= high) & (miss <= 1e-9 * end) & (miss >= -1e-9 * end);
    return fa_select(is_there, s, fa_splat((double)NAN));
}

#endif
