/* qg_write.h - a simulation as two archives. */
#ifndef WX_QG_WRITE_H
#define WX_QG_WRITE_H
#include "comm/weir_comm.h"
#include "data/simulation/qg_ensemble.h"

/* Files to write. */
typedef struct wx_qg_files {
  const char *forecasts, *truth;
  const char *invariants; /* of the model that forecasts, where 2t is simulated */
  const char *stations;   /* observations of 2t, where there are stations */
} wx_qg_files;

/* Simulates and writes the forecasts and the truth (data/archive/archive.h), start by start, and
 * surface and observations where there are any: all files are there at the end, or none. The ranks
 * of comm (NULL: one) share the forecasts, each computes the truth, and rank 0 writes. Collective.
 * Fails: as wx_qg_ensemble_create, _compute, wx_archive_create and weir_items_run. */
weir_status wx_qg_write(const wx_qg_opts *opts, const weir_exec_cfg *exec, uint64_t seed,
                        weir_comm *comm, const wx_qg_files *files) WEIR_CHECKED;
#endif
