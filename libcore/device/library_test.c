/* library_test.c - library calls of the devices that run on any machine, against each element's
 * sum: random shapes, strides, dtypes; and a library that computes something else. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/weir_check.h"
#include "base/weir_random.h"
#include "device/device_priv.h"

static uint64_t fresh_seed(void)
{
  const uint64_t seed = (uint64_t)time(NULL);

  printf("seed %llu\n", (unsigned long long)seed);
  return seed;
}

typedef struct draw {
  uint64_t seed, n;
} draw;

static int64_t draw_in(draw *d, int64_t lo, int64_t hi)
{
  return lo + (int64_t)(weir_random_bits(d->seed, 0, 0, d->n++) % (uint64_t)(hi - lo + 1));
}

static weir_library_matrix draw_matrix(draw *d, int64_t rows, int64_t columns, bool complex)
{
  const bool by_rows = draw_in(d, 0, 1) == 1;
  const int64_t gap = draw_in(d, 0, 3), row = columns + gap, column = rows + gap;

  return (weir_library_matrix){.down = by_rows ? row : 1,
                               .across = by_rows ? 1 : column,
                               .apart = (by_rows ? row * rows : column * columns) + gap,
                               .conjugated = complex && draw_in(d, 0, 1) == 1};
}

static weir_library_spec draw_product(draw *d)
{
  static const weir_dtype dtypes[] = {WEIR_F32, WEIR_F64, WEIR_C64, WEIR_C128};
  weir_library_spec spec;

  memset(&spec, 0, sizeof spec);
  spec.kind = WEIR_LIBRARY_PRODUCT;
  weir_library_product *p = &spec.product;
  const bool inner = draw_in(d, 0, 1) == 1;

  p->dtype = dtypes[draw_in(d, 0, 3)];
  p->m = draw_in(d, 1, 9);
  p->n = draw_in(d, 1, 9);
  p->k = draw_in(d, 1, 9);
  p->stack = draw_in(d, 1, 4);
  p->a = draw_matrix(d, p->m, p->k, weir_dtype_is_complex(p->dtype));
  p->b = draw_matrix(d, p->k, p->n, weir_dtype_is_complex(p->dtype));
  p->c = (weir_library_matrix){
      .down = inner ? p->n * p->stack : p->n, .across = 1, .apart = inner ? p->n : p->n * p->m};
  return spec;
}

static weir_library_spec draw_convolution(draw *d)
{
  weir_library_spec spec;

  memset(&spec, 0, sizeof spec);
  spec.kind = WEIR_LIBRARY_CONVOLUTION;
  weir_library_convolution *c = &spec.convolution;
  const bool wide = draw_in(d, 0, 2) == 0;
  weir_dtype *const dtype[] = {&c->x, &c->w, &c->y};

  for (int k = 0; k < WEIR_LIBRARY_OPERANDS; k++) {
    *dtype[k] = wide ? WEIR_F64 : draw_in(d, 0, 1) == 1 ? WEIR_BF16 : WEIR_F32;
  }
  c->made = (int)draw_in(d, 0, 2);
  c->d = (int)draw_in(d, 1, 3);
  c->n = draw_in(d, 1, 2);
  c->groups = draw_in(d, 1, 2);
  c->in = draw_in(d, 1, 4);
  c->out = draw_in(d, 1, 4);
  for (int k = 0; k < c->d; k++) {
    c->taps[k] = draw_in(d, 1, 3);
    c->stride[k] = draw_in(d, 1, 3);
    c->dilation[k] = draw_in(d, 1, 2);
    c->lo[k] = draw_in(d, 0, 2);
    c->x_extent[k] = draw_in(d, 1, 6);
    c->y_extent[k] = draw_in(d, 1, 4); /* also where no element of x is read */
  }
  return spec;
}

static weir_library_spec draw_transform(draw *d)
{
  weir_library_spec spec;

  memset(&spec, 0, sizeof spec);
  spec.kind = WEIR_LIBRARY_TRANSFORM;
  weir_library_transform *t = &spec.transform;

  t->kind = (weir_library_way)draw_in(d, WEIR_LIBRARY_FORWARD, WEIR_LIBRARY_TO_REAL);
  t->part = draw_in(d, 0, 1) == 1 ? WEIR_F64 : WEIR_F32;
  t->rank = (int)draw_in(d, 1, 3);
  t->outer = draw_in(d, 1, 3);
  t->inner = draw_in(d, 1, 3);
  for (int k = 0; k < t->rank; k++) {
    t->n[k] = draw_in(d, 1, t->rank == 1 ? 60 : 12); /* also prime, and 1 */
  }
  return spec;
}

static weir_library_spec draw_spec(draw *d, int i)
{
  return i % 3 == 0 ? draw_product(d) : i % 3 == 1 ? draw_convolution(d) : draw_transform(d);
}

