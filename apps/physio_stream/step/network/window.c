/* window.c - the calls of the step `network`: its network on each window of a chunk. */
#include <math.h>
#include <string.h>
#include "step/network/network_priv.h"

/* Copies the window that begins at slot `from`: signals are rows of the stream, columns of x of the
 * input that has them. */
static void take_window(const ps_network *n, const weir_view *v, int64_t from)
{
  int64_t first = 0; /* row of the input */

  for (int j = 0; j < n->n_inputs; j++) {
    const int64_t signals = n->signals[j];
    float *const x = n->x[j].data;

    for (int64_t k = 0; k < signals; k++) {
      const float *const row = weir_view_at(v, (const int64_t[]){first + k, from});

      for (int64_t i = 0; i < n->size; i++) {
        x[i * signals + k] = row[i];
      }
    }
    first += signals;
  }
}

/* ---- State from window to window ---- */

/* In the store. A window that a call ends within is run again by the next call, so that the state
 * before it is kept too. */
typedef struct progress {
  int64_t windows; /* 1 + number of the last window with a result; 0: none */
  float state[];   /* [2, numbers]: before that window, and after it */
} progress;

int64_t ps_network_state_bytes(const ps_network *n)
{
  return (int64_t)sizeof(progress) + 2 * n->states.numbers * (int64_t)sizeof(float);
}

/* The state that window j begins with. */
static const float *find_state(const ps_network *n, const progress *p, int64_t j)
{
  if (p->windows == j + 1) {
    return p->state;
  }
  return p->windows > 0 && j - p->windows <= n->max_missing ? p->state + n->states.numbers
                                                            : n->states.initial;
}

static void keep_state(const ps_network *n, const float *before, int64_t j, progress *p)
{
  float *const after = p->state + n->states.numbers;

  if (before != p->state) {
    memcpy(p->state, before, (size_t)n->states.numbers * sizeof *before);
  }
  for (int k = 0; k < n->states.n; k++) {
    const weir_onnx_state *const s = &n->states.state[k];

    memcpy(after + s->at, n->last[k].data, (size_t)s->count * sizeof *after);
  }
  p->windows = j + 1;
}

/* ---- A window ---- */

static bool all_finite(const weir_tensor *t)
{
  const float *const v = t->data;
  const int64_t n = weir_tensor_numel(t);
  bool finite = true;

  for (int64_t i = 0; i < n; i++) {
    finite = finite && isfinite(v[i]);
  }
  return finite;
}

/* Runs the plan on the window in n->x from that state, NULL: there is none; *made: whether all is
 * finite. */
static weir_status run_plan(const ps_network *n, const float *before, bool *made)
{
  weir_tensor x[WEIR_ONNX_INPUTS], y = n->y, first[WEIR_ONNX_STATES], last[WEIR_ONNX_STATES];
  weir_binding b[1 + WEIR_ONNX_INPUTS + 2 * WEIR_ONNX_STATES] = {{"y", &y}};
  int count = 1;

  for (int k = 0; k < n->n_inputs; k++) {
    x[k] = n->x[k];
    b[count++] = (weir_binding){n->input[k], &x[k]};
  }
  for (int k = 0; k < n->states.n; k++) {
    const weir_onnx_state *const s = &n->states.state[k];

    first[k] = n->first[k];
    last[k] = n->last[k];
    memcpy(first[k].data, before + s->at, (size_t)s->count * sizeof *before);
    b[count++] = (weir_binding){s->first, &first[k]};
    b[count++] = (weir_binding){s->last, &last[k]};
  }
  WEIR_TRY(weir_plan_run(n->plan, b, count));
  *made = all_finite(&n->y);
  for (int k = 0; k < n->states.n; k++) {
    *made = *made && all_finite(&n->last[k]);
  }
  return WEIR_OK;
}

/* Runs the network on window j, which begins at slot `from`; *made: whether it has a result, which
 * is where all samples are there and all numbers finite. */
static weir_status run_network(const ps_network *n, const weir_op_run *run, int64_t j, int64_t from,
                               bool *made)
{
  progress *const p = n->states.n > 0 ? run->in[PS_NETWORK_STATE].data : NULL;
  const float *const before = p != NULL ? find_state(n, p, j) : NULL;

  *made = from >= 0 && from + n->size <= run->in[PS_NETWORK_PRESENT].extent[0] &&
          weir_gap_count(weir_gap_flag(&run->in[PS_NETWORK_PRESENT], from), n->size) == n->size;
  if (!*made) {
    return WEIR_OK;
  }
  take_window(n, &run->in[PS_NETWORK_VALUES], from);
  WEIR_TRY(run_plan(n, before, made));
  if (*made && p != NULL) {
    keep_state(n, before, j, p);
  }
  return WEIR_OK;
}

/* Writes the results of slots [lo, hi), those of the samples from `first` on of y. */
static void put(const ps_network *n, const weir_op_run *run, int64_t lo, int64_t hi, int64_t first,
                bool made)
{
  const float *const y = n->y.data;

  for (int64_t k = 0; k < n->numbers; k++) {
    float *const out = weir_view_at(&run->out[0], (const int64_t[]){k, lo});

    for (int64_t i = 0; i < hi - lo; i++) {
      out[i] = made ? y[k * n->length + first + i] : 0;
    }
  }
  memset(weir_gap_flag(&run->out[1], lo), made, (size_t)(hi - lo));
}

/* Slot j: the window that ends with hop j. */
weir_status ps_network_call_windows(void *context, const weir_op_run *run)
{
  const ps_network *const n = context;
  bool made = false;

  for (int64_t j = run->box.lo[0]; j < run->box.hi[0]; j++) {
    WEIR_TRY(run_network(n, run, j, (j + 1) * n->hop - n->size, &made));
    put(n, run, j, j + 1, 0, made);
  }
  return WEIR_OK;
}

/* Slots of hop j: the middle of a window, `before` samples after its begin. */
weir_status ps_network_call_samples(void *context, const weir_op_run *run)
{
  const ps_network *const n = context;
  const int64_t before = (n->size - n->hop) / 2;
  bool made = false;

  for (int64_t t = run->box.lo[0], end; t < run->box.hi[0]; t = end) {
    const int64_t begin = t / n->hop * n->hop, from = begin - before;

    end = begin + n->hop < run->box.hi[0] ? begin + n->hop : run->box.hi[0];
    WEIR_TRY(run_network(n, run, t / n->hop, from, &made));
    put(n, run, t, end, t - from, made);
  }
  return WEIR_OK;
}
