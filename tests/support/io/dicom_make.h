/* dicom_make.h - DICOM files put together by tests, in any encoding (PS3.5, chapter 7). */
#ifndef WEIR_DICOM_MAKE_H
#define WEIR_DICOM_MAKE_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "io/dicom/dicom_priv.h"

enum { DICOM_BYTES = 1 << 16 };

typedef struct dicom_file {
  uint8_t bytes[DICOM_BYTES];
  int64_t size;
  weir_dicom_syntax syntax;
} dicom_file;

static inline void dicom_put(dicom_file *f, uint32_t value, int n, bool big)
{
  for (int i = 0; i < n; i++) {
    f->bytes[f->size++] = (uint8_t)(value >> 8 * (big ? n - 1 - i : i));
  }
}

/* Head of an element; a length of -1 is undefined. The VR of items is "". */
static inline void dicom_head(dicom_file *f, int group, int element, const char *vr, int64_t length)
{
  const bool big = f->syntax == WEIR_DICOM_BIG_ENDIAN && group != 2;
  const bool is_long = strstr("OB OW SQ UN UT", vr[0] ? vr : "-") != NULL;

  dicom_put(f, (uint32_t)group, 2, big);
  dicom_put(f, (uint32_t)element, 2, big);
  if (vr[0] == 0 || (f->syntax == WEIR_DICOM_IMPLICIT && group != 2)) {
    dicom_put(f, (uint32_t)length, 4, big);
    return;
  }
  dicom_put(f, (uint8_t)vr[0] | (uint32_t)(uint8_t)vr[1] << 8, 2, false);
  dicom_put(f, is_long ? 0 : (uint32_t)length, 2, big);
  if (is_long) {
    dicom_put(f, (uint32_t)length, 4, big);
  }
}

static inline void dicom_text(dicom_file *f, int group, int element, const char *vr,
                              const char *text)
{
  const size_t n = strlen(text);

  dicom_head(f, group, element, vr, (int64_t)(n + n % 2));
  memcpy(f->bytes + f->size, text, n);
  f->size += (int64_t)n;
  if (n % 2) {
    f->bytes[f->size++] = strcmp(vr, "UI") == 0 ? 0 : ' ';
  }
}

/* Integers of `bytes` bytes each. */
static inline void dicom_ints(dicom_file *f, int group, int element, const char *vr, int bytes,
                              const int32_t *values, int64_t n)
{
  const int64_t size = n * bytes;
  /* Bytes in words: the lower one is the first sample. */
  dicom_head(f, group, element, vr, size + size % 2);
  for (int64_t i = 0; i < n; i++) {
    dicom_put(f, (uint32_t)values[i], bytes, f->syntax == WEIR_DICOM_BIG_ENDIAN);
  }
  if (size % 2) {
    f->bytes[f->size++] = 0;
  }
}

static inline void dicom_int(dicom_file *f, int group, int element, const char *vr, int32_t value)
{
  dicom_ints(f, group, element, vr, strcmp(vr, "US") == 0 ? 2 : 4, &value, 1);
}

/* Sequences and items of undefined length. */
static inline void dicom_begin(dicom_file *f, int group, int element)
{
  dicom_head(f, group, element, "SQ", -1);
}
static inline void dicom_item(dicom_file *f)
{
  dicom_head(f, 0xfffe, 0xe000, "", -1);
}
static inline void dicom_item_end(dicom_file *f)
{
  dicom_head(f, 0xfffe, 0xe00d, "", 0);
}
static inline void dicom_end(dicom_file *f)
{
  dicom_head(f, 0xfffe, 0xe0dd, "", 0);
}

/* A sequence of one code. */
static inline void dicom_code(dicom_file *f, int group, int element, const char *value,
                              const char *scheme, const char *meaning)
{
  dicom_begin(f, group, element);
  dicom_item(f);
  dicom_text(f, 0x0008, 0x0100, "SH", value);
  dicom_text(f, 0x0008, 0x0102, "SH", scheme);
  dicom_text(f, 0x0008, 0x0104, "LO", meaning);
  dicom_item_end(f);
  dicom_end(f);
}

/* Preamble, encoding, and what an object begins with. */
static inline void dicom_start(dicom_file *f, weir_dicom_syntax syntax, const char *sop_class)
{
  static const char *const uids[] = {"1.2.840.10008.1.2", "1.2.840.10008.1.2.1",
                                     "1.2.840.10008.1.2.1.99", "1.2.840.10008.1.2.2"};

  memset(f, 0, sizeof *f);
  memcpy(f->bytes + 128, "DICM", 4);
  f->size = 132;
  f->syntax = syntax;
  dicom_text(f, 0x0002, 0x0010, "UI", uids[syntax]);
  dicom_text(f, 0x0008, 0x0005, "CS", "ISO_IR 100");
  dicom_text(f, 0x0008, 0x0016, "UI", sop_class);
}

static inline void dicom_write(const dicom_file *f, const char *path)
{
  FILE *const out = fopen(path, "wb");

  if (out == NULL || fwrite(f->bytes, 1, (size_t)f->size, out) != (size_t)f->size ||
      fclose(out) != 0) {
    abort();
  }
}
#endif
