/* samples_test.c - 48 different views that lose nothing, against the formula; cached samples are
 * those that were read; refusals. */
#include "data/samples.h"
#include <string.h>
#include "base/weir_alloc.h"
#include "support/cosmoflow/volume_test.h"

enum { SIDE = 5, CHANNELS = 2, VOXELS = SIDE * SIDE * SIDE };

static const int64_t cube[4] = {SIDE, SIDE, SIDE, CHANNELS}, origin[3] = {0, 0, 0};

/* Element i of the view of numbers 0, 1, .. by the header's words. */
static int32_t wanted(const cf_view *v, const int64_t n[4], const int64_t i[3])
{
  int64_t j[3] = {0, 0, 0};

  for (int d = 0; d < 3; d++) {
    const int64_t length = n[v->axis[d]], at = (i[d] + v->shift[d]) % length;

    j[v->axis[d]] = v->flip[d] ? length - 1 - at : at;
  }
  return (int32_t)((j[0] * n[1] + j[1]) * n[2] + j[2]);
}

static void views_are_what_the_header_says(void **state)
{
  static int32_t in[VOXELS], seen[48][VOXELS];

  for (int32_t i = 0; i < VOXELS; i++) {
    in[i] = i;
  }
  for (int g = 0; g < 48; g++) {
    cf_view v = cf_view_symmetry(g);
    int64_t at = 0;

    for (int d = 0; d < 3; d++) {
      v.shift[d] = (g + d) % SIDE;
    }
    cf_view_take(&v, cube, origin, cube, sizeof *in, in, seen[g]);
    for (int64_t i = 0; i < SIDE; i++) {
      for (int64_t j = 0; j < SIDE; j++) {
        for (int64_t k = 0; k < SIDE; k++, at++) {
          assert_int_equal(seen[g][at], wanted(&v, cube, (int64_t[]){i, j, k}));
        }
      }
    }
  }
}

/* A box of a view is that subset of the whole view. */
static void boxes_are_subsets_of_views(void **state)
{
  static int32_t in[VOXELS], whole[VOXELS], box[VOXELS];

  for (int32_t i = 0; i < VOXELS; i++) {
    in[i] = i;
  }
  for (int g = 0; g < 48; g++) {
    const cf_view v = cf_view_symmetry(g);
    const int64_t lo[3] = {g % 3, 1, 0}, hi[3] = {SIDE - g % 2, 3, g % SIDE + 1};
    int64_t at = 0;

    cf_view_take(&v, cube, origin, cube, sizeof *in, in, whole);
    cf_view_take(&v, cube, lo, hi, sizeof *in, in, box);
    for (int64_t i = lo[0]; i < hi[0]; i++) {
      for (int64_t j = lo[1]; j < hi[1]; j++) {
        for (int64_t k = lo[2]; k < hi[2]; k++, at++) {
          assert_int_equal(box[at], whole[(i * SIDE + j) * SIDE + k]);
        }
      }
    }
  }
}

/* No two are the same; each has every voxel once. */
static void there_are_48(void **state)
{
  static int32_t in[VOXELS], seen[48][VOXELS];

  for (int32_t i = 0; i < VOXELS; i++) {
    in[i] = i;
  }
  for (int g = 0; g < 48; g++) {
    const cf_view v = cf_view_symmetry(g);
    bool found[VOXELS] = {false};

    cf_view_take(&v, cube, origin, cube, sizeof *in, in, seen[g]);
    for (int i = 0; i < VOXELS; i++) {
      assert_false(found[seen[g][i]]);
      found[seen[g][i]] = true;
    }
    for (int h = 0; h < g; h++) {
      assert_true(memcmp(seen[g], seen[h], sizeof seen[g]) != 0);
    }
  }
  assert_memory_equal(seen[0], in, sizeof in);
}

/* Of boxes with unlike sides: mirror images alone, in bounds and whole. */
static void boxes_are_mirrored(void **state)
{
  const int64_t n[4] = {2, 3, 4, 1};
  const cf_volume_info box = {.lengths = {2, 3, 4, 1}};
  const cf_data_opts o = {.augment = {CF_SYMMETRY_MIRROR, true}};
  int32_t in[24], out[24];

  for (int32_t i = 0; i < 24; i++) {
    in[i] = i;
  }
  for (int64_t s = 0; s < 50; s++) {
    const cf_view v = cf_view_of(&o, &box, 7, 3, s);
    int32_t sum = 0;

    cf_view_take(&v, n, origin, n, sizeof *in, in, out);
    for (int64_t at = 0; at < 24; at++) {
      assert_int_equal(out[at], wanted(&v, n, (int64_t[]){at / 12, at / 4 % 3, at % 4}));
      sum += out[at];
    }
    assert_int_equal(sum, 23 * 24 / 2);
  }
}

