/* cmd_inspect.c - what files of samples hold: how it was understood, labels, and whether the
 * voxels are what one thinks they are; and whether a log of MLPerf HPC keeps to its rules. */
#include <stdio.h>
#include "base/weir_alloc.h"
#include "data/volume/voxel_stats.h"
#include "data/volume/volume_format.h"
#include "commands.h"

static void print_info(const cf_source *s)
{
  const cf_volume_info *const info = cf_source_info(s);
  char text[CF_MAX_LOCATION];

  cf_source_locate(s, 0, text, sizeof text);
  printf("first:    %s\n", text);
  cf_source_summary(s, text, sizeof text);
  printf("all:      %s\n", text);
  for (int64_t c = 0; c < info->n_redshifts; c++) {
    printf("%s%g%s", c == 0 ? "redshift: " : " ", info->redshift[c],
           c + 1 == info->n_redshifts ? "\n" : "");
  }
}

/* What is seen of the samples that are looked at. */
typedef struct seen {
  cf_cfg *cfg;
  int64_t n;         /* samples */
  int64_t *universe; /* [n] -1: not known */
  float *label;      /* [n, labels] */
} seen;

static weir_status print_labels(cf_source *s, int64_t sample, seen *to)
{
  const cf_volume_info *const info = cf_source_info(s);
  float *const labels = to->label + sample * info->n_labels;
  int64_t *const universe = &to->universe[sample];

  WEIR_TRY(cf_source_labels(s, sample, labels));
  WEIR_TRY(cf_source_universe(s, sample, universe));
  printf("sample %lld:", (long long)(sample + 1));
  if (*universe >= 0) {
    printf(" universe %lld,", (long long)*universe);
  }
  printf(info->n_labels > 0 ? " labels" : " no labels");
  for (int64_t i = 0; i < info->n_labels; i++) {
    printf(" %s%s%.7g", info->label[i], info->label[i][0] ? "=" : "", (double)labels[i]);
  }
  printf("\n");
  return WEIR_OK;
}

static void print_census(const cf_voxel_stats *c, weir_dtype dtype)
{
  const char *const remark = cf_voxel_stats_remark(c, dtype);
  char bin[32];

  printf("values:   sum %.12g, mean %.6g, %g to %g\n", c->sum, c->sum / (double)c->n, c->min,
         c->max);
  printf("          %lld of %lld voxels below 0, %lld whole numbers\n", (long long)c->negative,
         (long long)c->n, (long long)c->whole);
  for (int i = 0; i < CF_VOXEL_BINS; i++) {
    if (c->bin[i] > 0) {
      cf_voxel_stats_bin(i, bin, sizeof bin);
      printf("%12s  %10lld  %8.4f %%\n", bin, (long long)c->bin[i],
             100 * (double)c->bin[i] / (double)c->n);
    }
  }
  if (remark[0]) {
    printf("remark:   %s\n", remark);
  }
}

/* Prints the voxels of each class, and compares them with files.classes. */
static void print_classes(const int64_t count[CF_MAX_CLASSES], int64_t classes)
{
  int64_t all = 0, last = 0;

  for (int k = 0; k < CF_MAX_CLASSES; k++) {
    all += count[k];
    last = count[k] > 0 ? k : last;
  }
  printf("classes:\n");
  for (int k = 0; k <= last; k++) {
    if (count[k] > 0 || k < classes) {
      printf("%12d  %10lld  %8.4f %%\n", k, (long long)count[k],
             100 * (double)count[k] / (double)all);
    }
  }
  if (last >= classes) {
    printf("remark:   classes up to %lld, and files.classes is %lld: a training refuses them\n",
           (long long)last, (long long)classes);
  }
}

