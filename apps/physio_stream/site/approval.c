/* approval.c - who has agreed to what: one file a role, with the digests of exactly that. */
#include <string.h>
#include "base/weir_file.h"
#include "report/weir_run_log.h"
#include "site/model.h"

#define VERSION 1

static const char *const role_name[PS_ROLES] = {"committee", "model_owner", "data_owner"};
/* Number of subjects that a role approves. */
static const int n_subjects[PS_ROLES] = {1, 2, PS_SUBJECTS};
static const char *const subject_key[PS_SUBJECTS] = {"benchmark_sha256", "model_sha256",
                                                     "data_sha256", "sandbox_sha256"};
static const char *const subject_name[PS_SUBJECTS] = {"benchmark", "model", "dataset",
                                                      "sandbox (site.limits, site.folders)"};

static bool is_person(const char *text)
{
  for (const char *c = text; *c != 0; c++) {
    const bool word = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                      (*c >= '0' && *c <= '9') || (unsigned char)*c >= 0x80;

    if (!word && strchr(" .-@+", *c) == NULL) {
      return false;
    }
  }
  return text[0] != 0 && strlen(text) < 200;
}

weir_status ps_approval_write(const char *dir, ps_role role, const char *person,
                              const ps_subjects *of)
{
  char path[PS_SITE_PATH];
  weir_writer *w = NULL;
  weir_status status = WEIR_OK;

  if (!is_person(person)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "site.person: give who approves: letters, digits, blanks, and . - @ +");
  }
  WEIR_TRY(weir_path_join(dir, "approval.jsonl", path, sizeof path));
  WEIR_TRY(weir_writer_open(path, &w));
  WEIR_TRY_GOTO(weir_writer_printf(w,
                                   "{\"event\": \"approval\", \"version\": %d, \"role\": \"%s\", "
                                   "\"person\": \"%s\"",
                                   VERSION, role_name[role], person),
                fail);
  for (int k = 0; k < n_subjects[role]; k++) {
    WEIR_TRY_GOTO(weir_writer_printf(w, ", \"%s\": \"%s\"", subject_key[k], of->digest[k]), fail);
  }
  WEIR_TRY_GOTO(weir_writer_printf(w, "}\n"), fail);
  return weir_writer_commit(&w);
fail:
  weir_writer_destroy(&w);
  return status;
}

static int find_role(const weir_field *f)
{
  for (int role = 0; f != NULL && f->kind == 's' && role < PS_ROLES; role++) {
    if (strcmp(f->text, role_name[role]) == 0) {
      return role;
    }
  }
  return -1;
}

/* Checks one file and says whose it is. */
static weir_status check_file(const char *path, const ps_subjects *of, int *role)
{
  weir_run_log log = {0};
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_run_log_read(path, &log));
  const weir_run_event *e = &log.events[0];

  *role = find_role(weir_run_event_field(e, "role"));
  if (strcmp(e->name, "approval") != 0 || *role < 0 ||
      (int64_t)weir_run_event_real(e, "version", 0) != VERSION) {
    status = weir_fail(WEIR_ERR_DATA, "%s: is no approval of version %d", path, VERSION);
    goto done;
  }
  for (int k = 0; k < n_subjects[*role]; k++) {
    const weir_field *f = weir_run_event_field(e, subject_key[k]);

    if (f == NULL || f->kind != 's' || strcmp(f->text, of->digest[k]) != 0) {
      status =
          weir_fail(WEIR_ERR_CONFIG,
                    "%s: %s has approved another %s (%.12s) than this one (%.12s): nothing was "
                    "run; it has to be approved again (site approve)",
                    path, role_name[*role], subject_name[k],
                    f != NULL && f->kind == 's' ? f->text : "none", of->digest[k]);
      goto done;
    }
  }
done:
  weir_run_log_fini(&log);
  return status;
}

weir_status ps_approvals_check(const weir_string_list *files, const ps_subjects *of,
                               char digest[PS_ROLES][65])
{
  bool has[PS_ROLES] = {false};
  int64_t bytes = 0;

  for (int64_t i = 0; i < files->count; i++) {
    int role = 0;

    WEIR_TRY(check_file(files->items[i], of, &role));
    if (!weir_file_sha256(files->items[i], digest[role], &bytes)) {
      return weir_fail(WEIR_ERR_DATA, "%s: cannot read: %m", files->items[i]);
    }
    has[role] = true;
  }
  for (int role = 0; role < PS_ROLES; role++) {
    if (!has[role]) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "site.approvals: none of the role %s: nothing was run; `site approve "
                       "--set site.role=%s` writes one",
                       role_name[role], role_name[role]);
    }
  }
  return WEIR_OK;
}
