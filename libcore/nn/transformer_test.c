/* transformer_test.c - counts, shapes and gradients of the network, what a patch is, refusals. */
#include "nn/weir_transformer.h"

#include "support/exec/gradient_check.h"

/* A network and its outputs. */
typedef struct subject {
  weir_transformer_opts opts;
  int64_t outputs, members;
} subject;

static weir_value build(weir_net *net, weir_value x, const void *spec)
{
  const subject *s = spec;

  return weir_transformer(net, &s->opts, s->members, s->outputs, x);
}

static subject usual(int preset, int64_t outputs)
{
  subject s = {.outputs = outputs};

  weir_opts_default(weir_transformer_options, sizeof s.opts, &s.opts);
  s.opts.preset = preset;
  return s;
}

/* Declares the network and returns the elements of its parameters. */
static int64_t declare(const subject *s, weir_array_desc in)
{
  weir_params *params;
  weir_graph *g;
  weir_net net;

  assert_ok(weir_params_create(WEIR_F32, &params));
  assert_ok(weir_graph_create(&g));
  weir_net_init(&net, g, params, true);
  const weir_value y = build(&net, weir_input(g, "x", &in), s);

  assert_ok(weir_graph_status(g));
  const weir_array_desc *out = weir_value_desc(g, y);

  assert_int_equal(out->rank, in.rank);
  assert_memory_equal(out->shape, in.shape, (size_t)(in.rank - 1) * sizeof(int64_t));
  assert_int_equal(out->shape[out->rank - 1], s->outputs);
  const int64_t elements = weir_params_elements(params);

  weir_net_fini(&net);
  weir_graph_destroy(&g);
  weir_params_destroy(&params);
  return elements;
}

/* An encoder layer of width w has 12 w^2 + 13 w parameters: BERT-large, 24 of 1024, 302.3 million.
 */
static void counts_are_those_of_the_formula(void **state)
{
  static const int64_t width[] = {32, 128, 1024}, layers[] = {2, 4, 24};

  for (int preset = 0; preset < 3; preset++) {
    subject s = usual(preset, 2);
    const int64_t w = width[preset], encoder = layers[preset] * (12 * w * w + 13 * w);
    const int64_t patch = 16 * 5 * w + w, positions = 2 * 3 * w;

    assert_true(preset < 2 || encoder == 302309376);
    assert_int_equal(declare(&s, (weir_array_desc){WEIR_F32, 4, {1, 8, 12, 5}, 0}),
                     encoder + patch + positions + 2 * w + 16 * 16 * w + 16 + 9 * (16 + 5) * 2 + 2);
    s.members = 1;
    assert_int_equal(declare(&s, (weir_array_desc){WEIR_F32, 4, {1, 8, 12, 5}, 0}),
                     2 * encoder + patch + positions + 2 * w + 16 * 16 * w + 16 + 9 * (16 + 5) * 2 +
                         2);
    s.members = 0;
    s.opts.norm_first = s.opts.skip = false;
    s.opts.position = WEIR_TRANSFORMER_NO_POSITION;
    assert_int_equal(declare(&s, (weir_array_desc){WEIR_F32, 4, {1, 8, 12, 5}, 0}),
                     encoder + patch + 16 * 2 * w + 2);
  }
}

/* In 1 to 3 dimensions, with patches of one point and of the whole extent; then of sets. */
static void gradients_are_those_of_differences(void **state)
{
  static const int64_t shape[] = {3, 4, 6};

  for (int round = 1; round <= 4; round++) {
    const bool sets = round == 4;
    const int dims = sets ? 1 : round;
    subject s = usual(WEIR_TRANSFORMER_TINY, 2);
    check_net c = {
        .build = build, .spec = &s, .seed = (uint64_t)dims, .train = true, .key = {3, dims}};

    s.members = sets ? 2 : 0;
    s.opts.width = 4;
    s.opts.layers = 1;
    s.opts.hidden = 3;
    s.opts.epsilon = 0.5;
    s.opts.dropout = dims == 2 ? 0.2 : 0;
    s.opts.features = dims;
    s.opts.norm_first = dims != 3;
    s.opts.patch = (weir_transformer_patch){.z = 3, .y = dims == 2 ? 1 : 2, .x = 3};
    s.opts.border.x = dims == 2 ? 0 : 1;
    s.opts.head_kernel = dims == 2 ? 1 : 3;
    c.in = (weir_array_desc){.rank = dims + 2, .shape = {sets ? 4 : 2}};
    memcpy(c.in.shape + 1, shape + 3 - dims, (size_t)dims * sizeof *shape);
    c.in.shape[dims + 1] = 2;
    check_open(&c);
    assert_int_equal(c.n, (s.opts.norm_first ? 21 : 19) + (sets ? 12 : 0));
    check_gradients(&c);
    check_close(&c);
  }
}

enum { ROWS = 4, COLUMNS = 6, CHANNELS = 2, ALL = ROWS * COLUMNS * CHANNELS };

/* Where element i goes when the upper left patch of 2 x 3 and the lower right one change places. */
static int moved(int i)
{
  const int row = i / (COLUMNS * CHANNELS), column = i / CHANNELS % COLUMNS;
  const bool moves = (row < 2) == (column < 3);

  return moves ? ((row + 2) % ROWS * COLUMNS + (column + 3) % COLUMNS) * CHANNELS + i % CHANNELS
               : i;
}

