/*
 * modal.h -- modal integrals of a body from its nodes (B1, B2), or as they are given
 */
#ifndef FA_MODAL_H
#define FA_MODAL_H

#include "model/description.h"
#include "model/layout.h"

/* doubles of given modal integrals of a body with n modes */
#define FA_GIVEN_SIZE(n) (FA_GIVEN_MODAL + fa_modal_size(n) - 2 * (size_t)((n) * (n)))

/* whether F1(r,s) = -F1(s,r), to rounding of their size */
int fa_modal_is_skew(int n, const double *F1);

/* number of doubles of the modal integrals of a body with n modes */
size_t fa_modal_size(int n);

/*
 * Modal integrals of one body from its nodes (equations B1, B2).
 *
 *   n, n_nodes   modes and nodes
 *   nodes        [n_nodes][FA_NODE_SIZE(n)]
 *   storage      [fa_modal_size(n)]  receives the integrals; K and C are left as is
 *   body         mass, mp0, J0, modal, node_is_offset and F1_is_skew are set
 */
void fa_modal_integrals(int n, int n_nodes, const double *nodes, double *storage,
                        fa_body *body);

#endif
