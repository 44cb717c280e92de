/* annotation_codes.c - look-ups in the table of annotation codes. */
#include "io/weir_annotation.h"

typedef struct row {
  const char *mnemonic;
  bool beat;
} row;

static const row rows[WEIR_ANNOTATION_MAX + 1] = {
#define X(id, code, mnemonic, beat, text) [code] = {mnemonic, beat},
    WEIR_ANNOTATION_LIST(X)
#undef X
};

static const row *find(int code)
{
  const row *const r = code > 0 && code <= WEIR_ANNOTATION_MAX ? &rows[code] : &rows[0];

  return r->mnemonic ? r : NULL;
}

bool weir_annotation_is_beat(int code)
{
  const row *const r = find(code);

  return r && r->beat;
}

const char *weir_annotation_mnemonic(int code)
{
  const row *const r = find(code);

  return r ? r->mnemonic : "";
}
