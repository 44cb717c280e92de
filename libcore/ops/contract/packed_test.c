/* packed_test.c - products by packed panels against their definition, on every instruction set. */
#include "ops/contract/packed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_random.h"
#include "device/weir_parallel.h"
#include "ops/contract/weir_contract.h"
#include "support/ops/ops_check.h"

enum { MAX = 14000 };

/* Operands and result in memory, and the access that says what they are to each other. */
typedef struct subject {
  weir_graph *g;
  weir_access a;
  weir_view v[5]; /* operands, result, what indices are gathered from */
  int64_t k;      /* products of a sum */
  int32_t index[2][64];
  weir_c128 memory[3][MAX], expected[MAX];
} subject;

static double part(uint32_t which, uint64_t at)
{
  return weir_random_uniform(7, which, 0, at) - 0.5;
}

static void fill(weir_view *v, uint32_t which)
{
  for (int64_t i = 0; i < MAX && weir_dtype_is_complex(v->dtype); i++) {
    const weir_c128 z = {part(which, 2 * (uint64_t)i), part(which, 2 * (uint64_t)i + 1)};

    if (weir_dtype_size(v->dtype) * (size_t)(i + 1) <= sizeof(weir_c128) * MAX) {
      weir_dtype_store_complex(v->dtype, v->data, i, z);
    }
  }
}

static void view_of(weir_view *v, const weir_operand *o, void *memory)
{
  int64_t stride = 1;

  *v = (weir_view){.data = memory, .dtype = o->dtype, .rank = o->rank};
  for (int d = o->rank - 1; d >= 0; d--) {
    v->extent[d] = o->extent[d];
    v->stride[d] = stride;
    stride *= o->extent[d];
  }
  assert_true(stride <= MAX);
}

/* Labels with two operands of such shapes. */
static void begin(subject *s, const char *labels, weir_dtype dtype, weir_array_desc a,
                  weir_array_desc b, uint32_t conj)
{
  weir_contract_spec spec = {.conjugate = conj};
  weir_value in[2];

  a.dtype = b.dtype = dtype;
  strcpy(spec.labels, labels);
  s->g = new_graph();
  in[0] = weir_input(s->g, "a", &a);
  in[1] = weir_input(s->g, "b", &b);
  const weir_value y = weir_contract_n(s->g, &spec, in, 2);

  assert_ok(weir_graph_status(s->g));
  weir_access_init(&s->a);
  assert_ok(weir_access_copy(&weir_graph_node(s->g, y.node)->access, &s->a));
  s->k = 1;
  for (int k = 0; k < s->a.n_dims; k++) {
    s->k *= s->a.dim[k].kind == WEIR_REDUCED ? s->a.dim[k].hi : 1;
  }
  for (int k = 0; k < 3; k++) {
    view_of(&s->v[k], k < 2 ? &s->a.in[k] : &s->a.out[0], s->memory[k]);
    fill(&s->v[k], (uint32_t)k);
  }
}

static void end(subject *s)
{
  weir_access_fini(&s->a);
  weir_graph_destroy(&s->g);
}

/* What is added to an index: 0, or the element that it is gathered from. */
static int64_t gathered(const subject *s, const weir_index *x, const int64_t *iteration)
{
  if (x->gather == 0) {
    return 0;
  }
  const weir_index *of = &s->a.in[x->gather - 1].index[0];

  return s->index[x->gather - 3][weir_index_raw(of, s->a.n_dims, iteration, 0)];
}

static weir_c128 element(const subject *s, int which, const int64_t *iteration, bool conj)
{
  const weir_operand *o = which < 2 ? &s->a.in[which] : &s->a.out[0];
  int64_t at[WEIR_MAX_RANK];

  for (int d = 0; d < o->rank; d++) {
    at[d] =
        weir_index_raw(&o->index[d], s->a.n_dims, iteration, gathered(s, &o->index[d], iteration));
  }
  const char *here = weir_view_at(&s->v[which], at);
  const weir_c128 z = weir_dtype_load_complex(o->dtype, here, 0);

  return (weir_c128){z.re, conj ? -z.im : z.im};
}

