/* self_energy_plan.c - see self_energy.h: plans of all atoms, or of ranges of them one after
 * another, so that what passes make between the sums is of a few atoms alone. */
#include <string.h>

#include "base/weir_alloc.h"
#include "model/ranks.h"
#include "model/scattering/self_energy.h"

/* ---- Plans ---- */

/* What is planned: a graph, with its shards where ranks share it. */
typedef struct shared_graph {
  weir_graph *g;
  qt_shards shards;
} shared_graph;

static weir_comm *comm_of(const qt_self_energy_spec *s)
{
  return s->tiles != NULL ? s->tiles->comm : NULL;
}

static int ranks_of(const qt_self_energy_spec *s)
{
  return s->tiles != NULL ? s->tiles->ranks : 1;
}

/* Where the shards of a graph go: nowhere where one rank plans it. */
static qt_shards *shards_of(const qt_self_energy_spec *s, bool sizes_only, shared_graph *graph)
{
  *graph = (shared_graph){.g = NULL, .shards.tiles = s->tiles};
  return ranks_of(s) > 1 && !sizes_only ? &graph->shards : NULL;
}

/* Takes the graph; status: of the making of it. Collective. */
static weir_status plan(const qt_self_energy_spec *s, shared_graph *graph, weir_status status,
                        bool sizes_only, weir_plan **out)
{
  const bool shared = ranks_of(s) > 1 && !sizes_only;
  weir_exec_cfg cfg;

  qt_execution(s->exec, &cfg);
  cfg.fission = s->fission;
  cfg.window = s->window;
  if (s->plan != NULL) {
    qt_recipe_configure(s->plan, &cfg);
  }
  cfg.explain = cfg.explain || s->explain;
  cfg.products = s->precision;
  cfg.scale_products = !s->unscaled;
  if (shared) {
    status = qt_ranks_agree(comm_of(s), status);
  }
  if (status == WEIR_OK) {
    const weir_dist dist = {comm_of(s), shared ? qt_shards_grid(&graph->shards) : (weir_grid){0},
                            graph->shards.shard, graph->shards.n};
    const weir_plan_opts opts = {.exec = &cfg,
                                 .threads = s->threads,
                                 .terse = true,
                                 .sizes_only = sizes_only,
                                 .dist = shared ? &dist : NULL};

    status = weir_plan_create(graph->g, NULL, &opts, out);
  }
  qt_shards_fini(&graph->shards);
  weir_graph_destroy(&graph->g);
  return status;
}

static weir_status plan_whole(const qt_self_energy_spec *s, bool sizes_only, weir_plan **out)
{
  shared_graph graph;
  qt_shards *shards = shards_of(s, sizes_only, &graph);

  return plan(s, &graph, qt_self_energy_graph(s, shards, &graph.g), sizes_only, out);
}

static weir_status plan_range(const qt_self_energy_spec *s, const qt_atom_range *a, bool sizes_only,
                              weir_plan **out)
{
  shared_graph graph;
  qt_shards *shards = shards_of(s, sizes_only, &graph);

  return plan(s, &graph, qt_self_energy_range_graph(s, a, shards, &graph.g), sizes_only, out);
}

static weir_status plan_pairs(const qt_self_energy_spec *s, bool sizes_only, weir_plan **out)
{
  shared_graph graph;
  qt_shards *shards = shards_of(s, sizes_only, &graph);

  return plan(s, &graph, qt_self_energy_pair_graph(s, shards, &graph.g), sizes_only, out);
}

/* Arrays of a range that are copies. */
static bool is_copied(const qt_self_energy_spec *s, int which)
{
  return which <= QT_SIGMA_RETARDED || (s->phonons && which >= QT_COUPLING);
}

static weir_array_desc slice_desc(const qt_self_energy_spec *s, const qt_atom_range *a, int which)
{
  const bool with_neighbours = which == QT_GREEN || which == QT_PHONON_SELF;
  weir_array_desc d = qt_self_energy_own_desc(s, (qt_self_energy_array)which);

  d.shape[d.rank == 5 ? 2 : 3] = with_neighbours ? a->n_local : a->n;
  return d;
}

/* Bytes of the copies of a range on a rank, about. */
static double copied_bytes(const qt_self_energy_spec *s, const qt_atom_range *a)
{
  qt_self_energy_spec all = *s;
  double bytes = 0;

  all.tiles = NULL;
  for (int i = 0; i < QT_SELF_ENERGY_ARRAYS; i++) {
    const weir_array_desc d = slice_desc(&all, a, i);

    bytes += is_copied(s, i) ? (double)weir_desc_bytes(&d) : 0;
  }
  return bytes / ranks_of(s);
}

