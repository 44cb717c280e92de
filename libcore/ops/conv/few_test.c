/* few_test.c - the three sums against loops in double: random shapes, strides, borders, NaN,
 * threads. */
#include <string.h>

#include "device/weir_parallel.h"
#include "support/ops/conv_check.h"
#include "ops/conv/few_priv.h"

enum { CASES = 16 };

typedef struct problem {
  few_conv s;
  int64_t in_count, out_count, w_count;
} problem;

/* few_in: the field with few channels is the one that is read at stride out + tap - lo. */
static problem draw_problem(weir_draw *r, bool few_in, bool dense)
{
  problem p = {.s = {.batch = weir_draw_int(r, 1, 2)}};
  few_conv *s = &p.s;

  s->few = weir_draw_int(r, 1, FEW_MAX);
  s->many = weir_draw_int(r, 1, 4) == 1 ? weir_draw_int(r, 1, 70) : 8 * weir_draw_int(r, 1, 5);
  for (int d = 0; d < 3; d++) {
    s->in[d] = 0;
    while (s->in[d] < 1) {
      s->kernel_size[d] = weir_draw_int(r, 1, weir_draw_int(r, 1, 3) == 1 ? 5 : 3);
      s->stride[d] = weir_draw_int(r, 1, 3) == 1 ? 2 : 1;
      s->lo[d] = weir_draw_int(r, -2, s->kernel_size[d]);
      s->out[d] = weir_draw_int(r, 1, d == 2 ? 45 : 4);
      s->in[d] = s->stride[d] * (s->out[d] - 1) + s->kernel_size[d] - s->lo[d] -
                 weir_draw_int(r, 0, s->kernel_size[d]) + weir_draw_int(r, 0, s->stride[d] - 1);
    }
  }
  const int64_t spare = dense ? 0 : weir_draw_int(r, 0, 3);

  p.in_count = lay_out(s->batch, s->in, few_in ? s->few : s->many + spare, s->in_step);
  p.out_count = lay_out(s->batch, s->out, few_in ? s->many + spare : s->few + spare, s->out_step);
  p.w_count =
      lay_out_weights(s->kernel_size, s->few, s->many, weir_draw_int(r, 0, 1) == 0, s->w_step);
  return p;
}

enum what { OF_W, OF_IN, OF_OUT };

/* Every product of the relation, added in double to what is asked for. */
static void reference(const few_conv *s, bool few_in, const float *in, const float *out,
                      const float *w, enum what what, double *sum)
{
  const int64_t n[] = {s->batch,          s->out[0],         s->out[1],        s->out[2],
                       s->kernel_size[0], s->kernel_size[1], s->kernel_size[2]};

  for (int64_t at = 0; at < n[0] * n[1] * n[2] * n[3] * n[4] * n[5] * n[6]; at++) {
    int64_t i[7], rest = at;
    bool inside = true;

    for (int k = 6; k >= 0; k--) {
      i[k] = rest % n[k];
      rest /= n[k];
    }
    int64_t in_at = i[0] * s->in_step[0], out_at = i[0] * s->out_step[0], w_at = 0;

    for (int d = 0; d < 3; d++) {
      const int64_t x = s->stride[d] * i[1 + d] + i[4 + d] - s->lo[d];

      inside = inside && x >= 0 && x < s->in[d];
      in_at += x * s->in_step[d + 1];
      out_at += i[1 + d] * s->out_step[d + 1];
      w_at += i[4 + d] * s->w_step[d];
    }
    for (int64_t c = 0; inside && c < s->few * s->many; c++) {
      const int64_t f = c / s->many, m = c % s->many,
                    k = w_at + f * s->w_step[3] + m * s->w_step[4];
      const int64_t from = in_at + (few_in ? f : m), to = out_at + (few_in ? m : f);

      if (what == OF_W) {
        sum[k] += (double)in[from] * (double)out[to];
      } else if (what == OF_IN) {
        sum[from] += (double)out[to] * (double)w[k];
      } else {
        sum[to] += (double)in[from] * (double)w[k];
      }
    }
  }
}

