/* universe_draw.c - what options ask for, and the parameters of each universe. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_random.h"
#include "data/simulation/universe_priv.h"

#define PI 3.14159265358979323846
enum { LABELS = 1 /* purpose of draws */, BITS = 32, MIN_SIDE = 4 };

const char *const cf_parameter_name[CF_PARAMETERS] = {"omega_m", "sigma_8", "n_s", "h"};

/* Minimum and maximum of sc18 and wide2. */
static const double known_range[2][CF_PARAMETERS][2] = {
    {{0.25, 0.35}, {0.78, 0.95}, {0.90, 1.00}, {0.60, 0.80}},
    {{0.1, 0.5}, {0.5, 1.1}, {0.9667, 0.9667}, {0.6774, 0.6774}},
};

int64_t cf_universe_particles(const cf_universe_opts *o)
{
  return o->particles > 0 ? o->particles : o->side;
}

static weir_status set_ranges(const cf_universe_opts *o, cf_universe_facts *f)
{
  const weir_real_list *const own[CF_PARAMETERS] = {&o->range.omega_m, &o->range.sigma_8,
                                                    &o->range.n_s, &o->range.h};

  for (int i = 0; i < CF_PARAMETERS; i++) {
    if (o->preset != CF_PRESET_CUSTOM) {
      f->lo[i] = known_range[o->preset][i][0];
      f->hi[i] = known_range[o->preset][i][1];
    } else if (own[i]->count != 2 || !(own[i]->items[0] <= own[i]->items[1])) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "simulate.range.%s: has to be two numbers, the minimum and the maximum",
                       cf_parameter_name[i]);
    } else {
      f->lo[i] = own[i]->items[0];
      f->hi[i] = own[i]->items[1];
    }
    if (f->lo[i] < f->hi[i]) {
      f->label[f->n_labels++] = i;
    }
  }
  if (f->n_labels == 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "simulate.range: all parameters are fixed, there is no label");
  }
  const double h = f->lo[CF_H], omega_b = o->baryons / (h * h);

  if (!(omega_b < f->lo[CF_OMEGA_M])) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "simulate.baryons: %g makes %g baryons of %g matter where h is %g", o->baryons,
                     omega_b, f->lo[CF_OMEGA_M], h);
  }
  return WEIR_OK;
}

char cf_universe_line_of_sight(const cf_universe_opts *o)
{
  return o->line_of_sight == CF_SIGHT_NONE ? 0 : "xyz"[o->line_of_sight - CF_SIGHT_X];
}

static weir_status check_redshifts(const cf_universe_opts *o)
{
  if (o->redshifts.count < 1 || o->redshifts.count > CF_MAX_CHANNELS) {
    return weir_fail(WEIR_ERR_CONFIG, "simulate.redshifts: %lld numbers; 1 to %d can be",
                     (long long)o->redshifts.count, CF_MAX_CHANNELS);
  }
  for (int64_t c = 0; c < o->redshifts.count; c++) {
    const double z = o->redshifts.items[c];

    if (o->method == CF_METHOD_PM && 1 / (1 + z) < o->start) {
      return weir_fail(
          WEIR_ERR_CONFIG,
          "simulate.redshifts: %g is before simulate.start=%g, z = %g, where pm begins", z,
          o->start, 1 / o->start - 1);
    }
  }
  return WEIR_OK;
}

/* Bytes of samples and of a workspace. */
static weir_status count_bytes(const cf_universe_opts *o, cf_universe_facts *f)
{
  const int64_t n = cf_universe_particles(o), m = o->side;
  const int64_t fields = o->method == CF_METHOD_PM ? 9 : 6;
  const int64_t size = (int64_t)weir_dtype_size(f->dtype);
  const int64_t lattice = (n + o->ranks - 1) / o->ranks, cells = (m + o->ranks - 1) / o->ranks;
  const int64_t more = o->ranks > 1; /* a plane, and a field on its way between ranks */

  f->workspace_bytes =
      fields * (lattice + more) * n * (n + 4) * 4 + more * lattice * n * (n + 4) * 4;
  if (n != m) {
    f->workspace_bytes += (1 + more) * (cells + more) * m * (m + 4) * 4;
  }
  if (!weir_mul_ok(m * m * m, f->channels * size, &f->bytes)) {
    return weir_fail(WEIR_ERR_CONFIG, "simulate.redshifts: %lld of %lld^3 cells are too many",
                     (long long)f->channels, (long long)m);
  }
  f->slab_bytes = cells * m * m * f->channels * size;
  return WEIR_OK;
}

