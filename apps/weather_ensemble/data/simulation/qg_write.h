/* qg_write.h - a simulation as two archives. */
#ifndef WX_QG_WRITE_H
#define WX_QG_WRITE_H
#include "data/simulation/qg_ensemble.h"

/* Simulates and writes the forecasts and the truth (data/archive/archive.h), start by start: both
 * files are there at the end, or none. Fails: as wx_qg_ensemble_create, _compute and
 * wx_archive_create. */
weir_status wx_qg_write(const wx_qg_opts *opts, const weir_exec_cfg *exec, uint64_t seed,
                        const char *forecasts, const char *truth) WEIR_CHECKED;
#endif
