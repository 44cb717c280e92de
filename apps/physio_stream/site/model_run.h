/* model_run.h - a model at work on the records of a site. */
#ifndef PS_SITE_MODEL_RUN_H
#define PS_SITE_MODEL_RUN_H
#include "sandbox/sandbox.h"
#include "site/model.h"

/* What a run takes; all borrowed. */
typedef struct ps_model_job {
  const ps_study *study;
  const ps_dataset *dataset;
  const uint8_t *selected; /* [records] */
  const ps_sandbox_limits *limits;
  const weir_string_list *folders; /* of this machine that the model sees */
  const char *out;                 /* gets predictions/ and model.log, which stay at the site */
} ps_model_job;

/* Runs the model on the selected records in a sandbox: it sees their headers and signals, not the
 * annotations, and the file RECORDS that lists them. What it wrote is then in
 * OUT/predictions/RECORD.SUFFIX. Fails: as ps_sandbox_run; WEIR_ERR_DATA where the model fails,
 * exceeds a limit, or leaves a record without a result (the message says how it ended and where its
 * output is), WEIR_ERR_CONFIG for folders that are no absolute paths. */
weir_status ps_model_run(const ps_model_job *job) WEIR_CHECKED;
/* Adds the limits and folders to the digest of what the owner of the data approves. */
void ps_sandbox_digest(const ps_sandbox_limits *limits, const weir_string_list *folders,
                       char hex[65]);
#endif
