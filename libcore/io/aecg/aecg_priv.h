/* aecg_priv.h - annotated ECGs of HL7 (aECG, ANSI/HL7 V3 ECG R1-2004; implementation guide of
 * 2005-03-21): what a file says, as far as it is read. */
#ifndef WEIR_AECG_PRIV_H
#define WEIR_AECG_PRIV_H
#include <stdbool.h>
#include <stdint.h>
#include "base/weir_status.h"
#include "io/weir_record.h"

enum { WEIR_AECG_TEXT = 64, WEIR_AECG_LEADS = 1024, WEIR_AECG_PIECES = 1 << 16 };

/* Samples of a lead without a gap, from one sequence. */
typedef struct weir_aecg_piece {
  int64_t time;  /* ns since 1970, or of relative times since the series began */
  int64_t first; /* slot, set by the reader */
  int64_t count, capacity;
  int32_t *digits;
} weir_aecg_piece;

/* value = origin + scale * digit. */
typedef struct weir_aecg_lead {
  char name[WEIR_AECG_TEXT], units[WEIR_AECG_TEXT];
  double origin, scale;
  int64_t n_pieces, piece_capacity;
  weir_aecg_piece *pieces;
} weir_aecg_lead;

typedef struct weir_aecg {
  int64_t n_leads, lead_capacity;
  weir_aecg_lead *leads;
  int64_t fs_num, fs_den;    /* samples per second of every lead, reduced */
  bool absolute;             /* times */
  bool has_start;            /* of relative times: the series states when it begins */
  int64_t start;             /* ns since 1970 */
  int64_t skipped;           /* derived series, such as representative beats */
  weir_record_events events; /* annotations with a region of time; their times as those of pieces */
} weir_aecg;

/* Parses a file. Fails: WEIR_ERR_DATA as "path:line: reason" for what is malformed or not
 * understood, WEIR_ERR_MEMORY, WEIR_ERR_UNSUPPORTED in a build without Expat; *out is for
 * weir_aecg_fini in any case. */
weir_status weir_aecg_parse(const char *path, weir_aecg *out) WEIR_CHECKED;
void weir_aecg_fini(weir_aecg *a);

/* A time stamp of HL7, YYYYMMDDHHMMSS[.fraction][+-ZZzz] of the years 1900 to 2189, in ns since
 * 1970 of its own zone; `zone` gets the text of the offset, "" without one. False for anything
 * else. */
bool weir_aecg_time(const char *text, int64_t *ns, char zone[8]);
/* Samples per second of an increment in s, ms or us. One of six digits or more that is the period
 * of a whole rate, rounded, stands for that rate. False for anything else. */
bool weir_aecg_rate(const char *value, const char *unit, int64_t *num, int64_t *den);
#endif
