/* universe_write.h - universes as NetCDF-4 files, some in each (docs/science/cosmoflow.md lists
 * what is in them). */
#ifndef CF_UNIVERSE_WRITE_H
#define CF_UNIVERSE_WRITE_H
#include "data/universe.h"

/* What was done. */
typedef struct cf_written {
  int64_t files, universes; /* written now          */
  int64_t kept;             /* files that were there, whole */
  int64_t again;            /* that were there, damaged or not listed, and were made again */
  double seconds;           /* of making universes, of all threads together */
} cf_written;

/* Name of the file that universe `first` is the first of. */
void cf_universe_file(int64_t first, char *name, size_t size);
/* Whether the folder is one set: every file of universes in it is of the same options and seed, and
 * is one that would be written or holds universes that would not. One that would be written and is
 * damaged is passed over: cf_universe_write makes it again. Fails: WEIR_ERR_CONFIG, naming a file
 * that mixes; WEIR_ERR_DATA for one that cannot be read. */
weir_status cf_universe_check_folder(const cf_universe_opts *opts, const cf_universe_facts *f,
                                     uint64_t seed, const char *folder) WEIR_CHECKED;
/* Writes opts->universes universes from opts->first on into the folder. A file that is there is
 * kept (cf_universe_check_folder judges it) where its bytes are those that were written
 * (digests.h), else made again with a warning; each appears atomically. Fails:
 * WEIR_ERR_DATA, WEIR_ERR_STOPPED (files that are whole stay), as cf_generator_create and _make. */
weir_status cf_universe_write(const cf_universe_opts *opts, uint64_t seed, const char *folder,
                              cf_written *out) WEIR_CHECKED;
/* Universes that threads make at the same time, and bytes that this takes. */
int64_t cf_universe_workers(const cf_universe_opts *opts, const cf_universe_facts *f,
                            int64_t *bytes);
#endif
