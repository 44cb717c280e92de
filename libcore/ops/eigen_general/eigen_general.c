/* eigen_general.c - eigenproblems without symmetry: their access, and the reference of their
 * kernels.
 */
#include "ops/eigen_general/weir_eigen_general.h"

#include <math.h>

#include "ops/weir_dense.h"
#include "ops/weir_eigen_batch.h"

static int outputs(const weir_op_args *args)
{
  return ((const weir_eigen_general_spec *)args->spec)->values_only ? 1 : 2;
}

static weir_status infer(const weir_op_args *args, weir_array_desc *out)
{
  WEIR_TRY(weir_eigen_infer("eigen_general", args, out));
  for (int k = 0; k < args->n_out; k++) {
    out[k].dtype = weir_dtype_complex(weir_dtype_part(args->in[0].dtype));
  }
  return WEIR_OK;
}

static weir_status access(const weir_op_args *args, weir_access *a)
{
  weir_eigen_access(args, a, args->n_out > 1 ? 25 : 10);
  return WEIR_OK;
}

static int64_t scratch(const void *spec, const weir_access *a)
{
  (void)spec;
  const int64_t n = a->in[0].extent[a->in[0].rank - 1];

  return (3 * n * n + n) * (int64_t)sizeof(weir_c128);
}

static weir_status run(const weir_op_run *r)
{
  const int64_t points = weir_batch_count(r->access, &r->box);

  for (int64_t p = 0; p < points; p++) {
    const weir_eigen_item m = weir_eigen_item_of(r->access, &r->box, p, r->in, r->out);
    const int64_t n = m.a.rows;
    weir_c128 *a = r->scratch, *v = a + n * n, *work = v + n * n, *value = work + n * n;

    weir_matrix_load(&m.a, WEIR_C128, a);
    if (!weir_batch_is_finite(WEIR_C128, a, n * n) || !weir_dense_general(a, n, value, v, work)) {
      weir_eigen_spoil(&m);
      continue;
    }
    weir_matrix_store(&m.value, WEIR_C128, value);
    if (m.has_vectors) {
      weir_matrix_store(&m.vector, WEIR_C128, v);
    }
  }
  return WEIR_OK;
}

/* The sums of the values and of their squares are the traces of a and a a; over ||a|| and its
 * square, in units of n^2 eps. */
static double error_of_sums(const weir_eigen_item *m, const weir_c128 *a)
{
  const int64_t n = m->a.rows;
  const double size = weir_dense_norm(a, n, n);
  weir_c128 first = {0, 0}, second = {0, 0};

  for (int64_t i = 0; i < n; i++) {
    const weir_c128 z = weir_dtype_load_complex(m->value.dtype, m->value.data, i * m->value.down);

    first.re += a[i * n + i].re - z.re;
    first.im += a[i * n + i].im - z.im;
    second.re -= z.re * z.re - z.im * z.im;
    second.im -= 2 * z.re * z.im;
    for (int64_t j = 0; j < n; j++) {
      const weir_c128 x = a[i * n + j], y = a[j * n + i];

      second.re += x.re * y.re - x.im * y.im;
      second.im += x.re * y.im + x.im * y.re;
    }
  }
  const double e = hypot(first.re, first.im) / size + hypot(second.re, second.im) / size / size;

  return size == 0  ? 0
         : isnan(e) ? INFINITY
                    : e / (weir_batch_eps(m->a.dtype) * (double)n * (double)n);
}

static double error_of(const weir_eigen_item *m, weir_c128 *memory)
{
  const int64_t n = m->a.rows;
  weir_c128 *a = memory, *v = a + n * n, *rest = v + n * n;

  weir_matrix_load(&m->a, WEIR_C128, a);
  double worst = error_of_sums(m, a);

  if (!m->has_vectors || n == 0) {
    return worst;
  }
  weir_matrix_load(&m->vector, WEIR_C128, v);
  for (int64_t k = 0; k < n; k++) {
    double length = 0;

    for (int64_t i = 0; i < n; i++) {
      length += v[i * n + k].re * v[i * n + k].re + v[i * n + k].im * v[i * n + k].im;
    }
    worst =
        fmax(worst, isfinite(length) ? fabs(length - 1) / (weir_batch_eps(m->a.dtype) * (double)n)
                                     : INFINITY);
  }
  return fmax(worst, weir_eigen_residual(m, a, v, rest));
}

static double error(const weir_op_run *r)
{
  return weir_eigen_worst(r, scratch(r->spec, r->access), error_of);
}

const weir_op_desc weir_op_eigen_general = {
    .name = "eigen_general",
    .cite = "Golub and Van Loan 2013, chapter 7",
    .spec_size = sizeof(weir_eigen_general_spec),
    .infer = infer,
    .access = access,
    .outputs = outputs,
    .run = run,
    .scratch = scratch,
    .error = error,
};

weir_value weir_eigen_general_at(weir_graph *g, weir_value a, const weir_eigen_general_spec *spec,
                                 const char *where)
{
  const weir_eigen_general_spec both = {.values_only = 0};

  return weir_graph_add(g, &weir_op_eigen_general, spec != NULL ? spec : &both, &a, 1, where);
}
