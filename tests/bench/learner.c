/* learner.c - forward, loss, gradients and update in one graph. */
#include "support/graph/store_check.h"
#include "learner.h"
#include "base/weir_alloc.h"
#include "base/weir_random.h"
#include "nn/weir_loss.h"
#include "optim/weir_rule.h"
#include "ops/concat/weir_concat.h"
#include "ops/reshape/weir_reshape.h"
#include "pass/autodiff/weir_gradients.h"
#include "pass/models/weir_models.h"

#define RULE "momentum"

/* Gradients by all parameters, side by side as the bank is. */
static weir_status gradient_of(const weir_net *net, weir_value loss, weir_value *bank)
{
  const int64_t n = weir_params_count(net->params);
  weir_status status = WEIR_OK;
  weir_value *wrt = NULL, *grads = NULL;

  WEIR_TRY_GOTO(weir_alloc(n, sizeof *wrt, (void **)&wrt), done);
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *grads, (void **)&grads), done);
  for (int64_t i = 0; i < n; i++) {
    wrt[i] = weir_net_param_value(net, i);
  }
  WEIR_TRY_GOTO(weir_gradients(net->graph, loss, wrt, (int)n, grads), done);
  for (int64_t i = 0; i < n; i++) {
    grads[i] = weir_reshape(net->graph, grads[i], &((weir_reshape_spec){.rank = 1, .shape = {-1}}));
  }
  *bank = weir_concat(net->graph, grads, (int)n, 0);
done:
  weir_free(&wrt);
  weir_free(&grads);
  return status;
}

/* The network on the inputs, its parameters declared or taken. */
static weir_value network(const learner_job *job, weir_net *net)
{
  return job->build(net, job->opts, weir_input(net->graph, "x", &job->x));
}

static weir_status declare(const learner_job *job, learner *t)
{
  weir_graph *g = NULL;
  weir_net net;

  WEIR_TRY(weir_params_create(WEIR_F32, &t->params));
  WEIR_TRY(weir_graph_create(&g));
  weir_net_init(&net, g, t->params, true);
  (void)network(job, &net);
  const weir_status status = weir_graph_status(g);

  weir_net_fini(&net);
  weir_graph_destroy(&g);
  WEIR_TRY(status);
  WEIR_TRY(weir_params_seal(t->params, t->store));
  return weir_params_init(t->params, t->store, job->seed);
}

static weir_status build(const learner_job *job, weir_net *net, learner *t)
{
  weir_graph *g = net->graph;
  const weir_rule_desc *rule;
  weir_value gradient = WEIR_NO_VALUE, state[WEIR_RULE_STATES];
  _Alignas(16) unsigned char opts[256] = {0};
  const weir_value made = network(job, net);

  t->forward_nodes = weir_graph_nodes(g);
  const weir_value y = weir_input(g, "y", &job->y);
  const weir_value loss =
      job->loss != NULL ? job->loss(g, made, y) : weir_loss_mse(g, made, y, WEIR_NO_VALUE);

  WEIR_TRY(gradient_of(net, loss, &gradient));
  WEIR_TRY(weir_rule_find(RULE, &rule));
  weir_opts_default(rule->opts, rule->opts_size, opts);
  weir_rule_get_state(rule, g, t->store, NULL, state);
  WEIR_TRY(weir_rule_build(
      g, rule,
      &(weir_rule_args){.opts = opts,
                        .lr = weir_scalar(g, WEIR_F32, job->rate),
                        .step = weir_scalar(g, WEIR_F64, 1), /* which this rule does not read */
                        .grad = gradient,
                        .param = weir_stored(g, t->store, WEIR_PARAMS_FLAT),
                        .state = state,
                        .decay = WEIR_NO_VALUE}));
  weir_output(g, "loss", loss);
  return weir_graph_status(g);
}

/* An input of the plan. */
static weir_status make_input(const weir_array_desc *d, uint64_t seed, uint32_t purpose,
                              weir_tensor *x)
{
  WEIR_TRY(weir_tensor_init(x, WEIR_F32, d->rank, d->shape));
  for (int64_t i = 0; i < weir_tensor_numel(x); i++) {
    ((float *)x->data)[i] = (float)(2 * weir_random_uniform(seed, purpose, 0, (uint64_t)i) - 1);
  }
  return WEIR_OK;
}

