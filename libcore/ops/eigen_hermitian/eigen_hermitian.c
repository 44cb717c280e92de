/* eigen_hermitian.c - Hermitian eigenproblems: their access, and the reference of their kernels. */
#include "ops/eigen_hermitian/weir_eigen_hermitian.h"

#include <math.h>
#include <string.h>

#include "ops/weir_dense.h"
#include "ops/weir_eigen_batch.h"

static int outputs(const weir_op_args *args)
{
  return ((const weir_eigen_hermitian_spec *)args->spec)->values_only ? 1 : 2;
}

static weir_status infer(const weir_op_args *args, weir_array_desc *out)
{
  WEIR_TRY(weir_eigen_infer("eigen_hermitian", args, out));
  out[0].dtype = weir_dtype_part(args->in[0].dtype);
  return WEIR_OK;
}

static weir_status access(const weir_op_args *args, weir_access *a)
{
  weir_eigen_access(args, a, args->n_out > 1 ? 9 : 4. / 3);
  return WEIR_OK;
}

static int64_t scratch(const void *spec, const weir_access *a)
{
  (void)spec;
  const int64_t n = a->in[0].extent[a->in[0].rank - 1];

  return 2 * n * n * (int64_t)sizeof(weir_c128) + n * (int64_t)sizeof(double);
}

static weir_status run(const weir_op_run *r)
{
  const int64_t points = weir_batch_count(r->access, &r->box);

  for (int64_t p = 0; p < points; p++) {
    const weir_eigen_item m = weir_eigen_item_of(r->access, &r->box, p, r->in, r->out);
    const int64_t n = m.a.rows;
    weir_c128 *a = r->scratch, *v = a + n * n;
    double *value = (double *)(v + n * n);

    weir_matrix_load(&m.a, WEIR_C128, a);
    if (!weir_batch_is_finite(WEIR_C128, a, n * n)) {
      weir_eigen_spoil(&m);
      continue;
    }
    weir_dense_hermitian(a, n, value, v);
    for (int64_t i = 0; i < n; i++) {
      weir_dtype_store_real(m.value.dtype, m.value.data, i * m.value.down, value[i]);
    }
    if (m.has_vectors) {
      weir_matrix_store(&m.vector, WEIR_C128, v);
    }
  }
  return WEIR_OK;
}

/* The matrix that is meant. */
static void load_whole(const weir_matrix *from, weir_c128 *a)
{
  const int64_t n = from->rows;

  weir_matrix_load(from, WEIR_C128, a);
  for (int64_t i = 0; i < n; i++) {
    a[i * n + i].im = 0;
    for (int64_t j = 0; j < i; j++) {
      a[j * n + i] = (weir_c128){a[i * n + j].re, -a[i * n + j].im};
    }
  }
}

/* Values compared with the reference's, apart by ||a|| at most (Weyl), in units of n eps. */
static double error_of_values(const weir_eigen_item *m, const weir_c128 *a, weir_c128 *memory)
{
  const int64_t n = m->a.rows;
  double *value = (double *)(memory + 2 * n * n), max = 0;
  const double size = weir_dense_norm(a, n, n);

  memcpy(memory, a, (size_t)(n * n) * sizeof *a);
  weir_dense_hermitian(memory, n, value, memory + n * n);
  for (int64_t i = 0; i < n; i++) {
    const double got = weir_dtype_load_real(m->value.dtype, m->value.data, i * m->value.down);

    max = fmax(max, isfinite(got) ? fabs(got - value[i]) : INFINITY);
  }
  return max == 0 ? 0 : max / (size * weir_batch_eps(m->a.dtype) * (double)n);
}

/* ||v^H v - 1|| in units of n eps. */
static double error_of_lengths(const weir_c128 *v, int64_t n, double eps, weir_c128 *memory)
{
  for (int64_t i = 0; i < n * n; i++) {
    memory[i] = (weir_c128){i % (n + 1) == 0 ? -1 : 0, 0};
    for (int64_t k = 0; k < n; k++) {
      const weir_c128 x = v[k * n + i / n], y = v[k * n + i % n];

      memory[i].re += x.re * y.re + x.im * y.im;
      memory[i].im += x.re * y.im - x.im * y.re;
    }
  }
  const double size = weir_dense_norm(memory, n, n);

  return isnan(size) ? INFINITY : size / (eps * (double)n);
}

static double error_of(const weir_eigen_item *m, weir_c128 *memory)
{
  const int64_t n = m->a.rows;
  weir_c128 *a = memory, *v = a + n * n, *rest = v + n * n;

  load_whole(&m->a, a);
  const double values = error_of_values(m, a, rest);

  if (!m->has_vectors || n == 0) {
    return values;
  }
  weir_matrix_load(&m->vector, WEIR_C128, v);
  return fmax(values, fmax(weir_eigen_residual(m, a, v, rest),
                           error_of_lengths(v, n, weir_batch_eps(m->a.dtype), rest)));
}

static double error(const weir_op_run *r)
{
  return weir_eigen_worst(r, 2 * scratch(r->spec, r->access), error_of);
}

const weir_op_desc weir_op_eigen_hermitian = {
    .name = "eigen_hermitian",
    .cite = "Golub and Van Loan 2013, chapter 8",
    .spec_size = sizeof(weir_eigen_hermitian_spec),
    .infer = infer,
    .access = access,
    .outputs = outputs,
    .run = run,
    .scratch = scratch,
    .error = error,
};

weir_value weir_eigen_hermitian_at(weir_graph *g, weir_value a,
                                   const weir_eigen_hermitian_spec *spec, const char *where)
{
  const weir_eigen_hermitian_spec both = {.values_only = 0};

  return weir_graph_add(g, &weir_op_eigen_hermitian, spec != NULL ? spec : &both, &a, 1, where);
}
