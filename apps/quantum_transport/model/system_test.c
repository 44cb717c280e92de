/* system_test.c - what is refused, and Bloch sums. */
#include "model/system.h"
#include "model/system_check.h"

#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "model/device.h"
#include "model/ribbon.h"

static void chain(qt_system *s)
{
  const qt_device *d = qt_device_find("chain");
  void *opts = NULL;

  assert_non_null(d);
  assert_int_equal(weir_alloc(1, d->opts_size, &opts), WEIR_OK);
  weir_opts_default(d->opts, d->opts_size, opts);
  *s = (qt_system){.n = 0};
  assert_int_equal(d->build(opts, 1, s), WEIR_OK);
  weir_free(&opts);
}

static void sound_systems_pass(void **state)
{
  qt_system s;

  chain(&s);
  assert_int_equal(qt_system_check(&s, 1e-12), WEIR_OK);
  assert_int_equal(s.n_blocks, 20);
  qt_system_fini(&s);
}

/* What a digest has to tell apart. */
static void change(qt_system *s, int kind)
{
  switch (kind) {
  case 0:
    s->h.matrix[0].value[1].im = 1e-300;
    break;
  case 1:
    s->lead[QT_RIGHT].cell.matrix[0].value[0].re += 1;
    break;
  case 2:
    s->lead[QT_LEFT].next.matrix[0].value[0].re += 1;
    break;
  case 3:
    s->atom[3].position[1] += 1e-9;
    break;
  case 4:
    s->cell[0][0] += 1e-9;
    break;
  case 5:
    s->has_spin = true;
    break;
  default:
    break;
  }
}

static void digests_tell_systems_apart(void **state)
{
  enum { KINDS = 7 }; /* the last one changes nothing */
  char digest[KINDS][65];

  for (int kind = 0; kind < KINDS; kind++) {
    qt_system s, same;

    chain(&s);
    chain(&same);
    change(&s, kind);
    change(&same, kind);
    qt_system_digest(&s, digest[kind]);
    for (int k = 0; k < kind; k++) {
      assert_string_not_equal(digest[kind], digest[k]);
    }
    char again[65];

    qt_system_digest(&same, again);
    assert_string_equal(digest[kind], again);
    qt_system_fini(&s);
    qt_system_fini(&same);
  }
}

/* Damages a sound system, and says what the refusal must name. */
static const char *damage(qt_system *s, int kind)
{
  qt_sparse *h = &s->h.matrix[0];

  switch (kind) {
  case 0:
    h->value[1].re += 0.5; /* element (0, 1) alone */
    return "the Hamiltonian is not Hermitian: element (0, 1) of block (0, 1) of image (0, 0)";
  case 1:
    s->block[s->n_blocks] = s->n - 1;
    return "do not cover";
  case 2: /* sites 2 and 3 apart */
    h->value[h->start[3] - 1] = h->value[h->start[3]] = (weir_c128){0, 0};
    return "blocks 2 and 3";
  case 3:
    h->column[1] = 2; /* (0, 1) and (2, 1) become (0, 2) and (2, 0) */
    h->column[h->start[2]] = 0;
    h->value[h->start[1]] = h->value[h->start[2] - 1] = (weir_c128){0, 0};
    return "couples block 0 to block 2";
  case 4:
    s->lead[QT_RIGHT].next.matrix[0].value[0].re = 0;
    return "right lead do not couple";
  case 5:
    s->lead[QT_LEFT].n = 2;
    return "left lead has 2 orbitals";
  case 6:
    s->lead[QT_LEFT].cell.matrix[0].value[0].im = 1;
    return "cell of the left lead is not Hermitian: element (0, 0) of image (0, 0)";
  case 7:
    h->value[h->start[5]].im = NAN;
    return "the Hamiltonian: element (5, 4) of block (5, 4) of image (0, 0) is no finite number";
  case 8:
    s->lead[QT_RIGHT].next.matrix[0].value[0].im = INFINITY;
    return "coupling of the right lead: element (0, 0) of image (0, 0) is no finite number";
  default:
    return NULL;
  }
}

static void unsound_systems_are_refused_by_place(void **state)
{
  for (int kind = 0;; kind++) {
    qt_system s;

    chain(&s);
    const char *text = damage(&s, kind);

    if (text == NULL) {
      assert_int_equal(kind, 9);
      qt_system_fini(&s);
      break;
    }
    assert_int_not_equal(qt_system_check(&s, 1e-12), WEIR_OK);
    assert_non_null(strstr(weir_last_message(), text));
    qt_system_fini(&s);
  }
}

/* A sparse matrix [n, n] with 1 on its diagonal and x, its conjugate, next to it, as image (0, 0).
 */
