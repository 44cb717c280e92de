/* sizes_test.c - training steps whose samples have sizes of their own: which ones, with how many
 * samples, and that runs are the same on any threads and after an interruption. */
#include "support/train/train_check.h"

#include "base/weir_log.h"
#include "nn/weir_norm.h"
#include "ops/reduce/weir_reduce.h"

enum { WHOLE = 8, SAMPLES = 21, VALID = 5, SIZES = 3, CHANNELS = 2 };

/* What a task of rows of WHOLE voxels was asked for. */
typedef struct rows {
  int64_t asked[WHOLE + 1]; /* batches of training samples, by side */
  int64_t stop_at, fetched;
  int64_t epoch, position; /* of the last ordered batch */
  bool wrong;              /* a box, a shape and repeats did not go together */
  int64_t told;            /* epoch, of which samples are views where `views` */
  bool views;
} rows;

static float voxel(int64_t sample, int64_t i, uint64_t c)
{
  return (float)(2 * weir_random_uniform(5, (uint32_t)c, 0, (uint64_t)(sample * WHOLE + i)) + 1);
}

static weir_status build(weir_net *net, const void *opts, const weir_value *in, weir_value *loss)
{
  weir_graph *g = net->graph;
  const weir_array_desc *d = weir_value_desc(g, in[0]);
  const double side = (double)d->shape[1];
  const weir_nn_norm_spec norm = {.kind = WEIR_NORM_BATCH, .momentum = 0.1};
  const weir_reduce_spec along = {.combine = WEIR_COMBINE_SUM, .n_dims = 1, .dim = {1}};
  const weir_activation tanh_of = {.kind = WEIR_ACTIVATION_TANH};
  weir_value h = weir_nn_norm(net, "norm", &norm, in[0]);

  (void)opts;
  h = weir_nn_dense(net, "enter", (&(weir_nn_dense_spec){.units = 6, .activation = tanh_of}), h);
  h = weir_scale(g, weir_reduce(g, &along, h), 1 / side);
  h = weir_nn_dropout(net, "drop", &(weir_nn_dropout_spec){.rate = 0.2}, h);
  h = weir_nn_dense(net, "leave", (&(weir_nn_dense_spec){.units = 1}), h);
  *loss = weir_loss_mse(g, h, in[1], WEIR_NO_VALUE);
  return weir_graph_status(g);
}

static weir_status fetch(void *context, const weir_train_batch *want, weir_tensor *const *tensor)
{
  rows *r = context;
  const bool train = want->split == WEIR_TRAIN_SAMPLES;
  const int64_t side = want->box[0].hi[0], n = want->repeats;
  float *x = tensor[0]->data, *y = tensor[1]->data;

  r->wrong = r->wrong || tensor[0]->shape[0] != want->n * n || tensor[0]->shape[1] != side ||
             tensor[1]->shape[0] != want->n * n || (!train && side != WHOLE);
  if (train && want->position >= 0) {
    r->asked[side] += 1;
    r->epoch = want->epoch;
    r->position = want->position;
    if (r->stop_at > 0 && ++r->fetched == r->stop_at) {
      weir_stop_request(15);
    }
  }
  for (int64_t i = 0; i < want->n * n; i++) {
    const int64_t view = r->views ? SAMPLES * (1 + r->told) : 0;
    const int64_t sample = want->sample[i / n] + (train ? view : SAMPLES);

    for (int64_t k = 0; k < side * CHANNELS; k++) {
      x[i * side * CHANNELS + k] =
          voxel(sample, i % n * side + k / CHANNELS, (uint64_t)(k % CHANNELS));
    }
    y[i] = sinf((float)sample);
  }
  return WEIR_OK;
}

static const weir_train_input inputs[SIZES + 1][2] = {
#define ROW(side)                                                           \
  {                                                                         \
    {.name = "x", .dtype = WEIR_F32, .rank = 2, .shape = {side, CHANNELS}}, \
    {                                                                       \
      .name = "y", .dtype = WEIR_F32, .rank = 1, .shape = { 1 }             \
    }                                                                       \
  }
    ROW(WHOLE),
    ROW(2),
    ROW(4),
    ROW(WHOLE),
#undef ROW
};

/* 2 voxels four times, 4 voxels in as many more batches, all of them. */
static const weir_train_size sizes[SIZES] = {
    {.side = 2, .input = inputs[1], .share = 1, .batches = 1, .repeats = 4, .lr = 0.5},
    {.side = 4, .input = inputs[2], .share = 2, .batches = 2, .repeats = 1, .lr = 1},
    {.side = WHOLE, .input = inputs[3], .share = 1, .batches = 1, .repeats = 1, .lr = 1},
};

