/* eval_clock.h - the clock on which the beats of two annotation files are compared. */
#ifndef PS_EVAL_CLOCK_H
#define PS_EVAL_CLOCK_H
#include "page/eval_scored.h"

/* Finds the record of s->files and the rates of their times, and sets s->signal, s->clock, s->end
 * and the rate of samples. Times of a file that states its time resolution are exact on the clock;
 * those of others count 1/eval.fs, or where that is 0, frames of the record. Without a record the
 * length is unknown.
 * Fails: WEIR_ERR_DATA where a file states no resolution and nothing else does, or signals of
 * several rates in a file without frames leave it open; as ps_beats_rate, weir_record_read_clock.
 */
weir_status ps_eval_clock(const ps_cfg *cfg, ps_scored *s) WEIR_CHECKED;
/* Sets the rate of times that a and b count exactly, the least common multiple of their rates, or
 * where that is over 10 MHz a multiple of the higher one of at least 100 kHz. */
void ps_common_clock(const int64_t a[2], const int64_t b[2], int64_t out[2]);
#endif
