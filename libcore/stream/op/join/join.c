/* join.c - LifeStream's Join (Jayarajan et al., ASPLOS 2021), and Trill's left and full outer ones:
 * since clocks are periodic, the partner of a slot is an index. */
#include "stream/op/join/join_priv.h"
#include <string.h>
#include "ops/elementwise/weir_elementwise.h"
#include "ops/slice/weir_slice.h"
#include "stream/weir_formula.h"
#include "stream/weir_series.h"

enum { INNER, LEFT, OUTER };

static const weir_opt options[] = {
    WEIR_OPT_ENUM(join_opts, kind, INNER, "inner|left|outer",
                  "presence of the result: inner: where all streams are present; left: where the "
                  "first is; outer: where one of two is"),
    WEIR_OPT_REAL(join_opts, fill_left, 0, -1e30, 1e30, "unit of the stream",
                  "outer: value of the first stream where only the second is present"),
    WEIR_OPT_REAL(join_opts, fill_right, 0, -1e30, 1e30, "unit of the stream",
                  "left, outer: value of the second stream where only the first is present"),
    WEIR_OPT_STRING(
        join_opts, value, "",
        "expression over the joined streams, by their names and, for left and outer, present_left "
        "and present_right; gives one stream instead of one per input; a boolean gives 1 or 0"),
    WEIR_OPT_END,
};

/* Fast over slow, 0 where it is no whole number. */
static int64_t ratio_of(const weir_series *fast, const weir_series *slow)
{
  const __int128 up = (__int128)fast->rate_num * slow->rate_den;
  const __int128 down = (__int128)fast->rate_den * slow->rate_num;

  return up % down == 0 && up / down <= INT64_MAX ? (int64_t)(up / down) : 0;
}

static bool is_faster(const weir_series *a, const weir_series *b)
{
  return (__int128)a->rate_num * b->rate_den > (__int128)b->rate_num * a->rate_den;
}

/* The streams on the clock of the fastest: slot t of it goes with slot t / ratio of a slower one,
 * which holds its value over its period. name: what messages call them. Fails: WEIR_ERR_CONFIG,
 * naming both rates, where one period is no multiple of the other. */
static weir_status align(weir_graph *g, const weir_series *in, const char *const *name, int n,
                         weir_series *out)
{
  int fast = 0;

  for (int i = 1; i < n; i++) {
    fast = is_faster(&in[i], &in[fast]) ? i : fast;
  }
  for (int i = 0; i < n; i++) {
    const int64_t ratio = ratio_of(&in[fast], &in[i]);

    if (ratio == 0) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "the period of '%s' (%lld/%lld Hz) is not a multiple of that of '%s' "
                       "(%lld/%lld Hz): resample one of them",
                       name[i], (long long)in[i].rate_num, (long long)in[i].rate_den, name[fast],
                       (long long)in[fast].rate_num, (long long)in[fast].rate_den);
    }
    out[i] = weir_series_hold(g, in[i], ratio);
    out[i].rate_num = in[fast].rate_num;
    out[i].rate_den = in[fast].rate_den;
  }
  WEIR_TRY(weir_graph_status(g));
  return WEIR_OK;
}

static weir_value presence(weir_graph *g, const weir_series *in, int n, int kind)
{
  weir_value present = in[0].present;

  for (int i = 1; i < n && kind != LEFT; i++) {
    present =
        kind == INNER ? weir_and(g, present, in[i].present) : weir_or(g, present, in[i].present);
  }
  return present;
}

/* Stream `s` where the result is present, `fill` where only the other one is. */
static weir_series member(weir_graph *g, weir_series s, weir_value present, double fill)
{
  s.value =
      fill == 0 ? s.value : weir_select(g, s.present, s.value, weir_scalar(g, WEIR_F32, fill));
  s.present = present;
  s.age = WEIR_NO_VALUE;
  return weir_series_mask(g, s);
}

/* 1 where `s` has a sample, 0 where it was filled in. */
static weir_series flag(weir_graph *g, weir_series s, weir_value present)
{
  s.value = weir_cast(g, WEIR_F32, s.present);
  weir_series_set_unit(&s, "1");
  return member(g, s, present, 0);
}

static weir_status check_names(const weir_series_use *use)
{
  for (int i = 0; i < use->n_in; i++) {
    for (int j = 0; j < i; j++) {
      if (strcmp(use->in_name[i], use->in_name[j]) == 0) {
        return weir_fail(WEIR_ERR_CONFIG, "two streams to join are called '%s'", use->in_name[i]);
      }
    }
  }
  return WEIR_OK;
}

/* The streams side by side, and after left and outer which side was there. */
static weir_status pair(const weir_series_use *use, weir_series_result *out)
{
  const join_opts *o = use->opts;
  weir_graph *g = use->graph;
  weir_series in[WEIR_SERIES_MAX];

  WEIR_TRY(align(g, use->in, use->in_name, use->n_in, in));
  const weir_value present = presence(g, in, use->n_in, o->kind);

  for (int i = 0; i < use->n_in; i++) {
    const double fill = o->kind == INNER ? 0 : i == 0 ? o->fill_left : o->fill_right;

    out->out[out->n] = member(g, in[i], present, fill);
    out->name[out->n++] = use->in_name[i];
  }
  for (int i = 0; i < 2 && o->kind != INNER; i++) {
    if (i == 1 || o->kind == OUTER) {
      out->out[out->n] = flag(g, in[i], present);
      out->name[out->n++] = i == 0 ? "present_left" : "present_right";
    }
  }
  return weir_graph_status(g);
}

/* What the expression makes of them. */
static weir_status combine(const weir_series_use *use, weir_series_result *out)
{
  const join_opts *o = use->opts;
  weir_series_use joined = *use;
  weir_series s;
  weir_formula *f = NULL;

  joined.in = out->out;
  joined.in_name = out->name;
  joined.n_in = out->n;
  WEIR_TRY(weir_formula_parse(o->value, &f));
  const bool truth = weir_formula_is_bool(f);
  const weir_status status = weir_formula_build(f, &joined, &s);
  weir_formula_destroy(&f);
  WEIR_TRY(status);
  if (truth) {
    s.value = weir_cast(use->graph, WEIR_F32, s.value);
  }
  *out = (weir_series_result){.out = {s}, .n = 1};
  return weir_graph_status(use->graph);
}

static weir_status build(const weir_series_use *use, weir_series_result *out)
{
  const join_opts *o = use->opts;

  out->n = 0;
  if (o->kind != INNER && use->n_in != 2) {
    return weir_fail(WEIR_ERR_CONFIG, "kind: %d streams: left and outer join two", use->n_in);
  }
  WEIR_TRY(check_names(use));
  WEIR_TRY(pair(use, out));
  return o->value[0] == 0 ? WEIR_OK : combine(use, out);
}

const weir_series_op weir_series_op_join = {
    .name = "join",
    .cite = "Jayarajan et al., ASPLOS 2021",
    .help = "joins streams of several rates at the highest rate; slower ones are held over their "
            "period",
    .opts = options,
    .opts_size = sizeof(join_opts),
    .min_in = 2,
    .max_in = WEIR_SERIES_MAX,
    .build = build,
};
