/* model.h - evaluation of somebody's model at a site: benchmark, descriptor of the model,
 * approvals, cohort, and the report of counts (MedPerf, arXiv:2110.01406). */
#ifndef PS_SITE_MODEL_H
#define PS_SITE_MODEL_H
#include "site/site.h"

/* ---- What is evaluated ---- */

/* Fewest records of a cell that a benchmark may ask for. The sums of squares of two records give
 * their counts, and those of three or four leave few whole numbers. */
enum { PS_MIN_RECORDS = 5 };

/* A division of the records: each belongs to the first expression that is true for it, else to the
 * cell "other". */
typedef struct ps_group {
  const char *name;
  weir_string_list cells;
} ps_group;

/* The file of the benchmark committee (docs/guide/site.md). */
typedef struct ps_benchmark {
  const char *name, *description, *committee;
  const char *reference, *predictions; /* suffixes of annotation files          */
  double start, window, fs;            /* as eval.start, eval.window, eval.fs    */
  struct {
    const char *where;       /* expression that selects records; "": all */
    weir_struct_list groups; /* of ps_group                             */
  } cohort;
  int64_t min_records; /* of a cell of the report, at least PS_MIN_RECORDS */
  double max_share;    /* largest share of one record in the reference beats of a cell */
} ps_benchmark;

/* Parts of the descriptor that decide something (mlcube.yaml); others are accepted and shown. */
enum { PS_MODEL_PROGRAM, PS_MODEL_QUERY, PS_MODEL_ONNX };
enum { PS_GIVES_BEATS, PS_GIVES_CLASS }; /* ps_model.weir.gives */
typedef struct ps_author {
  const char *name, *email, *org;
} ps_author;
typedef struct ps_model {
  const char *name, *description;
  weir_struct_list authors; /* of ps_author */
  struct {
    int64_t accelerator_count;
    const char *accelerator_maker, *accelerator_model;
    double host_memory_gb, host_disk_space_gb;
    bool need_internet_access;
  } platform;
  struct {
    const char *image, *build_context, *build_file, *gpu_args, *cpu_args;
  } docker;
  struct {
    const char *image;
  } singularity;
  struct {
    struct {
      const char *entrypoint; /* path below the folder of the model */
      struct {
        struct {
          struct {
            int type;
            const char *path; /* key: default */
          } data_path;
        } inputs;
        struct {
          struct {
            int type;
            const char *path;
          } output_path;
        } outputs;
      } parameters;
    } infer;
  } tasks;
  struct {
    int kind;           /* PS_MODEL_* */
    const char *query;  /* of PS_MODEL_QUERY: configuration in the folder of the model */
    const char *stream; /* its output of annotations */
    /* Of PS_MODEL_ONNX: the interface of the network. */
    const char *network; /* file in the folder of the model */
    const char *signal, *unit;
    double fs, window, hop;   /* Hz; s, 0: as the step network */
    int gives, scores;        /* PS_GIVES_*; number of an option of the step network */
    weir_string_list outputs; /* names of the numbers; empty: it gives one */
    const char *score;        /* the one of them that decides  */
    double threshold;
  } weir;
} ps_model;

/* Benchmark and model with the digests of what they are made of. Owns the texts. */
typedef struct ps_study {
  ps_benchmark benchmark;
  ps_model model;
  weir_config *benchmark_config, *model_config;
  const char *folder;        /* of the model, borrowed          */
  char benchmark_digest[65]; /* SHA-256 of the file             */
  char model_digest[65];     /* of every file of the folder: ps_folder_digest */
} ps_study;
/* Reads the benchmark and, where `model` is not "", FOLDER/mlcube.yaml. Fails: WEIR_ERR_CONFIG,
 * naming file and key (also what the descriptor asks for and no sandbox has: network,
 * accelerators); WEIR_ERR_DATA for files that are missing; WEIR_ERR_UNSUPPORTED in a build without
 * YAML. *out needs no fini then. */
weir_status ps_study_open(const char *benchmark, const char *model, ps_study *out) WEIR_CHECKED;
void ps_study_fini(ps_study *s);
/* Suffix of the files of annotations that a model of kind query or onnx writes. */
const char *ps_model_stream(const ps_model *m);
/* Prints the query that runs a model of kind onnx: its signal at the rate of the network, the
 * network, and beats from its scores. network: the path of its file where the query is run. */