static weir_train_task task_of(rows *r)
{
  return (weir_train_task){.name = "rows",
                           .dtype = WEIR_F32,
                           .input = inputs[0],
                           .n_inputs = 2,
                           .n_train = SAMPLES,
                           .n_valid = VALID,
                           .build = build,
                           .fetch = fetch,
                           .context = r,
                           .size = sizes,
                           .n_sizes = SIZES,
                           .calibrate = 3};
}

static session train_rows(const weir_train_task *task, const char *dir, int threads,
                          const char *const *sets)
{
  session s = {.status = WEIR_OK};
  weir_config *config = NULL;
  weir_exec_cfg tier;
  const weir_plan_opts exec = on_threads(threads, &tier);
  int n = 0;

  while (sets[n] != NULL) {
    n++;
  }
  const weir_train_cfg cfg = toy_cfg(sets, n, &config);

  if (dir == NULL) {
    toy_dir(s.dir, sizeof s.dir);
  } else {
    snprintf(s.dir, sizeof s.dir, "%s", dir);
  }
  assert_ok(weir_params_create(task->dtype, &s.params));
  assert_ok(weir_store_create(&s.store));
  assert_ok(weir_train_prepare(task, cfg.seed, s.params, s.store));
  s.status = weir_train_run(task, &cfg, &exec, s.params, s.store, s.dir, &s.result);
  weir_config_destroy(&config);
  return s;
}

static void bits_are_those_of_any_threads_and_interruption(void **state)
{
  const char *const *sets =
      SETS("epochs=4", "batch=4", "optim.average.decay=0.9", "checkpoint.every=2");
  rows r = {.stop_at = 0};
  const weir_train_task task = task_of(&r);
  session one = train_rows(&task, NULL, 1, sets), two = train_rows(&task, NULL, 2, sets);

  assert_ok(one.status);
  assert_ok(two.status);
  assert_same(&one, &two);
  assert_true(r.asked[2] > 0 && r.asked[4] > 0 && r.asked[WHOLE] > 0 && !r.wrong);
  for (int64_t at = 3; at < 9; at += 5) {
    r = (rows){.stop_at = at};
    session first = train_rows(&task, NULL, 1, sets);

    weir_stop_request(0);
    assert_int_equal(first.status, WEIR_ERR_STOPPED);
    r.stop_at = 0;
    session second = train_rows(&task, first.dir, 1, sets);

    assert_ok(second.status);
    assert_same(&one, &second);
    close_session(&first);
    close_session(&second);
  }
  close_session(&one);
  close_session(&two);
}

/* A size that is the samples' own and has two batches is an accumulation of two, bit by bit. */
static void more_batches_accumulate(void **state)
{
  rows r = {.stop_at = 0};
  weir_train_task task = task_of(&r);
  weir_train_size twice = sizes[2];

  twice.batches = 2;
  task.size = &twice;
  task.n_sizes = 1;
  task.calibrate = 0;
  session mixed = train_rows(&task, NULL, 1, SETS("epochs=3", "batch=4"));

  task.size = NULL;
  session plain = train_rows(&task, NULL, 1, SETS("epochs=3", "batch=4", "accumulate=2"));

  assert_ok(mixed.status);
  assert_ok(plain.status);
  assert_int_equal(mixed.result.step, plain.result.step);
  assert_int_equal(weir_compare("parameters", WEIR_F32,
                                check_stored(mixed.store, WEIR_PARAMS_FLAT)->data,
                                check_stored(plain.store, WEIR_PARAMS_FLAT)->data,
                                weir_params_elements(plain.params), (weir_tolerance){0, 0}),
                   0);
  assert_near(mixed.result.valid_loss, plain.result.valid_loss, 0);
  close_session(&mixed);
  close_session(&plain);
}

/* Epochs end where all samples were seen, and the last batch is where weir_train_last has it. */
static void steps_are_counted(void **state)
{
  rows r = {.stop_at = 0};
  const weir_train_task task = task_of(&r);
  session whole = train_rows(&task, NULL, 1, SETS("epochs=5", "batch=4"));
  const weir_train_cfg cfg = {.epochs = 5, .batch = 4, .accumulate = 1, .seed = 1, .steps = 7};
  int64_t epoch = 0, position = 0;

  assert_ok(whole.status);
  assert_int_equal(whole.result.epoch, 5);
  assert_int_equal(r.epoch, 4);
  assert_true(whole.result.step < 5 * 6 && whole.result.step > 5 * 3);
  session some = train_rows(&task, NULL, 1, SETS("steps=7", "batch=4"));

  assert_ok(some.status);
  weir_train_last(&task, &cfg, SAMPLES, &epoch, &position);
  assert_int_equal(some.result.epoch, epoch);
  if (position > 0) {
    assert_int_equal(r.epoch, epoch);
    assert_int_equal(r.position + 4, position);
  }
  close_session(&whole);
  close_session(&some);
}

