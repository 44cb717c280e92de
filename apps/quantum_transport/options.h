/* options.h - the configuration of quantum_transport: one struct, one table. */
#ifndef QT_OPTIONS_H
#define QT_OPTIONS_H
#include "comm/weir_comm.h"
#include "eval/compare.h"
#include "model/device.h"
#include "model/electrostatics/electrostatics.h"
#include "model/execution.h"
#include "model/lead/lead.h"
#include "model/scattering/scattering.h"
#include "model/transmission/transmission.h"

/* Where the spectra are computed. */
typedef struct qt_energy_opts {
  double min, max; /* eV; phonons: hbar omega */
  int64_t points;
  double shift;
  double tolerance;   /* 0: the grid is not refined */
  int64_t max_points; /* of a refined grid */
} qt_energy_opts;

/* Transverse wave vectors: a uniform grid of ny x nz that holds -k with every k. */
typedef struct qt_k_opts {
  int64_t ny, nz;
} qt_k_opts;

/* The reservoirs behind the leads. */
typedef struct qt_contact_opts {
  double mu, bias;                         /* eV, V: the left chemical potential is mu + bias / 2 */
  double temperature;                      /* K, mean of both leads */
  double difference;                       /* K, phonons: left less right */
  weir_real_list conductance_temperatures; /* K, of the table of the thermal conductance */
} qt_contact_opts;

typedef struct qt_cfg {
  int64_t seed; /* of disorder */
  weir_one_of device;
  struct {
    int64_t slabs, ranks_per_point; /* of a point */
    double slab_error;
  } parallel;
  double tolerance; /* of Hermiticity, of the largest element */
  struct {
    int method; /* qt_transport_method */
  } transport;
  qt_lead_opts lead;
  qt_energy_opts energy;
  qt_k_opts k;
  qt_contact_opts contact;
  qt_electrostatics_opts electrostatics;
  qt_sweep_opts sweep;
  qt_scattering_opts scattering;
  struct {
    bool tbt, dos, bond_currents, channels; /* files to write; what to compute */
    int64_t bands, bands_orbitals;
  } output;
  weir_string_list petsc; /* options of PETSc's own */
  struct {
    double budget; /* MiB of a rank */
  } memory;
  struct {
    double interval; /* s */
    int64_t iterations, keep;
    int format; /* weir_checkpoint_format */
    bool resume;
  } checkpoint;
  qt_exec_opts exec;
  weir_comm_cfg comm;
  struct {
    double ky, kz; /* reciprocal lattice vectors */
  } prepare;
  qt_compare_opts eval;
  struct {
    int64_t repeats;
    double zgemm; /* s */
    bool papers, recipe;
    int64_t recipe_atoms;
    double link, latency; /* bytes/s, s */
  } bench;
} qt_cfg;

extern const weir_opt qt_options[];
#endif
