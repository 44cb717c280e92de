/* self_energy_op.c - the sums of self_energy.h, each as one operator. */
#include "model/scattering/self_energy.h"

/* Ranks of the operands: G and its sums, nabla H, C and t, the lists. */
enum { OF_GREEN = 6, OF_GRADIENT = 5, OF_PAIRS = 7, OF_ATOMS = 2 };

/* Dimensions of them. */
enum { G_KIND, G_K, G_ENERGY, G_ATOM, G_ROW, G_COLUMN };
enum { H_ATOM, H_NEIGHBOUR, H_DIRECTION, H_ROW, H_COLUMN };
enum { P_KIND, P_K, P_FREQUENCY, P_ATOM, P_NEIGHBOUR, P_FIRST, P_SECOND };

static weir_status need(const char *op, const weir_op_args *args, int i, weir_dtype dtype, int rank)
{
  const weir_array_desc *d = &args->in[i];

  if (d->dtype != dtype || d->rank != rank) {
    return weir_fail(WEIR_ERR_SHAPE, "%s: input %d is %s of %d dimensions, expected %s of %d", op,
                     i, weir_dtype_name(d->dtype), d->rank, weir_dtype_name(dtype), rank);
  }
  return WEIR_OK;
}

static weir_status need_extent(const char *op, const char *what, int64_t a, int64_t b)
{
  return a == b ? WEIR_OK
                : weir_fail(WEIR_ERR_SHAPE, "%s: %s number %lld in one input, %lld in another", op,
                            what, (long long)a, (long long)b);
}

/* Inputs of both operators, in this order; G (of the phonon sum) and nabla H are read twice. */
enum { GREEN, OTHER, LEFT, RIGHT, ATOMS, INPUTS };

static weir_status need_common(const char *op, const weir_op_args *args)
{
  const int64_t *g = args->in[GREEN].shape, *h = args->in[LEFT].shape;
  const int64_t *right = args->in[RIGHT].shape, *list = args->in[ATOMS].shape;

  WEIR_TRY(weir_need_count(op, args, INPUTS, INPUTS));
  WEIR_TRY(need(op, args, GREEN, WEIR_C128, OF_GREEN));
  WEIR_TRY(need(op, args, LEFT, WEIR_C128, OF_GRADIENT));
  WEIR_TRY(need(op, args, RIGHT, WEIR_C128, OF_GRADIENT));
  WEIR_TRY(need(op, args, ATOMS, WEIR_I32, OF_ATOMS));
  WEIR_TRY(need_extent(op, "lesser and greater", g[G_KIND], 2));
  WEIR_TRY(need_extent(op, "orbitals", g[G_ROW], g[G_COLUMN]));
  WEIR_TRY(need_extent(op, "orbitals", g[G_ROW], h[H_ROW]));
  WEIR_TRY(need_extent(op, "orbitals", g[G_ROW], h[H_COLUMN]));
  WEIR_TRY(need_extent(op, "atoms", h[H_ATOM], list[0]));
  WEIR_TRY(need_extent(op, "neighbours", h[H_NEIGHBOUR], list[1]));
  for (int d = 0; d < OF_GRADIENT; d++) {
    WEIR_TRY(need_extent(op, "elements of nabla H:", h[d], right[d]));
  }
  return WEIR_OK;
}

/* Dimension d of operand o is iteration dimension dim[d]. */
static void map(weir_operand *o, const weir_array_desc *d, const int *dim)
{
  weir_map_operand(o, d);
  for (int i = 0; i < d->rank; i++) {
    o->index[i].coef[dim[i]] = 1;
  }
}

/* G of the atom that the lists name, `sign` times (first + frequency + 1) energies away, absent
 * beyond the grid, and as many momenta q. */
static void move(weir_operand *g, int frequency, int q, int sign, int64_t first)
{
  g->index[G_ENERGY].coef[frequency] = sign;
  g->index[G_ENERGY].offset = sign * (first + 1);
  g->index[G_ENERGY].border = WEIR_BORDER_ABSENT;
  g->index[G_K].coef[q] = sign;
  g->index[G_K].border = WEIR_BORDER_WRAP;
  g->index[G_ATOM] =
      (weir_index){.gather = ATOMS + 1, .gather_lo = 0, .gather_hi = g->extent[G_ATOM]};
}