/* With weights that hardly move, the statistics that validation sees are the means over three
 * batches of whole samples, in the order of the epoch that follows, of mean and unbiased variance.
 */
static void statistics_are_measured_anew(void **state)
{
  rows r = {.stop_at = 0};
  const weir_train_task task = task_of(&r);
  session s = train_rows(&task, NULL, 1,
                         SETS("epochs=2", "batch=4", "optim.schedule.lr=1e-9", "keep_best=false"));
  const weir_train_cfg cfg = {.batch = 4, .accumulate = 1, .seed = 1, .shuffle = true};
  const weir_sampler order = weir_train_order(&cfg, SAMPLES);

  assert_ok(s.status);
  for (uint64_t c = 0; c < CHANNELS; c++) {
    double mean = 0, variance = 0;

    for (int64_t k = 0; k < 3; k++) {
      int64_t sample[4];
      double sum = 0, squares = 0;

      weir_sampler_take(&order, 2, 4 * k, 4, sample);
      for (int64_t i = 0; i < 4 * WHOLE; i++) {
        const double x = voxel(sample[i / WHOLE], i % WHOLE, c);

        sum += x;
        squares += x * x;
      }
      mean += sum / (4 * WHOLE) / 3;
      variance += (squares - sum * sum / (4 * WHOLE)) / (4 * WHOLE - 1) / 3;
    }
    assert_near(((const float *)check_stored(s.store, "norm/mean")->data)[c], mean, 1e-6);
    assert_near(((const float *)check_stored(s.store, "norm/variance")->data)[c], variance, 1e-6);
  }
  close_session(&s);
}

static void begin_views(void *context, int64_t epoch)
{
  ((rows *)context)->told = epoch;
}

static void assert_same_network(const session *a, const session *b)
{
  static const char *const name[] = {WEIR_PARAMS_FLAT, "norm/mean", "norm/variance"};

  for (int i = 0; i < 3; i++) {
    const weir_tensor *const x = check_stored(a->store, name[i]);

    assert_memory_equal(x->data, check_stored(b->store, name[i])->data,
                        (size_t)weir_tensor_numel(x) * sizeof(float));
  }
}

/* Without validation statistics are measured as a run ends, of views of its last epoch: a complete
 * run that is repeated keeps its weights, whether it ended with an epoch or within one. */
static void a_complete_run_stays_as_it_is(void **state)
{
  const char *const *const ends[] = {SETS("epochs=3", "batch=4"), SETS("steps=7", "batch=4")};

  for (int i = 0; i < 2; i++) {
    rows r = {.views = true};
    weir_train_task task = task_of(&r);

    task.n_valid = 0;
    task.epoch = begin_views;
    session first = train_rows(&task, NULL, 1, ends[i]);

    r.told = 0;
    session again = train_rows(&task, first.dir, 1, ends[i]);

    assert_ok(first.status);
    assert_ok(again.status);
    assert_int_equal(first.result.step, again.result.step);
    assert_same_network(&first, &again);
    close_session(&first);
    close_session(&again);
  }
}

static void what_does_not_go_together_is_refused(void **state)
{
  rows r = {.stop_at = 0};
  weir_train_task task = task_of(&r);
  weir_train_size none = sizes[0];

  refused(train_rows(&task, NULL, 1, SETS("epochs=1", "models.seeds=[1, 2]")), WEIR_ERR_CONFIG,
          "do not take samples of several sizes");
  none.share = 0;
  task.size = &none;
  task.n_sizes = 1;
  refused(train_rows(&task, NULL, 1, SETS("epochs=1")), WEIR_ERR_CONFIG, "that are not all 0");
}

static int all_tests(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bits_are_those_of_any_threads_and_interruption),
      cmocka_unit_test(more_batches_accumulate),
      cmocka_unit_test(steps_are_counted),
      cmocka_unit_test(statistics_are_measured_anew),
      cmocka_unit_test(a_complete_run_stays_as_it_is),
      cmocka_unit_test(what_does_not_go_together_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
  weir_log_set_level(WEIR_LOG_ERROR);
  return toy_tests(all_tests);
}
