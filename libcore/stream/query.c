/* query.c - see weir_query.h. */
#include <math.h>
#include <string.h>
#include "query_priv.h"
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "conf/weir_name.h"
#include "ops/elementwise/weir_elementwise.h"

/* A query while it is built. */
typedef struct builder {
  const weir_query_spec *spec;
  weir_query *query;
  query_stream *streams;
  int64_t n_streams, capacity;
  bool warn; /* of former names */
} builder;

void weir_query_present_name(const char *name, char *text, size_t size)
{
  (void)snprintf(text, size, "%s.present", name);
}

static weir_status add_stream(builder *b, const char *name, const char *part, weir_series s,
                              weir_value undefined)
{
  WEIR_TRY(weir_reserve(&b->streams, &b->capacity, b->n_streams + 1, sizeof *b->streams));
  query_stream *to = &b->streams[b->n_streams++];
  const int n = snprintf(to->name, sizeof to->name, "%s%s%s", name, part == NULL ? "" : ".",
                         part == NULL ? "" : part);

  to->former[0] = 0;
  to->series = s;
  to->undefined = undefined;
  if (n < 0 || n >= (int)sizeof to->name) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "the name %s... of a result has more than %d characters: choose shorter names "
                     "for its steps",
                     to->name, (int)sizeof to->name - 1);
  }
  return WEIR_OK;
}

/* The stream `name` of `user` (a step or the outputs), by its present or its former name. */
static const query_stream *find_stream(const builder *b, const char *name, const char *user,
                                       const char *place)
{
  for (int64_t i = 0; i < b->n_streams; i++) {
    const query_stream *s = &b->streams[i];

    if (strcmp(s->name, name) == 0) {
      return s;
    }
    if (strcmp(s->former, name) == 0) {
      if (b->warn) {
        weir_warn("query", "%s%s: the stream %s was renamed to %s", query_at(place).text, user,
                  name, s->name);
      }
      return s;
    }
  }
  return NULL;
}

/* "a.x, a.y": the parts of the step that `name` begins with. */
static int64_t list_parts(const builder *b, const char *name, const char **parts)
{
  const size_t n = strcspn(name, ".");
  int64_t count = 0;

  for (int64_t i = 0; i < b->n_streams && count < WEIR_SERIES_MAX; i++) {
    const char *known = b->streams[i].name;

    if (strncmp(known, name, n) == 0 && (known[n] == '.' || known[n] == 0)) {
      parts[count++] = known;
    }
  }
  return count;
}

/* The step is known, yet it gives no stream of just this name. */
static weir_status refuse_part(const builder *b, const char *name, const char *user,
                               const char *location)
{
  const char *parts[WEIR_SERIES_MAX];
  char hint[512];

  weir_name_suggest(name, parts, list_parts(b, name, parts), hint, sizeof hint);
  if (strchr(name, '.') == NULL) {
    return weir_fail(WEIR_ERR_CONFIG, "%s%s: '%s' has several streams, but one is needed%s",
                     query_at(location).text, user, name, hint);
  }
  return weir_fail(WEIR_ERR_CONFIG, "%s%s: there is no stream '%s'%s", query_at(location).text,
                   user, name, hint);
}

static weir_status add_sources(builder *b, const bool *used)
{
  for (int64_t i = 0; i < b->spec->n_sources; i++) {
    if (!used[i]) {
      continue;
    }
    const weir_query_source *from = &b->spec->sources[i];
    char present[2 * WEIR_QUERY_NAME];

    weir_query_present_name(from->name, present, sizeof present);
    weir_series s =
        weir_series_input(b->query->graph, from->name, present, from->rate_num, from->rate_den);

    weir_series_set_unit(&s, from->unit == NULL ? "" : from->unit);
    WEIR_TRY(add_stream(b, from->name, NULL, s, WEIR_NO_VALUE));
  }
  return weir_graph_status(b->query->graph);
}

