/* wfdb_priv.h - headers, sample formats and files of WFDB records (WFDB Applications Guide:
 * header(5), signal(5)). */
#ifndef WEIR_WFDB_PRIV_H
#define WEIR_WFDB_PRIV_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/weir_status.h"
#include "io/weir_record.h"

enum {
  WEIR_WFDB_MAX_SIGNALS = 1024,
  WEIR_WFDB_MAX_SPF = 1024,
  WEIR_WFDB_MAX_SEGMENTS = 100000,
  WEIR_WFDB_MAX_LINE = 1024,
  WEIR_WFDB_BLOCK = 16380, /* samples decoded at once: a multiple of every group */
};
/* Frames a header may declare: products with the limits above stay inside 63 bits. */
#define WEIR_WFDB_MAX_FRAMES (INT64_C(1) << 50)
#define WEIR_WFDB_MAX_HEADER (INT64_C(32) << 20)

/* How samples lie in a file: groups of `samples` in `bytes`, the last one possibly incomplete. */
typedef struct weir_wfdb_codec {
  int number;
  const char *name;
  int samples, bytes;
  int needs[3];     /* bytes of an incomplete group with its first 1, 2, 3 samples */
  bool differences; /* samples are first differences, to be summed from the initial value */
  bool compressed;  /* a FLAC stream: neither bytes nor decode */
  bool has_invalid;
  int bits;        /* that hold every sample */
  int32_t lo, hi;  /* range of valid samples */
  int32_t invalid; /* code of an absent sample */
  /* n samples from whole groups at `bytes`. */
  void (*decode)(const uint8_t *bytes, int64_t n, int32_t *out);
  /* n samples into whole groups, the last one filled up with 0; NULL where Weir does not write. */
  void (*encode)(const int32_t *samples, int64_t n, uint8_t *bytes);
} weir_wfdb_codec;

/* NULL when no format has that number. */
const weir_wfdb_codec *weir_wfdb_codec_find(int64_t number);
/* Numbers that this build can decode, as text "8, 16, ...". */
void weir_wfdb_codec_list(char *text, size_t size);
/* Numbers that can be encoded. */
void weir_wfdb_codec_list_written(char *text, size_t size);
/* Samples that `bytes` bytes hold. */
int64_t weir_wfdb_codec_samples(const weir_wfdb_codec *codec, int64_t bytes);

/* A FLAC stream of signals, all of them with one number of samples a frame. */
typedef struct weir_wfdb_flac weir_wfdb_flac;
/* Where a stream stands and what it must hold; fd and path stay the caller's and must outlive it.
 */
typedef struct weir_wfdb_flac_range {
  int fd;
  const char *path;
  int64_t offset, bytes;
  int channels, bits;
} weir_wfdb_flac_range;
/* True when this build has libFLAC; without it opening fails with WEIR_ERR_UNSUPPORTED. */
bool weir_wfdb_flac_available(void);
/* *samples: how many of each channel the stream holds, found by going to its end. Fails:
 * WEIR_ERR_DATA (no such stream, other channels), WEIR_ERR_MEMORY. */
weir_status weir_wfdb_flac_open(const weir_wfdb_flac_range *range, weir_wfdb_flac **out,
                                int64_t *samples) WEIR_CHECKED;
void weir_wfdb_flac_close(weir_wfdb_flac **f);
/* Samples [first, first + n) of every channel, `first` a multiple of spf, to out[frame, channel,
 * spf]. Fails: WEIR_ERR_DATA, naming the sample where the stream is damaged. */
weir_status weir_wfdb_flac_read(weir_wfdb_flac *f, int64_t first, int64_t n, int spf,
                                int32_t *out) WEIR_CHECKED;

typedef struct weir_wfdb_signal {
  char *file; /* NULL: a null signal, every sample absent */
  char *name, *units;
  const weir_wfdb_codec *codec;
  int spf, skew;
  int64_t offset; /* bytes before the first sample */
  double gain, baseline;
  int32_t initial; /* value before the first difference */
  bool has_checksum;
  int checksum;
} weir_wfdb_signal;

typedef struct weir_wfdb_segment {
  char *name; /* NULL: a null segment */
  int64_t frames;
} weir_wfdb_segment;

