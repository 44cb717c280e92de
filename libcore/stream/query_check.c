/* query_check.c - what can be said of a query before anything is built: names, order, clocks. */
#include <ctype.h>
#include <string.h>
#include "query_priv.h"
#include "base/weir_alloc.h"
#include "base/weir_integer.h"
#include "conf/weir_name.h"

query_location query_at(const char *location)
{
  query_location p = {""};

  if (location != NULL && location[0] != 0) {
    (void)snprintf(p.text, sizeof p.text, "%s: ", location);
  }
  return p;
}

static bool is_name(const char *name)
{
  const size_t n = strlen(name);

  for (size_t i = 0; i < n; i++) {
    const unsigned char c = (unsigned char)name[i];

    if (c > 127 || !(isalpha(c) || (i > 0 && (isdigit(c) || c == '_')))) {
      return false;
    }
  }
  return n > 0 && n < WEIR_QUERY_NAME;
}

const char *query_name_of(const weir_query_spec *spec, int64_t i)
{
  return i < spec->n_sources ? spec->sources[i].name : spec->steps[i - spec->n_sources].name;
}

const char *query_location_of(const weir_query_spec *spec, int64_t i)
{
  return i < spec->n_sources ? spec->sources[i].location
                             : spec->steps[i - spec->n_sources].location;
}

int64_t query_definer(const weir_query_spec *spec, const char *name)
{
  const size_t n = strcspn(name, ".");

  for (int64_t i = 0; i < spec->n_sources + spec->n_steps; i++) {
    const char *known = query_name_of(spec, i);

    if (strlen(known) == n && strncmp(known, name, n) == 0) {
      return i;
    }
  }
  return -1;
}

/* What expressions take for something else. */
static bool is_constant(const char *name)
{
  static const char *const words[] = {"e", "pi", "inf", "nan", "t"};

  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (strcmp(name, words[i]) == 0) {
      return true;
    }
  }
  return false;
}

static weir_status check_name(const weir_query_spec *spec, int64_t i)
{
  const char *what = i < spec->n_sources ? "stream" : "step", *name = query_name_of(spec, i);
  const int64_t first = is_name(name) ? query_definer(spec, name) : i;

  if (!is_name(name)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s%s '%s': a name is a letter, then letters, digits and '_', %d at most",
                     query_at(query_location_of(spec, i)).text, what, name, WEIR_QUERY_NAME - 1);
  }
  if (is_constant(name)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s%s '%s': the name is reserved for a constant of expressions",
                     query_at(query_location_of(spec, i)).text, what, name);
  }
  if (first != i) {
    return weir_fail(WEIR_ERR_CONFIG, "%s%s '%s': the name is taken by %s %lld of the query",
                     query_at(query_location_of(spec, i)).text, what, name,
                     first < spec->n_sources ? "stream" : "step",
                     (long long)(first < spec->n_sources ? first : first - spec->n_sources) + 1);
  }
  return WEIR_OK;
}

/* `name` as used by `user` (a step or an output, with its location) must be one of the first n. */
static weir_status check_use(const weir_query_spec *spec, const char *name, int64_t n,
                             const char *user, const char *location)
{
  const char *names[WEIR_QUERY_SOURCES + WEIR_QUERY_STEPS];
  const int64_t at = query_definer(spec, name);
  char hint[256];

  if (at >= 0 && at < n) {
    return WEIR_OK;
  }
  if (at >= 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s%s: '%s' is defined later: list steps in execution order, without cycles",
                     query_at(location).text, user, name);
  }
  for (int64_t i = 0; i < n; i++) {
    names[i] = query_name_of(spec, i);
  }
  weir_name_suggest(name, names, n, hint, sizeof hint);
  return weir_fail(WEIR_ERR_CONFIG, "%s%s: there is no stream '%s'%s", query_at(location).text,
                   user, name, hint);
}

static weir_status check_counts(const weir_query_spec *spec)
{
  if (spec->n_sources < 1 || spec->n_sources > WEIR_QUERY_SOURCES ||
      spec->n_steps > WEIR_QUERY_STEPS) {
    return weir_fail(WEIR_ERR_CONFIG, "query: %lld streams (1 to %d) and %lld steps (up to %d)",
                     (long long)spec->n_sources, WEIR_QUERY_SOURCES, (long long)spec->n_steps,
                     WEIR_QUERY_STEPS);
  }
  if (spec->n_outputs < 1) {
    return weir_fail(
        WEIR_ERR_CONFIG,
        "query.outputs is empty, so that nothing would be written: name at least one stream");
  }
  return WEIR_OK;
}

