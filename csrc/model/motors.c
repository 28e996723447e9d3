/*
 * motors.c -- building a model: motors and the forces inside of joints
 *
 * Checked by  tests/c/test_motors.c (refusals), tests/dynamics/test_drives.py,
 *             tests/simulation/test_rosenbrock.py (places in a displacement).
 */
#include "model/motors.h"

#include "model/kinds.h"

#include <math.h>
#include <string.h>

/* whether a joint has one freedom, whose velocity is the rate of a position */
static int motors_is_single(const fa_body *b)
{
    return b->n_dof == 1 && b->joint <= FA_JOINT_HELICAL;
}

fa_status fa_motors_places(const fa_description *d, fa_model *model, fa_body *bodies)
{
    for (int k = 0; k < d->n_bodies; k++) {
        const int *t = d->topology + (size_t)k * FA_TOPO_SIZE;
        fa_body *b = bodies + k;
        const int drives = b->drives;
        b->actuator_at = -1;
        if (drives < 0 && b->n_dof > 0 && t[FA_TOPO_IDLE] == 0) {
            b->actuator_at = model->n_actuators;
            model->n_actuators += b->n_dof;
        }
        if (drives < 0 && model->n_motors == 0) {
            continue;
        }
        if (drives < 0 || b->n_dof != 1 || b->wide || b->link >= 0 ||
            bodies[drives].drives >= 0 || !motors_is_single(bodies + drives)) {
            return FA_BAD_TOPOLOGY;
        }
        model->n_motors++;
        b->actuator_at = bodies[drives].actuator_at;
        bodies[drives].actuator_at = -1;
    }
    return FA_OK;
}

/* a number of the description as a body, or -1 */
static int motors_body(double x, int n)
{
    return x >= 0.0 && x < (double)n ? (int)x : -1;
}

/* place of the joint of a body in a displacement (positions.c) */
static int motors_move(const fa_model *model, int body)
{
    int at = 0;
    for (int k = 0; k < body; k++) {
        const fa_body *b = model->bodies + k;
        at += b->joint == FA_JOINT_POSE ? 6 : b->n_dof;
    }
    return at;
}

fa_status fa_motors_passive(const fa_description *d, fa_model *model,
                            fa_passive *passive)
{
    for (int i = 0; i < d->n_passive; i++) {
        const double *row = d->passive + (size_t)i * FA_PASSIVE_SIZE;
        const int kind = motors_body(row[FA_PASSIVE_KIND], FA_PASSIVE_KINDS);
        const int body = motors_body(row[FA_PASSIVE_BODY], model->n_bodies);
        const int rotor = motors_body(row[FA_PASSIVE_ROTOR], model->n_bodies);
        if (kind < 0 || body < 0 || !motors_is_single(model->bodies + body) ||
            (rotor >= 0 && model->bodies[rotor].drives != body)) {
            return FA_BAD_JOINT;
        }
        for (int k = 0; k < FA_PASSIVE_SIZE; k++) {
            if (!isfinite(row[k])) {
                return FA_NOT_FINITE;
            }
        }
        passive[i] =
            (fa_passive){.kind = (fa_passive_kind)kind,
                         .joint = model->bodies[body].joint_at,
                         .joint_at = model->bodies[body].position_at,
                         .joint_move = motors_move(model, body),
                         .motor_move = rotor < 0 ? -1 : motors_move(model, rotor),
                         .motor = rotor < 0 ? -1 : model->bodies[rotor].joint_at,
                         .motor_at = rotor < 0 ? -1 : model->bodies[rotor].position_at,
                         .ratio = row[FA_PASSIVE_RATIO]};
        memcpy(passive[i].p, row + FA_PASSIVE_PARAMETERS, sizeof passive[i].p);
    }
    model->n_passive = d->n_passive;
    model->passive = passive;
    return FA_OK;
}
