/* peer.h - a numpy or scipy program as the peer of a measurement: its inputs and outputs are raw
 * files in a temporary folder, it times itself, and its outputs are compared before any row. */
#ifndef WEIR_BENCH_PEER_H
#define WEIR_BENCH_PEER_H
#include <stddef.h>
#include <stdint.h>

enum { PEER_ARRAYS = 8, PEER_SKIP = 77 /* exit status of a program that could measure nothing */ };

/* An input: `count` elements of dtype "f4", "f8", "i8" or "u1" (presence, a bool to numpy), which
 * the function takes as its argument `name`. */
typedef struct peer_input {
  const char *name, *dtype;
  const void *data;
  int64_t count;
} peer_input;

/* What the peer did: seconds of its best run, and its outputs in the order of the function. */
typedef struct peer_result {
  double seconds;
  int n;
  void *data[PEER_ARRAYS];
  int64_t bytes[PEER_ARRAYS];
} peer_result;

/* Whether /usr/bin/python3 has numpy and that module; if not, says so on stderr, and which Debian
 * package has it. */
int peer_ready(const char *module, const char *package);
/* Whether it has that module, or build/peers has (workflows/setup.sh peers). */
int peer_has(const char *module);
/* Calls `function` of tests/bench/`script` with the inputs and `arguments` ("window=60 method=1",
 * numbers; NULL: none) on that many threads, `runs` times after one that is not timed. Exits with 8
 * when it fails. The result is the caller's: peer_free. */
peer_result peer_run(const char *script, const char *function, const char *arguments, int runs,
                     int threads, const peer_input *in, int n_in);
void peer_free(peer_result *r);
/* Exits with 6, naming the worst element, unless output k has the `count` elements that came here
 * and each is within `tolerance` x max(1, |peer's|) of `own`; NaN is like NaN only. */
void peer_same_f32(const char *work, const peer_result *r, int k, const float *own, int64_t count,
                   double tolerance);
/* The same for presence: every byte equal. */
void peer_same_u8(const char *work, const peer_result *r, int k, const uint8_t *own, int64_t count);
/* The row: `events` a second of both; goal as bench_row. */
void peer_row(const char *work, const char *peer, double events, double peer_seconds,
              double own_seconds, double goal);

#endif
