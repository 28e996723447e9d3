/*
 * maps.c -- maps without a model on any number of states, through strides
 *
 * The batch of batch.c for kernels whose operands have fixed sizes.
 */
#ifndef FA_MAPS_C
#define FA_MAPS_C

#include "calls/call.h"
#include "calls/kernels.h"
#include "calls/map_table.h"
#include "calls/maps.h"
#include "kernels/batch/operands.h"
#include "kernels/lie/dual_screws.c"
#include "kernels/lie/lie.c"
#include "lanes/lane.h"

#define MAP_ROW(map, name, doc, operands, run) [map] = run,
static void (*const map_rows[FA_N_MAPS])(const fa_call *) = {FA_MAPS(MAP_ROW)};
#undef MAP_ROW

static size_t map_work_size(fa_map map)
{
    size_t total = 0;
    for (int i = 0; i <= fa_map_inputs(map); i++) {
        total += (size_t)fa_map_size(map, i);
    }
    return total * sizeof(fa_real);
}

static fa_failures map_run(fa_map map, size_t count, const fa_operand *operands,
                           void *work)
{
    const int n_in = fa_map_inputs(map);
    const fa_operand *out = operands + n_in;
    fa_real *lanes[FA_MAP_OPERANDS], *next = work;
    fa_failures bad = {0, 0};
    fa_call call = {.out = NULL};

    for (int i = 0; i <= n_in; i++) {
        lanes[i] = next;
        next += operands[i].size;
        if (i < n_in) {
            call.in[i] = lanes[i];
        }
    }
    call.out = lanes[n_in];
    for (size_t at = 0; at < count; at += FA_LANES) {
        const size_t states = count - at < FA_LANES ? count - at : FA_LANES;
        call.states = (int)states;
        for (int i = 0; i < n_in; i++) {
            batch_load(operands + i, 0, at, states, lanes[i]);
        }
        map_rows[map](&call);
        batch_finish(out, 0, at, states, call.out, &bad);
    }
    return bad;
}

#endif
