/* flac_flac.c - signal files of the formats 508, 516 and 524: FLAC streams, one channel a signal,
 * decoded block by block; only the current block is in memory. */
#include <FLAC/stream_decoder.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "io/io_priv.h"
#include "io/wfdb/wfdb_priv.h"

/* Farther ahead than this, seeking is quicker than decoding what lies between. */
enum { NEAR = 4 * 65536 };

struct weir_wfdb_flac {
  int fd;
  const char *path;
  int64_t offset, bytes;      /* range of the stream in the file */
  int64_t at;                 /* next byte the decoder reads, from `offset` */
  int channels, bits;         /* as the header says */
  int own_channels, own_bits; /* as the stream says; 0 until its description is read */
  FLAC__StreamDecoder *decoder;
  int64_t first, count; /* samples of the block at hand, of each channel */
  int64_t blocks;       /* how many have been decoded */
  bool damaged;
  weir_status trouble; /* of reading or memory, inside the library's calls */
  int64_t capacity;
  int32_t *block; /* [channels, count] */
};

bool weir_wfdb_flac_available(void)
{
  return true;
}

static FLAC__StreamDecoderReadStatus on_read(const FLAC__StreamDecoder *decoder,
                                             FLAC__byte buffer[], size_t *bytes, void *data)
{
  weir_wfdb_flac *const f = data;
  const int64_t left = f->bytes - f->at;

  (void)decoder;
  if (left <= 0) {
    *bytes = 0;
    return FLAC__STREAM_DECODER_READ_STATUS_END_OF_STREAM;
  }
  *bytes = (int64_t)*bytes < left ? *bytes : (size_t)left;
  f->trouble = weir_io_pread(f->fd, f->path, buffer, *bytes, f->offset + f->at);
  if (f->trouble != WEIR_OK) {
    return FLAC__STREAM_DECODER_READ_STATUS_ABORT;
  }
  f->at += (int64_t)*bytes;
  return FLAC__STREAM_DECODER_READ_STATUS_CONTINUE;
}

static FLAC__StreamDecoderSeekStatus on_seek(const FLAC__StreamDecoder *decoder, FLAC__uint64 to,
                                             void *data)
{
  weir_wfdb_flac *const f = data;

  (void)decoder;
  if (to > (FLAC__uint64)f->bytes) {
    return FLAC__STREAM_DECODER_SEEK_STATUS_ERROR;
  }
  f->at = (int64_t)to;
  return FLAC__STREAM_DECODER_SEEK_STATUS_OK;
}

static FLAC__StreamDecoderTellStatus on_tell(const FLAC__StreamDecoder *decoder, FLAC__uint64 *at,
                                             void *data)
{
  (void)decoder;
  *at = (FLAC__uint64)((const weir_wfdb_flac *)data)->at;
  return FLAC__STREAM_DECODER_TELL_STATUS_OK;
}

static FLAC__StreamDecoderLengthStatus on_length(const FLAC__StreamDecoder *decoder,
                                                 FLAC__uint64 *length, void *data)
{
  (void)decoder;
  *length = (FLAC__uint64)((const weir_wfdb_flac *)data)->bytes;
  return FLAC__STREAM_DECODER_LENGTH_STATUS_OK;
}

static FLAC__bool on_end(const FLAC__StreamDecoder *decoder, void *data)
{
  const weir_wfdb_flac *const f = data;

  (void)decoder;
  return f->at >= f->bytes;
}

static void on_error(const FLAC__StreamDecoder *decoder, FLAC__StreamDecoderErrorStatus status,
                     void *data)
{
  (void)decoder;
  (void)status;
  ((weir_wfdb_flac *)data)->damaged = true;
}

static void on_info(const FLAC__StreamDecoder *decoder, const FLAC__StreamMetadata *info,
                    void *data)
{
  weir_wfdb_flac *const f = data;

  (void)decoder;
  if (info->type == FLAC__METADATA_TYPE_STREAMINFO) {
    f->own_channels = (int)info->data.stream_info.channels;
    f->own_bits = (int)info->data.stream_info.bits_per_sample;
  }
}

