/* weather_grib_eccodes.c - reading whole fields of a GRIB file, against a bare loop of ecCodes over
 * the same messages: once with making the index, once with one that was kept; for a global set at
 * half a degree, and for many small fields. */
#include <eccodes.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_log.h"
#include "base/weir_random.h"
#include "io/weir_grib.h"
#include "weir_bench.h"

enum { RUNS = 15 };

/* A file of `n` fields, and memory for them. */
typedef struct work {
  char path[512], index[512];
  int64_t n_lat, n_lon, n;
  bool kept; /* use the index file */
  double *decoded;
  float *fields;
  double sum; /* of the bare loop, so that it is not left out */
} work;

/* Waves and noise, as a field of geopotential has them. */
static void make_field(const work *w, int64_t k, float *x)
{
  for (int64_t j = 0; j < w->n_lat; j++) {
    for (int64_t i = 0; i < w->n_lon; i++) {
      const double lat = 3.14159265 * (double)j / (double)w->n_lat;
      const double lon = 6.28318531 * (double)i / (double)w->n_lon;

      x[j * w->n_lon + i] =
          (float)(54000 + 4000 * sin(lat) + 900 * sin(5 * lon + (double)k) * sin(lat) +
                  20 * weir_random_uniform(1, (uint32_t)k, 0, (uint64_t)(j * w->n_lon + i)));
    }
  }
}

static void make_file(work *w)
{
  double *const lat = malloc((size_t)(w->n_lat + w->n_lon) * sizeof *lat), *const lon =
                                                                               lat + w->n_lat;
  const weir_grib_grid grid = {.n_lat = w->n_lat, .n_lon = w->n_lon, .lat = lat, .lon = lon};
  weir_grib_writer *out = NULL;

  for (int64_t j = 0; j < w->n_lat; j++) {
    lat[j] = 90 - 180 * (double)j / (double)(w->n_lat - 1);
  }
  for (int64_t i = 0; i < w->n_lon; i++) {
    lon[i] = 360 * (double)i / (double)w->n_lon;
  }
  bench_must(weir_grib_create(w->path, &out));
  for (int64_t k = 0; k < w->n; k++) {
    const int64_t step = 86400 * (k / 10 % 3);
    const weir_grib_out what = {.grid = &grid,
                                .start = 1451606400 + 86400 * (k / 60),
                                .step_seconds = {step, step},
                                .number = 1 + k % 10,
                                .n_members = 10,
                                .param = k / 30 % 2 ? 130 : 129,
                                .level_type = "isobaricInhPa",
                                .level = 500,
                                .bits = 16};

    make_field(w, k, w->fields);
    bench_must(weir_grib_write(out, &what, w->fields));
  }
  bench_must(weir_grib_commit(&out));
  free(lat);
}

/* What one writes with the library alone. */
static void bare(void *context)
{
  work *const w = context;
  FILE *const in = fopen(w->path, "rb");
  codes_handle *h = NULL;
  int code = 0;

  while (in && (h = codes_handle_new_from_file(NULL, in, PRODUCT_GRIB, &code)) != NULL) {
    size_t count = (size_t)(w->n_lat * w->n_lon);

    if (codes_get_double_array(h, "values", w->decoded, &count) != CODES_SUCCESS) {
      exit(8);
    }
    w->sum += w->decoded[count / 2];
    codes_handle_delete(h);
  }
  if (!in || code != CODES_SUCCESS || fclose(in) != 0) {
    exit(8);
  }
}

static void own(void *context)
{
  work *const w = context;
  const char *const paths[] = {w->path};
  const weir_grib_opts opts = {.index = w->kept ? w->index : NULL};
  int64_t *const number = malloc((size_t)w->n * sizeof *number);
  float **const out = malloc((size_t)w->n * sizeof(float *));
  weir_grib *g = NULL;

  bench_must(weir_grib_open(paths, 1, &opts, &g));
  for (int64_t k = 0; k < w->n; k++) {
    number[k] = k;
    out[k] = w->fields + k * w->n_lat * w->n_lon;
  }
  bench_must(weir_grib_read(g, w->n, number, out));
  weir_grib_close(&g);
  free(number);
  free(out);
}

/* Every value is what the bare loop gives, in single precision. */
static void compare(work *w)
{
  FILE *const in = fopen(w->path, "rb");

  own(w);
  for (int64_t k = 0; k < w->n; k++) {
    int code = 0;
    size_t count = (size_t)(w->n_lat * w->n_lon);
    codes_handle *const h = codes_handle_new_from_file(NULL, in, PRODUCT_GRIB, &code);

    if (!h || codes_get_double_array(h, "values", w->decoded, &count) != CODES_SUCCESS) {
      exit(8);
    }
    codes_handle_delete(h);
    for (int64_t i = 0; i < (int64_t)count; i++) {
      if ((float)w->decoded[i] != w->fields[k * (int64_t)count + i]) {
        fprintf(stderr, "weather_grib: field %lld differs at %lld\n", (long long)k, (long long)i);
        exit(6);
      }
    }
  }
  (void)fclose(in);
}

static void measure(const char *dir, const char *what, int64_t n_lat, int64_t n_lon, int64_t n,
                    const double goals[2])
{
  work w = {.n_lat = n_lat, .n_lon = n_lon, .n = n};
  const double points = (double)(n_lat * n_lon * n) * 1e-6;
  double seconds[2];
  char row[96];

  snprintf(w.path, sizeof w.path, "%s/%lld.grib", dir, (long long)n_lat);
  snprintf(w.index, sizeof w.index, "%s/%lld.index", dir, (long long)n_lat);
  bench_must(weir_alloc(n_lat * n_lon, sizeof(double), (void **)&w.decoded));
  bench_must(weir_alloc(n_lat * n_lon * n, sizeof(float), (void **)&w.fields));
  make_file(&w);
  for (int kept = 0; kept < 2; kept++) {
    w.kept = kept;
    compare(&w);
    bench_best_pair(RUNS, bare, &w, own, &w, seconds);
    snprintf(row, sizeof row, "GRIB %s%s", what, kept ? " (index kept)" : "");
    bench_row_of(row, "ecCodes loop", ECCODES_VERSION_STR, points / seconds[0], points / seconds[1],
                 "M points/s", 1, goals[kept]);
  }
  weir_free(&w.decoded);
  weir_free(&w.fields);
}

int main(void)
{
  char dir[256];

  weir_log_set_level(WEIR_LOG_ERROR);
  (void)bench_pin();
  weir_check_mkdir(dir, sizeof dir);
  measure(dir, "60 fields 361x720", 361, 720, 60, (const double[]){1 / 1.2, 1 / 1.2});
  measure(dir, "1000 fields 61x120", 61, 120, 1000, (const double[]){0, 1 / 1.2});
  weir_check_rmdir(dir);
  return 0;
}
