/* median.c - the median of a window, by selection: Hoare's quickselect with the middle of three. */
#include "aggregate_priv.h"
#include "base/weir_alloc.h"
#include "stream/weir_gap.h"

typedef struct lengths {
  int64_t window, hop;
} lengths;

static void swap(float *x, int64_t i, int64_t j)
{
  const float kept = x[i];

  x[i] = x[j];
  x[j] = kept;
}

/* The k-th smallest of x[0 .. n - 1]; those before it are no larger afterwards. */
static float select_at(float *x, int64_t n, int64_t k)
{
  int64_t lo = 0, hi = n - 1;

  while (lo < hi) {
    const float a = x[lo], b = x[lo + (hi - lo) / 2], c = x[hi];
    const float middle = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
    int64_t i = lo, j = hi;

    while (i <= j) {
      for (; x[i] < middle; i++) {
      }
      for (; x[j] > middle; j--) {
      }
      if (i <= j) {
        swap(x, i++, j--);
      }
    }
    if (k <= j) {
      hi = j;
    } else if (k >= i) {
      lo = i;
    } else {
      break;
    }
  }
  return x[k];
}

static float median(float *x, int64_t n)
{
  const float upper = select_at(x, n, n / 2);
  float lower = x[0];

  if (n % 2 == 1) {
    return upper;
  }
  for (int64_t i = 1; i < n / 2; i++) {
    lower = x[i] > lower ? x[i] : lower;
  }
  return (float)(((double)lower + (double)upper) / 2);
}

/* NaN makes the median NaN. */
static float of_window(const weir_op_run *run, int64_t lo, int64_t hi, float *scratch)
{
  const uint8_t *present = weir_gap_flag(&run->in[0], lo);
  const float *x = weir_gap_value(&run->in[1], lo);
  int64_t n = 0;

  for (int64_t i = 0; i < hi - lo; i++) {
    if (present[i] != 0) {
      scratch[n] = x[i];
      if (scratch[n] != scratch[n]) {
        return scratch[n];
      }
      n++;
    }
  }
  return n > 0 ? median(scratch, n) : 0;
}

static weir_status run_median(void *context, const weir_op_run *run)
{
  const lengths *w = context;
  const int64_t end = run->in[0].extent[0];
  float *scratch = run->in[2].data;

  for (int64_t t = run->box.lo[0]; t < run->box.hi[0]; t++) {
    const int64_t stop = t + w->hop < end ? t + w->hop : end;
    const int64_t first = t + w->hop - w->window;

    *weir_gap_value(&run->out[0], t) =
        t % w->hop == 0 ? of_window(run, first > 0 ? first : 0, stop, scratch) : 0;
  }
  return WEIR_OK;
}

weir_value aggregate_median(const weir_series_use *use, weir_series s, int64_t window, int64_t hop)
{
  weir_graph *g = use->graph;
  void *memory = NULL;
  char name[128];

  (void)snprintf(name, sizeof name, "%s.median", use->step);
  weir_status status = weir_series_keep(use, sizeof(lengths), NULL, &memory);

  if (status == WEIR_OK) {
    status = weir_store_add(use->store, name, WEIR_F32, 1, &window);
  }
  if (status != WEIR_OK) {
    return weir_graph_fail(g, status);
  }
  *(lengths *)memory = (lengths){window, hop};
  const weir_value in[] = {s.present, s.value, weir_stored(g, use->store, name)};
  const weir_call_spec spec = {
      .name = "median",
      .function = run_median,
      .context = memory,
      .n_out = 1,
      .out = {{.dtype = WEIR_F32, .rank = 1, .shape = {WEIR_UNBOUNDED}, .time = 1}},
      .behind = {window - hop, window - hop},
      .ahead = {hop - 1, hop - 1},
      .presence = 1,
      .settle = window};

  weir_in_place(g, in[2]);
  return weir_call(g, &spec, in, 3);
}
