/* weir_body_dce.h - dead-code elimination in bodies. */
#ifndef WEIR_BODY_DCE_H
#define WEIR_BODY_DCE_H
#include "graph/weir_access.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Removes expressions that no value or state needs, and renumbers the others. Fails:
 * WEIR_ERR_MEMORY. */
weir_status weir_body_dce(weir_access *a) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
