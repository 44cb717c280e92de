/* network_test.c - heads and losses of the networks on two and three dimensions; the roughness of
 * local weights by hand. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "support/graph/store_check.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "exec/weir_plan.h"
#include "model/network.h"
#include "model/roughness.h"

static weir_value input(weir_graph *g, const char *name, int64_t channels, int rank)
{
  const weir_array_desc flat = {.dtype = WEIR_F32, .rank = 4, .shape = {2, 4, 6, channels}};
  const weir_array_desc deep = {.dtype = WEIR_F32, .rank = 5, .shape = {2, 2, 4, 6, channels}};

  return weir_input(g, name, rank == 2 ? &flat : &deep);
}

static weir_value members_of(weir_graph *g, int rank)
{
  const weir_array_desc flat = {.dtype = WEIR_F32, .rank = 5, .shape = {2, 3, 4, 6, 2}};
  const weir_array_desc deep = {.dtype = WEIR_F32, .rank = 6, .shape = {2, 3, 2, 4, 6, 2}};

  return weir_input(g, WX_MEMBERS_NAME, rank == 2 ? &flat : &deep);
}

static const struct {
  int head, loss;
  bool of_spread;
} fitting[] = {{WX_HEAD_MEAN, WX_LOSS_MSE, false},    {WX_HEAD_MEAN, WX_LOSS_MAE, false},
               {WX_HEAD_GAUSS, WX_LOSS_CRPS, false},  {WX_HEAD_SPREAD, WX_LOSS_CRPS, false},
               {WX_HEAD_SPREAD, WX_LOSS_MSE, true},   {WX_HEAD_SPREAD, WX_LOSS_MAE, true},
               {WX_HEAD_MEMBERS, WX_LOSS_CRPS, false}};
enum { FITTING = sizeof fitting / sizeof fitting[0] };

/* A U-Net, parallel convolutions, and a transformer with the members as tokens. */
enum { NETWORKS = 3, WX_TRANSFORMER_OF_MEMBERS = 2 };
static wx_model_opts options(int number, int k)
{
  static const int net[NETWORKS] = {WX_UNET, WX_INCEPTION, WX_TRANSFORMER};
  wx_model_opts o;

  weir_opts_default(wx_model_options, sizeof o, &o);
  o.net = net[number];
  o.coupling = o.net == WX_TRANSFORMER ? WX_COUPLING_ATTENTION : WX_COUPLING_MEAN;
  o.unet.preset = WEIR_UNET_TINY;
  o.unet.locally_connected = k % 2 == 0 ? 3 : 0;
  o.smooth = 1;
  o.inception.preset = WEIR_INCEPTION_TINY;
  o.transformer.preset = WEIR_TRANSFORMER_TINY;
  o.transformer.patch.y = o.transformer.patch.x = 2;
  o.head = fitting[k].head;
  o.loss = fitting[k].loss;
  o.shift = k % 2;
  return o;
}

/* All networks on [lat, lon] and [level, lat, lon]: each loss is a number, what is made has y's
 * shape. */