/* Bytes of a plan of ranges of n atoms, and of their copies. */
static weir_status bytes_at_once(const qt_self_energy_spec *s, int64_t n, double *bytes)
{
  qt_atom_range a;
  weir_plan *p = NULL;

  WEIR_TRY(qt_atom_range_create(s->neighbours, n, &a));
  const weir_status status = plan_range(s, &a, true, &p);

  if (status == WEIR_OK) {
    *bytes = (double)weir_plan_memory_bytes(p) / ranks_of(s);
    *bytes += copied_bytes(s, &a);
  }
  weir_plan_destroy(&p);
  qt_atom_range_fini(&a);
  return status;
}

weir_status qt_self_energy_atoms_at_once(const qt_self_energy_spec *s, int64_t *out)
{
  const int64_t all = s->neighbours->n_atoms;
  weir_plan *whole = NULL;
  double bytes = 0;

  *out = all;
  if (s->memory == 0 || (s->tiles != NULL && (s->tiles->atoms > 1 || s->tiles->by_frequency))) {
    return WEIR_OK;
  }
  WEIR_TRY(plan_whole(s, true, &whole));
  const bool fits = (double)weir_plan_memory_bytes(whole) / ranks_of(s) <= s->memory;

  weir_plan_destroy(&whole);
  if (!fits) {
    WEIR_TRY(bytes_at_once(s, 1, &bytes));
    const double n = s->memory / bytes;

    const int64_t max_atoms = n < 1 ? 1 : n < (double)all ? (int64_t)n : all;
    const int64_t n_ranges = (all + max_atoms - 1) / max_atoms;

    *out = (all + n_ranges - 1) / n_ranges; /* ranges of equal length, if that can be */
  }
  return WEIR_OK;
}

static weir_status allocate_slices(qt_self_energy *e, int64_t n_at_once)
{
  const qt_self_energy_spec *s = &e->spec;

  WEIR_TRY(qt_atom_range_create(s->neighbours, n_at_once, &e->range));
  for (int i = 0; i < QT_SELF_ENERGY_ARRAYS; i++) {
    const weir_array_desc d = slice_desc(s, &e->range, i);

    if (is_copied(s, i)) {
      WEIR_TRY(weir_tensor_init(&e->slice[i], d.dtype, d.rank, d.shape));
    }
  }
  return WEIR_OK;
}

static weir_status create_ranges(qt_self_energy *e, int64_t n_at_once)
{
  const qt_self_energy_spec *s = &e->spec;

  WEIR_TRY(qt_ranks_agree(comm_of(s), allocate_slices(e, n_at_once)));
  WEIR_TRY(plan_range(s, &e->range, false, &e->plan));
  return s->phonons ? plan_pairs(s, false, &e->pairs) : WEIR_OK;
}

/* ---- Frequency by frequency ---- */

static weir_status plan_frequency(const qt_self_energy_spec *s, int64_t frequency, weir_plan **out)
{
  shared_graph graph;
  qt_shards *shards = shards_of(s, false, &graph);

  return plan(s, &graph, qt_self_energy_frequency_graph(s, frequency, shards, &graph.g), false,
              out);
}

static weir_status plan_couplings(const qt_self_energy_spec *s, weir_plan **out)
{
  shared_graph graph;
  qt_shards *shards = shards_of(s, false, &graph);

  return plan(s, &graph, qt_self_energy_coupling_graph(s, shards, &graph.g), false, out);
}

static weir_status plan_retarded(const qt_self_energy_spec *s, weir_plan **out)
{
  shared_graph graph;
  qt_shards *shards = shards_of(s, false, &graph);

  return plan(s, &graph, qt_self_energy_retarded_graph(s, shards, &graph.g), false, out);
}

/* Pihat of t. */
static weir_status run_pairs(const qt_self_energy *s, weir_tensor *tensors)
{
  const weir_binding bindings[] = {{qt_self_energy_names[QT_EMISSION], &tensors[QT_EMISSION]},
                                   {qt_self_energy_names[QT_PI_SELF], &tensors[QT_PI_SELF]},
                                   {qt_self_energy_names[QT_PI_PAIR], &tensors[QT_PI_PAIR]}};

  return weir_plan_run(s->pairs, bindings, 3);
}

