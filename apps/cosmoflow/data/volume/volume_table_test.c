/* volume_table_test.c - stacks of maps and grids in NumPy arrays, as the CAMELS Multifield Dataset
 * and Quijote publish them, with labels from a table of parameters. */
#include <math.h>
#include <sys/stat.h>
#include "io/weir_npy.h"
#include "support/cosmoflow/volume_test.h"

enum { LINES = 3, EACH = 2, SIDE = 4, PIXELS = SIDE * SIDE };
static char dir[256], path[512], table[512];

static const char camels[] = "#Omega_m sigma_8 A_SN1\n0.1 0.6 0.25\n0.5 1.0 4\n0.3 0.7 1\n";

/* Writes an array of these lengths whose element i is i. */
static void put(const char *name, int n_dims, const int64_t *lengths)
{
  weir_npy_shape shape = {WEIR_F32, n_dims, {0}};
  float value[512];
  int64_t n = 1;

  for (int d = 0; d < n_dims; d++) {
    shape.lengths[d] = lengths[d];
    n *= lengths[d];
  }
  assert_true(n <= 512);
  for (int64_t i = 0; i < n; i++) {
    value[i] = (float)i;
  }
  (void)snprintf(path, sizeof path, "%s/%s", dir, name);
  assert_ok(weir_npy_write(path, &shape, value));
}

static cf_volume_opts options(const char *axes, int64_t each)
{
  cf_volume_opts o = cf_test_opts();

  o.axes = axes;
  o.samples_per_line = each;
  o.parameters.table = table;
  return o;
}

static weir_status open_with(const cf_volume_opts *o, cf_volumes **out)
{
  const char *const paths[] = {path};

  return cf_volumes_open(paths, 1, o, out);
}

/* Map i of the stack is of line i / 2, and so is its universe; a channel first is brought to the
 * end. */
static void maps_are_of_the_lines_in_order(void **state)
{
  const cf_volume_opts o = options("nyx", EACH), channels = options("ncyx", EACH);
  const double omega_m[LINES] = {0.1, 0.5, 0.3};
  float voxels[2 * PIXELS], labels[CF_MAX_LABELS];
  cf_volumes *v = NULL;
  int64_t universe = -1;
  cf_facts facts;

  put("Maps_Mcdm_IllustrisTNG_LH_z=0.00.npy", 3, (int64_t[]){LINES * EACH, SIDE, SIDE});
  assert_ok(open_with(&o, &v));
  const cf_volume_info *const info = cf_volumes_info(v);

  assert_int_equal(cf_volumes_count(v), LINES * EACH);
  assert_memory_equal(info->lengths, ((int64_t[]){1, SIDE, SIDE, 1}), sizeof info->lengths);
  assert_int_equal(info->n_labels, 3);
  assert_string_equal(info->label[0], "omega_m");
  assert_true(info->lo[0] == 0.1 && info->hi[2] == 4);
  for (int i = 0; i < LINES * EACH; i++) {
    assert_ok(cf_volumes_read(v, i, 0, 1, WEIR_F32, voxels));
    assert_true(voxels[0] == (float)(i * PIXELS) && voxels[15] == (float)(i * PIXELS + 15));
    assert_ok(cf_volumes_labels(v, i, labels));
    assert_near(labels[0], 2 * (omega_m[i / EACH] - 0.1) / 0.4 - 1, 1e-6);
    assert_ok(cf_volumes_facts(v, i, &facts));
    assert_true(facts.has_physical && facts.physical[0] == omega_m[i / EACH]);
    assert_ok(cf_volumes_universe(v, i, &universe));
    assert_int_equal(universe, i / EACH);
  }
  cf_volumes_close(&v);
  put("Maps_2ch.npy", 4, (int64_t[]){LINES * EACH, 2, SIDE, SIDE});
  assert_ok(open_with(&channels, &v));
  assert_int_equal(cf_volumes_info(v)->lengths[3], 2);
  assert_ok(cf_volumes_read(v, 1, 0, 1, WEIR_F32, voxels));
  assert_true(voxels[0] == 2 * PIXELS && voxels[1] == 3 * PIXELS && voxels[2] == 2 * PIXELS + 1);
  cf_volumes_close(&v);
}

