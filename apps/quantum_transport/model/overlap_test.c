/* overlap_test.c - overlaps that are those of a basis at some wave vectors only, or partly. */
#include "model/overlap.h"

#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "model/device.h"
#include "model/ribbon.h"

/* A matrix of images y, z with elements value on the diagonal `offset` of [n, n]. */
typedef struct element {
  int64_t y, z, offset;
  weir_c128 value;
} element;

/* Adds elements, each with its conjugate at the opposite image and diagonal, to 1. */
static void fill(int64_t n, int64_t n_elements, const element *elements, qt_bloch *out)
{
  qt_bloch_fini(out);
  assert_ok(weir_alloc(1 + 2 * n_elements, sizeof *out->image, (void **)&out->image));
  assert_ok(weir_alloc(1 + 2 * n_elements, sizeof *out->matrix, (void **)&out->matrix));
  for (int64_t i = 0; i <= 2 * n_elements; i++) {
    const element p = i == 0 ? (element){0, 0, 0, {1, 0}} : elements[(i - 1) / 2];
    const int64_t sign = i % 2 == 0 && i > 0 ? -1 : 1;
    qt_entries e = {.count = 0};

    for (int64_t r = 0; r < n; r++) {
      const int64_t c = r + sign * p.offset;

      if (c >= 0 && c < n) {
        qt_entries_add(&e, r, c, (weir_c128){p.value.re, (double)sign * p.value.im});
      }
    }
    assert_ok(qt_sparse_create(n, n, &e, &out->matrix[i]));
    out->image[i][0] = sign * p.y;
    out->image[i][1] = sign * p.z;
    out->count = i + 1;
    qt_entries_fini(&e);
  }
}

/* A chain of 4 sites whose device and leads have these overlaps within a cell and to its images,
 * and `along` from cell to cell in the leads. */
static void build(int64_t n_elements, const element *elements, double along, qt_system *s)
{
  qt_ribbon_opts o;

  weir_opts_default(qt_device_find("square")->opts, sizeof o, &o);
  o.width = 1;
  o.length = 4;
  *s = (qt_system){.n = 0};
  assert_ok(qt_device_find("square")->build(&o, 1, s));
  fill(s->n, n_elements, elements, &s->s);
  for (int c = 0; c < QT_LEADS; c++) {
    qt_entries e = {.count = 0};
    qt_lead *lead = &s->lead[c];

    fill(1, n_elements, elements, &lead->overlap);
    assert_ok(weir_alloc(1, sizeof *lead->next_overlap.image, (void **)&lead->next_overlap.image));
    assert_ok(
        weir_alloc(1, sizeof *lead->next_overlap.matrix, (void **)&lead->next_overlap.matrix));
    qt_entries_add(&e, 0, 0, (weir_c128){along, 0});
    assert_ok(qt_sparse_create(1, 1, &e, &lead->next_overlap.matrix[0]));
    lead->next_overlap.count = 1;
    qt_entries_fini(&e);
  }
}

static void overlaps_are_checked_at_wave_vectors(void **state)
{
  static const struct {
    element elements[2];
    double along;
    const char *said;
  } cases[] = {
      {{{0, 0, 0, {0, 0}}}, 0.4, NULL},
      {{{0, 1, 0, {0.2, 0.1}}, {1, 0, 0, {0.1, 0}}}, 0.1, NULL},
      /* 1 + 1.2 cos 2 pi k_z: 2.2 at k = 0 */
      {{{0, 1, 0, {0.6, 0}}}, 0, "block 0 of the overlap matrix at k = (0, 0.5) is not positive"},
      /* 1 - 1.2 sin 2 pi k: 1 at k = 0 and 1/2 */
      {{{0, 1, 0, {0, 0.6}}}, 0, "block 0 of the overlap matrix at k = (0, 0.25) is not positive"},
      {{{1, 0, 0, {0, 0.6}}}, 0, "at k = (0.25, 0) is not positive definite: orbital 0"},
      /* both directions together: 1 - 0.8 sin 2 pi k_y - 0.6 sin 2 pi k_z */
      {{{1, 0, 0, {0, 0.4}}, {0, 1, 0, {0, 0.3}}}, 0, "at k = (0.25, 0.25) is not positive"},
      {{{1, 0, 0, {0, 0.4}}, {0, 1, 0, {0, -0.3}}}, 0, "at k = (0.25, 0.75) is not positive"},
      /* of the leads' wires alone: 1 + 1.2 cos k_x */
      {{{0, 0, 0, {0, 0}}}, 0.6, "overlap of the wire of the left lead at k_x = 0.5 is not"},
      /* the chain of 4 sites: 1 + 1.4 cos(4 pi / 5) */
      {{{0, 0, 1, {0.7, 0}}}, 0, "block 3 of the overlap matrix is not positive definite"},
  };

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    qt_system s;

    build(2, cases[i].elements, cases[i].along, &s);
    const weir_status status = qt_overlap_check(&s);

    if (cases[i].said == NULL) {
      assert_ok(status);
    } else {
      if (status != WEIR_ERR_DATA || strstr(weir_last_message(), cases[i].said) == NULL) {
        fprintf(stderr, "case %d: %s\n", (int)i, weir_last_message());
        fail();
      }
    }
    qt_system_fini(&s);
  }
}

