/* exchange_butterfly.h - means over a group of ranks that leave out who is silent: the butterfly
 * allreduce of Ryabinin et al., "Moshpit SGD" (NeurIPS 2021, arXiv:2103.03239) and of Diskin et
 * al., "Distributed deep learning in open collaborations" (NeurIPS 2021, arXiv:2106.10207).
 *
 * Each rank is the reducer of a share of the elements: it gets that of every other rank, takes the
 * mean and sends it to all. Who has sent nothing within a timeout is left out, and not waited for
 * again until something of it arrives. A share whose reducer is silent for twice as long has no
 * mean; shares move on by one rank from version to version, so that it is another one in the next.
 * All ranks that get the mean of a share get the same bits. (The published programs send
 * differences, which each rank adds to its own values, so that these differ by rounding.)
 *
 * Elements are divided into segments, each with shares of its own, which are all under way at once:
 * means of the first ones return while contributions to the last ones are sent, so that a link has
 * both directions in use. A link of bandwidth b takes about V (1 + (ranks - 2) w) / b, where V are
 * the bytes of all elements and w its rank's share of the reduction; in one segment up to twice. */
#ifndef WEIR_EXCHANGE_BUTTERFLY_H
#define WEIR_EXCHANGE_BUTTERFLY_H
#include "comm/weir_request.h"
#include "optim/exchange_share.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct exchange_butterfly exchange_butterfly;

typedef struct exchange_butterfly_spec {
  weir_comm *comm;       /* the group; outlives it */
  weir_dtype dtype;      /* f32, f64 or i64 */
  int64_t count;         /* elements */
  const int64_t *shares; /* [ranks] elements that each rank reduces, `count` in all, the same on all
                            ranks; NULL: even. Copied */
  double timeout_s; /* that others are waited for, by the last segment up to twice as long; means
                       are waited for twice as long */
  int64_t segment_bytes; /* least size of an even share of a segment, of which there are at most 32;
                            0: 512 KiB, as in the published program */
} exchange_butterfly_spec;

/* Creates it. It needs about four times the memory of its elements. Collective. Fails on all ranks
 * alike: WEIR_ERR_MEMORY, WEIR_ERR_EXTERNAL. */
weir_status exchange_butterfly_create(const exchange_butterfly_spec *spec,
                                      exchange_butterfly **out) WEIR_CHECKED;
/* Destroys it; accepts NULL and nulls. Local. */
void exchange_butterfly_destroy(exchange_butterfly **b);
/* Sets the newest version of which a message has arrived, -1: none. Local. Fails:
 * WEIR_ERR_EXTERNAL. */
weir_status exchange_butterfly_look(exchange_butterfly *b, int64_t *newest) WEIR_CHECKED;
/* mean = sum of `given` / sum of `weight` over the ranks that run this version in time, [count];
 * elements of failed shares stay as they are. Versions of a rank ascend; one that others have left
 * behind ends without waiting for them. Fails: WEIR_ERR_EXTERNAL, not where others are silent. */
weir_status exchange_butterfly_run(exchange_butterfly *b, int64_t version, const void *given,
                                   double weight, void *mean) WEIR_CHECKED;
/* Returns what became of each share, and the number of them: one of each rank in each segment. */
const exchange_share *exchange_butterfly_shares(const exchange_butterfly *b, int *n);
/* Waits for a rank again that was silent, of which the caller has heard. Local. */
void exchange_butterfly_expect(exchange_butterfly *b, int rank);
/* Receives what is under way to this rank; *newest: the last version of any rank, -1: none.
 * Collective: waits for all ranks. Fails: as weir_request_wait. */
weir_status exchange_butterfly_drain(exchange_butterfly *b, int64_t *newest) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
