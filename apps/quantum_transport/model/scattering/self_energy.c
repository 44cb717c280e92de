/* self_energy.c - see self_energy.h: the graph. */
#include "model/scattering/self_energy.h"

#include <math.h>

#include "model/ranks.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/gather/weir_gather.h"
#include "ops/reduce/weir_reduce.h"
#include "ops/reshape/weir_reshape.h"
#include "ops/slice/weir_slice.h"
#include "ops/transpose/weir_transpose.h"

const char *const qt_self_energy_names[QT_SELF_ENERGY_ARRAYS] = {
    [QT_GREEN] = "green",
    [QT_PHONON_SELF] = "phonon_self",
    [QT_PHONON_PAIR] = "phonon_pair",
    [QT_SIGMA] = "sigma",
    [QT_SIGMA_RETARDED] = "sigma_retarded",
    [QT_PI_SELF] = "pi_self",
    [QT_PI_PAIR] = "pi_pair",
    [QT_COUPLING] = "coupling",
    [QT_EMISSION] = "emission",
};

const char *const qt_tensor_names[QT_TENSORS] = {"G", "Sigma", "D", "Pi"};

const char qt_self_energy_atom[] = "atom", qt_self_energy_gradient[] = "gradient";

weir_array_desc qt_self_energy_desc_of(const qt_self_energy_spec *s, qt_self_energy_array which,
                                       int64_t n_atoms)
{
  const qt_neighbours *n = s->neighbours;
  const int64_t k = s->n_k, e = s->n_energies, w = s->n_frequencies, a = n_atoms;
  const int64_t o = n->n_orbitals, d = n->n_directions;

  switch (which) {
  case QT_GREEN:
  case QT_SIGMA:
    return (weir_array_desc){WEIR_C128, 6, {2, k, e, a, o, o}, 0};
  case QT_SIGMA_RETARDED:
    return (weir_array_desc){WEIR_C128, 5, {k, e, a, o, o}, 0};
  case QT_PI_SELF:
  case QT_PHONON_SELF:
    return (weir_array_desc){WEIR_C128, 6, {2, k, w, a, d, d}, 0};
  default:
    return (weir_array_desc){WEIR_C128, 7, {2, k, w, a, n->n_neighbours, d, d}, 0};
  }
}

weir_array_desc qt_self_energy_desc(const qt_self_energy_spec *s, qt_self_energy_array which)
{
  return qt_self_energy_desc_of(s, which, s->neighbours->n_atoms);
}

qt_point_box qt_self_energy_points(const qt_self_energy_spec *s, int kind)
{
  const qt_tiles *t = s->tiles;

  return qt_tiles_points(t, kind, t != NULL ? qt_ranks_rank(t->comm) : 0, s->n_k,
                         kind == QT_POINTS_OF_ELECTRONS ? s->n_energies : s->n_frequencies);
}

static bool is_of_electrons(qt_self_energy_array which)
{
  return which == QT_GREEN || which == QT_SIGMA || which == QT_SIGMA_RETARDED;
}

static int kind_of(qt_self_energy_array which)
{
  return is_of_electrons(which) ? QT_POINTS_OF_ELECTRONS : QT_POINTS_OF_PHONONS;
}

/* Dimension of wave vectors, before that of energies. */
static int points_dim(qt_self_energy_array which)
{
  return which == QT_SIGMA_RETARDED ? 0 : 1;
}

weir_array_desc qt_self_energy_own_desc(const qt_self_energy_spec *s, qt_self_energy_array which)
{
  const qt_point_box b = qt_self_energy_points(s, kind_of(which));
  weir_array_desc d = qt_self_energy_desc(s, which);
  int64_t *shape = d.shape + points_dim(which);

  shape[0] = b.k[1] - b.k[0];
  shape[1] = b.e[1] - b.e[0];
  return d;
}

/* Names the nodes from number `first` on. */
static void label_from(weir_graph *g, int32_t first, qt_tensor of)
{
  weir_label_from(g, first, qt_tensor_names[of]);
}

static void shard_points(qt_shards *c, weir_graph *g, weir_value v, qt_self_energy_array which)
{
  qt_shard_points(c, g, v, points_dim(which), kind_of(which));
}

static weir_value input(weir_graph *g, const qt_self_energy_spec *s, qt_self_energy_array which,
                        int64_t n_atoms, qt_shards *shards)
{
  const weir_array_desc d = qt_self_energy_desc_of(s, which, n_atoms);
  const weir_value v = weir_input(g, qt_self_energy_names[which], &d);

  shard_points(shards, g, v, which);
  return v;
}

