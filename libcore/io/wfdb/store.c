/* store.c - the signal files of one plain record: checked sizes, samples on demand by pread. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "io/io_priv.h"
#include "io/wfdb/wfdb_priv.h"

/* The signals that share a file, multiplexed frame by frame. */
typedef struct group {
  int fd;
  char *path;
  const weir_wfdb_codec *codec;
  int64_t offset, bytes; /* where the samples start, and how many bytes there are */
  int64_t width;         /* samples of a frame */
  int channels;          /* signals */
  weir_wfdb_flac *flac;  /* NULL unless the format is compressed */
  int64_t frames;        /* whole frames in the file */
} group;

enum { MARKS = 256 };

/* Running sum of a signal stored as differences: marks[k] is the value before sample k * stride. */
typedef struct sums {
  int64_t stride, known;
  int64_t next; /* the sample after the one summed last */
  int32_t value;
  int32_t marks[MARKS];
} sums;

typedef struct column {
  int64_t group; /* -1: a null signal */
  int64_t slot;  /* first sample within the frame */
  sums *sums;    /* NULL unless the format stores differences */
} column;

struct weir_wfdb_store {
  int64_t id; /* key of the shared block */
  weir_wfdb_header header;
  int64_t n_groups;
  group *groups;
  int64_t group_capacity, column_capacity;
  column *columns;
};

static weir_status open_group(group *g, const weir_wfdb_signal *s, const char *dir, bool *missing)
{
  char path[4096];
  int64_t size = 0;

  WEIR_TRY(weir_path_join(dir[0] ? dir : ".", s->file, path, sizeof path));
  if (missing && access(path, F_OK) != 0 && errno == ENOENT) {
    *missing = true;
    return WEIR_OK;
  }
  WEIR_TRY(weir_strdup(path, &g->path));
  WEIR_TRY(weir_io_open(path, &g->fd, &size));
  g->codec = s->codec;
  g->offset = s->offset;
  g->bytes = size > s->offset ? size - s->offset : 0;
  return WEIR_OK;
}

/* Places every signal in its group's frame. */
static weir_status build_groups(weir_wfdb_store *s, const char *dir, bool *missing)
{
  const weir_wfdb_header *const h = &s->header;

  WEIR_TRY(weir_reserve(&s->columns, &s->column_capacity, h->n_listed, sizeof *s->columns));
  for (int64_t i = 0; i < h->n_listed; i++) {
    const weir_wfdb_signal *const signal = &h->signals[i];
    const bool joins = i > 0 && signal->file && h->signals[i - 1].file &&
                       strcmp(signal->file, h->signals[i - 1].file) == 0;

    if (!signal->file) {
      s->columns[i].group = -1;
      continue;
    }
    if (!joins) {
      WEIR_TRY(weir_reserve(&s->groups, &s->group_capacity, s->n_groups + 1, sizeof *s->groups));
      s->groups[s->n_groups].fd = -1;
      s->n_groups++;
      WEIR_TRY(open_group(&s->groups[s->n_groups - 1], signal, dir, missing));
      if (missing && *missing) {
        return WEIR_OK;
      }
    }
    group *const g = &s->groups[s->n_groups - 1];

    s->columns[i].group = s->n_groups - 1;
    s->columns[i].slot = g->width;
    g->width += signal->spf;
    g->channels++;
  }
  return WEIR_OK;
}

/* Whole frames in a group's file. */
static weir_status count_frames(group *g)
{
  const weir_wfdb_flac_range range = {.fd = g->fd,
                                      .path = g->path,
                                      .offset = g->offset,
                                      .bytes = g->bytes,
                                      .channels = g->channels,
                                      .bits = g->codec->bits};
  int64_t samples = 0;

  if (!g->codec->compressed) {
    g->frames = weir_wfdb_codec_samples(g->codec, g->bytes) / g->width;
    return WEIR_OK;
  }
  WEIR_TRY(weir_wfdb_flac_open(&range, &g->flac, &samples));
  g->frames = samples / (g->width / g->channels);
  return WEIR_OK;
}

static weir_status check_sizes(weir_wfdb_store *s, bool allow_short)
{
  weir_wfdb_header *const h = &s->header;
  int64_t found = INT64_MAX;
  const group *shortest = NULL;

  for (int64_t i = 0; i < s->n_groups; i++) {
    group *const g = &s->groups[i];

    WEIR_TRY(count_frames(g));
    if (g->frames < found) {
      found = g->frames;
      shortest = g;
    }
  }
  if (h->frames == 0 && shortest) {
    h->frames = found;
  }
  if (shortest && found < h->frames && !allow_short) {
    return weir_fail_option(
        weir_fail(WEIR_ERR_DATA,
                  "record %s: %lld frames declared, %s holds %lld (%lld bytes from byte %lld): "
                  "the file is truncated; allow_short reads what exists",
                  h->name, (long long)h->frames, shortest->path, (long long)found,
                  (long long)shortest->bytes, (long long)shortest->offset),
        "allow_short");
  }
  for (int64_t i = 0; i < s->n_groups; i++) {
    s->groups[i].frames = s->groups[i].frames < h->frames ? s->groups[i].frames : h->frames;
  }
  return h->frames <= WEIR_WFDB_MAX_FRAMES
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA, "record %s: too many frames", h->name);
}