/* The arrays of t->store once for every model, in t->fused. */
static weir_status add_models(const learner_job *job, learner *t)
{
  WEIR_TRY(weir_store_create(&t->fused));
  for (int64_t i = 0; i < weir_store_count(t->store); i++) {
    const char *name = weir_store_name(t->store, i);
    const weir_tensor *one = weir_store_find(t->store, name);
    int64_t shape[WEIR_MAX_RANK] = {job->models};

    memcpy(shape + 1, one->shape, (size_t)one->rank * sizeof *shape);
    WEIR_TRY(weir_store_add(t->fused, name, one->dtype, one->rank + 1, shape));
  }
  for (int64_t k = 0; k < job->models; k++) {
    WEIR_TRY(weir_params_init(t->params, t->store, job->seed + (uint64_t)k));
    for (int64_t i = 0; i < weir_store_count(t->store); i++) {
      const char *name = weir_store_name(t->store, i);
      const weir_tensor *one = check_stored(t->store, name);
      const size_t bytes = weir_tensor_bytes(one);

      memcpy((char *)check_stored(t->fused, name)->data + (size_t)k * bytes, one->data, bytes);
    }
  }
  return WEIR_OK;
}

weir_status learner_open(const learner_job *job, learner *t)
{
  const bool several = job->models > 1;
  const weir_rule_desc *rule;
  weir_net net;

  *t = (learner){.graph = NULL, .seed = (int64_t)job->seed};
  WEIR_TRY(weir_store_create(&t->store));
  WEIR_TRY(declare(job, t));
  const int64_t elements = weir_params_elements(t->params);

  WEIR_TRY(weir_rule_find(RULE, &rule));
  WEIR_TRY(weir_rule_add_state(rule, t->store, WEIR_F32, elements));
  WEIR_TRY(weir_graph_create(&t->graph));
  weir_net_init(&net, t->graph, t->params, true);
  net.tiles = weir_exec_has_tiles(job->exec);
  const weir_status status = build(job, &net, t);

  t->draws = net.seed.node >= 0;
  weir_net_fini(&net);
  WEIR_TRY(status);
  const weir_plan_opts opts = {
      .exec = job->exec, .threads = job->threads, .sizes_only = job->sizes_only};

  if (several) {
    WEIR_TRY(add_models(job, t));
    WEIR_TRY(weir_models_fuse(t->graph, job->models, NULL, 0));
  }
  weir_store *store = several ? t->fused : t->store;

  WEIR_TRY(weir_plan_create(t->graph, store, &opts, &t->plan));
  WEIR_TRY(make_input(&job->x, job->seed, 1, &t->x));
  WEIR_TRY(make_input(&job->y, job->seed, 2, &t->y));
  WEIR_TRY(weir_tensor_init(&t->loss, WEIR_F32, several, several ? &job->models : NULL));
  t->bank = *check_stored(store, WEIR_PARAMS_FLAT);
  t->bank.owned = NULL;
  return WEIR_OK;
}

void learner_close(learner *t)
{
  weir_tensor_fini(&t->x);
  weir_tensor_fini(&t->y);
  weir_tensor_fini(&t->loss);
  weir_plan_destroy(&t->plan);
  weir_graph_destroy(&t->graph);
  weir_params_destroy(&t->params);
  weir_store_destroy(&t->store);
  weir_store_destroy(&t->fused);
}

weir_status learner_step(learner *t, double *loss)
{
  weir_tensor seed = weir_tensor_wrap(&t->seed, WEIR_I64, 0, NULL);
  weir_tensor number = weir_tensor_wrap(&t->step, WEIR_I64, 0, NULL);
  const weir_binding bindings[] = {
      {"x", &t->x}, {"y", &t->y}, {"loss", &t->loss}, {"seed", &seed}, {"step", &number}};

  t->step++;
  WEIR_TRY(weir_plan_run(t->plan, bindings, t->draws ? 5 : 3));
  *loss = *(const float *)t->loss.data;
  return WEIR_OK;
}
