/* cmd_convert.c - records in another format: NetCDF, WFDB, text, EDF+, BDF+, aECG or DICOM. */
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "io/weir_record_convert.h"
#include "check.h"
#include "comm/weir_items.h"
#include "data/checksums.h"
#include "records/records_list.h"
#include "commands.h"

enum { NAME_SIZE = 256 };

const weir_opt ps_convert_options[] = {
    WEIR_OPT_ENUM(ps_convert_opts, format, PS_CONVERT_NETCDF, "netcdf|wfdb|csv|edf|bdf|aecg|dicom",
                  "format to write: a .nc file, a .hea with its signal files, text, an EDF+ file "
                  "(16 bits), a BDF+ file (24 bits), an annotated ECG of HL7 (.xml) or a waveform "
                  "of DICOM (.dcm: ECG, pressures)"),
    WEIR_OPT_STRING(ps_convert_opts, name, "",
                    "name of what is written, without suffix; empty: that of the record"),
    WEIR_OPT_PATH(ps_convert_opts, annotations, "",
                  "annotation file (.atr) to take along; empty: what the record itself holds"),
    WEIR_OPT_BOOL(
        ps_convert_opts, comments, true,
        "keep the comments of a WFDB header (age, sex, medication, alarms): at the end of "
        "a header, as attribute header_comments, in NAME_comments.txt, as annotations of "
        "EDF+ and BDF+, as text of an annotated ECG, or as patient comments of DICOM; false: leave "
        "them out, for they may say who the patient is"),
    WEIR_OPT_REAL(
        ps_convert_opts, gain, 0, 0, 1e9, "1",
        "steps per unit of a WFDB, EDF+, BDF+, aECG or DICOM signal whose source stores no "
        "integers; 0: "
        "per signal, so that its values use the bits of the format"),
    WEIR_OPT_REAL(ps_convert_opts, clip, 0.01, 0, 1, "1",
                  "share of the samples that may lie beyond the range of the format and are "
                  "clipped; nothing is written where it is more"),
    WEIR_OPT_REAL(
        ps_convert_opts, rounding, 0.01, 1e-6, 1, "1",
        "share of the range of a WFDB, EDF+, BDF+, aECG or DICOM signal whose source stores "
        "no integers that "
        "rounding to steps may change a value by; nothing is written where it is more"),
    WEIR_OPT_BOOL(ps_convert_opts, continuous, false,
                  "write data records of EDF+ and BDF+ in gaps too, for programs that do not read "
                  "interrupted files; their samples are marked as missing"),
    WEIR_OPT_END,
};

/* Annotations of the file named, else those of the record. */
static weir_status get_events(const ps_cfg *cfg, weir_record *r, weir_record_events *out)
{
  weir_annotations a;
  int64_t den = 1;

  if (cfg->convert.annotations[0] == 0) {
    return weir_record_events_read(r, out);
  }
  if (weir_record_signals(r) == 0) {
    return weir_fail(WEIR_ERR_DATA, "record %s has no signal whose clock annotations could count",
                     weir_record_name(r));
  }
  const weir_signal_info *s = weir_record_signal(r, 0);

  if (!weir_mul_ok(s->fs_den, (int64_t)s->samples_per_frame, &den)) {
    return weir_fail(WEIR_ERR_DATA, "record %s: its rate is too small", weir_record_name(r));
  }
  WEIR_TRY(ps_checksums_verify_file(ps_input_checksums(&cfg->input, cfg->convert.annotations),
                                    cfg->convert.annotations));
  WEIR_TRY(weir_annotations_read(cfg->convert.annotations, &a));
  const weir_status status = weir_record_events_from(&a, s->fs_num, den, out);

  weir_annotations_fini(&a);
  return status;
}