/* The kernels that this processor runs. */
static int all_kernels(const few_kernels *k[2])
{
  int n = 0;
#if defined(__x86_64__)
  if (weir_cpu_get()->avx2 && weir_cpu_get()->fma) {
    k[n++] = &weir_few_avx2;
  }
  if (weir_cpu_get()->avx512) {
    k[n++] = &weir_few_avx512;
  }
#endif
  return n;
}

/* What is made of the two others, in this order: in, out, w. */
typedef struct operation {
  bool few_in;
  enum what what;
  few_kind kind;
} operation;

/* The gradient by the data: class by class. */
static void run_classes(const few_sum *f, int threads)
{
  const int64_t *stride = f->s->stride;

  for (int64_t n = 0; n < stride[0] * stride[1] * stride[2]; n++) {
    const int64_t number[] = {n / stride[2] / stride[1], n / stride[2] % stride[1], n % stride[2]};
    few_sum sub = *f;
    few_conv s;
    int64_t in_at, w_at;

    if (few_class(f->s, number, &s, &in_at, &w_at)) {
      assert_true(few_workspace(f->kind, f->k, &s) <= few_workspace(f->kind, f->k, f->s));
      sub.s = &s;
      sub.b += w_at;
      sub.out += in_at;
      few_run(&sub, threads);
    }
  }
}

/* Runs twice, on one thread and on two, into memory full of NaN: same bits. */
static void same_on_two(few_sum f, bool classes, int64_t count)
{
  const int64_t bytes = few_workspace(f.kind, f.k, f.s);
  float *out = f.out;
  void *again;

  assert_ok(weir_alloc(bytes, 1, &f.workspace));
  assert_ok(weir_alloc(count, sizeof(float), &again));
  memset(out, 0xff, (size_t)count * sizeof(float));
  memset(again, 0xff, (size_t)count * sizeof(float));
  memset(f.workspace, 0xff, (size_t)bytes);
  for (int threads = 1; threads <= 2; threads++) {
    f.out = threads == 1 ? out : again;
    if (classes) {
      run_classes(&f, threads);
    } else {
      few_run(&f, threads);
    }
  }
  assert_memory_equal(out, again, (size_t)count * sizeof(float));
  weir_free(&f.workspace);
  weir_free(&again);
}

/* One random problem; of the two arrays read, one may hold a NaN. */
static void check_case(const operation *o, uint64_t seed)
{
  weir_draw r = {.seed = seed};
  const bool dense = seed % 2 == 0 || (!o->few_in && o->what == OF_IN); /* few channels are read */
  const problem p = draw_problem(&r, o->few_in, dense);
  const int64_t count[] = {p.w_count, p.in_count, p.out_count};
  const int64_t pixel[] = {1, p.s.in_step[3], p.s.out_step[3]};
  const int64_t channels[] = {1, o->few_in ? p.s.few : p.s.many, o->few_in ? p.s.many : p.s.few};
  const enum what first = o->what == OF_IN ? OF_OUT : OF_IN;
  const enum what second = o->what == OF_W ? OF_OUT : OF_W;
  const few_kernels *k[2];
  float *f[3];
  double *sum = zeros(count[o->what]);
  float bias[70];

  for (int m = 0; m < 70; m++) {
    bias[m] = (float)m;
  }
  for (enum what n = OF_W; n <= OF_OUT; n++) {
    f[n] = new_field(&r, count[n], (n == first && seed % 3 == 1) || (n == second && seed % 3 == 2));
  }
  reference(&p.s, o->few_in, f[OF_IN], f[OF_OUT], f[OF_W], o->what, sum);
  for (int64_t n = 0; o->kind == FEW_WIDEN && seed % 4 == 0 && n < count[o->what]; n++) {
    const int64_t m = n % pixel[o->what];

    sum[n] += m < p.s.many ? (double)bias[m] : 0;
  }
  for (int i = all_kernels(k) - 1; i >= 0; i--) {
    const few_sum sum_of = {.kind = o->kind,
                            .k = k[i],
                            .s = &p.s,
                            .a = f[first],
                            .b = f[second],
                            .bias = o->kind == FEW_WIDEN && seed % 4 == 0 ? bias : NULL,
                            .out = f[o->what]};

    same_on_two(sum_of, o->what == OF_IN, count[o->what]);
    compare(f[o->what], sum, count[o->what], pixel[o->what], channels[o->what]);
  }
  weir_free(&sum);
  for (enum what n = OF_W; n <= OF_OUT; n++) {
    weir_free(&f[n]);
  }
}