static void every_loss_is_a_number(void **state)
{
  for (int round = 0; round < 2 * NETWORKS * FITTING; round++) {
    const int rank = 2 + round % 2, k = round / (2 * NETWORKS);
    const wx_model_opts o = options(round / 2 % NETWORKS, k);
    const wx_network network = {.opts = &o, .n_y = 2, .n_trajectory = 1, .carry = 3};
    weir_params *params = NULL;
    weir_graph *g = NULL;
    weir_net net;
    weir_value loss;

    assert_ok(wx_network_check("model", &o, fitting[k].of_spread));
    assert_ok(weir_params_create(WEIR_F32, &params));
    assert_ok(weir_graph_create(&g));
    weir_net_init(&net, g, params, false);
    const weir_value in[] = {input(g, "x", 5, rank), input(g, "y", 2, rank), input(g, "s", 2, rank),
                             input(g, "w", 2, rank), members_of(g, rank)};
    int taken[WX_INPUTS];

    assert_int_equal(wx_network_inputs(&network, taken), wx_model_takes_members(&o) ? 5 : 4);
    assert_ok(wx_network_build(&net, &network, in, &loss));
    assert_int_equal(weir_value_desc(g, loss)->rank, 0);
    weir_net_fini(&net);
    weir_graph_destroy(&g);
    weir_params_destroy(&params);
    assert_ok(weir_params_create(WEIR_F32, &params));
    assert_ok(weir_graph_create(&g));
    weir_net_init(&net, g, params, false);
    const wx_made made = wx_network_apply(&net, &network, input(g, "x", 5, rank),
                                          input(g, "s", 2, rank), members_of(g, rank));
    const weir_value mean = made.mean, sigma = made.sigma;
    assert_ok(weir_graph_status(g));
    const bool each = o.head == WX_HEAD_MEMBERS;

    assert_int_equal(mean.node >= 0, !each && o.head != WX_HEAD_SPREAD);
    assert_int_equal(sigma.node >= 0, !each && o.head != WX_HEAD_MEAN);
    assert_int_equal(made.members.node >= 0, each);
    assert_true(!each || weir_value_desc(g, made.members)->shape[1] == 3);
    assert_true(!each || weir_value_desc(g, made.members)->shape[rank + 2] == 2);
    assert_true(mean.node < 0 || weir_value_desc(g, mean)->shape[rank + 1] == 2);
    assert_true(sigma.node < 0 || weir_value_desc(g, sigma)->shape[rank + 1] == 2);
    weir_net_fini(&net);
    weir_graph_destroy(&g);
    weir_params_destroy(&params);
  }
}

static void what_does_not_go_together_is_refused(void **state)
{
  for (int head = 0; head < 4; head++) {
    for (int loss = 0; loss < 3; loss++) {
      for (int of_spread = 0; of_spread < 2; of_spread++) {
        wx_model_opts o = options(WX_UNET, 0);
        bool fits = false;

        for (int k = 0; k < FITTING; k++) {
          fits = fits || (fitting[k].head == head && fitting[k].loss == loss &&
                          fitting[k].of_spread == of_spread);
        }
        o.head = head;
        o.loss = loss;
        o.coupling = WX_COUPLING_ATTENTION;
        assert_int_equal(wx_network_check("model", &o, of_spread), WEIR_ERR_CONFIG);
        o.coupling = WX_COUPLING_MEAN;
        assert_int_equal(wx_network_check("model", &o, of_spread) == WEIR_OK, fits);
        o.coupling = WX_COUPLING_NONE;
        assert_int_equal(wx_network_check("model", &o, of_spread) == WEIR_OK,
                         fits && head == WX_HEAD_MEMBERS);
      }
    }
  }
}

/* A graph over parameters in a store, run once. */
typedef struct world {
  weir_params *params;
  weir_store *store;
  weir_graph *g;
  weir_net net;
} world;

static void declare(world *w)
{
  assert_ok(weir_params_create(WEIR_F32, &w->params));
  assert_ok(weir_store_create(&w->store));
  assert_ok(weir_graph_create(&w->g));
  weir_net_init(&w->net, w->g, w->params, false);
}

static void renew(world *w)
{
  weir_net_fini(&w->net);
  weir_graph_destroy(&w->g);
  assert_ok(weir_graph_create(&w->g));
  weir_net_init(&w->net, w->g, w->params, false);
}

static void use(world *w)
{
  assert_ok(weir_params_seal(w->params, w->store));
  assert_ok(weir_params_init(w->params, w->store, 3));
  renew(w);
}

static void run(world *w, const weir_binding *binding, int n)
{
  weir_plan *plan = NULL;
  weir_exec_cfg exec;

  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  assert_ok(weir_plan_create(w->g, w->store, &(weir_plan_opts){.exec = &exec}, &plan));
  assert_ok(weir_plan_run(plan, binding, n));
  weir_plan_destroy(&plan);
}

static void dispose(world *w)
{
  weir_net_fini(&w->net);
  weir_graph_destroy(&w->g);
  weir_params_destroy(&w->params);
  weir_store_destroy(&w->store);
}

