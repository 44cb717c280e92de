/* described.c - see described.h. */
#include "described.h"
#include <stdio.h>
#include "base/weir_file.h"
#include "data/simulation/universe_write.h"
#include "place/weir_grid_select.h"
#include "place/measure/weir_machine_measure.h"
#include "commands.h"

static weir_status print_universes(const cf_universe_opts *o, const cf_universe_facts *f)
{
  const int64_t files = (o->universes + o->file - 1) / o->file;
  int64_t memory = 0;
  const int64_t workers = cf_universe_workers(o, f, &memory);

  printf(
      "# %lld universes in %lld files, %.4g MB before compression; %lld samples of %lld^3 cells, "
      "%lld channels, %s\n",
      (long long)o->universes, (long long)files, (double)o->universes * (double)f->bytes / 1e6,
      (long long)(o->universes * f->samples), (long long)f->side, (long long)f->channels,
      weir_dtype_name(f->dtype));
  if (o->ranks > 1) {
    printf("# each on %lld ranks, in %.4g MB of each\n", (long long)o->ranks, (double)memory / 1e6);
  } else {
    printf("# %lld at a time, in %.4g MB\n", (long long)workers, (double)memory / 1e6);
  }
  for (int k = 0; k < f->n_labels; k++) {
    printf("# label %s: %g to %g\n", cf_parameter_name[f->label[k]], f->lo[f->label[k]],
           f->hi[f->label[k]]);
  }
  for (int64_t c = 0; c < o->redshifts.count; c++) {
    double moved = 0;

    WEIR_TRY(cf_universe_motion(o, f, o->redshifts.items[c], &moved));
    printf("# channel %lld: z = %g, rms displacement %.2f particle spacings\n", (long long)c,
           o->redshifts.items[c], moved);
  }
  return WEIR_OK;
}

/* Whether all files, folders and lists of source.input are there. */
static bool is_there(const weir_string_list *input, const char **missing)
{
  for (int64_t i = 0; i < input->count; i++) {
    if (!weir_file_exists(input->items[i]) && !weir_dir_has_entries(input->items[i])) {
      *missing = input->items[i];
      return false;
    }
  }
  return input->count > 0;
}

/* Properties of the samples of source.input. Fails also where they are neither cubes nor
 * square maps. */
static weir_status read_samples(cf_cfg *cfg, cf_described *out)
{
  cf_source *s = NULL;
  char text[512];

  WEIR_TRY(cf_open_input(cfg, &s));
  const cf_volume_info *const i = cf_source_info(s);
  const int64_t *const l = i->lengths;
  const bool map = l[0] == 1, fit = (map || l[0] == l[1]) && l[1] == l[2];
  weir_status status = WEIR_OK;

  cf_source_describe(s, text, sizeof text);
  printf("# source.input: %s\n", text);
  for (int64_t k = 0; k < i->n_labels; k++) {
    if (i->lo[k] < i->hi[k]) {
      printf("# label %s: %g to %g\n", i->label[k][0] ? i->label[k] : "without a name", i->lo[k],
             i->hi[k]);
    } else {
      printf("# label %s: range unknown\n", i->label[k][0] ? i->label[k] : "without a name");
    }
  }
  *out = (cf_described){.side = l[1],
                        .map = map,
                        .channels = l[3],
                        .n_labels = i->n_labels,
                        .n_classes = i->n_classes,
                        .dtype = weir_dtype_is_real(i->dtype) ? WEIR_F32 : WEIR_I16};
  if (!fit && cfg->describe.side == 0) {
    status = weir_fail(WEIR_ERR_CONFIG,
                       "describe.side: samples of %lld x %lld x %lld are neither cubes nor square "
                       "maps: state the side of those that the network is described for",
                       (long long)l[0], (long long)l[1], (long long)l[2]);
  }
  cf_source_close(&s);
  return status;
}

