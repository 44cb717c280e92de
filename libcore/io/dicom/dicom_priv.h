/* dicom_priv.h - waveform objects of DICOM (PS3.3 2024, C.10.8 to C.10.10): what a file says, as
 * far as it is read. Numbers are the text of the file (VR DS); "" stands for what it does not
 * state. */
#ifndef WEIR_DICOM_PRIV_H
#define WEIR_DICOM_PRIV_H
#include <stdbool.h>
#include <stdint.h>
#include "base/weir_status.h"
#include "io/weir_record.h"
#ifdef __cplusplus
extern "C" {
#endif

enum {
  WEIR_DICOM_NUMBER = 24,     /* bytes of a number with its final zero; longer ones are refused */
  WEIR_DICOM_NAME = 260,      /* of a text of 64 characters in UTF-8 */
  WEIR_DICOM_CHANNELS = 1024, /* of a file */
  WEIR_DICOM_GROUPS = 256,
};
#define WEIR_DICOM_BYTES (INT64_C(1) << 31)    /* of a file */
#define WEIR_DICOM_INFLATED (INT64_C(1) << 27) /* of a deflated data set */
#define WEIR_DICOM_TEXTS (INT64_C(1) << 26) /* of all annotations, a text at each of its places */

/* Encodings of data sets (PS3.5, annex A). */
typedef enum weir_dicom_syntax {
  WEIR_DICOM_IMPLICIT,
  WEIR_DICOM_EXPLICIT,
  WEIR_DICOM_DEFLATED,
  WEIR_DICOM_BIG_ENDIAN,
} weir_dicom_syntax;

typedef struct weir_dicom_code {
  char value[72], scheme[72], meaning[WEIR_DICOM_NAME];
} weir_dicom_code;

/* C.10.9.1.4: value in `unit` = sample * sensitivity * correction + baseline. */
typedef struct weir_dicom_channel {
  weir_dicom_code source, unit;
  char label[WEIR_DICOM_NAME];
  char sensitivity[WEIR_DICOM_NUMBER], correction[WEIR_DICOM_NUMBER], baseline[WEIR_DICOM_NUMBER];
  char time_skew[WEIR_DICOM_NUMBER], sample_skew[WEIR_DICOM_NUMBER];              /* s; samples */
  char low[WEIR_DICOM_NUMBER], high[WEIR_DICOM_NUMBER], notch[WEIR_DICOM_NUMBER]; /* Hz */
} weir_dicom_channel;

/* A multiplex group: channels that were sampled together. */
typedef struct weir_dicom_group {
  char originality[20], interpretation[20];
  char frequency[WEIR_DICOM_NUMBER], offset[WEIR_DICOM_NUMBER]; /* Hz; ms */
  int64_t channels, samples, bits;
  weir_dicom_channel *items; /* [channels] */
  uint8_t *data;             /* [samples, channels] of bits / 8 bytes each, the lowest first */
  int64_t data_bytes;
  uint8_t padding[4]; /* the code of a missing sample */
  int64_t padding_bytes;
  int64_t fs_num, fs_den, offset_ns; /* set by weir_dicom_group_check */
} weir_dicom_group;

/* An annotation with places in time; borrows. */
typedef struct weir_dicom_note {
  char range[20];
  int mark;                  /* code of WFDB; 0: the text says what it is about */
  int64_t number;            /* of annotations that belong together; 0: none */
  int64_t group;             /* from 0 */
  int64_t channel;           /* of the group, from 0; -1: all of them */
  const char *text;          /* UTF-8 */
  const uint32_t *positions; /* [count], the first sample is 1; NULL: seconds[count] */
  const double *seconds;
  int64_t count;
} weir_dicom_note;

typedef struct weir_dicom {
  char sop_class[72], acquired[32], zone[20]; /* zone: of texts of times that have none */
  int64_t n_groups, group_capacity;
  weir_dicom_group *groups;
  weir_record_events events;         /* times in ns after the acquisition time */
  int64_t skipped_notes, note_bytes; /* note_bytes: of the texts of events */
  int64_t mark_number;               /* of the last event, which has a code and no text; 0: other */
} weir_dicom;

/* Finds the encoding of the data set of a file, and the byte at which it begins. Fails:
 * WEIR_ERR_DATA, WEIR_ERR_UNSUPPORTED (images, which waveforms are not). */
weir_status weir_dicom_meta(const char *path, const uint8_t *data, int64_t size,
                            weir_dicom_syntax *syntax, int64_t *begin) WEIR_CHECKED;
/* Checks that elements, sequences and items of a data set lie in each other, so that nothing that
 * the parser trusts is wrong. `begin` is its byte in the file, for messages. Fails: WEIR_ERR_DATA.
 */
weir_status weir_dicom_walk(const char *path, const uint8_t *data, int64_t size, int64_t begin,
                            weir_dicom_syntax syntax) WEIR_CHECKED;

/* By DCMTK. Inflates a data set into memory that the caller frees. Fails: WEIR_ERR_DATA (damaged,
 * or more than WEIR_DICOM_INFLATED), WEIR_ERR_MEMORY, WEIR_ERR_UNSUPPORTED without DCMTK. */
weir_status weir_dicom_inflate(const char *path, const uint8_t *data, int64_t size, uint8_t **out,
                               int64_t *out_size) WEIR_CHECKED;
/* By DCMTK. Parses a data set that was walked. Fails: WEIR_ERR_DATA, WEIR_ERR_MEMORY,
 * WEIR_ERR_UNSUPPORTED without DCMTK; *out is for weir_dicom_fini in any case. */
weir_status weir_dicom_parse(const char *path, const uint8_t *data, int64_t size,
                             weir_dicom_syntax syntax, weir_dicom *out) WEIR_CHECKED;
void weir_dicom_fini(weir_dicom *d);

/* Appends an empty group. Fails: WEIR_ERR_MEMORY, WEIR_ERR_DATA beyond WEIR_DICOM_GROUPS. */
weir_status weir_dicom_group_add(const char *path, weir_dicom *d,
                                 weir_dicom_group **out) WEIR_CHECKED;
/* Checks counts, sample type, rate and offset of group `index`, which has `data_bytes` of samples;
 * before memory is taken for its channels. Fails: WEIR_ERR_DATA, WEIR_ERR_UNSUPPORTED (mu-law and
 * A-law). */
weir_status weir_dicom_group_check(const char *path, int64_t index,
                                   weir_dicom_group *g) WEIR_CHECKED;
/* True for a group that was computed from another one, such as a median beat: it is not read. */
bool weir_dicom_is_derived(const weir_dicom_group *g);
/* An annotation as events; one whose range of time or group is not read is counted. Fails:
 * WEIR_ERR_DATA, WEIR_ERR_MEMORY. */
weir_status weir_dicom_note_add(const char *path, weir_dicom *d,
                                const weir_dicom_note *note) WEIR_CHECKED;

/* Stored integer of sample `at` (over all channels). */
int32_t weir_dicom_sample(const weir_dicom_group *g, int64_t at);
/* Name of the lead that a code of SCPECG or MDC stands for; NULL: none. Static. */
const char *weir_dicom_lead_name(const weir_dicom_code *c);
/* The code of CID 3001 of a signal's name, in any case: that of a lead, alone or after "ECG", or of
 * an unspecified one ("ECG..."). Returns 0 to 11 for the standard leads I to V6, 12 for others, -1
 * for a name that is not of an ECG. */
int weir_dicom_lead_code(const char *name, weir_dicom_code *out);
/* The code of CID 3003 of a signal's name, in any case: ABP, CVP, PAP and the like; false for
 * others. */
bool weir_dicom_pressure_code(const char *name, weir_dicom_code *out);
/* Codes of WFDB without one in CID 3335 are written in a scheme of our own (PS3.16, 8.2), by their
 * mnemonic or number. */
#define WEIR_DICOM_OWN_SCHEME "99WFDB"
/* The code of WFDB that a code of CID 3335 or of the own scheme stands for; 0: none. */
int weir_dicom_mark(const weir_dicom_code *c);
void weir_dicom_mark_code(int code, weir_dicom_code *out);
/* Name of a channel: its label, the short name of an ECG lead (I, aVR, V1), or what its source
 * means. */
void weir_dicom_channel_name(const weir_dicom_channel *c, char *name, size_t size);
/* Scale, offset and unit ("NU": none) of a channel: what the file does not state about them is not
 * assumed. Fails: WEIR_ERR_DATA. */
weir_status weir_dicom_channel_scale(const char *path, const char *name,
                                     const weir_dicom_channel *c, double *scale, double *offset,
                                     char *unit, size_t size) WEIR_CHECKED;
/* First sample of a channel after the acquisition time, ns. Fails: WEIR_ERR_DATA. */
weir_status weir_dicom_channel_begin(const char *path, const char *name, const weir_dicom_group *g,
                                     const weir_dicom_channel *c, int64_t *ns) WEIR_CHECKED;
/* Filters of a channel as EDF+ states them ("HP:0.05Hz LP:150Hz N:50Hz"), "" without. */
void weir_dicom_channel_filter(const weir_dicom_channel *c, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
