/* site.h - one hospital's part in a study over several: a dataset in canonical form without
 * identifiers, its checks and statistics, and a report of scores that names nobody. After MedPerf
 * (arXiv:2110.01406): the model travels, the data stay. */
#ifndef PS_SITE_H
#define PS_SITE_H
#include <stdio.h>
#include "conf/weir_opt.h"
#include "eval/score.h"
#include "io/weir_record.h"
#include "report/weir_report.h"
#include "sandbox/sandbox.h"

enum { PS_SITE_PATH = 4096, PS_SITE_NAME = 64 };

typedef enum ps_site_dates { PS_SITE_DATES_DROP, PS_SITE_DATES_SHIFT } ps_site_dates;

typedef struct ps_site_opts {
  weir_string_list records; /* source records of `site prepare`            */
  const char *signal;       /* of each record                              */
  const char *annotator;    /* suffix of the reference annotations         */
  int dates;                /* ps_site_dates                               */
  const char *dataset;      /* folder that `site prepare` made             */
  weir_string_list reports; /* of sites, for `site merge`                  */
  int64_t min_cell;         /* fewest records of a report, of a value of the statistics */
  bool approve;             /* a person has read the report                */
  bool per_record;          /* the report has the counts of each record    */
  double max_missing;       /* share of absent samples that passes a check */
  double range;             /* largest magnitude that passes               */
  double min_rate;          /* Hz                                          */
  /* Evaluation of a model (site/model.h). */
  bool attributes;            /* site prepare keeps age, sex and diagnoses   */
  weir_string_list diagnoses; /* words that are kept                         */
  const char *benchmark;      /* file of the committee                       */
  const char *model;          /* folder with mlcube.yaml                     */
  weir_string_list approvals; /* files of site approve                       */
  int role;                   /* ps_role of who approves                     */
  const char *person;         /* who approves                                */
  weir_string_list folders;   /* of this machine that the model sees         */
  ps_sandbox_limits limits;
} ps_site_opts;

extern const weir_opt ps_site_options[];

/* Names of the records of a dataset, in the order of its file RECORDS. */
typedef struct ps_dataset {
  const char *folder; /* borrowed */
  char (*names)[PS_SITE_NAME];
  int64_t n, capacity;
} ps_dataset;

/* Reads FOLDER/RECORDS. Fails: WEIR_ERR_CONFIG where no folder is named, WEIR_ERR_DATA, naming file
 * and line (no records, a name that leaves the folder or is too long); *out needs no fini then. */
weir_status ps_dataset_open(const char *folder, ps_dataset *out) WEIR_CHECKED;
void ps_dataset_fini(ps_dataset *d);
/* Writes the path of record i plus `suffix`. Fails: WEIR_ERR_CONFIG when it does not fit. */
weir_status ps_dataset_path(const ps_dataset *d, int64_t i, const char *suffix,
                            char path[PS_SITE_PATH]) WEIR_CHECKED;
/* Computes the SHA-256 of the sorted SHA-256 of all files of the records (header, signal,
 * annotations): the same whatever they are called and in which order they stand (MedPerf). Fails:
 * WEIR_ERR_DATA. */
weir_status ps_dataset_digest(const ps_dataset *d, const char *annotator,
                              char hex[65]) WEIR_CHECKED;

/* Copies the chosen signal of each source record to out/r00001.hea, .dat and its annotations (time
 * and code only) to .ANNOTATOR; writes RECORDS. Names, comments and free text are left out; dates
 * too, or all are moved by one number of days drawn from the seed. Numbers follow the digest of the
 * samples, not the order of the sources. Fails: WEIR_ERR_CONFIG without records, WEIR_ERR_DATA. */
weir_status ps_site_prepare(const ps_site_opts *opts, uint64_t seed, const char *out,
                            int64_t *n) WEIR_CHECKED;

