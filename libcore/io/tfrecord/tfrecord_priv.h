/* tfrecord_priv.h - sums, bytes of plain and of compressed files. */
#ifndef WEIR_TFRECORD_PRIV_H
#define WEIR_TFRECORD_PRIV_H
#include "base/weir_file.h"
#include "io/weir_crc32c.h"
#include "io/weir_tfrecord.h"

/* weir_crc32c by table, whatever the processor has. */
uint32_t weir_crc32c_table(uint32_t crc, const void *data, int64_t size);
/* As it stands in a file: sums of bytes that hold sums are weak, so they are turned and shifted. */
static inline uint32_t weir_crc32c_mask(uint32_t crc)
{
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

/* Little-endian numbers at any address. */
static inline uint32_t weir_tf_u32(const uint8_t *b)
{
  return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static inline uint64_t weir_tf_u64(const uint8_t *b)
{
  return (uint64_t)weir_tf_u32(b + 4) << 32 | weir_tf_u32(b);
}

static inline void weir_tf_put(uint8_t *b, int bytes, uint64_t value)
{
  for (int i = 0; i < bytes; i++) {
    b[i] = (uint8_t)(value >> (8 * i));
  }
}

enum {
  WEIR_TF_HEAD = 12,          /* bytes before a payload */
  WEIR_TF_TAIL = 4,           /* and after it */
  WEIR_TF_BLOCK = 256 * 1024, /* read from a file at once */
};

/* gzip members, one after the other (RFC 1952). */
typedef struct weir_inflate weir_inflate;
weir_status weir_inflate_create(weir_inflate **out) WEIR_CHECKED;
void weir_inflate_destroy(weir_inflate **z);
/* Begins a new member. */
void weir_inflate_reset(weir_inflate *z);
/* Unpacks in[*n_in] into out[*n_out] as far as both reach; both then say how much that was. *ended
 * is set after the last byte of a member, whose sum was right. Fails: WEIR_ERR_DATA,
 * WEIR_ERR_MEMORY, with the reason in `why`, and no message. */
weir_status weir_inflate_run(weir_inflate *z, const uint8_t *in, int64_t *n_in, uint8_t *out,
                             int64_t *n_out, bool *ended, const char **why) WEIR_CHECKED;

/* One gzip member, packed in blocks that do not know one another. */
typedef struct weir_deflate weir_deflate;
weir_status weir_deflate_create(weir_writer *file, int level, weir_deflate **out) WEIR_CHECKED;
void weir_deflate_destroy(weir_deflate **z);
weir_status weir_deflate_write(weir_deflate *z, const void *data, int64_t size) WEIR_CHECKED;
/* Writes what is left and the end of the member. */
weir_status weir_deflate_finish(weir_deflate *z) WEIR_CHECKED;

/* Bytes of a file in order, unpacked where it is compressed. */
typedef struct weir_tf_source {
  char *path;
  int fd;
  int64_t size;             /* of the file */
  int64_t at;               /* of the next byte that is asked of the file */
  int64_t position;         /* of the next byte that is handed out */
  weir_inflate *z;          /* NULL: plain */
  bool member;              /* within a gzip member */
  uint8_t *block;           /* [WEIR_TF_BLOCK], NULL for a plain file */
  int64_t used, n_buffered; /* of the block */
} weir_tf_source;

/* Fails: WEIR_ERR_DATA, WEIR_ERR_UNSUPPORTED, WEIR_ERR_MEMORY; close is then not needed. */
weir_status weir_tf_source_open(weir_tf_source *s, const char *path) WEIR_CHECKED;
void weir_tf_source_close(weir_tf_source *s);
void weir_tf_source_rewind(weir_tf_source *s);
/* Reads up to `want` bytes; fewer only at the end. out NULL: passes them over. Fails: WEIR_ERR_DATA
 * (unreadable, damaged or truncated compression), with a message that names the file. */
weir_status weir_tf_source_read(weir_tf_source *s, uint8_t *out, int64_t want,
                                int64_t *got) WEIR_CHECKED;
#endif
