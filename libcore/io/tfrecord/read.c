/* read.c - records in order, both sums checked. */
#include <stdio.h>
#include "base/weir_alloc.h"
#include "io/tfrecord/example_priv.h"

struct weir_tfrecord {
  weir_tf_source source;
  int64_t max_record; /* bytes of a record */
  int64_t number;     /* of the current record; 0: none yet */
  int64_t start;      /* of its first byte */
  uint8_t *payload;   /* [capacity] */
  int64_t capacity;
  int64_t size; /* of the current payload; -1: it was skipped, or there is none */
};

enum { LOCATION = 4200, FIRST = 1 << 20 };

weir_status weir_tfrecord_open(const char *path, int64_t max_record, weir_tfrecord **out)
{
  weir_tfrecord *r = NULL;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof *r, (void **)&r));
  const weir_status status = weir_tf_source_open(&r->source, path);

  if (status != WEIR_OK) {
    weir_free(&r);
    return weir_trace_at(status, __FILE__, __LINE__, __func__);
  }
  r->max_record = max_record > 0 ? max_record : WEIR_TFRECORD_MAX;
  r->size = -1;
  *out = r;
  return WEIR_OK;
}

void weir_tfrecord_close(weir_tfrecord **r)
{
  if (*r) {
    weir_tf_source_close(&(*r)->source);
    weir_free(&(*r)->payload);
  }
  weir_free(r);
}

bool weir_tfrecord_compressed(const weir_tfrecord *r)
{
  return r->source.z != NULL;
}

int64_t weir_tfrecord_number(const weir_tfrecord *r)
{
  return r->number;
}

const uint8_t *weir_tfrecord_payload(const weir_tfrecord *r, int64_t *size)
{
  *size = r->size;
  return r->payload;
}

void weir_tfrecord_locate(const weir_tfrecord *r, char *text, size_t size)
{
  (void)snprintf(text, size, "%s: record %lld (byte %lld)", r->source.path, (long long)r->number,
                 (long long)r->start);
}

weir_status weir_tfrecord_rewind(weir_tfrecord *r)
{
  weir_tf_source_rewind(&r->source);
  r->number = 0;
  r->start = 0;
  r->size = -1;
  return WEIR_OK;
}

static weir_status refuse(const weir_tfrecord *r, const char *why)
{
  char location[LOCATION];

  weir_tfrecord_locate(r, location, sizeof location);
  return weir_fail(WEIR_ERR_DATA, "%s: %s", location, why);
}

/* Compares a stored sum with that of bytes. */
static weir_status check(const weir_tfrecord *r, const char *what, const uint8_t *stored,
                         const uint8_t *data, int64_t size)
{
  const uint32_t made = weir_crc32c_mask(weir_crc32c(0, data, size)), said = weir_tf_u32(stored);
  char why[160];

  if (made == said) {
    return WEIR_OK;
  }
  (void)snprintf(
      why, sizeof why, "the CRC of its %s is %08x, the file says %08x: %s", what, made, said,
      r->number == 1 && what[0] == 'l' ? "not a TFRecord file, or damaged" : "the file is damaged");
  return refuse(r, why);
}

/* Reads the header of a payload; its length is 8 bytes and their own checksum. */
static weir_status read_head(weir_tfrecord *r, int64_t *size, bool *found)
{
  uint8_t head[WEIR_TF_HEAD];
  int64_t got = 0;
  char why[160];

  const int64_t start = r->source.position;

  *found = false;
  WEIR_TRY(weir_tf_source_read(&r->source, head, sizeof head, &got));
  if (got == 0) {
    return WEIR_OK; /* the record read last stays */
  }
  r->number++;
  r->start = start;
  r->size = -1;
  if (got < WEIR_TF_HEAD) {
    (void)snprintf(why, sizeof why, "the file ends after %lld of the %d bytes before its payload",
                   (long long)got, WEIR_TF_HEAD);
    return refuse(r, why);
  }
  WEIR_TRY(check(r, "length", head + 8, head, 8));
  const uint64_t length = weir_tf_u64(head);

  if (length > (uint64_t)r->max_record) {
    (void)snprintf(why, sizeof why, "it declares %llu bytes, more than the maximum of %lld",
                   (unsigned long long)length, (long long)r->max_record);
    return refuse(r, why);
  }
  *size = (int64_t)length;
  *found = true;
  return WEIR_OK;
}

