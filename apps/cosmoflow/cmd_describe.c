/* cmd_describe.c - the resolved configuration, the samples of source.input or what prepare would
 * write and take, and what the network costs; nothing is simulated, nothing is trained. */
#include <stdio.h>
#include "base/weir_file.h"
#include "check.h"
#include "data/simulation/universe_write.h"
#include "estimator.h"
#include "model/summary.h"
#include "ranks.h"
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
  printf("# %lld at a time, in %.4g MB\n", (long long)workers, (double)memory / 1e6);
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

static int64_t or_else(int64_t given, int64_t usual)
{
  return given > 0 ? given : usual;
}

/* ---- Samples of source.input ---- */

/* Samples that the network is described for. */
typedef struct described {
  int64_t side, channels, n_labels, n_classes; /* n_classes: 0: none in the files */
  weir_dtype dtype;
} described;

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

/* Properties of the samples of source.input. Fails also where they are no cubes. */
static weir_status read_samples(cf_cfg *cfg, described *out)
{
  cf_source *s = NULL;
  char text[512];

  WEIR_TRY(cf_open_input(cfg, &s));
  const cf_volume_info *const i = cf_source_info(s);
  const int64_t *const l = i->lengths;
  const bool cubes = l[0] == l[1] && l[1] == l[2];
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
  *out = (described){l[0], l[3], i->n_labels, i->n_classes,
                     weir_dtype_is_real(i->dtype) ? WEIR_F32 : WEIR_I16};
  if (!cubes && cfg->describe.side == 0) {
    status = weir_fail(WEIR_ERR_CONFIG,
                       "describe.side: samples of %lld x %lld x %lld are no cubes: state the side "
                       "of the cubes that the network is described for",
                       (long long)l[0], (long long)l[1], (long long)l[2]);
  }
  cf_source_close(&s);
  return status;
}

/* Samples of source.input where they are there, otherwise what prepare would write. */
static weir_status find_samples(cf_cfg *cfg, const cf_universe_facts *f, described *out)
{
  const char *missing = NULL;
  bool synth = false;

  *out = (described){f->side, f->channels, f->n_labels, 0, f->dtype};
  WEIR_TRY(cf_source_is_synth(&cfg->source.input, &synth));
  if (!synth && is_there(&cfg->source.input, &missing)) {
    return read_samples(cfg, out);
  }
  if (missing != NULL) {
    printf("# source.input: %s is not there: described for the samples of simulate\n", missing);
  }
  return print_universes(&cfg->simulate, f);
}

/* ---- The network ---- */

/* Channels that the network sees: one is classified where the files have no classes. */
static int64_t channels_of(const cf_cfg *cfg, const described *d)
{
  const bool segments = cf_model_net(&cfg->model)->target == CF_SEGMENT;

  return or_else(cfg->describe.channels, d->channels - (segments && d->n_classes == 0));
}

static weir_status print_network(const cf_cfg *cfg, const described *d)
{
  const bool segments = cf_model_net(&cfg->model)->target == CF_SEGMENT;
  const int64_t classes = d->n_classes > 0 ? d->n_classes : CF_CLASSES;
  const int64_t outputs = or_else(cfg->describe.outputs, segments ? classes : d->n_labels);
  const cf_shape shape = {or_else(cfg->describe.side, d->side), channels_of(cfg, d), outputs};
  cf_loss loss;
  cf_summary sheet;

  WEIR_TRY(cf_check_channels(&cfg->model, shape.channels));
  if (outputs == 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "describe.outputs: the samples of source.input have no labels: state how many "
                     "parameters are to be estimated");
  }
  WEIR_TRY(cf_model_loss_kind(&cfg->model, &loss));
  WEIR_TRY(cf_summary_make(&cfg->model, &shape, &sheet));
  printf("# network %s (%s)\n", cf_model_net(&cfg->model)->name, cf_model_net(&cfg->model)->cite);
  cf_summary_print(&sheet, stdout);
  return WEIR_OK;
}

/* Prints the share of each rank of the grid in a step, or the predicted step of each grid, for the
 * samples of the network. */
static weir_status print_grid(const weir_cli *cli, const cf_cfg *cfg, const described *d)
{
  const int64_t side = or_else(cfg->describe.side, d->side);
  const cf_volume_info info = {
      .lengths = {side, side, side, or_else(cfg->describe.channels, d->channels)},
      .n_classes = d->n_classes,
      .n_labels = (int)or_else(cfg->describe.outputs, d->n_labels)};
  const cf_estimator_spec spec = {
      .model = &cfg->model, .scale = cfg->data.scale, .info = &info, .dtype = d->dtype};
  const int ranks = (int)cf_check_ranks(cfg);
  cf_estimator e = {.params = NULL};
  weir_status status = WEIR_OK;
  weir_grid grid;

  WEIR_TRY_GOTO(cf_estimator_open(&spec, 0, &e), done);
  weir_grid_replicate_below(&cfg->grid, e.task.replicate_below);
  if (cfg->grid.by == WEIR_GRID_BY_AUTO) {
    WEIR_TRY_GOTO(cf_grid_choice_print(cfg, cli->threads, &e.task, ranks, stdout), done);
  } else {
    WEIR_TRY_GOTO(cf_check_grid(cfg, ranks, &grid), done);
    WEIR_TRY_GOTO(cf_grid_print(cfg, &grid, &e.task, stdout), done);
  }
done:
  cf_estimator_close(&e);
  return status;
}

static weir_status describe(weir_job *j)
{
  cf_cfg *const cfg = j->cfg;
  cf_universe_facts facts;
  described samples;

  WEIR_TRY(cf_universe_check(&cfg->simulate, &facts));
  WEIR_TRY(find_samples(cfg, &facts, &samples));
  WEIR_TRY(print_network(cfg, &samples));
  WEIR_TRY(print_grid(j->cli, cfg, &samples));
  printf("\n");
  return weir_cli_print_config(j->cli, j->config, stdout);
}

weir_status cf_cmd_describe(const weir_cli *cli)
{
  cf_cfg cfg;

  return weir_job_run(cli, &cf_program, &cfg, describe);
}
