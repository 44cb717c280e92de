/* weather_predict_eccodes.c - predict on global half-degree fields of ten members: reading them
 * against a bare loop of ecCodes over the same messages; and all of predict, with reading, network
 * and writing concurrently, against the sum of these parts. Memory too. */
#include <eccodes.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "base/weir_random.h"
#include "predict_samples.h"
#include "weir_bench.h"

enum { ROWS = 361, COLUMNS = 720, CELLS = ROWS * COLUMNS, MEMBERS = 10, QUANTITIES = 2 };
enum { INIT_TIMES = 4, MESSAGES = INIT_TIMES * QUANTITIES * MEMBERS, RUNS = 5, DAY = 86400 };

static char dir[256], path[512];
static float *fields;   /* [STARTS, QUANTITIES, MEMBERS, CELLS], as the archive gives them */
static double *decoded; /* [CELLS] of the bare loop */
static double sum;      /* so that it is not left out */

/* Waves that move from start to start, and members that differ. */
static void make_members(int64_t start, int64_t quantity, float *x)
{
  const double level = quantity == 0 ? 54000 : 250, size = quantity == 0 ? 900 : 9;

  for (int64_t m = 0; m < MEMBERS; m++) {
    for (int64_t i = 0; i < CELLS; i++) {
      const double lat = 3.14159265 * (double)(i / COLUMNS) / ROWS;
      const double lon = 6.28318531 * (double)(i % COLUMNS) / COLUMNS;
      const double noise = weir_random_uniform(1, (uint32_t)(start * QUANTITIES + quantity),
                                               (uint32_t)m, (uint64_t)i);

      x[m * CELLS + i] =
          (float)(level + size * (sin(5 * lon + (double)start) * sin(lat) + 0.1 * noise));
    }
  }
}

static void make_file(void)
{
  static double lat[ROWS], lon[COLUMNS];
  static const int64_t start[INIT_TIMES] = {0, DAY, 2 * DAY, 3 * DAY};
  static const int64_t member[MEMBERS] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  static const double lead[1] = {48};
  const wx_quantity quantity[QUANTITIES] = {
      {.name = "z500", .variable = "z", .param = 129, .kind = WX_LEVEL_PRESSURE, .level = 500},
      {.name = "t500", .variable = "t", .param = 130, .kind = WX_LEVEL_PRESSURE, .level = 500}};
  const wx_archive_info f = {.n_init_times = INIT_TIMES,
                             .n_leads = 1,
                             .n_members = MEMBERS,
                             .n_quantities = QUANTITIES,
                             .start = start,
                             .lead = lead,
                             .member = member,
                             .quantity = quantity,
                             .grid = {.kind = WX_GRID_LATLON,
                                      .n_lat = ROWS,
                                      .n_lon = COLUMNS,
                                      .lat = lat,
                                      .lon = lon,
                                      .wraps = true}};
  wx_archive_writer *w = NULL;

  for (int64_t j = 0; j < ROWS; j++) {
    lat[j] = 90 - 0.5 * (double)j;
  }
  for (int64_t i = 0; i < COLUMNS; i++) {
    lon[i] = 0.5 * (double)i;
  }
  bench_must(wx_archive_create(path, &f, &w));
  for (int64_t k = 0; k < INIT_TIMES * QUANTITIES; k++) {
    make_members(k / QUANTITIES, k % QUANTITIES, fields);
    bench_must(wx_archive_write(w, k / QUANTITIES, 0, k % QUANTITIES, 0, MEMBERS, fields));
  }
  bench_must(wx_archive_commit(&w));
}

/* What one writes with the library alone; same: compared with what was read before. */
static void loop(bool same)
{
  FILE *const in = fopen(path, "rb");
  codes_handle *h = NULL;
  int code = 0;

  for (int64_t k = 0; in && (h = codes_handle_new_from_file(NULL, in, PRODUCT_GRIB, &code)) != NULL;
       k++) {
    size_t count = CELLS;

    if (codes_get_double_array(h, "values", decoded, &count) != CODES_SUCCESS) {
      exit(8);
    }
    sum += decoded[count / 2];
    codes_handle_delete(h);
    for (int64_t i = 0; same && i < CELLS; i++) {
      if (k >= MESSAGES || fields[k * CELLS + i] != (float)decoded[i]) {
        fprintf(stderr, "weather_predict: message %lld differs\n", (long long)k);
        exit(6);
      }
    }
  }
  if (!in || code != CODES_SUCCESS || fclose(in) != 0) {
    exit(8);
  }
}

static void bare(void *context)
{
  (void)context;
  loop(false);
}

static void own(void *context)
{
  wx_archive *const a = context;

  for (int64_t k = 0; k < INIT_TIMES * QUANTITIES; k++) {
    bench_must(wx_archive_read(a, k / QUANTITIES, 0, k % QUANTITIES, 0, MEMBERS,
                               fields + k * MEMBERS * CELLS));
  }
}

/* A network of the preset tiny with its first weights, and statistics that fit the fields. */
typedef struct set_up {
  wx_cfg cfg;
  weir_config *config;
  wx_experiment e;
  wx_stage stage;
  wx_predictor net;
  int64_t sample[INIT_TIMES];
} set_up;