/* Adds the classes of a plane. */
static weir_status count_classes(cf_source *s, int64_t sample, int64_t d, uint8_t *plane,
                                 int64_t count[CF_MAX_CLASSES])
{
  const cf_volume_info *const info = cf_source_info(s);

  WEIR_TRY(cf_source_classes(s, sample, d, d + 1, plane));
  for (int64_t i = 0; i < info->lengths[1] * info->lengths[2]; i++) {
    count[plane[i]]++;
  }
  return WEIR_OK;
}

/* ---- What run and predict check ---- */

/* Prints what they would refuse, which does not end the inspection. */
static weir_status remark(weir_status status, const char *by)
{
  if (status != WEIR_ERR_DATA && status != WEIR_ERR_CONFIG) {
    return status;
  }
  printf("remark:   %s: %s\n", by, weir_last_message());
  return WEIR_OK;
}

/* Checks the voxels of the samples, up to the first that is refused. */
static weir_status check_voxels(cf_source *s, const seen *is)
{
  const cf_volume_info *const info = cf_source_info(s);
  cf_samples *samples = NULL;
  void *voxels = NULL;
  weir_status status = WEIR_OK;

  is->cfg->data.cache_bytes = 0;
  is->cfg->data.augment.symmetry = CF_SYMMETRY_NONE;
  WEIR_TRY(cf_samples_create(&is->cfg->data, s, CF_TRUTH_NONE, &samples));
  WEIR_TRY_GOTO(weir_alloc(cf_volume_elements(info), sizeof(float), &voxels), done);
  for (int64_t k = 0; k < is->n && status == WEIR_OK; k++) {
    const cf_wanted all = {.sample = k,
                           .hi = {info->lengths[0], info->lengths[1], info->lengths[2]}};

    status = cf_samples_read(samples, &all, voxels, NULL);
  }
done:
  weir_free(&voxels);
  cf_samples_destroy(&samples);
  return remark(status, "run and predict refuse these voxels");
}

/* Compares labels and universes of the samples. */
static weir_status check_universes(cf_source *s, const seen *is)
{
  const cf_volume_info *const info = cf_source_info(s);
  const int64_t each = is->cfg->data.split.samples_per_universe;
  cf_split split;

  if (info->n_labels == 0 && info->n_classes == 0) {
    printf("remark:   no labels: predict estimates parameters of such samples, and run refuses "
           "them\n");
  }
  bool by_position = each > 0 && is->n > 0;

  for (int64_t k = 0; k < is->n; k++) {
    by_position = by_position && is->universe[k] < 0;
  }
  weir_status status = by_position ? cf_split_check_count(each, cf_source_count(s)) : WEIR_OK;

  if (status != WEIR_OK) {
    return remark(status, "run refuses these universes");
  }
  for (int64_t k = 0; by_position && k < is->n; k++) {
    is->universe[k] = k / each;
  }
  status = cf_split_of_lists("", "", 0, is->universe, is->n, &split);

  split.samples_per_universe = by_position ? each : 0; /* as errors name it */

  if (status == WEIR_OK) {
    status = cf_split_check_labels(&split, info->n_labels, is->label);
    cf_split_fini(&split);
  }
  return remark(status, "run refuses these universes");
}

/* ---- Samples ---- */

/* The voxels of the samples, a plane at a time. */
static weir_status inspect_voxels(cf_source *s, seen *is, int64_t classes)
{
  const cf_volume_info *const info = cf_source_info(s);
  const weir_dtype dtype = weir_dtype_is_real(info->dtype) ? WEIR_F32 : WEIR_I16;
  cf_voxel_stats c = {0};
  int64_t count[CF_MAX_CLASSES] = {0};
  void *plane = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_alloc(cf_volume_plane(info), weir_dtype_size(dtype), &plane));
  for (int64_t k = 0; k < is->n; k++) {
    WEIR_TRY_GOTO(print_labels(s, k, is), done);
    for (int64_t d = 0; d < info->lengths[0]; d++) {
      WEIR_TRY_GOTO(cf_source_read(s, k, d, d + 1, dtype, plane), done);
      cf_voxel_stats_add(&c, dtype, plane, cf_volume_plane(info));
      if (info->n_classes > 0) { /* fewer bytes than voxels have */
        WEIR_TRY_GOTO(count_classes(s, k, d, plane, count), done);
      }
    }
  }
  print_census(&c, dtype);
  if (info->n_classes > 0) {
    print_classes(count, classes);
  }
