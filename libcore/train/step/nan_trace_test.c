/* nan_trace_test.c - what a run must not take or leave: tasks that do not fit, checkpoints
 * that no training wrote, another run's state, NaN weights. */
#include "support/train/train_check.h"
#include "support/graph/store_check.h"

#include "base/weir_log.h"
#include "nn/weir_loss.h"

/* ---- Tasks ---- */

static weir_status prepare(const weir_train_task *task)
{
  weir_params *params = NULL;
  weir_store *store = NULL;

  assert_ok(weir_params_create(task->dtype, &params));
  assert_ok(weir_store_create(&store));
  const weir_status status = weir_train_prepare(task, 1, params, store);

  weir_params_destroy(&params);
  weir_store_destroy(&store);
  return status;
}

static weir_status check(const weir_train_task *task)
{
  weir_exec_cfg tier;
  const weir_plan_opts exec = on_threads(1, &tier);
  weir_train_check_cfg cfg;
  char text[4096];
  double worst = 0;
  FILE *out = fmemopen(text, sizeof text, "w");

  weir_opts_default(weir_train_check_opts, sizeof cfg, &cfg);
  const weir_status status = weir_train_check(task, &cfg, &exec, out, &worst);

  fclose(out);
  return status;
}

static void a_task_that_does_not_fit_is_refused(void **state)
{
  toy t = {.hidden = 3};
  weir_train_input many[64];
  weir_train_task task = toy_task(&t, 10, 0);

  for (int k = 0; k < 64; k++) {
    many[k] = toy_inputs[k % 2];
  }
  task.input = many;
  task.n_inputs = 64;
  assert_int_equal(prepare(&task), WEIR_ERR_CONFIG);
  assert_int_equal(check(&task), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "1 to 16 inputs"));
  task.n_inputs = 2;
  many[1].rank = WEIR_MAX_RANK;
  assert_int_equal(prepare(&task), WEIR_ERR_CONFIG);
  assert_int_equal(check(&task), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "the input 'y' has 0 to 9 dimensions"));
  many[1].rank = 1;
  task.n_train = 0;
  assert_ok(prepare(&task)); /* prediction has no samples */
  assert_int_equal(check(&task), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "no samples"));
}

/* ---- Checkpoints ---- */

/* Writes the session's only checkpoint anew with another number, its digests right. */
static void forge(session *s, const char *field, int64_t value)
{
  weir_checkpoint_slice slice[8];
  char path[512];
  int64_t *number = check_stored(s->store, field)->data, kept = *number;
  const weir_checkpoint c = {
      .store = s->store, .slice = slice, .n_slices = weir_params_count(s->params)};

  assert_true(c.n_slices <= 8);
  for (int64_t i = 0; i < c.n_slices; i++) {
    const weir_param_row *row = weir_params_get(s->params, i);

    slice[i] = (weir_checkpoint_slice){WEIR_PARAMS_FLAT, row->name, row->rank, {0}, row->first};
    memcpy(slice[i].shape, row->shape, sizeof slice[i].shape);
  }
  assert_ok(weir_checkpoint_path(s->dir, s->result.step, WEIR_CHECKPOINT_RAW, path, sizeof path));
  *number = value;
  assert_ok(weir_checkpoint_save(&c, WEIR_CHECKPOINT_RAW, path));
  *number = kept;
}

static void numbers_that_no_training_wrote_are_refused(void **state)
{
  static const struct {
    const char *field;
    int64_t value;
  } lies[] = {{"train.step", -1},         {"train.step", INT64_MIN},  {"train.epoch", -1},
              {"train.epoch", INT64_MAX}, {"train.position", -1},     {"train.position", 10},
              {"train.waited", -1},       {"train.waited", INT64_MAX}};
  const char *const *sets = SETS("epochs=2", "batch=2", "optim.rule=sgd", "checkpoint.format=raw");
  toy t = {.hidden = 3};
  char message[512];
  session s = train_in(
      NULL, &t, 10, 0, 1,
      SETS("steps=5", "batch=2", "optim.rule=sgd", "checkpoint.format=raw", "checkpoint.keep=1"));

  assert_ok(s.status);
  for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
    forge(&s, lies[i].field, lies[i].value);
    snprintf(message, sizeof message, "%s/checkpoint-000000005.weir: %s is %lld", s.dir,
             lies[i].field, (long long)lies[i].value);
    refused(train_in(s.dir, &t, 10, 0, 1, sets), WEIR_ERR_DATA, message);
  }
  forge(&s, "train.position", 0); /* as it was */
  session on = train_in(s.dir, &t, 10, 0, 1, sets);

  assert_ok(on.status);
  assert_int_equal(on.result.first, 5);
  close_session(&on);
  close_session(&s);
}

