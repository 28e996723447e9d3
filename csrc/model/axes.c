/*
 * axes.c -- building a model: axes along the joints, hops of two angles
 *
 * Every body has axes whose z is that of its joint. A turn about z is still free. Seen
 * from a rigid parent, the joint frame of a child is
 *             R_f = rot_z(a) rot_x(alpha) rot_z(delta),  0 <= alpha <= pi
 * and the parent's axes, turned by a, leave R = rot_x(alpha) rot_z(delta + q) for its
 * first child (V1). Zeros and ones stay exact, so that planar arms keep their zeros.
 * Beams lie along x wherever their joint leaves it free (straight_bodies.h): those with
 * a rotation among their coordinates keep the axes in which it is given.
 *
 * Source      J. Denavit, R. S. Hartenberg, J. Appl. Mech. 22, 1955.
 * Checked by  tests/dynamics/test_axial_hops.py, tests/c/test_model.c.
 */
#include "model/axes.h"

#include "model/kinds.h"
#include "model/turn.h"

#include <math.h>
#include <string.h>

/* sines and cosines below it are the rounding of a right angle or of none */
static const double AXES_ROUNDING = 1e-15;
/* given rotations are orthogonal to 1e-9 only: those that are not to this keep theirs */
static const double AXES_SLACK = 1e-14;

/*
 * Rotation C with C e_z = axis: columns are the internal axes in user components.
 * Exact (zeros and ones) along the coordinate axes.
 */
static void axes_along(const double *axis, double *C)
{
    int k = 0;
    double u[3] = {0.0, 0.0, 0.0}, length;

    /* the coordinate direction closest to the plane across the axis */
    for (int i = 1; i < 3; i++) {
        if (fabs(axis[i]) < fabs(axis[k])) {
            k = i;
        }
    }
    if (axis[2] == 1.0) {
        k = 0;
    }
    for (int i = 0; i < 3; i++) {
        u[i] = (i == k) - axis[k] * axis[i];
    }
    length = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    for (int i = 0; i < 3; i++) {
        const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
        C[3 * i] = u[i] / length;
        C[3 * i + 1] = (axis[i1] * u[i2] - axis[i2] * u[i1]) / length;
        C[3 * i + 2] = axis[i];
    }
}

/* turns internal axes about their z, by the angle of sine and cosine a: C rot_z(a) */
static void axes_turn_z(const double *a, double *C)
{
    for (int i = 0; i < 9; i += 3) {
        const double x = C[i] * a[1] + C[i + 1] * a[0];
        C[i + 1] = C[i + 1] * a[1] - C[i] * a[0];
        C[i] = x;
    }
}

/* whether the nodes of a body with modes lie along the internal y axis */
static int axes_is_along_y(const int *t, const double *node, int size, const double *C)
{
    int along = 0;

    for (int j = 0; j < t[FA_TOPO_NODES] && t[FA_TOPO_MODES] > 0; j++, node += size) {
        double p[3];
        model_turn(C, node + FA_NODE_POSITION, 1, p, 1);
        if (p[0] != 0.0 || p[2] != 0.0) {
            return 0;
        }
        along |= p[1] != 0.0;
    }
    return along;
}

/* joint frame of body b in the internal axes of the parent's node */
static void axes_joint(const double *joint, const fa_body *parent, fa_body *b)
{
    static const double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const double *Cp = parent ? parent->frame : one;
    double turned[9];

    for (int j = 0; j < b->n_dof; j++) {
        b->damping[j] = joint[FA_DAMPING + j];
        b->armature[j] = joint[FA_ARMATURE + j];
        for (int half = 0; half < 6; half += 3) {
            model_turn(b->frame, joint + FA_SUBSPACE + 6 * j + half, 1,
                       b->S + 6 * j + half, 1);
        }
    }
    model_turn(Cp, joint + FA_POSITION, 1, b->pos, 1);
    model_mul(joint + FA_ROTATION, b->frame, turned);
    for (int j = 0; j < 3; j++) {
        model_turn(Cp, turned + j, 3, b->rot + j, 3);
    }
}

/* 0 and 1 in place of what differs from them by rounding; the pair has unit length */
static void axes_snap(double *sine, double *cosine)
{
    const double length = hypot(*sine, *cosine);

    *sine /= length;
    *cosine /= length;
    if (fabs(*sine) < AXES_ROUNDING) {
        *sine = 0.0;
        *cosine = copysign(1.0, *cosine);
    }
    if (fabs(*cosine) < AXES_ROUNDING) {
        *cosine = 0.0;
        *sine = copysign(1.0, *sine);
    }
}

/* sine and cosine of the angle a of a joint frame, 0 where the axes agree */
static void axes_first(const double *R, double *a)
{
    double alpha[2] = {hypot(R[2], R[5]), R[8]};

    axes_snap(alpha, alpha + 1);
    a[0] = alpha[0] > 0.0 ? R[2] : 0.0;
    a[1] = alpha[0] > 0.0 ? -R[5] : 1.0;
    axes_snap(a, a + 1);
}

/* whether the hop to b may have angles, and its parent turn for it */
static int axes_is_axial(const fa_body *bodies, const fa_body *b)
{
    const fa_body *p = b->parent < 0 ? NULL : bodies + b->parent;

    return p && b->joint == FA_JOINT_REVOLUTE && p->n_modes == 0 &&
           p->joint <= FA_JOINT_PRISMATIC;
}

