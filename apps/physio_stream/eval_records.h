/* eval_records.h - the records of a database that are scored together: their files, what became of
 * each, and a table with a line for each. */
#ifndef PS_EVAL_RECORDS_H
#define PS_EVAL_RECORDS_H
#include "page/eval_scored.h"
#include "records/records_list.h"

/* Of eval.records; all zero where pairs are scored. */
typedef struct ps_eval_list {
  ps_records records;
  char **paths; /* [records.count, 3] of the record, its reference and its test */
} ps_eval_list;

/* Reads the list. Fails: as ps_records_list; *list is for ps_eval_list_fini either way. */
weir_status ps_eval_list_read(const ps_cfg *cfg, ps_eval_list *list) WEIR_CHECKED;
void ps_eval_list_fini(ps_eval_list *list);
/* What became of a record. */
typedef struct ps_outcome {
  weir_status status;
  char message[1024]; /* of a failure */
} ps_outcome;
/* Keeps a failure as that of record i, says it and logs it. */
void ps_eval_list_failed(ps_eval_list *list, int64_t i, const ps_outcome *o);
/* Names every record that failed; returns the status of the first, WEIR_OK where none did. */
weir_status ps_eval_list_verdict(const ps_eval_list *list) WEIR_CHECKED;

enum { PS_EVAL_COLUMNS = 16 };
extern const char *const ps_eval_head[PS_EVAL_COLUMNS];
/* Fills a line for each of the n records scored; and for each of the list that failed, in its
 * place. */
weir_status ps_eval_table_fill(const ps_eval_list *list, const ps_scored *s, int64_t n,
                               weir_table *cells) WEIR_CHECKED;
#endif
