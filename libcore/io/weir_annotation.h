/* weir_annotation.h - annotation files in the MIT format: WFDB Applications Guide, annot(5). */
#ifndef WEIR_ANNOTATION_H
#define WEIR_ANNOTATION_H
#include <stdbool.h>
#include <stdint.h>
#include "base/weir_status.h"
#ifdef __cplusplus
extern "C" {
#endif

// clang-format off
/* X(enum, code, mnemonic, is beat, meaning) */
#define WEIR_ANNOTATION_LIST(X)                                         \
  X(WEIR_ANN_NORMAL,   1, "N", 1, "normal beat")                        \
  X(WEIR_ANN_LBBB,     2, "L", 1, "left bundle branch block beat")      \
  X(WEIR_ANN_RBBB,     3, "R", 1, "right bundle branch block beat")     \
  X(WEIR_ANN_ABERR,    4, "a", 1, "aberrated atrial premature beat")    \
  X(WEIR_ANN_PVC,      5, "V", 1, "premature ventricular contraction")  \
  X(WEIR_ANN_FUSION,   6, "F", 1, "fusion of ventricular and normal")   \
  X(WEIR_ANN_NPC,      7, "J", 1, "nodal premature beat")               \
  X(WEIR_ANN_APC,      8, "A", 1, "atrial premature beat")              \
  X(WEIR_ANN_SVPB,     9, "S", 1, "supraventricular premature beat")    \
  X(WEIR_ANN_VESC,    10, "E", 1, "ventricular escape beat")            \
  X(WEIR_ANN_NESC,    11, "j", 1, "nodal escape beat")                  \
  X(WEIR_ANN_PACE,    12, "/", 1, "paced beat")                         \
  X(WEIR_ANN_UNKNOWN, 13, "Q", 1, "unclassifiable beat")                \
  X(WEIR_ANN_NOISE,   14, "~", 0, "signal quality change")              \
  X(WEIR_ANN_ARFCT,   16, "|", 0, "isolated artefact")                  \
  X(WEIR_ANN_STCH,    18, "s", 0, "ST change")                          \
  X(WEIR_ANN_TCH,     19, "T", 0, "T-wave change")                      \
  X(WEIR_ANN_SYSTOLE, 20, "*", 0, "systole")                            \
  X(WEIR_ANN_DIASTOLE,21, "D", 0, "diastole")                           \
  X(WEIR_ANN_NOTE,    22, "\"", 0, "comment")                           \
  X(WEIR_ANN_MEASURE, 23, "=", 0, "measurement")                        \
  X(WEIR_ANN_PWAVE,   24, "p", 0, "P-wave peak")                        \
  X(WEIR_ANN_BBB,     25, "B", 1, "bundle branch block beat")           \
  X(WEIR_ANN_PACESP,  26, "^", 0, "non-conducted pacer spike")          \
  X(WEIR_ANN_TWAVE,   27, "t", 0, "T-wave peak")                        \
  X(WEIR_ANN_RHYTHM,  28, "+", 0, "rhythm change")                      \
  X(WEIR_ANN_UWAVE,   29, "u", 0, "U-wave peak")                        \
  X(WEIR_ANN_LEARN,   30, "?", 1, "beat of a learning phase")           \
  X(WEIR_ANN_FLWAV,   31, "!", 0, "ventricular flutter wave")           \
  X(WEIR_ANN_VFON,    32, "[", 0, "start of flutter or fibrillation")   \
  X(WEIR_ANN_VFOFF,   33, "]", 0, "end of flutter or fibrillation")     \
  X(WEIR_ANN_AESC,    34, "e", 1, "atrial escape beat")                 \
  X(WEIR_ANN_SVESC,   35, "n", 1, "supraventricular escape beat")       \
  X(WEIR_ANN_LINK,    36, "@", 0, "link to external data")              \
  X(WEIR_ANN_NAPC,    37, "x", 0, "non-conducted P wave")               \
  X(WEIR_ANN_PFUS,    38, "f", 1, "fusion of paced and normal")         \
  X(WEIR_ANN_WFON,    39, "(", 0, "waveform onset")                     \
  X(WEIR_ANN_WFOFF,   40, ")", 0, "waveform end")                       \
  X(WEIR_ANN_RONT,    41, "r", 1, "R-on-T premature contraction")
// clang-format on

enum {
#define X(id, code, mnemonic, beat, text) id = code,
  WEIR_ANNOTATION_LIST(X)
#undef X
      WEIR_ANN_UNREADABLE =
          0x30, /* bits of a NOISE annotation's subtype (-1 has both): no signal */
  WEIR_ANNOTATION_MAX = 49,
  WEIR_ANNOTATION_MAX_AUX = 255
};

typedef struct weir_annotation {
  int64_t time;    /* in units of 1/fs, from the record's first sample */
  int code;        /* 1..49 */
  int subtype;     /* -128..127 */
  int channel;     /* 0..255 */
  int number;      /* -128..127 */
  const char *aux; /* text; NULL when there is none */
  int zeros; /* bytes of 0 that the file counts as part of it (MIT-BIH has one); together 255 */
} weir_annotation;

/* Meaning of a code defined in a file. */
typedef struct weir_annotation_type {
  int code;
  const char *mnemonic, *text;
} weir_annotation_type;

/* Contents of a file. The notes that state time resolution and own codes are not in `items`. */
typedef struct weir_annotations {
  int64_t fs_num, fs_den; /* units of time per second; 0/0 if the file does not say: the record's */
  int64_t count;
  weir_annotation *items; /* in file order */
  int64_t n_types;
  weir_annotation_type *types;
  void *memory; /* owns texts and arrays */
} weir_annotations;

/* Reads a whole file (at most 64 MiB). Fails: WEIR_ERR_DATA, naming path, byte and reason (also
 * without the terminating word: the file is truncated), WEIR_ERR_MEMORY; *out needs no fini then.
 */
weir_status weir_annotations_read(const char *path, weir_annotations *out) WEIR_CHECKED;
/* Frees everything and empties *a. */
void weir_annotations_fini(weir_annotations *a);
/* Writes a whole file (to a temporary file, then renamed): time resolution when fs_num > 0, own
 * codes, items. Fails: as the writer below. */
weir_status weir_annotations_write(const char *path, const weir_annotations *a) WEIR_CHECKED;

/* A file that is written annotation by annotation. */
typedef struct weir_annotation_writer weir_annotation_writer;
/* Starts a file. `head` (may be NULL) gives time resolution and own codes; its items are not
 * written. Fails: WEIR_ERR_DATA, WEIR_ERR_MEMORY. */
weir_status weir_annotation_writer_open(const char *path, const weir_annotations *head,
                                        weir_annotation_writer **out) WEIR_CHECKED;
/* Appends an annotation; times may go backwards. Fails: WEIR_ERR_SHAPE for a field out of its
 * range, WEIR_ERR_DATA. */
weir_status weir_annotation_writer_append(weir_annotation_writer *w,
                                          const weir_annotation *a) WEIR_CHECKED;
/* Terminates the file and renames it into place; *w is destroyed in either case. */
weir_status weir_annotation_writer_commit(weir_annotation_writer **w) WEIR_CHECKED;
/* Removes the temporary file; accepts NULL. */
void weir_annotation_writer_destroy(weir_annotation_writer **w);

/* Whether the code marks a QRS complex. */
bool weir_annotation_is_beat(int code);
/* Returns "N", "V", ...; "" for a code without a mnemonic. Static. */
const char *weir_annotation_mnemonic(int code);

#ifdef __cplusplus
}
#endif
#endif
