/* aecg_priv.h - annotated ECGs of HL7 (aECG, ANSI/HL7 V3 ECG R1-2004; implementation guide of
 * 2005-03-21): what a file says, as far as it is read. */
#ifndef WEIR_AECG_PRIV_H
#define WEIR_AECG_PRIV_H
#include <stdbool.h>
#include <stdint.h>
#include "base/weir_status.h"
#include "io/xml/weir_leads.h"

/* Parses a file. Fails: WEIR_ERR_DATA as "path:line: reason" for what is malformed or not
 * understood, WEIR_ERR_MEMORY, WEIR_ERR_UNSUPPORTED in a build without Expat; *out is for
 * weir_leads_fini in any case. */
weir_status weir_aecg_parse(const char *path, weir_leads *out) WEIR_CHECKED;

/* A time stamp of HL7, YYYYMMDDHHMMSS[.fraction][+-ZZzz] of the years 1900 to 2189, in ns since
 * 1970 of its own zone; `zone` gets the text of the offset, "" without one. False for anything
 * else. */
bool weir_aecg_time(const char *text, int64_t *ns, char zone[8]);
/* Minutes east of UTC of such an offset, +-HHMM up to 14 hours. False for "" and anything else. */
bool weir_aecg_offset(const char *zone, int *minutes);
/* Of an offset its text. */
void weir_aecg_offset_text(int minutes, char zone[8]);
/* Samples per second of an increment in s, ms or us. One of six digits or more that is the period
 * of a whole rate, rounded, stands for that rate. False for anything else. */
bool weir_aecg_rate(const char *value, const char *unit, int64_t *num, int64_t *den);
#endif