/* The operand's other one of lesser and greater. */
static void exchange(weir_operand *o, int kind)
{
  o->index[0].coef[kind] = -1;
  o->index[0].offset = 1;
}

static int32_t load(weir_access *a, int operand)
{
  return weir_body_load(&a->body, operand, WEIR_C128);
}

/* nabla_i H G (nabla_j H_al)^H other, summed: a plain product, which passes can split. */
static void sum_up(weir_access *a)
{
  const int32_t left = weir_body_binary(&a->body, WEIR_CODE_MUL, load(a, LEFT), load(a, GREEN));
  const int32_t adjoint = weir_body_unary(&a->body, WEIR_CODE_CONJ, load(a, RIGHT));
  const int32_t right = weir_body_binary(&a->body, WEIR_CODE_MUL, adjoint, load(a, OTHER));

  a->n_values = 1;
  a->value[0] = weir_body_binary(&a->body, WEIR_CODE_MUL, left, right);
  a->combine = WEIR_COMBINE_SUM;
  a->accumulator = WEIR_C128;
}

/* ---- Electrons ---- */

static weir_status electron_infer(const weir_op_args *args, weir_array_desc *out)
{
  static const char op[] = "electron_sum";
  const int64_t *g = args->in[GREEN].shape, *h = args->in[LEFT].shape, *c = args->in[OTHER].shape;

  WEIR_TRY(need_common(op, args));
  WEIR_TRY(need(op, args, OTHER, WEIR_C128, OF_PAIRS));
  WEIR_TRY(need_extent(op, "lesser and greater", c[P_KIND], 2));
  WEIR_TRY(need_extent(op, "momenta", c[P_K], g[G_K]));
  WEIR_TRY(need_extent(op, "atoms", c[P_ATOM], h[H_ATOM]));
  WEIR_TRY(need_extent(op, "neighbours", c[P_NEIGHBOUR], h[H_NEIGHBOUR]));
  WEIR_TRY(need_extent(op, "directions", c[P_FIRST], h[H_DIRECTION]));
  WEIR_TRY(need_extent(op, "directions", c[P_SECOND], h[H_DIRECTION]));
  *out = args->in[GREEN];
  out->shape[G_ATOM] = h[H_ATOM];
  return WEIR_OK;
}

/* Element m, n of atom a; sums over q, w, b, i, j, p and r. */
static weir_status electron_access(const weir_op_args *args, weir_access *a)
{
  enum { X, K, E, A, M, N, Q, B, I, J, P, R, W };
  const qt_electron_sum_spec *spec = args->spec;
  const int sign = spec->sign < 0 ? -1 : 1;
  const int64_t *h = args->in[LEFT].shape, *c = args->in[OTHER].shape;
  const int64_t summed[] = {c[P_K],   h[H_NEIGHBOUR], h[H_DIRECTION], h[H_DIRECTION],
                            h[H_ROW], h[H_ROW],       c[P_FREQUENCY]};
  const int first = sign < 0 ? I : J, second = sign < 0 ? J : I;

  for (int d = 0; d < OF_GREEN; d++) {
    (void)weir_map_dim(a, WEIR_PARALLEL, args->out[0].shape[d]);
  }
  for (size_t d = 0; d < sizeof summed / sizeof *summed; d++) {
    (void)weir_map_dim(a, WEIR_REDUCED, summed[d]);
  }
  map(&a->in[GREEN], &args->in[GREEN], (const int[]){X, K, E, A, P, R});
  map(&a->in[OTHER], &args->in[OTHER], (const int[]){X, Q, W, A, B, first, second});
  map(&a->in[LEFT], &args->in[LEFT], (const int[]){A, B, I, M, P});
  map(&a->in[RIGHT], &args->in[RIGHT], (const int[]){A, B, J, N, R});
  map(&a->in[ATOMS], &args->in[ATOMS], (const int[]){A, B});
  map(&a->out[0], &args->out[0], (const int[]){X, K, E, A, M, N});
  move(&a->in[GREEN], W, Q, sign, spec->first);
  if (sign > 0) {
    exchange(&a->in[OTHER], X);
  }
  sum_up(a);
  return WEIR_OK;
}

