/* slabs.h - recursive Green's functions of a long device in slabs, which threads and ranks compute
 * at the same time: what rgf.h computes, of one matrix.
 *
 * A slab is a run of blocks. The last block of every slab but the last one is a separator. Each
 * slab eliminates its other blocks towards its separators: the first slab to the right as the
 * recursion does, the last one to the left, one between them to the right with A[n,L] and A[L,n],
 * which the elimination fills, L the separator on its left (Petersen et al., J. Comput. Phys. 228,
 * 5020 (2009); with G^< Maillou et al., arXiv:2601.04904). The separators have a block-tridiagonal
 * matrix, which the recursion solves. Of it a slab gets A[L,L] less the carry of all blocks before
 * L, from which the recursion goes through the slab as it would in the whole device, and G[R,R] of
 * the separator on its right, from which it goes back. So the first and the last slab take the
 * flops of the recursion, slabs between them about twice as many.
 *
 * A slab between two others has no lead: its own blocks, cut off, are singular at energies of its
 * bound states, and near one digits are lost. What the recursion carries through a slab is
 * therefore compared with what the separators say. Near a state of the surface in which the device
 * would end between two blocks, the way back enlarges the rounding of G: that is estimated
 * (slab_growth.c). Where a slab is singular, the two differ or the estimate is too large, the
 * recursion goes through the slabs one after another, and from rank to rank: with the bits of one
 * slab, but no faster than one thread. */
#ifndef QT_SLABS_H
#define QT_SLABS_H
#include "comm/weir_comm.h"
#include "model/rgf/rgf.h"

typedef struct qt_slabs_spec {
  const qt_layout *layout; /* outlives the slabs */
  int64_t n_slabs;         /* 1 to the number of blocks, and no fewer than ranks */
  const int64_t *first; /* [n_slabs + 1] first block of each slab, and the number of blocks; NULL:
                           slabs of nearly equal flops (qt_slabs_split) */
  bool lesser;          /* jobs may have Sigma^< */
  bool tridiagonal;     /* of them, as in a job: for flops */
  bool corner_only;     /* no job wants blocks: for flops */
  int threads;          /* 0: all */
  weir_comm *comm;      /* ranks that share the slabs, in their order; NULL: this process alone */
  int rank, n_ranks;    /* for sizes alone, where comm is NULL: as one of so many ranks; 0: alone */
  double max_error;     /* relative difference that a slab may make; 0: QT_SLABS_ERROR */
} qt_slabs_spec;
#define QT_SLABS_ERROR 3e-13

typedef struct qt_slabs qt_slabs;

/* Prepares slabs for any number of jobs. first is not kept. Collective. Fails on all ranks alike:
 * WEIR_ERR_SHAPE (too many or too few slabs, one without blocks), WEIR_ERR_MEMORY,
 * WEIR_ERR_EXTERNAL; *out is then NULL. */
weir_status qt_slabs_create(const qt_slabs_spec *spec, qt_slabs **out) WEIR_CHECKED;
/* Accepts NULL and nulls. Local, once all ranks are done with it or have failed. */
void qt_slabs_destroy(qt_slabs **s);

/* What this rank computes of a job: blocks (n, n), (n - 1, n) and (n, n - 1) of its blocks n, from
 * first_block on. Their elements follow one another in the layout, from first_element on; the banks
 * of a job hold these alone. */
typedef struct qt_slabs_range {
  int64_t first_block, n_blocks;
  int64_t first_element, n_elements;
} qt_slabs_range;
qt_slabs_range qt_slabs_own(const qt_slabs *s);
/* Returns the same range before there are slabs; first is not NULL. */
qt_slabs_range qt_slabs_range_of(const qt_slabs_spec *spec);

/* Solves a job as qt_rgf_solve does; g.data NULL: the corner alone. Of the matrices only the blocks
 * above are read, and results do not depend on the number of threads. All ranks give jobs that are
 * alike and get the corner, where it is wanted. Collective. Fails on all ranks alike, with the
 * results NaN: WEIR_ERR_NUMERIC where the recursion does, naming the block; WEIR_ERR_EXTERNAL. */
weir_status qt_slabs_solve(qt_slabs *s, const qt_rgf_job *job) WEIR_CHECKED;
/* Jobs so far that went through the slabs one after another. */
int64_t qt_slabs_in_order(const qt_slabs *s);

/* Computes first [n_slabs + 1]: the slabs whose most expensive one is the cheapest. n_slabs is from
 * 1 to the number of blocks. */
void qt_slabs_split(const qt_slabs_spec *spec, int64_t *first);
/* Returns the flops of a slab, of all slabs and their separators; all blocks taken as full, without
 * the corner of jobs that want blocks. first is not NULL. */
double qt_slab_flops(const qt_slabs_spec *spec, int64_t slab);
double qt_slabs_flops(const qt_slabs_spec *spec);
/* Returns the bytes that slabs hold, but for those of requests. first is not NULL. */
int64_t qt_slabs_bytes(const qt_slabs_spec *spec);

#endif
