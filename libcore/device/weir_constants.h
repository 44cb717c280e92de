/* weir_constants.h - constants of a device from which tiles, layouts and predicted times follow. */
#ifndef WEIR_CONSTANTS_H
#define WEIR_CONSTANTS_H
#include <stdbool.h>
#include <stdint.h>
#include "base/weir_status.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Constants of one core, or multiprocessor; times in seconds. A file states them (exec.machine,
 * cpu/constants.c); the others are detected, or the defaults of that table. */
typedef struct weir_constants {
  int64_t processors;                   /* cores, or multiprocessors */
  int64_t resident_blocks;              /* blocks of a kernel that one of them runs at a time */
  int64_t l1_bytes, l2_bytes, l3_bytes; /* caches; l3: including shared parts */
  int64_t line_bytes;                   /* cache line */
  int64_t memory_bytes;                 /* 0: not known */
  double bandwidth;                     /* bytes/s of a copy in memory, read plus write */
  double total_bandwidth;               /* the same of all processors together */
  double cache_bandwidth;               /* the same as bandwidth, in a near cache */
  double flop_rate;                     /* f32 flop/s, a fused multiply-add counted as two */
  double flop_rate_f64;                 /* the same of f64 */
  double flop_rate_bf16;                /* of products of bf16 or f16, summed in f32 */
  bool measured;                        /* bandwidth and flop_rate; false: built in */
  double load_s;                        /* element of a row that is contiguous in memory */
  double line_l1_s;                     /* element on a line of its own, in rows of at most */
  int64_t line_l1_row;                  /* line_l1_row elements; of at most line_l2_row: */
  double line_l2_s;
  int64_t line_l2_row;
  double line_far_s;         /* in longer rows */
  double row_s;              /* start of a row of a loop */
  double reduce_across_s;    /* reduced iteration, a row of results in registers */
  double reduce_along_s;     /* reduced iteration, lanes merged at the end of a row */
  double group_overhead;     /* start of a group, or of a call of a kernel */
  int64_t min_tile_points;   /* iterations from which a tile is worth its overhead */
  int64_t max_tile_points;   /* iterations of a tile without local buffers */
  double tile_flops;         /* flops of a tile of a library operator */
  int64_t group_local_bytes; /* maximum tile-local buffers of a group */
  double latency;            /* latency of a message between ranks */
  double link_bw;            /* bytes/s from one rank to another */
  int simd;                  /* weir_simd: instruction set of a cpu */
} weir_constants;

/* Returns the constants of the row `device` (NULL, or no such row: cpu), borrowed for the life of
 * the program. */
const weir_constants *weir_constants_get(const char *device);
/* Reads the constants of another device from a file of the same keys: what follows from other keys
 * is completed, nothing is detected. Fails: WEIR_ERR_CONFIG (no such file, a malformed row;
 * processors, bandwidth or flop_rate not stated), WEIR_ERR_UNSUPPORTED (a build without libyaml).
 */
weir_status weir_constants_read(const char *path, weir_constants *out) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