/* By the definition, in f64; of the result in its memory's order. */
static void define(subject *s, uint32_t conj)
{
  const weir_box all = weir_iterations(&s->a);
  int64_t i[WEIR_MAX_DIMS] = {0}, at[WEIR_MAX_RANK];

  memset(s->expected, 0, sizeof s->expected);
  for (int64_t n = weir_box_volume(&all); n > 0; n--) {
    const weir_c128 x = element(s, 0, i, conj & 1), y = element(s, 1, i, conj >> 1 & 1);
    int64_t to = 0;

    for (int d = 0; d < s->v[2].rank; d++) {
      at[d] = weir_index_raw(&s->a.out[0].index[d], s->a.n_dims, i, 0);
      to += at[d] * s->v[2].stride[d];
    }
    s->expected[to].re += x.re * y.re - x.im * y.im;
    s->expected[to].im += x.re * y.im + x.im * y.re;
    for (int k = s->a.n_dims - 1; k >= 0 && ++i[k] == s->a.dim[k].hi; k--) {
      i[k] = 0;
    }
  }
}

static void run(subject *s, const packed_form *f)
{
  void *scratch = malloc((size_t)packed_scratch(f));

  assert_non_null(scratch);
  memset(scratch, 0xff, (size_t)packed_scratch(f));
  for (int64_t p = packed_pieces(f) - 1; p >= 0; p--) {
    packed_run(f, s->v, p, scratch);
  }
  free(scratch);
}

static void compare(subject *s)
{
  const double eps = s->v[2].dtype == WEIR_C64 ? 0x1p-23 : 0x1p-52;
  double size = 0, worst = 0;
  int64_t n = 1;

  for (int d = 0; d < s->v[2].rank; d++) {
    n *= s->v[2].extent[d];
  }
  for (int64_t i = 0; i < n; i++) {
    const weir_c128 z = weir_dtype_load_complex(s->v[2].dtype, s->memory[2], i);
    const weir_c128 e = s->expected[i];

    assert_int_equal(isnan(z.re), isnan(e.re));
    assert_int_equal(isnan(z.im), isnan(e.im));
    size = fmax(size, hypot(e.re, e.im));
    worst = fmax(worst, hypot(z.re - e.re, z.im - e.im));
  }
  assert_true(worst <= (4 + sqrt((double)s->k)) * eps * size);
}

/* On every instruction set that there is, with the same bits. */
static void check(const char *labels, weir_array_desc a, weir_array_desc b)
{
  static subject s;
  static weir_c128 first[MAX];
  packed_form f;

  for (uint32_t conj = 0; conj < 4; conj++) {
    for (int d = 0; d < 2; d++) {
      begin(&s, labels, d == 0 ? WEIR_C64 : WEIR_C128, a, b, conj);
      define(&s, conj);
      if (!packed_form_of(&s.a, &f)) {
        assert_true(!weir_cpu_get()->avx2 || !weir_cpu_get()->fma);
        end(&s);
        skip();
      }
      run(&s, &f);
      compare(&s);
      memcpy(first, s.memory[2], sizeof first);
#if defined(__x86_64__)
      f.kernels = d == 0 ? &weir_packed_c64_avx2 : &weir_packed_c128_avx2;
      fill(&s.v[2], 2);
      run(&s, &f);
      compare(&s);
      assert_memory_equal(first, s.memory[2], sizeof first);
#endif
      end(&s);
    }
  }
}

#define ARRAY(...)                                                                            \
  (weir_array_desc)                                                                           \
  {                                                                                           \
    .shape = {__VA_ARGS__}, .rank = (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)) \
  }