bool cf_universe_counts_whole(const cf_universe_opts *o)
{
  return o->tracers > 0 || (o->counts == CF_COUNTS_NGP && o->feedback.mass == 0);
}

static weir_status check_whole(const cf_universe_opts *o, weir_dtype dtype)
{
  const bool cic = o->counts == CF_COUNTS_CIC;

  WEIR_TRY(cf_feedback_check(&o->feedback));
  return dtype == WEIR_F32 || cf_universe_counts_whole(o)
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG, "simulate.%s no whole numbers; set simulate.values=f32",
                         cic ? "counts: cic gives" : "feedback: leaves");
}

weir_status cf_universe_check(const cf_universe_opts *o, cf_universe_facts *out)
{
  cf_universe_facts f = {.side = o->block > 0 ? o->block : o->side,
                         .channels = o->redshifts.count,
                         .dtype = o->values == CF_VALUES_I16 ? WEIR_I16 : WEIR_F32};

  if (cf_universe_particles(o) < MIN_SIDE) {
    return weir_fail(WEIR_ERR_CONFIG, "simulate.particles: %lld along a side; at least %d",
                     (long long)o->particles, MIN_SIDE);
  }
  if (o->side % f.side != 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "simulate.block: %lld does not divide simulate.side=%lld into whole samples",
                     (long long)o->block, (long long)o->side);
  }
  if (o->ranks > o->side || o->ranks > cf_universe_particles(o)) {
    const bool few = o->side < cf_universe_particles(o);

    return weir_fail(WEIR_ERR_CONFIG,
                     "simulate.ranks: %lld ranks cannot share the %lld planes of simulate.%s",
                     (long long)o->ranks, (long long)(few ? o->side : cf_universe_particles(o)),
                     few || o->particles == 0 ? "side" : "particles");
  }
  WEIR_TRY(check_whole(o, f.dtype));
  WEIR_TRY(check_redshifts(o));
  WEIR_TRY(set_ranges(o, &f));
  WEIR_TRY(count_bytes(o, &f));
  const int64_t along = o->side / f.side;

  f.samples = along * along * along;
  *out = f;
  return WEIR_OK;
}

weir_status cf_universe_check_ranks(const cf_universe_opts *opts, int ranks)
{
  return ranks % opts->ranks == 0
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG,
                         "simulate.ranks: universes are simulated on groups of %lld ranks, which "
                         "the %d of this run do not make: start a multiple, such as mpiexec -n "
                         "%lld",
                         (long long)opts->ranks, ranks,
                         (long long)((ranks / opts->ranks + 1) * opts->ranks));
}

int64_t cf_universe_boxes(const cf_universe_opts *o, const cf_universe_facts *f, cf_range slab)
{
  const int64_t along = o->side / f->side, last = (slab.first + slab.count - 1) / f->side;

  return slab.count > 0 ? (last - slab.first / f->side + 1) * along * along : 0;
}

cf_universe_box cf_universe_box_of(const cf_universe_opts *o, const cf_universe_facts *f,
                                   cf_range slab, int64_t i)
{
  const int64_t side = f->side, tiles = o->side / side * (o->side / side);
  const int64_t layer = slab.first / side + i / tiles, end = slab.first + slab.count;
  const int64_t lo = layer * side > slab.first ? layer * side : slab.first;
  const int64_t hi = (layer + 1) * side < end ? (layer + 1) * side : end;

  return (cf_universe_box){.sample = layer * tiles + i % tiles,
                           .x = lo - layer * side,
                           .planes = hi - lo,
                           .at = (lo - slab.first) * o->side * o->side +
                                 i % tiles * (hi - lo) * side * side};
}