static void check(const operation *o)
{
  for (uint64_t seed = 0; seed < CASES; seed++) {
    check_case(o, seed);
  }
}

static void sums_for_weights_match(void **state)
{
  check(&(operation){true, OF_W, FEW_WEIGHTS});
}

static void sums_that_make_few_channels_match(void **state)
{
  check(&(operation){false, OF_OUT, FEW_NARROW});
  check(&(operation){true, OF_IN, FEW_NARROW});
}

static void sums_that_make_many_channels_match(void **state)
{
  check(&(operation){true, OF_OUT, FEW_WIDEN});
  check(&(operation){false, OF_IN, FEW_WIDEN});
}

/* Sums over positions have one order, whatever the vectors are. */
static void sums_for_weights_have_the_same_bits_with_all_instructions(void **state)
{
  const few_kernels *k[2];

  if (all_kernels(k) < 2) {
    print_message("skipped: this processor has no second kind of vectors\n");
    return;
  }
  for (uint64_t seed = 0; seed < CASES; seed++) {
    weir_draw r = {.seed = 100 + seed};
    const problem p = draw_problem(&r, true, false);
    float *in = new_field(&r, p.in_count, false), *out = new_field(&r, p.out_count, false), *w[2];

    for (int i = 0; i < 2; i++) {
      w[i] = new_field(&r, p.w_count, false);
      same_on_two(
          (few_sum){.kind = FEW_WEIGHTS, .k = k[i], .s = &p.s, .a = in, .b = out, .out = w[i]},
          false, p.w_count);
    }
    assert_memory_equal(w[0], w[1], (size_t)p.w_count * sizeof(float));
    weir_free(&w[0]);
    weir_free(&w[1]);
    weir_free(&in);
    weir_free(&out);
  }
}

/* Products that nearly cancel, over 2 million positions: one running sum would be off by 1e-3. */
static void long_sums_stay_exact(void **state)
{
  const int64_t side = 128;
  few_conv s = {.batch = 1,
                .few = 1,
                .many = 1,
                .in = {side, side, side},
                .out = {side, side, side},
                .kernel_size = {1, 1, 1},
                .stride = {1, 1, 1},
                .w_step = {1, 1, 1, 1, 1}};
  const few_kernels *k = few_kernels_get();
  const int64_t count = lay_out(1, s.in, 1, s.in_step);
  weir_draw r = {.seed = 3};
  double sum = 0;
  float w = 0;
  few_sum f = {.kind = FEW_WEIGHTS, .k = k, .s = &s, .out = &w};

  if (k == NULL) {
    print_message("skipped: this processor has no vector kernels\n");
    return;
  }
  memcpy(s.out_step, s.in_step, sizeof s.in_step);
  float *in = new_field(&r, count, false), *out = new_field(&r, count, false);

  for (int64_t i = 0; i < count; i++) {
    in[i] += 1;
    out[i] = i % 2 == 0 ? 1.0F : -1.0F;
    sum += (double)in[i] * (double)out[i];
  }
  f.a = in;
  f.b = out;
  assert_ok(weir_alloc(few_workspace(f.kind, k, &s), 1, &f.workspace));
  few_run(&f, 0);
  print_message("2 M products: %.9g, exactly %.9g\n", (double)w, sum);
  assert_true(fabs((double)w - sum) <= 2e-5 * fabs(sum));
  weir_free(&f.workspace);
  weir_free(&in);
  weir_free(&out);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_for_weights_match),
      cmocka_unit_test(sums_that_make_few_channels_match),
      cmocka_unit_test(sums_that_make_many_channels_match),
      cmocka_unit_test(sums_for_weights_have_the_same_bits_with_all_instructions),
      cmocka_unit_test(long_sums_stay_exact),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
