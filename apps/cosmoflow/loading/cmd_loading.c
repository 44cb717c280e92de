/* cmd_loading.c - predicted time of a training under policies of loading, on a machine whose
 * storage the section `load` describes. */
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "commands.h"
#include "loading/loading.h"
#include "loading/loading_page.h"

/* Number and bytes of the samples, of source.input where they are not stated. */
static weir_status find_samples(cf_cfg *cfg, weir_load_simulation *o)
{
  cf_source *s = NULL;

  if (o->samples > 0 && o->sample_bytes > 0) {
    return WEIR_OK;
  }
  if (cfg->source.input.count == 0) {
    return weir_fail(WEIR_ERR_CONFIG, "loading.samples and loading.sample_bytes are 0, and "
                                      "source.input names no samples: state either");
  }
  WEIR_TRY(cf_open_input(cfg, &s));
  o->samples = o->samples > 0 ? o->samples : cf_source_count(s);
  o->sample_bytes = o->sample_bytes > 0 ? o->sample_bytes : cf_loading_bytes(cf_source_info(s));
  cf_source_close(&s);
  return WEIR_OK;
}

static bool is_chosen(const weir_string_list *names, int policy)
{
  for (int64_t i = 0; i < names->count; i++) {
    if (strcmp(names->items[i], weir_load_policy_name(policy)) == 0) {
      return true;
    }
  }
  return names->count == 0;
}

static void tell(const cf_loading_row *row)
{
  const weir_load_simulated *const r = &row->result;
  const char *const name = weir_load_policy_name(row->policy);

  weir_event("loading", WEIR_TEXT("policy", name), WEIR_INT("workers", row->workers),
             WEIR_REAL("seconds", r->seconds), WEIR_REAL("bound_s", r->bound_s),
             WEIR_REAL("staged_s", r->staged_s), WEIR_REAL("stalled_s", r->stalled_s),
             WEIR_INT("memory", r->from[WEIR_LOAD_MEMORY]),
             WEIR_INT("directory", r->from[WEIR_LOAD_DIRECTORY]),
             WEIR_INT("remote", r->from[WEIR_LOAD_REMOTE]),
             WEIR_INT("source", r->from[WEIR_LOAD_SOURCE]), WEIR_REAL("touched", r->touched),
             WEIR_REAL("reached", r->reached));
  weir_info("loading", "%s on %lld workers: %.4g s, %.4g times that without stalls", name,
            (long long)row->workers, r->seconds, r->seconds / r->bound_s);
}

/* A row, or none where the policy cannot hold the samples. */
static weir_status add_row(cf_loading *s, int policy, int64_t workers)
{
  cf_loading_row *const row = &s->row[s->n];

  *row = (cf_loading_row){.policy = policy, .workers = workers};
  const weir_status status = weir_load_simulate(s->load, &s->of, policy, workers, &row->result);

  if (status == WEIR_ERR_CONFIG) {
    weir_warn("loading", "on %lld workers: %s", (long long)workers, weir_last_message());
    weir_clear_failure();
    return WEIR_OK;
  }
  WEIR_TRY(status);
  s->n++;
  tell(row);
  return WEIR_OK;
}

static weir_status add_rows(cf_loading *s)
{
  int policies = 0;

  while (weir_load_policy_name(policies)) {
    policies++;
  }
  WEIR_TRY(weir_alloc(policies * s->of.workers.count, sizeof *s->row, (void **)&s->row));
  for (int k = 0; k < policies; k++) {
    for (int64_t i = 0; i < s->of.workers.count && is_chosen(&s->of.policies, k); i++) {
      WEIR_TRY(add_row(s, k, s->of.workers.items[i]));
    }
  }
  return s->n > 0 ? WEIR_OK
                  : weir_fail(WEIR_ERR_CONFIG, "loading: no policy could be simulated: the "
                                               "warnings above say why");
}

static weir_status perform(weir_job *j)
{
  cf_cfg *const cfg = j->cfg;
  cf_loading s = {.load = &cfg->load, .of = cfg->loading};
  char text[96];
  weir_status status = WEIR_OK;

  WEIR_TRY(find_samples(cfg, &s.of));
  WEIR_TRY(cf_loading_compute(cfg, j->cli->threads, &s.of));
  WEIR_TRY(weir_load_simulation_check(s.load, &s.of));
  WEIR_TRY(weir_job_begin(j, "loading", false));
  WEIR_TRY_GOTO(add_rows(&s), done);
  WEIR_TRY_GOTO(weir_run_dir_commit(&j->dir), done);
  cf_loading_print(&s, stdout);
  WEIR_TRY_GOTO(cf_loading_write(&s, j->cli->out), done);
  (void)snprintf(text, sizeof text, "%lld samples of %lld bytes, %.6g MB/s",
                 (long long)s.of.samples, (long long)s.of.sample_bytes, s.of.compute_speed);
  WEIR_TRY_GOTO(cf_write_provenance(j, false, "training", text), done);
done:
  weir_free(&s.row);
  return status;
}

weir_status cf_cmd_loading(const weir_cli *cli)
{
  cf_cfg cfg;

  return weir_job_run(cli, &cf_program, &cfg, perform);
}
