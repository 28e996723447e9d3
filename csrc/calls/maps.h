/*
 * maps.h -- maps of rotations, poses and screws, which need no model
 *
 * Their rows are in map_table.h, their batch functions in library/tables.h.
 * Twists and screws are [angular; linear], quaternions (w, x, y, z), matrices by rows.
 */
#ifndef FA_MAPS_H
#define FA_MAPS_H

#include "calls/map_table.h"

/* how far a rotation may be off: entries of R'R - I, and of the last row of a pose */
#define LIE_TOLERANCE 1e-6

/* rounding of numbers of ordinary size, where zero is expected */
#define LIE_ROUNDING 1e-9

enum { FA_MAP_OPERANDS = 4 };

#define FA_MAP_NUMBER(map, ...) map,
typedef enum { FA_MAPS(FA_MAP_NUMBER) FA_N_MAPS } fa_map;
#undef FA_MAP_NUMBER

/* a row of map_table.h */
typedef struct {
    const char *module; /* of flexarm: se3 or screws */
    const char *name;
    const char *doc;                       /* names of the operands, "X -> C" */
    const char *operands[FA_MAP_OPERANDS]; /* inputs, then the output, then NULL */
} fa_map_row;

extern const fa_map_row fa_map_rows[FA_N_MAPS];

/* number of inputs of a map */
int fa_map_inputs(fa_map map);

/* doubles of operand i */
int fa_map_size(fa_map map, int i);

#endif
