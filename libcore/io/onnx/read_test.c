/* read_test.c - a file that PyTorch wrote, what must be refused, and bytes that are missing. */
#include <stdlib.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "io/io_priv.h"
#include "io/onnx/onnx_priv.h"
#include "support/io/onnx_make.h"

static void files_of_pytorch_are_read(void **state)
{
  weir_onnx m;
  float w[64];

  assert_ok(weir_onnx_read(WEIR_SOURCE_DIR "/tests/fuzz/seeds/onnx/rhythm20.onnx", &m));
  assert_int_equal(m.opset, 20);
  assert_true(weir_onnx_is(m.producer, "pytorch"));
  assert_int_equal(m.n_nodes, 10);
  assert_int_equal(m.n_initializers, 11);
  assert_int_equal(m.n_inputs, 1);
  assert_int_equal(m.inputs[0].n_dims, 3);
  assert_int_equal(m.inputs[0].shape[2], 48);
  const weir_onnx_node *const first = &m.nodes[0];

  assert_true(weir_onnx_is(first->op, "Conv"));
  assert_int_equal(first->n_in, 3);
  assert_int_equal(weir_onnx_find(&m, first, "pads")->n_ints, 2);
  assert_int_equal(weir_onnx_find(&m, first, "pads")->ints[1], 3);
  assert_int_equal(weir_onnx_find(&m, first, "group")->number, 1);
  assert_null(weir_onnx_find(&m, first, "padding"));
  const weir_onnx_tensor *const t = &m.tensors[0];

  assert_true(weir_onnx_same(t->name, m.names[first->first_name + 1]));
  assert_int_equal(t->count, 21);
  weir_onnx_floats(t, w);
  assert_near((double)w[0], -0.372, 0.38); /* uniform within 1 / sqrt(7) */
  weir_onnx_fini(&m);
}

/* Every part of a file, and nothing: a failure that says so, and no memory. */
static void files_that_end_early_are_refused(void **state)
{
  static const char *const files[] = {"rhythm17", "blocks20"};
  const int64_t before = weir_alloc_bytes();

  for (int k = 0; k < 2; k++) {
    char path[512], *bytes = NULL;
    int64_t size = 0;
    weir_onnx m;

    (void)snprintf(path, sizeof path, "%s/tests/fuzz/seeds/onnx/%s.onnx", WEIR_SOURCE_DIR,
                   files[k]);
    assert_ok(weir_io_read(path, 1 << 20, &bytes, &size));
    int64_t whole = 0;

    for (int64_t n = 0; n < size; n++) {
      const weir_status status = weir_onnx_parse(bytes, n, "part", &m);

      assert_true(status == WEIR_OK || status == WEIR_ERR_DATA);
      whole += status == WEIR_OK;
      weir_onnx_fini(&m);
    }
    assert_true(whole <= 2); /* cut after the graph, or after a field that is not needed */
    weir_free(&bytes);
  }
  assert_int_equal(weir_alloc_bytes(), before);
}

static void assert_parse(const onnx_made *m, weir_status status, const char *text)
{
  weir_onnx out;

  assert_int_equal(weir_onnx_parse(m->bytes, (int64_t)m->size, "made", &out), status);
  weir_onnx_fini(&out);
  if (strstr(weir_last_message(), text) == NULL) {
    fail_msg("\"%s\" does not say \"%s\"", weir_last_message(), text);
  }
}

/* A graph with one tensor. */
static void assert_tensor(const onnx_made *t, weir_status status, const char *text)
{
  onnx_made graph = {.size = 0};

  onnx_put_message(&graph, 5, t);
  const onnx_made m = onnx_make_model(&graph, 17);

  assert_parse(&m, status, text);
}

static void tensors_are_as_long_as_they_say(void **state)
{
  const float x[] = {1, 2, 3};
  const int64_t two = 2, huge[] = {INT64_C(1) << 40, INT64_C(1) << 40}, minus = -3;
  onnx_made t = onnx_make_floats("w", 1, &two, x, 3);

  assert_tensor(&t, WEIR_ERR_DATA, "as many elements as its shape states");
  t = onnx_make_floats("w", 2, huge, x, 3);
  assert_tensor(&t, WEIR_ERR_DATA, "overflowing extent");
  t = onnx_make_floats("w", 1, &minus, x, 3);
  assert_tensor(&t, WEIR_ERR_DATA, "negative or overflowing extent");
  t = onnx_make_floats("w", 1, &two, x, 2);
  onnx_put_bytes(&t, 4, x, 8);
  assert_tensor(&t, WEIR_ERR_DATA, "elements twice");
}

