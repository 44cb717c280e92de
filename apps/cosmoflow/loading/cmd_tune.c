/* cmd_tune.c - measured speeds of the storage of this machine and the settings of the loader that
 * they suggest, as a configuration of run and loading (load.yaml). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "base/weir_signal.h"
#include "comm/weir_request.h"
#include "commands.h"
#include "load/weir_load_measure.h"
#include "loading/choice.h"
#include "loading/loading.h"
#include "report/weir_report.h"

/* The command at work. */
typedef struct tuning {
  weir_job *job;
  const cf_cfg *cfg;
  weir_comm *comm;
  cf_source *s;
  int rank, size;
  int64_t sample_bytes, each; /* samples of a reader */
  weir_load_speeds memory, directory, source;
  cf_choice choice; /* of rank 0 */
} tuning;

/* ---- The files of samples ---- */

/* Adds the share of a file that the page cache keeps; NaN: not known. */
typedef struct dropped {
  double cached, bytes;
  int64_t left; /* files that are read */
} dropped;

static weir_status drop(void *context, const char *path)
{
  dropped *const d = context;
  int64_t size = 0;

  if (d->left-- <= 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_file_size(path, &size));
  d->cached += weir_load_drop_cached(path) * (double)size;
  d->bytes += (double)size;
  return WEIR_OK;
}

static weir_status largest(const tuning *t, double *x, int n)
{
  weir_request *r = NULL;

  WEIR_TRY(
      weir_allreduce_create(t->comm, "tune", weir_reducer_of(WEIR_REDUCE_MAX, WEIR_F64), x, n, &r));
  return weir_request_run_once(&r);
}

static weir_status read_samples(const tuning *t, int readers, void *voxels)
{
  const cf_volume_info *const info = cf_source_info(t->s);
  const weir_dtype dtype = weir_dtype_is_real(info->dtype) ? WEIR_F32 : WEIR_I16;
  float labels[CF_MAX_LABELS];

  for (int64_t k = 0; k < t->each && t->rank < readers; k++) {
    const int64_t sample = k * readers + t->rank;

    if (weir_stop_requested()) {
      return weir_fail(WEIR_ERR_STOPPED, "stopped by signal %d", weir_stop_signal());
    }
    WEIR_TRY(cf_source_read(t->s, sample, 0, info->lengths[0], dtype, voxels));
    WEIR_TRY(info->n_classes > 0
                 ? cf_source_classes(t->s, sample, 0, info->lengths[0], (uint8_t *)voxels)
                 : cf_source_labels(t->s, sample, labels));
  }
  return WEIR_OK;
}

/* So many ranks read different samples, which none has read before. x: seconds, cached share
 * (infinite: not known). */
static weir_status time_readers(tuning *t, int readers, void *voxels, double x[2])
{
  dropped d = {.left = readers * t->each}; /* a file has a sample or more */

  /* On each rank: each machine has a page cache. */
  WEIR_TRY(weir_comm_agree(t->comm, cf_source_list(&t->cfg->source.input, drop, &d)));
  const double begin = weir_clock();

  WEIR_TRY(weir_comm_agree(t->comm, read_samples(t, readers, voxels)));
  x[0] = weir_clock() - begin;
  x[1] = isnan(d.cached) ? (double)INFINITY : d.bytes > 0 ? d.cached / d.bytes : 0;
  return largest(t, x, 2);
}

static weir_status measure_source(tuning *t)
{
  void *voxels = NULL;
  weir_status status = weir_alloc(t->sample_bytes, 1, &voxels);

  WEIR_TRY_GOTO(weir_comm_agree(t->comm, status), done);
  for (int g = 1; g <= t->size && t->source.n < WEIR_LOAD_MAX_PAIRS;
       g = g < t->size && 2 * g > t->size ? t->size : 2 * g) {
    double x[2] = {0, 0};

    WEIR_TRY_GOTO(time_readers(t, g, voxels, x), done);
    t->source.item[2 * t->source.n] = g;
    t->source.item[2 * t->source.n + 1] =
        (double)(g * t->each) * (double)t->sample_bytes / 1e6 / fmax(x[0], 1e-9);
    t->source.n++;
    t->source.cached = fmax(t->source.cached, x[1]);
  }
  t->source.cached = isinf(t->source.cached) ? (double)NAN : t->source.cached;
done:
  weir_free(&voxels);
  return status;
}

/* ---- Results ---- */