static void open_network(set_up *s)
{
  char forecast[600];
  const char *const sets[] = {forecast,
                              "data.target=[z500, t500]",
                              "data.cache=0",
                              "model.unet.preset=tiny",
                              "model.unet.border.x=wrap",
                              "predict.format=grib"};

  (void)snprintf(forecast, sizeof forecast, "data.forecast=[%s]", path);
  bench_must(weir_config_load(wx_options, sizeof s->cfg, NULL, 0, sets,
                              (int)(sizeof sets / sizeof sets[0]), &s->cfg, &s->config));
  bench_must(wx_experiment_open(&s->cfg, WX_SOURCE_APPLY, NULL, &s->e));
  const wx_stage_spec spec = wx_experiment_forecast(&s->e);

  bench_must(wx_stage_open(&spec, &s->stage));
  for (int64_t c = 0; c < s->e.facts->n_channels[WX_X]; c++) {
    for (int64_t p = 0; p < s->stage.standard.n_positions; p++) {
      s->stage.standard.x_sd[c * s->stage.standard.n_positions + p] = 1000;
    }
  }
  for (int64_t c = 0; c < s->e.facts->n_channels[WX_Y]; c++) {
    s->stage.standard.unit[c] = 10;
  }
  bench_must(wx_predictor_create(&s->stage, 1, &(weir_plan_opts){.exec = &s->cfg.exec}, &s->net));
  for (int64_t i = 0; i < INIT_TIMES; i++) {
    s->sample[i] = i;
  }
}

static void close_network(set_up *s)
{
  wx_predictor_fini(&s->net);
  wx_stage_close(&s->stage);
  wx_experiment_close(&s->e);
  weir_config_destroy(&s->config);
}

static void predict(set_up *s, bool overlap, const char *to, wx_predict_times *times)
{
  const weir_origin none = {.n = 0};
  const wx_predict_request r = {.dir = to, .sample = s->sample, .n = INIT_TIMES, .spread = true};
  wx_predict_files files;

  bench_must(weir_dir_create(to));
  bench_must(wx_predict_files_create(&s->e, &r, &none, &files));
  bench_must(wx_predict_samples(
      &s->e, NULL, &s->net, &files,
      &(wx_predict_what){.sample = s->sample, .n = INIT_TIMES, .overlap = overlap}, times));
}

/* Both ways leave the same bytes. */
static void compare_files(const char *const folder[2])
{
  char name[600], digest[2][65];
  int64_t bytes = 0;

  for (int k = 0; k < 2; k++) {
    (void)snprintf(name, sizeof name, "%s/predictions.grib", folder[k]);
    if (!weir_file_sha256(name, digest[k], &bytes) || bytes < QUANTITIES * INIT_TIMES * CELLS) {
      fprintf(stderr, "weather_predict: %s is not whole\n", name);
      exit(6);
    }
  }
  if (strcmp(digest[0], digest[1]) != 0) {
    fprintf(stderr, "weather_predict: overlap changes what is written\n");
    exit(6);
  }
}

static void measure_predict(void)
{
  char folder[2][300];
  const char *const both[2] = {folder[0], folder[1]};
  wx_predict_times best[2] = {{.total = INFINITY}, {.total = INFINITY}}, t;
  static set_up s;

  open_network(&s);
  for (int run = 0; run < 2; run++) {
    for (int k = 0; k < 2; k++) {
      (void)snprintf(folder[k], sizeof folder[k], "%s/%d", dir, k);
      predict(&s, k == 1, folder[k], &t);
      best[k] = t.total < best[k].total ? t : best[k];
    }
    compare_files(both);
  }
  close_network(&s);
  fprintf(stderr,
          "weather_predict: %d samples one after another: reading %.2f s, network %.2f s, writing "
          "%.2f s, %.2f s in all; beside one another: %.2f s, waited for reading %.2f s, for "
          "writing %.2f s; memory %.0f MiB\n",
          INIT_TIMES, best[0].read, best[0].network, best[0].write, best[0].total, best[1].total,
          best[1].read_waited, best[1].write_waited, (double)bench_peak_rss() / 1048576);
  bench_row("predict 4 x 20 fields 361x720: overlapped", "sum of its parts",
            best[0].read + best[0].network + best[0].write, best[1].total, "s", 0, 0);
  bench_count("predict 4 x 20 fields 361x720: memory", "all of its fields",
              (double)MESSAGES * CELLS * sizeof(float) / 1048576,
              (double)weir_alloc_peak() / 1048576, "MiB", 0);
}

static void measure_reading(void)
{
  const char *const paths[] = {path};
  const double points = (double)MESSAGES * CELLS * 1e-6;
  wx_archive *a = NULL;
  double seconds[2];

  bench_must(wx_archive_open(paths, 1, &a));
  own(a);
  loop(true);
  bench_best_pair(RUNS, bare, NULL, own, a, seconds);
  wx_archive_close(&a);
  bench_row_of("predict 4 x 20 fields 361x720: reading", "ecCodes loop", ECCODES_VERSION_STR,
               points / seconds[0], points / seconds[1], "M points/s", 1, 1 / 1.2);
}

int main(void)
{
  weir_log_set_level(WEIR_LOG_ERROR);
  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(path, sizeof path, "%s/forecast.grib", dir);
  bench_must(weir_alloc(MEMBERS * CELLS, sizeof *fields, (void **)&fields));
  make_file();
  weir_free(&fields);
  measure_predict(); /* first: the fields of the other are no memory of predict */
  bench_must(weir_alloc((int64_t)MESSAGES * CELLS, sizeof *fields, (void **)&fields));
  bench_must(weir_alloc(CELLS, sizeof *decoded, (void **)&decoded));
  const cpu_set_t allowed = bench_pin();

  measure_reading();
  (void)bench_unpin(&allowed);
  weir_free(&fields);
  weir_free(&decoded);
  weir_check_rmdir(dir);
  return 0;
}
