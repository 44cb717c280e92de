/* backend_vector_test.c - maps whose threads take several elements at a time: the bits of the cpu,
 * for extents that vectors divide and others, dtypes of all sizes, broadcasts, borders, gathers. */
#include "support/exec/backend_check.h"
#include "ops/broadcast/weir_broadcast.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/gather/weir_gather.h"
#include "ops/ops_cases.h"
#include "ops/pad/weir_pad.h"
#include "ops/random/weir_random_op.h"
#include "ops/reshape/weir_reshape.h"
#include "ops/shift/weir_shift.h"
#include "ops/slice/weir_slice.h"
#include "ops/transpose/weir_transpose.h"

enum { GRAPHS = 8, RANK = 3 };

static const weir_dtype dtypes[] = {WEIR_F32, WEIR_F64, WEIR_BF16, WEIR_F16, WEIR_I32,
                                    WEIR_I64, WEIR_U8,  WEIR_BOOL, WEIR_C64};

typedef struct drawing {
  weir_draw w;
  weir_graph *g;
  weir_broadcast_spec full; /* the shape of all maps */
  int outputs;
} drawing;

static weir_dtype draw_dtype(drawing *d)
{
  return dtypes[weir_draw_int(&d->w, 0, (int64_t)(sizeof dtypes / sizeof *dtypes) - 1)];
}

static void give(drawing *d, weir_value v)
{
  char name[16];

  snprintf(name, sizeof name, "y%d", d->outputs++);
  weir_output(d->g, name, v);
}

/* An input, of extent 1 along the dimensions that `kept` lacks, as numbers of the dtype `as`. */
static weir_value draw_input(drawing *d, const char *name, unsigned kept, weir_dtype as)
{
  const weir_dtype dtype = as == WEIR_C64 ? WEIR_C64 : draw_dtype(d);
  weir_array_desc x = {.dtype = dtype == WEIR_C64 ? as : dtype, .rank = RANK};

  for (int k = 0; k < RANK; k++) {
    x.shape[k] = (kept >> k & 1) != 0 ? d->full.shape[k] : 1;
  }
  const weir_value v = weir_input(d->g, name, &x);

  return weir_broadcast(d->g, x.dtype == as ? v : weir_cast(d->g, as, v), &d->full);
}

/* Half of them along the last dimension. */
static weir_value draw_shifted(drawing *d, weir_value x)
{
  const weir_shift_spec s = {
      .dim = weir_draw_one_in(&d->w, 2) ? RANK - 1 : (int)weir_draw_int(&d->w, 0, RANK - 2),
      .by = weir_draw_one_in(&d->w, 2) ? weir_draw_int(&d->w, -5, 5) : 4,
      .border = (weir_border)weir_draw_int(&d->w, WEIR_BORDER_ZERO, WEIR_BORDER_REFLECT),
      .fill = 0.25};

  return weir_shift_with(d->g, x, &s);
}

/* Operators that move elements, each to an output of its own. */
static void put_moves(drawing *d, weir_value x)
{
  const int64_t *n = d->full.shape;
  const weir_reshape_spec rows = {.rank = 2, .shape = {-1, n[2]}},
                          flat = {.rank = 1, .shape = {-1}};
  const weir_reshape_spec other = {.rank = RANK, .shape = {n[2], n[0], n[1]}};
  const weir_transpose_spec turned = {.order = {0, 2, 1}}, swapped = {.order = {1, 0, 2}};
  weir_pad_spec pad = {.border = WEIR_BORDER_ZERO};
  int32_t index[2] = {(int32_t)n[1] - 1, 0};
  const weir_tensor at = weir_tensor_wrap(index, WEIR_I32, 1, (int64_t[]){2});

  pad.before[1] = 1;
  pad.after[2] = weir_draw_one_in(&d->w, 2) ? 4 : 3;
  give(d, weir_reshape(d->g, x, &rows));
  give(d, weir_neg(d->g, weir_reshape(d->g, x, &flat)));
  give(d, weir_neg(d->g, weir_reshape(d->g, x, &other)));
  give(d, weir_transpose(d->g, x, &turned));
  give(d, weir_neg(d->g, weir_transpose(d->g, x, &swapped)));
  give(d, weir_pad(d->g, x, &pad));
  give(d, weir_slice(d->g, x, 2, n[2] > 4 ? 4 : 0, WEIR_SLICE_END, 1));
  give(d, weir_slice(d->g, x, 2, 0, WEIR_SLICE_END, 2));
  give(d, weir_slice(d->g, x, 2, n[2] > 4 ? 1 : 0, n[2] > 4 ? n[2] - 3 : n[2], 1)); /* unaligned */
  give(d, weir_gather(d->g, x, weir_constant(d->g, &at), &((weir_gather_spec){.dim = 1})));
}

