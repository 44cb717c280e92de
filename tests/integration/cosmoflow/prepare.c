/* prepare.c - universes through the program: contents of the files, the power of the
 * configurations, interrupted and resumed runs, and refusals. */
#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "data/simulation/particles.h"
#include "data/simulation/power.h"
#include "data/simulation/universe_write.h"
#include "data/volume/volume.h"
#include "io/weir_netcdf.h"
#include "ops/fft/weir_fft_plan.h"
#include "needs.h"
#include "program.h"

/* configs/cosmoflow/tiny.yaml, smaller, as settings without a YAML reader. */
#define SMALL                                                                              \
  "--set simulate.universes=6 --set simulate.file=4 --set simulate.side=8 "                \
  "--set simulate.particles=16 --set simulate.box=128 --set simulate.redshifts=[0,0.5,3] " \
  "--set simulate.preset=wide2 "

static const char *file_of(const char *dir, int64_t first)
{
  char name[64];

  cf_universe_file(first, name, sizeof name);
  return in_scratch("%s/%s", dir, name);
}

/* All of a variable, the caller's to free. */
static void *read_all(const char *path, const char *name, weir_netcdf_shape *shape)
{
  const int64_t zero[WEIR_NETCDF_MAX_DIMS] = {0};
  weir_netcdf *nc = NULL;
  void *data = NULL;
  int64_t n = 1;
  int var = 0;

  assert_ok(weir_netcdf_open(path, &nc));
  assert_ok(weir_netcdf_find(nc, name, &var, shape));
  for (int d = 0; d < shape->n_dims; d++) {
    n *= shape->lengths[d];
  }
  assert_ok(weir_alloc(n, weir_dtype_size(shape->dtype), &data));
  assert_ok(weir_netcdf_read(nc, var, zero, shape->lengths, data));
  weir_netcdf_close(&nc);
  return data;
}

static bool same_variable(const char *a, const char *b, const char *name)
{
  weir_netcdf_shape one, two;
  void *x = read_all(a, name, &one), *y = read_all(b, name, &two);
  size_t bytes = weir_dtype_size(one.dtype);

  for (int d = 0; d < one.n_dims; d++) {
    bytes *= (size_t)one.lengths[d];
  }
  const bool same = one.dtype == two.dtype && one.n_dims == two.n_dims &&
                    memcmp(one.lengths, two.lengths, sizeof(int64_t) * (size_t)one.n_dims) == 0 &&
                    memcmp(x, y, bytes) == 0;

  weir_free(&x);
  weir_free(&y);
  return same;
}

static bool same_universes(const char *a, const char *b, int64_t first)
{
  static const char *const names[] = {"full",      "unitPar",  "physPar", "namePar", "redshifts",
                                      "cosmology", "universe", "corner",  "rangePar"};
  bool same = true;

  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    same = same && same_variable(file_of(a, first), file_of(b, first), names[i]);
  }
  return same;
}

static void files_hold_what_was_asked_for(void **state)
{
  weir_netcdf_shape shape;

  NEEDS_LIBRARIES();
  assert_int_equal(program("prepare " SMALL "--set simulate.block=4 --out %s", in_scratch("a")), 0);
  int16_t *full = read_all(file_of("a", 4), "full", &shape);
  const int64_t lengths[5] = {16, 4, 4, 4, 3}; /* two universes of eight samples */

  assert_int_equal(shape.n_dims, 5);
  assert_memory_equal(shape.lengths, lengths, sizeof lengths);
  for (int64_t u = 0; u < 2; u++) {
    for (int64_t c = 0; c < 3; c++) {
      int64_t n = 0;

      for (int64_t i = 0; i < 512; i++) {
        n += full[(u * 512 + i) * 3 + c];
      }
      assert_int_equal(n, 16 * 16 * 16);
    }
  }
  int32_t *universe = read_all(file_of("a", 4), "universe", &shape);
  int32_t *corner = read_all(file_of("a", 4), "corner", &shape);
  double *redshift = read_all(file_of("a", 4), "redshifts", &shape);
  float *unit = read_all(file_of("a", 4), "unitPar", &shape);
  double *phys = read_all(file_of("a", 4), "physPar", &shape);
  char *name = read_all(file_of("a", 4), "namePar", &shape);

  for (int64_t s = 0; s < 16; s++) {
    assert_int_equal(universe[s], 4 + s / 8);
    assert_int_equal(corner[3 * s], s / 4 % 2 * 4);
    assert_int_equal(corner[3 * s + 2], s % 2 * 4);
    assert_near(phys[2 * s], 0.3 + 0.2 * (double)unit[2 * s], 1e-6);
    assert_near(phys[2 * s + 1], 0.8 + 0.3 * (double)unit[2 * s + 1], 1e-6);
    assert_true(phys[2 * s] == phys[s / 8 * 16]); /* siblings share their labels */
  }
  assert_true(phys[0] != phys[16]);
  assert_true(redshift[0] == 0 && redshift[1] == 0.5 && redshift[2] == 3);
  assert_string_equal(name, "omega_m");
  assert_string_equal(name + shape.lengths[1], "sigma_8");
  char *text = contents(in_scratch("a/provenance.json"));

  assert_non_null(strstr(text, "\"simulation\": \"seed 0; 2lpt of 16^3 particles"));
  assert_int_equal((int)event_number(in_scratch("a"), "prepare_end", "samples"), 48);
  free(text);
  void *all[] = {&full, &universe, &corner, &redshift, &unit, &phys, &name};

  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    weir_free(all[i]);
  }
}

