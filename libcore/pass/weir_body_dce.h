/* weir_body_dce.h - expressions that nothing needs. */
#ifndef WEIR_BODY_DCE_H
#define WEIR_BODY_DCE_H
#include "graph/weir_access.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Removes expressions that no value or state needs, so that engines compute nothing in vain; the
 * others close up. Fails: WEIR_ERR_MEMORY. */
weir_status weir_body_dce(weir_access *a) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