static weir_status write_as(const ps_cfg *cfg, weir_record *r, const weir_record_events *events,
                            const char *path, weir_convert_facts *facts)
{
  char full[PS_PATH + 8];
  const char *const comments = cfg->convert.comments ? weir_record_comments(r) : NULL;
  const bool edf = cfg->convert.format == PS_CONVERT_EDF;
  const weir_convert_edf kind = {edf ? 16 : 24, cfg->convert.continuous};
  const weir_convert_scale scale = {cfg->convert.gain, cfg->convert.clip, cfg->convert.rounding};

  switch (cfg->convert.format) {
  case PS_CONVERT_NETCDF:
    (void)snprintf(full, sizeof full, "%s.nc", path);
    return weir_record_to_netcdf(r, events, comments, full, facts);
  case PS_CONVERT_WFDB:
    return weir_record_to_wfdb(r, events, comments, path, &scale, facts);
  case PS_CONVERT_EDF:
  case PS_CONVERT_BDF:
    (void)snprintf(full, sizeof full, edf ? "%s.edf" : "%s.bdf", path);
    return weir_record_to_edf(r, events, comments, &kind, full, &scale, facts);
  case PS_CONVERT_AECG:
    (void)snprintf(full, sizeof full, "%s.xml", path);
    return weir_record_to_aecg(r, events, comments, full, &scale, facts);
  case PS_CONVERT_DICOM:
    (void)snprintf(full, sizeof full, "%s.dcm", path);
    return weir_record_to_dicom(r, events, comments, full, &scale, facts);
  default:
    return weir_record_to_csv(r, events, comments, path, facts);
  }
}

/* What was converted, of one record. */
typedef struct converted {
  weir_convert_facts facts;
  int64_t comments; /* lines of its header */
  char name[NAME_SIZE];
} converted;

/* Records that ranks share. */
typedef struct conversion {
  const weir_cli *cli;
  const ps_cfg *cfg;
  ps_records records; /* of input.records, or the only one */
} conversion;

/* Comments of a header may identify the patient: says whether they are kept. */
static void tell_comments(const ps_cfg *cfg, int64_t lines)
{
  if (lines > 0) {
    weir_info("convert", "%lld lines of comments of the header %s (convert.comments)",
              (long long)lines,
              cfg->convert.comments ? "are kept: see that they do not say who the patient is"
                                    : "are left out");
  }
}

/* On rank 0, record by record. */
static weir_status report(void *context, int64_t i, const char *data, int64_t n)
{
  const conversion *const c = context;
  const char *at = data;
  converted done;

  (void)i;
  WEIR_TRY(weir_bytes_get(&at, data + n, &done, sizeof done));
  const weir_convert_facts *const facts = &done.facts;

  tell_comments(c->cfg, done.comments);
  weir_event("convert_end", WEIR_TEXT("record", done.name), WEIR_INT("samples", facts->samples),
             WEIR_INT("absent", facts->absent), WEIR_INT("clipped", facts->clipped),
             WEIR_INT("files", facts->n_files));
  if (facts->clipped > 0) {
    weir_warn("convert", "%lld samples lie beyond the range of the format and were clipped",
              (long long)facts->clipped);
  }
  if (facts->rescaled > 0) {
    weir_warn("convert",
              "the stored integers of %d signals do not fit the format and were scaled anew to its "
              "range: values change by up to half a step of it",
              facts->rescaled);
  }
  if (facts->durations > 0) {
    weir_warn("convert", "%lld annotations have a duration, which annotation files do not hold",
              (long long)facts->durations);
  }
  weir_info("convert", "wrote %d files of %s: %lld samples, %lld of them absent", facts->n_files,
            done.name, (long long)facts->samples, (long long)facts->absent);
  return WEIR_OK;
}

/* The header of a record, or the file itself. */
static weir_status write_origin(const conversion *c)
{
  const int64_t n = c->records.count;
  char *header = NULL;
  const char **inputs = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(weir_alloc(n, PS_PATH, (void **)&header), done);
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *inputs, (void **)&inputs), done);
  for (int64_t i = 0; i < n; i++) {
    const char *const source = c->records.items[i].path;

    inputs[i] = header + i * PS_PATH;
    (void)snprintf(header + i * PS_PATH, PS_PATH, "%s.hea", source);
    if (!weir_file_exists(inputs[i])) {
      (void)snprintf(header + i * PS_PATH, PS_PATH, "%s", source);
    }
  }
  status = ps_write_provenance(c->cli, c->cfg, inputs, (int)n);
done:
  weir_free(&header);
  weir_free(&inputs);
  return status;
}

/* Name of what is written: a part of a path, so never a path itself. */
weir_status ps_convert_name_check(const char *own)
{
  return own[0] != 0 && own[0] != '.' && strchr(own, '/') == NULL && strlen(own) < NAME_SIZE
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG, "'%.64s' cannot name a file: set convert.name", own);
}

static weir_status choose_name(const ps_cfg *cfg, const weir_record *r, char name[NAME_SIZE])
{
  const char *own = cfg->convert.name[0] != 0 ? cfg->convert.name : weir_record_name(r);

  WEIR_TRY(ps_convert_name_check(own));
  strcpy(name, own);
  return WEIR_OK;
}

