/* numpy_cases.c FOLDER SEED - computes complex arrays of every engine, for beside_numpy.py to
 * compare.
 *
 * Of every dtype and size there are a file of inputs and one of results for each engine, elements
 * one behind the other. The table on stdout has a line for each array: dtype, size, role, name,
 * dtype and shape of the array; of a result also the bound of its error and what it is as NumPy
 * writes it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/weir_check.h"
#include "base/weir_random.h"
#include "exec/weir_plan.h"
#include "ops/contract/weir_contract.h"
#include "ops/eigen_hermitian/weir_eigen_hermitian.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/fft/weir_fft.h"
#include "ops/gather/weir_gather.h"
#include "ops/inverse/weir_inverse.h"
#include "ops/reduce/weir_reduce.h"
#include "ops/slice/weir_slice.h"
#include "ops/solve/weir_solve.h"
#include "ops/transpose/weir_transpose.h"

enum { MOST = 64, BATCH = 3 };

typedef struct suite {
  weir_graph *g;
  weir_dtype dtype; /* complex */
  int64_t n;
  uint64_t seed;
  int n_in, n_out;
  char name[2][MOST][8];
  weir_tensor in[MOST], out[MOST];
} suite;

static void say(const suite *s, const char *role, const char *name, const weir_array_desc *d)
{
  printf("%s\t%" PRId64 "\t%s\t%s\t%s\t", weir_dtype_name(s->dtype), s->n, role, name,
         weir_dtype_name(d->dtype));
  for (int e = 0; e < d->rank; e++) {
    printf("%s%" PRId64, e > 0 ? "," : "", d->shape[e]);
  }
}

/* Normal numbers, or (whole) indices of n. */
static weir_value given(suite *s, const char *name, weir_dtype dtype, int rank,
                        const int64_t *shape)
{
  weir_array_desc d = {.dtype = dtype, .rank = rank};
  weir_tensor *t = &s->in[s->n_in];

  for (int e = 0; e < rank; e++) {
    d.shape[e] = shape[e];
  }
  assert_ok(weir_tensor_init(t, dtype, rank, shape));
  for (int64_t i = 0; i < weir_tensor_numel(t); i++) {
    const uint32_t of = (uint32_t)s->n_in;
    const weir_c128 x = {weir_random_normal(s->seed, of, 0, (uint64_t)i),
                         weir_random_normal(s->seed, of, 1, (uint64_t)i)};

    if (weir_dtype_is_whole(dtype)) {
      weir_dtype_store_int(
          dtype, t->data, i,
          (int64_t)(weir_random_uniform(s->seed, of, 0, (uint64_t)i) * (double)s->n));
    } else if (weir_dtype_is_real(dtype)) {
      weir_dtype_store_real(dtype, t->data, i, x.re);
    } else {
      weir_dtype_store_complex(dtype, t->data, i, x);
    }
  }
  say(s, "input", name, &d);
  printf("\n");
  snprintf(s->name[0][s->n_in++], sizeof s->name[0][0], "%s", name);
  return weir_input(s->g, name, &d);
}

static void wanted(suite *s, weir_value y, const char *bound, const char *numpy)
{
  char *name = s->name[1][s->n_out];
  const weir_array_desc d = *weir_value_desc(s->g, y);

  assert_ok(weir_graph_status(s->g));
  snprintf(name, sizeof s->name[1][0], "r%d", s->n_out);
  assert_ok(weir_tensor_init(&s->out[s->n_out++], d.dtype, d.rank, d.shape));
  say(s, "result", name, &d);
  printf("\t%s\t%s\n", bound, numpy);
  weir_output(s->g, name, y);
}