static weir_status build_sums(weir_wfdb_store *s)
{
  for (int64_t i = 0; i < s->header.n_listed; i++) {
    const weir_wfdb_signal *const signal = &s->header.signals[i];
    const int64_t total = s->header.frames * signal->spf;
    void *memory = NULL;

    if (!signal->codec->differences) {
      continue;
    }
    WEIR_TRY(weir_alloc(1, sizeof(sums), &memory));
    s->columns[i].sums = memory;
    s->columns[i].sums->stride = total / MARKS + 4096;
    s->columns[i].sums->value = signal->initial;
    s->columns[i].sums->marks[0] = signal->initial;
    s->columns[i].sums->known = 1;
  }
  return WEIR_OK;
}

weir_status weir_wfdb_store_open(weir_wfdb_header *h, const char *dir, bool allow_short,
                                 weir_wfdb_block *block, bool *missing, weir_wfdb_store **out)
{
  void *memory = NULL;
  weir_wfdb_store *s = NULL;
  weir_status status = WEIR_OK;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof *s, &memory));
  s = memory;
  s->id = ++block->next_store;
  s->header = *h;
  *h = (weir_wfdb_header){0};
  WEIR_TRY_GOTO(build_groups(s, dir, missing), fail);
  if (missing && *missing) {
    goto fail;
  }
  WEIR_TRY_GOTO(check_sizes(s, allow_short), fail);
  WEIR_TRY_GOTO(build_sums(s), fail);
  *out = s;
  return WEIR_OK;
fail:
  weir_wfdb_store_close(&s);
  return status;
}

void weir_wfdb_store_close(weir_wfdb_store **s)
{
  if (!*s) {
    return;
  }
  for (int64_t i = 0; i < (*s)->n_groups; i++) {
    if ((*s)->groups[i].fd >= 0) {
      close((*s)->groups[i].fd);
    }
    weir_wfdb_flac_close(&(*s)->groups[i].flac);
    weir_free(&(*s)->groups[i].path);
  }
  for (int64_t i = 0; i < (*s)->column_capacity; i++) {
    weir_free(&(*s)->columns[i].sums);
  }
  weir_free(&(*s)->groups);
  weir_free(&(*s)->columns);
  weir_wfdb_header_fini(&(*s)->header);
  weir_free(s);
}

const weir_wfdb_header *weir_wfdb_store_header(const weir_wfdb_store *s)
{
  return &s->header;
}

/* The same as `load` for a FLAC stream: whole frames, as many as fit. */
static weir_status load_flac(weir_wfdb_store *s, weir_wfdb_block *b, int64_t index, int64_t first,
                             int64_t last)
{
  const group *const g = &s->groups[index];
  const int spf = (int)(g->width / g->channels);
  const int64_t frame = first / g->width;
  const int64_t wanted = (last + g->width - 1) / g->width - frame;
  const int64_t max_frames = WEIR_WFDB_BLOCK / g->width; /* 8 channels of 1024 samples fit once */
  const int64_t frames = wanted < max_frames ? wanted : max_frames;

  b->store = 0;
  WEIR_TRY(weir_wfdb_flac_read(g->flac, frame * spf, frames * spf, spf, b->samples));
  b->store = s->id;
  b->group = index;
  b->first = frame * g->width;
  b->count = frames * g->width;
  return WEIR_OK;
}

/* Makes the block hold sample `first` of a group's multiplexed sequence, and those after it up to
 * `last` (exclusive) as far as there is space. */
static weir_status load(weir_wfdb_store *s, weir_wfdb_block *b, int64_t index, int64_t first,
                        int64_t last)
{
  const group *const g = &s->groups[index];
  const weir_wfdb_codec *const c = g->codec;
  const int64_t whole = first / c->samples * c->samples;
  const int64_t end = last - whole < WEIR_WFDB_BLOCK ? last : whole + WEIR_WFDB_BLOCK;
  const int64_t from = whole / c->samples * c->bytes;
  int64_t bytes = (end - whole + c->samples - 1) / c->samples * c->bytes;
  const int64_t wanted = bytes;

  bytes = bytes < g->bytes - from ? bytes : g->bytes - from;
  b->store = 0;
  WEIR_TRY(weir_io_pread(g->fd, g->path, b->bytes, (size_t)bytes, g->offset + from));
  memset(b->bytes + bytes, 0, (size_t)(wanted - bytes));
  c->decode(b->bytes, end - whole, b->samples);
  b->store = s->id;
  b->group = index;
  b->first = whole;
  b->count = end - whole;
  return WEIR_OK;
}

