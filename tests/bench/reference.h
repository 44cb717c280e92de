/* reference.h - a numpy or scipy program as the reference of a measurement: its inputs and outputs
 * are raw files in a temporary folder, it times itself, and its outputs are compared before any
 * row. */
#ifndef WEIR_BENCH_REFERENCE_H
#define WEIR_BENCH_REFERENCE_H
#include <stddef.h>
#include <stdint.h>

enum {
  REFERENCE_ARRAYS = 8,
  REFERENCE_SKIP = 77 /* exit status of a program that could measure nothing */
};

/* An input: `count` elements of dtype "f4", "f8", "i8" or "u1" (presence, a bool to numpy), which
 * the function takes as its argument `name`. */
typedef struct reference_input {
  const char *name, *dtype;
  const void *data;
  int64_t count;
} reference_input;

/* What the reference did: seconds of its best run, and its outputs in the order of the function. */
typedef struct reference_result {
  double seconds;
  char
      version[96]; /* of the library, then the form in which it was fastest, where there are more */
  int n;
  void *data[REFERENCE_ARRAYS];
  int64_t bytes[REFERENCE_ARRAYS];
} reference_result;

/* Whether build/bench-python (workflows/setup.sh bench) has that module; if not, says so on
 * stderr. */
int reference_ready(const char *module);
/* Whether the Python that reference_run starts has that module: that of build/bench-python, or
 * /usr/bin/python3 where it was not made, whose versions no row should be compared with. */
int reference_has(const char *module);
/* Whether build/dace-python has DaCe, which asks for a NumPy before 2. */
int reference_has_dace(void);
/* Calls `function` of tests/bench/`script` with the inputs and `arguments` ("window=60 method=1",
 * numbers; NULL: none) on that many threads, `runs` times after one that is not timed. Settings of
 * the environment that bind libraries to kernels or waits do not reach it. Exits with 8 when it
 * fails. The result is the caller's: reference_free. sse_dace.py runs in build/dace-python. */
reference_result reference_run(const char *script, const char *function, const char *arguments,
                               int runs, int threads, const reference_input *in, int n_in);
void reference_free(reference_result *r);
/* Exits with 6, naming the worst element, unless output k has the `count` elements that came here
 * and each is within `tolerance` x max(1, |reference's|) of `own`; NaN is like NaN only. */
void reference_same_f32(const char *work, const reference_result *r, int k, const float *own,
                        int64_t count, double tolerance);
/* The same for presence: every byte equal. */
void reference_same_u8(const char *work, const reference_result *r, int k, const uint8_t *own,
                       int64_t count);
/* The row: `events` a second of both; goal as bench_row. */
void reference_row(const char *work, const char *reference, const reference_result *r,
                   double events, double own_seconds, double goal);
/* The row of seconds of both, in ms for each of `parts`. */
void reference_row_ms(const char *work, const char *reference, const reference_result *r,
                      double parts, double own_seconds, double goal);

#endif