static weir_value result(weir_graph *g, qt_self_energy_array which, weir_value v, qt_shards *shards)
{
  weir_output(g, qt_self_energy_names[which], v);
  shard_points(shards, g, v, which);
  return v;
}

/* x times i factor. */
static weir_value times_i(weir_graph *g, weir_value x, double factor)
{
  weir_c128 z = {0, factor};
  const weir_tensor t = weir_tensor_wrap(&z, WEIR_C128, 0, NULL);

  return weir_mul(g, x, weir_constant(g, &t));
}

/* The adjoint of matrices in the last two dimensions. */
static weir_value adjoint(weir_graph *g, weir_value x)
{
  const weir_array_desc *d = weir_value_desc(g, x);
  weir_transpose_spec swap = {.order = {0}};

  for (int i = 0; d != NULL && i < d->rank; i++) {
    swap.order[i] = i < d->rank - 2 ? i : 2 * d->rank - 3 - i;
  }
  return weir_conj(g, weir_transpose(g, x, &swap));
}

/* (x - x^H) / 2. */
static weir_value antihermitian(weir_graph *g, weir_value x)
{
  return weir_scale(g, weir_sub(g, x, adjoint(g, x)), 0.5);
}

static weir_value list_of(weir_graph *g, const qt_neighbours *n, int32_t *list)
{
  const int64_t lists[] = {n->n_atoms, n->n_neighbours};
  const weir_tensor t = weir_tensor_wrap(list, WEIR_I32, 2, lists);

  return weir_constant(g, &t);
}

/* The atoms of a graph: the first of those whose G and Dhat_a it reads. */
typedef struct subset {
  int64_t n, n_local;
  weir_value atom, gradient; /* their lists */
  weir_value green, self, pair;
  qt_shards *shards; /* NULL: one rank */
} subset;

const char qt_self_energy_tile[] = "green_tile";

/* G as tiles have it: from it come what the atoms themselves and what their neighbours have. A
 * result, as a copy that is none is left out. */
static weir_value tile_of(weir_graph *g, weir_value green, qt_shards *shards)
{
  if (shards == NULL || (shards->tiles->atoms == 1 && shards->tiles->momenta[0] == 1)) {
    return green;
  }
  const weir_value tile =
      weir_label(g, weir_slice(g, green, 0, 0, 2, 1), qt_tensor_names[QT_TENSOR_GREEN]);

  qt_shard_tile(shards, g, tile, 3, 2);
  weir_output(g, qt_self_energy_tile, tile);
  return tile;
}

static void read_phonons(weir_graph *g, const qt_self_energy_spec *s, subset *p)
{
  p->self = input(g, s, QT_PHONON_SELF, p->n_local, p->shards);
  p->pair = input(g, s, QT_PHONON_PAIR, p->n, p->shards);
}

static void read_functions(weir_graph *g, const qt_self_energy_spec *s, subset *p)
{
  p->green = tile_of(g, input(g, s, QT_GREEN, p->n_local, p->shards), p->shards);
  read_phonons(g, s, p);
}

/* All atoms: the lists are constants. */
static subset lists(weir_graph *g, const qt_self_energy_spec *s, qt_shards *shards)
{
  const qt_neighbours *n = s->neighbours;
  const int64_t shape[] = {n->n_atoms, n->n_neighbours, n->n_directions, n->n_orbitals,
                           n->n_orbitals};
  const weir_tensor t = weir_tensor_wrap(n->gradient, WEIR_C128, 5, shape);
  subset p = {.n = n->n_atoms, .n_local = n->n_atoms, .shards = shards};

  p.atom = list_of(g, n, n->atom);
  p.gradient = weir_constant(g, &t);
  return p;
}

static subset whole(weir_graph *g, const qt_self_energy_spec *s, qt_shards *shards)
{
  subset p = lists(g, s, shards);

  read_functions(g, s, &p);
  return p;
}

static subset subset_of(weir_graph *g, const qt_self_energy_spec *s, const qt_atom_range *a,
                        qt_shards *shards)
{
  const qt_neighbours *n = s->neighbours;
  const int64_t o = n->n_orbitals;
  const weir_array_desc atom = {WEIR_I32, 2, {a->n, n->n_neighbours}, 0};
  const weir_array_desc gradient = {
      WEIR_C128, 5, {a->n, n->n_neighbours, n->n_directions, o, o}, 0};
  subset p = {.n = a->n, .n_local = a->n_local, .shards = shards};

  read_functions(g, s, &p);
  p.atom = weir_input(g, qt_self_energy_atom, &atom);
  p.gradient = weir_input(g, qt_self_energy_gradient, &gradient);
  return p;
}

