/* envelope.h - the least and greatest sample of each bin of a signal, made in one pass in bounded
 * memory. Where bins become too many, pairs of them become one. */
#ifndef PS_ENVELOPE_H
#define PS_ENVELOPE_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "base/weir_status.h"

typedef struct ps_envelope {
  int64_t bin;         /* slots of a bin; 1: every sample is there   */
  int64_t slots;       /* seen so far, absent ones included          */
  int64_t max_bins;    /* of more than one slot                      */
  int64_t capacity;    /* bins that there is memory for              */
  float *least, *most; /* [capacity], of the bins with samples; owned */
  int32_t *present;    /* [capacity] samples of each bin; owned      */
} ps_envelope;

/* Initialises the envelope of a signal of `count` slots (negative: not known) whose text
 * (ps_envelope_put) may have about `bytes` bytes; all zero is empty. Fails: WEIR_ERR_MEMORY. */
weir_status ps_envelope_init(int64_t count, int64_t bytes, ps_envelope *e) WEIR_CHECKED;
void ps_envelope_fini(ps_envelope *e);
/* Takes slots [lo, hi): samples and whether they are present, each [hi - lo]. A slot is given once,
 * at most; what is not given is absent, and so is what is not finite. */
void ps_envelope_take(ps_envelope *e, int64_t lo, int64_t hi, const float *x,
                      const uint8_t *present);
/* Ends the signal after so many slots. */
void ps_envelope_end(ps_envelope *e, int64_t slots);
/* Returns the number of bins. */
int64_t ps_envelope_bins(const ps_envelope *e);

/* Bins of a tile: numbers that share a scale. */
enum { PS_ENVELOPE_TILE = 4096, PS_ENVELOPE_ABSENT = 65535 };
/* Writes the envelope as members of a JSON object: "bin", "slots" and "tiles", of PS_ENVELOPE_TILE
 * bins each: 0 where all is absent, else [offset, step, codes, gaps]. codes: base64 of unsigned
 * 16-bit integers, little-endian, one for each bin of one slot, otherwise two, of its least and its
 * greatest sample; value = offset + code * step, PS_ENVELOPE_ABSENT: no sample. Rounding widens a
 * bin by less than a step. gaps: base64 of a bit for each bin, set where slots of it are absent, or
 * "" where there are none. */
void ps_envelope_put(const ps_envelope *e, FILE *out);
/* Writes n samples, NaN where absent, in the same way: offset, step, codes. */
void ps_envelope_put_samples(const float *x, int64_t n, FILE *out);
#endif