/* A network that puts out 0 is the raw ensemble: mean 0 and its spread, floored. */
static void zero_is_the_raw_ensemble(void **state)
{
  wx_model_opts o = options(WX_UNET, 2);

  o.unet.locally_connected = 3; /* begins as 0 */
  const wx_network network = {.opts = &o, .n_y = 1};
  const int64_t shape[] = {1, 4, 6, 1};
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = 4, .shape = {1, 4, 6, 1}};
  weir_tensor t[4];
  world w;

  for (int k = 0; k < 4; k++) {
    assert_ok(weir_tensor_init(&t[k], WEIR_F32, 4, shape));
  }
  for (int i = 0; i < 24; i++) {
    ((float *)t[0].data)[i] = (float)i;
    ((float *)t[1].data)[i] = (float)i / 8;
  }
  declare(&w);
  (void)wx_network_apply(&w.net, &network, weir_input(w.g, "x", &d), weir_input(w.g, "s", &d),
                         WEIR_NO_VALUE);
  use(&w);
  const wx_made made = wx_network_apply(&w.net, &network, weir_input(w.g, "x", &d),
                                        weir_input(w.g, "s", &d), WEIR_NO_VALUE);

  weir_output(w.g, "mean", made.mean);
  weir_output(w.g, "sigma", made.sigma);
  run(&w, (const weir_binding[]){{"x", &t[0]}, {"s", &t[1]}, {"mean", &t[2]}, {"sigma", &t[3]}}, 4);
  for (int i = 0; i < 24; i++) {
    const double s = i == 0 ? o.min_spread : i / 8.0;

    assert_true(((float *)t[2].data)[i] == 0);
    assert_near((double)((float *)t[3].data)[i], s + o.floor, 1e-6);
  }
  for (int k = 0; k < 4; k++) {
    weir_tensor_fini(&t[k]);
  }
  dispose(&w);
}

enum { CHANNELS = 5, VALUES = CHANNELS * 4 * 6, GIVEN = WX_IN_EXTRA + 1 };
enum { MADE_MEAN = GIVEN, MADE_SIGMA, MADE_LOSS, MADE_MSE, TENSORS };
static const char *const tensor_name[] = {"x",     "y",    "s",     "w",    "lower",
                                          "extra", "mean", "sigma", "loss", "mse"};
static const wx_output outputs[CHANNELS] = {{.family = WX_NORMAL},
                                            {WX_TRUNCATED_NORMAL, -1, 0, 0},
                                            {WX_CENSORED_LOGISTIC, 0.5, 0, 0},
                                            {WX_CENSORED_NORMAL, -0.25, 0, 0.75},
                                            {WX_CENSORED_SHIFTED_GAMMA, 0.75, 0.375, 0}};

static double lower_at(int i)
{
  return outputs[i % CHANNELS].lower - 0.25 * (i / CHANNELS % 5);
}

static void fill_distributions(weir_tensor *t)
{
  for (int i = 0; i < VALUES; i++) {
    const double width = outputs[i % CHANNELS].width, y = fmax(lower_at(i), 0.25 * (i % 11) - 1);

    ((float *)t[WX_IN_X].data)[i] = (float)(i % 13 - 6);
    ((float *)t[WX_IN_Y].data)[i] = (float)(width > 0 ? fmin(y, lower_at(i) + width) : y);
    ((float *)t[WX_IN_S].data)[i] = (float)(0.5 + 0.125 * (i % 7));
    ((float *)t[WX_IN_W].data)[i] = 1;
    ((float *)t[WX_IN_LOWER].data)[i] = (float)lower_at(i);
    ((float *)t[WX_IN_EXTRA].data)[i] = (float)wx_output_extra(&outputs[i % CHANNELS]);
  }
}