uint32_t cf_sobol(int dimension, uint32_t index)
{
  /* Degree and inner coefficients of a primitive polynomial, and first odd numbers. */
  static const struct {
    int degree;
    uint32_t inner, first[3];
  } table[CF_PARAMETERS] = {{0, 0, {0}}, {1, 0, {1}}, {2, 1, {1, 3}}, {3, 1, {1, 3, 1}}};
  const int degree = table[dimension].degree;
  uint32_t v[BITS], x = 0;

  for (int i = 0; i < BITS; i++) {
    if (degree == 0) {
      v[i] = UINT32_C(1) << (BITS - 1 - i);
    } else if (i < degree) {
      v[i] = table[dimension].first[i] << (BITS - 1 - i);
    } else {
      v[i] = v[i - degree] ^ (v[i - degree] >> degree);
      for (int k = 1; k < degree; k++) {
        v[i] ^= (table[dimension].inner >> (degree - 1 - k) & 1u) * v[i - k];
      }
    }
    x ^= (index >> i & 1u) * v[i];
  }
  return x;
}

void cf_generator_draw(const cf_generator *g, int64_t universe, cf_cosmology *c, double *unit)
{
  const cf_universe_facts *const f = &g->facts;
  double p[CF_PARAMETERS];

  for (int i = 0; i < CF_PARAMETERS; i++) {
    p[i] = f->lo[i];
  }
  for (int k = 0; k < f->n_labels; k++) {
    const int i = f->label[k];
    double u = weir_random_uniform(g->seed, LABELS, (uint32_t)k, (uint64_t)universe);

    if (g->opts->draw == CF_DRAW_SOBOL) { /* moved by the bits of the seed: another set for each */
      const uint32_t shift = (uint32_t)weir_random_bits(g->seed, LABELS, (uint32_t)k, UINT64_MAX);

      u = ((double)(cf_sobol(k, (uint32_t)universe) ^ shift) + 0.5) * 0x1p-32;
    }
    p[i] = f->lo[i] + (f->hi[i] - f->lo[i]) * u;
    unit[k] = 2 * u - 1;
  }
  *c = (cf_cosmology){.omega_m = p[CF_OMEGA_M],
                      .omega_b = g->opts->baryons / (p[CF_H] * p[CF_H]),
                      .h = p[CF_H],
                      .n_s = p[CF_N_S],
                      .sigma_8 = p[CF_SIGMA_8]};
}

weir_status cf_universe_motion(const cf_universe_opts *o, const cf_universe_facts *f, double z,
                               double *cells)
{
  const double side = o->box / (double)cf_universe_particles(o);
  const double h = (f->lo[CF_H] + f->hi[CF_H]) / 2;
  cf_linear l;

  WEIR_TRY(cf_linear_init(&(cf_cosmology){.omega_m = (f->lo[CF_OMEGA_M] + f->hi[CF_OMEGA_M]) / 2,
                                          .omega_b = o->baryons / (h * h),
                                          .h = h,
                                          .n_s = (f->lo[CF_N_S] + f->hi[CF_N_S]) / 2,
                                          .sigma_8 = (f->lo[CF_SIGMA_8] + f->hi[CF_SIGMA_8]) / 2},
                          (cf_transfer)o->transfer, &l));
  *cells = cf_linear_displacement(&l, PI / side) * cf_linear_growth(&l, 1 / (1 + z)) / side;
  return WEIR_OK;
}

void cf_universe_text(const cf_universe_opts *o, const cf_universe_facts *f, uint64_t seed,
                      char *text, size_t size)
{
  static const char *const method[] = {"1lpt", "2lpt", "pm"};
  size_t at = 0;

#define SAY(...)                                                                       \
  do {                                                                                 \
    const int written = snprintf(text + at, size - at, __VA_ARGS__);                   \
    at = written > 0 && (size_t)written < size - at ? at + (size_t)written : size - 1; \
  } while (0)
  SAY("seed %llu; %s of %lld^3 particles", (unsigned long long)seed, method[o->method],
      (long long)cf_universe_particles(o));
  if (o->method == CF_METHOD_PM) {
    SAY(", %lld steps from a = %.15g", (long long)o->steps, o->start);
  }
  SAY("; %s on %lld^3 cells of %.15g Mpc/h, %s, samples of %lld^3; z",
      o->counts == CF_COUNTS_NGP ? "ngp" : "cic", (long long)o->side, o->box,
      weir_dtype_name(f->dtype), (long long)f->side);
  for (int64_t c = 0; c < o->redshifts.count; c++) {
    SAY(" %.15g", o->redshifts.items[c]);
  }
  for (int i = 0; i < CF_PARAMETERS; i++) {
    SAY("; %s %.15g to %.15g", cf_parameter_name[i], f->lo[i], f->hi[i]);
  }
  SAY("; omega_b h^2 %.15g; %s draws; transfer %s; %s moduli", o->baryons,
      o->draw == CF_DRAW_UNIFORM ? "uniform" : "sobol",
      o->transfer == CF_TRANSFER_FULL ? "full" : "smooth", o->fixed ? "fixed" : "free");
  if (o->line_of_sight != CF_SIGHT_NONE) {
    SAY("; redshift space along %c", cf_universe_line_of_sight(o));
  }
  if (o->feedback.mass > 0) {
    SAY("; feedback of %.15g Msun/h to %.15g escape radii", o->feedback.mass, o->feedback.ejection);
  }
  if (o->tracers > 0) {
    SAY("; %.15g tracers in a (Mpc/h)^3", o->tracers);
  }
#undef SAY
}