/* The same for the same seed, epoch and sample; all 48 are drawn, and none where none is asked for.
 */
static void views_are_functions_of_their_keys(void **state)
{
  const cf_data_opts all = {.augment = {CF_SYMMETRY_OCTAHEDRAL, true}},
                     none = {.scale = CF_SCALE_LOG};
  const cf_volume_info is = {.lengths = {5, 5, 5, 1}};
  int found[48] = {0};
  int64_t moved = 0;

  for (int64_t i = 0; i < 2000; i++) {
    const cf_view v = cf_view_of(&all, &is, 1, i / 100, i),
                  w = cf_view_of(&all, &is, 1, i / 100, i);
    const cf_view plain = cf_view_of(&none, &is, 1, i / 100, i), zero = cf_view_symmetry(0);

    assert_memory_equal(&v, &w, sizeof v);
    assert_memory_equal(&plain, &zero, sizeof zero);
    for (int g = 0; g < 48; g++) {
      const cf_view s = cf_view_symmetry(g);

      found[g] +=
          memcmp(s.axis, v.axis, sizeof s.axis) == 0 && memcmp(s.flip, v.flip, sizeof s.flip) == 0;
    }
    moved += v.shift[0] + v.shift[1] + v.shift[2];
  }
  for (int g = 0; g < 48; g++) {
    assert_true(found[g] > 10 && found[g] < 90); /* 42 +- 6.4 */
  }
  assert_true(moved > 11000 && moved < 13000); /* 2000 x 3 x 2 */
}

/* In redshift space the 16 symmetries that keep the line of sight are drawn, and no other. */
static void views_keep_the_line_of_sight(void **state)
{
  const cf_data_opts all = {.augment = {CF_SYMMETRY_OCTAHEDRAL, false}};

  for (int axis = 0; axis < 3; axis++) {
    const cf_volume_info is = {.lengths = {5, 5, 5, 1}, .line_of_sight = "xyz"[axis]};
    int found[48] = {0}, different = 0;

    for (int64_t i = 0; i < 1000; i++) {
      const cf_view v = cf_view_of(&all, &is, 1, 0, i);

      assert_int_equal(v.axis[axis], axis);
      for (int g = 0; g < 48; g++) {
        const cf_view s = cf_view_symmetry(g);

        found[g] += memcmp(&s, &v, sizeof s) == 0;
      }
    }
    for (int g = 0; g < 48; g++) {
      different += found[g] > 0;
      assert_true(found[g] == 0 || (found[g] > 25 && found[g] < 100)); /* 62 +- 7.7 */
    }
    assert_int_equal(different, 16);
  }
}

/* As many of each kind, all different; the first is the sample as it is. */
static void symmetries_are_numbered(void **state)
{
  static const int count[][2] = {{1, 1}, {8, 8}, {48, 16}};

  for (int kind = CF_SYMMETRY_NONE; kind <= CF_SYMMETRY_OCTAHEDRAL; kind++) {
    for (int los = 0; los < 2; los++) {
      const cf_volume_info is = {.line_of_sight = los == 1 ? 'y' : 0};
      const int n = cf_symmetries(kind, &is);
      const cf_view first = cf_symmetry_view(&is, 0), same = cf_view_symmetry(0);

      assert_int_equal(n, count[kind][los]);
      assert_memory_equal(&first, &same, sizeof same);
      for (int i = 0; i < n; i++) {
        const cf_view a = cf_symmetry_view(&is, i);

        assert_true(los == 0 || a.axis[1] == 1);
        for (int k = 0; k < i; k++) {
          const cf_view b = cf_symmetry_view(&is, k);

          assert_true(memcmp(a.axis, b.axis, sizeof a.axis) != 0 ||
                      memcmp(a.flip, b.flip, sizeof a.flip) != 0);
        }
      }
    }
  }
}

/* Of a map the 8 symmetries of the square, all different: 4 of them where it is seen along one of
 * its own axes; none turns the plane over. */
