/*
 * composite_bodies.h -- bodies with all that is outboard of them, joints and modes frozen
 *
 * C1 of mass_matrix.c, with its scratch, and what C2 takes: rows and screws of all freedoms
 * in the axes of the root. Straight bodies by M2 and M5 to M7.
 * Checked by  tests/dynamics/test_dynamics.py, tests/dynamics/test_mass_matrix.py.
 */
#ifndef FA_COMPOSITE_BODIES_H
#define FA_COMPOSITE_BODIES_H

#include "kernels/bodies/axial.h"
#include "kernels/bodies/body.h"
#include "kernels/bodies/driven.h"
#include "kernels/bodies/floating.h"
#include "kernels/bodies/hop.h"
#include "kernels/bodies/joint.h"
#include "kernels/bodies/node.h"
#include "kernels/bodies/straight.h"
#include "kernels/bodies/straight_hop.h"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/kinds.h"
#include "model/layout.h"

typedef struct {
    fa_hop hop;            /* unless the hop has angles, */
    fa_real s, c;          /* theta in rot_x(alpha) rot_z(theta) (V1) */
    fa_real m, h[3], J[6]; /* composite body: R_rr as mass, first moment, inertia */
    fa_real R[9], x[3];    /* axes in those of the root; origin from the reference */
    int is_turned;         /* something inboard, or the body's own joint, turns it */
    int joints;            /* joint velocities of the bodies before, in a chain */
} mm_body;

typedef struct {
    mm_body *body;
    fa_real *columns;    /* [6 sum_parent_modes]  Lambda and U, or Pi; kappa eta of each
                       * mode where the parent is straight */
    fa_real *rows;       /* [6 sum_parent_modes]  (Lambda; U) - Pi, as C2 needs them */
    fa_real *screws;     /* [6 nu]  S, likewise */
    fa_real *X;          /* [6 n_modes]  R_rf */
    fa_real *ff;         /* [sum_triangles]  R_ff */
    straight_node *node; /* [bodies] where the parent is straight, if there are modes */
    int is_chain;
    int stride; /* of the rows of M; 0: one after the other, up to their diagonal entry */
    const fa_branches *paths; /* M has numbers on paths (branches.h), or NULL: rows */
} mm_work;

/* memcpy of a few vectors is slow code in gcc */
FA_INLINE void mm_copy(const fa_real *x, const int n, fa_real *y)
{
    for (int i = 0; i < n; i++) {
        y[i] = x[i];
    }
}

/* whether every body hangs on the one before: what is inboard then stands side by side */
static inline int mm_is_chain(const fa_model *model)
{
    int is_chain = !model->any_floating;
    for (int k = 0; k < model->n_bodies; k++) {
        is_chain &= model->bodies[k].parent == k - 1;
    }
    return is_chain;
}

static inline mm_work mm_split(const fa_model *model, fa_real *work)
{
    mm_work w;
    w.body = (mm_body *)work;
    w.columns = (fa_real *)(w.body + model->n_bodies);
    w.rows = w.columns + 6 * model->sum_parent_modes;
    w.screws = w.rows + 6 * model->sum_parent_modes;
    w.X = w.screws + 6 * model->nu;
    w.ff = w.X + 6 * model->n_modes;
    w.node = (straight_node *)(w.ff + model->sum_triangles);
    w.is_chain = mm_is_chain(model);
    w.stride = 0;
    w.paths = NULL;
    return w;
}

FA_INLINE void mm_rigid(const fa_body *b, mm_body *self)
{
    self->m = fa_spread(b->mass);
    for (int i = 0; i < 3; i++) {
        self->h[i] = fa_spread(b->mp0[i]);
    }
    for (int i = 0; i < 6; i++) {
        self->J[i] = fa_spread(b->J0[i]);
    }
}

FA_INLINE void mm_start(const fa_model *model, const fa_body *b, const int n,
                        const fa_real *q, const mm_work *w, mm_body *self)
{
    fa_real *X = w->X + 6 * b->own_at, *ff = w->ff + b->tri_at;
    fa_shape shape;

    if (n == 0) {
        mm_rigid(b, self);
        return;
    }
    body_shape(b, n, node_eta(model, q, b->eta_at), &shape);
    self->m = fa_spread(b->mass);
    mm_copy(shape.mp, 3, self->h);
    mm_copy(shape.J, 6, self->J);
    body_modal_inertia(b, n, &shape, X, ff);
}