static weir_status check_step(const weir_query_spec *spec, int64_t i)
{
  const weir_query_step *s = &spec->steps[i];
  const char *location = s->from_location != NULL ? s->from_location : s->location;
  char user[WEIR_QUERY_NAME + 16];

  (void)snprintf(user, sizeof user, "step '%s'", s->name);
  for (int64_t k = 0; k < s->n_from; k++) {
    WEIR_TRY(check_use(spec, s->from[k], spec->n_sources + i, user, location));
  }
  if (s->n_from < s->op->min_in || s->n_from > s->op->max_in) {
    return weir_fail(WEIR_ERR_CONFIG, "%sstep '%s': %s takes %d to %d streams, from: lists %lld",
                     query_at(location).text, s->name, s->op->name, s->op->min_in, s->op->max_in,
                     (long long)s->n_from);
  }
  return WEIR_OK;
}

weir_status weir_query_check(const weir_query_spec *spec)
{
  WEIR_TRY(check_counts(spec));
  for (int64_t i = 0; i < spec->n_sources + spec->n_steps; i++) {
    WEIR_TRY(check_name(spec, i));
  }
  for (int64_t i = 0; i < spec->n_steps; i++) {
    WEIR_TRY(check_step(spec, i));
  }
  for (int64_t i = 0; i < spec->n_outputs; i++) {
    WEIR_TRY(check_use(spec, spec->outputs[i].stream, spec->n_sources + spec->n_steps, "outputs",
                       spec->outputs[i].location));
  }
  return WEIR_OK;
}

void query_mark_used(const weir_query_spec *spec, bool *used)
{
  for (int64_t i = 0; i < spec->n_outputs; i++) {
    used[query_definer(spec, spec->outputs[i].stream)] = true;
  }
  for (int64_t i = spec->n_steps - 1; i >= 0; i--) {
    for (int64_t k = 0; used[spec->n_sources + i] && k < spec->steps[i].n_from; k++) {
      used[query_definer(spec, spec->steps[i].from[k])] = true;
    }
  }
}

bool query_lcm(int64_t a_num, int64_t a_den, int64_t b_num, int64_t b_den, int64_t *num,
               int64_t *den)
{
  const int64_t ga = weir_gcd(a_num, a_den), gb = weir_gcd(b_num, b_den);
  const int64_t n = a_num / ga, m = b_num / gb;
  int64_t product = 0;

  /* Of reduced fractions: that of the numerators over the common divisor of the denominators. */
  if (!weir_mul_ok(n / weir_gcd(n, m), m, &product)) {
    return false;
  }
  *num = product;
  *den = weir_gcd(a_den / ga, b_den / gb);
  return true;
}

/* The first stream before `n` whose clock alone has no common multiple with that of stream n, else
 * the one before it: together they have none. */
static int64_t partner(const query_stream *streams, int64_t n)
{
  const weir_series *s = &streams[n].series;
  int64_t num = 0, den = 0;

  for (int64_t i = 0; i < n; i++) {
    const weir_series *o = &streams[i].series;

    if (!query_lcm(o->rate_den, o->rate_num, s->rate_den, s->rate_num, &num, &den)) {
      return i;
    }
  }
  return n - 1;
}

weir_status query_common_period(const query_stream *streams, int64_t n, int64_t *num, int64_t *den)
{
  *num = *den = 1;
  for (int64_t i = 0; i < n; i++) {
    const weir_series *s = &streams[i].series;

    if (i == 0) {
      *num = s->rate_den;
      *den = s->rate_num;
    } else if (!query_lcm(*num, *den, s->rate_den, s->rate_num, num, den)) {
      const query_stream *o = &streams[partner(streams, i)];

      return weir_fail(WEIR_ERR_CONFIG,
                       "query: the clocks of '%s' (%lld/%lld Hz) and '%s' (%lld/%lld Hz) have no "
                       "common tick within 2^63 periods",
                       o->name, (long long)o->series.rate_num, (long long)o->series.rate_den,
                       streams[i].name, (long long)s->rate_num, (long long)s->rate_den);
    }
  }
  return WEIR_OK;
}

const weir_series_op *weir_query_op(const weir_series_op *const *const *tables, int n_tables,
                                    int64_t i)
{
  for (int t = 0; t < n_tables; t++) {
    for (const weir_series_op *const *op = tables[t]; *op != NULL; op++) {
      if ((*op)->build != NULL && i-- == 0) {
        return *op;
      }
    }
  }
  return NULL;
}

const weir_series_op *weir_query_find(const weir_series_op *const *const *tables, int n_tables,
                                      const char *name)
{
  const weir_series_op *op = NULL;

  for (int64_t i = 0; (op = weir_query_op(tables, n_tables, i)) != NULL; i++) {
    if (strcmp(op->name, name) == 0) {
      return op;
    }
  }
  return NULL;
}
