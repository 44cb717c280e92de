/* weir_flow.h - the page of a flow: the steps that workflows/flow.sh performs, and what they have
 * found. */
#ifndef WEIR_FLOW_H
#define WEIR_FLOW_H
#include "conf/weir_cli.h"
#ifdef __cplusplus
extern "C" {
#endif

/* The command `report DIR`: writes DIR/index.html, where DIR/flow is what flow.sh keeps of the
 * steps (workflows/flow/state.sh describes the files). The page has the state, times and host of
 * each step as it was last written, the digests of programs, configurations and inputs, the first
 * table and figures of the step's own page, links, and of a step that failed the end of its log. It
 * reads files only, also of a flow that is at work or was stopped; same files, same bytes. Local.
 * Fails: WEIR_ERR_CONFIG (not one argument, or --out), WEIR_ERR_DATA (no flow in DIR, or a damaged
 * file, naming it), WEIR_ERR_MEMORY; as weir_report_commit. */
weir_status weir_flow_report(const weir_cli *cli) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
