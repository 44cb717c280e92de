/* system_digest.c - see system.h: what results of an earlier run are compared by. */
#include <string.h>

#include "base/weir_file.h"
#include "model/system.h"

enum { DIGEST = 64 };

static void mix(char *digest, const void *data, size_t bytes)
{
  char both[2 * DIGEST + 1];

  memcpy(both, digest, DIGEST);
  weir_sha256(bytes > 0 ? data : "", bytes, both + DIGEST);
  weir_sha256(both, sizeof both - 1, digest);
}

static void mix_numbers(char *digest, int64_t n, const int64_t *x)
{
  mix(digest, x, (size_t)n * sizeof *x);
}

static void mix_matrix(char *digest, const qt_bloch *m)
{
  mix_numbers(digest, 1, &m->count);
  mix_numbers(digest, 2 * m->count, m->count > 0 ? m->image[0] : NULL);
  for (int64_t i = 0; i < m->count; i++) {
    const qt_sparse *x = &m->matrix[i];
    const int64_t n = qt_sparse_count(x);

    mix_numbers(digest, x->rows + 1, x->start);
    mix_numbers(digest, n, x->column);
    mix(digest, x->value, (size_t)n * sizeof *x->value);
  }
}

static void mix_geometry(char *digest, const qt_system *s)
{
  const int64_t flags[] = {s->periodic[1], s->periodic[2], s->is_schematic, s->n_atoms};

  mix_numbers(digest, sizeof flags / sizeof *flags, flags);
  mix(digest, s->cell, sizeof s->cell);
  for (int64_t a = 0; a < s->n_atoms; a++) {
    const int64_t orbitals[] = {s->atom[a].first, s->atom[a].n_orbitals};

    mix_numbers(digest, sizeof orbitals / sizeof *orbitals, orbitals);
    mix(digest, s->atom[a].position, sizeof s->atom[a].position);
  }
}

void qt_system_digest(const qt_system *s, char digest[65])
{
  const int64_t sizes[] = {s->particle, s->has_spin, s->one_spin, s->n, s->n_blocks};

  weir_sha256("", 0, digest);
  mix_numbers(digest, sizeof sizes / sizeof *sizes, sizes);
  mix_numbers(digest, s->n_blocks + 1, s->block);
  mix_matrix(digest, &s->h);
  mix_matrix(digest, &s->s);
  for (int c = 0; c < QT_LEADS; c++) {
    const qt_lead *lead = &s->lead[c];

    mix(digest, &lead->length, sizeof lead->length);
    mix_matrix(digest, &lead->cell);
    mix_matrix(digest, &lead->overlap);
    mix_matrix(digest, &lead->next);
    mix_matrix(digest, &lead->next_overlap);
  }
  mix_geometry(digest, s);
}
