/* snapshot.h - particles of simulations of other programs: HDF5 in the layout of Gadget (Gadget-2
 * to 4, AREPO and GIZMO, with them CAMELS and Quijote) and of SWIFT, in one file or several.
 *
 * Lengths are comoving, Mpc/h. Units are those that the file states; where it states none an option
 * has to. A snapshot is used by one thread. All functions fail with WEIR_ERR_DATA, naming file and
 * object, for what is missing, contradictory or damaged. */
#ifndef CF_SNAPSHOT_H
#define CF_SNAPSHOT_H
#include "data/snapshot/snapshot_info.h"

enum { CF_SNAPSHOT_BLOCK = 1 << 17 /* particles that are read at once */ };

typedef struct cf_snapshot cf_snapshot;

/* Opens a snapshot by a file of it; of several, NAME.0.hdf5 to NAME.N.hdf5 in its folder, any.
 * Fails: WEIR_ERR_CONFIG where neither file nor options state a unit, or they contradict each
 * other; WEIR_ERR_UNSUPPORTED without NetCDF, by which HDF5 is read. */
weir_status cf_snapshot_open(const char *path, const cf_snapshot_opts *opts,
                             cf_snapshot **out) WEIR_CHECKED;
/* Accepts NULL. */
void cf_snapshot_close(cf_snapshot **s);
/* Borrowed. */
const cf_snapshot_info *cf_snapshot_get(const cf_snapshot *s);

/* Receives n particles, at most CF_SNAPSHOT_BLOCK: position [n, 3] in Mpc/h, in [0, box), and mass
 * [n] in the unit of mass of the file. */
typedef weir_status (*cf_snapshot_visit)(void *context, int64_t n, const double *position,
                                         const double *mass);
/* Calls visit for all particles of a type, block by block in the order of the files, until it
 * fails. A type of which there are none is not visited. Fails: as visit; for positions or masses
 * that are not finite, masses below 0, and positions more than a side outside of the box. */
weir_status cf_snapshot_read(cf_snapshot *s, int type, cf_snapshot_visit visit,
                             void *context) WEIR_CHECKED;

/* Lists the snapshots in files, folders and lists of files (.lst), by the path of the first file of
 * each; free *paths[n] and *paths with weir_free. Fails: WEIR_ERR_DATA, naming formats that are not
 * read: bigfile (FastPM, MP-Gadget), and Gadget's binary formats 1 and 2. */
weir_status cf_snapshot_list(const weir_string_list *input, char ***paths, int64_t *n) WEIR_CHECKED;
/* Writes to `first` the path of the first file of the snapshot that a file belongs to: NAME.0.hdf5
 * for NAME.3.hdf5 of several files, else the path itself. Fails: WEIR_ERR_DATA. */
weir_status cf_snapshot_first(const char *path, char *first, int64_t size) WEIR_CHECKED;
#endif