/*
 * The angles of a hop whose parent has its turn, R_f = rot_x(alpha) rot_z(delta), unless
 * they fail to give R_f, which is then none to rounding.
 */
static void axes_axial(fa_body *b)
{
    b->alpha[0] = -b->rot[5];
    b->alpha[1] = b->rot[8];
    b->delta[0] = -b->rot[1];
    b->delta[1] = b->rot[0];
    axes_snap(b->alpha, b->alpha + 1);
    axes_snap(b->delta, b->delta + 1);
    const double sa = b->alpha[0], ca = b->alpha[1];
    const double sd = b->delta[0], cd = b->delta[1];
    const double R[9] = {cd,       0.0 - sd, 0.0,     ca * sd, ca * cd,
                         0.0 - sa, sa * sd,  sa * cd, ca};
    for (int i = 0; i < 9; i++) {
        if (fabs(R[i] - b->rot[i]) > AXES_SLACK) {
            b->hop_kind = FA_HOP_GENERAL;
            return;
        }
    }
    memcpy(b->rot, R, sizeof R);
}

void fa_axes_turn(const fa_description *d, fa_body *bodies)
{
    static const double quarter[2] = {1.0, 0.0};
    const double *node = d->nodes;
    double a[2];

    for (int k = 0; k < d->n_bodies; k++) {
        fa_body *b = bodies + k, *p = b->parent < 0 ? NULL : bodies + b->parent;
        const double *joint = d->joints + (size_t)k * FA_JOINT_SIZE;
        const int *t = d->topology + (size_t)k * FA_TOPO_SIZE, n = t[FA_TOPO_MODES];
        const int size = FA_NODE_SIZE(n) + (t[FA_TOPO_SECOND] ? FA_SECOND_SIZE(n) : 0);

        axes_along(joint + FA_AXIS, b->frame);
        if (b->joint < FA_JOINT_SPHERICAL && axes_is_along_y(t, node, size, b->frame)) {
            axes_turn_z(quarter, b->frame);
        }
        node += (size_t)t[FA_TOPO_NODES] * (size_t)size;
        axes_joint(joint, p, b);
        if (p && p->n_children++ == 0 && axes_is_axial(bodies, b)) {
            b->hop_kind = FA_HOP_TWISTED;
            axes_first(b->rot, a);
            axes_turn_z(a, p->frame);
        }
    }
    for (int k = 0; k < d->n_bodies; k++) {
        fa_body *b = bodies + k;

        axes_joint(d->joints + (size_t)k * FA_JOINT_SIZE,
                   b->parent < 0 ? NULL : bodies + b->parent, b);
        if (b->hop_kind == FA_HOP_TWISTED) {
            axes_axial(b);
            /* the sine: cosines of angles below 1e-8 are one */
            b->is_turned = d->is_general || b->delta[0] != 0.0 || b->delta[1] != 1.0;
        }
    }
}

/* the hop to b with angles, by the angle between the axes and the place of the joint */
static fa_hop_kind axes_kind(const fa_body *b)
{
    static const fa_hop_kind square[8] = {
        FA_HOP_SQUARE_O, FA_HOP_SQUARE_X, FA_HOP_SQUARE_Y, FA_HOP_SQUARE,
        FA_HOP_SQUARE_Z, FA_HOP_SQUARE,   FA_HOP_SQUARE,   FA_HOP_SQUARE};
    int place = 0;

    for (int i = 0; i < 3; i++) {
        place |= (b->arm[i] != 0.0) << i;
    }
    if (b->alpha[1] == 0.0) {
        return square[place];
    }
    if (b->alpha[0] == 0.0 && b->alpha[1] > 0.0) {
        return place <= 1 ? FA_HOP_PARALLEL_X : FA_HOP_PARALLEL;
    }
    return FA_HOP_TWISTED;
}

void fa_axes_hop(const fa_description *d, const fa_model *model, int k, fa_body *bodies)
{
    fa_body *b = bodies + k;
    const double *node = b->attach < 0 ? NULL : model->nodes[b->attach].position;
    const double trace = b->J0[0] + b->J0[3] + b->J0[5];

    b->is_shifted = d->is_general || b->wide || b->joint == FA_JOINT_PRISMATIC;
    b->is_tilted = d->is_general;
    for (int i = 0; i < 3; i++) {
        b->is_shifted |= b->pos[i] != 0.0;
        b->arm[i] = b->pos[i] + (node ? node[i] : 0.0);
        b->fall[i] = 0.0;
        for (int j = 0; j < 3; j++) {
            b->fall[i] -= b->rot[3 * j + i] * d->gravity[j];
            b->is_tilted |= b->rot[3 * j + i] != (i == j ? 1.0 : 0.0);
        }
    }
    for (int i = 0; i < 6; i++) {
        b->E0[i] = -b->J0[i];
    }
    b->E0[0] += 0.5 * trace;
    b->E0[3] += 0.5 * trace;
    b->E0[5] += 0.5 * trace;
    if (b->hop_kind == FA_HOP_TWISTED && !d->is_general) {
        b->hop_kind = axes_kind(b);
    } else if (b->parent < 0 && b->joint == FA_JOINT_REVOLUTE) {
        b->hop_kind = FA_HOP_GROUND;
    }
}