/* As they are written, so that a simulation with the file has the numbers of this one. */
static weir_real_list rounded(weir_load_speeds *s)
{
  for (int i = 0; i < 2 * s->n; i++) {
    char text[32];

    (void)snprintf(text, sizeof text, "%.5g", s->item[i]);
    s->item[i] = strtod(text, NULL);
  }
  return (weir_real_list){s->item, 2 * s->n};
}

static weir_status choose(tuning *t)
{
  const weir_real_list memory = rounded(&t->memory), directory = rounded(&t->directory),
                       source = rounded(&t->source);

  return cf_choice_make(t->cfg, t->size, &memory, &directory, &source, &t->choice);
}

static weir_status write_origin(const tuning *t, weir_writer *w, const char *of,
                                const weir_load_speeds *s)
{
  WEIR_TRY(weir_writer_printf(w, "  # %s", of));
  if (!isnan(s->cached)) {
    WEIR_TRY(
        weir_writer_printf(w, "; %.3g %% of the bytes were in memory before", 100 * s->cached));
  } else if (s != &t->memory) {
    WEIR_TRY(weir_writer_printf(w, "; how much of the files was in memory before is not known"));
  }
  return weir_writer_printf(w, "\n");
}

static weir_status write_speed(weir_writer *w, const weir_load_speeds *s)
{
  WEIR_TRY(weir_writer_printf(w, "speed: ["));
  for (int i = 0; i < s->n; i++) {
    WEIR_TRY(
        weir_writer_printf(w, "%s%g, %.5g", i > 0 ? ", " : "", s->item[2 * i], s->item[2 * i + 1]));
  }
  return weir_writer_printf(w, "]}\n");
}

/* A double-quoted scalar of YAML. */
static weir_status write_path(weir_writer *w, const char *path)
{
  WEIR_TRY(weir_writer_printf(w, "path: \""));
  for (const char *c = path; *c; c++) {
    WEIR_TRY(weir_writer_printf(w, "%s%c", *c == '"' || *c == '\\' ? "\\" : "", *c));
  }
  return weir_writer_printf(w, "\", ");
}

static weir_status write_tiers(const tuning *t, weir_writer *w)
{
  const weir_load_cfg *const c = &t->choice.load;

  WEIR_TRY(weir_writer_printf(w, "  staging: {bytes: %lld, threads: %lld}\n",
                              (long long)c->staging.bytes, (long long)c->staging.threads));
  WEIR_TRY(write_origin(t, w, "threads that copy samples", &t->memory));
  WEIR_TRY(
      weir_writer_printf(w, "  memory: {bytes: %lld, threads: 0, ", (long long)c->memory.bytes));
  WEIR_TRY(write_speed(w, &t->memory));
  if (t->directory.n > 0) {
    WEIR_TRY(write_origin(t, w, "threads that read files of load.directory.path", &t->directory));
    WEIR_TRY(weir_writer_printf(w, "  directory: {"));
    WEIR_TRY(write_path(w, c->directory.path));
    WEIR_TRY(weir_writer_printf(w, "bytes: %lld, threads: 0, ", (long long)c->directory.bytes));
    WEIR_TRY(write_speed(w, &t->directory));
  }
  WEIR_TRY(write_origin(t, w, "ranks that read, decode and convert source.input", &t->source));
  WEIR_TRY(weir_writer_printf(w, "  source: {"));
  WEIR_TRY(write_speed(w, &t->source));
  return weir_writer_printf(w, "  remote: %s\n", c->remote == WEIR_LOAD_OFF ? "off" : "auto");
}

static weir_status fill(const tuning *t, weir_writer *w)
{
  WEIR_TRY(weir_writer_printf(w,
                              "# measured by cosmoflow tune with samples of %lld bytes: numbers of "
                              "threads or ranks, MB/s of all of them\n",
                              (long long)t->sample_bytes));
  WEIR_TRY(cf_choice_comment(&t->choice, w));
  WEIR_TRY(weir_writer_printf(w, "load:\n"));
  WEIR_TRY(write_tiers(t, w));
  return cf_choice_training(&t->choice, w);
}

static weir_status write_yaml(const tuning *t)
{
  char path[CF_PATH];
  weir_writer *w = NULL;

  WEIR_TRY(weir_path_join(t->job->cli->out, "load.yaml", path, sizeof path));
  WEIR_TRY(weir_writer_open(path, &w));
  const weir_status status = fill(t, w);

  if (status != WEIR_OK) {
    weir_writer_destroy(&w);
    return status;
  }
  return weir_writer_commit(&w);
}