static void matrices_of_every_size(void **state)
{
  for (int64_t n = 1; n < 36; n += n < 9 ? 1 : 5) {
    check("mk,kn->mn", ARRAY(n, n + 1), ARRAY(n + 1, 37 - n));
  }
  check("mk,kn->mn", ARRAY(1, 1), ARRAY(1, 1));
  check("mk,kn->mn", ARRAY(97, 30), ARRAY(30, 131));
  check("mk,kn->mn", ARRAY(7, 501), ARRAY(501, 19));
}

static void transposes_and_stacks(void **state)
{
  check("km,kn->mn", ARRAY(17, 13), ARRAY(17, 23));
  check("mk,nk->mn", ARRAY(13, 17), ARRAY(23, 17));
  check("mk,kn->nm", ARRAY(13, 17), ARRAY(17, 23));
  check("smk,skn->smn", ARRAY(11, 5, 7), ARRAY(11, 7, 9));
  check("msk,ksn->smn", ARRAY(5, 11, 7), ARRAY(7, 11, 9));
  check("smk,skn->mns", ARRAY(11, 5, 7), ARRAY(11, 7, 9));
  check("smk,kn->smn", ARRAY(11, 5, 7), ARRAY(7, 9));
}

static void labels_of_every_kind(void **state)
{
  check("abk,kn->abn", ARRAY(5, 6, 7), ARRAY(7, 9));         /* several rows            */
  check("aibj,bjn->nia", ARRAY(4, 3, 5, 6), ARRAY(5, 6, 8)); /* several are summed      */
  check("mmk,kn->mn", ARRAY(19, 19, 5), ARRAY(5, 7));        /* a diagonal */
  check("kk,kn->n", ARRAY(19, 19), ARRAY(19, 7));            /* summed over one         */
  check("mkj,kn->mn", ARRAY(9, 7, 5), ARRAY(7, 11));         /* one operand has it alone */
  check("ij,j->i", ARRAY(33, 41), ARRAY(41));
  check("i,i->", ARRAY(33), ARRAY(33));
  check("qwabij,abipq->wabjp", ARRAY(2, 3, 3, 2, 3, 2), ARRAY(3, 2, 3, 7, 2));
}

/* y[e, n] = sum over w of g[e - 2 w + 8] d[w, n]. */
static void shifted_indices(void **state)
{
  static subject s;
  packed_form f;

  begin(&s, "ew,wn->en", WEIR_C128, ARRAY(20, 5), ARRAY(5, 11), 0);
  s.a.in[0].rank = 1;
  s.a.in[0].index[0].coef[0] = 1;
  s.a.in[0].index[0].coef[2] = -2;
  s.a.in[0].index[0].offset = 8;
  s.a.in[0].extent[0] = 28;
  view_of(&s.v[0], &s.a.in[0], s.memory[0]);
  define(&s, 0);
  if (packed_form_of(&s.a, &f)) {
    run(&s, &f);
    compare(&s);
  }
  s.a.in[0].extent[0] = 27; /* is left */
  assert_false(packed_form_of(&s.a, &f));
  end(&s);
}

/* Dimension d of operand k is read where a list by that label says, of an array of n elements. */
static void gather(subject *s, int k, int d, int label, int64_t n)
{
  const int at = s->a.n_in;

  assert_ok(weir_access_resize(&s->a, at + 1, 1, 0));
  s->a.in[at] = (weir_operand){.dtype = WEIR_I32, .rank = 1, .extent = {s->a.dim[label].hi}};
  s->a.in[at].index[0].coef[label] = 1;
  for (int64_t i = 0; i < s->a.dim[label].hi; i++) {
    s->index[at - 2][i] = (int32_t)((5 * i + 3) % n);
  }
  view_of(&s->v[at + 1], &s->a.in[at], s->index[at - 2]);
  s->a.in[k].index[d] = (weir_index){.gather = at + 1, .gather_hi = n};
  s->a.in[k].extent[d] = n;
  view_of(&s->v[k], &s->a.in[k], s->memory[k]);
}

