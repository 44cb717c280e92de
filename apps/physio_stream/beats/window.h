/* window.h - the signal around a beat at a rate of its own, normalised: what the network of beats
 * sees. */
#ifndef PS_BEATS_WINDOW_H
#define PS_BEATS_WINDOW_H
#include <stdbool.h>
#include <stdint.h>

/* Samples k / rate, k = -before .. after - 1, from the beat on. */
typedef struct ps_beat_window {
  double rate; /* Hz */
  int64_t before, after;
  bool as_is; /* in mV: not normalised */
} ps_beat_window;

/* Returns how many samples it has. */
int64_t ps_beat_window_samples(const ps_beat_window *w);
/* Return how many slots of a signal of fs Hz before and after that of the beat it needs. */
int64_t ps_beat_window_behind(const ps_beat_window *w, double fs);
int64_t ps_beat_window_ahead(const ps_beat_window *w, double fs);
/* Makes the window of a beat of x [behind + 1 + ahead], in mV, whose slot is x[behind]; sample k
 * goes to y[k stride]. Each is the mean of x under a triangle of half width 1 / min(rate, fs)
 * around it, which is linear interpolation where fs <= rate and a low pass of gain sinc^2(f / rate)
 * where fs is higher. Unless it is left as it is, then the mean of the window is subtracted and it
 * is divided by its standard deviation, or by 0.01 mV if that is larger. */
void ps_beat_window_take(const ps_beat_window *w, double fs, const float *x, int64_t stride,
                         float *y);
#endif
