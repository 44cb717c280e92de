/* dummy.c - see dummy.h. */
#include "data/samples/dummy.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_random.h"
#include "base/weir_sort.h"

#define RADIANS (3.14159265358979323846 / 180)
#define MOST_VALUES ((int64_t)1 << 28)
enum { HOUR = 3600, FORECAST = 0, TRUTH, SIDES };

const weir_opt wx_dummy_options[] = {
    WEIR_OPT_STRING_LIST(wx_dummy_opts, quantities, "z500, t500, u500, v500",
                         "variables with their levels in hPa"),
    WEIR_OPT_REAL_LIST(wx_dummy_opts, lead, "0, 24, 48", 0, 1e6, "h", "lead times, ascending"),
    WEIR_OPT_INT(wx_dummy_opts, lat, 8, 1, 100000, "1", "rows, from pole to pole"),
    WEIR_OPT_INT(wx_dummy_opts, lon, 16, 1, 100000, "1", "columns, round the globe"),
    WEIR_OPT_INT(wx_dummy_opts, init_times, 40, 1, 1000000, "1",
                 "initialisation times, the first on 2000-01-01", .alias = "starts"),
    WEIR_OPT_INT(wx_dummy_opts, members, 10, 1, 10000, "1", "members"),
    WEIR_OPT_REAL(wx_dummy_opts, every, 24, 1, 1e5, "h", "between two initialisation times"),
    WEIR_OPT_END,
};

struct wx_dummy_archive {
  wx_archive *archive[SIDES];
  float *values[SIDES];
  int64_t *start[SIDES], *member;
  double *lat, *lon, *weight, *lead;
  wx_quantity *quantity;
};

/* "z500" is the variable z on 500 hPa; a name without a number after it is of the surface. */
static weir_status name_quantity(const char *name, wx_quantity *q)
{
  size_t n = strlen(name), digits = n;

  while (digits > 1 && isdigit((unsigned char)name[digits - 1])) {
    digits--;
  }
  if (n == 0 || n >= WX_SHORT) {
    return weir_fail(WEIR_ERR_CONFIG, "dummy.quantities: '%s' has no 1 to %d characters", name,
                     WX_SHORT - 1);
  }
  *q = (wx_quantity){.kind = digits < n ? WX_LEVEL_PRESSURE : WX_LEVEL_SURFACE,
                     .level = digits < n ? strtod(name + digits, NULL) : 0};
  memcpy(q->variable, name, digits);
  wx_quantity_complete(q);
  return WEIR_OK;
}

static weir_status take_grid(wx_dummy_archive *s, const wx_dummy_opts *o)
{
  const int64_t n = o->lat * o->lon;
  double sum = 0;

  WEIR_TRY(weir_alloc(o->lat, sizeof *s->lat, (void **)&s->lat));
  WEIR_TRY(weir_alloc(o->lon, sizeof *s->lon, (void **)&s->lon));
  WEIR_TRY(weir_alloc(n, sizeof *s->weight, (void **)&s->weight));
  for (int64_t j = 0; j < o->lat; j++) {
    s->lat[j] = 90 - 180 * ((double)j + 0.5) / (double)o->lat;
    sum += cos(RADIANS * s->lat[j]) / (double)o->lat;
  }
  for (int64_t i = 0; i < o->lon; i++) {
    s->lon[i] = 360 * (double)i / (double)o->lon;
  }
  for (int64_t i = 0; i < n; i++) {
    s->weight[i] = cos(RADIANS * s->lat[i / o->lon]) / sum;
  }
  return WEIR_OK;
}

static int64_t seconds(double hours)
{
  return (int64_t)llround(HOUR * hours);
}

/* Initialisation times of the forecast; initialisation times of the truth, which are those and all
 * valid times, once each. */
static weir_status take_times(wx_dummy_archive *s, const wx_dummy_opts *o, int64_t n[SIDES])
{
  const int64_t begin = INT64_C(10957) * 24 * HOUR;
  int64_t max_times = 0;

  n[FORECAST] = o->init_times;
  if (!weir_mul_ok(o->init_times, o->lead.count + 1, &max_times)) {
    return weir_fail(WEIR_ERR_CONFIG, "dummy: too many initialisation times and leads");
  }
  WEIR_TRY(weir_alloc(o->init_times, sizeof *s->start[0], (void **)&s->start[FORECAST]));
  WEIR_TRY(weir_alloc(max_times, sizeof *s->start[0], (void **)&s->start[TRUTH]));
  int64_t *t = s->start[TRUTH];

  for (int64_t i = 0; i < o->init_times; i++) {
    s->start[FORECAST][i] = *t++ = begin + seconds((double)i * o->every);
    for (int64_t l = 0; l < o->lead.count; l++) {
      *t++ = s->start[FORECAST][i] + seconds(s->lead[l]);
    }
  }
  qsort(s->start[TRUTH], (size_t)max_times, sizeof *t, weir_compare_i64);
  n[TRUTH] = 1;
  for (int64_t i = 1; i < max_times; i++) {
    if (s->start[TRUTH][i] > s->start[TRUTH][n[TRUTH] - 1]) {
      s->start[TRUTH][n[TRUTH]++] = s->start[TRUTH][i];
    }
  }
  return WEIR_OK;
}

