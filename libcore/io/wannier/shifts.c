/* shifts.c - seed_wsvec.dat: for each element the images R + T at the smallest distance, which
 * share it equally. */
#include <string.h>
#include "base/weir_alloc.h"
#include "io/wannier/wannier_priv.h"

enum { MAX_IMAGES = 125 }; /* for each lattice vector: up to two supercells to each side */

typedef struct shifting {
  weir_io_numbers *text;
  weir_wannier *w;
  weir_wannier_vectors vectors;
  int64_t capacity; /* of h, in elements */
  weir_c128 *h;     /* [vectors.count, n, n] */
  bool *seen;       /* [n_r, n, n] of w */
} shifting;

/* Adds a share of an element at R + T. */
static weir_status add(shifting *s, const int64_t r[3], int64_t element, weir_c128 share)
{
  const int64_t square = s->w->n * s->w->n;
  bool found = false;
  int64_t at = weir_wannier_vectors_find(&s->vectors, r, &found);

  if (!found) {
    if (s->vectors.count >= MAX_IMAGES * s->w->n_r) {
      return weir_io_numbers_refuse(s->text,
                                    "the shifts lead to more than %d lattice vectors for each of "
                                    "the Hamiltonian: they belong to another Hamiltonian",
                                    MAX_IMAGES);
    }
    WEIR_TRY(weir_wannier_vectors_add(&s->vectors, r, at));
    WEIR_TRY(weir_reserve(&s->h, &s->capacity, s->vectors.count * square, sizeof *s->h));
  }
  weir_c128 *const h = &s->h[s->vectors.order[at] * square + element];

  h->re += share.re;
  h->im += share.im;
  return WEIR_OK;
}

/* R, m, n of the next element, as its element in the Hamiltonian. */
static weir_status read_element(shifting *s, int64_t r[3], int64_t *index, int64_t *element)
{
  int64_t m = 0, n = 0;

  WEIR_TRY(weir_io_numbers_row(s->text, "the shifts of the last element"));
  WEIR_TRY(weir_wannier_read_vector(s->text, r));
  WEIR_TRY(weir_wannier_read_function(s->text, s->w, &m));
  WEIR_TRY(weir_wannier_read_function(s->text, s->w, &n));
  WEIR_TRY(weir_io_numbers_row_end(s->text));
  *index = weir_wannier_find(s->w, r);
  *element = m * s->w->n + n;
  if (*index < 0) {
    return weir_io_numbers_refuse(s->text,
                                  "the Hamiltonian has no lattice vector (%lld, %lld, "
                                  "%lld): the two files belong to different runs",
                                  (long long)r[0], (long long)r[1], (long long)r[2]);
  }
  bool *const seen = &s->seen[*index * s->w->n * s->w->n + *element];

  if (*seen) {
    return weir_io_numbers_refuse(s->text, "the shifts of this element are given twice");
  }
  *seen = true;
  return WEIR_OK;
}

static weir_status shift_element(shifting *s)
{
  const int64_t square = s->w->n * s->w->n;
  int64_t r[3], index = 0, element = 0, count = 0;

  WEIR_TRY(read_element(s, r, &index, &element));
  const weir_c128 h = s->w->h[index * square + element];

  WEIR_TRY(weir_io_numbers_row(s->text, "the number of shifts"));
  WEIR_TRY(weir_io_numbers_int(s->text, "the number of shifts", 1, 1000, &count));
  WEIR_TRY(weir_io_numbers_row_end(s->text));
  const weir_c128 share = {h.re / (double)count, h.im / (double)count};

  for (int64_t i = 0; i < count; i++) {
    int64_t t[3];

    WEIR_TRY(weir_io_numbers_row(s->text, "the last shift"));
    WEIR_TRY(weir_wannier_read_vector(s->text, t));
    WEIR_TRY(weir_io_numbers_row_end(s->text));
    WEIR_TRY(add(s, (const int64_t[]){r[0] + t[0], r[1] + t[1], r[2] + t[2]}, element, share));
  }
  return WEIR_OK;
}

weir_status weir_wannier_read_shifts(const char *path, weir_wannier *w)
{
  shifting s = {.w = w};
  const int64_t elements = w->n_r * w->n * w->n;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(weir_io_numbers_open(path, &s.text), done);
  WEIR_TRY_GOTO(weir_alloc(elements, sizeof *s.seen, (void **)&s.seen), done);
  WEIR_TRY_GOTO(weir_io_numbers_line(s.text, "the first line, a comment"), done);
  for (int64_t e = 0; e < elements; e++) {
    WEIR_TRY_GOTO(shift_element(&s), done);
  }
  WEIR_TRY_GOTO(weir_io_numbers_end(s.text), done);
  WEIR_TRY_GOTO(weir_wannier_take(&s.vectors, s.h, path, w), done);
  w->shifted = true;
done:
  weir_io_numbers_close(&s.text);
  weir_wannier_vectors_fini(&s.vectors);
  weir_free(&s.h);
  weir_free(&s.seen);
  return status;
}
