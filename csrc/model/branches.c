/*
 * branches.c -- building a model: which coordinates share entries of matrices
 *
 * Checked by  tests/dynamics/test_branches.py, tests/c/test_branches.c.
 */
#include "model/branches.h"

#include "model/kinds.h"

#include <stdlib.h>
#include <string.h>

/* while they are found: entries (k, i), i < k */
typedef struct {
    int n;
    unsigned char *has; /* [n][n] */
    int *parent;        /* [n] the coordinate before on the path, or -1 */
} branches_graph;

static void branches_mark(branches_graph *g, int a, int b)
{
    const int k = a > b ? a : b, i = a > b ? b : a;
    if (k != i) {
        g->has[(size_t)k * (size_t)g->n + (size_t)i] = 1;
    }
}

/* joints inboard of each joint, and the freedoms of one joint */
static void branches_of_bodies(const fa_model *model, branches_graph *g)
{
    for (int k = 0; k < model->n_bodies; k++) {
        const fa_body *b = model->bodies + k;
        for (int a = k; a >= 0; a = model->bodies[a].parent) {
            const fa_body *inboard = model->bodies + a;
            for (int i = 0; i < b->n_dof * inboard->n_dof; i++) {
                branches_mark(g, b->joint_at + i % b->n_dof,
                              inboard->joint_at + i / b->n_dof);
            }
        }
    }
}

static int branches_count(const branches_graph *g)
{
    int count = 0;
    for (size_t i = 0; i < (size_t)g->n * (size_t)g->n; i++) {
        count += g->has[i];
    }
    return count;
}

/* what motors and followers add */
static void branches_of_couplings(const fa_model *model, branches_graph *g)
{
    const fa_branches *tree = model->tree ? model->tree->branches : NULL;

    for (int i = 0; i < model->n_passive && !tree; i++) {
        const fa_passive *p = model->passive + i;
        if (p->motor >= 0) {
            branches_mark(g, p->joint, p->motor);
        }
    }
    for (int k = 0; tree && k < tree->n; k++) {
        for (int p = tree->first[k]; p < tree->first[k + 1]; p++) {
            branches_mark(g, model->velocities[k].at,
                          model->velocities[tree->other[p]].at);
        }
    }
}

/* elimination tree (Liu, 1990), from the last coordinate to the first; number of the
 * entries of all paths */
static int branches_paths(branches_graph *g)
{
    int pairs = 0;

    for (int i = g->n - 1; i >= 0; i--) {
        g->parent[i] = -1;
        for (int k = i + 1; k < g->n; k++) {
            int end = k;
            if (!g->has[(size_t)k * (size_t)g->n + (size_t)i]) {
                continue;
            }
            while (g->parent[end] >= 0 && g->parent[end] != i) {
                end = g->parent[end];
            }
            if (end != i && g->parent[end] < 0) {
                g->parent[end] = i;
            }
        }
    }
    for (int k = 0; k < g->n; k++) {
        for (int i = k; i >= 0; i = g->parent[i]) {
            pairs++;
        }
    }
    return pairs;
}

/* paths, roots and the places of all entries */
static void branches_fill(const branches_graph *g, fa_branches *b, int *first,
                          int *other, int *root, int *place)
{
    const int width = b->n_tiles * FA_BRANCH_TILE;
    int at = 0;

    for (int i = 0; i < b->n * width; i++) {
        place[i] = 2 * b->n_pairs;
    }
    for (int k = 0; k < b->n; k++) {
        first[k] = at; /* also where the path of the coordinate before ends */
        const int p = g->parent[k], length = p < 0 ? 0 : first[p + 1] - first[p];
        for (int t = 0; t < length; t++) {
            other[at + t] = other[first[p] + t];
        }
        other[at + length] = k;
        root[k] = other[at];
        for (int t = 0; t <= length; t++, at++) {
            place[other[at] * width + k] = b->n_pairs + at;
            place[k * width + other[at]] = at;
        }
    }
    first[b->n] = at;
}

/* whether coordinate k has an entry in a tile of columns */
static int branches_has(const branches_graph *g, int tile, int k)
{
    const int from = tile * FA_BRANCH_TILE;

    for (int j = from; j < from + FA_BRANCH_TILE && j < g->n; j++) {
        const int high = j > k ? j : k, low = j > k ? k : j;
        int i = high;
        while (i > low) {
            i = g->parent[i];
        }
        if (i == low) {
            return 1;
        }
    }
    return 0;
}

/* number of the pairs of rows with an entry in a tile, over all tiles; rows [n_tiles][n]
 * are kept, -1 behind the last one */
static size_t branches_outboard(const branches_graph *g, int n_tiles, int *rows)
{
    size_t count = 0;

    for (int tile = 0; tile < n_tiles; tile++) {
        int *to = rows + tile * g->n, n = 0;
        for (int k = g->n - 1; k >= 0; k--) {
            if (!branches_has(g, tile, k)) {
                continue;
            }
            to[n++] = k;
            for (int i = g->parent[k]; i >= 0; i = g->parent[i]) {
                count++; /* what is inboard of a row with an entry has one, too */
            }
        }
        for (; n < g->n; n++) {
            to[n] = -1;
        }
    }
    return count;
}

