/* expression.c - fuzz target: expressions over streams. What is read is built; what fits the
 * streams runs, and its result keeps the promises of a stream. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "stream/weir_formula.h"
#include "stream/weir_stream.h"
#include "weir_fuzz.h"

enum { SLOTS = 12, INPUTS = 4 };
static const char *const name[] = {"a", "b", "ABP 1", "beats.rr"};
static const char *const presence[] = {"pa", "pb", "pc", "pd"};
static const char *const unit[] = {"mV", "mV", "mmHg", ""};
static int64_t reached;

int64_t weir_fuzz_reached(void)
{
  return reached;
}

/* Odd numbers among the values; input k is absent in every (k + 3)-th slot. */
static weir_status read_slots(void *context, int64_t lo, int64_t hi, float *x, uint8_t *present)
{
  static const float values[] = {0.0f, -1.5f, 2.0f, 1e30f, -3.0f, 1e-30f, 7.25f};
  const int k = *(const int *)context;

  for (int64_t t = lo; t < hi; t++) {
    present[t - lo] = t % (k + 3) != 0;
    x[t - lo] = present[t - lo] ? values[(t * (k + 1)) % 7] : 0.0f;
  }
  return WEIR_OK;
}

typedef struct result {
  double y[SLOTS];
  bool present[SLOTS];
} result;

static weir_status take_value(void *context, const weir_view *v, int64_t lo, int64_t hi, bool last)
{
  result *r = context;

  (void)last;
  for (int64_t t = lo; t < hi && t < SLOTS; t++) {
    r->y[t] = v->dtype == WEIR_BOOL ? (double)*(const uint8_t *)weir_view_at(v, &t)
                                    : (double)*(const float *)weir_view_at(v, &t);
  }
  return WEIR_OK;
}

static weir_status take_present(void *context, const weir_view *v, int64_t lo, int64_t hi,
                                bool last)
{
  result *r = context;

  (void)last;
  for (int64_t t = lo; t < hi && t < SLOTS; t++) {
    r->present[t] = *(const uint8_t *)weir_view_at(v, &t) != 0;
  }
  return WEIR_OK;
}

static weir_status run(weir_graph *g, weir_store *store, result *r)
{
  static int number[] = {0, 1, 2, 3};
  const weir_stream_sink sinks[] = {{"y", take_value, r}, {"q", take_present, r}};
  const weir_stream_cfg cfg = {.window = 5};
  weir_stream_source sources[INPUTS];
  weir_stream *stream = NULL;
  weir_stream_report report;
  weir_exec_cfg exec;

  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  exec.tier = WEIR_TIER_VECTOR;
  for (int k = 0; k < INPUTS; k++) {
    sources[k] = (weir_stream_source){.value = name[k],
                                      .present = presence[k],
                                      .rate_num = 1,
                                      .rate_den = 1,
                                      .count = SLOTS,
                                      .read = read_slots,
                                      .context = &number[k]};
  }
  const weir_stream_job job = {.graph = g,
                               .store = store,
                               .sources = sources,
                               .n_sources = INPUTS,
                               .sinks = sinks,
                               .n_sinks = 2,
                               .stream = &cfg,
                               .exec = &exec,
                               .threads = 1};
  WEIR_TRY(weir_stream_create(&job, &stream));
  const weir_status status = weir_stream_run(stream, &report);
  weir_stream_destroy(&stream);
  return status;
}

static void build_and_run(const weir_formula *f)
{
  weir_series_keeper keeper = {NULL};
  weir_series in[INPUTS], out;
  weir_store *store = NULL;
  weir_graph *g = NULL;
  result r = {.y = {0}};

  if (weir_store_create(&store) != WEIR_OK || weir_graph_create(&g) != WEIR_OK) {
    abort();
  }
  for (int k = 0; k < INPUTS; k++) {
    in[k] = weir_series_input(g, name[k], presence[k], 1, 1);
    weir_series_set_unit(&in[k], unit[k]);
  }
  const weir_series_use use = {.graph = g,
                               .store = store,
                               .step = "step",
                               .in = in,
                               .in_name = name,
                               .n_in = INPUTS,
                               .keeper = &keeper};
  const weir_status status = weir_formula_build(f, &use, &out);
  if (status == WEIR_OK) {
    reached++;
    weir_output(g, "y", out.value);
    weir_output(g, "q", out.present);
    if (run(g, store, &r) != WEIR_OK) {
      abort();
    }
    for (int t = 0; t < SLOTS; t++) {
      if (isnan(r.y[t]) || (!r.present[t] && r.y[t] != 0)) {
        abort();
      }
    }
  } else if (status != WEIR_ERR_CONFIG || weir_last_message()[0] == 0) {
    abort(); /* a refusal is a configuration error that says why */
  }
  weir_graph_destroy(&g);
  weir_store_destroy(&store);
  weir_series_keeper_fini(&keeper);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const int64_t before = weir_alloc_bytes();
  weir_formula *f = NULL;
  char *text = malloc(size + 1);

  if (text == NULL) {
    return 0;
  }
  if (size > 0) {
    memcpy(text, data, size);
  }
  text[size] = 0;
  weir_log_set_level(WEIR_LOG_ERROR);
  const weir_status status = weir_formula_parse(text, &f);
  if (status == WEIR_OK) {
    build_and_run(f);
  } else if (status != WEIR_ERR_CONFIG || f != NULL) {
    abort();
  }
  weir_formula_destroy(&f);
  free(text);
  if (weir_alloc_bytes() != before) {
    abort();
  }
  return 0;
}
