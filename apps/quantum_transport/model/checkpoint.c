/* checkpoint.c - see checkpoint.h. */
#include "model/checkpoint.h"

#include <string.h>

#include "base/weir_file.h"
#include "train/weir_checkpoint.h"

void qt_digest_begin(char digest[QT_DIGEST + 1])
{
  weir_sha256("", 0, digest);
}

void qt_digest_mix(char digest[QT_DIGEST + 1], const void *data, size_t bytes)
{
  char both[2 * QT_DIGEST + 1];

  memcpy(both, digest, QT_DIGEST);
  weir_sha256(bytes > 0 ? data : "", bytes, both + QT_DIGEST);
  weir_sha256(both, 2 * QT_DIGEST, digest);
}

void qt_digest_integers(char digest[QT_DIGEST + 1], int64_t n, const int64_t *x)
{
  qt_digest_mix(digest, x, (size_t)n * sizeof *x);
}

void qt_digest_leads(char digest[QT_DIGEST + 1], const qt_lead_opts *o)
{
  const double real[] = {o->eta,           o->eta_phonons,      o->eta_relative, o->tolerance,
                         o->residual,      o->unit_circle,      o->mode_error,   o->contour.outer,
                         o->contour.inner, o->contour.residual, o->slepc.outer};
  const int64_t whole[] = {o->method, o->max_steps, o->contour.points, o->contour.max_cells,
                           o->slepc.targets};

  qt_digest_mix(digest, real, sizeof real);
  qt_digest_mix(digest, whole, sizeof whole);
}

void qt_identity_begin(const qt_identity_field *field, int n_fields, qt_identity *out)
{
  *out = (qt_identity){.field = field, .n_fields = n_fields};
  for (int i = 0; i < n_fields; i++) {
    qt_digest_begin(out->digest[i]);
  }
}

weir_status qt_identity_add(qt_identity *identity, weir_store *store)
{
  for (int i = 0; i < identity->n_fields; i++) {
    const weir_tensor t =
        weir_tensor_wrap(identity->digest[i], WEIR_U8, 1, (const int64_t[]){QT_DIGEST});

    WEIR_TRY(weir_store_add_view(store, identity->field[i].name, &t));
  }
  return WEIR_OK;
}

weir_status qt_identity_compare(const qt_identity *ours, const qt_identity *theirs,
                                const char *path)
{
  for (int i = 0; i < ours->n_fields; i++) {
    if (memcmp(ours->digest[i], theirs->digest[i], QT_DIGEST) != 0) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "%s: a checkpoint of a run with %s: give what it was started with, "
                       "--overwrite to begin again, or another --out",
                       path, ours->field[i].text);
    }
  }
  return WEIR_OK;
}

weir_status qt_identity_check(const qt_identity *ours, const char *path)
{
  qt_identity theirs;
  weir_store *store = NULL;
  weir_status status = WEIR_OK;

  qt_identity_begin(ours->field, ours->n_fields, &theirs);
  WEIR_TRY(weir_store_create(&store));
  WEIR_TRY_GOTO(qt_identity_add(&theirs, store), done);
  WEIR_TRY_GOTO(weir_checkpoint_load(&(weir_checkpoint){.store = store}, path, true), done);
  status = qt_identity_compare(ours, &theirs, path);
done:
  weir_store_destroy(&store);
  return status;
}

weir_status qt_checkpoint_find(const char *dir, int64_t step, char *path, size_t size)
{
  WEIR_TRY(weir_checkpoint_path(dir, step, WEIR_CHECKPOINT_NETCDF, path, size));
  return weir_file_exists(path) ? WEIR_OK
                                : weir_checkpoint_path(dir, step, WEIR_CHECKPOINT_RAW, path, size);
}