/* The network's outputs with random weights, and the loss and metric that are built of them. */
static void run_distributions(const wx_network *network, weir_tensor *t)
{
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = 4, .shape = {1, 4, 6, CHANNELS}};
  weir_binding b[TENSORS];
  weir_value in[GIVEN], loss;
  world w;

  for (int k = 0; k < TENSORS; k++) {
    b[k] = (weir_binding){tensor_name[k], &t[k]};
  }
  declare(&w);
  for (int round = 0; round < 3; round++) {
    for (int k = 0; k < GIVEN && round != 1; k++) {
      in[k] = weir_input(w.g, tensor_name[k], &d);
    }
    if (round == 1) {
      const wx_made made = wx_network_apply(&w.net, network, weir_input(w.g, "x", &d),
                                            weir_input(w.g, "s", &d), WEIR_NO_VALUE);

      weir_output(w.g, "mean", made.mean);
      weir_output(w.g, "sigma", made.sigma);
      run(&w, (const weir_binding[]){b[WX_IN_X], b[WX_IN_S], b[MADE_MEAN], b[MADE_SIGMA]}, 4);
      renew(&w);
      continue;
    }
    assert_ok(wx_network_build(&w.net, network, in, &loss));
    if (round == 0) {
      use(&w);
    }
  }
  weir_output(w.g, "loss", loss);
  b[MADE_MEAN] = b[MADE_LOSS];
  b[MADE_SIGMA] = b[MADE_MSE];
  run(&w, b, MADE_LOSS);
  dispose(&w);
}

/* The loss is the mean CRPS of what each channel's distribution is, and the metric the squared
 * error of its location: around the raw mean, and of weights that are not 0. */
static void each_channel_has_its_distribution(void **state)
{
  for (int local = 3; local >= 0; local -= 3) {
    wx_model_opts o = options(WX_UNET, 2);
    weir_tensor t[TENSORS];
    double sum = 0, square = 0;
    int before = 0;
    float loss, mse;

    o.unet.locally_connected = local; /* begins as 0 */
    o.smooth = 0;
    const wx_network network = {.opts = &o, .output = outputs, .n_y = CHANNELS};

    for (int k = 0; k < TENSORS; k++) {
      assert_ok(weir_tensor_init(&t[k], WEIR_F32, k < MADE_LOSS ? 4 : 0,
                                 (const int64_t[]){1, 4, 6, CHANNELS}));
    }
    fill_distributions(t);
    run_distributions(&network, t);
    for (int i = 0; i < VALUES; i++) {
      const double a = (double)((float *)t[MADE_MEAN].data)[i];
      const double sigma = (double)((float *)t[MADE_SIGMA].data)[i];
      const double y = (double)((float *)t[WX_IN_Y].data)[i];
      const wx_output *const of = &outputs[i % CHANNELS],
                             is = {of->family, lower_at(i), of->shift, of->width};
      const bool logistic = is.family == WX_CENSORED_LOGISTIC;
      const double sd = 0.5 + 0.125 * (i % 7) + o.floor,
                   location = wx_output_location(&is, a, sigma);

      assert_true(local == 0 || a == 0);
      assert_true(local == 0 || fabs(sigma / (logistic ? sd * sqrt(3) / acos(-1) : sd) - 1) < 1e-6);
      before += is.family == WX_CENSORED_SHIFTED_GAMMA && a < is.lower - is.shift;
      sum += wx_distribution_crps(
          &(const wx_distribution){is.family, location, sigma, is.lower, is.shift, is.width}, y);
      square += (location - y) * (location - y);
    }
    memcpy(&loss, t[MADE_LOSS].data, sizeof loss);
    memcpy(&mse, t[MADE_MSE].data, sizeof mse);
    assert_true(local > 0 || before > 0);
    assert_near((double)loss, sum / VALUES, 1e-6 * fmax(1, sum / VALUES));
    assert_near((double)mse, square / VALUES, 1e-6 * fmax(1, square / VALUES));
    for (int k = 0; k < TENSORS; k++) {
      weir_tensor_fini(&t[k]);
    }
  }
}

enum { M = 5, EACH = 4 * 6 * 2 }; /* members, and values of one */

/* Members [2, m, 4, 6, 2] through a network with random weights, in the order `order`; x and s are
 * the same whatever the order. Writes the members, or the mean [2, 4, 6, 2] of another head. */