const weir_op_desc qt_op_electron_sum = {
    .name = "electron_sum",
    .cite = "Ziogas et al., SC 19, doi 10.1145/3295500.3357156",
    .spec_size = sizeof(qt_electron_sum_spec),
    .n_out = 1,
    .infer = electron_infer,
    .access = electron_access,
};

weir_value qt_electron_sum_at(weir_graph *g, weir_value green, weir_value gradient, weir_value c,
                              weir_value atom, const qt_electron_sum_spec *spec, const char *where)
{
  const weir_value in[INPUTS] = {
      [GREEN] = green, [OTHER] = c, [LEFT] = gradient, [RIGHT] = gradient, [ATOMS] = atom};

  return weir_graph_add(g, &qt_op_electron_sum, spec, in, INPUTS, where);
}

/* ---- Phonons ---- */

static weir_status phonon_infer(const weir_op_args *args, weir_array_desc *out)
{
  static const char op[] = "phonon_sum";
  const int64_t frequencies = ((const qt_phonon_sum_spec *)args->spec)->frequencies;
  const int64_t *g = args->in[GREEN].shape, *h = args->in[LEFT].shape;
  const int64_t *own = args->in[OTHER].shape;

  WEIR_TRY(need_common(op, args));
  WEIR_TRY(need(op, args, OTHER, WEIR_C128, OF_GREEN));
  for (int d = 0; d < OF_GREEN; d++) {
    WEIR_TRY(need_extent(
        op, d == G_ATOM ? "atoms" : "elements of G:", d == G_ATOM ? h[H_ATOM] : g[d], own[d]));
  }
  *out = (weir_array_desc){
      .dtype = WEIR_C128,
      .rank = OF_PAIRS,
      .shape = {2, g[G_K], frequencies, h[H_ATOM], h[H_NEIGHBOUR], h[H_DIRECTION], h[H_DIRECTION]}};
  return WEIR_OK;
}

/* Directions i, j of pair (a, b); sums over k, energies and the trace. */
static weir_status phonon_access(const weir_op_args *args, weir_access *a)
{
  enum { X, Q, W, A, B, I, J, K, M, P, R, N, E };
  const int64_t *g = args->in[GREEN].shape;
  const int64_t summed[] = {g[G_K], g[G_ROW], g[G_ROW], g[G_ROW], g[G_ROW], g[G_ENERGY]};

  for (int d = 0; d < OF_PAIRS; d++) {
    (void)weir_map_dim(a, WEIR_PARALLEL, args->out[0].shape[d]);
  }
  for (size_t d = 0; d < sizeof summed / sizeof *summed; d++) {
    (void)weir_map_dim(a, WEIR_REDUCED, summed[d]);
  }
  map(&a->in[GREEN], &args->in[GREEN], (const int[]){X, K, E, A, P, R});
  map(&a->in[OTHER], &args->in[OTHER], (const int[]){X, K, E, A, N, M});
  map(&a->in[LEFT], &args->in[LEFT], (const int[]){A, B, I, M, P});
  map(&a->in[RIGHT], &args->in[RIGHT], (const int[]){A, B, J, N, R});
  map(&a->in[ATOMS], &args->in[ATOMS], (const int[]){A, B});
  map(&a->out[0], &args->out[0], (const int[]){X, Q, W, A, B, I, J});
  move(&a->in[GREEN], W, Q, 1, ((const qt_phonon_sum_spec *)args->spec)->first);
  exchange(&a->in[OTHER], X);
  sum_up(a);
  return WEIR_OK;
}

const weir_op_desc qt_op_phonon_sum = {
    .name = "phonon_sum",
    .cite = "Ziogas et al., SC 19, doi 10.1145/3295500.3357156",
    .spec_size = sizeof(qt_phonon_sum_spec),
    .n_out = 1,
    .infer = phonon_infer,
    .access = phonon_access,
};

weir_value qt_phonon_sum_at(weir_graph *g, weir_value green, weir_value own, weir_value gradient,
                            weir_value atom, const qt_phonon_sum_spec *spec, const char *where)
{
  const weir_value in[INPUTS] = {
      [GREEN] = green, [OTHER] = own, [LEFT] = gradient, [RIGHT] = gradient, [ATOMS] = atom};

  return weir_graph_add(g, &qt_op_phonon_sum, spec, in, INPUTS, where);
}