static void put_overlap(qt_bloch *m, int64_t n, weir_c128 x)
{
  qt_entries e = {.count = 0};

  qt_bloch_fini(m);
  assert_ok(weir_alloc(1, sizeof *m->image, (void **)&m->image));
  assert_ok(weir_alloc(1, sizeof *m->matrix, (void **)&m->matrix));
  m->count = 1;
  for (int64_t i = 0; i < n; i++) {
    qt_entries_add(&e, i, i, (weir_c128){1, 0});
    if (i > 0) {
      qt_entries_add(&e, i - 1, i, x);
      qt_entries_add(&e, i, i - 1, (weir_c128){x.re, -x.im});
    }
  }
  assert_ok(qt_sparse_create(n, n, &e, &m->matrix[0]));
  qt_entries_fini(&e);
}

static weir_status check(void *system)
{
  return qt_system_check(system, 1e-12);
}

/* A ribbon two sites wide: with 1 on the diagonal and x next to it, a block has the eigenvalues
 * 1 +- |x|. */
static void overlaps_are_of_all_parts_and_positive(void **state)
{
  static const struct {
    weir_c128 device, lead;
    const char *said;
  } cases[] = {
      {{0.3, 0.3}, {0.6, 0.6}, NULL},
      {{0.6, 0.6}, {0, 0}, "block 1 of the overlap matrix is not positive definite: orbital 0"},
      {{0.6, 0.8}, {0, 0}, "block 0 of the overlap matrix is not positive definite: orbital 1"},
      {{0.9, 0.9}, {0, 0}, "not positive definite: orbital 1 of it depends on those before"},
      {{0, 0.5}, {0, 1}, "cell overlap of the right lead is not positive definite: orbital 1"},
  };
  qt_ribbon_opts o;
  qt_system s = {.n = 0};

  weir_opts_default(qt_device_find("square")->opts, sizeof o, &o);
  o.width = 2;
  assert_ok(qt_device_find("square")->build(&o, 1, &s));
  put_overlap(&s.s, s.n, (weir_c128){0.1, 0});
  assert_int_equal(qt_system_check(&s, 1e-12), WEIR_ERR_DATA);
  assert_non_null(
      strstr(weir_last_message(), "the device has an overlap matrix, the lead none, at the left"));
  put_overlap(&s.lead[QT_LEFT].overlap, 2, (weir_c128){0, 0});
  assert_int_equal(qt_system_check(&s, 1e-12), WEIR_ERR_DATA);
  assert_non_null(strstr(weir_last_message(), "at the right end"));
  put_overlap(&s.lead[QT_RIGHT].overlap, 2, (weir_c128){0, 0});
  assert_ok(qt_system_check(&s, 1e-12));
  assert_true(weir_check_faults(check, &s) >= 4);
  qt_bloch_fini(&s.s);
  assert_int_equal(qt_system_check(&s, 1e-12), WEIR_ERR_DATA);
  assert_non_null(
      strstr(weir_last_message(), "the lead has an overlap matrix, the device none, at the left"));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    put_overlap(&s.s, s.n, cases[i].device);
    put_overlap(&s.lead[QT_RIGHT].overlap, 2, cases[i].lead);
    const weir_status status = qt_system_check(&s, 1e-12);

    assert_int_equal(status, cases[i].said ? WEIR_ERR_DATA : WEIR_OK);
    assert_true(!cases[i].said || strstr(weir_last_message(), cases[i].said));
  }
  qt_system_fini(&s);
}

static void bloch_sums_have_the_phases_of_their_images(void **state)
{
  int64_t image[2][2] = {{0, 0}, {1, -2}};
  qt_entries e = {.count = 0};
  qt_sparse m[2];
  const qt_bloch sum = {.count = 2, .image = image, .matrix = m};
  const double k[2] = {0.3, 0.1}, angle = 2 * M_PI * (0.3 - 0.2);
  weir_c128 out = {0, 0};

  qt_entries_add(&e, 0, 0, (weir_c128){2, 0});
  assert_int_equal(qt_sparse_create(1, 1, &e, &m[0]), WEIR_OK);
  assert_int_equal(qt_sparse_create(1, 1, &e, &m[1]), WEIR_OK);
  qt_bloch_add(&sum, k, (weir_c128){0, 1}, &out); /* 2 i (1 + exp(i angle)) */
  assert_true(fabs(out.re + 2 * sin(angle)) < 1e-15);
  assert_true(fabs(out.im - 2 - 2 * cos(angle)) < 1e-15);
  qt_sparse_fini(&m[0]);
  qt_sparse_fini(&m[1]);
  qt_entries_fini(&e);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sound_systems_pass),
      cmocka_unit_test(digests_tell_systems_apart),
      cmocka_unit_test(unsound_systems_are_refused_by_place),
      cmocka_unit_test(overlaps_are_of_all_parts_and_positive),
      cmocka_unit_test(bloch_sums_have_the_phases_of_their_images),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
