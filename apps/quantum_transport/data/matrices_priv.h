/* matrices_priv.h - a system while it is made of files, between matrices.c and matrices_leads.c. */
#ifndef QT_MATRICES_PRIV_H
#define QT_MATRICES_PRIV_H
#include "data/layers.h"
#include "data/matrices.h"

typedef struct matrices_building {
  const qt_matrices_opts *opts;
  qt_matrices_file file;
  qt_system *out;
  bool given[QT_LEADS];    /* leads of files */
  int64_t added[QT_LEADS]; /* orbitals of cells of leads that join the device */
} matrices_building;

extern const char *const matrices_side[QT_LEADS]; /* for messages */
const qt_matrices_lead_opts *matrices_lead_opts_of(const matrices_building *b, int side);
/* Finds the spins of a file: one of the two of a .TSHS, or both. */
weir_status matrices_take_spin(const matrices_building *b, const char *path,
                               const qt_matrices_file *f) WEIR_CHECKED;
/* Reads a lead of a file; of a repeated cell, that of the device. */
weir_status matrices_read_lead(matrices_building *b, int side) WEIR_CHECKED;
/* Takes the orbitals of an end layer, and the lead of it where no file gives it. */
weir_status matrices_take_end(matrices_building *b, const qt_pattern *p, int side) WEIR_CHECKED;

#endif