done:
  weir_free(&plane);
  return status;
}

static weir_status print_samples(cf_source *s, cf_cfg *cfg, int64_t classes)
{
  const int64_t all = cf_source_count(s), wanted = cfg->inspect.samples;
  const int64_t labels = cf_source_info(s)->n_labels;
  seen is = {.cfg = cfg, .n = wanted < all ? wanted : all};
  weir_status status = WEIR_OK;

  print_info(s);
  WEIR_TRY_GOTO(weir_alloc(is.n, sizeof *is.universe, (void **)&is.universe), done);
  WEIR_TRY_GOTO(weir_alloc(is.n * labels, sizeof *is.label, (void **)&is.label), done);
  WEIR_TRY_GOTO(inspect_voxels(s, &is, classes), done);
  if (is.n > 0) {
    WEIR_TRY_GOTO(check_voxels(s, &is), done);
    WEIR_TRY_GOTO(check_universes(s, &is), done);
  }
  printf("checked:  %lld of %lld samples (inspect.samples), as run and predict check all\n",
         (long long)is.n, (long long)all);
done:
  weir_free(&is.universe);
  weir_free(&is.label);
  return status;
}

/* Of several logs: whether they make a submission. */
static weir_status check_runs(const weir_cli *cli, const cf_mllog_judged *log)
{
  const int n = cli->n_args;
  double minutes = 0;

  if (n < 2) {
    return WEIR_OK;
  }
  WEIR_TRY(cf_mllog_check_runs(cli->args, log, n, &minutes));
  printf("runs:     %d with seeds that differ, %.4g minutes from run_start to run_stop (mean%s)\n",
         n, minutes, n < 3 ? "" : " without the fastest and the slowest");
  if (log[0].closed && n < CF_MLLOG_RUNS) {
    printf("remark:   the time to solution of the closed division takes %d runs\n", CF_MLLOG_RUNS);
  }
  return WEIR_OK;
}

/* Each log by the rules, up to the first that breaks one; then all as one submission. */
static weir_status check_logs(const weir_cli *cli, double target)
{
  cf_mllog_judged *log = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_alloc(cli->n_args, sizeof *log, (void **)&log));
  for (int k = 0; k < cli->n_args; k++) {
    WEIR_TRY_GOTO(cf_mllog_check(cli->args[k], target, &log[k]), done);
    printf("log:      %s keeps to the rules of MLPerf HPC, %s division, with an eval_error in (0, "
           "%g]\n",
           cli->args[k], log[k].closed ? "closed" : "open",
           log[k].closed ? CF_MLLOG_TARGET : target);
  }
  WEIR_TRY_GOTO(check_runs(cli, log), done);
done:
  weir_free(&log);
  return status;
}

static weir_status inspect(weir_job *j)
{
  const weir_cli *const cli = j->cli;
  cf_cfg *const cfg = j->cfg;
  const int64_t classes = cfg->files.classes;
  cf_source *s = NULL;

  if (cli->n_args > 0 && cf_mllog_is(cli->args[0])) {
    return check_logs(cli, cf_mllog_target(&cfg->train));
  }
  cfg->files.classes = CF_MAX_CLASSES; /* all classes of the file are counted */
  WEIR_TRY(cf_open_input(cfg, &s));
  const weir_status status = print_samples(s, cfg, classes);

  cf_source_close(&s);
  return status;
}

weir_status cf_cmd_inspect(const weir_cli *cli)
{
  cf_cfg cfg;

  return weir_job_run(cli, &cf_program, &cfg, inspect);
}