static void correct(const wx_model_opts *o, int64_t m, const int *order, float *out)
{
  const wx_network network = {.opts = o, .n_y = 2, .n_trajectory = 1, .carry = 3};
  const bool each = o->head == WX_HEAD_MEMBERS;
  const int64_t values = 2 * (each ? m : 1) * EACH;
  const weir_array_desc e = {.dtype = WEIR_F32, .rank = 5, .shape = {2, m, 4, 6, 2}};
  wx_made made = {.members = WEIR_NO_VALUE};
  weir_tensor t[4];
  world w;

  assert_ok(weir_tensor_init(&t[0], WEIR_F32, 4, (int64_t[]){2, 4, 6, 5}));
  assert_ok(weir_tensor_init(&t[1], WEIR_F32, 4, (int64_t[]){2, 4, 6, 2}));
  assert_ok(weir_tensor_init(&t[2], WEIR_F32, 5, e.shape));
  assert_ok(each ? weir_tensor_init(&t[3], WEIR_F32, 5, e.shape)
                 : weir_tensor_init(&t[3], WEIR_F32, 4, (int64_t[]){2, 4, 6, 2}));
  for (int k = 0; k < 2; k++) {
    for (int64_t i = 0; i < weir_tensor_numel(&t[k]); i++) {
      ((float *)t[k].data)[i] = (float)weir_random_uniform(5, (uint32_t)i, (uint32_t)k, 0);
    }
  }
  for (int64_t i = 0; i < 2 * m * EACH; i++) {
    const int64_t sample = i / (m * EACH), member = order[i / EACH % m];

    ((float *)t[2].data)[i] =
        (float)weir_random_normal(6, (uint32_t)(i % EACH), (uint32_t)member, (uint32_t)sample);
  }
  declare(&w);
  for (int twice = 0; twice < 2; twice++) {
    made = wx_network_apply(&w.net, &network, input(w.g, "x", 5, 2), input(w.g, "s", 2, 2),
                            weir_input(w.g, WX_MEMBERS_NAME, &e));
    if (twice == 0) {
      use(&w);
    }
  }
  weir_output(w.g, "made", each ? made.members : made.mean);
  run(&w,
      (const weir_binding[]){{"x", &t[0]}, {"s", &t[1]}, {WX_MEMBERS_NAME, &t[2]}, {"made", &t[3]}},
      4);
  memcpy(out, t[3].data, (size_t)values * sizeof *out);
  for (int k = 0; k < 4; k++) {
    weir_tensor_fini(&t[k]);
  }
  dispose(&w);
}

/* `out` [2, m, EACH] has the members order[0 .. m - 1] of `plain` [2, M, EACH]. Only up to
 * rounding: products of a library may add the terms of the last rows in another order. */
static void assert_members(const float *out, int m, const int *order, const float *plain)
{
  for (int i = 0; i < 2 * m * EACH; i++) {
    const int sample = i / EACH / m, member = order[i / EACH % m];

    assert_near((double)out[i], (double)plain[(sample * M + member) * EACH + i % EACH], 1e-5);
  }
}

/* Members in another order are corrected to the same values in that order, and a member to the same
 * values whichever others there are. */
static void members_are_corrected_one_by_one(void **state)
{
  static const int in_order[M] = {0, 1, 2, 3, 4}, permuted[M] = {3, 0, 4, 2, 1};
  static float plain[2 * M * EACH], other[2 * M * EACH];

  for (int round = 0; round < 4; round++) {
    wx_model_opts o = options(round / 2, FITTING - 1);

    o.unet.locally_connected = 0; /* its weights begin as 0 */
    o.shift = round % 2;
    correct(&o, M, in_order, plain);
    correct(&o, M, permuted, other);
    assert_members(other, M, permuted, plain);
    assert_true(memcmp(plain, plain + EACH, EACH * sizeof *plain) != 0);
    for (int m = 1; m <= 2; m++) {
      correct(&o, m, permuted, other);
      assert_members(other, m, permuted, plain);
    }
  }
}

/* With attention a member's correction changes with the others, but not with their order, in which
 * nothing changes what all give together, either. */