/* mm_start of a straight body */
FA_INLINE void mm_start_straight(const fa_model *model, const fa_body *b,
                                 const straight_size z, const fa_real *q,
                                 const mm_work *w, mm_body *self)
{
    straight_shape shape;

    (void)model;
    straight_deform(b, z, q + b->eta_at, &shape);
    self->m = fa_spread(b->mass);
    straight_rigid(z, &shape, self->h, self->J);
    straight_modal_inertia(b, z, &shape, w->X + 6 * b->own_at, w->ff + b->tri_at);
}

/*
 * A screw (angular a, linear b) or a wrench (force a, moment b) at x, with axes R, in
 * those of the root about the reference.
 */
FA_INLINE void mm_move(const fa_real *R, const fa_real *x, const fa_real *a,
                       const fa_real *b, fa_real *A, fa_real *B)
{
    fa_rotate(A, R, a);
    fa_rotate(B, R, b);
    fa_cross_add(B, x, A);
}

/* rows of the modes of a parent, seen from a body (C2) */
FA_INLINE void mm_rows(const fa_model *model, const fa_body *b, const int np,
                       const mm_work *w, const mm_body *self)
{
    const fa_body *bp = model->bodies + b->parent;
    const mm_body *parent = w->body + b->parent;
    const fa_real *slope = w->columns + 6 * b->hop_at, *shift = slope + 3 * np;
    const fa_real *Pi = w->columns + 6 * bp->hop_at;
    fa_real *row = w->rows + 6 * b->hop_at;

    for (int s = 0; s < np; s++, row += 6) {
        mm_move(parent->R, self->x, slope + 3 * s, shift + 3 * s, row, row + 3);
        if (bp->joint == FA_JOINT_FLOATING) {
            fa_real own[6];
            mm_move(parent->R, parent->x, Pi + 3 * s, Pi + 3 * (np + s), own, own + 3);
            for (int i = 0; i < 6; i++) {
                row[i] -= own[i];
            }
        }
    }
}

/* screws of the joint of a body (C2) */
FA_INLINE void mm_screws(const fa_body *b, const mm_work *w, const mm_body *self)
{
    fa_real *row = w->screws + 6 * (b->n_dof > 0 ? b->joint_at : 0);
    const fa_real axis[3] = {self->R[2], self->R[5], self->R[8]};

    if (b->joint == FA_JOINT_REVOLUTE) {
        mm_copy(axis, 3, row);
        fa_cross(row + 3, self->x, axis);
    } else if (b->joint == FA_JOINT_PRISMATIC) {
        fa_zero(row, 3);
        mm_copy(axis, 3, row + 3);
    } else {
        for (int j = 0; j < b->n_dof; j++, row += 6) {
            fa_real S[6];
            joint_screw(b, j, S);
            mm_move(self->R, self->x, S, S + 3, row, row + 3);
        }
    }
}

/*
 * Place of a body as C2 needs it. The parent of a root, and its axes, are those of the
 * root: M does not depend on the hop from the ground.
 */
FA_INLINE void mm_origin(const mm_body *parent, mm_body *self)
{
    fa_mat_mul(self->R, parent->R, self->hop.R);
    if (parent->is_turned) {
        fa_rotate(self->x, parent->R, self->hop.r);
        for (int i = 0; i < 3; i++) {
            self->x[i] += parent->x[i];
        }
    }
}

/* the same with np modes of its parent, and their rows */
FA_INLINE void mm_place(const fa_model *model, const fa_body *b, const int np,
                        const fa_real *q, const mm_work *w, mm_body *self)
{
    fa_real *at = w->columns + 6 * b->hop_at;
    fa_turn turn;

    hop_pose(model, b, np, q, &self->hop, &turn, at, at + 3 * np);
    mm_origin(w->body + b->parent, self);
    mm_rows(model, b, np, w, self);
}

/* the same on a straight parent: a mode turns its node about one axis (M5, M6) */
FA_INLINE void mm_place_straight(const fa_model *model, const fa_body *b,
                                 const straight_size z, const fa_real *q,
                                 const mm_work *w, mm_body *self)
{
    const int axis[3] = {z.axis, DRIVEN_AXES[z.axis].b, DRIVEN_AXES[z.axis].c};
    const int count[3] = {z.bends[0], z.bends[1], z.twists};
    const fa_node *node = model->nodes + b->attach;
    const mm_body *parent = w->body + b->parent;
    const fa_real *R = parent->R;
    straight_node *moved_node = w->node + (self - w->body);
    fa_real *bent = w->columns + 6 * b->hop_at, from[3];
    fa_turn turn;

    straight_pose(model, model->bodies + b->parent, b, z, q, &self->hop, &turn,
                  moved_node, bent);
    mm_origin(parent, self);
    fa_rotate(from, R, moved_node->x);
    for (int i = 0; i < 3; i++) {
        from[i] = self->x[i] - from[i];
    }
    FA_UNROLL
    for (int d = 0; d < 3; d++) {
        const int about = axis[straight_about(d)], along = axis[straight_along(d)];
        const fa_real *J = moved_node->J;
        const fa_real slope[3] = {J[about], J[3 + about], J[6 + about]};
        fa_real turned[3], moved[3];
        fa_rotate(turned, R, slope);
        fa_cross(moved, from, turned);
        FA_UNROLL
        for (int r = 0; r < count[d]; r++) {
            const straight_column y = straight_column_at(node, z, bent, d, r);
            fa_real *row = w->rows + 6 * (b->hop_at + z.at[d] + r);
            for (int i = 0; i < 3; i++) {
                row[i] = turned[i] * y.turn;
                row[3 + i] = straight_meet(z, d, &y, (fa_real){0}, moved[i],
                                           R[3 * i + along], R[3 * i + axis[0]]);
            }
        }
    }
}

