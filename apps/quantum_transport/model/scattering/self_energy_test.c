/* self_energy_test.c - self-energies of random Green's functions against the sums written out, and
 * what is true of any Green's functions: symmetry, definiteness, conservation of electrons and of
 * energy. */
#include "support/quantum_transport/self_energy_test.h"

#include <string.h>

#include "base/weir_random.h"
#include "pass/weir_pass.h"

/* ---- Random numbers: positive matrices with the factors i that make them Green's functions ----
 */

static weir_c128 random_number(uint64_t *state)
{
  const uint64_t at = (*state)++;

  return (weir_c128){weir_random_uniform(9, 1, 0, at) - 0.5,
                     weir_random_uniform(9, 2, 0, at) - 0.5};
}

/* m [n, n] = i sign r r^H. */
static void random_positive(int64_t n, double sign, uint64_t *state, weir_c128 *m)
{
  weir_c128 r[256];

  assert_true(n * n <= 256);
  for (int64_t i = 0; i < n * n; i++) {
    r[i] = random_number(state);
  }
  for (int64_t i = 0; i < n * n; i++) {
    weir_c128 sum = {0, 0};

    for (int64_t p = 0; p < n; p++) {
      sum = weir_add_c128(sum, weir_mul_c128(r[i / n * n + p], weir_conj_c128(r[i % n * n + p])));
    }
    m[i] = weir_mul_c128(sum, (weir_c128){0, sign});
  }
}

/* A ring of atoms, or with width 1 pairs of them, the last one alone where their number is odd. */
static void random_lists(sample *c, uint64_t *state)
{
  const int64_t n = c->list.n_atoms, width = c->list.n_neighbours;
  const int64_t block = c->list.n_directions * c->list.n_orbitals * c->list.n_orbitals;
  const int64_t o = c->list.n_orbitals;

  for (int64_t a = 0; a + 1 < n + (width > 1 && n > 2); a += width > 1 ? 1 : 2) {
    const int64_t l = (a + 1) % n, here = a * width, there = l * width + (width > 1);

    c->list.atom[here] = (int32_t)l;
    c->list.atom[there] = (int32_t)a;
    c->list.reverse[here] = (int32_t)there;
    c->list.reverse[there] = (int32_t)here;
    for (int64_t i = 0; i < block; i++) {
      const int64_t turned = i / o / o * o * o + i % o * o + i / o % o;
      const weir_c128 z = random_number(state);

      c->list.gradient[here * block + i] = z;
      c->list.gradient[there * block + turned] = weir_neg_c128(weir_conj_c128(z));
    }
  }
}

static void random_sample(int64_t atoms, int64_t width, int64_t orbitals, int64_t directions,
                          int64_t n_k, int64_t energies, int64_t frequencies, sample *c)
{
  uint64_t state = (uint64_t)(atoms + 100 * energies);

  *c = (sample){.spec = {.n_k = n_k,
                         .n_energies = energies,
                         .n_frequencies = frequencies,
                         .step = 0.13,
                         .spin = 2,
                         .retarded = QT_RETARDED_FULL,
                         .phonons = true,
                         .threads = 1}};
  allocate(atoms, width, orbitals, directions, c);
  random_lists(c, &state);
  size_up(c);
  const int64_t blocks = n_k * energies * atoms, n = atoms * directions;

  for (int64_t i = 0; i < 2 * blocks; i++) {
    random_positive(orbitals, i < blocks ? 1 : -1, &state,
                    data_of(c, QT_GREEN) + i * orbitals * orbitals);
  }
  for (int64_t i = 0; i < 2 * n_k * frequencies; i++) {
    random_positive(n, -1, &state, c->d + i * n * n);
  }
  take_blocks(c);
}

/* ---- The sums written out ---- */

static weir_c128 gradient(const sample *c, int64_t at, int64_t i, int64_t row, int64_t column)
{
  const int64_t o = c->list.n_orbitals;

  return c->list.gradient[((at * c->list.n_directions + i) * o + row) * o + column];
}

/* nabla_i H_al x nabla_j H_la of pair `at`, its element (row, column); nabla H_la is that of the
 * reverse pair. */