static void elementwise(suite *s, weir_value a, weir_value b, weir_value r, weir_value t)
{
  weir_graph *g = s->g;

  wanted(s, weir_add(g, a, b), "result", "a + b");
  wanted(s, weir_sub(g, a, b), "result", "a - b");
  wanted(s, weir_mul(g, a, b), "result", "a * b");
  wanted(s, weir_div(g, a, b), "result", "a / b");
  wanted(s, weir_neg(g, a), "none", "-a");
  wanted(s, weir_conj(g, a), "none", "np.conj(a)");
  wanted(s, weir_real(g, a), "none", "a.real");
  wanted(s, weir_imag(g, a), "none", "a.imag");
  wanted(s, weir_abs(g, a), "result", "np.abs(a)");
  wanted(s, weir_abs2(g, a), "result", "np.abs(a) ** 2");
  wanted(s, weir_exp(g, a), "result", "np.exp(a)");
  wanted(s, weir_eq(g, a, weir_mul(g, a, weir_cast(g, s->dtype, weir_eq(g, r, t)))), "none",
         "a == a * (r == t)");
  wanted(s, weir_make(g, r, t), "none", "r + 1j * t");
  wanted(s, weir_scale(g, weir_cast(g, s->dtype, r), -3), "result", "-3 * r + 0j");
  wanted(s, weir_select(g, weir_lt(g, r, t), a, b), "none", "np.where(r < t, a, b)");
  wanted(
      s,
      weir_mul(g, weir_slice(g, a, 0, 1, WEIR_SLICE_END, 2),
               weir_slice(g, weir_slice(g, b, 1, -1, WEIR_SLICE_END, -1), 0, 1, WEIR_SLICE_END, 2)),
      "result", "a[1::2] * b[1::2, ::-1]");
}

static void sums(suite *s, weir_value a, weir_value b)
{
  const weir_transpose_spec turn = {.order = {1, 0}};
  weir_graph *g = s->g;

  wanted(s, weir_sum(g, a, 0), "magnitudes", "np.sum(a, 0)");
  wanted(s, weir_sum(g, a, 1), "magnitudes", "np.sum(a, 1)");
  wanted(s, weir_sum(g, a, -1), "magnitudes", "np.sum(a)");
  wanted(s, weir_sum(g, weir_transpose(g, weir_slice(g, a, 0, 0, WEIR_SLICE_END, 3), &turn), 1),
         "magnitudes", "np.sum(a[::3].T, 1)");
  wanted(s, weir_sum(g, weir_mul(g, a, weir_conj(g, b)), 1), "magnitudes",
         "np.sum(a * np.conj(b), 1)");
}

static void products(suite *s, weir_value a, weir_value b, weir_value q, weir_value stack)
{
  weir_graph *g = s->g;
  const weir_contract_spec gram = {.labels = "ji,jk->ik", .conjugate = 1};
  const weir_contract_spec three = {.labels = "ij,kj,kl->il", .conjugate = 2};
  const weir_contract_spec batched = {.labels = "bij,bkj->bik", .conjugate = 2};

  wanted(s, weir_contract(g, "ij,kj->ik", a, b), "magnitudes", "np.einsum('ij,kj->ik', a, b)");
  wanted(s, weir_contract_n(g, &gram, ((weir_value[]){a, b}), 2), "magnitudes",
         "np.einsum('ji,jk->ik', np.conj(a), b)");
  wanted(s, weir_contract(g, "ij,ij->", a, b), "magnitudes", "np.einsum('ij,ij->', a, b)");
  wanted(s, weir_contract(g, "ii,ij->j", q, a), "magnitudes", "np.einsum('ii,ij->j', q, a)");
  wanted(s, weir_contract_n(g, &three, ((weir_value[]){a, b, q}), 3), "magnitudes",
         "np.einsum('ij,kj,kl->il', a, np.conj(b), q)");
  wanted(s, weir_contract_n(g, &batched, ((weir_value[]){stack, stack}), 2), "magnitudes",
         "np.einsum('bij,bkj->bik', p, np.conj(p))");
  wanted(s, weir_contract(g, "ij,bjk->bik", q, stack), "magnitudes",
         "np.einsum('ij,bjk->bik', q, p)");
  wanted(s,
         weir_contract(g, "ij,ik->jk", weir_slice(g, a, 0, 0, WEIR_SLICE_END, 2),
                       weir_slice(g, b, 0, 0, WEIR_SLICE_END, 2)),
         "magnitudes", "np.einsum('ij,ik->jk', a[::2], b[::2])");
}

