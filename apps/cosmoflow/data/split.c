/* split.c - see split.h. */
#include "data/split.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "base/weir_random.h"

enum { PURPOSE = 0x73706c69, NUMBER = 44 /* letters of "N-N," */ };

const weir_opt cf_split_options[] = {
    WEIR_OPT_REAL(cf_split_opts, valid, 0.1, 0, 1e12, "universes",
                  "universes to validate on: below 1 their share, from 1 on how many"),
    WEIR_OPT_REAL(cf_split_opts, test, 0.1, 0, 1e12, "universes",
                  "universes that are kept for tests, likewise"),
    WEIR_OPT_ENUM(cf_split_opts, order, CF_SPLIT_HASH, "hash|last",
                  "which ones: drawn by a hash of their numbers, or the last of the set, test "
                  "universes after those for validation (sets that grow)"),
    WEIR_OPT_INT(cf_split_opts, seed, 0, 0, 0x1p52, "1", "of the hash"),
    WEIR_OPT_INT(cf_split_opts, samples_per_universe, 0, 0, 1e9, "1",
                 "consecutive samples of a universe, in files that do not state universes (MLPerf "
                 "HPC: 64; boxes of their own: 1), also for convert; 0: such files are refused",
                 .alias = "siblings"),
    WEIR_OPT_END,
};

/* A universe of the set. */
typedef struct universe {
  int64_t number, first; /* first: its first sample */
  uint64_t hash;
  uint8_t subset;
} universe;

static int by_number(const void *a, const void *b)
{
  const universe *x = a, *y = b;

  return x->number != y->number ? (x->number > y->number) - (x->number < y->number)
                                : (x->first > y->first) - (x->first < y->first);
}

static int by_hash(const void *a, const void *b)
{
  const universe *x = a, *y = b;

  return x->hash != y->hash ? (x->hash > y->hash) - (x->hash < y->hash) : by_number(a, b);
}

static int by_first(const void *a, const void *b)
{
  const universe *x = a, *y = b;

  return (x->first > y->first) - (x->first < y->first);
}

/* Warns where files state several universes within samples that are stated to be of one. */
static void warn_of_contradiction(int64_t each, const int64_t *given, int64_t count)
{
  for (int64_t i = 1; each > 0 && i < count; i++) {
    if (i % each != 0 && given[i] != given[i - 1]) {
      weir_warn("data",
                "data.split.samples_per_universe=%" PRId64 " is not used: the files state "
                "universes, and samples %" PRId64 " and %" PRId64 " are of universes %" PRId64
                " and %" PRId64 "; if these are of one, convert the original files again with this "
                "option",
                each, i, i + 1, given[i - 1], given[i]);
      return;
    }
  }
}

weir_status cf_split_check_count(int64_t samples_per_universe, int64_t count)
{
  return count % samples_per_universe == 0
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG,
                         "data.split.samples_per_universe=%" PRId64 ": %" PRId64 " samples are "
                         "not a multiple of it: state how many consecutive samples are of one "
                         "universe",
                         samples_per_universe, count);
}

/* The number of every sample's universe. stated: samples_per_universe is an option of this set. */
static weir_status number(int64_t samples_per_universe, bool stated, const int64_t *given,
                          cf_split *s)
{
  int64_t known = 0;

  for (int64_t i = 0; i < s->count; i++) {
    known += given[i] >= 0;
  }
  if (known > 0 && known < s->count) {
    return weir_fail(
        WEIR_ERR_CONFIG,
        "data.split: %" PRId64 " of %" PRId64 " samples say which universe they are "
        "of, the others do not, and numbers by position (data.split.samples_per_universe) "
        "would meet those: read the two kinds of files apart",
        known, s->count);
  }
  if (known < s->count && samples_per_universe == 0) {
    return weir_fail(
        WEIR_ERR_CONFIG,
        "data.split.samples_per_universe: the files do not say which universes their samples are "
        "of, and those of one universe belong on one side: give how many in a row are "
        "of one (MLPerf HPC: 64)");
  }
  if (known == 0) {
    WEIR_TRY(cf_split_check_count(samples_per_universe, s->count));
  }
  if (known > 0 && stated && !s->quiet) {
    warn_of_contradiction(samples_per_universe, given, s->count);
  }
  for (int64_t i = 0; i < s->count; i++) {
    s->universe[i] = known > 0 ? given[i] : i / samples_per_universe;
  }
  s->samples_per_universe = known > 0 ? 0 : samples_per_universe;
  return WEIR_OK;
}

