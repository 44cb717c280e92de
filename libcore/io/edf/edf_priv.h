/* edf_priv.h - headers and time-stamped annotation lists of EDF, EDF+, BDF and BDF+ (Kemp et al.
 * 1992, Kemp and Olivan 2003; BDF by BioSemi). */
#ifndef WEIR_EDF_PRIV_H
#define WEIR_EDF_PRIV_H
#include <stdbool.h>
#include <stdint.h>
#include "base/weir_status.h"

enum { WEIR_EDF_MAX_SIGNALS = 1024, WEIR_EDF_HEAD = 256 };
/* Rates and times stay below these, so that a slot is an exact quotient of 128-bit numbers. */
#define WEIR_EDF_MAX_RATE (INT64_C(1) << 53)
#define WEIR_EDF_MAX_NS (INT64_C(1000000000) * 1000000000)

/* Text before the code of an absent sample in a signal's reserved field, and of the annotations
 * that say the same to other programs: EDF itself has no such code (ADR 0070). */
#define WEIR_EDF_MISSING "missing="
#define WEIR_EDF_MISSING_NOTE "BAD_missing@@"

typedef struct weir_edf_signal {
  char name[32], units[16], transducer[96], prefilter[96];
  double physical_min, physical_max;
  int32_t digital_min, digital_max;
  int64_t per_record;     /* samples of a data record */
  int64_t offset;         /* bytes before them in the record */
  int64_t fs_num, fs_den; /* samples per second; 0/1 for annotations */
  bool notes;             /* annotations instead of samples */
  bool has_missing;       /* the reserved field states the code of an absent sample: */
  int32_t missing;
} weir_edf_signal;

typedef struct weir_edf_header {
  int width;              /* bytes of a sample: 2 in EDF, 3 in BDF */
  bool plus, interrupted; /* EDF+ or BDF+; of it the kind whose records need not be adjacent */
  int start_kind;         /* as weir_record_start */
  int64_t start_us;
  bool has_missing;                   /* of some signal */
  int64_t records;                    /* -1: not known when it was written */
  int64_t duration_num, duration_den; /* seconds of a record */
  int64_t n_signals, signal_capacity;
  weir_edf_signal *signals;
  int64_t bytes;        /* of the header */
  int64_t record_bytes; /* of a data record */
} weir_edf_header;

/* Reads and checks a header; identifying fields are not kept. `size` is the file's. Fails:
 * WEIR_ERR_DATA, naming path, byte, field and reason; WEIR_ERR_MEMORY; *out needs no fini then. */
weir_status weir_edf_header_read(int fd, const char *path, int64_t size,
                                 weir_edf_header *out) WEIR_CHECKED;
void weir_edf_header_fini(weir_edf_header *h);

/* One time-stamped annotation list. Texts are not terminated: each ends with a byte 20. */
typedef struct weir_edf_tal {
  int64_t onset, duration; /* ns; duration -1 where not stated */
  const char *texts;
  int64_t texts_size;
} weir_edf_tal;

/* The list at data[*at], moving *at past it; *found is false where only padding is left. Returns
 * false for bytes that are no list; *at is then where they begin. */
bool weir_edf_tal_next(const char *data, int64_t size, int64_t *at, weir_edf_tal *out, bool *found);
/* Onset of the list that begins at data[0], which may be cut after it; *found is false where there
 * is none. Returns false for bytes that are no list. */
bool weir_edf_tal_onset(const char *data, int64_t size, int64_t *ns, bool *found);
#endif