static void what_is_not_supported_is_named(void **state)
{
  const float x[] = {1};
  const int64_t one = 1;
  onnx_made entry = {.size = 0}, t = onnx_make_floats("w", 1, &one, x, 1);

  onnx_put_text(&entry, 1, "location");
  onnx_put_message(&t, 13, &entry);
  assert_tensor(&t, WEIR_ERR_UNSUPPORTED, "tensor \"w\": its data are in another file");
  t.size = 0;
  onnx_put_text(&t, 8, "h");
  onnx_put_int(&t, 2, 10);
  assert_tensor(&t, WEIR_ERR_UNSUPPORTED, "tensor \"h\": elements of TensorProto type 10");

  onnx_made graph = {.size = 0}, m = {.size = 0};

  onnx_put_message(&graph, 15, &t);
  m = onnx_make_model(&graph, 17);
  assert_parse(&m, WEIR_ERR_UNSUPPORTED, "sparse tensors");
  graph.size = 0;
  m = onnx_make_model(&graph, 17);
  onnx_put_message(&m, 25, &graph);
  assert_parse(&m, WEIR_ERR_UNSUPPORTED, "functions");
}

static void malformed_messages_are_refused(void **state)
{
  onnx_made graph = {.size = 0}, node = {.size = 0}, m = {.size = 0};

  assert_parse(&m, WEIR_ERR_DATA, "there is no graph");
  onnx_put_text(&node, 3, "two\nlines");
  onnx_put_message(&graph, 1, &node);
  m = onnx_make_model(&graph, 17);
  assert_parse(&m, WEIR_ERR_DATA, "control characters");
  graph.size = 0;
  m = onnx_make_model(&graph, 17);
  onnx_put_message(&m, 7, &graph);
  assert_parse(&m, WEIR_ERR_DATA, "a second graph");
  m.size = 0;
  onnx_put_int(&m, 7, 3);
  assert_parse(&m, WEIR_ERR_DATA, "another type");
  m.size = 0;
  onnx_put_varint(&m, 3);
  assert_parse(&m, WEIR_ERR_DATA, "no field of protobuf");
}

static void integers_have_their_sign(void **state)
{
  const int64_t want[] = {-1, 0, INT64_MIN, 5};
  onnx_made graph = {.size = 0}, t = onnx_make_ints("s", want, 4);
  int64_t got[4];
  weir_onnx m;

  onnx_put_message(&graph, 5, &t);
  t = onnx_make_model(&graph, 13);
  assert_ok(weir_onnx_parse(t.bytes, (int64_t)t.size, "made", &m));
  weir_onnx_ints(&m.tensors[0], got);
  assert_memory_equal(got, want, sizeof want);
  weir_onnx_fini(&m);
}

static void put_entry(onnx_made *model, const char *key, const char *value)
{
  onnx_made entry = {.size = 0};

  onnx_put_text(&entry, 1, key);
  onnx_put_text(&entry, 2, value);
  onnx_put_message(model, 14, &entry);
}

/* In order; one that is no line of text is left out. */
static void metadata_are_read(void **state)
{
  onnx_made graph = {.size = 0}, model = onnx_make_model(&graph, 17);
  weir_onnx m;

  put_entry(&model, "rate", "128");
  put_entry(&model, "json", "{\n}");
  put_entry(&model, "empty", "");
  assert_ok(weir_onnx_parse(model.bytes, (int64_t)model.size, "made", &m));
  assert_int_equal(m.n_metadata, 2);
  assert_true(weir_onnx_is(m.metadata[0].key, "rate") && weir_onnx_is(m.metadata[0].value, "128"));
  assert_true(weir_onnx_is(m.metadata[1].key, "empty") && weir_onnx_is(m.metadata[1].value, ""));
  weir_onnx_fini(&m);
  onnx_put_int(&model, 14, 1);
  assert_parse(&model, WEIR_ERR_DATA, "a field has another type");
}

static void every_allocation_may_fail(void **state)
{
  const char *path = WEIR_SOURCE_DIR "/tests/fuzz/seeds/onnx/rhythm20.onnx";
  const int64_t before = weir_alloc_bytes();
  weir_onnx m;
  int64_t k = 1;

  for (;; k++) {
    weir_alloc_fail_after(k);
    const weir_status status = weir_onnx_read(path, &m);

    weir_alloc_fail_after(0);
    weir_onnx_fini(&m);
    if (status == WEIR_OK) {
      break;
    }
    assert_int_equal(status, WEIR_ERR_MEMORY);
  }
  assert_true(k > 6);
  assert_int_equal(weir_alloc_bytes(), before);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(files_of_pytorch_are_read),
      cmocka_unit_test(files_that_end_early_are_refused),
      cmocka_unit_test(tensors_are_as_long_as_they_say),
      cmocka_unit_test(what_is_not_supported_is_named),
      cmocka_unit_test(malformed_messages_are_refused),
      cmocka_unit_test(integers_have_their_sign),
      cmocka_unit_test(metadata_are_read),
      cmocka_unit_test(every_allocation_may_fail),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