bool cf_universe_text_same_seed(const char *a, const char *b)
{
  const size_t n = strcspn(a, ";");

  return n == strcspn(b, ";") && strncmp(a, b, n) == 0;
}

/* An item of a list. */
typedef struct item {
  const char *at;
  int n;
} item;

/* Takes the next item of [*at, end) up to a separator and a space; false: none is left. */
static bool next_item(const char **at, const char *end, char separator, item *out)
{
  const char *const begin = *at;
  const char *to = begin;

  while (to < end && *to != separator) {
    to++;
  }
  *out = (item){begin, (int)(to - begin)};
  *at = to < end ? to + 1 + (to + 1 < end && to[1] == ' ') : end;
  return begin < end;
}

static int count_items(const char *at, const char *end, char separator)
{
  item unused;
  int n = 0;

  while (next_item(&at, end, separator, &unused)) {
    n++;
  }
  return n;
}

static bool has_item(item list, item wanted)
{
  const char *const end = list.at + list.n;
  item x;

  while (next_item(&list.at, end, ';', &x)) {
    if (x.n == wanted.n && memcmp(x.at, wanted.at, (size_t)x.n) == 0) {
      return true;
    }
  }
  return false;
}

/* Adds the items of a list that another has not. */
static void add_own(item list, item other, char *text, size_t size)
{
  const char *const end = list.at + list.n;
  const char *before = "\"";
  item x;

  while (next_item(&list.at, end, ';', &x)) {
    if (!has_item(other, x)) {
      const size_t n = strlen(text);

      (void)snprintf(text + n, size - n, "%s%.*s", before, x.n, x.at);
      before = "; ";
    }
  }
  const size_t n = strlen(text);

  (void)snprintf(text + n, size - n, before[0] == ';' ? "\"" : "nothing");
}

/* Adds the items of two lists that differ; those of `;` are lists of `,` in turn. */
static void add_differences(item a, item b, char separator, char *text, size_t size)
{
  const char *const end[2] = {a.at + a.n, b.at + b.n};
  const bool alike = count_items(a.at, end[0], separator) == count_items(b.at, end[1], separator);
  const char by = alike ? separator : 0; /* as a whole */
  item x, y;

  if (!alike && separator == ';') { /* one has feedback, say */
    add_own(a, b, text, size);
    (void)snprintf(text + strlen(text), size - strlen(text), " and ");
    add_own(b, a, text, size);
    return;
  }
  while (next_item(&a.at, end[0], by, &x) && next_item(&b.at, end[1], by, &y)) {
    if (x.n == y.n && memcmp(x.at, y.at, (size_t)x.n) == 0) {
      continue;
    }
    if (separator == ';') {
      add_differences(x, y, ',', text, size);
    } else {
      const size_t n = strlen(text);

      (void)snprintf(text + n, size - n, "%s\"%.*s\" and \"%.*s\"", n > 0 ? ", " : "", x.n, x.at,
                     y.n, y.at);
    }
  }
}

void cf_universe_text_compare(const char *a, const char *b, char *text, size_t size)
{
  text[0] = 0;
  add_differences((item){a, (int)strlen(a)}, (item){b, (int)strlen(b)}, ';', text, size);
}
