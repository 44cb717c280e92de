/* transmission_test.h - small systems whose transmission is known. Tests only. */
#ifndef QT_TRANSMISSION_TEST_H
#define QT_TRANSMISSION_TEST_H
#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "model/system_check.h"
#include "model/transmission/transmission.h"

/* A square lattice of sites, `width` across and `length` along x; leads continue its ends. */
typedef struct ribbon {
  int64_t width, length;
  double onsite, hopping;
  double overlap;               /* of neighbours along x                                       */
  double periodic;              /* hopping from the last row to the first of the next image    */
  double lead_onsite[QT_LEADS]; /* added to sites of the leads                                 */
  double disorder;              /* sites of the device: uniform in +-disorder / 2              */
  bool mirrored;                /* x reversed                                                  */
  int64_t merge;                /* inner slices to a block; 0: 1                               */
  qt_particle particle;
  double (*site)(int64_t x, int64_t y); /* added to a site; NULL: 0                    */
  double (*bond)(int64_t x, int64_t y); /* factor of the hopping from x to x + 1       */
} ribbon;

/* Images of a matrix from their elements; all elements' memory is freed. */
static inline void ribbon_images(int64_t n, int64_t count, qt_entries *e, qt_bloch *out)
{
  static const int64_t image[3][2] = {{0, 0}, {0, 1}, {0, -1}};

  assert_ok(weir_alloc(count, sizeof *out->image, (void **)&out->image));
  assert_ok(weir_alloc(count, sizeof *out->matrix, (void **)&out->matrix));
  out->count = count;
  for (int64_t i = 0; i < count; i++) {
    memcpy(out->image[i], image[i], sizeof image[i]);
    assert_ok(qt_sparse_create(n, n, &e[i], &out->matrix[i]));
    qt_entries_fini(&e[i]);
  }
}

static inline void ribbon_add_slice(const ribbon *r, int64_t x, double shift, qt_entries e[3])
{
  const int64_t first = x * r->width;

  for (int64_t y = 0; y < r->width; y++) {
    qt_entries_add(&e[0], first + y, first + y, (weir_c128){r->onsite + shift, 0});
    if (y + 1 < r->width) {
      qt_entries_add(&e[0], first + y, first + y + 1, (weir_c128){r->hopping, 0});
      qt_entries_add(&e[0], first + y + 1, first + y, (weir_c128){r->hopping, 0});
    }
  }
  if (r->periodic != 0) {
    qt_entries_add(&e[1], first + r->width - 1, first, (weir_c128){r->periodic, 0});
    qt_entries_add(&e[2], first, first + r->width - 1, (weir_c128){r->periodic, 0});
  }
}

static inline void ribbon_add_bond(int64_t a, int64_t b, double value, qt_entries *e)
{
  qt_entries_add(e, a, b, (weir_c128){value, 0});
  qt_entries_add(e, b, a, (weir_c128){value, 0});
}

/* Hamiltonian and overlap of the device. */
static inline void ribbon_device(const ribbon *r, qt_system *s)
{
  qt_entries e[3] = {{.count = 0}, {.count = 0}, {.count = 0}}, overlap = {.count = 0};

  for (int64_t x = 0; x < r->length; x++) {
    const int64_t from = r->mirrored ? r->length - 1 - x : x;
    const int64_t bond = r->mirrored ? from - 1 : from;

    ribbon_add_slice(r, x, 0, e);
    for (int64_t y = 0; y < r->width; y++) {
      const int64_t at = x * r->width + y;
      const double noise =
          r->disorder * (weir_random_uniform(4, 0, 0, (uint64_t)(from * r->width + y)) - 0.5);
      const double more = noise + (r->site != NULL ? r->site(from, y) : 0);

      qt_entries_add(&e[0], at, at, (weir_c128){more, 0});
      qt_entries_add(&overlap, at, at, (weir_c128){1, 0});
      if (x + 1 < r->length) {
        ribbon_add_bond(at, at + r->width, r->hopping * (r->bond != NULL ? r->bond(bond, y) : 1),
                        &e[0]);
        ribbon_add_bond(at, at + r->width, r->overlap, &overlap);
      }
    }
  }
  ribbon_images(s->n, r->periodic != 0 ? 3 : 1, e, &s->h);
  if (r->overlap != 0) {
    ribbon_images(s->n, 1, &overlap, &s->s);
  }
  qt_entries_fini(&overlap);
}

static inline void ribbon_lead(const ribbon *r, int c, qt_lead *lead)
{
  qt_entries e[3] = {{.count = 0}, {.count = 0}, {.count = 0}}, next = {.count = 0};
  qt_entries overlap[2] = {{.count = 0}, {.count = 0}};
  const double shift = r->lead_onsite[r->mirrored ? 1 - c : c];

  lead->n = r->width;
  lead->length = 1;
  ribbon_add_slice(r, 0, shift, e);
  for (int64_t y = 0; y < r->width; y++) {
    qt_entries_add(&next, y, y, (weir_c128){r->hopping, 0});
    qt_entries_add(&overlap[0], y, y, (weir_c128){1, 0});
    qt_entries_add(&overlap[1], y, y, (weir_c128){r->overlap, 0});
  }
  ribbon_images(r->width, r->periodic != 0 ? 3 : 1, e, &lead->cell);
  ribbon_images(r->width, 1, &next, &lead->next);
  if (r->overlap != 0) {
    ribbon_images(r->width, 1, &overlap[0], &lead->overlap);
    ribbon_images(r->width, 1, &overlap[1], &lead->next_overlap);
  }
  qt_entries_fini(&overlap[0]);
  qt_entries_fini(&overlap[1]);
}

static inline void ribbon_create(const ribbon *r, qt_system *s)
{
  const int64_t merge = r->merge > 0 ? r->merge : 1;

  *s = (qt_system){.particle = r->particle, .n = r->width * r->length};
  assert_ok(weir_alloc(r->length + 1, sizeof *s->block, (void **)&s->block));
  for (int64_t x = 0; x < r->length; x++) { /* blocks begin at 0, 1, 1 + merge, ..., length - 1 */
    if (x == 0 || x == r->length - 1 || (x - 1) % merge == 0) {
      s->block[s->n_blocks++] = x * r->width;
    }
  }
  s->block[s->n_blocks] = s->n;
  ribbon_device(r, s);
  for (int c = 0; c < QT_LEADS; c++) {
    ribbon_lead(r, c, &s->lead[c]);
  }
  assert_ok(qt_system_check(s, 1e-12));
}

/* Runs a ribbon at energies, k = 0 unless given. */
static inline weir_status ribbon_transport(const ribbon *r, const qt_transport_spec *spec,
                                           qt_transport *out)
{
  qt_system s;

  ribbon_create(r, &s);
  const weir_status status = qt_transport_create(&s, spec, out);

  qt_system_fini(&s);
  return status;
}

static inline qt_transport_spec ribbon_spec(int method, int64_t n, const double *energy)
{
  static const double none[1][2] = {{0, 0}};
  qt_transport_spec spec = {.n_k = 1, .k = none, .n_energies = n, .energy = energy, .threads = 1};

  weir_opts_default(qt_lead_options, sizeof spec.lead, &spec.lead);
  spec.lead.method = method;
  return spec;
}
#endif
