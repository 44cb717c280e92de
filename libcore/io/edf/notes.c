/* notes.c - texts of a file to be written: labels, and time-stamped annotation lists. */
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "io/edf/write_priv.h"

enum { MAX_TEXT = 4096, TEXT_ROOM = MAX_TEXT + 64 };

bool weir_edf_plain_text(const char *text, char *out, size_t size)
{
  size_t n = 0;

  for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
    const bool micro = (at[0] == 0xC2 && at[1] == 0xB5) || (at[0] == 0xCE && at[1] == 0xBC);
    const bool degree = at[0] == 0xC2 && at[1] == 0xB0;
    const char one[2] = {(char)(*at < 32 || *at > 126 ? '?' : *at), 0};
    const char *const put = micro ? "u" : degree ? "deg" : one;

    if (n + strlen(put) >= size) {
      out[n] = 0;
      return false;
    }
    strcpy(out + n, put);
    n += strlen(put);
    at += micro || degree;
  }
  out[n] = 0;
  return true;
}

int weir_edf_time_text(int64_t ns, bool sign, char text[32])
{
  const uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
  int n =
      snprintf(text, 32, "%s%llu.%09llu",
               ns < 0 ? "-"
               : sign ? "+"
                      : "",
               (unsigned long long)(size / 1000000000), (unsigned long long)(size % 1000000000));

  while (text[n - 1] == '0') {
    n--;
  }
  n -= text[n - 1] == '.';
  text[n] = 0;
  return n;
}

weir_status weir_edf_note_add(weir_edf_notes *notes, int64_t ns, int64_t duration, const char *text)
{
  char onset[32], lasts[32] = "";
  char list[MAX_TEXT + 80];
  const size_t fit = weir_record_text_fit(text, MAX_TEXT);

  (void)weir_edf_time_text(ns, true, onset);
  if (duration >= 0) {
    (void)weir_edf_time_text(duration, false, lasts);
  }
  const int n = snprintf(list, sizeof list, "%s%s%s\x14%.*s\x14", onset, lasts[0] ? "\x15" : "",
                         lasts, (int)fit, text);

  for (int i = n - 1 - (int)fit; i < n - 1; i++) {
    list[i] = list[i] == 20 || list[i] == 21 ? ' ' : list[i];
  }
  WEIR_TRY(weir_reserve(&notes->bytes, &notes->capacity, notes->size + n + 1, 1));
  WEIR_TRY(
      weir_reserve(&notes->ends, &notes->ends_capacity, notes->count + 1, sizeof *notes->ends));
  memcpy(notes->bytes + notes->size, list, (size_t)n + 1);
  notes->size += n + 1;
  notes->ends[notes->count++] = notes->size;
  notes->largest = n + 1 > notes->largest ? n + 1 : notes->largest;
  return WEIR_OK;
}

static weir_status add_event(weir_edf_notes *notes, const weir_record_event *e, int64_t shift)
{
  const char *const mnemonic = weir_annotation_mnemonic(e->code);
  const char *const text = e->text ? e->text : "";
  char full[TEXT_ROOM];

  if (e->code == WEIR_RECORD_NOTE) {
    (void)snprintf(full, sizeof full, "%.*s", (int)weir_record_text_fit(text, MAX_TEXT), text);
  } else if (mnemonic[0]) {
    (void)snprintf(full, sizeof full, "%s%s%.*s", mnemonic, text[0] ? " " : "",
                   (int)weir_record_text_fit(text, MAX_TEXT), text);
  } else {
    (void)snprintf(full, sizeof full, "code %d%s%.*s", e->code, text[0] ? " " : "",
                   (int)weir_record_text_fit(text, MAX_TEXT), text);
  }
  return full[0] ? weir_edf_note_add(notes, e->time + shift, e->duration, full) : WEIR_OK;
}

weir_status weir_edf_notes_add(weir_edf_notes *notes, const weir_record_events *events,
                               const char *comments, int64_t shift)
{
  for (const char *at = comments ? comments : ""; *at;) {
    const size_t n = strcspn(at, "\n");
    const size_t blank = strspn(at, " ") < n ? strspn(at, " ") : n;
    char line[TEXT_ROOM];

    (void)snprintf(line, sizeof line, "# %.*s", n - blank < MAX_TEXT ? (int)(n - blank) : MAX_TEXT,
                   at + blank);
    if (n > blank) {
      WEIR_TRY(weir_edf_note_add(notes, shift, -1, line));
    }
    at += n + (at[n] == '\n');
  }
  for (int64_t i = 0; events && i < events->count; i++) {
    WEIR_TRY(add_event(notes, &events->items[i], shift));
  }
  return WEIR_OK;
}

void weir_edf_notes_fini(weir_edf_notes *notes)
{
  weir_free(&notes->bytes);
  weir_free(&notes->ends);
  *notes = (weir_edf_notes){0};
}