static weir_graph *draw_maps(uint64_t seed)
{
  static const int64_t columns[] = {8, 5, 4, 24, 2, 7, 12, 16, 1, 32, 6, 20};
  const weir_dtype as = (const weir_dtype[]){WEIR_F32, WEIR_F32, WEIR_F64, WEIR_C64}[seed % 4];
  drawing d = {.w = {seed, 0}, .full = {.rank = RANK}};

  assert_ok(weir_graph_create(&d.g));
  d.full.shape[0] = weir_draw_int(&d.w, 1, 3);
  d.full.shape[1] = weir_draw_int(&d.w, 1, 8);
  d.full.shape[2] = columns[seed % (sizeof columns / sizeof *columns)];
  const weir_value x = draw_input(&d, "x", 7, as), y = draw_input(&d, "y", 7, as);
  const weir_value row = draw_input(&d, "row", 4, as), column = draw_input(&d, "column", 2, as);
  const weir_value one = draw_input(&d, "one", 0, as);
  const weir_value sum = weir_add(d.g, weir_mul(d.g, x, row), weir_mul(d.g, y, column));
  const weir_value all = weir_sub(d.g, sum, one);

  give(&d, all);
  for (int k = 0; k < 3; k++) {
    give(&d, weir_add(d.g, draw_shifted(&d, x), draw_shifted(&d, y)));
  }
  put_moves(&d, sum);
  if (as != WEIR_C64) {
    const weir_random_spec random = {
        .dtype = as, .rank = RANK, .shape = {d.full.shape[0], d.full.shape[1], d.full.shape[2]}};
    const weir_array_desc number = {.dtype = WEIR_I64};
    const weir_value key = weir_input(d.g, "key", &number), step = weir_input(d.g, "step", &number);
    const weir_value chosen = weir_select(d.g, weir_lt(d.g, x, y), weir_sqrt(d.g, all), one);

    give(&d, weir_mul(d.g, weir_random(d.g, &random, key, step), x));
    for (size_t k = 0; k + 1 < sizeof dtypes / sizeof *dtypes; k++) { /* NaNs where all < 0 */
      give(&d, weir_cast(d.g, dtypes[k], chosen));
    }
  }
  assert_ok(weir_graph_status(d.g));
  return d.g;
}

static void check_maps(const char *device)
{
  int wide = 0, narrow = 0, rows = 0, pairs = 0;

  for (uint64_t seed = 0; seed < GRAPHS; seed++) {
    weir_graph *g = draw_maps(seed);
    backend_bits cpu = backend_run(g, NULL, "cpu"), other = backend_run(g, NULL, device);

    wide += other.wide;
    narrow += other.narrow;
    rows += other.rows;
    pairs += other.pairs;
    assert_int_equal(other.host, 0);
    backend_compare(&cpu, &other);
    weir_graph_destroy(&g);
  }
  print_message(
      "%s: %d vectors, %d of less than 16 bytes; %d maps of several rows a thread; %d of pairs\n",
      device, wide, narrow, rows, pairs);
  assert_true(wide > 100 && narrow > 20 && wide - narrow > 20 && rows > 5 && pairs > 10);
}

static void vectors_give_the_bits_of_the_cpu(void **state)
{
  (void)state;
  backend_each(check_maps);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(vectors_give_the_bits_of_the_cpu)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
