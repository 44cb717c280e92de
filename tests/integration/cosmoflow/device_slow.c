/* device_slow.c - training on the emulated device: the weights and losses of the cpu, whose
 * generated loops run there too. */
#include <string.h>
#include "base/weir_alloc.h"
#include "io/weir_netcdf.h"
#include "needs.h"
#include "program.h"

/* As in run.c, one epoch of three steps. */
#define RUN                                                                                      \
  "run --set simulate.universes=10 --set simulate.file=4 --set simulate.side=8 "                 \
  "--set simulate.particles=16 --set simulate.box=128 --set simulate.redshifts=[0,0.5] "         \
  "--set simulate.preset=wide2 --set data.split.valid=2 --set data.split.test=2 "                \
  "--set 'model.net={mlperf: {blocks: 2, base: 4, hidden1: 8, hidden2: 4, dropout: 0.1}}' "      \
  "--set train.epochs=1 --set train.batch=2 --set 'train.optim.rule={momentum: {form: keras}}' " \
  "--set train.optim.schedule.lr=0.01 --set exec.tier=vector --threads 1 "
#define GENERATED "--set exec.kernel=none "

static char *digest(const char *dir)
{
  weir_netcdf *nc = NULL;
  char *text = NULL;

  assert_ok(weir_netcdf_open(in_scratch("%s/weights.nc", dir), &nc));
  assert_ok(weir_netcdf_get_text(nc, WEIR_NETCDF_FILE, "variables_sha256", &text));
  weir_netcdf_close(&nc);
  return text;
}

static void training_gives_the_bits_of_the_cpu(void **state)
{
  NEEDS_LIBRARIES();
  assert_int_equal(program(RUN GENERATED "--out %s", in_scratch("cpu")), 0);
  assert_int_equal(program(RUN GENERATED "--device emulated --set source.input=[%s] --out %s",
                           in_scratch("cpu/universes"), in_scratch("emulated")),
                   0);
  char *x = digest("cpu"), *y = digest("emulated");

  assert_string_equal(x, y);
  weir_free(&x);
  weir_free(&y);
  assert_true(event_number(in_scratch("cpu"), "run_end", "loss") ==
              event_number(in_scratch("emulated"), "run_end", "loss"));
  assert_true(event_number(in_scratch("cpu"), "epoch_end", "mae") ==
              event_number(in_scratch("emulated"), "epoch_end", "mae"));
  /* Convolutions by the device's library: other orders of f32 sums. */
  assert_int_equal(program(RUN "--device emulated --set source.input=[%s] --out %s",
                           in_scratch("cpu/universes"), in_scratch("library")),
                   0);
  assert_near(event_number(in_scratch("library"), "run_end", "loss"),
              event_number(in_scratch("cpu"), "run_end", "loss"), 1e-5);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(training_gives_the_bits_of_the_cpu),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