static void gathers(suite *s, weir_value a)
{
  const weir_gather_spec rows = {.dim = 0};
  const weir_gather_spec wrapped = {.dim = 1, .hi = s->n, .border = WEIR_BORDER_WRAP};
  const weir_value i = given(s, "i", WEIR_I64, 2, (int64_t[]){2, s->n + 1});

  wanted(s, weir_gather(s->g, a, i, &rows), "none", "a[i]");
  wanted(s, weir_gather(s->g, a, i, &wrapped), "none", "a[:, i % a.shape[1]]");
}

static void transforms(suite *s, weir_value a, weir_value r)
{
  static const char *const half[] = {"np.fft.irfft(a, 2 * (a.shape[1] - 1))",
                                     "np.fft.irfft(a, 2 * a.shape[1] - 1)"};
  weir_graph *g = s->g;
  const int64_t m = weir_value_desc(g, a)->shape[1];

  for (int d = 0; d < 2; d++) {
    wanted(s, weir_fft(g, a, (&(weir_fft_spec){.kind = WEIR_FFT_FORWARD, .n_dims = 1, .dim = {d}})),
           "result", d == 0 ? "np.fft.fft(a, axis=0)" : "np.fft.fft(a, axis=1)");
    wanted(s,
           weir_fft(g, a,
                    (&(weir_fft_spec){.kind = WEIR_FFT_BACKWARD,
                                      .n_dims = 1,
                                      .dim = {d},
                                      .scale = 1 / (double)weir_value_desc(g, a)->shape[d]})),
           "result", d == 0 ? "np.fft.ifft(a, axis=0)" : "np.fft.ifft(a, axis=1)");
  }
  wanted(s,
         weir_fft(g, a, (&(weir_fft_spec){.kind = WEIR_FFT_FORWARD, .n_dims = 2, .dim = {0, 1}})),
         "result", "np.fft.fft2(a)");
  wanted(s, weir_fft(g, r, (&(weir_fft_spec){.kind = WEIR_FFT_REAL, .n_dims = 1, .dim = {1}})),
         "result", "np.fft.rfft(r)");
  for (int odd = m > 1 ? 0 : 1; odd < 2; odd++) {
    wanted(s,
           weir_fft(g, a,
                    (&(weir_fft_spec){.kind = WEIR_FFT_TO_REAL,
                                      .n_dims = 1,
                                      .dim = {1},
                                      .odd = odd,
                                      .scale = 1 / (double)(2 * (m - 1) + odd)})),
           "half", half[odd]);
  }
}

/* Of any array, not of Hermitian ones alone. */
static void transforms_to_real(suite *s, weir_value a)
{
  const weir_fft_spec both = {.kind = WEIR_FFT_TO_REAL, .n_dims = 2, .dim = {0, 1}, .odd = 1};
  weir_graph *g = s->g;

  wanted(s, weir_fft(g, a, &both), "whole",
         "np.fft.irfft2(a, (a.shape[0], 2 * a.shape[1] - 1)) * a.shape[0] * (2 * a.shape[1] - 1)");
  wanted(s, weir_fft(g, weir_slice(g, a, 1, 0, 1, 1), &both), "whole",
         "np.fft.irfft2(a[:, :1], (a.shape[0], 1)) * a.shape[0]");
}

static void systems(suite *s, weir_value a, weir_value q)
{
  const weir_transpose_spec turn = {.order = {1, 0}};
  const weir_solve_spec adjoint = {.transposed = 1, .conjugated = 1};
  weir_graph *g = s->g;

  wanted(s, weir_solve(g, q, a, NULL), "condition", "np.linalg.solve(q, a)");
  wanted(s, weir_solve(g, q, a, &adjoint), "condition", "np.linalg.solve(np.conj(q.T), a)");
  wanted(s, weir_solve(g, weir_transpose(g, q, &turn), a, NULL), "condition",
         "np.linalg.solve(q.T, a)");
  wanted(s, weir_inverse(g, q), "condition", "np.linalg.inv(q)");
  wanted(s, weir_eigen_hermitian(g, q, (&(weir_eigen_hermitian_spec){.values_only = 1})), "values",
         "np.linalg.eigvalsh(q)");
}