/* Of an array of all atoms that the subset reads, its own atoms. */
static weir_value own(weir_graph *g, const subset *p, weir_value x)
{
  return p->n == p->n_local ? x : weir_slice(g, x, 3, 0, p->n, 1);
}

/* C = Dhat_la + Dhat_al - Dhat_l - Dhat_a, where Dhat_al = -(Dhat_la)^H. */
static weir_value couplings_of(weir_graph *g, const qt_self_energy_spec *s, const subset *p)
{
  const weir_array_desc d = qt_self_energy_desc_of(s, QT_PHONON_PAIR, p->n);
  const int32_t first = weir_graph_nodes(g);
  weir_reshape_spec one = {.rank = d.rank};

  for (int i = 0; i < d.rank; i++) {
    one.shape[i] = i == 4 ? 1 : d.shape[i];
  }
  const weir_value both = weir_sub(g, p->pair, adjoint(g, p->pair));
  const weir_value others = weir_gather(g, p->self, p->atom, &(weir_gather_spec){.dim = 3});

  const weir_value c =
      weir_sub(g, weir_sub(g, both, others), weir_reshape(g, own(g, p, p->self), &one));

  shard_points(p->shards, g, c, QT_COUPLING);
  label_from(g, first, QT_TENSOR_PHONONS);
  return c;
}

static double unit_of(const qt_self_energy_spec *s)
{
  return s->step / (2 * M_PI * (double)s->n_k);
}

static void build_electrons(weir_graph *g, const qt_self_energy_spec *s, const subset *p,
                            weir_value c)
{
  const int32_t first = weir_graph_nodes(g);
  const weir_value lower = qt_electron_sum(g, p->green, p->gradient, c, p->atom, -1);
  const weir_value upper = qt_electron_sum(g, p->green, p->gradient, c, p->atom, 1);

  qt_shard_tile(p->shards, g, lower, 3, 2);
  qt_shard_tile(p->shards, g, upper, 3, 2);
  const weir_value sums = times_i(g, weir_add(g, lower, upper), -unit_of(s));
  const weir_value sigma = result(g, QT_SIGMA, antihermitian(g, sums), p->shards);

  (void)result(g, QT_SIGMA_RETARDED, qt_retarded_build(g, sigma, s->retarded, p->shards),
               p->shards);
  label_from(g, first, QT_TENSOR_SIGMA);
}

/* t. */
static weir_value build_emission(weir_graph *g, const qt_self_energy_spec *s, const subset *p)
{
  const int32_t first = weir_graph_nodes(g);
  const weir_value sum =
      qt_phonon_sum(g, p->green, own(g, p, p->green), p->gradient, p->atom, s->n_frequencies);

  qt_shard_tile(p->shards, g, sum, 3, -1);
  const weir_value t = weir_scale(g, sum, -s->spin * unit_of(s));

  label_from(g, first, QT_TENSOR_PI);
  return result(g, QT_EMISSION, t, p->shards);
}

/* t of all pairs (a, l) plus that of (l, a), made Hermitian. */
static weir_value both_emissions(weir_graph *g, const qt_self_energy_spec *s, weir_value t)
{
  const qt_neighbours *n = s->neighbours;
  const int64_t d = n->n_directions;
  const weir_reshape_spec flat = {
      6, {2, s->n_k, s->n_frequencies, n->n_atoms * n->n_neighbours, d, d}};
  const weir_value other = weir_gather(g, weir_reshape(g, t, &flat), list_of(g, n, n->reverse),
                                       &(weir_gather_spec){.dim = 3});
  const weir_value sum = weir_add(g, t, other);

  return weir_scale(g, weir_add(g, sum, adjoint(g, sum)), 0.5);
}

static void build_pi(weir_graph *g, const qt_self_energy_spec *s, weir_value t, qt_shards *shards)
{
  const int32_t first = weir_graph_nodes(g);
  const weir_value pairs = both_emissions(g, s, t);

  (void)result(g, QT_PI_SELF, antihermitian(g, times_i(g, weir_sum(g, pairs, 4), 1)), shards);
  (void)result(g, QT_PI_PAIR, times_i(g, pairs, -1), shards);
  label_from(g, first, QT_TENSOR_PI);
}

/* Returns the status of the builders; frees the graph and its shards on failure. */
static weir_status made(qt_shards *shards, weir_graph **out)
{
  const weir_status status = weir_graph_status(*out);

  if (status != WEIR_OK) {
    weir_graph_destroy(out);
  }
  if (status != WEIR_OK && shards != NULL) {
    qt_shards_fini(shards);
  }
  return status;
}