/* where the parts of the result are written */
typedef struct {
    int *first, *other, *root, *place, *n_rows, *n_reached, *rows, *reached;
    int *outboard, *n_outboard, *first_outboard;
} branches_parts;

/* of each tile of columns: rows with an entry, and rows that a solution has */
static void branches_rows(const fa_branches *b, const branches_parts *to)
{
    int at = 0;

    for (int tile = 0; tile < b->n_tiles; tile++) {
        const int *rows = b->rows + tile * b->n, from = tile * FA_BRANCH_TILE;
        int n = 0;
        to->first_outboard[tile] = at;
        for (; n < b->n && rows[n] >= 0; n++) {
            const int k = rows[n], depth = b->first[k + 1] - b->first[k] - 1;
            to->n_outboard[tile * b->n + n] = 0;
            for (int r = 0; r < n; r++) { /* those before k in this order */
                const int pair = b->first[rows[r]] + depth;
                if (pair < b->first[rows[r] + 1] && b->other[pair] == k) {
                    to->outboard[at++] = pair;
                    to->outboard[at++] = rows[r];
                    to->n_outboard[tile * b->n + n]++;
                }
            }
        }
        to->n_rows[tile] = n;
        to->n_reached[tile] = 0;
        for (int k = 0; k < b->n; k++) {
            int has = 0;
            for (int j = from; j < from + FA_BRANCH_TILE && j < b->n; j++) {
                has |= b->root[j] == b->root[k];
            }
            if (has) {
                to->reached[tile * b->n + to->n_reached[tile]++] = k;
            }
        }
    }
}

/* a part of a block of ints */
static int *branches_cut(int **block, size_t count)
{
    int *part = *block;
    *block += count;
    return part;
}

/* the result, one block of memory */
static fa_status branches_make(const branches_graph *g, int pairs,
                               const fa_branches **result)
{
    const size_t n = (size_t)g->n, tiles = (n + FA_BRANCH_TILE - 1) / FA_BRANCH_TILE;
    int *rows = malloc(tiles * n * sizeof(int));
    if (!rows) {
        return FA_NO_MEMORY;
    }
    const size_t outboard = 2 * branches_outboard(g, (int)tiles, rows);
    const size_t ints = 2 * n + 1 + (size_t)pairs + n * tiles * FA_BRANCH_TILE +
                        3 * tiles * (n + 1) + outboard;
    fa_branches *b = calloc(1, sizeof *b + ints * sizeof(int));
    if (!b) {
        free(rows);
        return FA_NO_MEMORY;
    }
    int *next = (int *)(b + 1);
    branches_parts to;
    b->first = to.first = branches_cut(&next, n + 1);
    b->other = to.other = branches_cut(&next, (size_t)pairs);
    b->root = to.root = branches_cut(&next, n);
    b->place = to.place = branches_cut(&next, n * tiles * FA_BRANCH_TILE);
    b->n_rows = to.n_rows = branches_cut(&next, tiles);
    b->n_reached = to.n_reached = branches_cut(&next, tiles);
    b->rows = to.rows = branches_cut(&next, tiles * n);
    b->reached = to.reached = branches_cut(&next, tiles * n);
    b->n_outboard = to.n_outboard = branches_cut(&next, tiles * n);
    b->first_outboard = to.first_outboard = branches_cut(&next, tiles);
    b->outboard = to.outboard = branches_cut(&next, outboard);
    b->n = g->n;
    b->n_pairs = pairs;
    b->n_tiles = (int)tiles;
    memcpy(to.rows, rows, tiles * n * sizeof(int));
    free(rows);
    branches_fill(g, b, to.first, to.other, to.root, to.place);
    branches_rows(b, &to);
    for (int k = 0; k < g->n; k++) {
        b->is_split |= b->root[k] != 0;
    }
    *result = b;
    return FA_OK;
}

fa_status fa_branches_build(fa_model *model)
{
    const size_t n = (size_t)model->nv;
    branches_graph g = {.n = model->nv};
    fa_status status = FA_OK;

    model->branches = NULL;
    if (model->nv > FA_MAX_BRANCHED || model->nv == 0 || model->n_modes > 0 ||
        model->any_floating || model->fidelity == FA_LINEAR ||
        (model->tree && !model->tree->branches)) {
        return FA_OK;
    }
    g.has = calloc(n * n, 1);
    g.parent = calloc(n, sizeof(int));
    if (!g.has || !g.parent) {
        status = FA_NO_MEMORY;
    } else {
        if (!model->tree) {
            branches_of_bodies(model, &g);
        }
        const int own = branches_count(&g) + model->nv;
        branches_of_couplings(model, &g);
        const int pairs = branches_paths(&g), most = model->nv * (model->nv + 1) / 2;
        /* without followers the paths are the joints inboard, and nothing else: then no
         * motors on springs */
        const int fits = model->tree || own == pairs;
        if (fits && FA_BRANCH_PARTS * pairs <= (FA_BRANCH_PARTS - 1) * most) {
            status = branches_make(&g, pairs, &model->branches);
        }
    }
    free(g.has);
    free(g.parent);
    return status;
}