static void add_rows(weir_table *rows, const char *tier, const weir_load_speeds *s)
{
  for (int i = 0; i < s->n; i++) {
    weir_table_add(rows, "%s", tier);
    weir_table_add(rows, "%g", s->item[2 * i]);
    weir_table_add(rows, "%.4g", s->item[2 * i + 1]);
    weir_table_add_number(rows, "%.3g", 100 * s->cached, "-");
    weir_event("tune", WEIR_TEXT("tier", tier), WEIR_REAL("readers", s->item[2 * i]),
               WEIR_REAL("mb_s", s->item[2 * i + 1]), WEIR_REAL("cached", s->cached));
  }
}

static weir_status finish(const tuning *t)
{
  static const char *const head[] = {"tier", "threads or ranks", "MB/s",
                                     "in memory before reading (%)"};
  weir_table rows = {0};
  char text[64];

  add_rows(&rows, "memory", &t->memory);
  add_rows(&rows, "directory", &t->directory);
  add_rows(&rows, "source", &t->source);
  weir_table_print(&rows, 4, head, stdout);
  weir_table_fini(&rows);
  cf_choice_tell(&t->choice);
  if (t->source.cached > 0.01 || (t->directory.n > 0 && t->directory.cached > 0.01)) {
    weir_warn("tune",
              "files were in memory before they were read (the page cache, or a file system "
              "in memory): their speed is not that of a disk or of a file server");
  }
  if (isnan(t->source.cached)) {
    weir_warn("tune", "whether files of samples were in memory before they were read is not known: "
                      "the kernel tells their owner alone");
  }
  WEIR_TRY(weir_run_dir_commit(&t->job->dir));
  WEIR_TRY(write_yaml(t));
  (void)snprintf(text, sizeof text, "%lld bytes", (long long)t->sample_bytes);
  return cf_write_provenance(t->job, true, "sample", text);
}

/* ---- The command ---- */

/* On rank 0; the others wait. */
static weir_status measure_local(tuning *t)
{
  const cf_cfg *const c = t->cfg;

  WEIR_TRY(weir_load_measure_memory(t->sample_bytes, c->tune.bytes, &c->tune.threads, &t->memory));
  return c->load.directory.path[0] == 0
             ? WEIR_OK
             : weir_load_measure_directory(c->load.directory.path, t->sample_bytes, c->tune.bytes,
                                           &c->tune.threads, &t->directory);
}

static weir_status open_samples(tuning *t)
{
  WEIR_TRY(cf_open_input(t->job->cfg, &t->s));
  if (cf_source_simulates(t->s)) {
    return weir_fail(WEIR_ERR_CONFIG, "tune: synth:// is not read from files: name samples that "
                                      "prepare or convert wrote");
  }
  t->sample_bytes = cf_loading_bytes(cf_source_info(t->s));
  t->each = cf_source_count(t->s) / t->size;
  t->each = t->each < t->cfg->tune.samples ? t->each : t->cfg->tune.samples;
  return t->each > 0 ? WEIR_OK
                     : weir_fail(WEIR_ERR_CONFIG,
                                 "tune: %lld samples are fewer than the %d ranks that read",
                                 (long long)cf_source_count(t->s), t->size);
}

static weir_status perform(weir_job *j)
{
  tuning t = {.job = j,
              .cfg = j->cfg,
              .comm = j->comm,
              .rank = weir_comm_rank(j->comm),
              .size = weir_comm_size(j->comm)};
  const bool leads = t.rank == 0;
  weir_status status = WEIR_OK;

  weir_comm_configure(t.comm, &t.cfg->comm);
  WEIR_TRY_GOTO(weir_comm_agree(t.comm, open_samples(&t)), done);
  WEIR_TRY_GOTO(weir_comm_agree(t.comm, leads ? cf_choice_prepare(j->cfg, t.s, t.size,
                                                                  j->cli->threads, &t.choice)
                                              : WEIR_OK),
                done);
  WEIR_TRY_GOTO(weir_comm_agree(t.comm, leads ? weir_job_begin(j, "tune", false) : WEIR_OK), done);
  WEIR_TRY_GOTO(weir_comm_agree(t.comm, leads ? measure_local(&t) : WEIR_OK), done);
  WEIR_TRY_GOTO(measure_source(&t), done);
  WEIR_TRY_GOTO(weir_comm_agree(t.comm, leads ? choose(&t) : WEIR_OK), done);
  WEIR_TRY_GOTO(weir_comm_agree(t.comm, leads ? finish(&t) : WEIR_OK), done);
done:
  cf_source_close(&t.s);
  return status;
}

weir_status cf_cmd_tune(const weir_cli *cli)
{
  return weir_job_run_on_ranks(cli, &cf_program, perform);
}