/* Keeps a decoded block. The library has bounded its length: at most 65535 samples. */
static FLAC__StreamDecoderWriteStatus on_block(const FLAC__StreamDecoder *decoder,
                                               const FLAC__Frame *frame,
                                               const FLAC__int32 *const samples[], void *data)
{
  weir_wfdb_flac *const f = data;
  const int64_t n = frame->header.blocksize;

  (void)decoder;
  if ((int)frame->header.channels != f->channels || (int)frame->header.bits_per_sample > f->bits ||
      frame->header.number.sample_number > (FLAC__uint64)WEIR_WFDB_MAX_FRAMES) {
    f->damaged = true;
    return FLAC__STREAM_DECODER_WRITE_STATUS_ABORT;
  }
  f->trouble = weir_reserve(&f->block, &f->capacity, n * f->channels, sizeof *f->block);
  if (f->trouble != WEIR_OK) {
    return FLAC__STREAM_DECODER_WRITE_STATUS_ABORT;
  }
  for (int c = 0; c < f->channels; c++) {
    memcpy(f->block + c * n, samples[c], (size_t)n * sizeof *f->block);
  }
  f->first = (int64_t)frame->header.number.sample_number;
  f->count = n;
  f->blocks++;
  return FLAC__STREAM_DECODER_WRITE_STATUS_CONTINUE;
}

/* Decodes the next block; false at the end of the stream, and for damage. */
static bool next_block(weir_wfdb_flac *f)
{
  const int64_t due = f->first + f->count;
  const int64_t before = f->blocks;

  while (f->blocks == before && !f->damaged && f->trouble == WEIR_OK &&
         FLAC__stream_decoder_get_state(f->decoder) != FLAC__STREAM_DECODER_END_OF_STREAM) {
    if (!FLAC__stream_decoder_process_single(f->decoder)) {
      f->damaged = true;
    }
  }
  f->damaged = f->damaged || (f->blocks > before && f->first != due);
  return f->blocks > before && !f->damaged && f->trouble == WEIR_OK;
}

static void forget(weir_wfdb_flac *f)
{
  f->damaged = false;
  f->first = f->count = 0;
}

/* Goes to the block that holds a sample; false when there is none. */
static bool seek(weir_wfdb_flac *f, int64_t sample)
{
  forget(f);
  const FLAC__bool done = FLAC__stream_decoder_seek_absolute(f->decoder, (FLAC__uint64)sample);

  if (!done) {
    FLAC__stream_decoder_flush(f->decoder);
  }
  return done && !f->damaged && f->trouble == WEIR_OK && sample >= f->first &&
         sample < f->first + f->count;
}

/* Samples of a channel that can be decoded: as the stream says where its last one is found, else
 * counted. */
static weir_status count_samples(weir_wfdb_flac *f, int64_t *samples)
{
  const FLAC__uint64 total = FLAC__stream_decoder_get_total_samples(f->decoder);

  if (total > 0 && total <= (FLAC__uint64)WEIR_WFDB_MAX_FRAMES && seek(f, (int64_t)total - 1) &&
      f->first + f->count == (int64_t)total) {
    *samples = (int64_t)total;
    return WEIR_OK;
  }
  WEIR_TRY(f->trouble);
  forget(f);
  if (!FLAC__stream_decoder_reset(f->decoder) ||
      !FLAC__stream_decoder_process_until_end_of_metadata(f->decoder)) {
    WEIR_TRY(f->trouble);
    return weir_fail(WEIR_ERR_DATA, "%s: the FLAC stream cannot be read again", f->path);
  }
  int64_t known = 0;

  while (next_block(f)) {
    known = f->first + f->count;
  }
  *samples = known;
  return f->trouble;
}

