/* curves_test.c - epochs of a log with a kill and two stages. */
#include <math.h>
#include <string.h>
#include "app/weir_curves.h"
#include "base/weir_check.h"
#include "base/weir_file.h"

static const char *const key[] = {"epoch", "loss", "valid_loss"};

static void write_log(const char *dir, const char *lines)
{
  char path[512];

  assert_ok(weir_path_join(dir, "run.jsonl", path, sizeof path));
  weir_check_write(path, lines, strlen(lines));
}

static void the_last_stage_counts_and_epochs_once(void **state)
{
  char dir[256];
  weir_curves c;

  weir_check_mkdir(dir, sizeof dir);
  write_log(dir, "{\"event\": \"stage\", \"name\": \"bias\"}\n"
                 "{\"event\": \"epoch_end\", \"epoch\": 1, \"loss\": 9, \"valid_loss\": 9}\n"
                 "{\"event\": \"stage\", \"name\": \"forecast\"}\n"
                 "{\"event\": \"epoch_end\", \"epoch\": 1, \"loss\": 4, \"valid_loss\": 5}\n"
                 "{\"event\": \"epoch_end\", \"epoch\": 2, \"loss\": 3, \"valid_loss\": 4}\n"
                 "{\"event\": \"start\", \"program\": \"demo\"}\n"
                 "{\"event\": \"stage\", \"name\": \"bias\"}\n"
                 "{\"event\": \"stage\", \"name\": \"forecast\"}\n"
                 "{\"event\": \"epoch_end\", \"epoch\": 2, \"loss\": 2.5}\n"
                 "{\"event\": \"epoch_end\", \"epoch\": 3, \"loss\": 2, \"valid_loss\": 3}\n");
  assert_ok(weir_curves_read(dir, 3, key, &c));
  assert_int_equal(c.n, 3);
  assert_near(c.at[0][2], 3, 0);
  assert_near(c.at[1][1], 2.5, 0);
  assert_true(isnan(c.at[2][1]));
  assert_near(c.at[2][0], 5, 0);
  weir_curves_fini(&c);
  assert_null(c.at[0]);
  weir_check_rmdir(dir);
}

/* Several networks: the first one's epochs, and a figure of all; of one network there is none. */
static void networks_have_a_figure_of_all(void **state)
{
  char dir[256], path[512];
  weir_report *r = NULL;
  weir_curves c;

  for (int models = 1; models <= 3; models++) {
    char text[1024] = "{\"event\": \"stage\", \"name\": \"forecast\"}\n";

    for (int k = 0; k < 2 * models; k++) {
      const size_t n = strlen(text);

      (void)snprintf(text + n, sizeof text - n,
                     "{\"event\": \"epoch_end\", \"epoch\": %d, \"loss\": %d, \"valid_loss\": %d, "
                     "\"model\": %d}\n",
                     1 + k / models, 10 * (k % models) + k / models, 5, 1 + k % models);
    }
    weir_check_mkdir(dir, sizeof dir);
    write_log(dir, text);
    assert_ok(weir_curves_read(dir, 3, key, &c));
    assert_int_equal(c.n, 2);
    assert_near(c.at[1][1], 1, 0);
    weir_curves_fini(&c);
    assert_ok(weir_report_open(dir, "t", &r));
    assert_ok(weir_report_commit(&r, weir_curves_report_models(dir, "loss", "Loss", "loss", r)));
    assert_ok(weir_path_join(dir, "figures/models.csv", path, sizeof path));
    assert_int_equal(weir_file_exists(path), models > 1);
    if (models == 3) {
      char line[64];
      FILE *f = fopen(path, "r");
      int lines = 0;

      assert_non_null(f);
      while (fgets(line, sizeof line, f) != NULL) {
        lines += strstr(line, "model-3") != NULL && strstr(line, "2") != NULL;
      }
      (void)fclose(f);
      assert_true(lines > 0);
    }
    weir_check_rmdir(dir);
  }
}

static void figures_have_one_or_two_curves(void **state)
{
  const weir_curves_figure both = {"loss", "Loss", "loss", {1, 2}, {"training", "validation"}};
  const weir_curves_figure one = {"valid", "Validation", "loss", {2, 0}, {"validation", NULL}};
  char dir[256], path[512];
  weir_report *r = NULL;
  weir_curves c;

  weir_check_mkdir(dir, sizeof dir);
  assert_int_equal(weir_curves_read(dir, 3, key, &c), WEIR_ERR_DATA); /* no log */
  weir_curves_fini(&c);
  write_log(dir, "{\"event\": \"epoch_end\", \"epoch\": 1, \"loss\": 4, \"valid_loss\": 5}\n");
  assert_ok(weir_curves_read(dir, 3, key, &c));
  assert_ok(weir_report_open(dir, "t", &r));
  assert_ok(weir_curves_report(&c, &both, r));
  assert_ok(weir_report_commit(&r, weir_curves_report(&c, &one, r)));
  assert_ok(weir_path_join(dir, "figures/valid.csv", path, sizeof path));
  assert_true(weir_file_exists(path));
  weir_curves_fini(&c);
  weir_check_rmdir(dir);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_last_stage_counts_and_epochs_once),
      cmocka_unit_test(networks_have_a_figure_of_all),
      cmocka_unit_test(figures_have_one_or_two_curves),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