static void maps_have_the_symmetries_of_a_square(void **state)
{
  static const int count[][2] = {{1, 1}, {4, 4}, {8, 4}};
  const float map[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  const int64_t lo[3] = {0};
  float seen[8][9];

  for (int kind = CF_SYMMETRY_NONE; kind <= CF_SYMMETRY_OCTAHEDRAL; kind++) {
    for (int los = 0; los < 2; los++) {
      const cf_volume_info is = {.lengths = {1, 3, 3, 1}, .line_of_sight = los == 1 ? 'z' : 'x'};
      const int n = cf_symmetries(kind, &is);

      assert_int_equal(n, count[kind][los]);
      for (int i = 0; i < n; i++) {
        const cf_view v = cf_symmetry_view(&is, i);

        assert_true(v.axis[0] == 0 && !v.flip[0] && (los == 0 || v.axis[2] == 2));
        cf_view_take(&v, is.lengths, lo, is.lengths, sizeof(float), map, seen[i]);
        assert_true(i > 0 || memcmp(seen[0], map, sizeof map) == 0);
        for (int k = 0; k < i; k++) {
          assert_true(memcmp(seen[i], seen[k], sizeof seen[i]) != 0);
        }
      }
    }
  }
}

/* The shifts of a training are those of cf_view_move, within the sample along the axes of the view.
 */
static void views_are_moved(void **state)
{
  const cf_data_opts o = {.augment = {CF_SYMMETRY_OCTAHEDRAL, true}};
  const cf_volume_info is = {.lengths = {4, 6, 9, 1}};
  int64_t largest[3] = {0};

  for (int i = 0; i < 200; i++) {
    const cf_view drawn = cf_view_of(&o, &is, 3, 2, i);
    cf_view moved = drawn;

    memset(moved.shift, 0, sizeof moved.shift);
    cf_view_move(&moved, &is, 3, 2, i);
    assert_memory_equal(moved.shift, drawn.shift, sizeof moved.shift);
    for (int d = 0; d < 3; d++) {
      int64_t *const most = &largest[moved.axis[d]];

      *most = moved.shift[d] > *most ? moved.shift[d] : *most;
    }
  }
  assert_true(largest[0] == 3 && largest[1] == 5 && largest[2] == 8);
}

/* Samples as wide as their box can be moved, however many a universe has; unknown boxes and cut
 * samples not. */
static void whole_boxes_can_be_moved(void **state)
{
  const cf_data_opts o = {.augment = {CF_SYMMETRY_NONE, true}};
  cf_volume_info is = {.lengths = {1, 8, 8, 1}, .box = 40, .cell = 5};

  assert_ok(cf_data_check(&o, &is, 30, 2));
  is.cell = 2.5;
  assert_int_equal(cf_data_check(&o, &is, 30, 2), WEIR_ERR_CONFIG);
  assert_ok(cf_data_check(&o, &is, 30, 30));
  is.box = 0;
  assert_int_equal(cf_data_check(&o, &is, 30, 2), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "files.box"));
  assert_int_equal(cf_shift_check("predict.shift", &is, 30, 0), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "predict.shift"));
  assert_non_null(strstr(weir_last_message(), "30 samples of unknown universes"));
}

/* ---- Of files ---- */

static cf_source *open_file(const char *path)
{
  static const char *paths[1];
  static cf_volume_opts files;
  static cf_source_opts opts;
  cf_source *s = NULL;

  paths[0] = path;
  files = cf_test_opts();
  opts = (cf_source_opts){.input = {paths, 1}};
  assert_ok(cf_source_open(&(cf_source_spec){.source = &opts, .files = &files}, &s));
  return s;
}

static void write_file(char *folder, size_t size, char *path, int labels)
{
  const cf_volume_info info = {
      .lengths = {SIDE, SIDE, SIDE, CHANNELS}, .dtype = WEIR_F32, .n_labels = labels};

  weir_check_mkdir(folder, size);
  (void)snprintf(path, 4096, "%s/a", folder);
  cf_test_write("npy", path, &info, 0, 1, 0);
  (void)snprintf(path, 4096, "%s", folder);
}

