/* weir_record_convert.h - conversion
 * of records between formats, in blocks, so that memory does not grow with their length. Stored
 * integers are unchanged; losses of a format are reported in the facts. Files appear atomically.
 * What identifies a person is not passed on, but `comments` (those of weir_record_comments; NULL or
 * "": none) are, as they are. */
#ifndef WEIR_RECORD_CONVERT_H
#define WEIR_RECORD_CONVERT_H
#include "io/weir_annotation.h"
#include "io/weir_record.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_convert_facts {
  int64_t samples, absent; /* of all signals */
  int64_t clipped;         /* beyond the range of the format written */
  int64_t durations;       /* of events: not stored in annotation files */
  int rescaled;            /* signals whose stored integers are new ones */
  double coarse;           /* share of a signal's range that rounding would change; 0: accepted */
  int n_files;             /* written */
} weir_convert_facts;

/* Conversion of signals without stored integers to integers. A gain of 0 is chosen for each signal
 * so that its values use 16 bits. */
typedef struct weir_convert_scale {
  double gain;        /* steps per unit */
  double max_clipped; /* maximum fraction of the samples beyond the range */
  double max_rounded; /* maximum rounding error as a fraction of a signal's range */
} weir_convert_scale;

/* What kind of EDF+ file. */
typedef struct weir_convert_edf {
  int bits;        /* 16: EDF+, 24: BDF+ */
  bool continuous; /* data records in gaps too, for programs that do not read interrupted files */
} weir_convert_edf;

/* A NetCDF-4 file (CF-1.8; featureType timeSeries with one clock): a time dimension a rate and
 * length, a variable for each signal with scale_factor, add_offset, _FillValue, its flags, and the
 * header's numbers; `events` (may be NULL) on a dimension `event`; comments in the attribute
 * `header_comments`. Fails: as weir_record_read_raw and
 * weir_netcdf.h; WEIR_ERR_UNSUPPORTED without the library. */
weir_status weir_record_to_netcdf(weir_record *r, const weir_record_events *events,
                                  const char *comments, const char *path,
                                  weir_convert_facts *facts) WEIR_CHECKED;
/* A WFDB record, `path` without suffix; events to `path`.atr, comments to the end of the header.
 * The .atr states the time resolution of the annotation file that events are from, or where events
 * lie between frames the coarsest one that holds them (at most 1 us).
 * Each signal in its own format where WFDB has it (FLAC: the plain one of as many bits), else in
 * the smallest that holds every value. Signals that store no integers are written in format 16 as
 * `scale` says. An inverted scale is turned by complementing the stored integers, since a gain must
 * be positive; baselines are rounded to integers. Fails: as weir_record_writer.h;
 * WEIR_ERR_UNSUPPORTED for rates without a common frame rate; WEIR_ERR_CONFIG where more samples
 * lie beyond the range, or rounding changes more, than `scale` allows. */
weir_status weir_record_to_wfdb(weir_record *r, const weir_record_events *events,
                                const char *comments, const char *path,
                                const weir_convert_scale *scale,
                                weir_convert_facts *facts) WEIR_CHECKED;
/* An EDF+ or BDF+ file; events and comments as its annotations. Stored integers
 * that fit are unchanged, with a physical range whose 8 characters give every value within a
 * quarter of a step; other signals use all integers between their extremes. Gaps of all signals
 * that outlast a data record are left out of the file unless it is continuous; it is then
 * interrupted (+D). Other absent samples have the code digital minimum - 1, stated in the reserved
 * field of the signal
 * ("missing=-32768") and by annotations "BAD_missing@@LABEL" with a duration (ADR 0070). The last
 * record is filled with them. No patient, no recording code. Fails: WEIR_ERR_UNSUPPORTED for rates
 * without a common frame or a decimal record duration, units or names that the header cannot hold;
 * WEIR_ERR_CONFIG as weir_record_to_wfdb. */
weir_status weir_record_to_edf(weir_record *r, const weir_record_events *events,
                               const char *comments, const weir_convert_edf *kind, const char *path,
                               const weir_convert_scale *scale,
                               weir_convert_facts *facts) WEIR_CHECKED;
/* An annotated ECG of HL7 (aECG, ANSI/HL7 V3 ECG R1-2004), `path` with suffix: a sequence set for
 * each run of samples that the same leads have, with absolute times, or relative ones where the
 * record does not say when it begins; stored integers, scale and origin are kept. Events become
 * annotations with the code and text that they have; subtype, channel and number are not stored,
 * nor a time of day without a date, nor that samples are missing before the first or after the last
 * one: times count from the first sample that is there.
 * Comments are the text of the file. Patient and trial are not stated. Fails: WEIR_ERR_UNSUPPORTED
 * for signals of several rates, in other units than uV, mV or V, of one name, or of a period
 * without an exact decimal number; WEIR_ERR_CONFIG as weir_record_to_wfdb. */
weir_status weir_record_to_aecg(weir_record *r, const weir_record_events *events,
                                const char *comments, const char *path,
                                const weir_convert_scale *scale,
                                weir_convert_facts *facts) WEIR_CHECKED;
/* A DICOM waveform (PS3.3, A.34.3 to A.34.6), `path` with suffix: an ECG of 12 leads, else a
 * general or an ambulatory one, whichever has room for the signals, or with pressures a
 * haemodynamic waveform; a multiplex group for each of their rates, samples of 16 bits. Stored
 * integers that fit are unchanged, with scale, offset, unit (UCUM) and filters; missing samples
 * have a padding value. Events become annotations, beats with the codes of CID 3335; subtype,
 * channel and number are not stored, nor a time of day without a date. Comments are those of the
 * patient module (0010,4000), which has nothing else; UIDs follow from the content. Fails:
 * WEIR_ERR_UNSUPPORTED for signals that are no leads of an ECG in uV, mV or V nor known pressures
 * in mmHg, names and texts beyond the format's lengths, rates without a decimal number, more
 * signals, rates or bytes than these objects hold, or no code left for missing samples;
 * WEIR_ERR_CONFIG as weir_record_to_wfdb. */
weir_status weir_record_to_dicom(weir_record *r, const weir_record_events *events,
                                 const char *comments, const char *path,
                                 const weir_convert_scale *scale,
                                 weir_convert_facts *facts) WEIR_CHECKED;
/* Text, `time_s` from the first sample and a column for each signal, empty where absent:
 * `path`.csv, or for several rates `path`_0.csv, `path`_1.csv... one each; events to
 * `path`_events.csv, comments to `path`_comments.txt. */
weir_status weir_record_to_csv(weir_record *r, const weir_record_events *events,
                               const char *comments, const char *path,
                               weir_convert_facts *facts) WEIR_CHECKED;

/* Annotations of a WFDB record as events. `num`/`den`: annotation times per second where the file
 * does not say. Fails: WEIR_ERR_MEMORY, WEIR_ERR_DATA; *out needs no fini then. */
weir_status weir_record_events_from(const weir_annotations *a, int64_t num, int64_t den,
                                    weir_record_events *out) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