/* weir_library_create compares every element of so small a result. */
static void calls_give_the_sums(void **state)
{
  const char *const devices[] = {"cpu", "emulated"};
  draw d = {.seed = fresh_seed()};

  for (int k = 0; k < 2; k++) {
    weir_device *device = NULL;

    assert_ok(weir_device_open(devices[k], NULL, &device));
    for (int i = 0; i < 90; i++) {
      const weir_library_spec spec = draw_spec(&d, i);
      weir_library_call *call = NULL;

      assert_ok(weir_library_create(device, &spec, true, &call));
      assert_int_equal(weir_library_workspace(call), 0);
      weir_library_destroy(&call);
      assert_null(call);
    }
    weir_device_close(&device);
  }
}

static const weir_device_ops *real_ops;

/* A library that shifts a convolution by one, sums one product less, or transforms the other way.
 */
static weir_status enqueue_other(weir_device_queue *queue, const device_op *op)
{
  if (op->kind != DEVICE_LIBRARY) {
    return real_ops->enqueue(queue, op);
  }
  weir_library_call other = *op->call;
  device_op changed = *op;

  if (other.spec.kind == WEIR_LIBRARY_CONVOLUTION) {
    other.spec.convolution.lo[0]++;
  } else if (other.spec.kind == WEIR_LIBRARY_PRODUCT) {
    other.spec.product.k--;
  } else {
    other.spec.transform.kind = other.spec.transform.kind == WEIR_LIBRARY_FORWARD
                                    ? WEIR_LIBRARY_BACKWARD
                                    : WEIR_LIBRARY_FORWARD;
  }
  changed.call = &other;
  return real_ops->enqueue(queue, &changed);
}

static void another_result_is_refused(void **state)
{
  weir_device *device = NULL;
  weir_library_call *call = NULL;
  draw d = {.seed = fresh_seed()};

  assert_ok(weir_device_open("cpu", NULL, &device));
  real_ops = device->ops;
  weir_device_ops ops = *real_ops;

  ops.enqueue = enqueue_other;
  device->ops = &ops;
  for (int i = 0; i < 60; i++) {
    weir_library_spec spec = draw_spec(&d, i);

    if (spec.kind == WEIR_LIBRARY_CONVOLUTION) { /* one that reads what the shift changes */
      weir_library_convolution *c = &spec.convolution;

      c->d = 1;
      c->x_extent[0] = c->y_extent[0] = 5;
      c->stride[0] = c->dilation[0] = c->lo[0] = 1;
    } else if (spec.kind == WEIR_LIBRARY_TRANSFORM) { /* one whose ways differ */
      spec.transform.kind =
          spec.transform.kind > WEIR_LIBRARY_BACKWARD ? WEIR_LIBRARY_FORWARD : spec.transform.kind;
      spec.transform.n[0] = 5;
    }
    assert_int_equal(weir_library_create(device, &spec, true, &call), WEIR_ERR_UNSUPPORTED);
    assert_non_null(strstr(weir_last_message(), "device cpu: a library computes element"));
    assert_null(call);
  }
  device->ops = real_ops;
  weir_device_close(&device);
}

static void wrong_specs_are_refused(void **state)
{
  weir_device *device = NULL;
  draw d = {.seed = fresh_seed()};
  weir_library_call *call = NULL;
  weir_library_spec spec = draw_product(&d);

  assert_ok(weir_device_open("cpu", NULL, &device));
  spec.product.k = 0;
  assert_int_equal(weir_library_create(device, &spec, true, &call), WEIR_ERR_SHAPE);
  spec = draw_product(&d);
  spec.product.c.down += 1; /* a gap */
  spec.product.m = 2;
  assert_int_equal(weir_library_create(device, &spec, true, &call), WEIR_ERR_SHAPE);
  spec = draw_product(&d);
  spec.product.m = INT64_MAX / 2;
  assert_int_equal(weir_library_create(device, &spec, true, &call), WEIR_ERR_SHAPE);
  spec = draw_convolution(&d);
  spec.convolution.w = WEIR_I32;
  assert_int_equal(weir_library_create(device, &spec, true, &call), WEIR_ERR_SHAPE);
  spec = draw_convolution(&d);
  spec.convolution.lo[0] = -1;
  assert_int_equal(weir_library_create(device, &spec, true, &call), WEIR_ERR_SHAPE);
  spec = draw_transform(&d);
  spec.transform.part = WEIR_BF16;
  assert_int_equal(weir_library_create(device, &spec, true, &call), WEIR_ERR_SHAPE);
  spec = draw_transform(&d);
  spec.transform.n[0] = 0;
  assert_int_equal(weir_library_create(device, &spec, true, &call), WEIR_ERR_SHAPE);
  spec = draw_transform(&d);
  spec.transform.outer = INT64_MAX / 8;
  assert_int_equal(weir_library_create(device, &spec, true, &call), WEIR_ERR_SHAPE);
  assert_null(call);
  weir_device_close(&device);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(calls_give_the_sums),
      cmocka_unit_test(another_result_is_refused),
      cmocka_unit_test(wrong_specs_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