/* Whether samples stay in memory makes no difference. */
static void cached_samples_are_those_that_were_read(void **state)
{
  char folder[256], path[4096];
  float voxels[2][VOXELS * CHANNELS], labels[2][CF_MAX_LABELS], truth[CF_MAX_LABELS];
  const cf_volume_info info = {.n_labels = 3};

  write_file(folder, sizeof folder, path, 3);
  cf_test_labels(&info, 0, truth);
  for (int cached = 0; cached < 2; cached++) {
    const cf_data_opts o = {.scale = CF_SCALE_RAW, .cache_bytes = cached == 1 ? 1 << 20 : 0};
    cf_source *source = open_file(path);
    cf_samples *s = NULL;

    assert_ok(cf_samples_create(&o, source, CF_TRUTH_LABELS, &s));
    assert_int_equal(cf_samples_dtype(s), WEIR_F32);
    for (int again = 0; again < 2; again++) {
      const cf_view v = cf_view_symmetry(13);

      const cf_wanted all = {.view = &v, .hi = {SIDE, SIDE, SIDE}};

      assert_ok(cf_samples_read(s, &all, voxels[cached], labels[cached]));
    }
    assert_memory_equal(labels[cached], truth, 3 * sizeof(float));
    cf_samples_destroy(&s);
    cf_source_close(&source);
  }
  assert_memory_equal(voxels[0], voxels[1], sizeof voxels[0]);
  weir_check_rmdir(folder);
}

/* Planes alone, kept or not, are those of the whole. */
static void planes_are_those_of_the_sample(void **state)
{
  char folder[256], path[4096];
  float whole[VOXELS * CHANNELS], box[VOXELS * CHANNELS], labels[CF_MAX_LABELS];
  const int64_t row = SIDE * CHANNELS;

  write_file(folder, sizeof folder, path, 2);
  for (int cached = 0; cached < 2; cached++) {
    const cf_data_opts o = {.scale = CF_SCALE_RAW, .cache_bytes = cached == 1 ? 1 << 20 : 0};
    const cf_wanted planes = {.lo = {2, 0, 1}, .hi = {4, SIDE, SIDE}};
    cf_source *source = open_file(path);
    cf_samples *s = NULL;

    assert_ok(cf_source_read(source, 0, 0, SIDE, WEIR_F32, whole));
    assert_ok(cf_samples_create(&o, source, CF_TRUTH_LABELS, &s));
    cf_samples_planes(s, 2, 4);
    for (int again = 0; again < 2; again++) {
      assert_ok(cf_samples_read(s, &planes, box, labels));
      for (int64_t i = 0; i < 2 * SIDE; i++) {
        assert_memory_equal(box + i * (row - CHANNELS), whole + (2 * SIDE + i) * row + CHANNELS,
                            (size_t)(row - CHANNELS) * sizeof *box);
      }
    }
    cf_samples_destroy(&s);
    cf_source_close(&source);
  }
  weir_check_rmdir(folder);
}

/* Prefetched samples of a training, whole and augmented, among others. */
static void prefetched_samples_are_those_that_are_read(void **state)
{
  enum { MANY = 5 };
  const cf_volume_info info = {
      .lengths = {SIDE, SIDE, SIDE, CHANNELS}, .dtype = WEIR_F32, .n_labels = 3};
  const int64_t of[] = {4, 1, 3};
  const weir_sampler o = {.samples = 3, .batch = 2, .step = 2, .shuffle = true, .seed = 3};
  const cf_data_opts opts = {.scale = CF_SCALE_RAW, .cache_bytes = 1 << 20};
  char folder[256], stem[300];
  float voxels[2][VOXELS * CHANNELS], labels[2][CF_MAX_LABELS];
  weir_load_cfg load;
  cf_samples *s = NULL, *plain = NULL;

  weir_check_mkdir(folder, sizeof folder);
  for (int64_t k = 0; k < MANY; k++) {
    (void)snprintf(stem, sizeof stem, "%s/%lld", folder, (long long)k);
    cf_test_write("npy", stem, &info, k, 1, 0);
  }
  cf_source *source = open_file(folder), *other = open_file(folder);

  weir_opts_default(weir_load_opts, sizeof load, &load);
  assert_ok(cf_samples_create(&opts, source, CF_TRUTH_LABELS, &s));
  assert_ok(cf_samples_create(&opts, other, CF_TRUTH_LABELS, &plain));
  const weir_access_stream v = weir_access_stream_of(&o, 0, 1);

  assert_ok(cf_samples_prefetch(
      s, &(cf_prefetch){.load = &load, .visits = v, .end = 4 * v.each, .of = of}));
  for (int64_t visit = 0; visit < 4 * v.each; visit++) {
    const int64_t position = weir_access_stream_position(&v, visit),
                  number = weir_access_stream_sample(&v, visit);
    const cf_visit at = {visit / v.each, position / 2 * 2, position % 2, number};
    const cf_view view = cf_view_symmetry((int)visit);
    cf_wanted want = {.sample = of[number],
                      .visit = &at,
                      .view = visit % 2 == 0 ? &view : NULL,
                      .hi = {SIDE, SIDE, SIDE}};

    for (int outside = 0; outside < 2; outside++) { /* as validation comes in between */
      assert_ok(cf_samples_read(s, &want, voxels[0], labels[0]));
      want.visit = NULL;
      assert_ok(cf_samples_read(plain, &want, voxels[1], labels[1]));
      assert_memory_equal(voxels[0], voxels[1], sizeof voxels[0]);
      assert_memory_equal(labels[0], labels[1], 3 * sizeof(float));
      want.sample = visit % MANY;
    }
  }
  cf_samples_destroy(&s);
  cf_samples_destroy(&plain);
  cf_source_close(&source);
  cf_source_close(&other);
  weir_check_rmdir(folder);
}