FA_STRAIGHT_STEP(mm_start_straight, const fa_real *q, const mm_work *w, mm_body *self);
FA_STRAIGHT_STEP(mm_place_straight, const fa_real *q, const mm_work *w, mm_body *self);

/* the same of a rigid body whose hop has angles (V1) */
FA_INLINE void mm_place_axial(const fa_body *b, const int kind, const fa_real *q,
                              const mm_body *parent, mm_body *self)
{
    axial_turn(b, q, &self->s, &self->c);
    for (int i = 0; i < 3; i++) {
        const fa_real *row = parent->R + 3 * i;
        axial_rotate_t(b, kind, self->s, self->c, row, self->R + 3 * i);
        self->x[i] = parent->x[i];
        for (int j = 0; j < 3; j++) {
            if (AXIAL_HAS(kind, j)) {
                self->x[i] += b->arm[j] * row[j];
            }
        }
    }
}

FA_INLINE void mm_pose(const fa_model *model, const fa_body *b, const fa_real *q,
                       const mm_work *w, mm_body *self)
{
    const mm_body *parent = b->parent < 0 ? NULL : w->body + b->parent;

    self->joints = parent ? parent->joints + model->bodies[b->parent].n_dof : 0;
    self->is_turned = b->n_modes > 0 || (parent && parent->is_turned) ||
                      (b->joint != FA_JOINT_FIXED && b->joint != FA_JOINT_PRISMATIC);
    fa_zero(self->x, 3);
    if (!parent) {
        fa_zero(self->R, 9);
        for (int i = 0; i < 9; i += 4) {
            self->R[i] = fa_splat(1.0);
        }
        return;
    }
    if (axial_is(b)) {
        AXIAL_SWITCH(b, mm_place_axial, q, parent, self)
    } else {
        FA_HOP_STEP(FA_SWITCH_SHAPE, straight_carries(model, b), mm_place, model, b, q,
                    w, self)
    }
    mm_screws(b, w, self);
}

/* force of a rigid inertia (mass, first moment, J) on a motion (w; v) */
FA_INLINE void mm_rigid_mul(fa_real m, const fa_real *h, const fa_real *J,
                            const fa_real *w, const fa_real *v, fa_real *force)
{
    fa_sym_mul(force, J, w);
    fa_cross_add(force, h, v);
    for (int i = 0; i < 3; i++) {
        force[3 + i] = m * v[i];
    }
    fa_cross_add(force + 3, w, h);
}

/* adds J about the parent's origin: J - (r~ h~ + h~ r~) - m r~ r~, with one product */
FA_INLINE void mm_shift(const fa_real *r, const fa_real *moved, const fa_real *J,
                        mm_body *parent)
{
    const fa_real twice = 2.0 * fa_dot(r, moved);
    for (int i = 0; i < 3; i++) {
        for (int j = i; j < 3; j++) {
            fa_real x = J[FA_SYM[i][j]] - r[i] * moved[j] - moved[i] * r[j];
            parent->J[FA_SYM[i][j]] += i == j ? x + twice : x;
        }
    }
}

/* adds a composite, its h and J in the axes of the parent, to that of the parent (C1) */
FA_INLINE void mm_join(const mm_body *self, fa_real m, const fa_real *h,
                       const fa_real *J, mm_body *parent)
{
    const fa_real *r = self->hop.r;
    fa_real moved[3];

    for (int i = 0; i < 3; i++) {
        moved[i] = h[i] + 0.5 * m * r[i];
    }
    mm_shift(r, moved, J, parent);
    for (int i = 0; i < 3; i++) {
        parent->h[i] += h[i] + m * r[i];
    }
    parent->m += m;
}