/* C of this rank's points, and what a frequency gives: of Sigma at its points, and t. */
static weir_status allocate_frequency(qt_self_energy *e)
{
  static const qt_self_energy_array arrays[] = {QT_SIGMA, QT_COUPLING, QT_EMISSION};
  const qt_self_energy_spec *s = &e->spec;

  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
    weir_array_desc d = qt_self_energy_own_desc(s, arrays[i]);

    if (arrays[i] == QT_EMISSION) {
      d = qt_self_energy_desc(s, QT_EMISSION);
      d.shape[2] = 1;
    }
    WEIR_TRY(weir_tensor_init(&e->slice[arrays[i]], d.dtype, d.rank, d.shape));
  }
  return weir_alloc(s->n_frequencies, sizeof *e->of_frequency, (void **)&e->of_frequency);
}

static weir_status create_frequencies(qt_self_energy *e)
{
  const qt_self_energy_spec *s = &e->spec;

  WEIR_TRY(qt_ranks_agree(comm_of(s), allocate_frequency(e)));
  WEIR_TRY(plan_couplings(s, &e->plan));
  for (int64_t w = 0; w < s->n_frequencies; w++) {
    WEIR_TRY(plan_frequency(s, w, &e->of_frequency[w]));
  }
  WEIR_TRY(plan_retarded(s, &e->retarded));
  return s->phonons ? plan_pairs(s, false, &e->pairs) : WEIR_OK;
}

/* Copies t of frequency w, which is whole, to this rank's points. */
static void take_emission(const qt_self_energy *e, int64_t w, weir_tensor *to)
{
  const qt_point_box own = qt_self_energy_points(&e->spec, QT_POINTS_OF_PHONONS);
  const int64_t n_k = own.k[1] - own.k[0], n_w = own.e[1] - own.e[0];
  const int64_t row = weir_tensor_numel(&e->slice[QT_EMISSION]) / 2 / e->spec.n_k;
  const weir_c128 *from = e->slice[QT_EMISSION].data;

  for (int64_t i = 0; i < 2 * n_k && w >= own.e[0] && w < own.e[1]; i++) {
    const int64_t half = i / n_k, k = i % n_k;

    memcpy((weir_c128 *)to->data + (i * n_w + w - own.e[0]) * row,
           from + (half * e->spec.n_k + own.k[0] + k) * row, (size_t)row * sizeof *from);
  }
}

static weir_status run_frequency(qt_self_energy *e, int64_t w, weir_tensor *tensors)
{
  const weir_binding bindings[] = {
      {qt_self_energy_names[QT_GREEN], &tensors[QT_GREEN]},
      {qt_self_energy_names[QT_COUPLING], &e->slice[QT_COUPLING]},
      {qt_self_energy_names[QT_SIGMA], &e->slice[QT_SIGMA]},
      {qt_self_energy_names[QT_EMISSION], &e->slice[QT_EMISSION]},
  };
  const weir_c128 *from = e->slice[QT_SIGMA].data;
  weir_c128 *sigma = tensors[QT_SIGMA].data;

  WEIR_TRY(weir_plan_run(e->of_frequency[w], bindings, e->spec.phonons ? 4 : 3));
  for (int64_t i = 0; i < weir_tensor_numel(&tensors[QT_SIGMA]); i++) {
    sigma[i].re = from[i].re + (w > 0 ? sigma[i].re : 0);
    sigma[i].im = from[i].im + (w > 0 ? sigma[i].im : 0);
  }
  if (e->spec.phonons) {
    take_emission(e, w, &tensors[QT_EMISSION]);
  }
  return WEIR_OK;
}

static weir_status run_frequencies(qt_self_energy *e, weir_tensor *tensors)
{
  const weir_tensor *coupling = &e->slice[QT_COUPLING];
  const weir_binding phonons[] = {
      {qt_self_energy_names[QT_PHONON_SELF], &tensors[QT_PHONON_SELF]},
      {qt_self_energy_names[QT_PHONON_PAIR], &tensors[QT_PHONON_PAIR]},
      {qt_self_energy_names[QT_COUPLING], &e->slice[QT_COUPLING]},
  };
  const weir_binding retarded[] = {
      {qt_self_energy_names[QT_SIGMA], &tensors[QT_SIGMA]},
      {qt_self_energy_names[QT_SIGMA_RETARDED], &tensors[QT_SIGMA_RETARDED]},
  };

  WEIR_TRY(weir_plan_run(e->plan, phonons, 3));
  for (int64_t w = 0; w < e->spec.n_frequencies; w++) {
    WEIR_TRY(run_frequency(e, w, tensors));
  }
  WEIR_TRY(weir_plan_run(e->retarded, retarded, 2));
  if (!e->spec.phonons) {
    return WEIR_OK;
  }
  if (weir_tensor_numel(coupling) > 0) {
    memcpy(tensors[QT_COUPLING].data, coupling->data,
           (size_t)weir_tensor_numel(coupling) * sizeof(weir_c128));
  }
  return run_pairs(e, tensors);
}