/* The files of prepare are a set that data/volume/volume.h reads. */
static void files_are_samples(void **state)
{
  const char *dir = in_scratch("a");
  const cf_volume_opts opts = {.volume = "", .labels = "", .max_bytes = 1 << 20};
  cf_volumes *v = NULL;
  weir_netcdf_shape shape;
  int16_t planes[2 * 8 * 8 * 3];
  float labels[CF_MAX_LABELS];
  int64_t universe = -1;

  NEEDS_LIBRARIES();
  assert_int_equal(program("prepare " SMALL "--out %s", dir), 0);
  assert_ok(cf_volumes_open(&dir, 1, &opts, &v));
  const cf_volume_info *const info = cf_volumes_info(v);

  assert_int_equal(cf_volumes_count(v), 6);
  assert_int_equal(cf_volumes_files(v), 2);
  assert_true(info->lengths[0] == 8 && info->lengths[3] == 3 && info->dtype == WEIR_I16);
  assert_true(info->n_labels == 2 && info->n_redshifts == 3 && info->redshift[2] == 3);
  assert_string_equal(info->label[1], "sigma_8");
  assert_ok(cf_volumes_read(v, 5, 3, 5, WEIR_I16, planes));
  assert_ok(cf_volumes_labels(v, 5, labels));
  assert_ok(cf_volumes_universe(v, 5, &universe));
  assert_int_equal(universe, 5);
  int16_t *full = read_all(file_of("a", 4), "full", &shape);
  float *unit = read_all(file_of("a", 4), "unitPar", &shape);

  assert_memory_equal(planes, full + (8 + 3) * 8 * 8 * 3, sizeof planes);
  assert_memory_equal(labels, unit + 2, 2 * sizeof *unit);
  weir_free(&full);
  weir_free(&unit);
  cf_volumes_close(&v);
}

/* configs/cosmoflow/mlperf.yaml states the records of a TFRecord, and its stand-in has 64 samples a
 * file: files that state their number are read whole. */
static void a_stated_number_drops_no_samples(void **state)
{
  NEEDS_LIBRARIES();
  assert_int_equal(program("prepare " SMALL "--set simulate.block=2 --set simulate.file=1 "
                           "--set simulate.universes=2 --out %s",
                           in_scratch("a")),
                   0);
  const int status = program("inspect %s --config " MLPERF, in_scratch("a"));

  NEEDS_YAML(status);
  assert_int_equal(status, 0);
  assert_non_null(strstr(printed(), "128 samples of 2 x 2 x 2 x 3"));
}