static void members_that_attend_have_no_order(void **state)
{
  static const int in_order[M] = {0, 1, 2, 3, 4}, permuted[M] = {3, 0, 4, 2, 1};
  static float plain[2 * M * EACH], other[2 * M * EACH];
  double largest = 0;

  for (int head = FITTING - 1; head >= 0; head -= FITTING - 1) {
    const wx_model_opts o = options(WX_TRANSFORMER_OF_MEMBERS, head);

    correct(&o, M, in_order, plain);
    correct(&o, M, permuted, other);
    if (o.head == WX_HEAD_MEMBERS) {
      assert_members(other, M, permuted, plain);
      correct(&o, 2, permuted, other);
      for (int i = 0; i < EACH; i++) {
        largest = fmax(largest, fabs((double)(other[i] - plain[permuted[0] * EACH + i])));
      }
      assert_true(largest > 1e-3);
    } else {
      for (int i = 0; i < 2 * EACH; i++) {
        assert_near((double)other[i], (double)plain[i], 1e-5);
      }
    }
  }
}

/* A network that puts out 0 leaves the members as they are. */
static void zero_leaves_members(void **state)
{
  enum { ALL = 2 * 3 * 4 * 6 * 2 };
  static const int order[] = {0, 1, 2};
  static float out[ALL];
  wx_model_opts o = options(WX_UNET, FITTING - 1);

  o.unet.locally_connected = 3; /* begins as 0 */
  correct(&o, 3, order, out);
  for (int i = 0; i < ALL; i++) {
    assert_near(
        (double)out[i],
        weir_random_normal(6, (uint32_t)(i % 48), (uint32_t)(i / 48 % 3), (uint32_t)(i / 144)),
        1e-6);
  }
}

/* Weights of 3 x 4 positions: steps along columns and, round the circle, along rows. */
static void roughness_is_the_mean_step(void **state)
{
  const weir_param_spec weight = {
      .rank = 6, .shape = {3, 4, 1, 1, 2, 1}, .init = {.kind = WEIR_INIT_ZEROS}};
  const weir_param_spec bias = {.rank = 3, .shape = {3, 4, 1}, .init = {.kind = WEIR_INIT_ZEROS}};
  float value = 0;
  weir_tensor out;

  assert_ok(weir_tensor_init(&out, WEIR_F32, 0, NULL));
  for (int wraps = 0; wraps < 2; wraps++) {
    world w;

    declare(&w);
    (void)weir_param(&w.net, "w", &weight);
    (void)weir_param(&w.net, "b", &bias);
    use(&w);
    float *p = check_stored(w.store, WEIR_PARAMS_FLAT)->data;
    double lat = 0, lon = 0;

    for (int i = 0; i < 36; i++) {
      p[i] = (float)((7 * i) % 11);
    }
    for (int j = 0; j < 3; j++) {
      for (int i = 0; i < 4; i++) {
        for (int c = 0; c < 2; c++) {
          const float *at = p + (j * 4 + i) * 2 + c;

          lat += j < 2 ? fabs((double)(at[8] - at[0])) / 16 : 0;
          lon += i < 3   ? fabs((double)(at[2] - at[0])) / (wraps ? 24 : 18)
                 : wraps ? fabs((double)(at[-6] - at[0])) / 24
                         : 0;
        }
        const float *b = p + 24 + j * 4 + i;

        lat += j < 2 ? fabs((double)(b[4] - b[0])) / 8 : 0;
        lon += i < 3   ? fabs((double)(b[1] - b[0])) / (wraps ? 12 : 9)
               : wraps ? fabs((double)(b[-3] - b[0])) / 12
                       : 0;
      }
    }
    (void)weir_param(&w.net, "w", &weight);
    (void)weir_param(&w.net, "b", &bias);
    weir_output(w.g, "rough", wx_roughness(&w.net, "w", "b", wraps));
    assert_ok(weir_graph_status(w.g));
    run(&w, (const weir_binding[]){{"rough", &out}}, 1);
    memcpy(&value, out.data, sizeof value);
    assert_near((double)value, (lat + lon) / 4, 1e-5);
    dispose(&w);
  }
  weir_tensor_fini(&out);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_loss_is_a_number),
      cmocka_unit_test(what_does_not_go_together_is_refused),
      cmocka_unit_test(zero_is_the_raw_ensemble),
      cmocka_unit_test(members_are_corrected_one_by_one),
      cmocka_unit_test(members_that_attend_have_no_order),
      cmocka_unit_test(zero_leaves_members),
      cmocka_unit_test(each_channel_has_its_distribution),
      cmocka_unit_test(roughness_is_the_mean_step),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
