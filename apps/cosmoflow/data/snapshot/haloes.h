/* haloes.h - the haloes of a snapshot: friends of friends of its particles, as a table. */
#ifndef CF_HALOES_H
#define CF_HALOES_H
#include "data/snapshot/fof.h"
#include "data/snapshot/snapshot.h"
#include "report/weir_report.h"

typedef struct cf_haloes_opts {
  int64_t type;      /* of the particles that are linked */
  double link;       /* in mean separations of the particles */
  int64_t particles; /* of the smallest halo */
} cf_haloes_opts;
extern const weir_opt cf_haloes_options[];

typedef struct cf_haloes {
  cf_halo *halo; /* [n], the largest first; masses in Msun/h, lengths in Mpc/h */
  int64_t n, particles;
  double link; /* Mpc/h */
} cf_haloes;

/* Finds the haloes of a snapshot; the caller ends *out. Up to 112 bytes a particle. Fails:
 * WEIR_ERR_DATA where there are no particles; WEIR_ERR_CONFIG where their unit of mass is not
 * known, as cf_snapshot_open, cf_snapshot_read, cf_fof. */
weir_status cf_haloes_find(const cf_haloes_opts *opts, const cf_snapshot_opts *snapshot,
                           const char *path, cf_haloes *out) WEIR_CHECKED;
void cf_haloes_fini(cf_haloes *h);
/* Columns of a table of haloes: head[CF_HALO_COLUMNS]; a row for each, which the caller ends. */
enum { CF_HALO_COLUMNS = 5 };
extern const char *const cf_halo_head[CF_HALO_COLUMNS];
void cf_haloes_table(const cf_haloes *h, weir_table *out);
#endif