/* synth:// through the program is what the files hold. */
static void samples_need_no_files(void **state)
{
  NEEDS_LIBRARIES();
  assert_int_equal(program("prepare " SMALL "--set simulate.block=4 --out %s", in_scratch("a")), 0);
  assert_int_equal(
      program("convert %s --set convert.per_file=100 --out %s", in_scratch("a"), in_scratch("b")),
      0);
  assert_int_equal(program("convert synth:// " SMALL "--set simulate.block=4 "
                           "--set convert.per_file=100 --out %s",
                           in_scratch("c")),
                   0);
  assert_int_equal((int)event_number(in_scratch("c"), "convert_end", "samples"), 48);
  char one[65], two[65];
  int64_t bytes[2];

  assert_true(weir_file_sha256(in_scratch("b/samples-00000000.tfrecord"), one, &bytes[0]));
  assert_true(weir_file_sha256(in_scratch("c/samples-00000000.tfrecord"), two, &bytes[1]));
  assert_string_equal(one, two);
  assert_int_equal(program("inspect synth:// " SMALL), 0);
  assert_non_null(strstr(printed(), "6 samples of 8 x 8 x 8 x 3 i16 with 2 labels in 6 universes"));
  assert_int_equal(program("inspect synth:// %s " SMALL, in_scratch("a")), 2);
}

static void threads_and_files_make_no_difference(void **state)
{
  NEEDS_LIBRARIES();
  assert_int_equal(program("prepare " SMALL "--threads 1 --out %s", in_scratch("a")), 0);
  assert_int_equal(program("prepare " SMALL "--threads 3 --out %s", in_scratch("b")), 0);
  assert_int_equal(program("prepare " SMALL "--set simulate.first=4 --set simulate.universes=2 "
                           "--set simulate.deflate=0 --out %s",
                           in_scratch("c")),
                   0);
  assert_true(same_universes("a", "b", 0) && same_universes("a", "b", 4));
  assert_true(same_universes("a", "c", 4));
  assert_int_equal(program("prepare " SMALL "--seed 1 --out %s", in_scratch("d")), 0);
  assert_false(same_variable(file_of("a", 0), file_of("d", 0), "full"));
  assert_false(same_variable(file_of("a", 0), file_of("d", 0), "unitPar"));
}

/* No file but those of `n` universes, logs and configuration. */
static bool only_whole_files(const char *dir)
{
  DIR *d = opendir(in_scratch("%s", dir));
  bool only = d != NULL;

  for (const struct dirent *e = NULL; d != NULL && (e = readdir(d)) != NULL;) {
    only = only && strstr(e->d_name, ".tmp-") == NULL;
  }
  (void)closedir(d);
  return only;
}

/* A signal ends the run with status 9, complete files stay, and a repeated command resumes to the
 * same universes. */
static void a_stopped_run_goes_on(void **state)
{
#define MANY SMALL "--set simulate.universes=4000 --set simulate.file=20 "
  int status = 0;

  NEEDS_LIBRARIES();
  const pid_t child = program_start("prepare " MANY "--out %s", in_scratch("a"));

  for (int k = 0; k < 2000 && !weir_file_exists(file_of("a", 20)); k++) {
    usleep(5000);
  }
  assert_int_equal(kill(child, SIGTERM), 0);
  assert_true(waitpid(child, &status, 0) == child);
  assert_int_equal(WEXITSTATUS(status), 9);
  assert_non_null(strstr(printed(), "repeat the command to resume"));
  assert_true(weir_file_exists(file_of("a", 20)) && !weir_file_exists(file_of("a", 3980)));
  assert_true(only_whole_files("a"));
  /* A subset of the others, to keep the test short. */
  int64_t whole = 0;

  while (weir_file_exists(file_of("a", whole))) {
    whole += 20;
  }
  assert_int_equal(program("prepare " SMALL "--set simulate.file=20 --set simulate.universes=%lld "
                           "--out %s",
                           (long long)whole + 40, in_scratch("a")),
                   0);
  assert_int_equal((int)event_number(in_scratch("a"), "prepare_end", "kept"), (int)whole / 20);
  assert_int_equal((int)event_number(in_scratch("a"), "prepare_end", "universes"), 40);
  assert_int_equal(program("prepare " SMALL "--set simulate.file=20 --set simulate.universes=20 "
                           "--set simulate.first=%lld --out %s",
                           (long long)whole, in_scratch("b")),
                   0);
  assert_true(same_universes("a", "b", whole));
}

