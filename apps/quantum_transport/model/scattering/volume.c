/* volume.c - see volume.h. */
#include "model/scattering/volume.h"

#include <string.h>

#include "pass/partition/weir_spmd.h"
#include "pass/weir_pass.h"

double qt_volume_total(const qt_volume *v)
{
  double sum = 0;

  for (int i = 0; i < QT_TENSORS; i++) {
    sum += v->bytes[i];
  }
  return sum;
}

/* ---- From regions ---- */

/* What a move is of: a label of the graph, or an input. */
static int tensor_of(const char *name)
{
  static const struct {
    qt_self_energy_array input;
    int tensor;
  } inputs[] = {{QT_GREEN, QT_TENSOR_GREEN},         {QT_PHONON_SELF, QT_TENSOR_PHONONS},
                {QT_PHONON_PAIR, QT_TENSOR_PHONONS}, {QT_COUPLING, QT_TENSOR_PHONONS},
                {QT_SIGMA, QT_TENSOR_SIGMA},         {QT_EMISSION, QT_TENSOR_PI}};

  for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
    if (strcmp(name, qt_self_energy_names[inputs[i].input]) == 0) {
      return inputs[i].tensor;
    }
  }
  int i = 0;

  while (i < QT_TENSORS && strcmp(name, qt_tensor_names[i]) != 0) {
    i++;
  }
  WEIR_ASSERT(i < QT_TENSORS);
  return i;
}

/* Ranks that merge. */
static int group_of(const weir_grid *grid, unsigned dims)
{
  int n = 1;

  for (int d = 0; d < grid->dims; d++) {
    n *= (dims >> d & 1) != 0 ? grid->extent[d] : 1;
  }
  return n;
}

static void add_moves(const weir_spmd_graph *l, qt_volume *out)
{
  for (int32_t i = 0; i < l->n; i++) {
    const weir_comm_op *m = l->moves[i];
    const double n = group_of(weir_partition_grid(l->p), m->dims);

    out->bytes[tensor_of(m->name)] +=
        (double)m->bytes * (m->kind == WEIR_COMM_OP_ALLREDUCE ? 2 * (n - 1) / n : 1);
  }
}

static weir_status add_ranks(const weir_partition *p, int ranks, qt_volume *out)
{
  for (int r = 0; r < ranks; r++) {
    weir_spmd_graph l = {.n = 0};
    const weir_status status = weir_spmd_lower(p, r, &l);

    if (status == WEIR_OK) {
      add_moves(&l, out);
    }
    weir_spmd_graph_fini(&l);
    WEIR_TRY(status);
  }
  return WEIR_OK;
}

/* Adds what a graph sends in so many runs; takes the graph and its shards, status: of the making.
 */
static weir_status add_graph(weir_graph *g, qt_shards *shards, weir_status made, double times,
                             qt_volume *out)
{
  const weir_pass_opts opts = {.slots = 0};
  qt_volume v = {.bytes = {0}};
  weir_partition *p = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(made, done);
  WEIR_TRY_GOTO(weir_pass_run(g, "simplify", &opts), done); /* as a plan begins */
  const weir_grid grid = qt_shards_grid(shards);

  WEIR_TRY_GOTO(weir_partition_create(g, &grid, shards->shard, shards->n, &p), done);
  WEIR_TRY_GOTO(add_ranks(p, shards->tiles->ranks, &v), done);
  for (int i = 0; i < QT_TENSORS; i++) {
    out->bytes[i] += times * v.bytes[i];
  }
done:
  weir_partition_destroy(&p);
  qt_shards_fini(shards);
  weir_graph_destroy(&g);
  return status;
}

static weir_status add_pairs(const qt_self_energy_spec *s, const qt_tiles *t, qt_volume *out)
{
  qt_shards shards = {.tiles = t};
  weir_graph *g = NULL;
  const weir_status status = qt_self_energy_pair_graph(s, &shards, &g);

  return add_graph(g, &shards, status, 1, out);
}

/* Ranges of n atoms one after another. */
static weir_status add_ranges(const qt_self_energy_spec *s, const qt_tiles *t, int64_t n,
                              qt_volume *out)
{
  qt_shards shards = {.tiles = t};
  weir_graph *g = NULL;
  qt_atom_range a;

  WEIR_TRY(qt_atom_range_create(s->neighbours, n, &a));
  weir_status status = qt_self_energy_range_graph(s, &a, &shards, &g);

  status = add_graph(g, &shards, status, (double)a.n_ranges, out);
  qt_atom_range_fini(&a);
  WEIR_TRY(status);
  return s->phonons ? add_pairs(s, t, out) : WEIR_OK;
}

/* C, one frequency after another, and what follows from all of them. */
static weir_status add_frequencies(const qt_self_energy_spec *s, const qt_tiles *t, qt_volume *out)
{
  qt_shards shards = {.tiles = t};
  weir_graph *g = NULL;
  weir_status status = qt_self_energy_coupling_graph(s, &shards, &g);

  WEIR_TRY(add_graph(g, &shards, status, 1, out));
  g = NULL;
  status = qt_self_energy_retarded_graph(s, &shards, &g);
  WEIR_TRY(add_graph(g, &shards, status, 1, out));
  for (int64_t w = 0; w < s->n_frequencies; w++) {
    g = NULL;
    status = qt_self_energy_frequency_graph(s, w, &shards, &g);
    WEIR_TRY(add_graph(g, &shards, status, 1, out));
  }
  return s->phonons ? add_pairs(s, t, out) : WEIR_OK;
}

