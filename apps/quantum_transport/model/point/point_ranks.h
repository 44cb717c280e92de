/* point_ranks.h - ranks that share each point, in slabs (rgf/slabs.h): what a rank needs of the
 * others in addition. */
#ifndef QT_POINT_RANKS_H
#define QT_POINT_RANKS_H
#include "comm/weir_request.h"
#include "model/rgf/slabs.h"

/* All zero, and NULL: one rank, which needs nothing. */
typedef struct qt_point_ranks {
  weir_comm *comm;
  weir_request *neighbours; /* blocks between this rank's blocks and those of the next one */
  weir_request *largest;    /* of value */
  int64_t value;
} qt_point_ranks;

/* Returns the number of elements of the blocks between this rank's last block and the first one of
 * the next rank, which follow those of own in the layout; 0: there is no next rank. */
int64_t qt_point_ranks_after(const qt_layout *l, qt_slabs_range own);
/* comm: those that share the slabs. bank [n_banks]: this rank's blocks of G and G^<, and memory for
 * those after; NULL where they are not wanted. Borrowed. Collective. Fails on all ranks alike:
 * WEIR_ERR_MEMORY, WEIR_ERR_EXTERNAL. */
weir_status qt_point_ranks_create(weir_comm *comm, const qt_layout *l, qt_slabs_range own,
                                  int n_banks, weir_c128 *const *bank,
                                  qt_point_ranks *out) WEIR_CHECKED;
/* Frees the requests. Local, once all ranks are done with it or have failed. */
void qt_point_ranks_fini(qt_point_ranks *r);

/* Agrees on a status, as weir_comm_agree. Collective. */
weir_status qt_point_ranks_agree(const qt_point_ranks *r, weir_status status) WEIR_CHECKED;
/* Finds whether it is so on any rank. Collective. Fails: WEIR_ERR_EXTERNAL. */
weir_status qt_point_ranks_any(qt_point_ranks *r, bool *is) WEIR_CHECKED;
/* Fills that memory of the banks. Collective. Fails: WEIR_ERR_EXTERNAL. */
weir_status qt_point_ranks_exchange(const qt_point_ranks *r) WEIR_CHECKED;
/* Collects elements [from, to) of the array of each rank, which follow one another, in the array of
 * the first one. Collective. Fails on all ranks alike: WEIR_ERR_MEMORY, WEIR_ERR_EXTERNAL. */
weir_status qt_point_ranks_collect(const qt_point_ranks *r, int64_t from, int64_t to,
                                   double *array) WEIR_CHECKED;

#endif