/* ---- Runs one after the other ---- */

/* Weights of a first run trained again are those of a fresh store that has them. */
static void trains_as_a_fresh_one(const char *const *sets)
{
  toy t = {.hidden = 3};
  session used = train_in(NULL, &t, 20, 10, 1, SETS("epochs=2", "optim.average.decay=0.9"));
  session fresh = {.status = WEIR_OK};
  const weir_train_task task = toy_task(&t, 20, 10);

  assert_ok(used.status);
  assert_ok(weir_params_create(task.dtype, &fresh.params));
  assert_ok(weir_store_create(&fresh.store));
  assert_ok(weir_train_prepare(&task, 1, fresh.params, fresh.store));
  memcpy(check_stored(fresh.store, WEIR_PARAMS_FLAT)->data,
         check_stored(used.store, WEIR_PARAMS_FLAT)->data,
         4 * (size_t)weir_params_elements(used.params));
  train_on(&used, NULL, &t, 20, 10, 1, sets);
  train_on(&fresh, NULL, &t, 20, 10, 1, sets);
  assert_ok(used.status);
  assert_ok(fresh.status);
  assert_memory_equal(check_stored(fresh.store, WEIR_PARAMS_FLAT)->data,
                      check_stored(used.store, WEIR_PARAMS_FLAT)->data,
                      4 * (size_t)weir_params_elements(used.params));
  close_session(&used);
  close_session(&fresh);
}

static void a_second_run_begins_anew(void **state)
{
  trains_as_a_fresh_one(SETS("epochs=2", "keep_best=false"));
  trains_as_a_fresh_one(SETS("epochs=2", "keep_best=false", "optim.average.decay=0.9"));
  trains_as_a_fresh_one(SETS("epochs=2", "keep_best=false", "optim.rule=momentum"));
  trains_as_a_fresh_one(SETS("epochs=2", "keep_best=false", "optim.rule=lars"));
}

/* ---- Numbers that are none ---- */

/* What is missing of y, NaN, has weight 0; `opts` is read as toy's. */
static weir_status masked(weir_net *net, const void *opts, const weir_value *in, weir_value *loss)
{
  const toy *t = opts;
  weir_graph *g = net->graph;
  const weir_value y = weir_nn_dense(net, "only", (&(weir_nn_dense_spec){.units = 1}), in[0]);

  *loss = weir_loss_mse(g, y, in[1], weir_cast(g, WEIR_F32, weir_eq(g, in[1], in[1])));
  *loss = t->tail != NULL ? t->tail(g, *loss) : *loss;
  return weir_graph_status(g);
}

static weir_status fetch_with_gaps(void *context, const weir_train_batch *want,
                                   weir_tensor *const *tensor)
{
  WEIR_TRY(toy_fetch(context, want, tensor));
  ((float *)tensor[1]->data)[0] = NAN;
  return WEIR_OK;
}

static weir_value log_of_less(weir_graph *g, weir_value loss)
{
  return weir_label(g, weir_log(g, weir_sub_scalar(g, loss, 1000)), "log of less");
}

static weir_status train_masked(toy *t)
{
  weir_exec_cfg tier;
  const weir_plan_opts exec = on_threads(1, &tier);
  weir_train_task task = toy_task(t, 10, 0);
  session s = {.status = WEIR_OK};
  weir_config *config = NULL;
  const weir_train_cfg cfg = toy_cfg(SETS("steps=2", "batch=5"), 2, &config);

  task.build = masked;
  task.n_metrics = 0;
  task.fetch = fetch_with_gaps;
  toy_dir(s.dir, sizeof s.dir);
  assert_ok(weir_params_create(task.dtype, &s.params));
  assert_ok(weir_store_create(&s.store));
  assert_ok(weir_train_prepare(&task, 1, s.params, s.store));
  s.status = weir_train_run(&task, &cfg, &exec, s.params, s.store, s.dir, &s.result);
  weir_config_destroy(&config);
  close_session(&s);
  return s.status;
}

