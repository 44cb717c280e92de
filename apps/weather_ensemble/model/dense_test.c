/* dense_test.c - the fully connected network by its formula: layers of x and the embedding one
 * after the other, at every position, for any number of layers and dimensions. */
#include "model/dense.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "exec/weir_plan.h"

enum { MOST = 64, CHANNELS = 3, OUTPUTS = 2 };

typedef struct shape {
  int rank; /* of x */
  int64_t length[WEIR_MAX_RANK], positions;
} shape;

static const shape shapes[] = {{4, {2, 1, 5, CHANNELS}, 5},
                               {4, {1, 3, 2, CHANNELS}, 6},
                               {5, {2, 2, 1, 3, CHANNELS}, 6},
                               {4, {3, 1, 1, CHANNELS}, 1}};
static int64_t none[1], one[] = {5}, two[] = {4, 3};
static const weir_int_list lists[] = {{none, 0}, {one, 1}, {two, 2}};

static double number(const weir_params *p, const weir_tensor *flat, const char *name, int64_t i)
{
  const int64_t row = weir_params_find(p, name);

  assert_true(row >= 0 && i < weir_params_get(p, row)->count);
  return (double)((const float *)flat->data)[weir_params_get(p, row)->first + i];
}

/* y[OUTPUTS] of x[CHANNELS] at a position, in double: x and the embedding as one vector. */
static void by_hand(const wx_dense_opts *o, const weir_params *p, const weir_tensor *flat,
                    const float *x, int64_t position, double *y)
{
  double in[MOST] = {0}, out[MOST];
  int64_t n = CHANNELS + o->embedding;

  for (int64_t c = 0; c < n; c++) {
    in[c] = c < CHANNELS ? (double)x[c]
                         : number(p, flat, "embedding", position * o->embedding + c - CHANNELS);
  }
  for (int64_t k = 0; k <= o->units.count; k++) {
    const bool last = k == o->units.count;
    const int64_t units = last ? OUTPUTS : o->units.items[k];
    char weight[32], bias[32];

    (void)snprintf(weight, sizeof weight, last ? "output/weight" : "hidden%d/weight", (int)k + 1);
    (void)snprintf(bias, sizeof bias, last ? "output/bias" : "hidden%d/bias", (int)k + 1);
    for (int64_t u = 0; u < units; u++) {
      out[u] = number(p, flat, bias, u);
      for (int64_t c = 0; c < n; c++) {
        const bool embedded = k == 0 && c >= CHANNELS;

        out[u] += in[c] * (embedded ? number(p, flat, "embedded/weight", (c - CHANNELS) * units + u)
                                    : number(p, flat, weight, c * units + u));
      }
      out[u] = last ? out[u] : fmax(0, out[u]);
    }
    memcpy(in, out, sizeof in);
    n = units;
  }
  memcpy(y, in, OUTPUTS * sizeof *y);
}

static void check(const shape *is, const wx_dense_opts *o)
{
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = is->rank};
  weir_array_desc x_desc = d;
  weir_params *params = NULL;
  weir_store *store = NULL;
  weir_tensor x, y, *flat = NULL;
  int64_t length[WEIR_MAX_RANK];
  weir_exec_cfg exec;

  memcpy(x_desc.shape, is->length, sizeof x_desc.shape);
  memcpy(length, is->length, sizeof length);
  assert_ok(weir_tensor_init(&x, WEIR_F32, is->rank, length));
  length[is->rank - 1] = OUTPUTS;
  assert_ok(weir_tensor_init(&y, WEIR_F32, is->rank, length));
  for (int64_t i = 0; i < is->length[0] * is->positions * CHANNELS; i++) {
    ((float *)x.data)[i] = (float)(2 * weir_random_uniform(9, 1, 0, (uint64_t)i) - 1);
  }
  assert_ok(weir_params_create(WEIR_F32, &params));
  assert_ok(weir_store_create(&store));
  for (int twice = 0; twice < 2; twice++) {
    weir_graph *g = NULL;
    weir_plan *plan = NULL;
    weir_net net;

    assert_ok(weir_graph_create(&g));
    weir_net_init(&net, g, params, false);
    weir_output(g, "y", wx_dense(&net, o, OUTPUTS, weir_input(g, "x", &x_desc)));
    assert_ok(weir_graph_status(g));
    weir_net_fini(&net);
    if (twice == 0) {
      assert_ok(weir_params_seal(params, store));
      assert_ok(weir_store_write(store, WEIR_PARAMS_FLAT, &flat));
      for (int64_t i = 0; i < weir_params_elements(params); i++) {
        ((float *)flat->data)[i] = (float)(2 * weir_random_uniform(9, 2, 0, (uint64_t)i) - 1);
      }
    } else {
      weir_opts_default(weir_exec_opts, sizeof exec, &exec);
      assert_ok(weir_plan_create(g, store, &(weir_plan_opts){.exec = &exec}, &plan));
      assert_ok(weir_plan_run(plan, (const weir_binding[]){{"x", &x}, {"y", &y}}, 2));
      weir_plan_destroy(&plan);
    }
    weir_graph_destroy(&g);
  }
  for (int64_t i = 0; i < is->length[0] * is->positions; i++) {
    double wanted[OUTPUTS];

    by_hand(o, params, flat, (const float *)x.data + i * CHANNELS, i % is->positions, wanted);
    for (int64_t c = 0; c < OUTPUTS; c++) {
      assert_true(fabs((double)((float *)y.data)[i * OUTPUTS + c] - wanted[c]) < 1e-5);
    }
  }
  assert_int_equal(weir_params_find(params, "embedding") >= 0, o->embedding > 0);
  weir_tensor_fini(&x);
  weir_tensor_fini(&y);
  weir_params_destroy(&params);
  weir_store_destroy(&store);
}

static void layers_are_those_of_the_formula(void **state)
{
  (void)state;
  for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
    for (size_t l = 0; l < sizeof lists / sizeof lists[0]; l++) {
      for (int64_t embedding = 0; embedding < 4; embedding += 2) {
        check(&shapes[s], &(wx_dense_opts){.units = lists[l], .embedding = embedding});
      }
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(layers_are_those_of_the_formula)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
