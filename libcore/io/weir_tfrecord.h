/* weir_tfrecord.h - TensorFlow's TFRecord files of tf.train.Example messages, plain or compressed
 * as a whole with gzip: read in order, every CRC checked, and written to a temporary file and
 * renamed.
 *
 *   record   u64 length, u32 masked CRC-32C of these 8 bytes, payload, u32 masked CRC-32C of it;
 *            little-endian (tensorflow/core/lib/io/record_writer.h)
 *   payload  Example { 1: Features { 1: map of key -> Feature } }, a Feature one of three lists:
 *            1 bytes, 2 floats, 3 int64 (tensorflow/core/example/{example,feature}.proto)
 *
 * Local calls; a file is used by one thread at a time. Invalid
 * contents are refused with WEIR_ERR_DATA, naming file, record (1, 2, ...), byte, key and reason;
 * bytes of a compressed file count as unpacked. Without zlib compressed files are
 * WEIR_ERR_UNSUPPORTED. */
#ifndef WEIR_TFRECORD_H
#define WEIR_TFRECORD_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/weir_status.h"
#ifdef __cplusplus
extern "C" {
#endif

/* A protobuf message is at most this long, and so is a record that is read unless asked for. */
#define WEIR_TFRECORD_MAX INT64_C(0x7fffffff)

/* True when this build has zlib. */
bool weir_tfrecord_gzip_available(void);

typedef struct weir_tfrecord weir_tfrecord;

/* Opens a file; gzip is detected from its first bytes. A record over max_record bytes is refused
 * (0: WEIR_TFRECORD_MAX), which bounds the expansion of a compressed file. */
weir_status weir_tfrecord_open(const char *path, int64_t max_record,
                               weir_tfrecord **out) WEIR_CHECKED;
/* Closes the file; accepts NULL. */
void weir_tfrecord_close(weir_tfrecord **r);
bool weir_tfrecord_compressed(const weir_tfrecord *r);
/* Reads the next record and checks both CRCs; *found is false at the end of the file. */
weir_status weir_tfrecord_next(weir_tfrecord *r, bool *found) WEIR_CHECKED;
/* Skips the next record without checking the CRC of its payload. */
weir_status weir_tfrecord_skip(weir_tfrecord *r, bool *found) WEIR_CHECKED;
/* Rewinds to before the first record. */
weir_status weir_tfrecord_rewind(weir_tfrecord *r) WEIR_CHECKED;
/* Returns the number of records read or skipped so far: the number of the current one. */
int64_t weir_tfrecord_number(const weir_tfrecord *r);
/* Returns the payload of the last record read, also at the end of the file; size -1 where it was
 * skipped or there is none. Borrowed until the next call. */
const uint8_t *weir_tfrecord_payload(const weir_tfrecord *r, int64_t *size);
/* Writes "FILE: record 3 (byte 8640)", for messages about the current record. Always terminated. */
void weir_tfrecord_locate(const weir_tfrecord *r, char *text, size_t size);

typedef enum weir_tf_kind {
  WEIR_TF_EMPTY, /* a feature without a list, or a missing key */
  WEIR_TF_BYTES,
  WEIR_TF_FLOATS,
  WEIR_TF_INTS,
} weir_tf_kind;

/* A feature of the last record read; all pointers are borrowed until another is read. */
typedef struct weir_tf_feature {
  const char *key; /* [key_size], not terminated */
  int64_t key_size;
  weir_tf_kind kind;
  int64_t count;        /* values of the list */
  const uint8_t *bytes; /* [size], the first value of WEIR_TF_BYTES */
  int64_t size;
  const uint8_t *list; /* [list_size], as encoded */
  int64_t list_size;
} weir_tf_feature;

/* Finds a key; out->kind is WEIR_TF_EMPTY where there is none. The whole message is checked; of a
 * duplicate key the last one counts. */
weir_status weir_tfrecord_find(const weir_tfrecord *r, const char *key,
                               weir_tf_feature *out) WEIR_CHECKED;
/* Copies f->count values of WEIR_TF_FLOATS, of WEIR_TF_INTS. */
void weir_tf_floats(const weir_tf_feature *f, float *out);
void weir_tf_ints(const weir_tf_feature *f, int64_t *out);

typedef struct weir_tfrecord_writer weir_tfrecord_writer;

/* A feature to write: `count` bytes as one value, or so many floats or int64. */
typedef struct weir_tf_out {
  const char *key;
  weir_tf_kind kind;
  const void *data;
  int64_t count;
} weir_tf_out;

/* Starts a file, compressed at `level` (1..9; 0: plain). Compression uses all threads; the bytes do
 * not depend on how many. Fails: WEIR_ERR_DATA where it cannot be created, WEIR_ERR_UNSUPPORTED;
 * *out is then NULL. */
weir_status weir_tfrecord_create(const char *path, int level,
                                 weir_tfrecord_writer **out) WEIR_CHECKED;
/* Appends an Example of features[n]. Fails: WEIR_ERR_SHAPE for more than WEIR_TFRECORD_MAX bytes.
 */
weir_status weir_tfrecord_write(weir_tfrecord_writer *w, const weir_tf_out *features,
                                int n) WEIR_CHECKED;
/* Completes the file and renames it into place; *w is destroyed in either case. */
weir_status weir_tfrecord_commit(weir_tfrecord_writer **w) WEIR_CHECKED;
/* Removes the temporary file; accepts NULL. */
void weir_tfrecord_destroy(weir_tfrecord_writer **w);

#ifdef __cplusplus
}
#endif
#endif