static weir_c128 sandwich(const sample *c, int64_t at, int64_t i, int64_t j, const weir_c128 *x,
                          int64_t row, int64_t column)
{
  const int64_t o = c->list.n_orbitals;
  weir_c128 sum = {0, 0};

  for (int64_t p = 0; p < o * o; p++) {
    const weir_c128 left = gradient(c, at, i, row, p / o);
    const weir_c128 right = gradient(c, c->list.reverse[at], j, p % o, column);

    sum = weir_add_c128(sum, weir_mul_c128(weir_mul_c128(left, x[p]), right));
  }
  return sum;
}

static const weir_c128 *green(const sample *c, int64_t x, int64_t k, int64_t e, int64_t a)
{
  const int64_t o = c->list.n_orbitals, n_k = c->spec.n_k;
  const int64_t point = (x * n_k + (k + n_k) % n_k) * c->spec.n_energies + e;

  return data_of(c, QT_GREEN) + (point * c->list.n_atoms + a) * o * o;
}

/* C_ij (a, l) from all of D. */
static weir_c128 coupling(const sample *c, int64_t x, int64_t q, int64_t w, int64_t a, int64_t l,
                          int64_t i, int64_t j)
{
  const weir_c128 cross =
      weir_add_c128(c->d[index_of(c, x, q, w, l, i, a, j)], c->d[index_of(c, x, q, w, a, i, l, j)]);
  const weir_c128 own =
      weir_add_c128(c->d[index_of(c, x, q, w, l, i, l, j)], c->d[index_of(c, x, q, w, a, i, a, j)]);

  return weir_sub_c128(cross, own);
}

/* Element (m, n) of Sigma at x k e a. */
static weir_c128 sigma_sum(const sample *c, int64_t x, int64_t k, int64_t e, int64_t a, int64_t m,
                           int64_t n)
{
  const int64_t d = c->list.n_directions, width = c->list.n_neighbours, w = c->spec.n_frequencies;
  weir_c128 sum = {0, 0};

  for (int64_t s = 0; s < 2 * c->spec.n_k * w * width * d * d; s++) {
    const int64_t j = s % d, i = s / d % d, b = s / d / d % width;
    const int64_t f = s / d / d / width % w, q = s / d / d / width / w / 2;
    const bool up = s / d / d / width / w % 2 == 1;
    const int64_t from = up ? e + f + 1 : e - f - 1, l = c->list.atom[a * width + b];

    if (l != a && from >= 0 && from < c->spec.n_energies) {
      const weir_c128 *g = green(c, x, up ? k + q : k - q, from, l);
      const weir_c128 phonon =
          up ? coupling(c, 1 - x, q, f, a, l, j, i) : coupling(c, x, q, f, a, l, i, j);

      sum = weir_add_c128(sum, weir_mul_c128(phonon, sandwich(c, a * width + b, i, j, g, m, n)));
    }
  }
  return weir_mul_c128(sum, (weir_c128){0, c->spec.step / (2 * M_PI * (double)c->spec.n_k)});
}

/* t_ij of pair `at` at x q w. */
static weir_c128 emission(const sample *c, int64_t x, int64_t q, int64_t w, int64_t at, int64_t i,
                          int64_t j)
{
  const int64_t a = at / c->list.n_neighbours, l = c->list.atom[at], o = c->list.n_orbitals;
  weir_c128 sum = {0, 0};

  for (int64_t s = 0; s < c->spec.n_k * c->spec.n_energies; s++) {
    const int64_t e = s % c->spec.n_energies, k = s / c->spec.n_energies;

    for (int64_t p = 0; p < o * o && e + w + 1 < c->spec.n_energies; p++) {
      const weir_c128 y = sandwich(c, at, i, j, green(c, x, k + q, e + w + 1, l), p / o, p % o);

      sum = weir_add_c128(sum, weir_mul_c128(y, green(c, 1 - x, k, e, a)[p % o * o + p / o]));
    }
  }
  return weir_mul_c128(
      sum, (weir_c128){c->spec.spin * c->spec.step / (2 * M_PI * (double)c->spec.n_k), 0});
}