static void a_folder_of_others_stays_as_it_is(void **state)
{
  NEEDS_LIBRARIES();
  assert_int_equal(program("prepare " SMALL "--out %s", in_scratch("a")), 0);
  char *before = contents(in_scratch("a/resolved.yaml")), *after = NULL;

  assert_int_equal(program("prepare " SMALL "--set simulate.box=100 --out %s", in_scratch("a")), 2);
  assert_non_null(strstr(printed(), "universes-00000000.nc: holds 4 samples"));
  assert_int_equal(program("prepare " SMALL "--seed 3 --out %s", in_scratch("a")), 2);
  assert_non_null(strstr(printed(), "asked for: \"seed 0\" and \"seed 3\": choose another --out"));
  assert_int_equal(program("prepare " SMALL "--set simulate.file=3 --out %s", in_scratch("a")), 2);
  after = contents(in_scratch("a/resolved.yaml"));
  assert_string_equal(before, after);
  free(before);
  free(after);
  assert_int_equal(program("prepare " SMALL "--seed 3 --overwrite --out %s", in_scratch("a")), 0);
  assert_int_equal((int)event_number(in_scratch("a"), "prepare_end", "kept"), 0);
  /* One that is truncated, and is not one of those that would be written. */
  assert_int_equal(truncate(file_of("a", 4), 3000), 0);
  assert_int_equal(
      program("prepare " SMALL "--seed 3 --set simulate.first=6 --out %s", in_scratch("a")), 3);
  assert_non_null(strstr(printed(), "universes-00000004.nc"));
}

/* Files whose bytes are not those that were written are made again, the others kept. */
static void damaged_universes_are_made_again(void **state)
{
  int64_t size = 0;

  NEEDS_LIBRARIES();
  assert_int_equal(program("prepare " SMALL "--set simulate.file=1 --out %s", in_scratch("a")), 0);
  assert_int_equal(program("prepare " SMALL "--set simulate.file=1 --out %s", in_scratch("b")), 0);
  assert_ok(weir_file_size(file_of("a", 1), &size));
  char *text = contents(file_of("a", 1)); /* in the compressed data, and the end is lost */
  FILE *out = fopen(file_of("a", 1), "wb");

  text[size * 3 / 4] ^= 0x10;
  assert_true(fwrite(text, 1, (size_t)size, out) == (size_t)size && fclose(out) == 0);
  free(text);
  assert_int_equal(truncate(file_of("a", 3), 3000), 0);
  assert_int_equal(remove(file_of("a", 4)), 0);
  assert_int_equal(program("prepare " SMALL "--set simulate.file=1 --out %s", in_scratch("a")), 0);
  assert_non_null(strstr(printed(), "universes-00000001.nc: its bytes are not those that were"));
  assert_non_null(strstr(printed(), "universes-00000003.nc: its bytes are not those that were"));
  assert_int_equal((int)event_number(in_scratch("a"), "prepare_end", "kept"), 3);
  assert_int_equal((int)event_number(in_scratch("a"), "prepare_end", "again"), 2);
  for (int64_t u = 0; u < 6; u++) {
    assert_true(same_contents(file_of("a", u), file_of("b", u)));
  }
  assert_int_equal(program("prepare " SMALL "--set simulate.file=1 --out %s", in_scratch("a")), 0);
  assert_int_equal((int)event_number(in_scratch("a"), "prepare_end", "kept"), 6);
}

/* Ranges, parameters in their own units, names, redshifts, cosmology, box, seed and options of the
 * simulation and what voxels are come through every format, by way of files, and so do cubes. */