weir_status cf_described_find(cf_cfg *cfg, const cf_universe_facts *f, cf_described *out)
{
  const char *missing = NULL;
  bool synth = false;

  *out = (cf_described){
      .side = f->side, .channels = f->channels, .n_labels = f->n_labels, .dtype = f->dtype};
  WEIR_TRY(cf_source_is_synth(&cfg->source.input, &synth));
  if (!synth && is_there(&cfg->source.input, &missing)) {
    return read_samples(cfg, out);
  }
  if (missing != NULL) {
    printf("# source.input: %s is not there: described for the samples of simulate\n", missing);
  }
  return print_universes(&cfg->simulate, f);
}

static int64_t or_else(int64_t given, int64_t usual)
{
  return given > 0 ? given : usual;
}

cf_shape cf_described_shape(const cf_cfg *cfg, const cf_described *d)
{
  const bool segments = cf_model_net(&cfg->model)->target == CF_SEGMENT;
  const int64_t classes = d->n_classes > 0 ? d->n_classes : CF_CLASSES;

  return (cf_shape){
      .side = or_else(cfg->describe.side, d->side),
      .map = cfg->describe.map || d->map,
      .channels = or_else(cfg->describe.channels, d->channels - (segments && d->n_classes == 0)),
      .outputs = or_else(cfg->describe.outputs, segments ? classes : d->n_labels)};
}

weir_status cf_described_open(const cf_cfg *cfg, cf_described *d, cf_estimator *out)
{
  const int64_t side = or_else(cfg->describe.side, d->side);
  const cf_estimator_spec spec = {.model = &cfg->model,
                                  .scale = cfg->data.scale,
                                  .info = &d->info,
                                  .dtype = cf_sizes_dtype(&cfg->data, d->dtype),
                                  .sizes = &cfg->data.sizes,
                                  .scaled = cf_sizes_scaled(&cfg->data)};
  const bool segments = cf_model_net(&cfg->model)->target == CF_SEGMENT;

  d->info = (cf_volume_info){.lengths = {cfg->describe.map || d->map ? 1 : side, side, side,
                                         or_else(cfg->describe.channels, d->channels)},
                             .n_classes = d->n_classes,
                             .n_labels = (int)or_else(cfg->describe.outputs, d->n_labels)};
  *out = (cf_estimator){.params = NULL};
  WEIR_TRY(cf_sizes_check(&cfg->data, &d->info, segments));
  return cf_estimator_open(&spec, 0, out);
}

static weir_status predict_step(const cf_cfg *cfg, int threads, cf_estimator *e, double *seconds)
{
  const weir_plan_opts exec = {.exec = &cfg->exec, .threads = threads};
  weir_machine m = cfg->grid.machine;
  weir_grid_choice choice;

  WEIR_TRY(weir_machine_measure(NULL, &cfg->comm, &exec, &m));
  WEIR_TRY(weir_grid_select(&e->task, &cfg->train, &exec, &m, NULL, 1, &choice));
  *seconds = choice.row[choice.best].cost.seconds;
  weir_grid_choice_fini(&choice);
  return WEIR_OK;
}

weir_status cf_described_step(cf_cfg *cfg, int threads, int64_t *bytes, double *seconds)
{
  cf_universe_facts facts;
  cf_described samples;
  cf_estimator e = {.params = NULL};
  weir_status status = WEIR_OK;

  if ((bytes == NULL || *bytes > 0) && *seconds > 0) {
    return WEIR_OK;
  }
  WEIR_TRY(cf_universe_check(&cfg->simulate, &facts));
  WEIR_TRY(cf_described_find(cfg, &facts, &samples));
  WEIR_TRY_GOTO(cf_described_open(cfg, &samples, &e), done);
  if (bytes != NULL && *bytes == 0) {
    *bytes = weir_params_elements(e.params) * (int64_t)sizeof(float);
  }
  if (*seconds == 0) {
    WEIR_TRY_GOTO(predict_step(cfg, threads, &e, seconds), done);
  }
done:
  cf_estimator_close(&e);
  return status;
}
