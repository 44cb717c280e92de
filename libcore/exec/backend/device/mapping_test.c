/* mapping_test.c - every task of a grid has one worker, and the emitted C gives it to that worker.
 */
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "exec/backend/device/mapping.h"

enum { MOST_TASKS = 4096, DRAWS = 500 };

static int64_t draw(uint64_t *n, int64_t below)
{
  return (int64_t)(weir_random_bits(5, 0, 0, (*n)++) % (uint64_t)below);
}

/* A product of one to four atoms of rank one to three. */
static exec_mapping draw_mapping(uint64_t *n)
{
  const int rank = 1 + (int)draw(n, 3), atoms = 1 + (int)draw(n, 4);
  exec_mapping m = {.rank = rank};
  int64_t tasks = 1;

  for (int a = 0; a < atoms; a++) {
    int64_t extent[WEIR_MAX_DIMS];

    for (int d = 0; d < rank; d++) {
      extent[d] = 1 + draw(n, 5);
      extent[d] = tasks * extent[d] <= MOST_TASKS ? extent[d] : 1;
      tasks *= extent[d];
    }
    const exec_mapping atom =
        draw(n, 2) == 0 ? exec_spatial(rank, extent) : exec_repeat(rank, extent);
    m = exec_compose(&m, &atom);
  }
  return m;
}

static void every_task_has_one_worker(void **state)
{
  uint64_t n = 0;

  (void)state;
  for (int draws = 0; draws < DRAWS; draws++) {
    const exec_mapping m = draw_mapping(&n);
    bool taken[MOST_TASKS] = {false};
    int64_t tasks = 1, task[WEIR_MAX_DIMS];

    for (int d = 0; d < m.rank; d++) {
      tasks *= exec_mapping_shape(&m, d);
    }
    assert_int_equal(exec_mapping_workers(&m) * exec_mapping_repeats(&m), tasks);
    for (int64_t w = 0; w < exec_mapping_workers(&m); w++) {
      for (int64_t k = 0; k < exec_mapping_repeats(&m); k++) {
        int64_t at = 0;

        exec_mapping_task(&m, w, k, task);
        for (int d = 0; d < m.rank; d++) {
          assert_true(task[d] >= 0 && task[d] < exec_mapping_shape(&m, d));
          at = at * exec_mapping_shape(&m, d) + task[d];
        }
        assert_false(taken[at]);
        taken[at] = true;
      }
    }
  }
}

/* The definition of a product, by the tasks of its factors. */
static void products_are_as_defined(void **state)
{
  uint64_t n = 1000000;

  (void)state;
  for (int draws = 0; draws < DRAWS; draws++) {
    const int64_t e[2] = {1 + draw(&n, 4), 1 + draw(&n, 4)},
                  f[2] = {1 + draw(&n, 4), 1 + draw(&n, 4)};
    const exec_mapping outer = draw(&n, 2) == 0 ? exec_spatial(2, e) : exec_repeat(2, e);
    const exec_mapping inner = draw(&n, 2) == 0 ? exec_spatial(2, f) : exec_repeat(2, f);
    const exec_mapping m = exec_compose(&outer, &inner);
    const int64_t workers = exec_mapping_workers(&inner), repeats = exec_mapping_repeats(&inner);

    for (int64_t w = 0; w < exec_mapping_workers(&m); w++) {
      for (int64_t k = 0; k < exec_mapping_repeats(&m); k++) {
        int64_t whole[2], a[2], b[2];

        exec_mapping_task(&m, w, k, whole);
        exec_mapping_task(&outer, w / workers, k / repeats, a);
        exec_mapping_task(&inner, w % workers, k % repeats, b);
        assert_int_equal(whole[0], a[0] * f[0] + b[0]);
        assert_int_equal(whole[1], a[1] * f[1] + b[1]);
      }
    }
  }
}

/* spatial(4, 3) repeat(1, 2) of a worker w: rows w / 3, columns 2 (w mod 3) and the next. */
static void digits_are_written(void **state)
{
  const int64_t grid[2] = {4, 3}, each[2] = {1, 2};
  const exec_mapping outer = exec_spatial(2, grid), inner = exec_repeat(2, each);
  const exec_mapping m = exec_compose(&outer, &inner);
  native_text t = {0};

  (void)state;
  exec_mapping_put_digits(&m, "w", &t);
  exec_mapping_put_first(&m, 0, &t);
  native_put(&t, "; ");
  exec_mapping_put_first(&m, 1, &t);
  assert_ok(t.status);
  assert_string_equal(t.text, "    const uint32_t left0 = (uint32_t)w;\n"
                              "    const int32_t s0_1 = (int32_t)(left0 % 3);\n"
                              "    const uint32_t left1 = left0 / 3;\n"
                              "    const int32_t s0_0 = (int32_t)left1;\n"
                              "s0_0; s0_1 * 2");
  weir_free(&t.text);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_task_has_one_worker),
      cmocka_unit_test(products_are_as_defined),
      cmocka_unit_test(digits_are_written),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