static void conversions_keep_what_universes_are(void **state)
{
  static const char *const formats[] = {"tfrecord", "npy", "cfbin", "netcdf"};
  enum { SETS = 1 + sizeof formats / sizeof formats[0] };
  const char *dirs[SETS] = {in_scratch("a"), in_scratch("tfrecord"), in_scratch("npy"),
                            in_scratch("cfbin"), in_scratch("netcdf")};
  const cf_volume_opts opts = {.volume = "", .labels = "", .max_bytes = 1 << 20};
  cf_volumes *v[SETS] = {NULL};
  cf_facts own, has;

  NEEDS_LIBRARIES();
  assert_int_equal(program("prepare " SMALL "--set simulate.line_of_sight=y --out %s", dirs[0]), 0);
  for (int f = 0; f < SETS - 1; f++) { /* each from what the one before it wrote */
    assert_int_equal(program("convert %s --set convert.format=%s --set convert.side=%d --out %s",
                             dirs[f], formats[f], f == 0 ? 4 : 0, dirs[f + 1]),
                     0);
  }
  for (int f = 0; f < SETS; f++) {
    assert_ok(cf_volumes_open(&dirs[f], 1, &opts, &v[f]));
  }
  const cf_volume_info *const first = cf_volumes_info(v[0]);

  for (int f = 1; f < SETS; f++) {
    const cf_volume_info *const info = cf_volumes_info(v[f]);

    assert_int_equal(cf_volumes_count(v[f]), 48);
    assert_memory_equal(info->label, first->label, sizeof info->label);
    assert_memory_equal(info->lo, first->lo, sizeof info->lo);
    assert_memory_equal(info->hi, first->hi, sizeof info->hi);
    assert_memory_equal(info->redshift, first->redshift, sizeof info->redshift);
    assert_true(info->lo[0] == 0.1 && info->hi[0] == 0.5 && info->n_redshifts == 3);
    assert_true(info->box == 128 && info->cell == 16 && info->line_of_sight == 'y');
    assert_int_equal(info->quantity, CF_QUANTITY_COUNTS);
    assert_true(info->simulation[0] == 's' && strcmp(info->simulation, first->simulation) == 0);
    for (int64_t k = 0; k < 48; k++) {
      float labels[CF_MAX_LABELS];

      assert_ok(cf_volumes_labels(v[f], k, labels)); /* compared with physPar */
      assert_ok(cf_volumes_facts(v[0], k / 8, &own));
      assert_ok(cf_volumes_facts(v[f], k, &has));
      assert_true(has.has_physical && has.has_cosmology && has.has_corner);
      assert_memory_equal(has.physical, own.physical, sizeof own.physical);
      assert_memory_equal(has.cosmology, own.cosmology, sizeof own.cosmology);
      assert_true(has.corner[0] == k % 8 / 4 * 4 && has.corner[1] == k % 4 / 2 * 4 &&
                  has.corner[2] == k % 2 * 4);
    }
  }
  for (int f = 0; f < SETS; f++) {
    cf_volumes_close(&v[f]);
  }
  /* In redshift space and in real space: no one set. */
  dirs[1] = in_scratch("real");
  assert_int_equal(program("prepare " SMALL "--out %s", dirs[1]), 0);
  assert_int_equal(cf_volumes_open(dirs, 2, &opts, &v[0]), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "states the line of sight none"));
  assert_non_null(strstr(weir_last_message(), "the first file, y"));
}

/* A conversion that a signal ended is resumed, to the same bytes. */
static void a_stopped_conversion_goes_on(void **state)
{
#define CONVERT "convert synth:// " SMALL "--set simulate.universes=60 "
  int status = 0;

  NEEDS_LIBRARIES();
  for (int again = 0; again < 2; again++) {
    const char *const format = again == 0 ? "netcdf" : "npy";
    const char *const last = again == 0 ? "nc" : "_data.npy", *const dot = again == 0 ? "." : "";
    const char *const each = again == 0 ? "7" : "1";
    const pid_t child =
        program_start(CONVERT "--set convert.per_file=%s --set convert.format=%s --out %s", each,
                      format, in_scratch("a"));

    for (int k = 0; k < 2000 && !weir_file_exists(in_scratch("a/samples-00000014%s%s", dot, last));
         k++) {
      usleep(1000);
    }
    assert_int_equal(kill(child, SIGTERM), 0);
    assert_true(waitpid(child, &status, 0) == child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) != 0) { /* it may have been fast */
      assert_int_equal(WEXITSTATUS(status), 9);
      assert_non_null(strstr(printed(), "repeat the command to resume"));
    }
    assert_true(only_whole_files("a"));
    /* One of those that are there is damaged, one is lost. */
    assert_int_equal(truncate(in_scratch("a/samples-00000007%s%s", dot, last), 100), 0);
    assert_int_equal(remove(in_scratch("a/samples-00000000%s%s", dot, last)), 0);
    assert_int_equal(program(CONVERT "--set convert.per_file=%s --set convert.format=%s --out %s",
                             each, format, in_scratch("a")),
                     0);
    assert_non_null(strstr(printed(), "its bytes are not those that were written"));
    assert_true(event_number(in_scratch("a"), "convert_end", "kept") >= 1);
    assert_true(event_number(in_scratch("a"), "convert_end", "files") >= 2);
    assert_int_equal(program(CONVERT "--set convert.per_file=%s --set convert.format=%s --out %s",
                             each, format, in_scratch("b")),
                     0);
    for (int64_t k = 0; k < 60; k += again == 0 ? 7 : 1) {
      assert_true(same_contents(in_scratch("a/samples-%08lld%s%s", (long long)k, dot, last),
                                in_scratch("b/samples-%08lld%s%s", (long long)k, dot, last)));
    }
    /* Another input or other options are another conversion. */
    assert_int_equal(program(CONVERT "--set convert.per_file=%s --set convert.format=%s --seed 1 "
                                     "--out %s",
                             each, format, in_scratch("a")),
                     2);
    assert_non_null(strstr(printed(), "another input or other options of convert"));
    weir_check_rmdir(in_scratch("a"));
    weir_check_rmdir(in_scratch("b"));
  }
}

