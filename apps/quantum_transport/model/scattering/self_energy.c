/* self_energy.c - see self_energy.h: the graph. */
#include "model/scattering/self_energy.h"

#include <math.h>

#include "ops/elementwise/weir_elementwise.h"
#include "ops/gather/weir_gather.h"
#include "ops/reduce/weir_reduce.h"
#include "ops/reshape/weir_reshape.h"
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

weir_array_desc qt_self_energy_desc(const qt_self_energy_spec *s, qt_self_energy_array which)
{
  const qt_neighbours *n = s->neighbours;
  const int64_t k = s->n_k, e = s->n_energies, w = s->n_frequencies, a = n->n_atoms;
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

static weir_value input(weir_graph *g, const qt_self_energy_spec *s, qt_self_energy_array which)
{
  const weir_array_desc d = qt_self_energy_desc(s, which);

  return weir_input(g, qt_self_energy_names[which], &d);
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

static weir_value gradient_of(weir_graph *g, const qt_neighbours *n)
{
  const int64_t shape[] = {n->n_atoms, n->n_neighbours, n->n_directions, n->n_orbitals,
                           n->n_orbitals};
  const weir_tensor t = weir_tensor_wrap(n->gradient, WEIR_C128, 5, shape);

  return weir_constant(g, &t);
}

/* C = Dhat_la + Dhat_al - Dhat_l - Dhat_a, where Dhat_al = -(Dhat_la)^H. */
static weir_value couplings_of(weir_graph *g, const qt_self_energy_spec *s, weir_value atom)
{
  const weir_value self = input(g, s, QT_PHONON_SELF), pair = input(g, s, QT_PHONON_PAIR);
  const weir_array_desc d = qt_self_energy_desc(s, QT_PHONON_PAIR);
  weir_reshape_spec one = {.rank = d.rank};

  for (int i = 0; i < d.rank; i++) {
    one.shape[i] = i == 4 ? 1 : d.shape[i];
  }
  const weir_value both = weir_sub(g, pair, adjoint(g, pair));
  const weir_value others = weir_gather(g, self, atom, &(weir_gather_spec){.dim = 3});

  return weir_sub(g, weir_sub(g, both, others), weir_reshape(g, self, &one));
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

static void build(weir_graph *g, const qt_self_energy_spec *s)
{
  const qt_neighbours *n = s->neighbours;
  const double unit = s->step / (2 * M_PI * (double)s->n_k);
  const weir_value green = input(g, s, QT_GREEN), gradient = gradient_of(g, n);
  const weir_value atom = list_of(g, n, n->atom), c = couplings_of(g, s, atom);
  const weir_value sums = weir_add(g, qt_electron_sum(g, green, gradient, c, atom, -1),
                                   qt_electron_sum(g, green, gradient, c, atom, 1));
  const weir_value sigma = antihermitian(g, times_i(g, sums, unit));

  weir_output(g, qt_self_energy_names[QT_SIGMA], sigma);
  weir_output(g, qt_self_energy_names[QT_SIGMA_RETARDED], qt_retarded_build(g, sigma, s->retarded));
  if (s->phonons) {
    const weir_value t =
        weir_scale(g, qt_phonon_sum(g, green, gradient, atom, s->n_frequencies), s->spin * unit);
    const weir_value pairs = both_emissions(g, s, t);

    weir_output(g, qt_self_energy_names[QT_PI_SELF],
                antihermitian(g, times_i(g, weir_sum(g, pairs, 4), 1)));
    weir_output(g, qt_self_energy_names[QT_PI_PAIR], times_i(g, pairs, -1));
    weir_output(g, qt_self_energy_names[QT_COUPLING], c);
    weir_output(g, qt_self_energy_names[QT_EMISSION], t);
  }
}

weir_status qt_self_energy_graph(const qt_self_energy_spec *s, weir_graph **out)
{
  WEIR_TRY(weir_graph_create(out));
  build(*out, s);
  const weir_status status = weir_graph_status(*out);

  if (status != WEIR_OK) {
    weir_graph_destroy(out);
  }
  return status;
}

/* Takes the graph. */
static weir_status plan(const qt_self_energy_spec *s, weir_graph *g, qt_self_energy *out)
{
  qt_self_energy e = {.spec = *s, .graph = g};
  const weir_status status =
      weir_plan_create(g, NULL, &(weir_plan_opts){.threads = s->threads, .terse = true}, &e.plan);

  if (status != WEIR_OK) {
    qt_self_energy_fini(&e);
    return status;
  }
  *out = e;
  return WEIR_OK;
}

weir_status qt_self_energy_create(const qt_self_energy_spec *s, qt_self_energy *out)
{
  weir_graph *g = NULL;

  *out = (qt_self_energy){.plan = NULL};
  WEIR_TRY(qt_self_energy_graph(s, &g));
  return plan(s, g, out);
}

weir_status qt_self_energy_create_retarded(const qt_self_energy_spec *s, qt_self_energy *out)
{
  weir_graph *g = NULL;

  *out = (qt_self_energy){.plan = NULL};
  WEIR_TRY(weir_graph_create(&g));
  weir_output(g, qt_self_energy_names[QT_SIGMA_RETARDED],
              qt_retarded_build(g, input(g, s, QT_SIGMA), s->retarded));
  return plan(s, g, out); /* which says what the graph lacks */
}

void qt_self_energy_fini(qt_self_energy *s)
{
  weir_plan_destroy(&s->plan);
  weir_graph_destroy(&s->graph);
}

weir_status qt_self_energy_run(const qt_self_energy *s, weir_tensor *tensors)
{
  weir_binding bindings[QT_SELF_ENERGY_ARRAYS];
  int n = 0;

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
