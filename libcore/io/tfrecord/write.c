/* write.c - records of an Example each. Lengths are computed first, so that a payload is never
 * buffered as a whole. */
#include <string.h>
#include "base/weir_alloc.h"
#include "io/tfrecord/example_priv.h"

struct weir_tfrecord_writer {
  weir_writer *file;
  weir_deflate *z; /* NULL: plain */
  int64_t records;
  uint32_t crc; /* of the payload so far */
};

enum { TAGGED = 0x0a, TAGGED2 = 0x12, HEADS = 64 }; /* fields 1 and 2 with a length */

weir_status weir_tfrecord_create(const char *path, int level, weir_tfrecord_writer **out)
{
  weir_tfrecord_writer *w = NULL;
  weir_status status = WEIR_OK;

  *out = NULL;
  if (level > 0 && !weir_tfrecord_gzip_available()) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "%s: this build has no zlib for compression: install the library and build "
                     "again, or write it uncompressed",
                     path);
  }
  WEIR_TRY(weir_alloc(1, sizeof *w, (void **)&w));
  WEIR_TRY_GOTO(weir_writer_open(path, &w->file), done);
  if (level > 0) {
    WEIR_TRY_GOTO(weir_deflate_create(w->file, level, &w->z), done);
  }
  *out = w;
  w = NULL;
done:
  weir_tfrecord_destroy(&w);
  return status;
}

void weir_tfrecord_destroy(weir_tfrecord_writer **w)
{
  if (*w) {
    weir_deflate_destroy(&(*w)->z);
    weir_writer_destroy(&(*w)->file);
  }
  weir_free(w);
}

static weir_status put(weir_tfrecord_writer *w, const void *data, int64_t size)
{
  w->crc = weir_crc32c(w->crc, data, size);
  return w->z ? weir_deflate_write(w->z, data, size)
              : weir_writer_write(w->file, data, (size_t)size);
}

static int64_t varint_size(int64_t value)
{
  int64_t n = 1;

  for (uint64_t v = (uint64_t)value; v >= 0x80; v >>= 7) {
    n++;
  }
  return n;
}

/* A tag of one byte, and a length. */
static int64_t head(uint8_t *out, int tag, int64_t length)
{
  int64_t n = 0;

  out[n++] = (uint8_t)tag;
  for (uint64_t v = (uint64_t)length;; v >>= 7) {
    out[n++] = (uint8_t)(v < 0x80 ? v : v | 0x80);
    if (v < 0x80) {
      return n;
    }
  }
}

static int64_t with_head(int64_t length)
{
  return 1 + varint_size(length) + length;
}

/* Bytes of each message around the values of a feature, from the inside. */
struct lengths {
  int64_t values, list, feature, key, entry;
};

static struct lengths measure(const weir_tf_out *f)
{
  struct lengths n = {.key = (int64_t)strlen(f->key)};

  n.values = f->kind == WEIR_TF_FLOATS ? 4 * f->count : f->count;
  if (f->kind == WEIR_TF_INTS) {
    n.values = 0;
    for (int64_t i = 0; i < f->count; i++) {
      n.values += varint_size(((const int64_t *)f->data)[i]);
    }
  }
  n.list = with_head(n.values);
  n.feature = with_head(n.list);
  n.entry = with_head(n.key) + with_head(n.feature);
  return n;
}

static weir_status put_values(weir_tfrecord_writer *w, const weir_tf_out *f)
{
  const int64_t *const ints = f->data;
  const float *const floats = f->data;
  uint8_t bytes[16];

  if (f->kind == WEIR_TF_BYTES) {
    return put(w, f->data, f->count);
  }
  for (int64_t i = 0; i < f->count; i++) {
    if (f->kind == WEIR_TF_INTS) {
      WEIR_TRY(put(w, bytes + 1, head(bytes, 0, ints[i]) - 1));
    } else {
      uint32_t bits;

      memcpy(&bits, floats + i, sizeof bits);
      weir_tf_put(bytes, 4, bits);
      WEIR_TRY(put(w, bytes, 4));
    }
  }
  return WEIR_OK;
}

static weir_status put_feature(weir_tfrecord_writer *w, const weir_tf_out *f)
{
  const struct lengths n = measure(f);
  uint8_t bytes[HEADS];
  int64_t used = head(bytes, TAGGED, n.entry);

  used += head(bytes + used, TAGGED, n.key);
  WEIR_TRY(put(w, bytes, used));
  WEIR_TRY(put(w, f->key, n.key));
  used = head(bytes, TAGGED2, n.feature);
  used += head(bytes + used, (int)f->kind << 3 | 2, n.list);
  used += head(bytes + used, TAGGED, n.values);
  WEIR_TRY(put(w, bytes, used));
  return put_values(w, f);
}

weir_status weir_tfrecord_write(weir_tfrecord_writer *w, const weir_tf_out *features, int n)
{
  uint8_t bytes[HEADS];
  int64_t all = 0;

  w->records++;
  for (int i = 0; i < n; i++) {
    WEIR_ASSERT(features[i].kind != WEIR_TF_EMPTY && features[i].count >= 0);
    if (features[i].count > WEIR_TFRECORD_MAX) {
      all = WEIR_TFRECORD_MAX;
      break;
    }
    all += with_head(measure(&features[i]).entry);
  }
  const int64_t size = with_head(all);

  if (size > WEIR_TFRECORD_MAX) {
    return weir_fail(WEIR_ERR_SHAPE,
                     "%s: record %lld: an Example is limited to %lld bytes: write smaller samples, "
                     "or another format",
                     weir_writer_path(w->file), (long long)w->records,
                     (long long)WEIR_TFRECORD_MAX);
  }
  weir_tf_put(bytes, 8, (uint64_t)size);
  weir_tf_put(bytes + 8, 4, weir_crc32c_mask(weir_crc32c(0, bytes, 8)));
  WEIR_TRY(put(w, bytes, WEIR_TF_HEAD));
  w->crc = 0;
  WEIR_TRY(put(w, bytes, head(bytes, TAGGED, all)));
  for (int i = 0; i < n; i++) {
    WEIR_TRY(put_feature(w, &features[i]));
  }
  weir_tf_put(bytes, 4, weir_crc32c_mask(w->crc));
  return put(w, bytes, WEIR_TF_TAIL);
}

weir_status weir_tfrecord_commit(weir_tfrecord_writer **w)
{
  weir_status status = WEIR_OK;

  if ((*w)->z) {
    WEIR_TRY_GOTO(weir_deflate_finish((*w)->z), done);
  }
  WEIR_TRY_GOTO(weir_writer_commit(&(*w)->file), done);
done:
  weir_tfrecord_destroy(w);
  return status;
}
