/* query.c - fuzz target: the section `query:` of a configuration, up to the graph that it makes. */
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "query/options.h"
#include "weir_fuzz.h"

static int64_t reached;

int64_t weir_fuzz_reached(void)
{
  return reached;
}

/* What a recording would say: clocks that fit one another and one that is odd. */
static void describe_sources(ps_query_text *text)
{
  static const struct {
    int64_t num, den;
    const char *unit;
  } signals[] = {{500, 1, "mV"}, {125, 1, "mmHg"}, {125, 1, ""}, {999560, 16000, "mV"}};

  for (int64_t i = 0; i < text->spec.n_sources; i++) {
    text->sources[i].rate_num = signals[i % 4].num;
    text->sources[i].rate_den = signals[i % 4].den;
    text->sources[i].unit = signals[i % 4].unit;
  }
}

static void check_refusal(weir_status status)
{
  if ((status != WEIR_ERR_CONFIG && status != WEIR_ERR_MEMORY && status != WEIR_ERR_SHAPE) ||
      weir_last_message()[0] == 0) {
    abort();
  }
}

static void build(const ps_query_cfg *cfg, const weir_config *config)
{
  ps_query_text text;
  weir_query query;

  weir_status status = ps_query_read(cfg, config, &text);
  if (status != WEIR_OK) {
    check_refusal(status);
    return;
  }
  describe_sources(&text);
  status = weir_query_build(&text.spec, &query);
  if (status == WEIR_OK) {
    reached++;
    if (weir_graph_validate(query.graph) != WEIR_OK) {
      abort(); /* what is built is sound */
    }
  } else {
    check_refusal(status);
  }
  weir_query_fini(&query);
  ps_query_text_fini(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const int64_t before = weir_alloc_bytes();
  weir_config *config = NULL;
  char *copy = malloc(size + 1);
  ps_query_cfg cfg;

  if (copy == NULL) {
    return 0;
  }
  if (size > 0) {
    memcpy(copy, data, size);
  }
  copy[size] = 0;
  weir_log_set_level(WEIR_LOG_ERROR);
  const weir_status status = weir_opts_parse(ps_query_options, sizeof cfg, copy, &cfg, &config);
  if (status == WEIR_OK) {
    build(&cfg, config);
  } else {
    check_refusal(status);
  }
  weir_config_destroy(&config);
  free(copy);
  if (weir_alloc_bytes() != before) {
    abort();
  }
  return 0;
}
