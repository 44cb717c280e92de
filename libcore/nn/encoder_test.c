/* encoder_test.c - the layer of a transformer's encoder against values of PyTorch, its gradients
 * against differences, and what it refuses. */
#include "nn/weir_block.h"

#include "ops/ops_cases.h"
#include "support/exec/gradient_check.h"

static weir_value build(weir_net *net, weir_value x, const void *spec)
{
  return weir_nn_encoder(net, "e", spec, x);
}

enum { N = 24, PARAMETERS = 12 };

/* torch.nn.TransformerEncoderLayer(4, 2, 5, dropout=0, layer_norm_eps=1e-3, batch_first=True) of
 * PyTorch 1.13 in double precision, norm_first=False with relu and norm_first=True with gelu, on x
 * of 2 x 3 x 4. Element i of x is sin(1.3 i), that of parameter k, from 1, sin(1.3 i + k), matrices
 * as they are here; the loss is the sum of y_i cos(0.7 i). Of the gradient of a parameter, the sum
 * of its elements times cos(0.3 i) is kept. */
static const struct {
  double y[N], dx[N], gradient[PARAMETERS];
} known[] = {
    {.y = {1.16273136189023,   0.60333993949166,  1.51320619185993,     0.335348067029326,
           -1.52613164437784,  0.919665942482839, -0.00592469387934971, 0.538453575542337,
           -0.999682351046096, 0.936369899815667, 0.150712311383813,    0.833098514329902,
           1.10367989401981,   0.650088218260606, 1.39991439040215,     0.516360965147998,
           1.17196528663808,   0.572057268018725, 1.60189874314368,     0.181491264512672,
           1.15100061115233,   0.565598816379321, 1.69267403420322,     0.0722235941670107},
     .dx = {0.661527985897119,   -0.363836303767181, 0.537486432793474,  -0.800344263773104,
            -0.267030034018168,  -0.24924931413001,  1.06343888751232,   -0.533950562926859,
            1.76319708566397,    -0.94496754135426,  0.153397912837913,  -0.947042179705496,
            -0.254885753178143,  0.214389092243552,  -0.244641531349892, 0.297956817159113,
            -0.0782589410972624, 0.0456822682806659, -0.065799465448088, 0.0952016235238768,
            -0.0984987971168595, 0.104072322529987,  -0.129734285192904, 0.118861267783235},
     .gradient = {0.602945318475656, -1.30478561140464, 0.568696644979114, 0.176549827007376,
                  0.436100347309201, -2.05204576366554, 0.342809224419006, -0.451281634748649,
                  -0.0859150785751261, 0.00875801096030691, -2.67641449031946, -0.101702643857131}},
    {.y = {0.338345697619552,    2.87628834442087,  1.20046182821872,  -2.23404407870679,
           -0.00768926978631951, 1.94986267847598,  1.05086123472857,  -1.38765437980222,
           -0.240149135325833,   0.552605418357271, 0.535791739530175, -0.265958092935169,
           0.15746032241498,     -8.63999021697886, -4.77983484715446, 6.08278977171326,
           0.30718830794214,     -7.67943474652775, -4.4156679063324,  5.31706276144955,
           0.189743162366833,    -6.27165533901859, -3.54506407581606, 4.37505436365878},
     .dx = {-0.425699798869968, -0.0208603041674967, 2.07685403766336,   -0.200330709041022,
            -1.11820688341304,  -0.904457610076957,  -0.590291758266312, 0.430528771878725,
            0.0180007742103547, 1.69408846977876,    2.47558007509352,   -1.5049686878078,
            -0.109477657028404, -0.302556376143004,  -1.80883878936176,  -0.652100633815371,
            0.704089525171786,  0.769286724878854,   0.253745139450625,  1.0041375286632,
            -0.502721869098144, -0.873042451182254,  -0.80554384916019,  -0.0926247159010072},
     .gradient = {-6.07797505007621, -1.54261461755394, -13.9214789021418, -0.214761701802807,
                  -2.17497714709427, 0.432663887656656, -0.687617639005069, 1.09600974825306,
                  -5.95852849297255, -0.101702643857131, -0.608024356872539, 2.41732364611055}},
};
static const char *const parameter[PARAMETERS] = {
    "e/attention/qkv/weight", "e/attention/qkv/bias", "e/attention/out/weight",
    "e/attention/out/bias",   "e/norm1/scale",        "e/norm1/offset",
    "e/linear1/weight",       "e/linear1/bias",       "e/linear2/weight",
    "e/linear2/bias",         "e/norm2/scale",        "e/norm2/offset"};