/* Pi of all atoms, laid out as D. */
static void pi_sum(const sample *c, weir_c128 *pi)
{
  const int64_t width = c->list.n_neighbours, d = c->list.n_directions, w = c->spec.n_frequencies;

  for (int64_t s = 0; s < 2 * c->spec.n_k * w * c->list.n_atoms * width * d * d; s++) {
    const int64_t j = s % d, i = s / d % d, at = s / d / d % (c->list.n_atoms * width);
    const int64_t point = s / d / d / (c->list.n_atoms * width);
    const int64_t f = point % w, q = point / w % c->spec.n_k, x = point / w / c->spec.n_k;
    const int64_t a = at / width, l = c->list.atom[at];

    if (l != a) {
      const weir_c128 t = weir_mul_c128(emission(c, x, q, f, at, i, j), (weir_c128){0, 1});
      weir_c128 *const of[] = {
          &pi[index_of(c, x, q, f, a, i, a, j)], &pi[index_of(c, x, q, f, l, i, l, j)],
          &pi[index_of(c, x, q, f, a, i, l, j)], &pi[index_of(c, x, q, f, l, i, a, j)]};

      for (int r = 0; r < 4; r++) {
        *of[r] = r < 2 ? weir_add_c128(*of[r], t) : weir_sub_c128(*of[r], t);
      }
    }
  }
}

/* Splits of the sums, windows, and atoms at once: bytes of memory for few of them. */
typedef struct way {
  int fission;
  bool window;
  double memory;
} way;

static const way ways[] = {{WEIR_FISSION_OFF, false, 0},
                           {WEIR_FISSION_PRODUCTS, true, 0},
                           {WEIR_FISSION_HOIST, true, 1},
                           {WEIR_FISSION_REASSOCIATE, true, 0}};

static void take_way(const way *y, sample *c)
{
  c->spec.fission = y->fission;
  c->spec.window = y->window;
  c->spec.memory = y->memory;
}

/* Results of an earlier run do not count. */
static void clear_results(sample *c)
{
  for (int i = QT_SIGMA; i < QT_SELF_ENERGY_ARRAYS; i++) {
    memset(c->t[i].data, 0, (size_t)weir_tensor_numel(&c->t[i]) * sizeof(weir_c128));
  }
}

/* Self-energies of all ways against `expected` of Sigma and `pi`. */
static void check_ways(sample *c, const weir_c128 *sigma, const weir_c128 *pi)
{
  for (size_t y = 0; y < sizeof ways / sizeof *ways; y++) {
    take_way(&ways[y], c);
    clear_results(c);
    run(c);
    assert_close("Sigma", data_of(c, QT_SIGMA), sigma, weir_tensor_numel(&c->t[QT_SIGMA]));
    check_pi(c, pi);
  }
}

static void sums_are_those_written_out(void **state)
{
  static const int64_t sizes[][7] = {/* atoms, neighbours, orbitals, directions, k, E, w */
                                     {3, 2, 2, 3, 1, 7, 2}, {5, 2, 1, 1, 3, 5, 3},
                                     {3, 1, 3, 1, 2, 6, 7}, {2, 1, 2, 2, 1, 4, 1},
                                     {1, 1, 2, 1, 1, 3, 1}, {2, 1, 1, 1, 1, 1, 1}};

  (void)state;
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    const int64_t *n = sizes[s];
    sample c;
    weir_c128 *expected, *pi;

    random_sample(n[0], n[1], n[2], n[3], n[4], n[5], n[6], &c);
    const int64_t count = weir_tensor_numel(&c.t[QT_SIGMA]), o = n[2], all = n[0] * n[3];

    assert_ok(weir_alloc(count, sizeof *expected, (void **)&expected));
    for (int64_t i = 0; i < count; i++) {
      const int64_t a = i / o / o % n[0], e = i / o / o / n[0] % n[5];
      const int64_t k = i / o / o / n[0] / n[5] % n[4], x = i / o / o / n[0] / n[5] / n[4];

      expected[i] = sigma_sum(&c, x, k, e, a, i / o % o, i % o);
    }
    assert_ok(weir_alloc(2 * n[4] * n[6] * all * all, sizeof *pi, (void **)&pi));
    pi_sum(&c, pi);
    check_ways(&c, expected, pi);
    weir_free(&expected);
    weir_free(&pi);
    sample_fini(&c);
  }
}

/* Anti-Hermitian to the last bit; -i Sigma^< and i Sigma^> are positive on random vectors, and so
 * is i Pi between displacements of all atoms, which do not change when all move alike. */