/* Grids likewise, and one grid a file, as Quijote has them, is of the number of its folder. */
static void grids_are_of_lines_or_of_folders(void **state)
{
  const cf_volume_opts stack = options("nzyx", 1), one = options("zyx", 1);
  float labels[CF_MAX_LABELS];
  cf_volumes *v = NULL;
  int64_t universe = -1;
  char folder[512];

  put("Grids.npy", 4, (int64_t[]){LINES, SIDE, SIDE, SIDE});
  assert_ok(open_with(&stack, &v));
  assert_int_equal(cf_volumes_count(v), LINES);
  assert_ok(cf_volumes_universe(v, 2, &universe));
  assert_int_equal(universe, 2);
  cf_volumes_close(&v);
  (void)snprintf(folder, sizeof folder, "%s/1", dir);
  assert_int_equal(mkdir(folder, 0700), 0);
  put("1/df_m_128_z=0.npy", 3, (int64_t[]){SIDE, SIDE, SIDE});
  assert_ok(open_with(&one, &v));
  assert_ok(cf_volumes_universe(v, 0, &universe));
  assert_int_equal(universe, 1);
  assert_ok(cf_volumes_labels(v, 0, labels));
  assert_true(labels[0] == 1);
  cf_volumes_close(&v);
  put("df_m_128_z=0.npy", 3, (int64_t[]){SIDE, SIDE, SIDE});
  assert_int_equal(open_with(&one, &v), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "no folder of its path"));
}

static void assert_refused(const cf_volume_opts *o, weir_status status, const char *message)
{
  cf_volumes *v = NULL;

  assert_int_equal(open_with(o, &v), status);
  assert_null(v);
  if (strstr(weir_last_message(), message) == NULL) {
    fail_msg("'%s' is not in: %s", message, weir_last_message());
  }
}

/* Voxels are divided by their unit; a stated box makes a cell. */
static void units_and_boxes_are_stated(void **state)
{
  cf_volume_opts o = options("nyx", EACH);
  float voxels[PIXELS];
  cf_volumes *v = NULL;
  char plain[65], other[65];

  put("maps.npy", 3, (int64_t[]){LINES * EACH, SIDE, SIDE});
  assert_ok(open_with(&o, &v));
  cf_volumes_key(v, plain);
  cf_volumes_close(&v);
  o.unit = 4;
  o.box = 25;
  assert_ok(open_with(&o, &v));
  assert_true(cf_volumes_info(v)->box == 25 && cf_volumes_info(v)->cell == 6.25);
  assert_ok(cf_volumes_read(v, 1, 0, 1, WEIR_F32, voxels));
  assert_true(voxels[3] == (PIXELS + 3) / 4.0f);
  cf_volumes_key(v, other);
  assert_true(strcmp(plain, other) != 0);
  cf_volumes_close(&v);
}

/* Writes voxels 0, 1, .. as a file that states that they were divided by 4. */
static void put_divided(const char *format)
{
  cf_volume_info is = {.dtype = WEIR_F32, .lengths = {1, SIDE, SIDE, 1}, .n_labels = 1, .unit = 4};
  const float label = 0;
  const cf_facts facts = {.has_physical = false};
  const cf_volume_about about = {&label, -1, NULL, &facts};
  float voxels[PIXELS];
  cf_volume_writer *w = NULL;

  for (int i = 0; i < PIXELS; i++) {
    voxels[i] = (float)i;
  }
  (void)snprintf(path, sizeof path, "%s/divided", dir);
  assert_ok(cf_volume_create(format, path, &is, 1, 0, &w));
  assert_ok(cf_volume_append(w, voxels, &about));
  assert_ok(cf_volume_commit(&w));
  (void)snprintf(path, sizeof path, "%s/divided%s", dir,
                 strcmp(format, "npy") == 0 ? "_data.npy" : ".cfbin");
}

