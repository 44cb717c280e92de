/* options.c - see options.h. */
#include "query/options.h"
#include <string.h>
#include "base/weir_alloc.h"
#include "step/table.h"

static const weir_series_op *const *const tables[] = {weir_series_op_table, ps_step_table};

/* Operator of a step by its name: of libcore/stream/op or of step/. NULL: none. */
static const weir_series_op *find_op(const char *name)
{
  return weir_query_find(tables, 2, name);
}

/* Entry i of the operators that can be steps, as the option table wants it. */
static bool entry(int64_t i, weir_opt_choice *out)
{
  const weir_series_op *op = weir_query_op(tables, 2, i);

  if (op != NULL) {
    *out = (weir_opt_choice){op->name, op->help, op->opts, op->opts_size};
  }
  return op != NULL;
}

static const weir_opt stream_rows[] = {
    WEIR_OPT_STRING(ps_query_stream, name, "", "what steps call the stream"),
    WEIR_OPT_STRING(ps_query_stream, signal, "",
                    "signal of the recording by name or index; empty: the first in mV, or the "
                    "only one"),
    WEIR_OPT_STRING(ps_query_stream, unit, "",
                    "unit that it is read in: converted where its file states another of the same "
                    "quantity (another quantity is refused), stated where the file has none; "
                    "empty: the file's"),
    WEIR_OPT_END,
};

/* `do` is a word of C, so that row cannot be made by its macro. */
static const weir_opt step_rows[] = {
    WEIR_OPT_STRING(ps_query_step, name, "", "what later steps and outputs call its result"),
    WEIR_OPT_STRING_LIST(ps_query_step, from, "",
                         "streams that it takes: names of streams and of steps above, step.part "
                         "where a step gives several"),
    {.kind = WEIR_OPT_KIND_ONE_OF,
     .key = "do",
     .offset = offsetof(ps_query_step, act),
     .unit = "",
     .help = "the operator and its options: {name: {option: value}}",
     .list = entry},
    WEIR_OPT_END,
};

static const weir_opt output_rows[] = {
    WEIR_OPT_STRING(ps_query_output, stream, "",
                    "a stream or step; of a step that gives several all are columns"),
    WEIR_OPT_ENUM(ps_query_output, format, PS_QUERY_TABLE,
                  "table|csv|netcdf|annotations|wfdb|events",
                  "table: STREAM.csv and, where this build has NetCDF, results.nc; annotations: "
                  "RECORD.STREAM, code N at each present slot; wfdb: the record STREAM; events: "
                  "STREAM_events.nc, a row for each present slot"),
    WEIR_OPT_END,
};

const weir_opt ps_query_options[] = {
    WEIR_OPT_LIST(ps_query_cfg, streams, ps_query_stream, stream_rows, WEIR_QUERY_SOURCES,
                  "signals that are read"),
    WEIR_OPT_LIST(ps_query_cfg, steps, ps_query_step, step_rows, WEIR_QUERY_STEPS,
                  "what is computed, in order"),
    WEIR_OPT_LIST(ps_query_cfg, outputs, ps_query_output, output_rows, WEIR_QUERY_COLUMNS,
                  "what is written; empty, with streams and steps empty too: beats are detected"),
    WEIR_OPT_END,
};

bool ps_query_is_set(const ps_query_cfg *cfg)
{
  return cfg->streams.count > 0 || cfg->steps.count > 0 || cfg->outputs.count > 0;
}

static const char *locate(ps_query_text *t, int64_t *n, const weir_config *config,
                          const void *member)
{
  char *text = t->locations[(*n)++];

  if (config != NULL) {
    weir_config_where(config, member, text, sizeof t->locations[0]);
  }
  return text;
}

static weir_status read_step(const ps_query_step *s, weir_query_step *to)
{
  to->name = s->name;
  to->from = s->from.items;
  to->n_from = s->from.count;
  to->opts = s->act.opts;
  to->op = s->act.name != NULL ? find_op(s->act.name) : NULL;
  if (to->op == NULL) {
    return weir_fail(WEIR_ERR_CONFIG, "%s%sstep '%s' does nothing: it needs do: {operator: {}}",
                     to->op_location, to->op_location[0] != 0 ? ": " : "", s->name);
  }
  return WEIR_OK;
}

