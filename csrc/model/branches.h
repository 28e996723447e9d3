/*
 * branches.h -- which coordinates of an arm with branches know of each other
 *
 * Two coordinates share an entry of the mass matrix, and of the derivatives of inverse
 * dynamics, if one of them moves the other. A path leads from each coordinate k over the
 * ones before it that it shares entries with, its own entry last; the path of any of
 * these is the start of that of k. With M = L'D L, taken from the last coordinate to the
 * first, L has entries on the paths and nowhere else.
 *
 * Arms without modes have these paths where they leave enough of a matrix empty. A path is
 * made of the joints inboard; followers add to it. Springs between joints and motors would,
 * too, and then full matrices are faster: such arms have no paths.
 *
 * Source      R. Featherstone, Int. J. Robotics Research 24(6), 2005 (L'D L of trees);
 *             J. W. H. Liu, SIAM J. Matrix Anal. Appl. 11(1), 1990 (elimination trees).
 * Checked by  tests/dynamics/test_branches.py, tests/c/test_branches.c.
 */
#ifndef FA_BRANCHES_H
#define FA_BRANCHES_H

#include "model/description.h"
#include "model/layout.h"

/*
 * Gives a model its paths, or NULL where they are of no use; a model in front of a tree
 * (followers.h) after the tree has its own. fa_model_free frees them.
 *
 * Returns FA_OK or FA_NO_MEMORY.
 */
fa_status fa_branches_build(fa_model *model);

#endif