static weir_status start(weir_wfdb_flac *f)
{
  f->decoder = FLAC__stream_decoder_new();
  if (!f->decoder) {
    return weir_fail(WEIR_ERR_MEMORY, "%s: out of memory for a FLAC decoder", f->path);
  }
  const FLAC__StreamDecoderInitStatus status = FLAC__stream_decoder_init_stream(
      f->decoder, on_read, on_seek, on_tell, on_length, on_end, on_block, on_info, on_error, f);

  if (status != FLAC__STREAM_DECODER_INIT_STATUS_OK) {
    return weir_fail(WEIR_ERR_EXTERNAL, "%s: %s", f->path,
                     FLAC__StreamDecoderInitStatusString[status]);
  }
  const FLAC__bool read = FLAC__stream_decoder_process_until_end_of_metadata(f->decoder);

  WEIR_TRY(f->trouble);
  if (!read || f->damaged || f->own_channels == 0) {
    return weir_fail(WEIR_ERR_DATA, "%s: byte %lld: not a FLAC stream", f->path,
                     (long long)f->offset);
  }
  if (f->own_channels != f->channels || f->own_bits > f->bits) {
    return weir_fail(
        WEIR_ERR_DATA,
        "%s: a FLAC stream of %d channels and %d bits, the header says %d signals of %d "
        "bits",
        f->path, f->own_channels, f->own_bits, f->channels, f->bits);
  }
  return WEIR_OK;
}

weir_status weir_wfdb_flac_open(const weir_wfdb_flac_range *range, weir_wfdb_flac **out,
                                int64_t *samples)
{
  void *memory = NULL;
  weir_wfdb_flac *f = NULL;
  weir_status status = WEIR_OK;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof *f, &memory));
  f = memory;
  f->fd = range->fd;
  f->path = range->path;
  f->offset = range->offset;
  f->bytes = range->bytes;
  f->channels = range->channels;
  f->bits = range->bits;
  WEIR_TRY_GOTO(start(f), fail);
  WEIR_TRY_GOTO(count_samples(f, samples), fail);
  *out = f;
  return WEIR_OK;
fail:
  weir_wfdb_flac_close(&f);
  return status;
}

void weir_wfdb_flac_close(weir_wfdb_flac **f)
{
  if (!*f) {
    return;
  }
  if ((*f)->decoder) {
    FLAC__stream_decoder_delete((*f)->decoder);
  }
  weir_free(&(*f)->block);
  weir_free(f);
}

/* Makes the block at hand hold a sample. */
static weir_status reach(weir_wfdb_flac *f, int64_t sample)
{
  bool good = true;

  if (sample >= f->first && sample < f->first + f->count) {
    return WEIR_OK;
  }
  if (f->count == 0 || sample < f->first || sample > f->first + f->count + NEAR) {
    good = seek(f, sample);
  } else {
    while (good && sample >= f->first + f->count) {
      good = next_block(f);
    }
  }
  if (good) {
    return WEIR_OK;
  }
  f->count = 0; /* so that the next try seeks */
  const weir_status trouble = f->trouble;

  f->trouble = WEIR_OK;
  WEIR_TRY(trouble);
  return weir_fail(WEIR_ERR_DATA, "%s: the FLAC stream is damaged at sample %lld", f->path,
                   (long long)sample);
}

weir_status weir_wfdb_flac_read(weir_wfdb_flac *f, int64_t first, int64_t n, int spf, int32_t *out)
{
  const int64_t width = (int64_t)spf * f->channels;

  for (int64_t i = 0; i < n;) {
    WEIR_TRY(reach(f, first + i));
    const int64_t from = first + i - f->first;
    const int64_t m = n - i < f->count - from ? n - i : f->count - from;

    for (int c = 0; c < f->channels; c++) {
      const int32_t *const x = f->block + c * f->count + from;
      int32_t *frame = out + i / spf * width + c * spf;
      int at = (int)(i % spf);

      for (int64_t k = 0; k < m; k++) {
        frame[at++] = x[k];
        if (at == spf) {
          frame += width;
          at = 0;
        }
      }
    }
    i += m;
  }
  return WEIR_OK;
}
