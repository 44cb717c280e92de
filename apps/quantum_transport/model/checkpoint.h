/* checkpoint.h - what checkpoints of a computation are of: digests (SHA-256 as text), by fields, of
 * all that decides its results. A run resumes from those alone whose digests are its own. */
#ifndef QT_CHECKPOINT_H
#define QT_CHECKPOINT_H
#include "graph/weir_store.h"
#include "model/lead/lead.h"

enum { QT_DIGEST = 64, QT_IDENTITY_FIELDS = 8 };

/* Digests of nothing; of what was mixed in before, and of data (bytes 0: of none). */
void qt_digest_begin(char digest[QT_DIGEST + 1]);
void qt_digest_mix(char digest[QT_DIGEST + 1], const void *data, size_t bytes);
void qt_digest_integers(char digest[QT_DIGEST + 1], int64_t n, const int64_t *x);
void qt_digest_leads(char digest[QT_DIGEST + 1], const qt_lead_opts *o);

/* A field: its array in the file, and what a run is with where it differs, as "other energies". */
typedef struct qt_identity_field {
  const char *name, *text;
} qt_identity_field;

/* All zero but the list of fields, of which there are at most QT_IDENTITY_FIELDS. */
typedef struct qt_identity {
  const qt_identity_field *field; /* [n_fields] static */
  int n_fields;
  char digest[QT_IDENTITY_FIELDS][QT_DIGEST + 1];
} qt_identity;
/* Begins an identity of no data. */
void qt_identity_begin(const qt_identity_field *field, int n_fields, qt_identity *out);
/* Adds its arrays to a store, which the identity outlives. Fails: as weir_store_add_view. */
weir_status qt_identity_add(qt_identity *identity, weir_store *store) WEIR_CHECKED;
/* Compares identities. Fails: WEIR_ERR_CONFIG naming the file and the first field that differs. */
weir_status qt_identity_compare(const qt_identity *ours, const qt_identity *theirs,
                                const char *path) WEIR_CHECKED;
/* Compares with what a file says, whatever else it has. Fails: likewise; as weir_checkpoint_load.
 */
weir_status qt_identity_check(const qt_identity *ours, const char *path) WEIR_CHECKED;

/* Finds the path of the checkpoint after so many steps in DIR, whatever its format. Fails: as
 * weir_checkpoint_path. */
weir_status qt_checkpoint_find(const char *dir, int64_t step, char *path, size_t size) WEIR_CHECKED;

#endif