static int64_t lines_of(const char *text)
{
  int64_t lines = 0;

  for (const char *c = text; *c != 0; c++) {
    lines += *c == '\n';
  }
  return lines;
}

static weir_status convert(const weir_cli *cli, const ps_cfg *cfg, weir_record *r, converted *done)
{
  weir_record_events events = {0};
  weir_convert_facts *const facts = &done->facts;
  char path[PS_PATH];

  WEIR_TRY(choose_name(cfg, r, done->name));
  WEIR_TRY(weir_path_join(cli->out, done->name, path, sizeof path));
  WEIR_TRY(get_events(cfg, r, &events));
  const weir_status status = write_as(cfg, r, &events, path, facts);

  weir_record_events_fini(&events);
  if (status == WEIR_ERR_CONFIG && (facts->coarse > 0 || facts->clipped > 0)) {
    char reason[1024];

    (void)snprintf(reason, sizeof reason, "%s", weir_last_message());
    return weir_fail(status, "%s (convert.gain; convert.%s is the share)", reason,
                     facts->coarse > 0 ? "rounding" : "clip");
  }
  if (status == WEIR_ERR_CONFIG && strcmp(weir_last_option(), "gain") == 0) {
    char reason[1024];

    (void)snprintf(reason, sizeof reason, "%s", weir_last_message());
    return weir_fail(status, "%s (convert.gain)", reason);
  }
  WEIR_TRY(status);
  done->comments = lines_of(weir_record_comments(r));
  return WEIR_OK;
}

/* Of several records, each is named as its file. */
static weir_status convert_record(void *context, int64_t i, weir_bytes *out)
{
  const conversion *const c = context;
  const ps_record *const of = &c->records.items[i];
  ps_cfg cfg = *c->cfg;
  weir_record *r = NULL;
  converted done;

  memset(&done, 0, sizeof done);
  cfg.convert.name = of->name;
  WEIR_TRY(ps_input_open_record(&cfg.input, of->path, &r));
  const weir_status status = convert(c->cli, &cfg, r, &done);

  weir_record_close(&r);
  WEIR_TRY(status);
  return weir_bytes_put(out, &done, sizeof done);
}

/* Names of files lose their suffix; two records cannot share one. */
static weir_status name_records(ps_records *list)
{
  for (int64_t i = 0; i < list->count; i++) {
    char *const name = list->items[i].name;

    name[ps_record_stem(name)] = 0;
    WEIR_TRY(ps_convert_name_check(name));
    for (int64_t k = 0; k < i; k++) {
      if (strcmp(list->items[k].name, name) == 0) {
        return weir_fail(WEIR_ERR_CONFIG,
                         "input.records: %s and %s would be written under the name %s: convert "
                         "them apart",
                         list->items[k].path, list->items[i].path, name);
      }
    }
  }
  return WEIR_OK;
}

static weir_status list_records(conversion *c)
{
  const ps_input_opts *const in = &c->cfg->input;
  const char *const source = in->record[0] != 0 ? in->record : in->csv;
  char path[PS_PATH];

  if (in->records.count > 0) {
    WEIR_TRY(ps_records_list("input.records", &in->records, in->physionet, &c->records));
    return name_records(&c->records);
  }
  WEIR_TRY(weir_reserve(&c->records.items, &c->records.capacity, 1, sizeof *c->records.items));
  c->records.count = 1;
  c->records.items[0] = (ps_record){.path = NULL};
  WEIR_TRY(ps_input_path(in, source, path, sizeof path));
  WEIR_TRY(weir_strdup(path, &c->records.items[0].path));
  return weir_strdup(c->cfg->convert.name, &c->records.items[0].name);
}

static weir_status perform(weir_job *j)
{
  conversion c = {.cli = j->cli, .cfg = j->cfg};
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(list_records(&c), done);
  /* No owner: the folder may be that of records, each converted by a run of its own. */
  WEIR_TRY_GOTO(weir_job_begin(j, NULL, false), done);
  WEIR_TRY_GOTO(weir_job_commit(j, NULL), done);
  WEIR_TRY_GOTO(weir_items_run(&(weir_items){.comm = j->comm,
                                             .what = "convert",
                                             .unit = "records",
                                             .n = c.records.count,
                                             .make = convert_record,
                                             .take = report},
                               &c),
                done);
  status = weir_job_leads(j) ? write_origin(&c) : WEIR_OK;
done:
  ps_records_fini(&c.records);
  return status;
}

weir_status ps_cmd_convert(const weir_cli *cli)
{
  return weir_job_run_shared(cli, &ps_program, perform);
}
