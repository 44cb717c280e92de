/* iv.h - current-voltage characteristics: self-consistent potentials of all bias points of a
 * configuration, each kept in a file as soon as it is found. */
#ifndef QT_IV_H
#define QT_IV_H
#include "model/electrostatics/scf.h"
#include "report/weir_report.h"
#include "study.h"

/* All zero is none; owns its arrays and systems. */
typedef struct qt_iv {
  const qt_cfg *cfg;
  weir_comm *comm;                     /* qt_study.comm */
  const qt_scf_scattering *scattering; /* NULL: none */
  qt_scf scf;
  qt_system flat;       /* the device at U = 0 */
  double *drain, *gate; /* [n_drain], [n_gate] V */
  int64_t n_drain, n_gate;
  qt_bias *bias;              /* [n_drain, n_gate] */
  int64_t n_found, n_resumed; /* of them found, in the order of the array; by an earlier run */
  char digest[65];            /* of configuration and device */
  double predicted_bytes;     /* maximum that this rank allocates until all points are found */
  double seconds;
} qt_iv;

/* Computes the memory of a sweep of a study within memory.budget, before it is opened: maximum
 * bytes that this rank holds, and what of them stays in addition to the spectra; without PETSc's.
 * Local. Fails: WEIR_ERR_CONFIG (the budget is too small), as qt_grid_of_device. */
weir_status qt_iv_size(const qt_study *s, int threads, double *peak, double *kept) WEIR_CHECKED;
/* Makes the device of a study ready, whose system it takes, with scattering where that is not NULL
 * (borrowed), and reads the bias points that an
 * earlier run of the same configuration has left in DIR/bias (dir NULL: none; rank 0 reads, others
 * need not give it). Collective over s->comm. *out is finished by
 * the caller, after the study, on failure too. Fails: as qt_scf_create; WEIR_ERR_CONFIG where
 * DIR/bias is of another configuration or device. */
weir_status qt_iv_open(qt_study *s, const weir_config *config, const char *dir, int threads,
                       const qt_scf_scattering *scattering, qt_iv *out) WEIR_CHECKED;
/* Solves the other bias points, which rank 0 keeps in DIR. Collective. Afterwards the system of the
 * study is the device in the potential of the last one, its leads have that bias, and s->iv is iv.
 * Fails: as qt_scf_solve; WEIR_ERR_STOPPED, saying what stays. */
weir_status qt_iv_solve(qt_study *s, const char *dir, qt_iv *iv) WEIR_CHECKED;
/* Returns whether DIR holds bias points; whether it holds all that a sweep writes. */
bool qt_iv_is_begun(const char *dir);
bool qt_iv_is_complete(const char *dir);
void qt_iv_fini(qt_iv *iv);

/* Voltages of a configuration; counts of bias points are their products. Fails: WEIR_ERR_MEMORY. */
weir_status qt_iv_voltages(const qt_cfg *cfg, qt_iv *out) WEIR_CHECKED;
/* DIR/bias/NUMBER.npy, one array of doubles, written atomically. Of rank 0: save; load, whose
 * result all get: *found false where there is no such file. load is collective. Fails:
 * WEIR_ERR_DATA; WEIR_ERR_CONFIG where it is of another one. */
weir_status qt_iv_save(const qt_iv *iv, int64_t number, const char *dir) WEIR_CHECKED;
weir_status qt_iv_load(qt_iv *iv, int64_t number, const char *dir, bool *found) WEIR_CHECKED;

/* Writes iv.csv and convergence.csv, and with NetCDF electrostatics.nc. Fails: WEIR_ERR_DATA,
 * WEIR_ERR_EXTERNAL, naming the file. */
weir_status qt_iv_write(const qt_iv *iv, const char *dir) WEIR_CHECKED;
/* Writes table and figures of the report. Fails: WEIR_ERR_DATA, WEIR_ERR_MEMORY. */
weir_status qt_iv_page(const qt_iv *iv, weir_report *r) WEIR_CHECKED;
/* Computes means over the atoms of each position along x of a value of atoms; x, mean: [n_atoms].
 * Fails: WEIR_ERR_MEMORY. */
weir_status qt_iv_profile(const qt_system *s, const double *value, double *x, double *mean,
                          int64_t *count) WEIR_CHECKED;

#endif