/* Of one operand or both, by the stack or by what is summed over; not by rows or columns. */
static void gathered_indices(void **state)
{
  static const struct {
    int operand, dim, label;
    bool taken;
  } cases[] = {{0, 0, 0, true}, {1, 0, 0, true},  {0, 2, 3, true},
               {1, 1, 3, true}, {0, 1, 1, false}, {1, 2, 2, false}};
  static subject s;
  packed_form f;

  for (int first = 0; first < 6; first++) {
    for (int second = -1; second < 4; second++) {
      const bool both = second >= 0 && cases[second].operand > cases[first].operand;

      begin(&s, "smk,skn->smn", WEIR_C128, ARRAY(11, 5, 9), ARRAY(11, 9, 13), 1);
      gather(&s, cases[first].operand, cases[first].dim, cases[first].label, 4);
      if (both) {
        gather(&s, cases[second].operand, cases[second].dim, cases[second].label, 7);
      }
      define(&s, 1);
      if (packed_form_of(&s.a, &f)) {
        assert_true(cases[first].taken);
        run(&s, &f);
        compare(&s);
      } else {
        assert_true(!cases[first].taken || !weir_cpu_get()->avx2 || !weir_cpu_get()->fma);
      }
      end(&s);
    }
  }
}

static void nan_stays_in_its_row_and_column(void **state)
{
  static subject s;
  packed_form f;

  begin(&s, "mk,kn->mn", WEIR_C128, ARRAY(9, 12), ARRAY(12, 21), 0);
  s.memory[0][3 * 12 + 2].re = NAN;
  s.memory[1][4 * 21 + 20].im = INFINITY;
  define(&s, 0);
  if (packed_form_of(&s.a, &f)) {
    run(&s, &f);
    for (int64_t i = 0; i < 9 * 21; i++) {
      assert_int_equal(isfinite(s.memory[2][i].re), i / 21 != 3 && i % 21 != 20);
    }
  }
  end(&s);
}

/* Views whose elements are apart, and that hold part of an array. */
static void strided_views(void **state)
{
  static subject s;
  packed_form f;

  begin(&s, "smk,skn->smn", WEIR_C128, ARRAY(3, 5, 7), ARRAY(3, 7, 17), 2);
  define(&s, 2);
  const weir_view dense = s.v[0];
  weir_view *v = &s.v[0];

  v->data = &s.memory[0][1000];
  v->origin[1] = 1;
  v->stride[0] = -90;
  v->stride[1] = 2;
  v->stride[2] = 11;
  for (int64_t i = 0; i < 3 * 5 * 7; i++) {
    const int64_t at[] = {i / 35, i / 7 % 5, i % 7};

    memcpy(weir_view_at(v, at), weir_view_at(&dense, at), sizeof(weir_c128));
  }
  if (packed_form_of(&s.a, &f)) {
    run(&s, &f);
    compare(&s);
  }
  end(&s);
}

static void others_are_not_taken(void **state)
{
  static subject s;
  packed_form f;

  begin(&s, "mk,kn->mn", WEIR_C128, ARRAY(9, 0), ARRAY(0, 21), 0);
  assert_false(packed_form_of(&s.a, &f));
  end(&s);
  begin(&s, "i,j->ij", WEIR_C128, ARRAY(9), ARRAY(7), 0); /* no sum */
  assert_false(packed_form_of(&s.a, &f));
  end(&s);
  begin(&s, "mk,kn->mn", WEIR_F64, ARRAY(9, 3), ARRAY(3, 21), 0);
  assert_false(packed_form_of(&s.a, &f));
  end(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(matrices_of_every_size), cmocka_unit_test(transposes_and_stacks),
      cmocka_unit_test(labels_of_every_kind),   cmocka_unit_test(shifted_indices),
      cmocka_unit_test(gathered_indices),       cmocka_unit_test(nan_stays_in_its_row_and_column),
      cmocka_unit_test(strided_views),          cmocka_unit_test(others_are_not_taken),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