/* Voxels that were written divided are not divided again, and the unit is known; another one is
 * refused, and so are files of two. */
static void voxels_are_divided_once(void **state)
{
  static const char *const formats[] = {"npy", "cfbin"};

  for (size_t k = 0; k < sizeof formats / sizeof *formats; k++) {
    cf_volume_opts o = cf_test_opts();
    float voxels[PIXELS];
    cf_volumes *v = NULL;

    o.parameters.table = NULL;
    put_divided(formats[k]);
    for (o.unit = 1; o.unit < 5; o.unit += 3) { /* not stated, or the same */
      assert_ok(open_with(&o, &v));
      assert_true(cf_volumes_info(v)->unit == 4);
      assert_ok(cf_volumes_read(v, 0, 0, 1, WEIR_F32, voxels));
      assert_true(voxels[3] == 3);
      cf_volumes_close(&v);
    }
    o.unit = 2;
    assert_refused(&o, WEIR_ERR_CONFIG, "were divided by 4 (voxel_unit), not by 2");
  }
}

/* What single precision does not hold once it is divided. */
static void overflow_of_divided_voxels_is_refused(void **state)
{
  cf_volume_opts o = options("nyx", EACH);
  float voxels[PIXELS];
  cf_volumes *v = NULL;

  put("maps.npy", 3, (int64_t[]){LINES * EACH, SIDE, SIDE});
  o.unit = 1e-37;
  assert_ok(open_with(&o, &v));
  assert_int_equal(cf_volumes_read(v, 3, 0, 1, WEIR_F32, voxels), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "sample 4: voxel 0 is 48"));
  cf_volumes_close(&v);
}

static void what_does_not_fit_is_refused(void **state)
{
  cf_volume_opts o = options("", EACH);

  put("maps.npy", 3, (int64_t[]){LINES * EACH, SIDE, SIDE});
  assert_refused(&o, WEIR_ERR_DATA, "files.axes states nyx");
  o = options("nyx", 1);
  assert_refused(&o, WEIR_ERR_CONFIG, "of which each has 2, not 1");
  o = options("nzyx", 1);
  assert_refused(&o, WEIR_ERR_CONFIG, "of maps yx");
  put("maps.npy", 3, (int64_t[]){LINES * EACH + 1, SIDE, SIDE});
  o = options("nyx", EACH);
  assert_refused(&o, WEIR_ERR_DATA, "no multiple of the 3 lines");
  put("a_data.npy", 3, (int64_t[]){LINES, SIDE, SIDE});
  (void)snprintf(path, sizeof path, "%s/a_label.npy", dir);
  assert_ok(weir_npy_write(path, &(weir_npy_shape){WEIR_F32, 2, {LINES, 1}}, (float[LINES]){0}));
  (void)snprintf(path, sizeof path, "%s/a_data.npy", dir);
  o = options("nyx", 1);
  assert_refused(&o, WEIR_ERR_CONFIG, "has labels of its own");
  o.parameters.range = (weir_real_list){(double[]){0.2, 0.4}, 2};
  assert_refused(&o, WEIR_ERR_CONFIG, "files.parameters.range");
}

static int begin(void **state)
{
  (void)state;
  weir_check_mkdir(dir, sizeof dir);
  (void)snprintf(table, sizeof table, "%s/params.txt", dir);
  weir_check_write(table, camels, sizeof camels - 1);
  return 0;
}

static int end(void **state)
{
  (void)state;
  weir_check_rmdir(dir);
  return 0;
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(maps_are_of_the_lines_in_order),
      cmocka_unit_test(grids_are_of_lines_or_of_folders),
      cmocka_unit_test(units_and_boxes_are_stated),
      cmocka_unit_test(voxels_are_divided_once),
      cmocka_unit_test(overflow_of_divided_voxels_is_refused),
      cmocka_unit_test(what_does_not_fit_is_refused),
  };

  return cmocka_run_group_tests(tests, begin, end);
}