static weir_status ends_early(const weir_tfrecord *r, int64_t got, int64_t want)
{
  char why[160];

  (void)snprintf(why, sizeof why, "the file ends after %lld of its %lld bytes: it is truncated",
                 (long long)got, (long long)want);
  return refuse(r, why);
}

/* Payload and its sum, into memory that grows with what is there, not with what was claimed. */
static weir_status read_body(weir_tfrecord *r, int64_t size)
{
  const int64_t want = size + WEIR_TF_TAIL;
  const int64_t left = r->source.size - r->source.at;
  int64_t n_read = 0;

  if (!r->source.z && left < want) {
    return ends_early(r, left, want);
  }
  while (n_read < want) {
    int64_t capacity = r->source.z ? (n_read < FIRST ? FIRST : 2 * n_read) : want;
    int64_t got = 0;

    capacity = capacity < r->capacity ? r->capacity : capacity;
    capacity = capacity < want ? capacity : want;
    if (capacity > r->capacity) {
      WEIR_TRY(weir_realloc((void **)&r->payload, r->capacity, capacity, 1));
      r->capacity = capacity;
    }
    WEIR_TRY(weir_tf_source_read(&r->source, r->payload + n_read, capacity - n_read, &got));
    n_read += got;
    if (n_read < capacity) {
      return ends_early(r, n_read, want);
    }
  }
  WEIR_TRY(check(r, "payload", r->payload + size, r->payload, size));
  r->size = size;
  return WEIR_OK;
}

weir_status weir_tfrecord_next(weir_tfrecord *r, bool *found)
{
  int64_t size = 0;

  WEIR_TRY(read_head(r, &size, found));
  return *found ? read_body(r, size) : WEIR_OK;
}

weir_status weir_tfrecord_skip(weir_tfrecord *r, bool *found)
{
  int64_t size = 0, got = 0;

  WEIR_TRY(read_head(r, &size, found));
  if (*found) {
    WEIR_TRY(weir_tf_source_read(&r->source, NULL, size + WEIR_TF_TAIL, &got));
    return got < size + WEIR_TF_TAIL ? ends_early(r, got, size + WEIR_TF_TAIL) : WEIR_OK;
  }
  return WEIR_OK;
}

/* An error of the message, at its byte in the file. */
static weir_status refuse_message(const weir_tfrecord *r, const weir_tf_example *e)
{
  return weir_fail(WEIR_ERR_DATA, "%s: record %lld (byte %lld): %s%s%s%s", r->source.path,
                   (long long)r->number, (long long)(r->start + WEIR_TF_HEAD + e->at),
                   e->key[0] ? "key '" : "", e->key, e->key[0] ? "': " : "", e->why);
}

weir_status weir_tfrecord_each(const weir_tfrecord *r,
                               void (*visit)(void *context, const weir_tf_feature *f),
                               void *context)
{
  weir_tf_example e;

  WEIR_ASSERT(r->size >= 0);
  weir_tf_example_init(&e, r->payload, r->size);
  for (weir_tf_feature f; weir_tf_example_next(&e, &f);) {
    visit(context, &f);
  }
  return e.why[0] ? refuse_message(r, &e) : WEIR_OK;
}

struct search {
  const char *key;
  weir_tf_feature *out;
};

static void compare(void *context, const weir_tf_feature *f)
{
  const struct search *const s = context;

  if (weir_tf_is(f, s->key)) {
    *s->out = *f;
  }
}

weir_status weir_tfrecord_find(const weir_tfrecord *r, const char *key, weir_tf_feature *out)
{
  struct search s = {key, out};

  *out = (weir_tf_feature){0};
  return weir_tfrecord_each(r, compare, &s);
}
