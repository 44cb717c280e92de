/* predict_watch.h - daily operation: the files of a folder that fills, each predicted exactly once.
 */
#ifndef WX_PREDICT_WATCH_H
#define WX_PREDICT_WATCH_H
#include "app/weir_job.h"

/* Predicts the files of predict.watch.directory as they come, each into a folder of its own in
 * --out, NAME-DIGEST: by a process that performs a plain predict (watch/attempt.h) and whose folder
 * gets its name when it is whole. An input is a content, by its SHA-256: the same under another
 * name is not predicted again, a file that is rewritten is another input. State: --out/ledger.csv
 * (watch/ledger.h). --out is locked; a killed program continues. Fails: WEIR_ERR_STOPPED after a
 * signal, when the file at work is done; with watch.once WEIR_ERR_DATA where files failed;
 * WEIR_ERR_SPACE; as weir_job_begin, wx_ledger_open. */
weir_status wx_predict_watch(weir_job *j) WEIR_CHECKED;
#endif