/* Without positions and skip, patches that change places in x do so in y, and nothing else does. */
static void patches_are_told_apart_by_position_alone(void **state)
{
  for (int position = 0; position < 2; position++) {
    subject s = usual(WEIR_TRANSFORMER_TINY, CHANNELS);
    check_net c = {.build = build, .spec = &s, .seed = 4, .train = false};
    double x[ALL], y[ALL], largest = 0;

    s.opts.width = 6;
    s.opts.patch = (weir_transformer_patch){.y = 2, .x = 3};
    s.opts.position = position;
    s.opts.skip = false;
    s.opts.layers = 1;
    c.in = (weir_array_desc){.rank = 4, .shape = {1, ROWS, COLUMNS, CHANNELS}};
    check_open(&c);
    check_run(&c);
    memcpy(x, c.x.data, sizeof x);
    memcpy(y, c.y.data, sizeof y);
    for (int i = 0; i < ALL; i++) {
      check_data(&c.x)[moved(i)] = x[i];
    }
    check_run(&c);
    for (int i = 0; i < ALL; i++) {
      largest = fmax(largest, fabs(check_data(&c.y)[moved(i)] - y[i]));
    }
    assert_true(position == WEIR_TRANSFORMER_LEARNED ? largest > 1e-3 : largest < 1e-12);
    check_close(&c);
  }
}

/* Members of a set that change places in x do so in y; one that changes alters what its set gives
 * and leaves another set as it is. */
static void members_of_a_set_are_told_apart_by_nothing(void **state)
{
  enum { MEMBERS = 3, N = 2 * MEMBERS * ALL };
  static const int member[] = {1, 2, 0, 3, 5, 4};
  subject s = usual(WEIR_TRANSFORMER_TINY, CHANNELS);
  check_net c = {.build = build, .spec = &s, .seed = 4, .train = false};
  double x[N], y[N], largest = 0, least = 1;

  s.members = MEMBERS;
  s.opts.layers = 1;
  s.opts.width = 6;
  s.opts.patch = (weir_transformer_patch){.y = 2, .x = 3};
  c.in = (weir_array_desc){.rank = 4, .shape = {2 * MEMBERS, ROWS, COLUMNS, CHANNELS}};
  check_open(&c);
  check_run(&c);
  memcpy(x, c.x.data, sizeof x);
  memcpy(y, c.y.data, sizeof y);
  for (int i = 0; i < N; i++) {
    check_data(&c.x)[i] = x[member[i / ALL] * ALL + i % ALL];
  }
  check_run(&c);
  for (int i = 0; i < N; i++) {
    largest = fmax(largest, fabs(check_data(&c.y)[i] - y[member[i / ALL] * ALL + i % ALL]));
  }
  assert_true(largest < 1e-12);
  memcpy(c.x.data, x, sizeof x);
  check_data(&c.x)[0] += 1; /* of member 0, in its first patch */
  check_run(&c);
  for (int i = 0; i < N / 2; i++) {
    least = i % CHANNELS == 0 ? fmin(least, fabs(check_data(&c.y)[i] - y[i])) : least;
  }
  assert_true(least > 1e-8);
  assert_memory_equal((double *)c.y.data + N / 2, y + N / 2, sizeof y / 2);
  check_close(&c);
}

static void refuse(const subject *s, weir_array_desc in, const char *text)
{
  in.dtype = WEIR_F32;
  assert_int_equal(check_refused(build, s, &in, text, NULL), WEIR_ERR_SHAPE);
}

static void wrong_sizes_are_refused(void **state)
{
  const weir_array_desc flat = {.rank = 4, .shape = {1, 10, 12, 3}};
  subject s = usual(WEIR_TRANSFORMER_TINY, 1);

  refuse(&s, flat,
         "patches of 4 do not divide the 10 points of dimension y: set transformer.patch.y to one "
         "of 1, 2, 5, 10");
  s.opts.patch.y = 5;
  s.opts.heads = 5;
  refuse(&s, flat,
         "5 heads do not divide the width of 32: set transformer.heads to one of 1, 2, 4");
  s.opts.heads = 2;
  s.members = 4;
  refuse(&s, (weir_array_desc){.rank = 4, .shape = {6, 10, 12, 3}},
         "6 inputs are not a multiple of 4 members: give whole sets, or 0 members");
  refuse(&s, (weir_array_desc){.rank = 2, .shape = {8, 42}}, "not of rank 2");
  refuse(&s, (weir_array_desc){.rank = 6, .shape = {1, 4, 4, 4, 4, 2}}, "not of rank 6");
}

static void options_are_complete(void **state)
{
  assert_int_equal(weir_opts_incomplete(weir_transformer_options), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counts_are_those_of_the_formula),
      cmocka_unit_test(gradients_are_those_of_differences),
      cmocka_unit_test(patches_are_told_apart_by_position_alone),
      cmocka_unit_test(members_of_a_set_are_told_apart_by_nothing),
      cmocka_unit_test(wrong_sizes_are_refused),
      cmocka_unit_test(options_are_complete),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
