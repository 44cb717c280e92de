/* source.c - bytes of a file in order, whether it is compressed or not. */
#include <string.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "io/io_priv.h"
#include "io/tfrecord/tfrecord_priv.h"

weir_status weir_tf_source_open(weir_tf_source *s, const char *path)
{
  uint8_t magic[2] = {0, 0};
  weir_status status = WEIR_OK;

  *s = (weir_tf_source){.fd = -1};
  WEIR_TRY(weir_io_open(path, &s->fd, &s->size));
  WEIR_TRY_GOTO(weir_strdup(path, &s->path), done);
  if (s->size >= 2) {
    WEIR_TRY_GOTO(weir_io_pread(s->fd, path, magic, sizeof magic, 0), done);
  }
  if (magic[0] == 0x1f && magic[1] == 0x8b) {
    if (!weir_tfrecord_gzip_available()) {
      status = weir_fail(WEIR_ERR_UNSUPPORTED,
                         "%s: compressed with gzip, but this build has no zlib: install it and "
                         "build again, or decompress the file",
                         path);
      goto done;
    }
    WEIR_TRY_GOTO(weir_inflate_create(&s->z), done);
    WEIR_TRY_GOTO(weir_alloc(WEIR_TF_BLOCK, 1, (void **)&s->block), done);
    s->member = true;
  }
done:
  if (status != WEIR_OK) {
    weir_tf_source_close(s);
  }
  return status;
}

void weir_tf_source_close(weir_tf_source *s)
{
  if (s->fd >= 0) {
    close(s->fd);
  }
  weir_inflate_destroy(&s->z);
  weir_free(&s->block);
  weir_free(&s->path);
  *s = (weir_tf_source){.fd = -1};
}

void weir_tf_source_rewind(weir_tf_source *s)
{
  s->at = 0;
  s->position = 0;
  s->used = 0;
  s->n_buffered = 0;
  if (s->z) {
    weir_inflate_reset(s->z);
    s->member = true;
  }
}

static weir_status read_plain(weir_tf_source *s, uint8_t *out, int64_t want, int64_t *got)
{
  *got = s->size - s->at < want ? s->size - s->at : want;
  if (out && *got > 0) {
    WEIR_TRY(weir_io_pread(s->fd, s->path, out, (size_t)*got, s->at));
  }
  s->at += *got;
  return WEIR_OK;
}

/* Has bytes of the file in the block, unless there are no more. */
static weir_status fill(weir_tf_source *s)
{
  if (s->used < s->n_buffered || s->at == s->size) {
    return WEIR_OK;
  }
  s->used = 0;
  s->n_buffered = 0;
  const int64_t n = s->size - s->at < WEIR_TF_BLOCK ? s->size - s->at : WEIR_TF_BLOCK;

  WEIR_TRY(weir_io_pread(s->fd, s->path, s->block, (size_t)n, s->at));
  s->at += n;
  s->n_buffered = n;
  return WEIR_OK;
}

/* Unpacks some bytes; *n is the capacity, and then the number written. */
static weir_status unpack(weir_tf_source *s, uint8_t *out, int64_t *n)
{
  const char *why = NULL;
  int64_t used = s->n_buffered - s->used;
  bool ended = false;

  if (used == 0) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: the compressed stream ends early: byte %lld is the last of the file, "
                     "byte %lld the last that could be decompressed: it is truncated",
                     s->path, (long long)s->size, (long long)s->position);
  }
  const weir_status status =
      weir_inflate_run(s->z, s->block + s->used, &used, out, n, &ended, &why);

  if (status != WEIR_OK) {
    return weir_fail(status, "%s: the compressed stream is damaged near byte %lld: %s", s->path,
                     (long long)(s->at - s->n_buffered + s->used + used), why);
  }
  s->used += used;
  s->member = !ended;
  return WEIR_OK;
}

/* Another member follows, or the end of the file, or zeros that fill a tape's block. */
static weir_status next_member(weir_tf_source *s)
{
  if (s->used == s->n_buffered) {
    return WEIR_OK;
  }
  if (s->block[s->used] == 0x1f) {
    weir_inflate_reset(s->z);
    s->member = true;
    return WEIR_OK;
  }
  if (s->block[s->used] != 0) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: the bytes after the compressed stream, from byte %lld on, are not gzip; "
                     "the file is damaged",
                     s->path, (long long)(s->at - s->n_buffered + s->used));
  }
  s->used++;
  return WEIR_OK;
}

static weir_status read_packed(weir_tf_source *s, uint8_t *out, int64_t want, int64_t *got)
{
  uint8_t passed[4096];

  *got = 0;
  while (*got < want) {
    const int64_t left = want - *got;
    int64_t n = out || left < (int64_t)sizeof passed ? left : (int64_t)sizeof passed;

    WEIR_TRY(fill(s));
    if (!s->member && s->used == s->n_buffered) {
      return WEIR_OK;
    }
    if (!s->member) {
      WEIR_TRY(next_member(s));
      continue;
    }
    WEIR_TRY(unpack(s, out ? out + *got : passed, &n));
    *got += n;
    s->position += n;
  }
  return WEIR_OK;
}

weir_status weir_tf_source_read(weir_tf_source *s, uint8_t *out, int64_t want, int64_t *got)
{
  if (s->z) {
    return read_packed(s, out, want, got);
  }
  WEIR_TRY(read_plain(s, out, want, got));
  s->position += *got;
  return WEIR_OK;
}
