/* absent.c - FLAC signal files in a build without libFLAC: headers that name them are refused. */
#include "io/wfdb/wfdb_priv.h"

bool weir_wfdb_flac_available(void)
{
  return false;
}

weir_status weir_wfdb_flac_open(const weir_wfdb_flac_range *range, weir_wfdb_flac **out,
                                int64_t *samples)
{
  (void)samples;
  *out = NULL;
  return weir_fail(WEIR_ERR_UNSUPPORTED, "%s: this build has no FLAC", range->path);
}

void weir_wfdb_flac_close(weir_wfdb_flac **f)
{
  *f = NULL; /* there never is one */
}

weir_status weir_wfdb_flac_read(weir_wfdb_flac *f, int64_t first, int64_t n, int spf, int32_t *out)
{
  (void)f;
  (void)first;
  (void)n;
  (void)spf;
  (void)out;
  return weir_fail(WEIR_ERR_UNSUPPORTED, "this build has no FLAC");
}