/* Two outputs that would be one file. */
static weir_status check_outputs(const ps_query_cfg *cfg, const ps_query_text *t)
{
  const ps_query_output *o = cfg->outputs.items;

  for (int64_t i = 0; i < cfg->outputs.count; i++) {
    for (int64_t k = 0; k < i; k++) {
      const bool shared = (o[i].format == PS_QUERY_TABLE && o[k].format <= PS_QUERY_NETCDF) ||
                          (o[k].format == PS_QUERY_TABLE && o[i].format <= PS_QUERY_NETCDF);

      if (strcmp(o[i].stream, o[k].stream) == 0 && (o[i].format == o[k].format || shared)) {
        const char *at = t->outputs[i].location;

        return weir_fail(WEIR_ERR_CONFIG, "%s%soutputs: '%s' is written to the same file before",
                         at, at[0] != 0 ? ": " : "", o[i].stream);
      }
    }
  }
  return WEIR_OK;
}

static weir_status read_all(const ps_query_cfg *cfg, const weir_config *config, ps_query_text *t)
{
  const ps_query_stream *streams = cfg->streams.items;
  const ps_query_step *steps = cfg->steps.items;
  const ps_query_output *outputs = cfg->outputs.items;
  int64_t n = 0;

  for (int64_t i = 0; i < cfg->streams.count; i++) {
    t->sources[i] = (weir_query_source){.name = streams[i].name,
                                        .location = locate(t, &n, config, &streams[i].name)};
  }
  for (int64_t i = 0; i < cfg->outputs.count; i++) {
    t->outputs[i] = (weir_query_wish){.stream = outputs[i].stream,
                                      .location = locate(t, &n, config, &outputs[i].stream)};
  }
  WEIR_TRY(check_outputs(cfg, t));
  for (int64_t i = 0; i < cfg->steps.count; i++) {
    t->steps[i].location = locate(t, &n, config, &steps[i].name);
    t->steps[i].from_location = locate(t, &n, config, &steps[i].from);
    t->steps[i].op_location = locate(t, &n, config, &steps[i].act);
    WEIR_TRY(read_step(&steps[i], &t->steps[i]));
  }
  return WEIR_OK;
}

weir_status ps_query_read(const ps_query_cfg *cfg, const weir_config *config, ps_query_text *out)
{
  const int64_t locations = cfg->streams.count + cfg->outputs.count + 3 * cfg->steps.count;
  ps_query_text t = {.sources = NULL};
  weir_status status = WEIR_OK;

  *out = t;
  WEIR_TRY_GOTO(weir_alloc(cfg->streams.count, sizeof *t.sources, (void **)&t.sources), fail);
  WEIR_TRY_GOTO(weir_alloc(cfg->steps.count, sizeof *t.steps, (void **)&t.steps), fail);
  WEIR_TRY_GOTO(weir_alloc(cfg->outputs.count, sizeof *t.outputs, (void **)&t.outputs), fail);
  WEIR_TRY_GOTO(weir_alloc(locations, sizeof *t.locations, (void **)&t.locations), fail);
  WEIR_TRY_GOTO(read_all(cfg, config, &t), fail);
  t.spec = (weir_query_spec){.sources = t.sources,
                             .n_sources = cfg->streams.count,
                             .steps = t.steps,
                             .n_steps = cfg->steps.count,
                             .outputs = t.outputs,
                             .n_outputs = cfg->outputs.count};
  *out = t;
  return WEIR_OK;
fail:
  ps_query_text_fini(&t);
  return status;
}

void ps_query_text_fini(ps_query_text *t)
{
  weir_free(&t->sources);
  weir_free(&t->steps);
  weir_free(&t->outputs);
  weir_free(&t->locations);
  *t = (ps_query_text){.sources = NULL};
}
