/* records_pool.h - what several recordings gave together: records.csv and the report. */
#ifndef PS_RECORDS_POOL_H
#define PS_RECORDS_POOL_H
#include "comm/weir_comm.h"
#include "records/record.h"

/* Gives rank 0 what became of the recordings that other ranks ran. Collective. Fails on all ranks
 * alike: WEIR_ERR_MEMORY, WEIR_ERR_EXTERNAL. */
weir_status ps_records_collect(weir_comm *comm, ps_records *list) WEIR_CHECKED;

/* Writes DIR/records.csv (record, status, stream, unit, rate_hz, slots, present, min, mean, max: a
 * line a result of each recording, then `all` for each stream) and DIR/report.html with the same.
 * Fails: WEIR_ERR_DATA, WEIR_ERR_MEMORY. */
weir_status ps_records_pool_write(const ps_records *list, const char *dir) WEIR_CHECKED;
#endif