static void fill(double *to, int64_t n, double factor, double first, double (*of)(double))
{
  for (int64_t i = 0; i < n; i++) {
    to[i] = of(factor * (double)i + first);
  }
}

static double sum_of_gradient(const check_net *c, const char *name)
{
  const int64_t row = weir_params_find(c->params, name);
  double sum = 0;

  for (int k = 0; k < c->n; k++) {
    for (int64_t i = 0; c->row[k] == row && i < weir_tensor_numel(&c->dp[k]); i++) {
      sum += check_data(&c->dp[k])[i] * cos(0.3 * (double)i);
    }
  }
  return sum;
}

static void values_are_those_of_pytorch(void **state)
{
  for (int first = 0; first < 2; first++) {
    const weir_nn_encoder_spec s = {
        .attention = {.heads = 2},
        .hidden = 5,
        .epsilon = 1e-3,
        .activation = {.kind = first ? WEIR_ACTIVATION_GELU : WEIR_ACTIVATION_RELU},
        .norm_first = first};
    check_net c = {.build = build, .spec = &s, .seed = 1, .train = true};

    c.in = (weir_array_desc){.rank = 3, .shape = {2, 3, 4}};
    check_open(&c);
    assert_int_equal(c.n, PARAMETERS);
    for (int k = 0; k < PARAMETERS; k++) {
      const weir_param_row *row =
          weir_params_get(c.params, weir_params_find(c.params, parameter[k]));

      fill(check_param(&c, parameter[k]), row->count, 1.3, k + 1, sin);
    }
    fill(check_data(&c.x), N, 1.3, 0, sin);
    fill(check_data(&c.w), N, 0.7, 0, cos);
    check_run(&c);
    for (int i = 0; i < N; i++) {
      assert_near(check_data(&c.y)[i], known[first].y[i], 1e-12);
      assert_near(check_data(&c.dx)[i], known[first].dx[i], 1e-12);
    }
    for (int k = 0; k < PARAMETERS; k++) {
      assert_near(sum_of_gradient(&c, parameter[k]), known[first].gradient[k], 1e-11);
    }
    check_close(&c);
  }
}

static void gradients_are_those_of_differences(void **state)
{
  for (uint64_t seed = 1; seed <= 8; seed++) {
    weir_draw r = {.seed = seed};
    const int64_t heads = weir_draw_int(&r, 1, 3);
    const weir_nn_encoder_spec s = {
        .attention = {.heads = heads, .no_bias = weir_draw_one_in(&r, 3)},
        .hidden = weir_draw_int(&r, 0, 5),
        .activation = {.kind = WEIR_ACTIVATION_TANH},
        .epsilon = 0.5,
        .dropout = seed % 4 == 0 ? 0.3 : 0,
        .norm_first = seed % 2 == 0};
    check_net c = {.build = build, .spec = &s, .seed = seed, .train = true, .key = {5, 2}};

    c.in = (weir_array_desc){.rank = 3,
                             .shape = {weir_draw_int(&r, 1, 2), weir_draw_int(&r, 1, 4),
                                       heads * weir_draw_int(&r, 1, 3)}};
    check_open(&c);
    assert_int_equal(c.has_seed, s.dropout > 0);
    check_gradients(&c);
    check_close(&c);
  }
}

static void refuse(const weir_nn_encoder_spec *s, int rank, const char *text)
{
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = rank, .shape = {2, 5, 4, 4}};

  assert_int_equal(check_refused(build, s, &d, text, NULL), WEIR_ERR_SHAPE);
}

static void impossible_layers_are_refused(void **state)
{
  refuse(&(weir_nn_encoder_spec){.attention = {.heads = 3}}, 3, "3 heads do not divide 4 channels");
  refuse(&(weir_nn_encoder_spec){.hidden = -1}, 3, "hidden units from 0 on");
  refuse(&(weir_nn_encoder_spec){.hidden = 4}, 4, "takes [n, positions, channels]");
  refuse(&(weir_nn_encoder_spec){.dropout = 1}, 3, "rate 1");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_are_those_of_pytorch),
      cmocka_unit_test(gradients_are_those_of_differences),
      cmocka_unit_test(impossible_layers_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
