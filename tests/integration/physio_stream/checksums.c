/* checksums.c - recordings of a database with SHA256SUMS.txt: read by their names, and refused
 * where a file is not the one that the list states. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "program.h"

/* A database of one record, as PhysioNet has them. */
static void make_database(void)
{
  char command[4 * PATH];

  assert_int_equal(program("prepare --set ecgsyn.duration=30 --out %s", in_scratch("r")), 0);
  (void)snprintf(command, sizeof command,
                 "mkdir -p %s && cd %s && cp ecgsyn.hea ecgsyn.dat "
                 "ecgsyn.atr %s && cd %s && echo ecgsyn > RECORDS && sha256sum * > SHA256SUMS.txt",
                 in_scratch("pn/sim/1.0.0"), in_scratch("r"), in_scratch("pn/sim/1.0.0"),
                 in_scratch("pn/sim/1.0.0"));
  assert_int_equal(system(command), 0);
}

static void a_name_of_a_database_is_read_with_its_digests(void **state)
{
  make_database();
  assert_int_equal(program("run --input physionet:sim/1.0.0/ecgsyn --set input.physionet=%s "
                           "--out %s",
                           in_scratch("pn"), in_scratch("a")),
                   0);
  assert_non_null(strstr(printed(), "2 files have the digests of"));
  assert_int_equal(program("run --set input.records=[physionet:sim/1.0.0/RECORDS] --set "
                           "input.physionet=%s --out %s",
                           in_scratch("pn"), in_scratch("b")),
                   0);
  assert_true(same_contents(in_scratch("a/beats.csv"), in_scratch("b/ecgsyn/beats.csv")));
  assert_int_equal(program("convert --input physionet:sim/1.0.0/ecgsyn --set input.physionet=%s "
                           "--set convert.format=csv --out %s",
                           in_scratch("pn"), in_scratch("c")),
                   0);
  assert_int_equal(program("eval --set eval.records=[physionet:sim/1.0.0/RECORDS] --set "
                           "input.physionet=%s --set eval.folder=%s --set eval.start=0 --out %s",
                           in_scratch("pn"), in_scratch("b"), in_scratch("e")),
                   0);
  assert_int_equal(program("run --input physionet:sim/1.0.0/ecgsyn --out %s", in_scratch("d")), 2);
  assert_non_null(strstr(printed(), "set input.physionet"));
  assert_int_equal(program("run --input physionet:sim/2/ecgsyn --set input.physionet=%s --out %s",
                           in_scratch("pn"), in_scratch("d")),
                   3);
  assert_non_null(strstr(printed(), "it has: 1.0.0"));
}

static void a_damaged_file_is_refused_by_name(void **state)
{
  char *samples = NULL;
  int64_t size = 0;

  make_database();
  assert_ok(weir_file_read(in_scratch("pn/sim/1.0.0/ecgsyn.dat"), 1 << 24, &samples, &size));
  samples[1000] ^= 1;
  weir_check_write(in_scratch("pn/sim/1.0.0/ecgsyn.dat"), samples, (size_t)size);
  weir_free(&samples);
  assert_int_equal(
      program("run --input %s --out %s", in_scratch("pn/sim/1.0.0/ecgsyn"), in_scratch("a")), 3);
  assert_non_null(strstr(printed(), "1.0.0/ecgsyn.dat: its SHA-256 is"));
  assert_true(only_log(in_scratch("a")));
  assert_int_equal(program("convert --input %s --set convert.format=csv --out %s",
                           in_scratch("pn/sim/1.0.0/ecgsyn"), in_scratch("b")),
                   3);
  assert_int_equal(program("run --input %s --set input.checksums=ignored --out %s",
                           in_scratch("pn/sim/1.0.0/ecgsyn"), in_scratch("c")),
                   0);
  assert_int_equal(program("run --input %s --set input.checksums=required --out %s",
                           in_scratch("r/ecgsyn"), in_scratch("d")),
                   3);
  assert_non_null(strstr(printed(), "there is no SHA256SUMS.txt"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(a_name_of_a_database_is_read_with_its_digests),
      TEST(a_damaged_file_is_refused_by_name),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