/* the same for a parent with np modes */
FA_INLINE void mm_inward(const fa_model *model, const fa_body *b, const int np,
                         const mm_work *w, const mm_body *self)
{
    const fa_body *bp = model->bodies + b->parent;
    const fa_real *slope = w->columns + 6 * b->hop_at, *shift = slope + 3 * np;
    fa_real h[3], J[6];

    fa_rotate(h, self->hop.R, self->h);
    fa_rotate_sym(J, self->hop.R, self->J, 3);
    for (int s = 0; s < np; s++) {
        fa_real *ff = w->ff + bp->tri_at, *X = w->X + 6 * (bp->own_at + s), force[6];
        mm_rigid_mul(self->m, h, J, slope + 3 * s, shift + 3 * s, force);
        for (int k = 0; k <= s; k++) {
            ff[fa_tri(s, k)] +=
                fa_dot(slope + 3 * k, force) + fa_dot(shift + 3 * k, force + 3);
        }
        fa_cross_add(force, self->hop.r, force + 3);
        for (int i = 0; i < 6; i++) {
            X[i] += force[i];
        }
    }
    mm_join(self, self->m, h, J, w->body + b->parent);
}

/* the same for a straight parent (M7) */
FA_INLINE void mm_inward_straight(const fa_model *model, const fa_body *b,
                                  const straight_size z, const mm_work *w,
                                  const mm_body *self)
{
    const fa_body *bp = model->bodies + b->parent;
    const fa_real zero = {0}, m = self->m;
    fa_inertia gamma = {.D = {m, zero, zero, m, zero, m}};
    fa_real h[3];

    fa_rotate(h, self->hop.R, self->h);
    fa_rotate_sym(gamma.A, self->hop.R, self->J, 3);
    fa_cross_matrix(gamma.B, h);
    straight_inertia_add(model->nodes + b->attach, z, b->is_shifted,
                         w->node + (self - w->body), w->columns + 6 * b->hop_at, &gamma,
                         self->hop.r, w->ff + bp->tri_at, w->X + 6 * bp->own_at);
    mm_join(self, m, h, gamma.A, w->body + b->parent);
}

FA_STRAIGHT_STEP(mm_inward_straight, const mm_work *w, const mm_body *self);

/* the same of a rigid body whose hop has angles (V1) */
FA_INLINE void mm_inward_axial(const fa_body *b, const int kind, const mm_body *self,
                               mm_body *parent)
{
    fa_real h[3], J[6], moved[3], product[3], twice = {0};

    axial_rotate(b, kind, self->s, self->c, self->h, h);
    axial_rotate_sym(b, kind, self->s, self->c, self->J, 3, J);
    for (int i = 0; i < 3; i++) {
        moved[i] = h[i];
        if (AXIAL_HAS(kind, i)) {
            const fa_real arm = self->m * b->arm[i];
            moved[i] += 0.5 * arm;
            product[i] = 2.0 * b->arm[i] * moved[i];
            twice += product[i];
            h[i] += arm;
        }
        parent->h[i] += h[i];
    }
    for (int i = 0; i < 3; i++) {
        for (int j = i; j < 3; j++) {
            fa_real x = J[FA_SYM[i][j]];
            if (i == j) {
                x += twice;
                x -= AXIAL_HAS(kind, i) ? product[i] : (fa_real){0};
            } else {
                x -= AXIAL_HAS(kind, i) ? b->arm[i] * moved[j] : (fa_real){0};
                x -= AXIAL_HAS(kind, j) ? b->arm[j] * moved[i] : (fa_real){0};
            }
            parent->J[FA_SYM[i][j]] += x;
        }
    }
    parent->m += self->m;
}

FA_INLINE void mm_collect(const fa_model *model, const fa_body *b, const mm_work *w,
                          const mm_body *self)
{
    if (axial_is(b)) {
        AXIAL_SWITCH(b, mm_inward_axial, self, w->body + b->parent)
    } else {
        FA_HOP_STEP(FA_SWITCH_SHAPE, straight_carries(model, b), mm_inward, model, b, w,
                    self)
    }
}

/* the pair (etad; V_O') of a floating body in place of (etad; V) (F4) */
FA_NOINLINE void mm_float(const fa_body *b, const mm_work *w, const mm_body *self)
{
    const int n = b->n_modes;
    const fa_real *columns = w->columns + 6 * b->hop_at;
    fa_real *X = w->X + 6 * b->own_at, *ff = w->ff + b->tri_at;

    for (int s = 0; s < n; s++) {
        fa_real force[6];
        mm_rigid_mul(self->m, self->h, self->J, columns + 3 * s, columns + 3 * (n + s),
                     force);
        floating_exchange(b, columns, s, force, X, ff);
    }
}

#endif