/* What an operator gave, as streams with names: one may have none, and is called as the step is. */
static weir_status add_results(builder *b, const weir_query_step *step,
                               const weir_series_result *result, weir_value undefined)
{
  WEIR_ASSERT(result->n >= 1 && result->n <= WEIR_SERIES_MAX);
  for (int i = 0; i < result->n; i++) {
    WEIR_ASSERT(result->out[i].value.node >= 0 && result->out[i].present.node >= 0);
    WEIR_TRY(add_stream(b, step->name, result->name[i], result->out[i],
                        i == 0 ? undefined : WEIR_NO_VALUE));
    if (result->former[i] != NULL) {
      query_stream *s = &b->streams[b->n_streams - 1];

      (void)snprintf(s->former, sizeof s->former, "%s.%s", step->name, result->former[i]);
    }
  }
  return WEIR_OK;
}

static weir_status add_step(builder *b, const weir_query_step *step)
{
  weir_series in[WEIR_SERIES_MAX];
  weir_series_result result = {.n = 0};
  weir_value undefined = WEIR_NO_VALUE;
  char user[WEIR_QUERY_NAME + 16];

  (void)snprintf(user, sizeof user, "step '%s'", step->name);
  for (int64_t i = 0; i < step->n_from; i++) {
    const char *place = step->from_location != NULL ? step->from_location : step->location;
    const query_stream *from = find_stream(b, step->from[i], user, place);

    if (from == NULL) {
      return refuse_part(b, step->from[i], user, place);
    }
    in[i] = from->series;
  }
  const weir_series_use use = {.graph = b->query->graph,
                               .store = b->query->store,
                               .step = step->name,
                               .opts = step->opts,
                               .in = in,
                               .in_name = step->from,
                               .n_in = (int)step->n_from,
                               .keeper = &b->query->keeper,
                               .undefined = &undefined};
  const int32_t first = weir_graph_nodes(b->query->graph);
  weir_status status = step->op->build(&use, &result);

  weir_label_from(b->query->graph, first, step->name);

  status = status == WEIR_OK ? weir_graph_status(b->query->graph) : status;
  if (status != WEIR_OK) {
    char reason[1024];

    (void)snprintf(reason, sizeof reason, "%s", weir_last_message());
    return weir_fail(status, "%s%s (%s): %s",
                     query_at(step->op_location != NULL ? step->op_location : step->location).text,
                     user, step->op->name, reason);
  }
  return add_results(b, step, &result, undefined);
}

/* The column of a stream, made once. */
static weir_status add_column(builder *b, const query_stream *s, int *column)
{
  weir_query *q = b->query;
  weir_graph *g = q->graph;

  for (int64_t i = 0; i < q->n_columns; i++) {
    if (strcmp(q->columns[i].name, s->name) == 0) {
      *column = (int)i;
      return WEIR_OK;
    }
  }
  if (q->n_columns == WEIR_QUERY_COLUMNS) {
    return weir_fail(WEIR_ERR_CONFIG, "query.outputs: more than %d streams are requested",
                     WEIR_QUERY_COLUMNS);
  }
  weir_query_column *c = &q->columns[q->n_columns];
  const char *point = strchr(s->name, '.');
  const int32_t first = weir_graph_nodes(g);

  *c = (weir_query_column){.rate_num = s->series.rate_num, .rate_den = s->series.rate_den};
  (void)snprintf(c->name, sizeof c->name, "%s", s->name);
  (void)snprintf(c->unit, sizeof c->unit, "%s", s->series.unit);
  c->part = c->name + (point == NULL ? 0 : point + 1 - s->name);
  weir_output(g, c->name,
              weir_select(g, s->series.present, s->series.value, weir_scalar(g, WEIR_F32, NAN)));
  weir_label_from(g, first, c->name);
  if (s->undefined.node >= 0) {
    (void)snprintf(c->undefined, sizeof c->undefined, "%s?", c->name);
    weir_output(g, c->undefined, s->undefined);
  }
  *column = (int)q->n_columns++;
  return weir_graph_status(g);
}

static weir_status add_to_output(builder *b, weir_query_output *out, const query_stream *s,
                                 const char *location)
{
  int column = 0;

  WEIR_TRY(add_column(b, s, &column));
  const weir_query_column *first = &b->query->columns[out->n > 0 ? out->column[0] : column];
  const weir_query_column *c = &b->query->columns[column];

  if ((__int128)first->rate_num * c->rate_den != (__int128)c->rate_num * first->rate_den) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%soutputs: '%s' and '%s' have different rates: list them one by one",
                     query_at(location).text, first->name, c->name);
  }
  out->column[out->n++] = column;
  return WEIR_OK;
}

