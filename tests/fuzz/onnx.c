/* onnx.c - fuzz target: ONNX models, and the graphs that are built of them. What a model says lies
 * in its bytes; a graph is built of whatever input it states. */
#include <stdlib.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "io/onnx/onnx_priv.h"
#include "nn/onnx/weir_onnx_graph.h"
#include "weir_fuzz.h"

enum { MOST = 1 << 16 };

static int64_t reached;

int64_t weir_fuzz_reached(void)
{
  return reached;
}

static void check_tensors(const weir_onnx *m, const uint8_t *data, size_t size)
{
  for (int64_t k = 0; k < m->n_tensors; k++) {
    const weir_onnx_tensor *const t = &m->tensors[k];

    if (t->count < 0 || t->count > (int64_t)size ||
        (t->count > 0 && (t->data < data || t->end > data + size))) {
      abort();
    }
    void *const out = malloc((size_t)t->count * sizeof(int64_t) + 1);

    if (weir_dtype_is_real(t->dtype)) {
      weir_onnx_floats(t, out);
    } else {
      weir_onnx_ints(t, out);
    }
    free(out);
  }
}

/* An input of one window, of 64 samples where the model leaves that open. */
static weir_value add_input(weir_graph *g, const weir_onnx_value *input, int number)
{
  weir_array_desc d = {.dtype = WEIR_F32, .rank = input->n_dims, .shape = {1}};
  const char name[] = {'x', (char)('0' + number), '\0'};

  for (int k = 1; k < d.rank; k++) {
    const int64_t extent = input->shape[d.rank == 3 ? 3 - k : k];

    d.shape[k] = extent < 0 ? 64 : extent < MOST ? extent : MOST;
  }
  return weir_input(g, name, &d);
}

/* The graph of one window. */
static void build(const weir_onnx *m, weir_onnx_states *states)
{
  weir_value x[WEIR_ONNX_INPUTS], y = WEIR_NO_VALUE;
  weir_onnx_inputs inputs;
  weir_graph *g = NULL;

  if (weir_onnx_find_inputs(m, "fuzz", states, &inputs) != WEIR_OK ||
      weir_graph_create(&g) != WEIR_OK) {
    return;
  }
  for (int k = 0; k < inputs.n; k++) {
    x[k] = add_input(g, inputs.at[k], k);
  }
  reached += weir_onnx_build(g, m, "fuzz", states, x, &y) == WEIR_OK;
  weir_graph_destroy(&g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const int64_t before = weir_alloc_bytes();
  weir_onnx m;

  weir_log_set_level(WEIR_LOG_ERROR);
  const weir_status status = weir_onnx_parse(data, (int64_t)size, "fuzz", &m);

  if (status == WEIR_OK) {
    check_tensors(&m, data, size);
    static const char *const first[] = {"past", "h0", "c0"}, *const last[] = {"present", "hn",
                                                                              "cn"};
    weir_onnx_states carried = {
        .carry = true, .in = first, .out = last, .n_named = m.n_outputs > 1 ? 3 : 0};

    build(&m, NULL);
    build(&m, &carried);
    weir_onnx_states_fini(&carried);
  } else if (status != WEIR_ERR_DATA && status != WEIR_ERR_UNSUPPORTED) {
    abort();
  }
  weir_onnx_fini(&m);
  if (weir_alloc_bytes() != before) {
    abort();
  }
  return 0;
}