/* Files of a directory that were kept as raw numbers are not believed to be counts. */
static void kept_files_are_of_one_scale(void **state)
{
  const cf_volume_info info = {
      .lengths = {SIDE, SIDE, SIDE, CHANNELS}, .dtype = WEIR_F32, .n_labels = 3};
  const int64_t of[] = {0, 1};
  const weir_sampler o = {.samples = 2, .batch = 1, .step = 1};
  const weir_access_stream v = weir_access_stream_of(&o, 0, 1);
  char folder[256], near[300], path[300];
  float voxels[VOXELS * CHANNELS], labels[CF_MAX_LABELS];
  weir_load_cfg load;

  weir_check_mkdir(folder, sizeof folder);
  (void)snprintf(near, sizeof near, "%s/near", folder);
  (void)snprintf(path, sizeof path, "%s/of", folder);
  assert_ok(weir_dir_create(path));
  (void)snprintf(path, sizeof path, "%s/of/a", folder);
  cf_test_write("npy", path, &info, 0, 1, 0);
  (void)snprintf(path, sizeof path, "%s/of/b", folder);
  cf_test_write("npy", path, &info, 1, 1, 0);
  weir_opts_default(weir_load_opts, sizeof load, &load);
  load.memory.bytes = 0;
  load.directory.path = near;
  load.directory.bytes = 1 << 20;
  load.directory.keep = true;
  (void)snprintf(path, sizeof path, "%s/of", folder);
  for (int scale = CF_SCALE_RAW; scale >= CF_SCALE_LOG; scale -= CF_SCALE_RAW) {
    const cf_data_opts opts = {.scale = scale};
    const weir_status expected = scale == CF_SCALE_RAW ? WEIR_OK : WEIR_ERR_DATA;
    cf_source *source = open_file(path);
    cf_samples *s = NULL;

    assert_ok(cf_samples_create(&opts, source, CF_TRUTH_LABELS, &s));
    assert_ok(cf_samples_prefetch(
        s, &(cf_prefetch){.load = &load, .visits = v, .end = 3 * v.each, .of = of}));
    for (int64_t visit = 0; visit < 3 * v.each && (visit == 0 || expected == WEIR_OK); visit++) {
      const int64_t number = weir_access_stream_sample(&v, visit);
      const cf_visit at = {visit / v.each, visit % v.each, 0, number};
      const cf_wanted want = {.sample = number, .visit = &at, .hi = {SIDE, SIDE, SIDE}};

      assert_int_equal(cf_samples_read(s, &want, voxels, labels), expected);
    }
    cf_samples_destroy(&s);
    cf_source_close(&source);
  }
  weir_check_rmdir(folder);
}

/* Normal numbers are no counts. */
static void what_is_no_count_is_refused(void **state)
{
  char folder[256], path[4096];
  float voxels[VOXELS * CHANNELS], labels[CF_MAX_LABELS];
  cf_data_opts o = {.scale = CF_SCALE_LOG, .cache_bytes = 1 << 20};
  cf_samples *s = NULL;

  write_file(folder, sizeof folder, path, 1);
  cf_source *source = open_file(path);

  assert_ok(cf_samples_create(&o, source, CF_TRUTH_LABELS, &s));
  assert_int_equal(cf_samples_read(s, &(cf_wanted){.hi = {SIDE, SIDE, SIDE}}, voxels, labels),
                   WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "files.voxels=any takes it as it is"));
  cf_samples_destroy(&s);
  cf_source_close(&source);
  weir_check_rmdir(folder);
}

