/* tfrecord.c - fuzz target: TFRecord files, and the messages in them. A file that begins with 'M'
 * is a message alone, one with 'F' a file; sums are made right where they are not, for a fuzzer
 * does not find them. What a feature says must lie in the message. */
#include <stdlib.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "fuzz_folder.h"
#include "io/tfrecord/example_priv.h"
#include "weir_fuzz.h"

enum { MOST = 1 << 20 };

static int64_t reached;

int64_t weir_fuzz_reached(void)
{
  return reached;
}

static void check_feature(void *context, const weir_tf_feature *f)
{
  const uint8_t *const *const ends = context;

  if (f->count < 0 ||
      (f->list_size > 0 && (f->list < ends[0] || f->list + f->list_size > ends[1])) ||
      (f->size > 0 && (f->bytes < ends[0] || f->bytes + f->size > ends[1])) ||
      (f->key_size > 0 && (const uint8_t *)f->key + f->key_size > ends[1])) {
    abort();
  }
  if (f->kind == WEIR_TF_FLOATS && f->count > 0) {
    float *const out = malloc((size_t)f->count * sizeof *out);

    weir_tf_floats(f, out);
    free(out);
  }
  if (f->kind == WEIR_TF_INTS && f->count > 0) {
    int64_t *const out = malloc((size_t)f->count * sizeof *out);

    weir_tf_ints(f, out);
    free(out);
  }
  reached++;
}

static void check_message(const uint8_t *data, int64_t size)
{
  const uint8_t *ends[2] = {data, data + size};
  weir_tf_example e;

  weir_tf_example_init(&e, data, size);
  for (weir_tf_feature f; weir_tf_example_next(&e, &f);) {
    check_feature(ends, &f);
  }
  if (e.why[0] && (e.at < 0 || e.at >= size)) {
    abort();
  }
}

/* Makes the sums of a plain file right, as far as its lengths go. */
static void mend(uint8_t *data, int64_t size)
{
  int64_t at = 0;

  while (size - at >= WEIR_TF_HEAD) {
    weir_tf_put(data + at + 8, 4, weir_crc32c_mask(weir_crc32c(0, data + at, 8)));
    const uint64_t length = weir_tf_u64(data + at);

    at += WEIR_TF_HEAD;
    if (length > (uint64_t)(size - at) || size - at - (int64_t)length < WEIR_TF_TAIL) {
      return;
    }
    const uint32_t crc = weir_crc32c_mask(weir_crc32c(0, data + at, (int64_t)length));

    at += (int64_t)length;
    weir_tf_put(data + at, 4, crc);
    at += WEIR_TF_TAIL;
  }
}

static void check_file(const char *path)
{
  weir_tfrecord *r = NULL;
  bool found = true;
  weir_status status = weir_tfrecord_open(path, MOST, &r);

  while (status == WEIR_OK && found) {
    status = weir_tfrecord_next(r, &found);
    if (status == WEIR_OK && found) {
      int64_t size = 0;
      const uint8_t *const payload = weir_tfrecord_payload(r, &size);
      const uint8_t *ends[2] = {payload, payload + size};

      status = weir_tfrecord_each(r, check_feature, ends);
    }
  }
  if (status != WEIR_OK && status != WEIR_ERR_DATA && status != WEIR_ERR_UNSUPPORTED) {
    abort();
  }
  reached += status == WEIR_ERR_UNSUPPORTED; /* gzip, in a build without zlib */
  weir_tfrecord_close(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const int64_t before = weir_alloc_bytes();

  if (size == 0) {
    return 0;
  }
  weir_log_set_level(WEIR_LOG_ERROR);
  if (data[0] == 'M') {
    check_message(data + 1, (int64_t)size - 1);
  } else {
    uint8_t *const copy = malloc(size);

    memcpy(copy, data + 1, size - 1);
    mend(copy, size > 2 && copy[0] == 0x1f ? 0 : (int64_t)size - 1);
    check_file(fuzz_folder_write(0, "x.tfrecord", copy, size - 1));
    free(copy);
  }
  if (weir_alloc_bytes() != before) {
    abort();
  }
  return 0;
}