/* Files that this run would not write belong to the set as well. */
static void a_folder_is_one_set(void **state)
{
  NEEDS_LIBRARIES();
  assert_int_equal(program("prepare " SMALL "--out %s", in_scratch("a")), 0);
#define MIXES(sets)                                                                   \
  do {                                                                                \
    assert_int_equal(program("prepare " SMALL sets " --out %s", in_scratch("a")), 2); \
    assert_non_null(strstr(printed(), "holds "));                                     \
  } while (0)
  MIXES("--set simulate.first=6 --seed 1");                   /* another seed       */
  MIXES("--set simulate.first=5");                            /* universe 5 twice   */
  MIXES("--set simulate.first=2 --set simulate.universes=1"); /* universe 2 twice   */
  MIXES("--set simulate.first=8 --set simulate.side=16");     /* other samples      */
  assert_int_equal(program("prepare " SMALL "--set simulate.first=6 --out %s", in_scratch("a")), 0);
  assert_int_equal((int)event_number(in_scratch("a"), "prepare_end", "universes"), 6);
  assert_int_equal(program("prepare " SMALL "--out %s", in_scratch("a")), 0);
  assert_int_equal((int)event_number(in_scratch("a"), "prepare_end", "kept"), 2);
  /* A file by another's name. */
  assert_int_equal(rename(file_of("a", 6), file_of("a", 20)), 0);
  MIXES("--set simulate.first=30");
}

static void what_cannot_be_is_refused(void **state)
{
  NEEDS_LIBRARIES();
#define REFUSED(sets, text)                                                           \
  do {                                                                                \
    assert_int_equal(program("prepare " SMALL sets " --out %s", in_scratch("a")), 2); \
    assert_non_null(strstr(printed(), text));                                         \
    assert_false(weir_file_exists(file_of("a", 0)));                                  \
  } while (0)
  REFUSED("--set simulate.block=3", "simulate.block: 3 does not divide");
  REFUSED("--set simulate.counts=cic", "simulate.values=f32");
  REFUSED("--set simulate.redshifts=[]", "simulate.redshifts");
  REFUSED("--set simulate.redshifts=[-1]", "simulate.redshifts");
  REFUSED("--set simulate.method=pm --set simulate.redshifts=[50]", "simulate.start");
  REFUSED("--set simulate.sides=8", "simulate.side");
  assert_int_equal(program("prepare " SMALL "--device cuda --out %s", in_scratch("a")), 7);
  assert_int_equal(program("prepare " SMALL), 2);
  assert_non_null(strstr(printed(), "--out"));
}

static void describe_says_what_there_would_be(void **state)
{
  assert_int_equal(program("describe " SMALL "--set simulate.block=4"), 0);
  assert_non_null(strstr(printed(), "# 6 universes in 2 files"));
  assert_non_null(strstr(printed(), "48 samples of 4^3 cells, 3 channels, i16"));
  assert_non_null(strstr(printed(), "# label sigma_8: 0.5 to 1.1"));
  assert_non_null(strstr(printed(), "preset: wide2"));
  assert_int_equal(program("describe --set simulate.box=1e4"), 0);
  assert_non_null(strstr(printed(), "rms displacement 0.0"));
}

