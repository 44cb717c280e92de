/* backend_stream.h - a stream fed to a plan in given chunks, and its results. Tests only. */
#ifndef BACKEND_STREAM_H
#define BACKEND_STREAM_H
#include "support/exec/backend_check.h"
#include "support/exec/draw_run.h"

#define STREAM_MAX_CHUNK 40
#define STREAM_MAX_ROWS 3

/* Slots that one feed brings to all inputs, which have one rate; a gap before them is skipped. */
typedef struct stream_chunk {
  int64_t lo, hi;
} stream_chunk;

static inline weir_status stream_feed(const weir_graph *g, weir_plan *p, stream_chunk c, bool last)
{
  float data[4][STREAM_MAX_ROWS * STREAM_MAX_CHUNK];
  weir_feed feeds[4];
  int n = 0;

  for (int32_t a = 0; a < weir_graph_arrays(g); a++) {
    const weir_array *array = weir_graph_get_array(g, a);
    const int64_t slots = c.hi - c.lo, rows = draw_desc_count(&array->desc);

    if (array->kind != WEIR_ARRAY_INPUT) {
      continue;
    }
    assert_true(n < 4 && rows <= STREAM_MAX_ROWS && slots <= STREAM_MAX_CHUNK);
    for (int64_t i = 0; i < rows * slots; i++) {
      data[n][i] = draw_sample((uint32_t)a, i / slots * 100000 + c.lo + i % slots);
    }
    feeds[n] = (weir_feed){array->name, data[n], c.lo, c.hi};
    n++;
  }
  return weir_plan_feed(p, feeds, n, last);
}

/* Appends the new slots of all results, of which o has space for any number. */
static inline void stream_keep(const weir_graph *g, const weir_plan *p, draw_outcome *o)
{
  for (int32_t a = 0; a < weir_graph_arrays(g); a++) {
    const weir_array *array = weir_graph_get_array(g, a);
    int64_t lo, hi, index[WEIR_MAX_RANK] = {0};
    weir_view v;

    if (array->output == NULL) {
      continue;
    }
    assert_ok(weir_plan_result(p, array->output, &v, &lo, &hi));
    draw_keep(o, (float)lo);
    for (int64_t row = 0; row < draw_desc_count(&array->desc); row++) {
      for (int64_t s = lo; s < hi; s++) {
        assert_true(v.rank <= 2);
        index[0] = v.rank == 2 ? row : s;
        index[1] = s;
        draw_keep(o, *(const float *)weir_view_at(&v, index));
      }
    }
  }
}

/* Feeds the chunks, the last of which ends the stream, up to a failure. */
static inline weir_status stream_run(const weir_graph *g, weir_plan *p, const stream_chunk *chunks,
                                     int n, draw_outcome *o)
{
  for (int k = 0; k < n; k++) {
    WEIR_TRY(stream_feed(g, p, chunks[k], k == n - 1));
    stream_keep(g, p, o);
  }
  return WEIR_OK;
}

/* A plan for chunks of STREAM_MAX_CHUNK slots of the inputs x and y. */
static inline weir_plan *stream_plan(const weir_graph *g, const char *device)
{
  static const weir_chunk_bound bounds[] = {{"x", STREAM_MAX_CHUNK}, {"y", STREAM_MAX_CHUNK}};
  const weir_exec_cfg cfg = backend_config(device);
  weir_plan *p = NULL;

  assert_ok(weir_plan_create(g, NULL,
                             &(weir_plan_opts){.exec = &cfg, .bounds = bounds, .n_bounds = 2}, &p));
  return p;
}
#endif
