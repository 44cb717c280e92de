/* transport_slabs.c - one energy of a long device: its slabs on two threads against the recursion
 * on one, and the flops of both. */
#include "base/weir_log.h"
#include "device/weir_parallel.h"
#include "model/rgf/slabs.h"
#include "ops/linear/weir_linear.h"
#include "reference.h"
#include "random_device.h"

enum { ROWS = 128, BLOCKS = 48, RUNS = 4 };

/* What is computed. */
typedef enum amount { CORNER, BLOCKS_OF_G, BLOCKS_OF_LESSER, AMOUNTS } amount;

typedef struct work {
  random_device *device;
  amount what;
  weir_c128 *lesser;
  qt_slabs *slabs; /* NULL: the recursion */
  void *scratch;
} work;

/* qt_blocks.read of Sigma^< = i. */
static void read_lesser(const void *context, int64_t row, int64_t column, weir_c128 *out)
{
  (void)context;
  memset(out, 0, (size_t)ROWS * ROWS * sizeof *out);
  for (int64_t i = 0; i < ROWS && row == column; i++) {
    out[i * (ROWS + 1)].im = 1;
  }
}

static void solve(void *context)
{
  const work *w = context;
  random_device *d = w->device;
  const bool blocks = w->what != CORNER;
  const qt_rgf_job job = {
      .layout = &d->layout,
      .a = {random_device_read, d},
      .sigma = {w->what == BLOCKS_OF_LESSER ? read_lesser : NULL, NULL},
      .g = {blocks ? d->g : NULL, 1},
      .lesser = {w->lesser, 1},
      .corner = blocks ? NULL : d->corner,
  };

  if (w->slabs != NULL) {
    bench_must(qt_slabs_solve(w->slabs, &job));
  } else if (!(blocks ? qt_rgf_solve(&job, w->scratch)
                      : qt_rgf_corner(&d->layout, &job.a, d->corner, w->scratch))) {
    fprintf(stderr, "transport_slabs: a block is singular\n");
    exit(6);
  }
}

static const char *const names[AMOUNTS] = {"corner of G", "blocks of G", "blocks of G and G<"};

static void count(const random_device *d, amount what, int64_t n_slabs)
{
  const bool lesser = what == BLOCKS_OF_LESSER, corner = what == CORNER;
  const double one =
      corner ? qt_rgf_corner_flops(&d->layout) : qt_rgf_flops(&d->layout, lesser, false);
  int64_t first[BLOCKS + 1];
  qt_slabs_spec spec = {
      .layout = &d->layout, .n_slabs = n_slabs, .lesser = lesser, .corner_only = corner};
  char row[96];

  qt_slabs_split(&spec, first);
  spec.first = first;
  (void)snprintf(row, sizeof row, "rgf %s: flops in %lld slabs", names[what], (long long)n_slabs);
  bench_count(row, "one recursion", one * 1e-9, qt_slabs_flops(&spec) * 1e-9, "Gflop", 0);
}

/* Slabs on two threads against one thread. */
static void compare(random_device *d, amount what, int64_t n_slabs, double goal)
{
  const bool lesser = what == BLOCKS_OF_LESSER;
  qt_slabs_spec spec = {.layout = &d->layout,
                        .n_slabs = n_slabs,
                        .lesser = lesser,
                        .corner_only = what == CORNER,
                        .threads = 2};
  work one = {.device = d, .what = what}, two = one;
  char row[96];
  double seconds[2];

  bench_must(weir_alloc(qt_rgf_scratch(ROWS, lesser), 1, &one.scratch));
  if (lesser) {
    bench_must(weir_alloc(d->layout.count, sizeof *one.lesser, (void **)&one.lesser));
    two.lesser = one.lesser;
  }
  bench_must(qt_slabs_create(&spec, &two.slabs));
  bench_best_pair(RUNS, solve, &one, solve, &two, seconds);
  (void)snprintf(row, sizeof row, "rgf %s: %d of %d^2 in %lld slabs on 2 threads", names[what],
                 (int)BLOCKS, (int)ROWS, (long long)n_slabs);
  bench_row(row, "1 thread", 1 / seconds[0], 1 / seconds[1], "energies/s", 1, goal);
  if (qt_slabs_in_order(two.slabs) > 0) {
    fprintf(stderr, "transport_slabs: a slab is singular\n");
    exit(6);
  }
  qt_slabs_destroy(&two.slabs);
  weir_free(&one.scratch);
  weir_free(&one.lesser);
}

int main(int argc, char **argv)
{
  static const struct {
    amount what;
    int64_t n_slabs;
    double goal;
  } cases[] = {
      {CORNER, 2, 1.2}, {BLOCKS_OF_G, 2, 1.7}, {BLOCKS_OF_LESSER, 2, 1.7}, {BLOCKS_OF_G, 4, 0}};
  const bool counts = bench_counts_only(argc, argv);

  weir_log_set_level(WEIR_LOG_WARN);
  weir_linear_start();
  const cpu_set_t allowed = bench_pin();

  if (!counts && bench_unpin(&allowed) < 2) {
    fprintf(stderr, "SKIP: two processors are needed\n");
    return REFERENCE_SKIP;
  }
  random_device d = random_device_of(ROWS, BLOCKS);

  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    if (!counts) {
      compare(&d, cases[k].what, cases[k].n_slabs, cases[k].goal);
    }
    count(&d, cases[k].what, cases[k].n_slabs);
  }
  random_device_fini(&d);
  return 0;
}
