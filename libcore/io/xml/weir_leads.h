/* weir_leads.h - leads of an ECG file that is kept in memory, four bytes a sample: on one clock,
 * in pieces with gaps between them. What the formats of XML share. */
#ifndef WEIR_LEADS_H
#define WEIR_LEADS_H
#include <stdbool.h>
#include <stdint.h>
#include "base/weir_status.h"
#include "io/weir_record.h"
#include "io/weir_record_format.h"

enum { WEIR_LEAD_TEXT = 64, WEIR_LEADS_MAX = 1024, WEIR_LEAD_PIECES = 1 << 16 };

/* Samples of a lead without a gap. */
typedef struct weir_lead_piece {
  int64_t time;  /* ns since 1970, or of relative times since the series began */
  int64_t first; /* slot, set when the file is opened */
  int64_t count, capacity;
  int32_t *digits;
} weir_lead_piece;

/* value = origin + scale * digit. */
typedef struct weir_lead {
  char name[WEIR_LEAD_TEXT], units[WEIR_LEAD_TEXT];
  double origin, scale;
  int64_t n_pieces, piece_capacity;
  weir_lead_piece *pieces;
  bool computed; /* from leads I and II */
} weir_lead;

typedef struct weir_leads {
  const char *format; /* as weir_signal_info.format and bits */
  int bits;
  int64_t n_leads, lead_capacity;
  weir_lead *leads;
  int64_t fs_num, fs_den; /* samples per second of every lead, reduced */
  bool absolute;          /* times */
  bool has_start;         /* of relative times: the series states when it begins */
  int64_t start;          /* ns since 1970 */
  bool has_utc_offset;    /* as weir_record_body */
  int utc_offset;
  int64_t skipped;           /* series of representative beats */
  weir_record_events events; /* their times as those of pieces */
} weir_leads;

/* Reads a file; *out is for weir_leads_fini in any case. */
typedef weir_status (*weir_leads_parse)(const char *path, weir_leads *out);

/* Appends a lead without pieces. Fails: WEIR_ERR_DATA beyond WEIR_LEADS_MAX, WEIR_ERR_MEMORY. */
weir_status weir_leads_add(weir_leads *a, const char *path, const char *name,
                           weir_lead **out) WEIR_CHECKED;
/* Appends an empty piece to a lead. Fails: WEIR_ERR_DATA beyond WEIR_LEAD_PIECES, WEIR_ERR_MEMORY.
 */
weir_status weir_leads_add_piece(weir_lead *lead, const char *path,
                                 weir_lead_piece **out) WEIR_CHECKED;
/* Appends those of leads III, aVR, aVL and aVF that the file does not have and of which it has
 * leads I and II with the same pieces and scale:
 *   III = II - I,  aVR = -(I + II)/2,  aVL = I - II/2,  aVF = II - I/2
 * (Kligfield et al. 2007, doi:10.1161/CIRCULATIONAHA.106.180200), without rounding. */
weir_status weir_leads_compute(weir_leads *a, const char *path) WEIR_CHECKED;
void weir_leads_fini(weir_leads *a);

/* The functions of a weir_record_format. */
weir_status weir_leads_open(const char *path, const weir_record_opts *opts, weir_leads_parse parse,
                            weir_record_body *body) WEIR_CHECKED;
void weir_leads_close(void *state);
weir_status weir_leads_read(void *state, int signal, int64_t start, int64_t count,
                            const weir_record_slots *to) WEIR_CHECKED;
void weir_leads_next_run(const void *state, int signal, int64_t start, int64_t *lo, int64_t *hi);
weir_status weir_leads_events(void *state, weir_record_events *out) WEIR_CHECKED;
/* True for a path that ends in .xml. */
bool weir_leads_is_xml(const char *path);
#endif
