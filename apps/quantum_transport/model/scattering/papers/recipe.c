/* recipe.c - see recipe.h. */
#include "model/scattering/papers/recipe.h"

#include "model/scattering/self_energy.h"
#include "pass/weir_pass.h"

/* The sums alone, of emission and absorption as results of their own. */
static weir_status build(const qt_recipe_sizes *s, qt_recipe_sum sum, weir_graph **out)
{
  const int64_t o = s->n_orbitals, d = s->n_directions, a = s->n_atoms, b = s->n_neighbours;
  const weir_array_desc green = {
      WEIR_C128, 6, {2, s->n_k, s->n_energies, a + s->n_others, o, o}, 0};
  const weir_array_desc own = {WEIR_C128, 6, {2, s->n_k, s->n_energies, a, o, o}, 0};
  const weir_array_desc gradient = {WEIR_C128, 5, {a, b, d, o, o}, 0};
  const weir_array_desc c = {WEIR_C128, 7, {2, s->n_k, s->n_frequencies, a, b, d, d}, 0};
  const weir_array_desc list = {WEIR_I32, 2, {a, b}, 0};

  WEIR_TRY(weir_graph_create(out));
  weir_graph *g = *out;
  const weir_value of = weir_input(g, "green", &green), h = weir_input(g, "gradient", &gradient);
  const weir_value atom = weir_input(g, "atom", &list);

  if (sum == QT_RECIPE_ELECTRONS) {
    const weir_value phonons = weir_input(g, "coupling", &c);

    weir_output(g, "emission", qt_electron_sum(g, of, h, phonons, atom, -1));
    weir_output(g, "absorption", qt_electron_sum(g, of, h, phonons, atom, 1));
  } else {
    const weir_value here = s->n_others == 0 ? of : weir_input(g, "own", &own);

    weir_output(g, "rate", qt_phonon_sum(g, of, here, h, atom, s->n_frequencies));
  }
  return weir_graph_status(g);
}

/* Iterations as written, which the counts of accesses hold in 64 bits. */
static weir_status check(const qt_recipe_sizes *s)
{
  const double o = (double)s->n_orbitals, d = (double)s->n_directions, k = (double)s->n_k;
  const double n = 2 * k * k * (double)s->n_energies * (double)s->n_frequencies *
                   (double)s->n_atoms * (double)s->n_neighbours * d * d * o * o * o * o;

  return n < 0x1p62 ? WEIR_OK
                    : weir_fail(WEIR_ERR_SHAPE,
                                "self-energies of %lld atoms have %.3g iterations, of which 2^62 "
                                "can be counted: count fewer atoms and scale",
                                (long long)s->n_atoms, n);
}

static weir_status transform(weir_graph *g, qt_recipe_step step)
{
  const weir_pass_opts opts = {.fission = qt_recipe_fission(step),
                               .window = qt_recipe_has_windows(step)};

  WEIR_TRY(weir_pass_run(g, "fission", &opts));
  return weir_pass_run(g, "window", &opts);
}

static void count(const weir_graph *g, qt_recipe_count *out)
{
  for (int32_t i = 0; i < weir_graph_nodes(g); i++) {
    const weir_traffic t = weir_node_traffic(g, i, 1, NULL);

    out->flops += t.flops;
    out->bytes += (double)t.read_bytes + (double)t.write_bytes;
  }
  for (int32_t i = 0; i < weir_graph_arrays(g); i++) {
    const weir_array *a = weir_graph_get_array(g, i);
    const bool made = a->kind == WEIR_ARRAY_TEMPORARY && a->output == NULL &&
                      weir_graph_writers(g, i, NULL, 0) > 0;
    const double bytes = made ? (double)weir_desc_bytes(&a->desc) : 0;

    out->between += bytes;
    out->largest = bytes > out->largest ? bytes : out->largest;
  }
}

weir_status qt_recipe_count_of(const qt_recipe_sizes *s, qt_recipe_step step, qt_recipe_sum sum,
                               qt_recipe_count *out)
{
  weir_graph *g = NULL;
  qt_recipe_count c = {.flops = 0};

  *out = c;
  WEIR_TRY(check(s));
  weir_status status = build(s, sum, &g);

  if (status == WEIR_OK) {
    status = transform(g, step);
  }
  if (status == WEIR_OK) {
    count(g, &c);
    *out = c;
  }
  weir_graph_destroy(&g);
  return status;
}