void ps_model_print_query(const ps_model *m, const char *network, FILE *out);
/* Computes the SHA-256 of the lines "DIGEST  PATH" of all files below a folder, sorted by path (as
 * sha256sum prints them). Fails: WEIR_ERR_DATA for anything but files and folders (a link may lead
 * elsewhere after the approval), and for more than 10000 files. */
weir_status ps_folder_digest(const char *folder, char hex[65]) WEIR_CHECKED;

/* ---- Who has agreed ---- */

typedef enum ps_role { PS_ROLE_COMMITTEE, PS_ROLE_MODEL_OWNER, PS_ROLE_DATA_OWNER } ps_role;
enum { PS_ROLES = 3 };
/* Digests of what an approval is of, in the order in which roles see them; a role has those up to
 * its own: the committee the benchmark, the owner of the model that and the model, the owner of
 * the data all. */
typedef enum ps_subject {
  PS_OF_BENCHMARK,
  PS_OF_MODEL,
  PS_OF_DATA,    /* records, annotations and attributes */
  PS_OF_SANDBOX, /* limits, and folders of the machine that are shown */
  PS_SUBJECTS
} ps_subject;
typedef struct ps_subjects {
  char digest[PS_SUBJECTS][65];
} ps_subjects;
/* Writes DIR/approval.jsonl. `person`: letters, digits, blanks, and . - @ +. Fails:
 * WEIR_ERR_CONFIG, WEIR_ERR_DATA. */
weir_status ps_approval_write(const char *dir, ps_role role, const char *person,
                              const ps_subjects *of) WEIR_CHECKED;
/* Checks that the files hold an approval of each role, of exactly this; digest: SHA-256 of the file
 * of each role. Fails: WEIR_ERR_CONFIG, naming the role that is missing or what it approved
 * otherwise; WEIR_ERR_DATA for a file that is none. */
weir_status ps_approvals_check(const weir_string_list *files, const ps_subjects *of,
                               char digest[PS_ROLES][65]) WEIR_CHECKED;

/* ---- Which records ---- */

/* Numbers of every record by which cohorts are selected; NaN: not known. */
typedef struct ps_attributes {
  char (*names)[PS_SITE_NAME]; /* [n]                    */
  float *values;               /* [n, records]           */
  int64_t n, records;
} ps_attributes;
/* Writes OUT/ATTRIBUTES.csv: of n records, age (years, 90 for 90 and more), male (0 or 1) and a
 * column dx_WORD for each word of `diagnoses` (0 or 1) from the comments[n] of their headers (each
 * owned by the caller); empty where a header does not say. Nothing else of a comment is kept. */
weir_status ps_attributes_write(const char *out, const char *const *names,
                                const char *const *comments, int64_t n,
                                const weir_string_list *diagnoses) WEIR_CHECKED;
/* Reads ATTRIBUTES.csv of the dataset, if it has one, and adds what the records themselves tell:
 * duration (s), present (share of the samples), rate (Hz), beats (of the reference), hr (mean
 * heart rate, 1/min), and, if asked for, quality (ps_quality_share), which takes a detection of
 * beats; NaN in signals that are not in mV, below 80 Hz or shorter than 10 s. Fails:
 * WEIR_ERR_DATA. */
weir_status ps_attributes_read(const ps_dataset *d, const char *annotator, bool quality,
                               ps_attributes *out) WEIR_CHECKED;
/* Whether an expression has the attribute. */
bool ps_attributes_named(const char *text, const char *name);
/* Computes the share of the windows of 10 s of the record's first signal that are not unacceptable
 * (step sqi); NaN where none is rated. Fails: as ps_query_open, ps_query_perform. */
weir_status ps_quality_share(const char *record, double *share) WEIR_CHECKED;
void ps_attributes_fini(ps_attributes *a);
/* Sets truth[records] to 1 where the expression (stream/weir_formula.h, over the attributes) is
 * known and true. "": everywhere. Fails: WEIR_ERR_CONFIG, naming `key` and the attributes. */
weir_status ps_attributes_select(const ps_attributes *a, const char *key, const char *text,
                                 uint8_t *truth) WEIR_CHECKED;

/* ---- What a site tells ---- */

/* Sums over the records of a cell: counts, and the second moments that intervals of clustered
 * counts need (Rao & Scott 1992). */