/* Of frequency w alone: Sigma at the points of G, t on every rank. */
static void build_frequency(weir_graph *g, const qt_self_energy_spec *s, int64_t w,
                            qt_shards *shards)
{
  const int64_t all = s->neighbours->n_atoms;
  const subset p = lists(g, s, shards);
  const weir_value green = input(g, s, QT_GREEN, all, shards);
  const int32_t first = weir_graph_nodes(g);
  const weir_value c = weir_slice(g, input(g, s, QT_COUPLING, all, shards), 2, w, w + 1, 1);
  weir_value sum[2];

  qt_shard_replicate(shards, g, c);
  label_from(g, first, QT_TENSOR_PHONONS);
  for (int i = 0; i < 2; i++) {
    const qt_electron_sum_spec spec = {.sign = 2 * i - 1, .first = w};

    sum[i] = qt_electron_sum_at(g, green, p.gradient, c, p.atom, &spec, WEIR_WHERE);
    shard_points(shards, g, sum[i], QT_SIGMA);
  }
  const weir_value sigma = times_i(g, weir_add(g, sum[0], sum[1]), -unit_of(s));

  (void)result(g, QT_SIGMA, antihermitian(g, sigma), shards);
  label_from(g, first, QT_TENSOR_SIGMA);
  if (s->phonons) {
    const qt_phonon_sum_spec spec = {.frequencies = 1, .first = w};
    const weir_value t = qt_phonon_sum_at(g, green, green, p.gradient, p.atom, &spec, WEIR_WHERE);

    qt_shard_replicate(shards, g, t);
    weir_output(g, qt_self_energy_names[QT_EMISSION], weir_scale(g, t, -s->spin * unit_of(s)));
    label_from(g, first, QT_TENSOR_PI);
  }
}

weir_status qt_self_energy_frequency_graph(const qt_self_energy_spec *s, int64_t frequency,
                                           qt_shards *shards, weir_graph **out)
{
  WEIR_TRY(weir_graph_create(out));
  build_frequency(*out, s, frequency, shards);
  return made(shards, out);
}

/* What a graph computes. */
typedef enum kind { WHOLE, RANGE, PAIRS, RETARDED, COUPLINGS } kind;

static weir_status make(const qt_self_energy_spec *s, kind of, const qt_atom_range *a,
                        qt_shards *shards, weir_graph **out)
{
  const int64_t all = s->neighbours->n_atoms;

  WEIR_TRY(weir_graph_create(out));
  weir_graph *g = *out;

  if (of == PAIRS) {
    build_pi(g, s, input(g, s, QT_EMISSION, all, shards), shards);
  } else if (of == RETARDED) {
    const weir_value sigma = input(g, s, QT_SIGMA, all, shards);

    (void)result(g, QT_SIGMA_RETARDED, qt_retarded_build(g, sigma, s->retarded, shards), shards);
    label_from(g, 0, QT_TENSOR_SIGMA);
  } else if (of == COUPLINGS) {
    subset p = lists(g, s, shards);

    read_phonons(g, s, &p);
    weir_output(g, qt_self_energy_names[QT_COUPLING], couplings_of(g, s, &p));
  } else {
    const subset p = of == WHOLE ? whole(g, s, shards) : subset_of(g, s, a, shards);
    const weir_value c = couplings_of(g, s, &p);

    build_electrons(g, s, &p, c);
    if (s->phonons) {
      const weir_value t = build_emission(g, s, &p);

      weir_output(g, qt_self_energy_names[QT_COUPLING], c);
      if (of == WHOLE) {
        build_pi(g, s, t, shards);
      }
    }
  }
  return made(shards, out);
}

weir_status qt_self_energy_graph(const qt_self_energy_spec *s, qt_shards *shards, weir_graph **out)
{
  return make(s, WHOLE, NULL, shards, out);
}

weir_status qt_self_energy_range_graph(const qt_self_energy_spec *s, const qt_atom_range *a,
                                       qt_shards *shards, weir_graph **out)
{
  return make(s, RANGE, a, shards, out);
}

weir_status qt_self_energy_pair_graph(const qt_self_energy_spec *s, qt_shards *shards,
                                      weir_graph **out)
{
  return make(s, PAIRS, NULL, shards, out);
}

weir_status qt_self_energy_retarded_graph(const qt_self_energy_spec *s, qt_shards *shards,
                                          weir_graph **out)
{
  return make(s, RETARDED, NULL, shards, out);
}

weir_status qt_self_energy_coupling_graph(const qt_self_energy_spec *s, qt_shards *shards,
                                          weir_graph **out)
{
  return make(s, COUPLINGS, NULL, shards, out);
}