static void check_symmetry(const sample *c)
{
  const int64_t o = c->list.n_orbitals, count = weir_tensor_numel(&c->t[QT_SIGMA]);
  const weir_c128 *sigma = data_of(c, QT_SIGMA);
  uint64_t random = 77;

  for (int64_t i = 0; i < count; i++) {
    const weir_c128 z = sigma[i / o / o * o * o + i % o * o + i / o % o];

    assert_true(sigma[i].re == -z.re && sigma[i].im == z.im);
  }
  for (int64_t at = 0; at < count; at += o * o) {
    weir_c128 v[8], sum = {0, 0};

    for (int64_t i = 0; i < o; i++) {
      v[i] = random_number(&random);
    }
    for (int64_t i = 0; i < o * o; i++) {
      const weir_c128 x = weir_mul_c128(weir_conj_c128(v[i / o]), sigma[at + i]);

      sum = weir_add_c128(sum, weir_mul_c128(x, v[i % o]));
    }
    assert_true(at < count / 2 ? sum.im >= 0 : sum.im <= 0);
  }
}

static void check_sum_rule(const sample *c)
{
  const int64_t d = c->list.n_directions, width = c->list.n_neighbours;
  const weir_c128 *self = data_of(c, QT_PI_SELF), *pair = data_of(c, QT_PI_PAIR);

  for (int64_t i = 0; i < weir_tensor_numel(&c->t[QT_PI_SELF]); i++) {
    weir_c128 sum = self[i];

    for (int64_t b = 0; b < width; b++) {
      sum = weir_add_c128(sum, pair[(i / d / d * width + b) * d * d + i % (d * d)]);
    }
    assert_true(weir_abs_c128(sum) <= 1e-12 * (1 + weir_abs_c128(self[i])));
  }
}

static void any_functions_conserve(void **state)
{
  static const int64_t sizes[][7] = {
      {4, 2, 2, 1, 3, 9, 4}, {3, 2, 3, 1, 2, 5, 4}, {2, 1, 2, 3, 1, 11, 3}, {5, 2, 1, 1, 1, 13, 5}};

  (void)state;
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    const int64_t *n = sizes[s];
    double power[2];
    sample c;

    random_sample(n[0], n[1], n[2], n[3], n[4], n[5], n[6], &c);
    run(&c);
    check_symmetry(&c);
    check_sum_rule(&c);
    check_conservation(&c, power);
    assert_true(fabs(power[0]) > 0);
    sample_fini(&c);
  }
}

/* ---- The Hilbert transform ---- */

static void transform_is_the_sum_over_odd_distances(void **state)
{
  static const int64_t sizes[] = {1, 2, 3, 16, 31};

  (void)state;
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    sample c;

    random_sample(2, 1, 2, 1, 2, sizes[s], 1, &c);
    run(&c);
    const int64_t n = sizes[s], stride = 2 * 2 * 2, half = 2 * n * stride;
    const weir_c128 *sigma = data_of(&c, QT_SIGMA);
    weir_c128 *expected;

    assert_ok(weir_alloc(half, sizeof *expected, (void **)&expected));
    for (int64_t i = 0; i < half; i++) {
      const int64_t e = i / stride % n, first = i - e * stride;
      weir_c128 sum = {0, 0};

      for (int64_t m = (e + 1) % 2; m < n; m += 2) {
        const int64_t at = first + m * stride;
        const weir_c128 x = weir_sub_c128(sigma[half + at], sigma[at]);

        sum = weir_add_c128(sum, weir_mul_c128(x, (weir_c128){2 / (double)(e - m), 0}));
      }
      const weir_c128 x = weir_sub_c128(sigma[half + i], sigma[i]);

      expected[i] = (weir_c128){x.re / 2 - sum.im / (2 * M_PI), x.im / 2 + sum.re / (2 * M_PI)};
    }
    assert_close("Sigma^R", data_of(&c, QT_SIGMA_RETARDED), expected, half);
    weir_free(&expected);
    sample_fini(&c);
  }
}

static void half_is_half_the_change(void **state)
{
  sample c;

  (void)state;
  random_sample(2, 1, 2, 1, 1, 5, 2, &c);
  c.spec.retarded = QT_RETARDED_HALF;
  c.spec.phonons = false;
  run(&c);
  const weir_c128 *sigma = data_of(&c, QT_SIGMA), *r = data_of(&c, QT_SIGMA_RETARDED);
  const int64_t half = weir_tensor_numel(&c.t[QT_SIGMA_RETARDED]);

  for (int64_t i = 0; i < half; i++) {
    assert_true(r[i].re == 0.5 * (sigma[half + i].re - sigma[i].re));
    assert_true(r[i].im == 0.5 * (sigma[half + i].im - sigma[i].im));
  }
  sample_fini(&c);
}

