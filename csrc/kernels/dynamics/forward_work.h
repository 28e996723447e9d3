/*
 * forward_work.h -- scratch of forward dynamics: bodies, and rows of their modes
 *
 * Filled by the steps of the recursion in forward_dynamics.c, under its labels (A1-A9).
 */
#ifndef FA_FORWARD_WORK_H
#define FA_FORWARD_WORK_H

#include "kernels/bodies/node.h"
#include "kernels/bodies/rigid.h"
#include "kernels/bodies/straight_hop.h"
#include "lanes/lane.h"
#include "lanes/spatial.h"
#include "model/kinds.h"
#include "model/layout.h"

typedef struct {
    fa_hop hop;
    fa_real V[6], c[6];        /* twist, velocity-product acceleration */
    fa_real a[6];              /* acceleration */
    fa_real z[6], g[3];        /* residual force, gravity */
    fa_real G[6], nu, inverse; /* gain of the joint, nu_R, D_R^-1 */
    straight_node node;        /* where the parent is straight */
    fa_inertia P;
} fd_body;

/* groups of joints on their way inward (grouped_forward.c) */
typedef struct {
    fa_real *L;            /* [n_groups (n_groups + 1) / 2] */
    fa_real *h, *u;        /* [n_groups] */
    fa_real *nu, *inverse; /* [n_groups] */
    fa_real *Y, *e;        /* [n_columns][6], [n_columns] */
} fd_groups;

static inline int fd_groups_size(const fa_grouping *of)
{
    return of->n_groups * (of->n_groups + 1) / 2 + 4 * of->n_groups + 7 * of->n_columns;
}

typedef struct {
    fd_body *body;
    fa_real *columns; /* [6 sum_parent_modes]  Lambda, U of each hop */
    /* rows: the modes of all bodies, then the freedoms of all wide joints */
    fa_real *z_f;         /* [n_rows]  z_f, then e = L^-1 eps_f */
    fa_real *pivot;       /* [n_rows]  D^-1 */
    fa_real *Y;           /* [6 n_rows]  P_rf row by row, then Y */
    fa_real *L;           /* [sum_triangles]  P_ff, then L */
    fa_real *bent;        /* [sum_parent_modes]  kappa eta on straight bodies */
    fa_real *rest;        /* [nv]  tau less the passive forces, if there are any */
    rigid_motion *motion; /* of arms without modes */
    fd_groups groups;     /* of trees with groups of joints */
} fd_work;

static inline size_t fd_work_size(const fa_model *model)
{
    if (model->tree) {
        return (size_t)model->tree->nq + 3 * (size_t)model->tree->nv +
               fd_work_size(model->tree);
    }
    return (size_t)model->n_bodies * (sizeof(fd_body) / sizeof(fa_real)) +
           7 * (size_t)model->sum_parent_modes + 8 * (size_t)model->n_rows +
           (size_t)model->sum_triangles + (model->n_passive ? (size_t)model->nv : 0) +
           (model->is_rigid ? (size_t)model->n_bodies : 0) *
               (sizeof(rigid_motion) / sizeof(fa_real)) +
           (model->grouping ? (size_t)fd_groups_size(model->grouping) : 0);
}

static inline fd_work fd_split(const fa_model *model, fa_real *work)
{
    fd_work w;
    w.body = (fd_body *)work;
    w.columns = (fa_real *)(w.body + model->n_bodies);
    w.z_f = w.columns + 6 * model->sum_parent_modes;
    w.pivot = w.z_f + model->n_rows;
    w.Y = w.pivot + model->n_rows;
    w.L = w.Y + 6 * model->n_rows;
    w.bent = w.L + model->sum_triangles;
    w.rest = w.bent + model->sum_parent_modes;
    w.motion = (rigid_motion *)(w.rest + (model->n_passive ? model->nv : 0));
    if (model->grouping) {
        const int n = model->grouping->n_groups;
        w.groups.L = (fa_real *)(w.motion + model->n_bodies);
        w.groups.h = w.groups.L + n * (n + 1) / 2;
        w.groups.u = w.groups.h + n;
        w.groups.nu = w.groups.u + n;
        w.groups.inverse = w.groups.nu + n;
        w.groups.Y = w.groups.inverse + n;
        w.groups.e = w.groups.Y + 6 * model->grouping->n_columns;
    }
    return w;
}

#endif
