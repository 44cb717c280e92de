/* device.h - the registry of devices: what builds an open system from options. */
#ifndef QT_DEVICE_H
#define QT_DEVICE_H
#include "conf/weir_opt.h"
#include "model/gradient.h"

/* One file each under model/device/. Const; the build lists the files. */
typedef struct qt_device {
  const char *name;        /* value of the key device.kind          */
  const char *help;        /* what it is                            */
  const char *cite;        /* where the model comes from            */
  const char *phonon_cite; /* the same of its phonons; NULL: `cite` */
  const weir_opt *opts;
  size_t opts_size;
  bool has_phonons; /* its options can ask for phonons */
  /* The system; *out arrives all zero and is finished by the caller, on failure too. seed: of
   * disorder. Fails: WEIR_ERR_CONFIG naming the key, WEIR_ERR_DATA naming the file,
   * WEIR_ERR_MEMORY. */
  weir_status (*build)(const void *opts, uint64_t seed, qt_system *out);
  /* Orbitals of a block (phonons: coordinates), or a few less, known before it is built, and the
   * keys that set them; NULL: a few, or as many as a file has. */
  int64_t (*rows)(const void *opts);
  const char *row_keys;
  /* nabla H of electrons in that system; NULL: it is not known. Fails: WEIR_ERR_MEMORY; *out is
   * then empty. */
  weir_status (*gradient)(const void *opts, const qt_system *s, qt_gradient *out);
} qt_device;

/* All devices of this build, sorted by name, NULL at the end: generated. */
extern const qt_device *const qt_device_table[];
/* For WEIR_OPT_ONE_OF: all; those that have phonons. */
bool qt_device_choice(int64_t i, weir_opt_choice *entry);
bool qt_device_phonon_choice(int64_t i, weir_opt_choice *entry);
/* Returns the device of that name, NULL without one. */
const qt_device *qt_device_find(const char *name);

#endif