static weir_status add_output(builder *b, const weir_query_wish *wish)
{
  weir_query_output *out = &b->query->outputs[b->query->n_outputs++];
  const query_stream *one = find_stream(b, wish->stream, "outputs", wish->location);
  const size_t n = strlen(wish->stream);

  (void)snprintf(out->name, sizeof out->name, "%s", wish->stream);
  if (one != NULL) {
    return add_to_output(b, out, one, wish->location);
  }
  for (int64_t i = 0; i < b->n_streams && strchr(wish->stream, '.') == NULL; i++) {
    if (strncmp(b->streams[i].name, wish->stream, n) == 0 && b->streams[i].name[n] == '.') {
      WEIR_TRY(add_to_output(b, out, &b->streams[i], wish->location));
    }
  }
  return out->n > 0 ? WEIR_OK : refuse_part(b, wish->stream, "outputs", wish->location);
}

static weir_status create(weir_query *q, int64_t n_outputs)
{
  WEIR_TRY(weir_graph_create(&q->graph));
  WEIR_TRY(weir_store_create(&q->store));
  WEIR_TRY(weir_alloc(WEIR_QUERY_COLUMNS, sizeof *q->columns, (void **)&q->columns));
  WEIR_TRY(weir_alloc(n_outputs, sizeof *q->outputs, (void **)&q->outputs));
  return WEIR_OK;
}

/* The graph of the sources and steps that are used. */
static weir_status build(const weir_query_spec *spec, const bool *used, bool warn, weir_query *q)
{
  builder b = {.spec = spec, .query = q, .warn = warn};
  weir_status status = WEIR_OK;

  WEIR_TRY(create(q, spec->n_outputs));
  WEIR_TRY_GOTO(add_sources(&b, used), done);
  for (int64_t i = 0; i < spec->n_steps; i++) {
    if (used[spec->n_sources + i]) {
      WEIR_TRY_GOTO(add_step(&b, &spec->steps[i]), done);
    }
  }
  WEIR_TRY_GOTO(query_common_period(b.streams, b.n_streams, &q->period_num, &q->period_den), done);
  for (int64_t i = 0; i < spec->n_outputs; i++) {
    WEIR_TRY_GOTO(add_output(&b, &spec->outputs[i]), done);
  }
  for (int64_t i = 0; i < spec->n_sources; i++) {
    q->source_used[i] = used[i];
  }
done:
  weir_free(&b.streams);
  return status;
}

/* Marks in used[] what outputs need. Returns true where something is left out. */
static bool leave_out(const weir_query_spec *spec, bool *used)
{
  bool any = false;

  memset(used, 0, (size_t)(spec->n_sources + spec->n_steps) * sizeof *used);
  query_mark_used(spec, used);
  for (int64_t i = 0; i < spec->n_sources + spec->n_steps; i++) {
    if (!used[i]) {
      weir_warn("query", "%s%s '%s' is skipped: no output needs it",
                query_at(query_location_of(spec, i)).text, i < spec->n_sources ? "stream" : "step",
                query_name_of(spec, i));
      any = true;
    }
  }
  return any;
}

weir_status weir_query_build(const weir_query_spec *spec, weir_query *out)
{
  weir_status status = WEIR_OK;
  weir_query q = {.n_columns = 0};
  bool used[WEIR_QUERY_SOURCES + WEIR_QUERY_STEPS];

  *out = q;
  memset(used, true, sizeof used);
  WEIR_TRY(weir_query_check(spec));
  WEIR_TRY_GOTO(build(spec, used, true, &q),
                fail); /* all of it, so that errors anywhere are found */
  if (leave_out(spec, used)) {
    weir_query_fini(&q);
    WEIR_TRY_GOTO(build(spec, used, false, &q), fail);
  }
  *out = q;
  return WEIR_OK;
fail:
  weir_query_fini(&q);
  return status;
}

void weir_query_fini(weir_query *q)
{
  weir_graph_destroy(&q->graph);
  weir_store_destroy(&q->store);
  weir_series_keeper_fini(&q->keeper);
  weir_free(&q->columns);
  weir_free(&q->outputs);
  *q = (weir_query){.n_columns = 0};
}