/* Takes what was made, unless that failed. */
static weir_status hand_out(weir_status status, qt_self_energy *made, qt_self_energy *out)
{
  if (status != WEIR_OK) {
    qt_self_energy_fini(made);
    return status;
  }
  *out = *made;
  return WEIR_OK;
}

weir_status qt_self_energy_create(const qt_self_energy_spec *s, qt_self_energy *out)
{
  qt_self_energy e = {.spec = *s};
  int64_t n = 0;

  *out = (qt_self_energy){.plan = NULL};
  WEIR_TRY(qt_ranks_agree(comm_of(s), qt_self_energy_atoms_at_once(s, &n)));
  WEIR_TRY(qt_ranks_min(comm_of(s), &n)); /* threads, and so memory, may differ by rank */
  return hand_out(s->tiles != NULL && s->tiles->by_frequency ? create_frequencies(&e)
                  : n < s->neighbours->n_atoms               ? create_ranges(&e, n)
                                                             : plan_whole(s, false, &e.plan),
                  &e, out);
}

weir_status qt_self_energy_create_ranges(const qt_self_energy_spec *s, int64_t n_at_once,
                                         qt_self_energy *out)
{
  qt_self_energy e = {.spec = *s};

  *out = (qt_self_energy){.plan = NULL};
  return hand_out(create_ranges(&e, n_at_once), &e, out);
}

weir_status qt_self_energy_create_retarded(const qt_self_energy_spec *s, qt_self_energy *out)
{
  *out = (qt_self_energy){.plan = NULL};
  WEIR_TRY(plan_retarded(s, &out->plan));
  out->spec = *s;
  return WEIR_OK;
}

void qt_self_energy_fini(qt_self_energy *s)
{
  weir_plan_destroy(&s->plan);
  weir_plan_destroy(&s->pairs);
  weir_plan_destroy(&s->retarded);
  for (int64_t w = 0; w < s->spec.n_frequencies && s->of_frequency != NULL; w++) {
    weir_plan_destroy(&s->of_frequency[w]);
  }
  weir_free(&s->of_frequency);
  qt_atom_range_fini(&s->range);
  for (int i = 0; i < QT_SELF_ENERGY_ARRAYS; i++) {
    weir_tensor_fini(&s->slice[i]);
  }
}

/* ---- Runs ---- */

/* Copies the atoms of a list, of an array with all atoms of the device, or back. */
static void copy_atoms(const weir_tensor *all, const weir_tensor *some, const int32_t *atom,
                       bool back)
{
  const int dim = all->rank == 5 ? 2 : 3; /* without lesser and greater */
  int64_t outer = 1, inner = 1;

  for (int i = 0; i < all->rank; i++) {
    outer *= i < dim ? all->shape[i] : 1;
    inner *= i > dim ? all->shape[i] : 1;
  }
  for (int64_t i = 0; i < outer * some->shape[dim]; i++) {
    const int64_t row = i / some->shape[dim], at = i % some->shape[dim];
    weir_c128 *here = (weir_c128 *)some->data + i * inner;
    weir_c128 *there = (weir_c128 *)all->data + (row * all->shape[dim] + atom[at]) * inner;

    memcpy(back ? there : here, back ? here : there, (size_t)inner * sizeof *here);
  }
}

weir_status qt_self_energy_run_range(qt_self_energy *s, int64_t range, weir_tensor *tensors)
{
  const qt_neighbours *n = s->spec.neighbours;
  const qt_atom_range *a = &s->range;
  const int64_t first = qt_atom_range_first(a, n->n_atoms, range);
  const int64_t o = n->n_orbitals, width = n->n_neighbours;
  const int64_t of_atom = width * n->n_directions * o * o;
  const int32_t *local = a->local + range * a->n_local;
  weir_tensor atom =
      weir_tensor_wrap(a->atom + range * a->n * width, WEIR_I32, 2, (const int64_t[]){a->n, width});
  weir_tensor gradient = weir_tensor_wrap(n->gradient + first * of_atom, WEIR_C128, 5,
                                          (const int64_t[]){a->n, width, n->n_directions, o, o});
  weir_binding bindings[QT_SELF_ENERGY_ARRAYS + 2] = {{qt_self_energy_atom, &atom},
                                                      {qt_self_energy_gradient, &gradient}};
  int count = 2;

  for (int i = 0; i < QT_SELF_ENERGY_ARRAYS; i++) {
    if (is_copied(&s->spec, i)) {
      bindings[count++] = (weir_binding){qt_self_energy_names[i], &s->slice[i]};
    }
    if (i < QT_SIGMA) {
      copy_atoms(&tensors[i], &s->slice[i], local, false);
    }
  }
  WEIR_TRY(weir_plan_run(s->plan, bindings, count));
  for (int i = QT_SIGMA; i < QT_SELF_ENERGY_ARRAYS; i++) {
    if (is_copied(&s->spec, i)) {
      copy_atoms(&tensors[i], &s->slice[i], local, true);
    }
  }
  return WEIR_OK;
}