/* Stored numbers [first, first + n) of a signal, all inside the file. */
static weir_status fetch(weir_wfdb_store *s, weir_wfdb_block *b, int signal, int64_t first,
                         int64_t n, int32_t *out)
{
  const column *const c = &s->columns[signal];
  const group *const g = &s->groups[c->group];
  const int64_t spf = s->header.signals[signal].spf;
  const int64_t last = (first + n - 1) / spf * g->width + c->slot + (first + n - 1) % spf + 1;
  int64_t k = first % spf;
  int64_t at = first / spf * g->width + c->slot + k; /* in the multiplexed sequence */

  for (int64_t i = 0; i < n;) {
    if (b->store != s->id || b->group != c->group || at < b->first || at >= b->first + b->count) {
      /* Frames wider than a quarter of a block: decode this signal's samples only. */
      const int64_t upto =
          g->width > WEIR_WFDB_BLOCK / 4 && at - k + spf < last ? at - k + spf : last;

      WEIR_TRY((g->flac ? load_flac : load)(s, b, c->group, at, upto));
    }
    const int64_t end = b->first + b->count;

    for (; i < n && at < end; i++) {
      out[i] = b->samples[at - b->first];
      if (++k == spf) {
        k = 0;
        at += g->width - spf;
      }
      at++;
    }
  }
  return WEIR_OK;
}

/* Values of a signal stored as differences. Sums wrap, as a hostile file could make them. */
static weir_status fetch_sums(weir_wfdb_store *s, weir_wfdb_block *b, int signal, int64_t first,
                              int64_t n, int32_t *out)
{
  sums *const m = s->columns[signal].sums;
  const int64_t mark = first / m->stride < m->known ? first / m->stride : m->known - 1;
  int32_t steps[1024];

  if (first < m->next || mark * m->stride > m->next) {
    m->next = mark * m->stride;
    m->value = m->marks[mark];
  }
  while (m->next < first + n) {
    const int64_t left = first + n - m->next;
    const int64_t count = left < 1024 ? left : 1024;

    WEIR_TRY(fetch(s, b, signal, m->next, count, steps));
    for (int64_t i = 0; i < count; i++, m->next++) {
      if (m->next == m->known * m->stride && m->known < MARKS) {
        m->marks[m->known++] = m->value;
      }
      m->value = (int32_t)((uint32_t)m->value + (uint32_t)steps[i]);
      if (m->next >= first) {
        out[m->next - first] = m->value;
      }
    }
  }
  return WEIR_OK;
}

weir_status weir_wfdb_store_checksum(weir_wfdb_store *s, weir_wfdb_block *block, int signal,
                                     int *sum)
{
  const weir_wfdb_signal *const info = &s->header.signals[signal];
  const int64_t index = s->columns[signal].group;
  const int64_t total = index < 0 ? 0 : s->groups[index].frames * info->spf;
  int32_t raw[1024];
  uint32_t value = 0;

  for (int64_t first = 0; first < total; first += 1024) {
    const int64_t n = total - first < 1024 ? total - first : 1024;

    WEIR_TRY(info->codec->differences ? fetch_sums(s, block, signal, first, n, raw)
                                      : fetch(s, block, signal, first, n, raw));
    for (int64_t i = 0; i < n; i++) {
      value += (uint32_t)raw[i];
    }
  }
  *sum = (int)(value & 65535);
  return WEIR_OK;
}

int64_t weir_wfdb_store_truncated(const weir_wfdb_store *s, int signal)
{
  const int64_t index = s->columns[signal].group;

  return index < 0 ? 0
                   : (s->header.frames - s->groups[index].frames) * s->header.signals[signal].spf;
}

int64_t weir_wfdb_store_reach(const weir_wfdb_store *s, int signal)
{
  const weir_wfdb_signal *const info = &s->header.signals[signal];
  const int64_t index = s->columns[signal].group;
  const int64_t frames = index < 0 ? 0 : s->groups[index].frames - info->skew;

  return frames > 0 ? frames * info->spf : 0;
}

weir_status weir_wfdb_store_read(weir_wfdb_store *s, weir_wfdb_block *block, int signal,
                                 int64_t start, int64_t count, int32_t *raw, uint8_t *present)
{
  const weir_wfdb_signal *const info = &s->header.signals[signal];
  const weir_wfdb_codec *const c = info->codec;
  const int64_t reach = weir_wfdb_store_reach(s, signal);
  const int64_t left = start < reach ? reach - start : 0;
  const int64_t n = count < left ? count : left;

  memset(raw + n, 0, (size_t)(count - n) * sizeof *raw);
  memset(present + n, 0, (size_t)(count - n));
  if (n == 0) {
    return WEIR_OK;
  }
  const int64_t first = start + (int64_t)info->skew * info->spf;

  WEIR_TRY(c->differences ? fetch_sums(s, block, signal, first, n, raw)
                          : fetch(s, block, signal, first, n, raw));
  if (!c->has_invalid) {
    memset(present, 1, (size_t)n);
    return WEIR_OK;
  }
  for (int64_t i = 0; i < n; i++) {
    present[i] = raw[i] != c->invalid;
  }
  return WEIR_OK;
}