typedef struct weir_wfdb_header {
  char *name;
  char *comments;         /* after each '#', ended by a newline; NULL: none */
  int64_t fs_num, fs_den; /* frames per second */
  int64_t frames;         /* 0: not stated */
  int n_signals;          /* as declared; signals are listed only where n_segments is 0 */
  weir_wfdb_signal *signals;
  int64_t signal_capacity, n_listed;
  int64_t n_segments; /* segments; 0 for a plain record */
  weir_wfdb_segment *segments;
  int64_t segment_capacity;
  int start_kind; /* as weir_record_start */
  int64_t start_us;
} weir_wfdb_header;

/* Parses the text of a header; `path` is for messages. `zero_gain` as in weir_record_opts.
 * Fails: WEIR_ERR_DATA as "path:line: reason", WEIR_ERR_UNSUPPORTED for compressed formats;
 * *out needs no fini then. Accepted: 9.1 and 9.7 of the reference. */
weir_status weir_wfdb_header_parse(const char *text, int64_t size, const char *path, bool zero_gain,
                                   weir_wfdb_header *out) WEIR_CHECKED;
/* Reads `path` whole (bounded) and parses it. */
weir_status weir_wfdb_header_read(const char *path, bool zero_gain,
                                  weir_wfdb_header *out) WEIR_CHECKED;
void weir_wfdb_header_fini(weir_wfdb_header *h);

/* True for a path of a header, or one that becomes it with .hea. */
bool weir_wfdb_claims(const char *path);
/* Folder of a path ("" for the current one) and the path of its header, into texts of `size` bytes.
 * Fails: WEIR_ERR_DATA for a path that is too long. */
weir_status weir_wfdb_split_path(const char *path, char *dir, char *header,
                                 size_t size) WEIR_CHECKED;
/* As weir_record_files. */
weir_status weir_wfdb_files(const char *path, weir_record_paths *out) WEIR_CHECKED;
/* Rate and length as the header at `path` states them. Fails: as weir_wfdb_header_read. */
weir_status weir_wfdb_clock(const char *path, weir_record_clock *out) WEIR_CHECKED;

/* The block of samples decoded last, shared by all files of a record: fixed size. */
typedef struct weir_wfdb_block {
  int64_t store, group, first, count; /* content: store id 0 is none */
  int64_t next_store;
  int32_t samples[WEIR_WFDB_BLOCK];
  uint8_t bytes[WEIR_WFDB_BLOCK * 4 + 8];
} weir_wfdb_block;

typedef struct weir_wfdb_store weir_wfdb_store;

/* Opens the signal files of a plain record below `dir` ("" is the current folder) and takes the
 * header over (*h is then empty). Sizes are checked against h->frames; where that is 0 it is set
 * from the files.
 * `missing` NULL: an absent file is an error; else it is reported there and the call succeeds with
 * *out NULL, *h being freed. Fails: WEIR_ERR_DATA, WEIR_ERR_MEMORY. */
weir_status weir_wfdb_store_open(weir_wfdb_header *h, const char *dir, bool allow_short,
                                 weir_wfdb_block *block, bool *missing,
                                 weir_wfdb_store **out) WEIR_CHECKED;
void weir_wfdb_store_close(weir_wfdb_store **s);
const weir_wfdb_header *weir_wfdb_store_header(const weir_wfdb_store *s);
/* Stored samples [start, start + count) of a signal, skew removed; those beyond the file's end are
 * absent (0). 0 <= start, start + count <= frames * spf. */
weir_status weir_wfdb_store_read(weir_wfdb_store *s, weir_wfdb_block *block, int signal,
                                 int64_t start, int64_t count, int32_t *raw,
                                 uint8_t *present) WEIR_CHECKED;
/* Sum modulo 65536 of a signal's samples as they stand in the file. */
weir_status weir_wfdb_store_checksum(weir_wfdb_store *s, weir_wfdb_block *block, int signal,
                                     int *sum) WEIR_CHECKED;
/* Samples of `signal` that the header declares and its truncated file lacks. */
int64_t weir_wfdb_store_truncated(const weir_wfdb_store *s, int signal);
/* Slots of a signal that its file reaches, from slot 0. */
int64_t weir_wfdb_store_reach(const weir_wfdb_store *s, int signal);
#endif