static weir_status run_ranges(qt_self_energy *s, weir_tensor *tensors)
{
  for (int64_t r = 0; r < s->range.n_ranges; r++) {
    WEIR_TRY(qt_self_energy_run_range(s, r, tensors));
  }
  return s->spec.phonons ? run_pairs(s, tensors) : WEIR_OK;
}

weir_status qt_self_energy_run(qt_self_energy *s, weir_tensor *tensors)
{
  weir_binding bindings[QT_SELF_ENERGY_ARRAYS];
  int n = 0;

  if (s->of_frequency != NULL) {
    return run_frequencies(s, tensors);
  }
  if (s->range.n > 0) {
    return run_ranges(s, tensors);
  }
  for (int i = 0; i < QT_SELF_ENERGY_ARRAYS; i++) {
    if (s->spec.phonons || i < QT_PI_SELF) {
      bindings[n++] = (weir_binding){qt_self_energy_names[i], &tensors[i]};
    }
  }
  return weir_plan_run(s->plan, bindings, n);
}

weir_status qt_self_energy_run_retarded(const qt_self_energy *s, weir_tensor *tensors)
{
  const weir_binding bindings[] = {
      {qt_self_energy_names[QT_SIGMA], &tensors[QT_SIGMA]},
      {qt_self_energy_names[QT_SIGMA_RETARDED], &tensors[QT_SIGMA_RETARDED]}};

  return weir_plan_run(s->plan, bindings, 2);
}

static double waited(const weir_plan *p)
{
  double seconds = 0;

  for (int32_t i = 0; p != NULL && i < weir_plan_moves(p); i++) {
    seconds += weir_plan_move(p, i).waited_s;
  }
  return seconds;
}

double qt_self_energy_waited(const qt_self_energy *s)
{
  double seconds = waited(s->plan) + waited(s->pairs) + waited(s->retarded);

  for (int64_t w = 0; w < s->spec.n_frequencies && s->of_frequency != NULL; w++) {
    seconds += waited(s->of_frequency[w]);
  }
  return seconds;
}

/* ---- Sizes ---- */

static void add_plan(const weir_plan *p, int64_t times, int ranks, qt_self_energy_size *out)
{
  for (int32_t i = 0; i < weir_plan_groups(p); i++) {
    const weir_group_report r = weir_plan_group(p, i);

    out->flops += r.flops * (double)times;
    out->traffic += r.bytes * (double)times;
  }
  out->memory += (double)weir_plan_memory_bytes(p) / ranks;
}

static weir_status size_ranges(const qt_self_energy_spec *s, qt_self_energy_size *out)
{
  qt_atom_range a;
  weir_plan *p = NULL, *pairs = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(qt_atom_range_create(s->neighbours, out->n_atoms, &a));
  WEIR_TRY_GOTO(plan_range(s, &a, true, &p), done);
  add_plan(p, a.n_ranges, ranks_of(s), out);
  out->n_times = a.n_ranges;
  out->memory += copied_bytes(s, &a);
  if (s->phonons) {
    WEIR_TRY_GOTO(plan_pairs(s, true, &pairs), done);
    add_plan(pairs, 1, ranks_of(s), out);
  }
done:
  weir_plan_destroy(&p);
  weir_plan_destroy(&pairs);
  qt_atom_range_fini(&a);
  return status;
}

weir_status qt_self_energy_size_of(const qt_self_energy_spec *s, qt_self_energy_size *out)
{
  qt_self_energy_size size = {.n_times = 1};
  weir_plan *whole = NULL;

  *out = size;
  WEIR_TRY(qt_self_energy_atoms_at_once(s, &size.n_atoms));
  if (size.n_atoms < s->neighbours->n_atoms) {
    WEIR_TRY(size_ranges(s, &size));
  } else {
    WEIR_TRY(plan_whole(s, true, &whole));
    add_plan(whole, 1, ranks_of(s), &size);
    weir_plan_destroy(&whole);
  }
  *out = size;
  return WEIR_OK;
}
