/* lead_scores.h - what a quantity and lead were scored with, as bytes: ranks share quantities and
 * leads, and rank 0 makes tables, maps and pages of them. */
#ifndef WX_LEAD_SCORES_H
#define WX_LEAD_SCORES_H
#include "comm/weir_items.h"
#include "eval/case_study.h"

/* Appends what wx_verify_lead left in v, and the case study where there is one (study->truth is
 * set). Fails: WEIR_ERR_MEMORY. */
weir_status wx_lead_scores_put(wx_verify *v, wx_case_study *study, weir_bytes *out) WEIR_CHECKED;
/* Sets v, opened with the same options and archives, as wx_verify_lead left it where it was put,
 * except that its models are not fitted, and *study, which the caller frees with
 * wx_case_study_fini. Fails: WEIR_ERR_SHAPE where the bytes are not of such a v, WEIR_ERR_MEMORY.
 */
weir_status wx_lead_scores_get(const char *data, int64_t n, wx_verify *v,
                               wx_case_study *study) WEIR_CHECKED;
#endif
