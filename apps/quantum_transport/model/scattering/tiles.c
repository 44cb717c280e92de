/* tiles.c - see tiles.h. */
#include "model/scattering/tiles.h"

#include "base/weir_alloc.h"
#include "model/ranks.h"

/* Dimensions of the grid. */
enum { ALONG_ATOMS, ALONG_ENERGIES };

/* Whether ranges of both numbers nest in one order of ranks. */
static bool nest(int a, int b)
{
  return a % b == 0 || b % a == 0;
}

static int64_t share(int64_t n, int64_t pieces)
{
  return (n + pieces - 1) / pieces;
}

/* Ranges of wave vectors with which no rank has more points than it must. */
static int ranges_of_momenta(const qt_tiles *t, int other, int64_t n_k, int64_t n_e)
{
  int best = 1;

  for (int p = 2; p <= t->ranks && p <= n_k; p++) {
    if (t->ranks % p == 0 && nest(p, t->atoms) && nest(p, other) &&
        share(n_k, p) * share(n_e, t->ranks / p) < share(n_k, best) * share(n_e, t->ranks / best)) {
      best = p;
    }
  }
  return best;
}

qt_tiles qt_tiles_of(int ranks, int atoms, int64_t n_k, int64_t n_energies, int64_t n_frequencies)
{
  qt_tiles t = {.ranks = ranks, .atoms = atoms, .energies = ranks / atoms, .momenta = {1, 1}};
  int *m = t.momenta;

  m[QT_POINTS_OF_ELECTRONS] = ranges_of_momenta(&t, 1, n_k, n_energies);
  m[QT_POINTS_OF_PHONONS] = ranges_of_momenta(&t, m[QT_POINTS_OF_ELECTRONS], n_k, n_frequencies);
  return t;
}

qt_point_box qt_tiles_points(const qt_tiles *t, int kind, int rank, int64_t n_k, int64_t n_e)
{
  const int momenta = t != NULL ? t->momenta[kind] : 1;
  const int energies = t != NULL ? t->ranks / momenta : 1;
  qt_point_box b;

  qt_ranks_share(n_k, t != NULL ? rank / energies : 0, momenta, &b.k[0], &b.k[1]);
  qt_ranks_share(n_e, t != NULL ? rank % energies : 0, energies, &b.e[0], &b.e[1]);
  return b;
}

void qt_shards_fini(qt_shards *c)
{
  for (int i = 0; i < c->n; i++) {
    weir_free(&c->bounds[i]);
  }
  c->n = 0;
}

weir_grid qt_shards_grid(const qt_shards *c)
{
  return (weir_grid){2, {c->tiles->atoms, c->tiles->energies}};
}

/* Into so many pieces along dimensions of the grid; others of the array share them. */
static void shard(qt_shards *c, weir_graph *g, weir_value v, int dim, int along, bool both,
                  int pieces)
{
  const weir_array_desc *d = weir_value_desc(g, v);
  const int extent = both                   ? c->tiles->ranks
                     : along == ALONG_ATOMS ? c->tiles->atoms
                                            : c->tiles->energies;
  int64_t *bounds = NULL, last;

  if (d == NULL || pieces == 1) {
    return;
  }
  if (c->n == QT_MAX_SHARDS ||
      weir_alloc((int64_t)pieces + 1, sizeof *bounds, (void **)&bounds) != WEIR_OK) {
    (void)weir_graph_fail(g, WEIR_ERR_MEMORY);
    return;
  }
  for (int q = 0; q < pieces; q++) {
    qt_ranks_share(d->shape[dim], q, pieces, &bounds[q], &last);
    bounds[q + 1] = last;
  }
  c->bounds[c->n] = bounds;
  c->shard[c->n++] = (weir_shard){.array = weir_value_array(g, v),
                                  .dim = dim,
                                  .along = along,
                                  .bounds = bounds,
                                  .also = both ? 1u << ALONG_ENERGIES : 0,
                                  .pieces = pieces < extent ? pieces : 0};
}

void qt_shard_points(qt_shards *c, weir_graph *g, weir_value v, int dim, int kind)
{
  if (c != NULL) {
    const int momenta = c->tiles->momenta[kind];

    shard(c, g, v, dim, ALONG_ATOMS, true, momenta);
    shard(c, g, v, dim + 1, ALONG_ATOMS, true, c->tiles->ranks / momenta);
  }
}

void qt_shard_replicate(qt_shards *c, weir_graph *g, weir_value v)
{
  if (c != NULL && c->n == QT_MAX_SHARDS) {
    (void)weir_graph_fail(g, WEIR_ERR_MEMORY);
  } else if (c != NULL && weir_value_desc(g, v) != NULL) {
    c->shard[c->n++] = (weir_shard){.array = weir_value_array(g, v), .dim = -1};
  }
}

void qt_shard_tile(qt_shards *c, weir_graph *g, weir_value v, int atom, int energy)
{
  if (c != NULL) {
    shard(c, g, v, atom, ALONG_ATOMS, false, c->tiles->atoms);
    if (energy < 0 && c->tiles->atoms == 1) {
      qt_shard_replicate(c, g, v);
    } else if (energy >= 0) {
      shard(c, g, v, energy, ALONG_ENERGIES, false, c->tiles->energies);
    }
  }
}

void qt_shard_atoms(qt_shards *c, weir_graph *g, weir_value v, int atom)
{
  if (c != NULL) {
    shard(c, g, v, atom, ALONG_ATOMS, true, c->tiles->ranks);
  }
}
