/* papers.h - what is published of the data-centric quantum transport solver, and its closed
 * formulas, next to which recipe.h counts:
 * P1 Ziogas et al., SC 19, doi 10.1145/3295500.3357156; P2 the same, doi 10.1145/3295500.3356200.
 * "original" is their solver before it was restructured. */
#ifndef QT_PAPERS_H
#define QT_PAPERS_H
#include "model/scattering/papers/recipe.h"

/* ---- Published numbers ---- */

/* P2, a silicon device of 4,864 atoms, N_kz momenta, P ranks in proportion to them. */
typedef struct qt_papers_row {
  int64_t n_k, ranks;
  double contour, recursion;             /* Pflop of an iteration                */
  double original, restructured;         /* the same of self-energies            */
  double original_tib, restructured_tib; /* TiB that are exchanged for them      */
} qt_papers_row;
enum { QT_PAPERS_ROWS = 5 };
extern const qt_papers_row qt_papers_momenta[QT_PAPERS_ROWS]; /* the number of momenta grows */
extern const qt_papers_row qt_papers_ranks[QT_PAPERS_ROWS];   /* 7 momenta; TiB alone        */

/* One node's share of the work (P2): Tflop, and seconds of Green's functions and self-energies. */
typedef struct qt_papers_node {
  const char *name;
  double green_tflop, green_s, self_tflop, self_s;
} qt_papers_node;
enum { QT_PAPERS_ORIGINAL, QT_PAPERS_NUMPY, QT_PAPERS_RESTRUCTURED, QT_PAPERS_NODES };
extern const qt_papers_node qt_papers_nodes[QT_PAPERS_NODES];

/* Returns the device of 4,864 atoms, and that of 10,240 atoms. */
qt_recipe_sizes qt_papers_device(int64_t n_k);
qt_recipe_sizes qt_papers_large(void);
/* Returns the blocks of the device's matrix: the published flops of the recursion are those of 40
 * at 4,864 atoms, and of as many atoms a block in other devices. */
int64_t qt_papers_blocks(const qt_recipe_sizes *s);

/* ---- Formulas ---- */

/* Returns the flops of the self-energies Sigma^<> of an iteration, complex products and sums as 8
 * (P2, section 4); of a restructured iteration the second term is that of the first products. */
double qt_papers_original_flops(const qt_recipe_sizes *s);
double qt_papers_restructured_flops(const qt_recipe_sizes *s);
/* Returns the flops of the recursion at one wave vector and energy, n_blocks blocks of so many
 * rows. */
double qt_papers_recursion_flops(double n_blocks, double rows);

typedef enum qt_papers_array {
  QT_PAPERS_GREEN,   /* G^< or G^>, blocks of atoms                        */
  QT_PAPERS_PHONON,  /* D^< or D^>, of atoms and their pairs               */
  QT_PAPERS_FISSION, /* nabla H G where each product is a loop of its own  */
  QT_PAPERS_HOISTED, /* of points of G alone                               */
  QT_PAPERS_PAIR,    /* of one pair of atoms                               */
  QT_PAPERS_ARRAYS
} qt_papers_array;
extern const char *const qt_papers_array_names[QT_PAPERS_ARRAYS];
double qt_papers_bytes(const qt_recipe_sizes *s, qt_papers_array which);

/* ---- Time of an iteration ---- */

/* Of one rank. */
typedef struct qt_papers_rates {
  double dense, batch;  /* flop/s of the recursion, and of the sums of self-energies */
  double link, latency; /* bytes/s, and seconds of a message                         */
} qt_papers_rates;
/* Of the rank with the largest share. */
typedef struct qt_papers_load {
  double points, point_flops, self_flops, bytes, messages;
} qt_papers_load;
typedef struct qt_papers_time {
  double green, exchange, self, total; /* s */
} qt_papers_time;
/* Returns the published times. Leads are solved before the first iteration. */
qt_papers_time qt_papers_time_of(const qt_papers_load *l, const qt_papers_rates *r);

#endif
