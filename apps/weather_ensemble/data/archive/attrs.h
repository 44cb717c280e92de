/* attrs.h - attributes that go from what is read to what is written: who made the data, under which
 * licence, and how a projection lies on the globe. */
#ifndef WX_ATTRS_H
#define WX_ATTRS_H
#include "base/weir_status.h"
#include "io/weir_netcdf.h"

enum { WX_NOTE_NAME = 64, WX_NOTE_TEXT = 256, WX_NOTE_NUMBERS = 4, WX_MAX_NOTES = 24 };

/* A text, or n numbers. */
typedef struct wx_note {
  char name[WX_NOTE_NAME], text[WX_NOTE_TEXT];
  int n;
  double number[WX_NOTE_NUMBERS];
} wx_note;

/* name: of the variable that they are of, "" for a file. */
typedef struct wx_attrs {
  char name[WX_NOTE_NAME];
  int n;
  wx_note note[WX_MAX_NOTES];
} wx_attrs;

/* Reads attributes of a variable, or of the file, but for those that do not fit; `only`: names that
 * are taken, ended by NULL (NULL: all). */
weir_status wx_attrs_read(weir_netcdf *nc, int var, const char *const *only,
                          wx_attrs *out) WEIR_CHECKED;
weir_status wx_attrs_write(const wx_attrs *notes, weir_netcdf *nc, int var) WEIR_CHECKED;
#endif
