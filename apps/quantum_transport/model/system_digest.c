/* system_digest.c - see system.h: what results of an earlier run are compared by. */
#include "model/checkpoint.h"
#include "model/system.h"

static void mix_matrix(char *digest, const qt_bloch *m)
{
  qt_digest_integers(digest, 1, &m->count);
  qt_digest_integers(digest, 2 * m->count, m->count > 0 ? m->image[0] : NULL);
  for (int64_t i = 0; i < m->count; i++) {
    const qt_sparse *x = &m->matrix[i];
    const int64_t n = qt_sparse_count(x);

    qt_digest_integers(digest, x->rows + 1, x->start);
    qt_digest_integers(digest, n, x->column);
    qt_digest_mix(digest, x->value, (size_t)n * sizeof *x->value);
  }
}

static void mix_geometry(char *digest, const qt_system *s)
{
  const int64_t flags[] = {s->periodic[1], s->periodic[2], s->is_schematic, s->n_atoms};

  qt_digest_integers(digest, sizeof flags / sizeof *flags, flags);
  qt_digest_mix(digest, s->cell, sizeof s->cell);
  for (int64_t a = 0; a < s->n_atoms; a++) {
    const int64_t orbitals[] = {s->atom[a].first, s->atom[a].n_orbitals};

    qt_digest_integers(digest, sizeof orbitals / sizeof *orbitals, orbitals);
    qt_digest_mix(digest, s->atom[a].position, sizeof s->atom[a].position);
  }
}

void qt_system_digest(const qt_system *s, char digest[65])
{
  const int64_t sizes[] = {s->particle, s->has_spin, s->one_spin, s->n, s->n_blocks};

  qt_digest_begin(digest);
  qt_digest_integers(digest, sizeof sizes / sizeof *sizes, sizes);
  qt_digest_integers(digest, s->n_blocks + 1, s->block);
  mix_matrix(digest, &s->h);
  mix_matrix(digest, &s->s);
  for (int c = 0; c < QT_LEADS; c++) {
    const qt_lead *lead = &s->lead[c];

    qt_digest_mix(digest, &lead->length, sizeof lead->length);
    mix_matrix(digest, &lead->cell);
    mix_matrix(digest, &lead->overlap);
    mix_matrix(digest, &lead->next);
    mix_matrix(digest, &lead->next_overlap);
  }
  mix_geometry(digest, s);
}