static void missing_truth_is_not_blamed(void **state)
{
  toy t = {.hidden = 0};

  assert_ok(train_masked(&t));
  t.tail = log_of_less;
  assert_int_equal(train_masked(&t), WEIR_ERR_NUMERIC);
  assert_non_null(strstr(weir_last_message(), "NaN in 'log of less' ("));
}

static void an_infinite_input_is(void **state)
{
  toy t = {.bad_sample = 1, .bad_input = INFINITY, .tail = log_of_less};

  refused(train_in(NULL, &t, 10, 0, 1, SETS("batch=2", "shuffle=false")), WEIR_ERR_NUMERIC,
          "NaN in 'log of less' (");
  t.tail = NULL;
  refused(train_in(NULL, &t, 10, 0, 1, SETS("batch=2", "shuffle=false")), WEIR_ERR_NUMERIC,
          "the input 'x' has inf as element 2");
  assert_int_equal(t.fetched, 2); /* for the step, and to look at it */
}

/* Beside the way of the gradients, which none has through complex numbers. */
static weir_value with_complex_number(weir_graph *g, weir_value loss)
{
  const weir_value one = weir_scalar(g, WEIR_F32, 1), none = weir_scalar(g, WEIR_F32, 0);
  const weir_value z = weir_div(g, weir_make(g, one, one), weir_make(g, none, none));

  return weir_add(g, loss, weir_real(g, weir_label(g, z, "a complex quotient")));
}

static void a_complex_number_that_is_none_is_named(void **state)
{
  toy t = {.hidden = 3, .tail = with_complex_number};

  refused(train_in(NULL, &t, 10, 0, 1, SETS("batch=2")), WEIR_ERR_NUMERIC,
          "NaN in 'a complex quotient' (");
  assert_int_equal(t.fetched, 2); /* for the step, and to look at it */
}

static const toy *looked_at;

/* Its graph cannot be made again once samples are fetched to be looked at. */
static weir_value log_once(weir_graph *g, weir_value loss)
{
  return looked_at->fetched < 2 ? log_of_less(g, loss)
                                : weir_add(g, loss, weir_cast(g, WEIR_F64, loss));
}

static void what_cannot_be_looked_at_is_not_known(void **state)
{
  toy t = {.hidden = 3, .tail = log_once};

  looked_at = &t;
  refused(train_in(NULL, &t, 10, 0, 1, SETS("batch=2")), WEIR_ERR_NUMERIC,
          "NaN or infinite: origin unknown; the latest");
  assert_int_equal(t.fetched, 2);
}

static weir_value steep(weir_graph *g, weir_value loss)
{
  return weir_scale(g, loss, 1e34);
}

/* Loss and gradient are finite, what the update makes of them is not. */
static void an_update_that_overflows_is_not_saved(void **state)
{
  toy t = {.hidden = 3, .tail = steep};
  int64_t newest = 0;
  session s = train_in(NULL, &t, 10, 0, 1,
                       SETS("steps=2", "batch=2", "optim.rule=sgd", "optim.schedule.lr=0",
                            "checkpoint.every=1", "checkpoint.keep=1"));

  assert_ok(s.status);
  refused(train_in(s.dir, &t, 10, 0, 1,
                   SETS("steps=4", "batch=2", "optim.rule=sgd", "optim.schedule.lr=1e6",
                        "checkpoint.every=1", "checkpoint.keep=1")),
          WEIR_ERR_NUMERIC,
          "after the update: this step is not saved, the previous checkpoint is kept");
  assert_non_null(strstr(weir_last_message(), "step 3: element "));
  assert_non_null(strstr(weir_last_message(), "enter/weight"));
  assert_ok(weir_checkpoint_newest(s.dir, &newest));
  assert_int_equal(newest, 2);
  close_session(&s);
}

static int all_tests(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_task_that_does_not_fit_is_refused),
      cmocka_unit_test(numbers_that_no_training_wrote_are_refused),
      cmocka_unit_test(a_second_run_begins_anew),
      cmocka_unit_test(missing_truth_is_not_blamed),
      cmocka_unit_test(an_infinite_input_is),
      cmocka_unit_test(a_complex_number_that_is_none_is_named),
      cmocka_unit_test(what_cannot_be_looked_at_is_not_known),
      cmocka_unit_test(an_update_that_overflows_is_not_saved),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
  weir_log_set_level(WEIR_LOG_ERROR);
  return toy_tests(all_tests);
}