static void define(suite *s)
{
  const int64_t n = s->n, flat[] = {n, n / 2 + 1}, square[] = {n, n}, stack[] = {BATCH, n, n};
  const weir_dtype part = weir_dtype_part(s->dtype);

  assert_ok(weir_graph_create(&s->g));
  const weir_value a = given(s, "a", s->dtype, 2, flat), b = given(s, "b", s->dtype, 2, flat);
  const weir_value r = given(s, "r", part, 2, flat), t = given(s, "t", part, 2, flat);
  const weir_value q = given(s, "q", s->dtype, 2, square);

  elementwise(s, a, b, r, t);
  sums(s, a, b);
  products(s, a, b, q, given(s, "p", s->dtype, 3, stack));
  systems(s, a, q);
  if (n > 0) { /* of no points there is no transform, and no index */
    gathers(s, a);
    transforms(s, a, r);
    transforms_to_real(s, a);
  }
}

static void write_all(const suite *s, const char *folder, const char *what, const weir_tensor *t,
                      int n)
{
  char path[4096];

  snprintf(path, sizeof path, "%s/%s_%" PRId64 "_%s", folder, weir_dtype_name(s->dtype), s->n,
           what);
  FILE *f = fopen(path, "wb");

  assert_non_null(f);
  for (int k = 0; k < n; k++) {
    const size_t size = weir_dtype_size(t[k].dtype), count = (size_t)weir_tensor_numel(&t[k]);

    assert_int_equal(count > 0 ? fwrite(t[k].data, size, count, f) : 0, count);
  }
  assert_int_equal(fclose(f), 0);
}

/* Status of the plan: an engine that is not here is left out. */
static weir_status run(suite *s, weir_tier tier)
{
  weir_binding all[2 * MOST];
  weir_exec_cfg cfg;
  weir_plan *p = NULL;

  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = (int)tier;
  const weir_status status =
      weir_plan_create(s->g, NULL, &(weir_plan_opts){.exec = &cfg, .threads = 2}, &p);

  if (status != WEIR_OK) {
    return status;
  }
  for (int k = 0; k < s->n_in + s->n_out; k++) {
    const bool in = k < s->n_in;
    const int i = in ? k : k - s->n_in;

    all[k] = (weir_binding){s->name[!in][i], in ? &s->in[i] : &s->out[i]};
  }
  assert_ok(weir_plan_run(p, all, s->n_in + s->n_out));
  weir_plan_destroy(&p);
  return WEIR_OK;
}

static const char *folder;
static uint64_t seed;

static void every_engine_writes_its_results(void **state)
{
  static const int64_t sizes[] = {0, 1, 2, 7, 33};
  static const weir_dtype dtypes[] = {WEIR_C64, WEIR_C128};

  for (size_t k = 0; k < 2 * sizeof sizes / sizeof sizes[0]; k++) {
    suite all = {.dtype = dtypes[k % 2], .n = sizes[k / 2], .seed = seed + k}, *s = &all;

    define(s);
    write_all(s, folder, "inputs", s->in, s->n_in);
    for (weir_tier tier = WEIR_TIER_REFERENCE; tier <= WEIR_TIER_NATIVE; tier++) {
      const weir_status status = run(s, tier);

      if (status != WEIR_ERR_UNSUPPORTED) {
        assert_ok(status);
        write_all(s, folder, weir_tier_name(tier), s->out, s->n_out);
      }
    }
    for (int i = 0; i < s->n_in + s->n_out; i++) {
      weir_tensor_fini(i < s->n_in ? &s->in[i] : &s->out[i - s->n_in]);
    }
    weir_graph_destroy(&s->g);
  }
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_engine_writes_its_results)};

  if (argc != 3) {
    fprintf(stderr, "numpy_cases FOLDER SEED\n");
    return 2;
  }
  folder = argv[1];
  seed = strtoull(argv[2], NULL, 10);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