typedef struct ps_cell {
  char group[PS_SITE_NAME], name[128];
  int64_t records, tp, fn, fp,
      largest;                   /* largest: reference beats of one record; stays at the site */
  double tp_tp, tp_ref, ref_ref; /* sums of tp^2, tp (tp + fn), (tp + fn)^2 */
  double tp_test, test_test;     /* of tp (tp + fp), (tp + fp)^2            */
  bool withheld;                 /* the report says no more than the name   */
} ps_cell;
/* Adds one record. */
void ps_cell_add(ps_cell *c, const ps_score *s);
/* Withholds cells of n that are one group, whose sum `all` is told: those with records, but fewer
 * than min_records, or of whose reference beats one record has more than max_share; and further
 * ones, smallest first, until the cells that are withheld are together none of these, since the
 * others and the sum tell their sum. If `all` is one itself, everything is withheld. */
void ps_cells_withhold(ps_cell *all, ps_cell *cells, int64_t n, int64_t min_records,
                       double max_share);
/* Which cell of each division a record is in; all borrowed. */
typedef struct ps_divisions {
  const int64_t *n_cells;  /* [n]                     */
  const int64_t *cell;     /* [n, records]            */
  const uint8_t *selected; /* [records]: in the cohort */
  int64_t n, records;
} ps_divisions;
/* Withholds all cells (those of each division, one after the other, after ps_cells_withhold) of a
 * division of which a cell, told or the sum of those that are not, differs from a sum of cells of
 * an earlier division by some records, but fewer than min_records; or the reverse. Their difference
 * would be told. */
void ps_divisions_withhold(const ps_divisions *d, ps_cell *cells, int64_t min_records);

/* The report of a site about a model. */
typedef struct ps_model_report {
  char benchmark_name[128], model_name[128], program[32];
  char benchmark[65], model[65], dataset[65]; /* SHA-256 */
  char approvals[PS_ROLES][65];
  double start, window, max_share;
  int64_t min_records;
  ps_cell *cells; /* [n]: all, then those of the groups */
  int64_t n;
} ps_model_report;
void ps_model_report_fini(ps_model_report *r);
/* Prints a report, the same bytes for the same one: a JSON object a line, the last the SHA-256 of
 * those before. Fails: WEIR_ERR_DATA, WEIR_ERR_MEMORY. */
weir_status ps_model_report_print(const ps_model_report *r, FILE *out) WEIR_CHECKED;
/* Reads what ps_model_report_print wrote. Fails: WEIR_ERR_DATA, naming file and fault (a changed
 * byte, a field that is missing), WEIR_ERR_MEMORY. */
weir_status ps_model_report_read(const char *path, ps_model_report *out) WEIR_CHECKED;
/* Whether a file begins as such a report. */
bool ps_model_report_is(const char *path);

/* ---- What sites give together ---- */

/* A proportion of clustered counts with its interval, percent; NaN without counts. */
typedef struct ps_rate {
  double value, lo, hi;
  double design;         /* design effect, at least 1: variance over that of independent beats */
  double events, trials; /* effective counts: divided by the design effect */
} ps_rate;
/* x of n in total, over m records with sums of x^2, x n and n^2. */
ps_rate ps_rate_of(double x, double n, double xx, double xn, double nn, int64_t m);
ps_rate ps_cell_sensitivity(const ps_cell *c);
ps_rate ps_cell_predictivity(const ps_cell *c);
/* The test whether n proportions are equal: Pearson's chi-square of the effective counts, its
 * degrees of freedom, probability, and I^2 (percent). NaN for fewer than two. */
typedef struct ps_heterogeneity {
  double chi2, p, i2;
  int64_t dof;
} ps_heterogeneity;
ps_heterogeneity ps_rates_compare(const ps_rate *rates, int64_t n);
/* Writes OUT/pooled.csv and OUT/report.html of n reports. Fails: WEIR_ERR_DATA where they are of
 * different benchmarks or models, or a dataset comes twice. */
weir_status ps_model_merge(const ps_model_report *reports, int64_t n, const char *out) WEIR_CHECKED;

/* ---- Commands (cmd_model.c) ---- */

/* site approve: prints what is approved and writes OUT/approval.jsonl. */
weir_status ps_model_approve(const ps_site_opts *opts, const char *out) WEIR_CHECKED;
/* site run: checks the approvals, runs the model on the cohort, scores it, and writes
 * OUT/site_model.jsonl. */
weir_status ps_model_evaluate(const ps_site_opts *opts, const char *out) WEIR_CHECKED;
/* site merge of such reports. */
weir_status ps_model_reports_merge(const weir_string_list *paths, const char *out) WEIR_CHECKED;
#endif
