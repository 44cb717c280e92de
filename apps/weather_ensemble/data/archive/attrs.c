/* attrs.c - see attrs.h. */
#include "data/archive/attrs.h"
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"

static bool is_wanted(const char *name, const char *const *only)
{
  bool is = only == NULL && name[0] != '_'; /* those are the library's */

  for (; only != NULL && *only != NULL; only++) {
    is = is || strcmp(*only, name) == 0;
  }
  return is;
}

static weir_status take_text(weir_netcdf *nc, int var, wx_attrs *out, wx_note *note)
{
  char *text = NULL;

  if (weir_netcdf_get_text(nc, var, note->name, &text) == WEIR_OK && strlen(text) < WX_NOTE_TEXT) {
    (void)snprintf(note->text, sizeof note->text, "%s", text);
    out->n++;
  }
  weir_free(&text);
  return WEIR_OK;
}

weir_status wx_attrs_read(weir_netcdf *nc, int var, const char *const *only, wx_attrs *out)
{
  int n = 0;

  *out = (wx_attrs){.n = 0};
  WEIR_TRY(weir_netcdf_count_attributes(nc, var, &n));
  for (int i = 0; i < n && out->n < WX_MAX_NOTES; i++) {
    wx_note *const note = &out->note[out->n];
    int64_t count = 0;
    bool text = false;

    *note = (wx_note){.n = 0};
    if (weir_netcdf_attribute(nc, var, i, note->name, sizeof note->name, &count, &text) !=
            WEIR_OK ||
        !is_wanted(note->name, only)) {
      continue;
    }
    if (text) {
      WEIR_TRY(take_text(nc, var, out, note));
    } else if (count >= 1 && count <= WX_NOTE_NUMBERS) {
      note->n = (int)count;
      WEIR_TRY(weir_netcdf_get_numbers(nc, var, note->name, note->number, count));
      out->n++;
    }
  }
  return WEIR_OK;
}

weir_status wx_attrs_write(const wx_attrs *notes, weir_netcdf *nc, int var)
{
  for (int i = 0; i < notes->n; i++) {
    const wx_note *const note = &notes->note[i];

    WEIR_TRY(note->n > 0
                 ? weir_netcdf_put_numbers(nc, var, note->name, WEIR_F64, note->number, note->n)
                 : weir_netcdf_put_text(nc, var, note->name, note->text));
  }
  return WEIR_OK;
}
