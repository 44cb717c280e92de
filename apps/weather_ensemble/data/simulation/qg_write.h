/* qg_write.h - a simulation as two archives. */
#ifndef WX_QG_WRITE_H
#define WX_QG_WRITE_H
#include "comm/weir_comm.h"
#include "data/simulation/qg_ensemble.h"

/* Simulates and writes the forecasts and the truth (data/archive/archive.h), start by start: both
 * files are there at the end, or none. The ranks of comm (NULL: one) share the forecasts, each
 * computes the truth, and rank 0 writes. Collective. Fails: as wx_qg_ensemble_create, _compute,
 * wx_archive_create and weir_items_run. */
weir_status wx_qg_write(const wx_qg_opts *opts, const weir_exec_cfg *exec, uint64_t seed,
                        weir_comm *comm, const char *forecasts, const char *truth) WEIR_CHECKED;
#endif
