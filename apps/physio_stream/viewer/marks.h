/* marks.h - annotations that a viewer shows and edits: of a file, or events of a query. */
#ifndef PS_MARKS_H
#define PS_MARKS_H
#include <stdio.h>
#include "io/weir_annotation.h"

typedef struct ps_marks {
  char name[256];         /* of the file that they are saved as */
  int64_t fs_num, fs_den; /* units of time per second           */
  weir_annotations a;     /* a.fs_num: 0 where the file does not state it; owned */
  char *text;             /* of events, with the offsets of their texts; owned   */
  int64_t *offset;
  int64_t text_size, text_capacity, item_capacity, offset_capacity;
} ps_marks;

/* Reads an annotation file; fs: units of time per second where it states none. Fails: as
 * weir_annotations_read. */
weir_status ps_marks_read(const char *path, int64_t fs_num, int64_t fs_den,
                          ps_marks *m) WEIR_CHECKED;
/* Begins marks that are given one by one. */
void ps_marks_begin(const char *name, int64_t fs_num, int64_t fs_den, ps_marks *m);
/* Appends one; text "": none, of more than 255 bytes the beginning. Fails: WEIR_ERR_MEMORY. */
weir_status ps_marks_add(ps_marks *m, int64_t time, int code, const char *text) WEIR_CHECKED;
/* Ends them: texts stay where they are. */
void ps_marks_end(ps_marks *m);
void ps_marks_fini(ps_marks *m);

/* Writes a text as a JSON string, each byte a character: bytes of any encoding are kept. */
void ps_marks_put_text(const char *text, FILE *out);
/* Writes the marks as a JSON object: "name", "fs" [numerator, denominator], "resolution" (as an
 * annotation file states it, "" where it does not), "types" [code, mnemonic, text] of codes that
 * the file defines, "t" (times, each but the first as the difference to the one before), "code",
 * and of marks that have one [index, value] in "subtype", "channel", "number" and "aux". */
void ps_marks_put(const ps_marks *m, FILE *out);
/* Writes the member "codes" of a JSON object: [code, mnemonic, meaning] of those of the standard.
 */
void ps_marks_put_codes(FILE *out);
#endif