/* The mean of an overdensity is its rounding, or 0 in the network. */
static void a_mean_of_rounding_is_no_scale(void **state)
{
  const cf_volume_info info = {
      .lengths = {SIDE, SIDE, SIDE, CHANNELS}, .dtype = WEIR_F32, .n_labels = 1};
  char folder[256], path[4096];
  const char *paths[] = {folder};
  float voxels[VOXELS * CHANNELS], labels[CF_MAX_LABELS] = {0};
  const cf_source_opts from = {.input = {paths, 1}};
  cf_volume_opts files = cf_test_opts();
  cf_volume_writer *w = NULL;

  weir_check_mkdir(folder, sizeof folder);
  (void)snprintf(path, sizeof path, "%s/a", folder);
  for (int i = 0; i < VOXELS * CHANNELS; i++) {
    voxels[i] = i % 2 == 0 ? 1.000001f : -1;
  }
  assert_ok(cf_volume_create("npy", path, &info, 1, 0, &w));
  assert_ok(cf_volume_append(w, voxels, &(cf_volume_about){labels, 0, NULL, NULL}));
  assert_ok(cf_volume_commit(&w));
  files.voxels = CF_QUANTITY_ANY;
  for (int scale = CF_SCALE_MEAN; scale <= CF_SCALE_RAW; scale++) {
    const cf_data_opts o = {.scale = scale};
    cf_source *source = NULL;
    cf_samples *s = NULL;

    assert_ok(cf_source_open(&(cf_source_spec){.source = &from, .files = &files}, &source));
    assert_ok(cf_samples_create(&o, source, CF_TRUTH_LABELS, &s));
    assert_int_equal(cf_samples_read(s, &(cf_wanted){.hi = {SIDE, SIDE, SIDE}}, voxels, labels),
                     scale == CF_SCALE_RAW ? WEIR_OK : WEIR_ERR_DATA);
    assert_true(scale == CF_SCALE_RAW || strstr(weir_last_message(), "data.scale=raw") != NULL);
    cf_samples_destroy(&s);
    cf_source_close(&source);
  }
  weir_check_rmdir(folder);
}

static void octahedral_symmetries_need_cubes(void **state)
{
  const cf_volume_info flat = {.lengths = {4, 4, 2, 1}, .dtype = WEIR_F32, .n_labels = 1};
  const cf_data_opts o = {.augment = {CF_SYMMETRY_OCTAHEDRAL, false}};
  char folder[256], path[4096];
  cf_samples *s = NULL;

  weir_check_mkdir(folder, sizeof folder);
  (void)snprintf(path, sizeof path, "%s/a", folder);
  cf_test_write("npy", path, &flat, 0, 1, 0);
  cf_source *source = open_file(folder);

  assert_int_equal(cf_samples_create(&o, source, CF_TRUTH_LABELS, &s), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "data.augment.symmetry"));
  assert_null(s);
  cf_source_close(&source);
  weir_check_rmdir(folder);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(views_are_what_the_header_says),
      cmocka_unit_test(boxes_are_subsets_of_views),
      cmocka_unit_test(there_are_48),
      cmocka_unit_test(boxes_are_mirrored),
      cmocka_unit_test(views_are_functions_of_their_keys),
      cmocka_unit_test(views_keep_the_line_of_sight),
      cmocka_unit_test(symmetries_are_numbered),
      cmocka_unit_test(maps_have_the_symmetries_of_a_square),
      cmocka_unit_test(views_are_moved),
      cmocka_unit_test(whole_boxes_can_be_moved),
      cmocka_unit_test(cached_samples_are_those_that_were_read),
      cmocka_unit_test(planes_are_those_of_the_sample),
      cmocka_unit_test(prefetched_samples_are_those_that_are_read),
      cmocka_unit_test(kept_files_are_of_one_scale),
      cmocka_unit_test(what_is_no_count_is_refused),
      cmocka_unit_test(a_mean_of_rounding_is_no_scale),
      cmocka_unit_test(octahedral_symmetries_need_cubes),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
