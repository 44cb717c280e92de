/* deflate_zlib.c - a gzip member packed by several threads: blocks of fixed length, each a deflate
 * stream that ends on a byte (as pigz --independent does), so that the bytes are the
 * same whatever the number of threads. */
#include <string.h>
#include <zlib.h>
#include "base/weir_alloc.h"
#include "device/weir_parallel.h"
#include "io/tfrecord/tfrecord_priv.h"

enum {
  BLOCK = 512 * 1024, /* unpacked; a dictionary that is lost costs 32 KiB of context each */
  MAX_PACKED = BLOCK + BLOCK / 1000 + 1024, /* deflateBound of that, and the marks of a flush */
  ATONCE = 16,                              /* blocks packed at the same time */
};

struct weir_deflate {
  weir_writer *file; /* the caller's */
  int level;
  uint32_t crc;
  uint32_t size;          /* of all bytes, modulo 2^32, as gzip has it */
  int64_t n_pending;      /* bytes not yet packed */
  uint8_t *in;            /* [ATONCE, BLOCK] */
  uint8_t *out;           /* [ATONCE, MAX_PACKED] */
  int64_t packed[ATONCE]; /* bytes of out; -1: zlib had no memory */
};

weir_status weir_deflate_create(weir_writer *file, int level, weir_deflate **out)
{
  /* Deflate; no name, no time; by a system that does not matter. RFC 1952. */
  static const uint8_t head[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255};
  weir_deflate *z = NULL;
  weir_status status = WEIR_OK;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof *z, (void **)&z));
  z->file = file;
  z->level = level;
  WEIR_TRY_GOTO(weir_alloc(ATONCE, BLOCK, (void **)&z->in), done);
  WEIR_TRY_GOTO(weir_alloc(ATONCE, MAX_PACKED, (void **)&z->out), done);
  WEIR_TRY_GOTO(weir_writer_write(file, head, sizeof head), done);
  *out = z;
  z = NULL;
done:
  weir_deflate_destroy(&z);
  return status;
}

void weir_deflate_destroy(weir_deflate **z)
{
  if (*z) {
    weir_free(&(*z)->in);
    weir_free(&(*z)->out);
  }
  weir_free(z);
}

static void pack(void *context, int64_t item, int thread)
{
  weir_deflate *const z = context;
  const int64_t from = item * BLOCK, left = z->n_pending - from;
  z_stream s = {0};

  (void)thread;
  z->packed[item] = -1;
  if (deflateInit2(&s, z->level, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    return;
  }
  s.next_in = z->in + from;
  s.avail_in = (uInt)(left < BLOCK ? left : BLOCK);
  s.next_out = z->out + item * MAX_PACKED;
  s.avail_out = MAX_PACKED;
  /* One call is enough, for the buffer holds the largest possible output. */
  if (deflate(&s, Z_SYNC_FLUSH) == Z_OK && s.avail_in == 0 && s.avail_out > 0) {
    z->packed[item] = MAX_PACKED - (int64_t)s.avail_out;
  }
  (void)deflateEnd(&s);
}

static weir_status flush(weir_deflate *z)
{
  const int64_t blocks = (z->n_pending + BLOCK - 1) / BLOCK;

  weir_parallel(blocks, 0, pack, z);
  for (int64_t i = 0; i < blocks; i++) {
    if (z->packed[i] < 0) {
      return weir_fail(WEIR_ERR_MEMORY, "zlib has no memory for compression");
    }
    WEIR_TRY(weir_writer_write(z->file, z->out + i * MAX_PACKED, (size_t)z->packed[i]));
  }
  z->n_pending = 0;
  return WEIR_OK;
}

weir_status weir_deflate_write(weir_deflate *z, const void *data, int64_t size)
{
  const uint8_t *from = data;
  const int64_t max_pending = (int64_t)ATONCE * BLOCK;

  z->size += (uint32_t)size;
  while (size > 0) {
    const int64_t n = max_pending - z->n_pending < size ? max_pending - z->n_pending : size;

    memcpy(z->in + z->n_pending, from, (size_t)n);
    z->crc = (uint32_t)crc32(z->crc, from, (uInt)n);
    z->n_pending += n;
    from += n;
    size -= n;
    if (z->n_pending == max_pending) {
      WEIR_TRY(flush(z));
    }
  }
  return WEIR_OK;
}

weir_status weir_deflate_finish(weir_deflate *z)
{
  uint8_t end[10] = {3, 0}; /* an empty last block: 1, 01, end of block, filled up with zeros */

  WEIR_TRY(flush(z));
  weir_tf_put(end + 2, 4, z->crc);
  weir_tf_put(end + 6, 4, z->size);
  return weir_writer_write(z->file, end, sizeof end);
}
