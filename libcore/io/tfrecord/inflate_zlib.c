/* inflate_zlib.c - gzip members unpacked by zlib, which checks their sums. */
#include <zlib.h>
#include "base/weir_alloc.h"
#include "io/tfrecord/tfrecord_priv.h"

enum {
  GZIP = 16,     /* added to the window bits: gzip and nothing else */
  MAX = 1 << 30, /* bytes a call of zlib, whose counts are of 32 bits */
};

struct weir_inflate {
  z_stream stream;
};

bool weir_tfrecord_gzip_available(void)
{
  return true;
}

weir_status weir_inflate_create(weir_inflate **out)
{
  weir_inflate *z = NULL;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof *z, (void **)&z));
  if (inflateInit2(&z->stream, MAX_WBITS + GZIP) != Z_OK) {
    weir_free(&z);
    return weir_fail(WEIR_ERR_MEMORY, "zlib has no memory for decompression");
  }
  *out = z;
  return WEIR_OK;
}

void weir_inflate_destroy(weir_inflate **z)
{
  if (*z) {
    (void)inflateEnd(&(*z)->stream);
  }
  weir_free(z);
}

void weir_inflate_reset(weir_inflate *z)
{
  (void)inflateReset(&z->stream);
}

weir_status weir_inflate_run(weir_inflate *z, const uint8_t *in, int64_t *n_in, uint8_t *out,
                             int64_t *n_out, bool *ended, const char **why)
{
  const int64_t max_out = *n_out < MAX ? *n_out : MAX;
  z_stream *const s = &z->stream;

  s->next_in = (z_const Bytef *)in;
  s->avail_in = (uInt)*n_in;
  s->next_out = out;
  s->avail_out = (uInt)max_out;
  const int code = inflate(s, Z_NO_FLUSH);

  *n_in -= s->avail_in;
  *n_out = max_out - s->avail_out;
  *ended = code == Z_STREAM_END;
  if (code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR) {
    return WEIR_OK;
  }
  *why = s->msg ? s->msg : zError(code);
  return code == Z_MEM_ERROR ? WEIR_ERR_MEMORY : WEIR_ERR_DATA;
}
