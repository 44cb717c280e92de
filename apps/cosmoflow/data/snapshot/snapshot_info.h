/* snapshot_info.h - what a snapshot is, and the options of reading one. */
#ifndef CF_SNAPSHOT_INFO_H
#define CF_SNAPSHOT_INFO_H
#include <stdint.h>
#include "conf/weir_opt.h"

enum { CF_PARTICLE_TYPES = 16 };

/* Unit of length of files that state none. */
typedef enum cf_length_unit {
  CF_LENGTH_AUTO, /* the file's */
  CF_LENGTH_KPC_H,
  CF_LENGTH_MPC_H,
  CF_LENGTH_KPC,
  CF_LENGTH_MPC
} cf_length_unit;
#define CF_LENGTH_CHOICES "auto|kpc/h|Mpc/h|kpc|Mpc"

/* Unit of mass of files that state none. */
typedef enum cf_mass_unit {
  CF_MASS_AUTO, /* the file's */
  CF_MASS_1E10_H,
  CF_MASS_SUN_H,
  CF_MASS_1E10,
  CF_MASS_SUN
} cf_mass_unit;
#define CF_MASS_CHOICES "auto|1e10Msun/h|Msun/h|1e10Msun|Msun"

typedef struct cf_snapshot_opts {
  int length_unit; /* cf_length_unit */
  int mass_unit;   /* cf_mass_unit */
} cf_snapshot_opts;
extern const weir_opt cf_snapshot_options[];

typedef struct cf_snapshot_info {
  double box;                       /* side, Mpc/h */
  double length, mass;              /* units of the file: Mpc/h, Msun/h (NaN: not known) */
  double redshift, h, omega_m;      /* NaN: not stated */
  int64_t n_types, files;           /* types: of the header */
  int64_t count[CF_PARTICLE_TYPES]; /* of all files */
  double each[CF_PARTICLE_TYPES];   /* mass of each particle in the file's unit; 0: they differ */
} cf_snapshot_info;
#endif