weir_status qt_volume_of_tiles(const qt_self_energy_spec *s, const qt_tiles *t, qt_volume *out)
{
  qt_self_energy_spec of_tiles = *s;
  qt_shards shards = {.tiles = t};
  weir_graph *g = NULL;
  int64_t n = 0;

  of_tiles.tiles = t;
  *out = (qt_volume){.bytes = {0}};
  if (t->by_frequency) {
    return add_frequencies(s, t, out);
  }
  WEIR_TRY(qt_self_energy_atoms_at_once(&of_tiles, &n));
  if (n < s->neighbours->n_atoms) {
    return add_ranges(s, t, n, out);
  }
  const weir_status status = qt_self_energy_graph(s, &shards, &g);

  return add_graph(g, &shards, status, 1, out);
}

static void add_plan(const weir_plan *p, double times, int sharers, qt_volume *out)
{
  for (int32_t i = 0; p != NULL && i < weir_plan_moves(p); i++) {
    const weir_comm_op_report m = weir_plan_move(p, i);
    const double n = sharers;

    out->bytes[tensor_of(m.name)] += times * (double)m.bytes * (m.merge ? 2 * (n - 1) / n : 1);
  }
}

qt_volume qt_volume_of_plans(const qt_self_energy *s)
{
  const int sharers = s->spec.tiles != NULL ? s->spec.tiles->energies : 1;
  qt_volume v = {.bytes = {0}};

  add_plan(s->plan, s->range.n > 0 ? (double)s->range.n_ranges : 1, sharers, &v);
  add_plan(s->pairs, 1, sharers, &v);
  add_plan(s->retarded, 1, sharers, &v);
  for (int64_t w = 0; w < s->spec.n_frequencies && s->of_frequency != NULL; w++) {
    add_plan(s->of_frequency[w], 1, sharers, &v);
  }
  return v;
}

static weir_status measure(const qt_self_energy_spec *s, const qt_tiles *t, double *bytes)
{
  qt_volume v;

  if (t->ranks <= QT_VOLUME_MAX_RANKS) {
    WEIR_TRY(qt_volume_of_tiles(s, t, &v));
  } else {
    const qt_volume_sizes n = qt_volume_sizes_of(s);

    v = qt_volume_formula(&n, t->atoms, t->energies);
  }
  *bytes = qt_volume_total(&v);
  return WEIR_OK;
}

weir_status qt_tiles_search(const qt_self_energy_spec *s, int ranks, qt_tiles *out)
{
  double best_bytes = 0, bytes = 0;
  qt_self_energy_spec one = *s;
  int64_t n = 0;

  *out = qt_tiles_of(ranks, 1, s->n_k, s->n_energies, s->n_frequencies);
  one.tiles = out;
  if (ranks == 1) {
    return WEIR_OK;
  }
  WEIR_TRY(qt_self_energy_atoms_at_once(&one, &n));
  if (n < s->neighbours->n_atoms) {
    return WEIR_OK;
  }
  for (int a = 1; a <= ranks && a <= s->neighbours->n_atoms; a++) {
    const qt_tiles t = qt_tiles_of(ranks, a, s->n_k, s->n_energies, s->n_frequencies);

    if (ranks % a == 0) {
      WEIR_TRY(measure(s, &t, &bytes));
      if (a == 1 || bytes < best_bytes) {
        best_bytes = bytes;
        *out = t;
      }
    }
  }
  return WEIR_OK;
}

/* ---- Formulas ---- */

qt_volume_sizes qt_volume_sizes_of(const qt_self_energy_spec *s)
{
  const qt_neighbours *n = s->neighbours;

  return (qt_volume_sizes){.n_k = (double)s->n_k,
                           .n_energies = (double)s->n_energies,
                           .n_frequencies = (double)s->n_frequencies,
                           .n_atoms = (double)n->n_atoms,
                           .n_neighbours = (double)n->n_neighbours,
                           .n_orbitals = (double)n->n_orbitals,
                           .n_directions = (double)n->n_directions};
}

/* Complex numbers of lesser and greater functions. */
static const double element_bytes = 2 * sizeof(weir_c128);

qt_volume qt_volume_formula(const qt_volume_sizes *n, double atoms, double energies)
{
  const double of_tile = n->n_atoms / atoms + n->n_neighbours;
  const double green = element_bytes * n->n_k * (n->n_energies / energies + 2 * n->n_frequencies) *
                       of_tile * n->n_orbitals * n->n_orbitals;
  const double phonons = element_bytes * n->n_k * n->n_frequencies * of_tile * n->n_neighbours *
                         n->n_directions * n->n_directions;
  const double ranks = atoms * energies;

  return (qt_volume){{[QT_TENSOR_GREEN] = ranks * green,
                      [QT_TENSOR_SIGMA] = ranks * green,
                      [QT_TENSOR_PHONONS] = ranks * phonons,
                      [QT_TENSOR_PI] = ranks * phonons}};
}

qt_volume qt_volume_of_points(const qt_volume_sizes *n, double ranks)
{
  const double phonon_points = n->n_k * n->n_frequencies;
  const double green = element_bytes * n->n_k * n->n_energies * phonon_points * n->n_atoms *
                       n->n_orbitals * n->n_orbitals;
  const double phonons = element_bytes * phonon_points * n->n_atoms * n->n_neighbours *
                         n->n_directions * n->n_directions;

  return (qt_volume){{[QT_TENSOR_GREEN] = green,
                      [QT_TENSOR_SIGMA] = green,
                      [QT_TENSOR_PHONONS] = ranks * phonons,
                      [QT_TENSOR_PI] = ranks * phonons}};
}
