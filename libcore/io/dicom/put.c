/* put.c - elements of a DICOM data set in explicit VR little endian (PS3.5, 7.1.2): values of an
 * even number of bytes, sequences and items of undefined length (7.5). */
#include <string.h>
#include "io/dicom/put.h"

static void put_le(uint8_t *to, uint32_t value, int bytes)
{
  for (int i = 0; i < bytes; i++) {
    to[i] = (uint8_t)(value >> 8 * i);
  }
}

/* Tag, VR and length: 8 bytes, 12 for VRs whose length has 32 bits; items have no VR. */
weir_status weir_dicom_put_head(weir_writer *w, uint32_t tag, const char *vr, uint32_t length)
{
  const bool is_long = strcmp(vr, "OB") == 0 || strcmp(vr, "OW") == 0 || strcmp(vr, "SQ") == 0;
  uint8_t head[12] = {0};

  put_le(head, tag >> 16, 2);
  put_le(head + 2, tag & 0xffff, 2);
  if (vr[0] == 0) {
    put_le(head + 4, length, 4);
    return weir_writer_write(w, head, 8);
  }
  memcpy(head + 4, vr, 2);
  put_le(head + (is_long ? 8 : 6), length, is_long ? 4 : 2);
  return weir_writer_write(w, head, is_long ? 12 : 8);
}

weir_status weir_dicom_put_text(weir_writer *w, uint32_t tag, const char *vr, const char *text)
{
  const size_t n = strlen(text);

  WEIR_TRY(weir_dicom_put_head(w, tag, vr, (uint32_t)(n + n % 2)));
  WEIR_TRY(weir_writer_write(w, text, n));
  return n % 2 == 0 ? WEIR_OK : weir_writer_write(w, strcmp(vr, "UI") == 0 ? "" : " ", 1);
}

weir_status weir_dicom_put_ints(weir_writer *w, uint32_t tag, const char *vr,
                                const uint32_t *values, int n)
{
  const int bytes = strcmp(vr, "UL") == 0 ? 4 : 2;

  WEIR_TRY(weir_dicom_put_head(w, tag, vr, (uint32_t)(n * bytes)));
  for (int i = 0; i < n; i++) {
    uint8_t value[4];

    put_le(value, values[i], bytes);
    WEIR_TRY(weir_writer_write(w, value, (size_t)bytes));
  }
  return WEIR_OK;
}

weir_status weir_dicom_put_int(weir_writer *w, uint32_t tag, const char *vr, uint32_t value)
{
  return weir_dicom_put_ints(w, tag, vr, &value, 1);
}

weir_status weir_dicom_begin_sequence(weir_writer *w, uint32_t tag)
{
  return weir_dicom_put_head(w, tag, "SQ", UINT32_MAX);
}

weir_status weir_dicom_begin_item(weir_writer *w)
{
  return weir_dicom_put_head(w, 0xfffee000, "", UINT32_MAX);
}

weir_status weir_dicom_end_item(weir_writer *w)
{
  return weir_dicom_put_head(w, 0xfffee00d, "", 0);
}

weir_status weir_dicom_end_sequence(weir_writer *w)
{
  return weir_dicom_put_head(w, 0xfffee0dd, "", 0);
}

weir_status weir_dicom_put_code(weir_writer *w, uint32_t tag, const weir_dicom_code *c)
{
  WEIR_TRY(weir_dicom_begin_sequence(w, tag));
  WEIR_TRY(weir_dicom_begin_item(w));
  WEIR_TRY(weir_dicom_put_text(w, 0x00080100, "SH", c->value));
  WEIR_TRY(weir_dicom_put_text(w, 0x00080102, "SH", c->scheme));
  WEIR_TRY(weir_dicom_put_text(w, 0x00080104, "LO", c->meaning));
  WEIR_TRY(weir_dicom_end_item(w));
  return weir_dicom_end_sequence(w);
}
