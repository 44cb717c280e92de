/* queries.c - see queries.h. */
#include "queries.h"

#include <string.h>

#include "stream/op/normalize/weir_stream_normalize.h"
#include "stream/op/resample/weir_stream_resample.h"
#include "weir_bench.h"

extern const weir_series_op weir_series_op_join, weir_series_op_fill_mean;

static int join(const weir_series_use *use, const weir_series *in, weir_series *out)
{
  _Alignas(16) char opts[256];
  weir_series_use both = *use;
  weir_series_result r = {.n = 0};

  weir_opts_default(weir_series_op_join.opts, weir_series_op_join.opts_size, opts);
  both.opts = opts;
  both.in = in;
  both.n_in = 2;
  bench_must(weir_series_op_join.build(&both, &r));
  memcpy(out, r.out, 2 * sizeof *out);
  return 2;
}

int query_join(const weir_series_use *use, weir_series *out)
{
  return join(use, use->in, out);
}

/* A step with the operator's own defaults. */
static weir_series step(const weir_series_use *use, const weir_series_op *op, const char *name,
                        weir_series s)
{
  _Alignas(16) char opts[256];
  weir_series_use one = *use;
  weir_series_result r = {.n = 0};

  bench_must(op->opts_size <= sizeof opts ? WEIR_OK : WEIR_ERR_MEMORY);
  weir_opts_default(op->opts, op->opts_size, opts);
  one.opts = opts;
  one.step = name;
  one.in = &s;
  one.n_in = 1;
  bench_must(op->build(&one, &r));
  return r.out[0];
}

int query_end_to_end(const weir_series_use *use, weir_series *out)
{
  weir_series s[2] = {step(use, &weir_series_op_fill_mean, "ecg_full", use->in[0]),
                      step(use, &weir_series_op_fill_mean, "abp_full", use->in[1])};

  s[1] = weir_stream_resample(use->graph, s[1], WEIR_STREAM_LINEAR, QUERY_ECG / QUERY_ABP, 1, 0);
  for (int i = 0; i < 2; i++) {
    s[i] = weir_stream_normalize(use, s[i], 60 * QUERY_ECG, false);
  }
  return join(use, s, out);
}