/* ---- Atoms at once ---- */

/* Everything that a run gives, of few atoms at once against all; the last ranges overlap. */
static void ranges_give_what_all_atoms_do(void **state)
{
  sample all, few;
  qt_self_energy e;
  qt_self_energy_size size;

  (void)state;
  random_sample(5, 2, 2, 3, 2, 6, 3, &all);
  random_sample(5, 2, 2, 3, 2, 6, 3, &few);
  take_way(&(way){WEIR_FISSION_HOIST, true, 0}, &all);
  run(&all);
  assert_ok(qt_self_energy_size_of(&all.spec, &size));
  take_way(&(way){WEIR_FISSION_HOIST, true, size.memory - 1}, &few);
  assert_ok(qt_self_energy_create(&few.spec, &e));
  assert_true(e.range.n > 1 && e.range.n < 5);
  clear_results(&few);
  assert_ok(qt_self_energy_run(&e, few.t));
  for (int i = QT_SIGMA; i < QT_SELF_ENERGY_ARRAYS; i++) {
    assert_close(qt_self_energy_names[i], few.t[i].data, all.t[i].data,
                 weir_tensor_numel(&all.t[i]));
  }
  qt_self_energy_fini(&e);
  sample_fini(&all);
  sample_fini(&few);
}

/* More memory takes more atoms at once, until all. */
static void sizes_keep_to_their_memory(void **state)
{
  sample c;
  qt_self_energy_size all, few;

  (void)state;
  random_sample(9, 2, 3, 1, 1, 12, 3, &c);
  take_way(&(way){WEIR_FISSION_HOIST, true, 0}, &c);
  assert_ok(qt_self_energy_size_of(&c.spec, &all));
  assert_int_equal(all.n_atoms, 9);
  assert_int_equal(all.n_times, 1);
  assert_true(all.flops > 0 && all.traffic > 0 && all.memory > 0);
  c.spec.memory = all.memory / 2;
  assert_ok(qt_self_energy_size_of(&c.spec, &few));
  assert_true(few.n_atoms >= 1 && few.n_atoms < 9);
  assert_true(few.n_times * few.n_atoms >= 9 && (few.n_times - 1) * few.n_atoms < 9);
  assert_true(few.memory < all.memory && few.flops >= all.flops);
  sample_fini(&c);
}

/* ---- Refusals ---- */

static void shapes_that_disagree_are_refused(void **state)
{
  const weir_array_desc green = {WEIR_C128, 6, {2, 1, 4, 3, 2, 2}, 0};
  const weir_array_desc gradient = {WEIR_C128, 5, {2, 2, 1, 2, 2}, 0};
  const weir_array_desc atoms = {WEIR_I32, 2, {3, 2}, 0};
  weir_graph *g;

  (void)state;
  assert_ok(weir_graph_create(&g));
  const weir_value of = weir_input(g, "g", &green);

  (void)qt_phonon_sum(g, of, of, weir_input(g, "h", &gradient), weir_input(g, "a", &atoms), 2);
  assert_int_equal(weir_graph_status(g), WEIR_ERR_SHAPE);
  assert_non_null(strstr(weir_last_message(), "atoms number 2 in one input, 3 in another"));
  weir_graph_destroy(&g);
}

static weir_status make(void *context)
{
  weir_graph *g = NULL;
  const weir_status status = qt_self_energy_graph(context, NULL, &g);

  weir_graph_destroy(&g);
  return status;
}

static void faults_leave_nothing(void **state)
{
  sample c;

  (void)state;
  random_sample(2, 1, 1, 1, 1, 2, 1, &c);
  assert_true(weir_check_faults(make, &c.spec) > 0);
  sample_fini(&c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_are_those_written_out),
      cmocka_unit_test(any_functions_conserve),
      cmocka_unit_test(transform_is_the_sum_over_odd_distances),
      cmocka_unit_test(half_is_half_the_change),
      cmocka_unit_test(ranges_give_what_all_atoms_do),
      cmocka_unit_test(sizes_keep_to_their_memory),
      cmocka_unit_test(shapes_that_disagree_are_refused),
      cmocka_unit_test(faults_leave_nothing),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
