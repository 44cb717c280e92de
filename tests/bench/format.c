/* format.c - training steps written in orders of dimensions that kernels do not take, planned with
 * the pass `format`, against the same without it and against the order that a person would choose.
 *
 *   format [list]   with an argument: every group of the three plans */
#include <string.h>
#include "base/weir_log.h"
#include "support/exec/train_nets.h"
#include "exec/weir_plan.h"
#include "ops/transpose/weir_transpose.h"
#include "weir_bench.h"

enum { RUNS = 9, BATCH = 2 };

/* How a network is written down. */
typedef enum order {
  CHANNELS_LAST,  /* a person's choice: a transpose of the input alone          */
  CHANNELS_FIRST, /* everything but the convolutions, which transpose in and out */
} order;

typedef struct bench {
  train_net net;
  weir_plan *plan;
  weir_tensor x, target;
} bench;

static weir_value to_last(weir_graph *g, weir_value x)
{
  return weir_transpose(g, x, &((weir_transpose_spec){.order = {0, 2, 3, 4, 1}}));
}

static weir_value to_first(weir_graph *g, weir_value x)
{
  return weir_transpose(g, x, &((weir_transpose_spec){.order = {0, 4, 1, 2, 3}}));
}

/* Convolution of 3^3, bias, leaky ReLU. */
static weir_value block(train_net *t, order o, weir_value x, int64_t out)
{
  const weir_conv_spec s = {.pad_before = {1, 1, 1}, .pad_after = {1, 1, 1}};
  const weir_array_desc *d = weir_value_desc(t->g, x);
  const int64_t in = d != NULL ? d->shape[o == CHANNELS_LAST ? 4 : 1] : 1;
  const weir_value w = train_param(t, 5, (int64_t[]){3, 3, 3, in, out}, 0.05);
  const int64_t last[] = {1, 1, 1, 1, out}, first[] = {1, out, 1, 1, 1};
  const weir_value b = train_param(t, 5, o == CHANNELS_LAST ? last : first, 0.1);
  weir_value y = weir_conv(t->g, &s, o == CHANNELS_LAST ? x : to_last(t->g, x), w);

  y = weir_add(t->g, o == CHANNELS_LAST ? y : to_first(t->g, y), b);
  return train_leaky(t, y);
}

static weir_value pool(train_net *t, order o, weir_value x)
{
  const weir_pool_spec s = {.kernel_size = {2, 2, 2}};

  x = weir_pool_max(t->g, &s, o == CHANNELS_LAST ? x : to_last(t->g, x));
  return o == CHANNELS_LAST ? x : to_first(t->g, x);
}

/* Input [n, c, z, y, x]; blocks and pools, a skip, a head of one channel. */
static void make_cnn(train_net *t, order o, int64_t side, int64_t channels)
{
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = 5, .shape = {BATCH, 4, side, side, side}};
  weir_value x = weir_input(t->g, "x", &d);

  x = o == CHANNELS_LAST ? to_last(t->g, x) : x;
  x = block(t, o, x, channels);
  const weir_value skip = x;

  x = block(t, o, x, channels);
  x = weir_add(t->g, x, skip);
  x = pool(t, o, x);
  x = block(t, o, x, 2 * channels);
  x = block(t, o, x, 1);
  train_finish(t, o == CHANNELS_LAST ? to_first(t->g, x) : x);
}

/* Heads [n, heads, positions, each] by transposes of [n, positions, heads each], scores head by
 * head with the heads' number last, as a person writes them who thinks of positions first. */
static void make_attention(train_net *t, order o, int64_t positions, int64_t width)
{
  const int64_t heads = 8, each = width / heads, n = BATCH;
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = 3, .shape = {n, positions, width}};
  const weir_value x = weir_input(t->g, "x", &d);
  weir_value projected[3];

  for (int k = 0; k < 3; k++) {
    const weir_value w = train_param(t, 3, (int64_t[]){width, heads, each}, 0.05);

    if (o == CHANNELS_LAST) {
      projected[k] = weir_contract(t->g, "nsi,ihe->nhse", x, w);
    } else { /* [n, s, h, e], and the head's elements outside the positions */
      projected[k] = weir_contract(t->g, "nsi,ihe->nshe", x, w);
      projected[k] =
          weir_transpose(t->g, projected[k], &((weir_transpose_spec){.order = {0, 2, 3, 1}}));
    }
  }
  const bool last = o == CHANNELS_LAST;
  weir_value score = last ? weir_contract(t->g, "nhse,nhte->nhst", projected[0], projected[1])
                          : weir_contract(t->g, "nhes,nhet->nhst", projected[0], projected[1]);
  score = weir_tanh(t->g, weir_scale(t->g, score, 0.1));
  const weir_value y = last ? weir_contract(t->g, "nhst,nhte->nshe", score, projected[2])
                            : weir_contract(t->g, "nhst,nhet->nshe", score, projected[2]);

  train_finish(t, y);
}

