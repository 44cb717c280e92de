/* absent.c - compression of TFRecord files in a build without zlib. */
#include "io/tfrecord/tfrecord_priv.h"

static weir_status refuse(void)
{
  return weir_fail(WEIR_ERR_UNSUPPORTED,
                   "this build has no zlib: install the library and build again");
}

bool weir_tfrecord_gzip_available(void)
{
  return false;
}

weir_status weir_inflate_create(weir_inflate **out)
{
  *out = NULL;
  return refuse();
}

void weir_inflate_destroy(weir_inflate **z)
{
  *z = NULL; /* there never is one */
}

void weir_inflate_reset(weir_inflate *z)
{
  (void)z;
}

weir_status weir_inflate_run(weir_inflate *z, const uint8_t *in, int64_t *n_in, uint8_t *out,
                             int64_t *n_out, bool *ended, const char **why)
{
  (void)z;
  (void)in;
  (void)out;
  *n_in = 0;
  *n_out = 0;
  *ended = false;
  *why = "no zlib";
  return refuse();
}

weir_status weir_deflate_create(weir_writer *file, int level, weir_deflate **out)
{
  (void)file;
  (void)level;
  *out = NULL;
  return refuse();
}

void weir_deflate_destroy(weir_deflate **z)
{
  *z = NULL; /* there never is one */
}

weir_status weir_deflate_write(weir_deflate *z, const void *data, int64_t size)
{
  (void)z;
  (void)data;
  (void)size;
  return refuse();
}

weir_status weir_deflate_finish(weir_deflate *z)
{
  (void)z;
  return refuse();
}
