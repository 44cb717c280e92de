/* out_matrices.h - a device as Matrix Market files that `device: matrices` reads. */
#ifndef QT_OUT_MATRICES_H
#define QT_OUT_MATRICES_H
#include "model/system.h"

/* Writes into `dir` at the transverse wave vector k: h.mtx of the device, left_h.mtx and
 * right_h.mtx of two neighbouring cells of each lead, with an overlap s.mtx, left_s.mtx and
 * right_s.mtx, and device.yaml, which names them as they stand in `dir`. Energies in eV. Fails:
 * WEIR_ERR_CONFIG (phonons), WEIR_ERR_MEMORY, as weir_writer_open. */
weir_status qt_out_matrices(const qt_system *s, const double k[2], const char *dir) WEIR_CHECKED;

#endif