static weir_status fill(wx_dummy_archive *s, int side, const wx_archive_info *f, bool values,
                        uint64_t seed)
{
  const int64_t extent[] = {f->n_init_times, f->n_leads,    f->n_quantities,
                            f->n_members,    f->grid.n_lat, f->grid.n_lon};
  int64_t count = 1;
  bool fits = true;

  for (int k = 0; k < 6; k++) {
    fits = fits && weir_mul_ok(count, extent[k], &count);
  }
  if (values && (!fits || count > MOST_VALUES)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "dummy: more than 1 GiB of numbers would be needed to compute with it: only "
                     "describe takes one that large");
  }
  WEIR_TRY(weir_alloc(values ? count : 1, sizeof *s->values[0], (void **)&s->values[side]));
  for (int64_t i = 0; i < count && values; i++) {
    s->values[side][i] = (float)(weir_random_uniform(seed, (uint32_t)side, 0, (uint64_t)i) * 2 - 1);
  }
  return wx_archive_of_memory(f, s->values[side], &s->archive[side]);
}

static weir_status take_lists(wx_dummy_archive *s, const wx_dummy_opts *o)
{
  WEIR_TRY(weir_alloc(o->quantities.count, sizeof *s->quantity, (void **)&s->quantity));
  WEIR_TRY(weir_alloc(o->members, sizeof *s->member, (void **)&s->member));
  WEIR_TRY(weir_alloc(o->lead.count, sizeof *s->lead, (void **)&s->lead));
  for (int64_t q = 0; q < o->quantities.count; q++) {
    WEIR_TRY(name_quantity(o->quantities.items[q], &s->quantity[q]));
  }
  for (int64_t k = 0; k < o->members; k++) {
    s->member[k] = k;
  }
  for (int64_t l = 0; l < o->lead.count; l++) {
    s->lead[l] = o->lead.items[l];
    if (l > 0 && s->lead[l] <= s->lead[l - 1]) {
      return weir_fail(WEIR_ERR_CONFIG, "dummy.lead: leads have to ascend");
    }
  }
  return take_grid(s, o);
}

static weir_status create(wx_dummy_archive *s, const wx_dummy_opts *o, bool values, uint64_t seed)
{
  static const double zero = 0;
  int64_t n[SIDES] = {0};

  if (o->quantities.count == 0 || o->lead.count == 0) {
    return weir_fail(WEIR_ERR_CONFIG, "dummy: it needs a quantity and a lead");
  }
  WEIR_TRY(take_lists(s, o));
  WEIR_TRY(take_times(s, o, n));
  for (int side = 0; side < SIDES; side++) {
    const bool truth = side == TRUTH;
    const wx_archive_info f = {
        .name = truth ? "placeholder truth" : "placeholder forecast",
        .n_init_times = n[side],
        .n_leads = truth ? 1 : o->lead.count,
        .n_members = truth ? 1 : o->members,
        .n_quantities = o->quantities.count,
        .start = s->start[side],
        .lead = truth ? &zero : s->lead,
        .member = s->member,
        .quantity = s->quantity,
        .grid = {.kind = WX_GRID_LATLON,
                 .n_lat = o->lat,
                 .n_lon = o->lon,
                 .lat = s->lat,
                 .lon = s->lon,
                 .wraps = true,
                 .weight = s->weight},
    };

    WEIR_TRY(fill(s, side, &f, values, seed));
  }
  return WEIR_OK;
}

weir_status wx_dummy_create(const wx_dummy_opts *opts, bool values, uint64_t seed,
                            wx_dummy_archive **out)
{
  void *memory = NULL;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof(wx_dummy_archive), &memory));
  wx_dummy_archive *s = memory;
  const weir_status status = create(s, opts, values, seed);

  if (status != WEIR_OK) {
    wx_dummy_destroy(&s);
    return status;
  }
  *out = s;
  return WEIR_OK;
}

wx_archive *wx_dummy_forecast(const wx_dummy_archive *s)
{
  return s->archive[FORECAST];
}

wx_archive *wx_dummy_truth(const wx_dummy_archive *s)
{
  return s->archive[TRUTH];
}

void wx_dummy_destroy(wx_dummy_archive **s)
{
  if (*s == NULL) {
    return;
  }
  for (int side = 0; side < SIDES; side++) {
    wx_archive_close(&(*s)->archive[side]);
    weir_free(&(*s)->values[side]);
    weir_free(&(*s)->start[side]);
  }
  weir_free(&(*s)->member);
  weir_free(&(*s)->lat);
  weir_free(&(*s)->lon);
  weir_free(&(*s)->weight);
  weir_free(&(*s)->lead);
  weir_free(&(*s)->quantity);
  weir_free(s);
}
