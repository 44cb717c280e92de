/* weir_flags.h - bits of a stream of flags: quality of the samples of another stream.
 *
 * A stream of flags has the unit "flags"; its f32 value is the sum of the bits that hold, exact.
 * Flagged samples are kept, never dropped. */
#ifndef WEIR_FLAGS_H
#define WEIR_FLAGS_H
#ifdef __cplusplus
extern "C" {
#endif

/* X(name, bit, text): the bit is 1 << bit. A table of docs/science/physio_stream.md too. */
// clang-format off
#define WEIR_FLAG_LIST(X)                                                    \
  X(MISSING,       0, "no sample")                                           \
  X(FILLED,        1, "filled by a fill rule")                               \
  X(INTERPOLATED,  2, "interpolated linearly over a short gap")              \
  X(SATURATED,     3, "at the limit of the converter's range")               \
  X(FLAT,          4, "flat line")                                           \
  X(SPIKE,         5, "spike")                                               \
  X(WANDER,        6, "baseline wander")                                     \
  X(MAINS,         7, "mains interference")                                  \
  X(LEAD_OFF,      8, "lead off")                                            \
  X(FLUSH,         9, "flush or zeroing of a pressure line")                 \
  X(SETTLING,     10, "a filter has not settled after a start")              \
  X(CLOCK_JUMP,   11, "clock jump")
// clang-format on

typedef enum weir_flag {
#define X(name, bit, text) WEIR_FLAG_##name = 1 << (bit),
  WEIR_FLAG_LIST(X)
#undef X
} weir_flag;

#define WEIR_FLAG_UNIT "flags"

#ifdef __cplusplus
}
#endif
#endif
