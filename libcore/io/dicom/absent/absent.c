/* absent.c - DICOM waveforms in a build without DCMTK: refused by name. */
#include "io/dicom/dicom_priv.h"

static weir_status refuse(const char *path)
{
  return weir_fail(WEIR_ERR_UNSUPPORTED,
                   "%s: this build has no DCMTK, which reads DICOM: install libdcmtk-dev and build "
                   "again",
                   path);
}

weir_status weir_dicom_inflate(const char *path, const uint8_t *data, int64_t size, uint8_t **out,
                               int64_t *out_size)
{
  (void)data;
  (void)size;
  (void)out;
  (void)out_size;
  return refuse(path);
}

weir_status weir_dicom_parse(const char *path, const uint8_t *data, int64_t size,
                             weir_dicom_syntax syntax, weir_dicom *out)
{
  (void)data;
  (void)size;
  (void)syntax;
  *out = (weir_dicom){0};
  return refuse(path);
}