/* Statistics and a chain over channels where every second step is written the other way. */
static void make_fields(train_net *t, order o, int64_t side, int64_t channels)
{
  const weir_array_desc d = {
      .dtype = WEIR_F32, .rank = 5, .shape = {BATCH, side, side, side, channels}};
  weir_value x = weir_input(t->g, "x", &d);

  for (int k = 0; k < 3; k++) {
    const int64_t last[] = {1, 1, 1, 1, channels}, first[] = {1, channels, 1, 1, 1};

    x = weir_add(t->g, x, train_param(t, 5, last, 0.1));
    x = o == CHANNELS_LAST ? x : to_first(t->g, x);
    x = weir_mul(t->g, x, train_param(t, 5, o == CHANNELS_LAST ? last : first, 1));
    x = o == CHANNELS_LAST ? x : to_last(t->g, x);
    x = weir_tanh(t->g, weir_sub(t->g, x, weir_scale(t->g, weir_sum(t->g, x, -1), 1e-6)));
  }
  train_finish(t, x);
}

typedef void (*network)(train_net *t, order o, int64_t side, int64_t width);

static weir_tensor input(const weir_graph *g, const char *name)
{
  weir_tensor t = {0};

  for (int32_t a = 0; a < weir_graph_arrays(g); a++) {
    const weir_array *array = weir_graph_get_array(g, a);

    if (array->kind == WEIR_ARRAY_INPUT && strcmp(array->name, name) == 0) {
      bench_must(weir_tensor_init(&t, WEIR_F32, array->desc.rank, array->desc.shape));
      for (int64_t i = 0; i < weir_tensor_numel(&t); i++) {
        ((float *)t.data)[i] = (float)(2 * weir_random_uniform(5, 0, 0, (uint64_t)i) - 1);
      }
    }
  }
  return t;
}

static void make(bench *b, network n, order o, int64_t side, int64_t width, const char *skip)
{
  weir_exec_cfg cfg;

  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.skip = skip;
  cfg.explain = true;
  bench_must(train_begin(&b->net));
  n(&b->net, o, side, width);
  bench_must(b->net.status);
  bench_must(weir_graph_status(b->net.g));
  const double start = weir_clock();

  bench_must(weir_plan_create(b->net.g, b->net.store, &(weir_plan_opts){.exec = &cfg, .threads = 1},
                              &b->plan));
  fprintf(stderr, "plan %.3f s, %d groups\n", weir_clock() - start, weir_plan_groups(b->plan));
  b->x = input(b->net.g, "x");
  b->target = input(b->net.g, "target");
}

static void run(void *context)
{
  bench *b = context;
  const weir_binding bindings[] = {{"x", &b->x}, {"target", &b->target}};

  bench_must(weir_plan_run(b->plan, bindings, 2));
}

static void finish(bench *b)
{
  weir_plan_destroy(&b->plan);
  train_fini(&b->net);
  weir_tensor_fini(&b->x);
  weir_tensor_fini(&b->target);
}

static void list(const bench *b, const char *title)
{
  printf("%s\n", title);
  for (int32_t i = 0; i < weir_plan_groups(b->plan); i++) {
    const weir_group_report r = weir_plan_group(b->plan, i);

    printf("  %8.1f us %8.2f MB  %-20s %s\n", r.measured_s * 1e6, r.bytes * 1e-6, r.kernel,
           r.members);
  }
}

static void compare(const char *work, network n, int64_t side, int64_t width, bool listed)
{
  bench with, without, hand;
  double seconds[2], best[2];

  make(&with, n, CHANNELS_FIRST, side, width, "");
  make(&without, n, CHANNELS_FIRST, side, width, "layout");
  make(&hand, n, CHANNELS_LAST, side, width, "layout");
  bench_best_pair(RUNS, run, &without, run, &with, seconds);
  bench_best_pair(RUNS, run, &hand, run, &with, best);
  bench_row(work, "without the pass", seconds[0], seconds[1], "s", 0, 1);
  bench_row(work, "order chosen by hand", best[0], best[1], "s", 0, 0);
  if (listed) {
    list(&with, "with the pass");
    list(&without, "without");
    list(&hand, "by hand");
  }
  finish(&with);
  finish(&without);
  finish(&hand);
}

int main(int argc, char **argv)
{
  const bool listed = argc > 1;

  (void)argv;
  (void)bench_pin();
  weir_log_set_level(WEIR_LOG_WARN);
  compare("network channels first", make_cnn, 32, 16, listed);
  compare("attention places first", make_attention, 256, 128, listed);
  compare("fields both ways", make_fields, 32, 16, listed);
  return 0;
}