enum { PS_CHECK_COLUMNS = 7 };
extern const char *const ps_check_head[PS_CHECK_COLUMNS];
/* Writes one row a record: rate, unit, range, absent samples, checksum, annotations, duplicates.
 * *failed: records with a fault. Fails: WEIR_ERR_DATA where a record cannot be read at all. */
weir_status ps_site_check(const ps_site_opts *opts, weir_table *cells,
                          int64_t *failed) WEIR_CHECKED;

enum { PS_STATS_COLUMNS = 3 };
extern const char *const ps_stats_head[PS_STATS_COLUMNS];
/* Counts and histograms (quantity, bin, value); a value that fewer than min_cell records contribute
 * to is "suppressed", and never one bin alone, which the total would tell. Fails: WEIR_ERR_DATA. */
weir_status ps_site_stats(const ps_site_opts *opts, weir_table *cells) WEIR_CHECKED;

/* How beats are scored: as eval.start, eval.window and eval.fs. */
typedef struct ps_site_scoring {
  double start, window, fs;
} ps_site_scoring;
/* The clock of the samples of record i of a dataset: rate and number. Fails: WEIR_ERR_DATA. */
weir_status ps_site_clock(const ps_dataset *d, int64_t i, weir_record_clock *out) WEIR_CHECKED;
/* Scores beats of record i, at samples times[n], against its reference with the suffix `annotator`;
 * times of a file that states no resolution count 1/fs, or where that is 0, frames of the record.
 * Fails: as ps_beats_read, ps_score_record. */
weir_status ps_site_score(const ps_dataset *d, int64_t i, const char *annotator,
                          const ps_site_scoring *s, const int64_t *times, int64_t n,
                          ps_score *out) WEIR_CHECKED;

/* What a site tells: sums, without a name, a time or a sample, and where the site allows it the
 * scores of each record. */
typedef struct ps_site_report {
  char dataset[65], pipeline[65]; /* SHA-256                                  */
  char program[32];               /* version                                  */
  double start, window;           /* s, of the scoring                        */
  int64_t min_cell, n;            /* n: records                               */
  bool suppressed;                /* n < min_cell: there are no figures       */
  bool per_record;                /* the scores of each record are reported   */
  ps_score sum;
  ps_score *records; /* [n], ascending by counts: their order says nothing; NULL: not told */
} ps_site_report;

/* Frees the records and empties *r. */
void ps_site_report_fini(ps_site_report *r);
/* Sorts and sums the records, and drops them all where there are fewer than min_cell, or where they
 * are not told. */
void ps_site_report_close(ps_site_report *r);
/* Print text and a last line with its SHA-256; and check such a file. Fail: WEIR_ERR_DATA. */
weir_status ps_checked_print(const char *text, size_t size, FILE *out) WEIR_CHECKED;
weir_status ps_checked_verify(const char *path) WEIR_CHECKED;
/* Prints a report, the same bytes for the same one: one JSON object a line, the last the SHA-256 of
 * those before. Fails: WEIR_ERR_DATA, WEIR_ERR_MEMORY. */
weir_status ps_site_report_print(const ps_site_report *r, FILE *out) WEIR_CHECKED;
/* Reads what ps_site_report_print wrote, also in version 1, with all records and without checksum.
 * Fails: WEIR_ERR_DATA, naming file and fault (a changed byte, a field that is missing or negative,
 * sums that are not those of the records), WEIR_ERR_MEMORY. */
weir_status ps_site_report_read(const char *path, ps_site_report *out) WEIR_CHECKED;

enum { PS_MERGE_COLUMNS = 8 };
extern const char *const ps_merge_head[PS_MERGE_COLUMNS];
/* Pools n reports: one row a site (by digest of the dataset), then gross and, where every report
 * tells its records, average over all records. Fails: WEIR_ERR_DATA where pipelines or scoring
 * differ, or a dataset comes twice. */
weir_status ps_site_merge(const ps_site_report *reports, int64_t n, weir_table *cells) WEIR_CHECKED;
#endif
