/* universe_write.h - universes as NetCDF-4 files, several in each (docs/science/cosmoflow.md lists
 * their variables). */
#ifndef CF_UNIVERSE_WRITE_H
#define CF_UNIVERSE_WRITE_H
#include "comm/weir_comm.h"
#include "data/simulation/universe.h"

/* Summary of a write. */
typedef struct cf_written {
  int64_t files, universes; /* written now          */
  int64_t kept;             /* files that were there, whole */
  int64_t again;            /* that were there, damaged or not listed, and were made again */
  double seconds;           /* of making universes, of all threads together */
} cf_written;

/* Writes the name of the file whose first universe is `first`. */
void cf_universe_file(int64_t first, char *name, size_t size);
/* Checks that the folder holds one set: every file of universes is of the same options and seed,
 * and is one that would be written, or holds other universes. A damaged file that would be written
 * is ignored: cf_universe_write replaces it. Fails: WEIR_ERR_CONFIG, naming a file of another set;
 * WEIR_ERR_DATA for one that cannot be read. */
weir_status cf_universe_check_folder(const cf_universe_opts *opts, const cf_universe_facts *f,
                                     uint64_t seed, const char *folder) WEIR_CHECKED;
/* Writes opts->universes universes from opts->first on to the folder. An existing file is kept
 * (cf_universe_check_folder checks it) where its digest matches (digests.h), otherwise written
 * again with a warning; each appears atomically. The ranks of comm (NULL: one) share the files, in
 * groups of opts->ranks, whose first rank writes; rank 0 lists them and fills *out. Collective.
 * Fails: WEIR_ERR_DATA, WEIR_ERR_STOPPED (complete files stay), as cf_generator_create and _make.
 */
weir_status cf_universe_write(const cf_universe_opts *opts, uint64_t seed, const char *folder,
                              weir_comm *comm, cf_written *out) WEIR_CHECKED;
/* Returns the number of universes that threads simulate concurrently, and the bytes that this
 * takes. */
int64_t cf_universe_workers(const cf_universe_opts *opts, const cf_universe_facts *f,
                            int64_t *bytes);
#endif
