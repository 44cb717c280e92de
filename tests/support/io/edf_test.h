/* edf_test.h - EDF files put together in memory, for the tests of this folder. */
#ifndef WEIR_EDF_TEST_H
#define WEIR_EDF_TEST_H
#include "io/edf/edf_priv.h"
#include "support/io/io_test.h"

/* One signal as text, and how its samples are made: raw = digital minimum + (slope * index) %
 * range. */
typedef struct made_signal {
  const char *label, *units, *physical_min, *physical_max, *digital_min, *digital_max;
  int per_record;
} made_signal;

/* A file: stamps[record] is the text of the first list, NULL for records without one. */
typedef struct made_file {
  const char *reserved, *records, *duration;
  const made_signal *signals;
  int n_signals, n_records;
  const char *const *stamps;
} made_file;

enum { MADE_BYTES = 1 << 16 };

static inline void put_field(char *at, int size, const char *text)
{
  memset(at, ' ', (size_t)size);
  memcpy(at, text, strlen(text));
}

/* Raw value of sample `i` of signal `s`, counted over the records of the file. */
static inline int32_t made_raw(int s, int64_t i)
{
  return (int32_t)((i * (7 + s) + 1000 * s) % 4001 - 2000);
}

static inline void put_header(const made_file *f, bool bdf, char *to)
{
  char text[16];

  memset(to, ' ', (size_t)(256 * (f->n_signals + 1)));
  put_field(to, 8,
            bdf ? "\xFF"
                  "BIOSEMI"
                : "0");
  put_field(to + 8, 80, "MCH-0234567 F 02-MAY-1951 Haagse_Harry");
  put_field(to + 168, 16, "31.12.0523.59.58");
  snprintf(text, sizeof text, "%d", 256 * (f->n_signals + 1));
  put_field(to + 184, 8, text);
  put_field(to + 192, 44, f->reserved);
  put_field(to + 236, 8, f->records);
  put_field(to + 244, 8, f->duration);
  snprintf(text, sizeof text, "%d", f->n_signals);
  put_field(to + 252, 4, text);
  for (int i = 0, n = f->n_signals; i < n; i++) {
    const made_signal *const s = &f->signals[i];

    snprintf(text, sizeof text, "%d", s->per_record);
    put_field(to + 256 + i * 16, 16, s->label);
    put_field(to + 256 + n * 96 + i * 8, 8, s->units);
    put_field(to + 256 + n * 104 + i * 8, 8, s->physical_min);
    put_field(to + 256 + n * 112 + i * 8, 8, s->physical_max);
    put_field(to + 256 + n * 120 + i * 8, 8, s->digital_min);
    put_field(to + 256 + n * 128 + i * 8, 8, s->digital_max);
    put_field(to + 256 + n * 216 + i * 8, 8, text);
  }
}

/* Puts the file together; returns its size. */
static inline size_t make_edf(const made_file *f, bool bdf, char *to)
{
  const int width = bdf ? 3 : 2;
  char *at = to + 256 * (f->n_signals + 1);

  put_header(f, bdf, to);
  for (int r = 0; r < f->n_records; r++) {
    for (int i = 0; i < f->n_signals; i++) {
      const int n = f->signals[i].per_record;

      if (strstr(f->signals[i].label, "Annotations")) {
        memset(at, 0, (size_t)(n * width));
        if (f->stamps && f->stamps[r]) {
          memcpy(at, f->stamps[r], strlen(f->stamps[r]));
        }
        at += n * width;
        continue;
      }
      for (int k = 0; k < n; k++) {
        const int32_t raw = made_raw(i, (int64_t)r * n + k);

        for (int b = 0; b < width; b++) {
          *at++ = (char)((uint32_t)raw >> (8 * b) & 255);
        }
      }
    }
  }
  assert_true(at - to <= MADE_BYTES);
  return (size_t)(at - to);
}
#endif
