/* network_test.c - outputs and losses of the network on two and three dimensions. */
#include <string.h>
#include "base/weir_check.h"
#include "model/network.h"

static weir_value input(weir_graph *g, const char *name, int64_t channels, int rank)
{
  const weir_array_desc flat = {.dtype = WEIR_F32, .rank = 4, .shape = {2, 4, 6, channels}};
  const weir_array_desc deep = {.dtype = WEIR_F32, .rank = 5, .shape = {2, 2, 4, 6, channels}};

  return weir_input(g, name, rank == 2 ? &flat : &deep);
}

/* On [lat, lon] and on [level, lat, lon], each loss is a number, mean and spread have y's shape. */
static void every_loss_is_a_number(void **state)
{
  for (int round = 0; round < 6; round++) {
    const int rank = 2 + round % 2;
    wx_model_opts o;
    weir_params *params = NULL;
    weir_graph *g = NULL;
    weir_net net;
    weir_value loss, mean, raw;

    weir_opts_default(wx_model_options, sizeof o, &o);
    o.net.preset = WEIR_UNET_TINY;
    o.loss = round / 2;
    const wx_network network = {.opts = &o, .n_y = 2};

    assert_ok(weir_params_create(WEIR_F32, &params));
    assert_ok(weir_graph_create(&g));
    weir_net_init(&net, g, params, false);
    const weir_value in[] = {input(g, "x", 3, rank), input(g, "y", 2, rank)};

    assert_ok(wx_network_build(&net, &network, in, &loss));
    assert_int_equal(weir_value_desc(g, loss)->rank, 0);
    weir_net_fini(&net);
    weir_graph_destroy(&g);
    weir_params_destroy(&params);
    assert_ok(weir_params_create(WEIR_F32, &params));
    assert_ok(weir_graph_create(&g));
    weir_net_init(&net, g, params, false);
    wx_network_apply(&net, &network, input(g, "x", 3, rank), &mean, &raw);
    assert_ok(weir_graph_status(g));
    assert_int_equal(weir_value_desc(g, mean)->shape[rank + 1], 2);
    assert_int_equal(raw.node >= 0, o.loss == WX_LOSS_CRPS);
    assert_true(raw.node < 0 || weir_value_desc(g, raw)->shape[rank + 1] == 2);
    weir_net_fini(&net);
    weir_graph_destroy(&g);
    weir_params_destroy(&params);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_loss_is_a_number)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
