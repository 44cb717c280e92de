/* remarks.c - see remarks.h. */
#include "eval/remarks.h"
#include <string.h>
#include "base/weir_alloc.h"

weir_status wx_remarks_add(wx_remarks *s, const char *text)
{
  for (int64_t k = 0; k < s->n; k++) {
    if (strcmp(s->text[k], text) == 0) {
      return WEIR_OK;
    }
  }
  WEIR_TRY(weir_reserve(&s->text, &s->capacity, s->n + 1, sizeof *s->text));
  WEIR_TRY(weir_strdup(text, &s->text[s->n]));
  s->n++;
  return WEIR_OK;
}

void wx_remarks_clear(wx_remarks *s)
{
  for (int64_t k = 0; k < s->n; k++) {
    weir_free(&s->text[k]);
  }
  weir_free(&s->text);
  s->n = s->capacity = 0;
}
