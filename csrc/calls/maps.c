/*
 * maps.c -- names and shapes of the maps of rotations, poses and screws
 *
 * Checked by  tests/c/test_lie.c, tests/se3/test_se3_arguments.py.
 */
#include "calls/maps.h"

#include "calls/map_table.h"

#include <stddef.h>

#define OPERANDS(...) {__VA_ARGS__}
#define SE3(map, name, doc, operands, run)                                             \
    [map] = {"se3", #name, doc, OPERANDS operands},
#define SCREWS(map, name, doc, operands, run)                                          \
    [map] = {"screws", #name, doc, OPERANDS operands},

const fa_map_row fa_map_rows[FA_N_MAPS] = {FA_SE3_MAPS(SE3) FA_SCREWS_MAPS(SCREWS)};

int fa_map_inputs(fa_map map)
{
    int n = 0;
    while (n < FA_MAP_OPERANDS && fa_map_rows[map].operands[n]) {
        n++;
    }
    return n - 1;
}

int fa_map_size(fa_map map, int i)
{
    int size = 1;
    for (const char *d = fa_map_rows[map].operands[i]; *d; d++) {
        size *= *d - '0';
    }
    return size;
}