/* The universes of the set, each once, by their numbers. */
static weir_status list(const cf_split *s, universe **out, int64_t *n)
{
  universe *all = NULL;

  *n = 0;
  WEIR_TRY(weir_alloc(s->count, sizeof *all, (void **)&all));
  for (int64_t i = 0; i < s->count; i++) {
    all[i] = (universe){.number = s->universe[i], .first = i};
  }
  qsort(all, (size_t)s->count, sizeof *all, by_number);
  for (int64_t i = 0; i < s->count; i++) {
    if (*n == 0 || all[*n - 1].number != all[i].number) {
      all[(*n)++] = all[i];
    }
  }
  *out = all;
  return WEIR_OK;
}

static int64_t wanted(double given, int64_t n)
{
  const double count = given >= 1 ? given : given * (double)n;

  return given > 0 && count < 1 ? 1 : (int64_t)llround(fmin(count, 1e15));
}

weir_status cf_split_count(const cf_split_opts *o, int64_t n, int64_t universes[CF_SUBSETS])
{
  const int64_t valid = wanted(o->valid, n), test = wanted(o->test, n);

  if (valid + test >= n) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "data.split: %" PRId64 " universes, of which %" PRId64 " are to validate on "
                     "and %" PRId64 " for tests: none is left to train on",
                     n, valid, test);
  }
  universes[CF_TRAIN] = n - valid - test;
  universes[CF_VALID] = valid;
  universes[CF_TEST] = test;
  return WEIR_OK;
}

static weir_status choose(const cf_split_opts *o, universe *all, int64_t n)
{
  int64_t of[CF_SUBSETS];

  WEIR_TRY(cf_split_count(o, n, of));
  for (int64_t i = 0; i < n; i++) {
    all[i].hash = weir_random_bits((uint64_t)o->seed, PURPOSE, 0, (uint64_t)all[i].number);
  }
  qsort(all, (size_t)n, sizeof *all, o->order == CF_SPLIT_LAST ? by_first : by_hash);
  for (int64_t i = 0; i < n; i++) {
    all[i].subset = i >= n - of[CF_TEST] ? CF_TEST : i >= of[CF_TRAIN] ? CF_VALID : CF_TRAIN;
  }
  qsort(all, (size_t)n, sizeof *all, by_number);
  return WEIR_OK;
}

/* Assigns samples the subsets of their universes. */
static weir_status fill(const universe *all, int64_t n, cf_split *s)
{
  for (int64_t u = 0; u < n; u++) {
    s->universes[all[u].subset]++;
  }
  for (int64_t i = 0; i < s->count; i++) {
    const universe key = {.number = s->universe[i]};
    int64_t lo = 0, hi = n;

    while (hi - lo > 1) {
      const int64_t mid = lo + (hi - lo) / 2;

      if (all[mid].number <= key.number) {
        lo = mid;
      } else {
        hi = mid;
      }
    }
    s->subset[i] = all[lo].subset;
    s->n[s->subset[i]]++;
  }
  for (int p = 0; p < CF_SUBSETS; p++) {
    int64_t at = 0;

    WEIR_TRY(weir_alloc(s->n[p], sizeof *s->sample[p], (void **)&s->sample[p]));
    for (int64_t i = 0; i < s->count; i++) {
      if (s->subset[i] == p) {
        s->sample[p][at++] = i;
      }
    }
  }
  return WEIR_OK;
}

/* ---- Lists of universes ---- */

typedef struct range {
  int64_t lo, hi;
} range;

/* "0-3,7", ascending. */
static weir_status read_list(const char *text, range **out, int64_t *n)
{
  int64_t capacity = 0;
  const char *at = text;
  weir_status status = WEIR_OK;

  while (*at != 0 && status == WEIR_OK) {
    char *end = NULL;
    range r = {.lo = strtoll(at, &end, 10)};

    r.hi = r.lo;
    bool good = end != at && *at >= '0' && *at <= '9';

    if (good && *end == '-') {
      at = end + 1;
      r.hi = strtoll(at, &end, 10);
      good = end != at && *at >= '0' && *at <= '9' && r.hi > r.lo;
    }
    good = good && (*end == 0 || (*end == ',' && end[1] != 0)) &&
           (*n == 0 || (*out)[*n - 1].hi < r.lo);
    if (!good) {
      status = weir_fail(WEIR_ERR_DATA, "no list of universes such as 0-3,7: \"%.40s\"", text);
      break;
    }
    status = weir_reserve(out, &capacity, *n + 1, sizeof **out);
    if (status == WEIR_OK) {
      (*out)[(*n)++] = r;
    }
    at = end + (*end == ',');
  }
  return status;
}

