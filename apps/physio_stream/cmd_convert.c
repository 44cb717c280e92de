/* cmd_convert.c - a record in another format: NetCDF, WFDB or text. */
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "io/weir_record_convert.h"
#include "check.h"
#include "commands.h"

enum { NAME_SIZE = 256 };

const weir_opt ps_convert_options[] = {
    WEIR_OPT_ENUM(ps_convert_opts, format, PS_CONVERT_NETCDF, "netcdf|wfdb|csv",
                  "format to write: a .nc file, a .hea with its signal files, or text"),
    WEIR_OPT_STRING(ps_convert_opts, name, "",
                    "name of what is written, without suffix; empty: that of the record"),
    WEIR_OPT_PATH(ps_convert_opts, annotations, "",
                  "annotation file (.atr) to take along; empty: what the record itself holds"),
    WEIR_OPT_BOOL(
        ps_convert_opts, comments, true,
        "keep the comments of a WFDB header (age, sex, medication, alarms): at the end of "
        "a header, as attribute header_comments, or in NAME_comments.txt; false: leave "
        "them out, for they may say who the patient is"),
    WEIR_OPT_REAL(ps_convert_opts, gain, 0, 0, 1e9, "1",
                  "steps per unit of a WFDB signal whose source stores no integers; 0: per signal, "
                  "so that its values use the 16 bits of the format"),
    WEIR_OPT_REAL(ps_convert_opts, clip, 0.01, 0, 1, "1",
                  "share of the samples that may lie beyond the range of the format and are "
                  "clipped; nothing is written where it is more"),
    WEIR_OPT_REAL(ps_convert_opts, rounding, 0.01, 1e-6, 1, "1",
                  "share of the range of a WFDB signal whose source stores no integers that "
                  "rounding to steps may change a value by; nothing is written where it is more"),
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
  const weir_convert_scale scale = {cfg->convert.gain, cfg->convert.clip, cfg->convert.rounding};

  switch (cfg->convert.format) {
  case PS_CONVERT_NETCDF:
    (void)snprintf(full, sizeof full, "%s.nc", path);
    return weir_record_to_netcdf(r, events, comments, full, facts);
  case PS_CONVERT_WFDB:
    return weir_record_to_wfdb(r, events, comments, path, &scale, facts);
  default:
    return weir_record_to_csv(r, events, comments, path, facts);
  }
}

static weir_status report(const weir_cli *cli, const ps_cfg *cfg, const char *source,
                          const char *name, const weir_convert_facts *facts)
{
  char header[PS_PATH];
  const char *const inputs[] = {header};

  (void)snprintf(header, sizeof header, "%s.hea", source);
  if (!weir_file_exists(header)) {
    (void)snprintf(header, sizeof header, "%s", source);
  }
  WEIR_TRY(ps_write_provenance(cli, cfg, inputs, 1));
  weir_event("convert_end", WEIR_TEXT("record", name), WEIR_INT("samples", facts->samples),
             WEIR_INT("absent", facts->absent), WEIR_INT("clipped", facts->clipped),
             WEIR_INT("files", facts->n_files));
  if (facts->clipped > 0) {
    weir_warn("convert", "%lld samples lie beyond the range of the format and were clipped",
              (long long)facts->clipped);
  }
  if (facts->durations > 0) {
    weir_warn("convert", "%lld annotations have a duration, which annotation files do not hold",
              (long long)facts->durations);
  }
  weir_info("convert", "wrote %d files of %s: %lld samples, %lld of them absent", facts->n_files,
            name, (long long)facts->samples, (long long)facts->absent);
  return WEIR_OK;
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

/* What may say who the patient is, is not passed on without a word. */
static void tell_comments(const ps_cfg *cfg, const char *comments)
{
  int lines = 0;

  for (const char *c = comments; *c != 0; c++) {
    lines += *c == '\n';
  }
  if (lines > 0) {
    weir_info("convert", "%d lines of comments of the header %s (convert.comments)", lines,
              cfg->convert.comments ? "are kept: see that they do not say who the patient is"
                                    : "are left out");
  }
}

static weir_status convert(const weir_cli *cli, const ps_cfg *cfg, const char *source,
                           weir_record *r)
{
  weir_record_events events = {0};
  weir_convert_facts facts = {0};
  char path[PS_PATH], name[NAME_SIZE];

  WEIR_TRY(choose_name(cfg, r, name));
  WEIR_TRY(weir_path_join(cli->out, name, path, sizeof path));
  WEIR_TRY(get_events(cfg, r, &events));
  const weir_status status = write_as(cfg, r, &events, path, &facts);

  weir_record_events_fini(&events);
  if (status == WEIR_ERR_CONFIG && (facts.coarse > 0 || facts.clipped > 0)) {
    char reason[1024];

    (void)snprintf(reason, sizeof reason, "%s", weir_last_message());
    return weir_fail(status, "%s (convert.gain; convert.%s is the share)", reason,
                     facts.coarse > 0 ? "rounding" : "clip");
  }
  if (status == WEIR_ERR_CONFIG && strcmp(weir_last_option(), "gain") == 0) {
    char reason[1024];

    (void)snprintf(reason, sizeof reason, "%s", weir_last_message());
    return weir_fail(status, "%s (convert.gain)", reason);
  }
  WEIR_TRY(status);
  tell_comments(cfg, weir_record_comments(r));
  return report(cli, cfg, source, name, &facts);
}

static weir_status perform(weir_job *j)
{
  const ps_cfg *const cfg = j->cfg;
  const char *const source = cfg->input.record[0] != 0 ? cfg->input.record : cfg->input.csv;
  weir_record *r = NULL;

  /* No owner: the folder may be that of records, each converted by a run of its own. */
  WEIR_TRY(ps_start(j, NULL));
  WEIR_TRY(ps_input_open_record(&cfg->input, source, &r));
  const weir_status status = convert(j->cli, cfg, source, r);

  weir_record_close(&r);
  return status;
}

weir_status ps_cmd_convert(const weir_cli *cli)
{
  ps_cfg cfg;

  return weir_job_run(cli, &ps_program, &cfg, perform);
}
