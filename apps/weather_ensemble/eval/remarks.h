/* remarks.h - sentences about what an evaluation leaves out. */
#ifndef WX_REMARKS_H
#define WX_REMARKS_H
#include <stdint.h>
#include "base/weir_status.h"

typedef struct wx_remarks {
  char **text; /* [n], each once; no full stop */
  int64_t n, capacity;
} wx_remarks;

/* Keeps a copy of a sentence that is not there yet. Fails: WEIR_ERR_MEMORY. */
weir_status wx_remarks_add(wx_remarks *s, const char *text) WEIR_CHECKED;
/* Forgets all, and frees them. */
void wx_remarks_clear(wx_remarks *s);
#endif