static bool is_in(const range *r, int64_t n, int64_t x)
{
  int64_t lo = 0, hi = n;

  while (hi - lo > 1) {
    const int64_t mid = lo + (hi - lo) / 2;

    if (r[mid].lo <= x) {
      lo = mid;
    } else {
      hi = mid;
    }
  }
  return n > 0 && r[lo].lo <= x && x <= r[lo].hi;
}

static weir_status look_up(const char *train, const char *valid, universe *all, int64_t n)
{
  const char *const text[] = {train, valid};
  range *r[2] = {NULL, NULL};
  int64_t count[2] = {0, 0};
  weir_status status = WEIR_OK;

  for (int p = 0; p < 2; p++) {
    WEIR_TRY_GOTO(read_list(text[p], &r[p], &count[p]), done);
  }
  for (int64_t u = 0; u < n; u++) {
    all[u].subset = is_in(r[0], count[0], all[u].number)   ? CF_TRAIN
                    : is_in(r[1], count[1], all[u].number) ? CF_VALID
                                                           : CF_TEST;
  }
done:
  weir_free(&r[0]);
  weir_free(&r[1]);
  return status;
}

/* ---- What is called ---- */

/* By options, or by lists. */
typedef struct rule {
  const cf_split_opts *opts;
  const char *train, *valid;
  int64_t samples_per_universe;
} rule;

static weir_status make(const rule *r, const int64_t *given, cf_split *s)
{
  universe *all = NULL;
  int64_t n = 0;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_alloc(s->count, sizeof *s->universe, (void **)&s->universe));
  WEIR_TRY(weir_alloc(s->count, sizeof *s->subset, (void **)&s->subset));
  WEIR_TRY(number(r->samples_per_universe, r->opts != NULL, given, s));
  WEIR_TRY(list(s, &all, &n));
  WEIR_TRY_GOTO(r->opts != NULL ? choose(r->opts, all, n) : look_up(r->train, r->valid, all, n),
                done);
  WEIR_TRY_GOTO(fill(all, n, s), done);
done:
  weir_free(&all);
  return status;
}

static weir_status create(const rule *r, const int64_t *given, int64_t count, cf_split *out)
{
  *out = (cf_split){.count = count, .quiet = r->opts != NULL && r->opts->quiet};
  const weir_status status = make(r, given, out);

  if (status != WEIR_OK) {
    cf_split_fini(out);
  }
  return status;
}

weir_status cf_split_create(const cf_split_opts *opts, const int64_t *given, int64_t count,
                            cf_split *out)
{
  return create(&(rule){.opts = opts, .samples_per_universe = opts->samples_per_universe}, given,
                count, out);
}

weir_status cf_split_of_lists(const char *train, const char *valid, int64_t samples_per_universe,
                              const int64_t *given, int64_t count, cf_split *out)
{
  return create(
      &(rule){.train = train, .valid = valid, .samples_per_universe = samples_per_universe}, given,
      count, out);
}

void cf_split_fini(cf_split *s)
{
  weir_free(&s->universe);
  weir_free(&s->subset);
  for (int p = 0; p < CF_SUBSETS; p++) {
    weir_free(&s->sample[p]);
  }
}

weir_status cf_split_text(const cf_split *s, cf_subset subset, char **text)
{
  universe *all = NULL;
  int64_t n = 0, capacity = 0, at = 0;
  weir_status status = WEIR_OK;

  *text = NULL;
  WEIR_TRY(list(s, &all, &n));
  WEIR_TRY_GOTO(weir_reserve(text, &capacity, 1, 1), done);
  (*text)[0] = 0;
  for (int64_t u = 0; u < n; u++) {
    const int64_t first = u;

    if (s->subset[all[u].first] != subset) {
      continue;
    }
    while (u + 1 < n && s->subset[all[u + 1].first] == subset &&
           all[u + 1].number == all[u].number + 1) {
      u++;
    }
    WEIR_TRY_GOTO(weir_reserve(text, &capacity, at + NUMBER, 1), done);
    at += snprintf(*text + at, NUMBER, "%s%" PRId64, at > 0 ? "," : "", all[first].number);
    if (u > first) {
      at += snprintf(*text + at, NUMBER / 2, "-%" PRId64, all[u].number);
    }
  }
done:
  weir_free(&all);
  if (status != WEIR_OK) {
    weir_free(text);
  }
  return status;
}
