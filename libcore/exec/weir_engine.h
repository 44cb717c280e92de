/* weir_engine.h - interface of the engines, which execute a loop over a box.
 *
 * All engines give bitwise identical results. The order of a reduction is part of the definition:
 * the reduced iterations of an output, in row-major order r = 0, 1, ... over the reduced
 * dimensions' whole extents, form blocks of WEIR_REDUCE_BLOCK; in a block, lane r % WEIR_LANES
 * takes its iterations in ascending order, starting from the neutral element; lanes merge as (l, l
 * + 8), (l, l + 4), (l, l
 * + 2), (l, l + 1), the lower one on the left; blocks merge as a balanced tree over block numbers
 * (adjacent pairs, level by level; a last odd one moves up unchanged). Excluded
 * iterations contribute nothing. MOMENTS: an iteration with present false is dropped too. MOMENTS
 * takes an element by n += 1, d = x - mean, mean += d / n, M2 += d * (x - mean), and merges by n =
 * na + nb, d = mb - ma, mean = ma + d * (nb / n), M2 = Ma + Mb + d * d * (na * (nb / n)), the empty
 * side returning the other unchanged. SOFTMAX takes x as merge with (x, 1); merges (m, s), (m', s')
 * to M = max(m, m'), s * exp(m - M) + s' * exp(m' - M), where m - M is 0 for m = M, infinite ones
 * too (n times -inf are (-inf, n)), the neutral side returning the other unchanged. Without a
 * combine, a dropped iteration stores 0 and leaves the states as they are. A load whose index
 * leaves the array in several dimensions gives the fill of the first of them. The sign and payload
 * of a NaN are not defined. No other float operation is reordered, contracted or widened; math
 * functions are those of graph/weir_scalar.h. */
#ifndef WEIR_ENGINE_H
#define WEIR_ENGINE_H
#include "exec/weir_tier.h"
#include "graph/weir_view.h"
#include "pass/lower/weir_loop.h"
#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_REDUCE_BLOCK 4096
#define WEIR_LANES 16

/* State scalars of a scan between boxes: cell c of a point is cells[c * points + p], p the
 * row-major position of the point in the whole box of the parallel dimensions. A cell stores a
 * scalar at its start; states have one each, in order, complex ones two: the real part, then the
 * imaginary part. */
typedef struct weir_state_table {
  uint64_t *cells;
  int64_t points;
} weir_state_table;
/* Returns the number of the first cell of a state; for state n_states the number of all cells of a
 * point. */
int weir_table_before(const weir_access *a, int state);

/* One run: the iterations of `box` (a sub-box; reduced dimensions always complete). Views are in
 * operand order; ROLE_STATE operands have none (the driver moves states between cells and arrays).
 * Sequential dimensions continue from `state` and advance it. */
typedef struct weir_loop_run {
  weir_box box;
  const weir_view *in, *out;
  weir_state_table *state;
  uint32_t past; /* bit o: output o is not read again soon, and may be written past the caches */
} weir_loop_run;

typedef struct weir_engine_opts {
  const char *compiler;  /* of the native engine: command, "" for cc  */
  const char *cache_dir; /* of its objects: "" for the user's default */
  int threads;           /* maximum number of concurrent callers */
  void *backend;         /* of loops for a device: exec_backend       */
} weir_engine_opts;

typedef struct weir_engine {
  const char *name; /* weir_tier_name */
  weir_tier tier;
  /* Prepares n loops at once (one start of a compiler). contexts[k] belongs to loop k. */
  weir_status (*prepare)(const weir_loop *const *loops, int32_t n, const weir_engine_opts *opts,
                         void **contexts);
  void (*run)(void *context, const weir_loop_run *run); /* thread-safe; cannot fail */
  void (*release)(void *context);
} weir_engine;

/* The engines of this build, NULL-terminated: generated. */
extern const weir_engine *const weir_engine_table[];
extern const weir_engine weir_engine_reference, weir_engine_vector, weir_engine_native;

#ifdef __cplusplus
}
#endif
#endif