/* Warns of particles that hardly move. */
static void too_coarse_a_lattice_is_told(void **state)
{
  NEEDS_LIBRARIES();
  assert_int_equal(program("prepare " SMALL "--set simulate.box=2000 --out %s", in_scratch("a")),
                   0);
  assert_non_null(strstr(printed(), "ngp counts tell little"));
  assert_int_equal(
      program("prepare " SMALL "--set simulate.redshifts=[0] --out %s", in_scratch("b")), 0);
  assert_null(strstr(printed(), "ngp counts tell little"));
}

/* The universes of configs/cosmoflow/tiny.yaml: the power of their counts in the two largest bins
 * is that of linear theory of their cosmology, within the variance of so few waves and the percent
 * or two that larger boxes lack. */
static void shipped_data_agrees_with_linear_theory(void **state)
{
  enum { N = 32, UNIVERSES = 16 };
  weir_netcdf_shape shape;
  cf_mesh *m = NULL;
  cf_power power;
  float *f = NULL;
  double sum[2] = {0, 0}, waves = 0, expected[N / 2];

  NEEDS_LIBRARIES();
  assert_int_equal(program("prepare --set simulate.universes=16 --set simulate.file=4 "
                           "--set simulate.side=32 --set simulate.particles=64 "
                           "--set simulate.box=256 --set simulate.redshifts=[0,0.5] "
                           "--set simulate.preset=wide2 --out %s",
                           in_scratch("a")),
                   0);
  assert_ok(cf_mesh_create(N, &m));
  assert_ok(cf_mesh_field(m, &f));
  assert_ok(cf_power_init(&power, m, 256, cf_mesh_side(m) / 2));
  for (int64_t u = 0; u < UNIVERSES; u++) {
    int16_t *full = read_all(file_of("a", u / 4 * 4), "full", &shape);
    double *c = read_all(file_of("a", u / 4 * 4), "cosmology", &shape);
    const double *const own = c + u % 4 * 5;
    cf_linear l;

    assert_ok(cf_linear_init(&(cf_cosmology){own[0], own[1], own[2], own[3], own[4]},
                             CF_TRANSFER_FULL, &l));
    cf_power_expected(&power, m, &l, expected);
    for (int64_t z = 0; z < 2; z++) {
      const double d = cf_linear_growth(&l, z == 0 ? 1 : 1 / 1.5);

      for (int64_t i = 0; i < N * N * N; i++) {
        f[i / N * cf_mesh_pitch(m) + i % N] = (float)full[(u % 4 * N * N * N + i) * 2 + z];
      }
      cf_mesh_forward(m, f);
      cf_power_measure(&power, m, f, 8, CF_NGP);
      for (int b = 0; b < 2; b++) {
        sum[z] += power.modes[b] * power.p[b] / expected[b] / (d * d);
      }
    }
    waves += power.modes[0] + power.modes[1];
    weir_free(&full);
    weir_free(&c);
  }
  const double sigma = sqrt(2 / waves);

  printf("P / linear: %.4f at z = 0, %.4f at z = 0.5; sigma %.4f\n", sum[0] / waves, sum[1] / waves,
         sigma);
  assert_near(sum[0] / waves, 1, 3 * sigma + 0.03);
  assert_near(sum[1] / waves, 1, 3 * sigma + 0.02);
  cf_power_fini(&power);
  weir_free(&f);
  cf_mesh_destroy(&m);
}

static void builds_without_libraries_say_so(void **state)
{
  const bool whole = weir_netcdf_available() && weir_fft_plan_available();

  assert_int_equal(program("prepare " SMALL "--out %s", in_scratch("whole")), whole ? 0 : 7);
  assert_true(whole || strstr(printed(), "install") != NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(files_hold_what_was_asked_for),
      TEST(files_are_samples),
      TEST(a_stated_number_drops_no_samples),
      TEST(samples_need_no_files),
      TEST(threads_and_files_make_no_difference),
      TEST(a_stopped_run_goes_on),
      TEST(a_folder_of_others_stays_as_it_is),
      TEST(damaged_universes_are_made_again),
      TEST(conversions_keep_what_universes_are),
      TEST(a_stopped_conversion_goes_on),
      TEST(a_folder_is_one_set),
      TEST(what_cannot_be_is_refused),
      TEST(describe_says_what_there_would_be),
      TEST(too_coarse_a_lattice_is_told),
      TEST(shipped_data_agrees_with_linear_theory),
      TEST(builds_without_libraries_say_so),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