/* Sums of many random v v^T are positive definite, those of fewer than their rows are singular, in
 * blocks of any size. */
static void blocks_are_eliminated_one_after_the_other(void **state)
{
  enum { N = 7 };
  const int64_t block[] = {0, 2, 3, 7};

  for (uint64_t seed = 0; seed < 20; seed++) {
    qt_entries e = {.count = 0};
    const int vectors = seed % 2 ? 3 * N : N - 1; /* fewer than N: singular */
    double v[3 * N][N] = {{0}};
    qt_system s;

    for (int a = 0; a < vectors; a++) { /* within two blocks that follow each other */
      const int64_t from = block[a % 2], to = block[a % 2 + 2];

      for (int64_t i = from; i < to; i++) {
        v[a][i] = weir_random_uniform(seed, (uint32_t)a, 0, (uint64_t)i) - 0.5;
      }
    }
    for (int64_t i = 0; i < N * N; i++) {
      double sum = 0;

      for (int a = 0; a < vectors; a++) {
        sum += v[a][i / N] * v[a][i % N];
      }
      if (sum != 0) {
        qt_entries_add(&e, i / N, i % N, (weir_c128){sum, 0});
      }
    }
    build(0, NULL, 0, &s);
    weir_free(&s.block);
    assert_ok(weir_alloc(4, sizeof *s.block, (void **)&s.block));
    memcpy(s.block, block, sizeof block);
    s.n = N;
    s.n_blocks = 3;
    qt_sparse_fini(&s.s.matrix[0]);
    assert_ok(qt_sparse_create(N, N, &e, &s.s.matrix[0]));
    assert_int_equal(qt_overlap_check(&s), seed % 2 ? WEIR_OK : WEIR_ERR_DATA);
    qt_entries_fini(&e);
    qt_system_fini(&s);
  }
}

/* L D L^H of a random L with ones on its diagonal has the pivots D, found panel by panel. */
static void wide_blocks_name_their_first_bad_orbital(void **state)
{
  enum { N = 150 };
  static const int64_t bad[] = {-1, 0, 63, 64, 131, 149};
  static double l[N][N];

  for (int64_t i = 0; i < N * N; i++) {
    const int64_t row = i / N, column = i % N;

    l[row][column] = row == column  ? 1
                     : row < column ? 0
                                    : weir_random_uniform(3, 0, 0, (uint64_t)i) / N;
  }
  for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) {
    qt_entries e = {.count = 0};
    qt_ribbon_opts o;
    qt_system s = {.n = 0};
    char said[80];

    for (int64_t i = 0; i < N * N; i++) {
      double sum = 0;

      for (int64_t k = 0; k <= i / N && k <= i % N; k++) {
        sum += l[i / N][k] * (k == bad[b] ? -1e-3 : 1 + 0.01 * (double)k) * l[i % N][k];
      }
      qt_entries_add(&e, i / N, i % N, (weir_c128){sum, 0});
    }
    weir_opts_default(qt_device_find("square")->opts, sizeof o, &o);
    o.width = N;
    o.length = 1;
    assert_ok(qt_device_find("square")->build(&o, 1, &s));
    fill(N, 0, NULL, &s.s);
    fill(N, 0, NULL, &s.lead[QT_LEFT].overlap);
    fill(N, 0, NULL, &s.lead[QT_RIGHT].overlap);
    qt_sparse_fini(&s.s.matrix[0]);
    assert_ok(qt_sparse_create(N, N, &e, &s.s.matrix[0]));
    assert_int_equal(qt_overlap_check(&s), bad[b] < 0 ? WEIR_OK : WEIR_ERR_DATA);
    (void)snprintf(said, sizeof said,
                   "orbital %lld of it depends on those before it (pivot -0.001)",
                   (long long)bad[b]);
    assert_true(bad[b] < 0 || strstr(weir_last_message(), said));
    qt_entries_fini(&e);
    qt_system_fini(&s);
  }
}

static weir_status check(void *system)
{
  return qt_overlap_check(system);
}

static void missing_memory_is_reported(void **state)
{
  qt_system s;

  build(0, NULL, 0.1, &s);
  assert_int_equal(weir_check_faults(check, &s), 8);
  qt_system_fini(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(overlaps_are_checked_at_wave_vectors),
      cmocka_unit_test(blocks_are_eliminated_one_after_the_other),
      cmocka_unit_test(wide_blocks_name_their_first_bad_orbital),
      cmocka_unit_test(missing_memory_is_reported),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
