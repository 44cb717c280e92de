/* iv.c - see iv.h. */
#include "iv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "model/electrostatics/potential.h"
#include "model/ranks.h"

void qt_iv_fini(qt_iv *iv)
{
  for (int64_t i = 0; i < iv->n_found; i++) {
    qt_bias_fini(&iv->bias[i]);
  }
  weir_free(&iv->bias);
  weir_free(&iv->drain);
  weir_free(&iv->gate);
  qt_scf_fini(&iv->scf);
  qt_system_fini(&iv->flat);
}

/* A list of the configuration, or the one value in its place. */
static weir_status copy_list(const weir_real_list *list, double other, double **out, int64_t *count)
{
  *count = list->count > 0 ? list->count : 1;
  WEIR_TRY(weir_alloc(*count, sizeof **out, (void **)out));
  (*out)[0] = other;
  for (int64_t i = 0; i < list->count; i++) {
    (*out)[i] = list->items[i];
  }
  return WEIR_OK;
}

weir_status qt_iv_voltages(const qt_cfg *cfg, qt_iv *out)
{
  WEIR_TRY(copy_list(&cfg->sweep.drain, cfg->contact.bias, &out->drain, &out->n_drain));
  return copy_list(&cfg->sweep.gate, 0, &out->gate, &out->n_gate);
}

/* Of the resolved configuration, its comments and what changes no result aside, and the device,
 * whose files may have changed. */
static weir_status make_digest(const weir_config *config, const qt_system *s, char digest[65])
{
  static const char aside[] = "\n  kernel_dir:"; /* of the section exec */
  char *text = NULL;
  size_t size = 0, kept = 0;
  FILE *out = open_memstream(&text, &size);

  if (out == NULL) {
    return weir_fail(WEIR_ERR_MEMORY, "no memory for the text of the configuration");
  }
  const weir_status status = weir_config_print(config, out);

  if (fclose(out) != 0 || status != WEIR_OK) {
    free(text);
    return status != WEIR_OK ? status : weir_fail(WEIR_ERR_MEMORY, "no memory for a text");
  }
  for (size_t i = 0; i < size; i++) {
    if (strncmp(text + i, aside, sizeof aside - 1) == 0) {
      i += sizeof aside - 1;
      i += strcspn(text + i, "\n");
    } else if (text[i] == '#') {
      i += strcspn(text + i, "\n");
    }
    if (i < size && text[i] != ' ') {
      text[kept++] = text[i];
    }
  }
  char both[2][64], hash[65];

  weir_sha256(text, kept, hash);
  free(text); /* open_memstream's own */
  memcpy(both[0], hash, sizeof both[0]);
  qt_system_digest(s, hash);
  memcpy(both[1], hash, sizeof both[1]);
  weir_sha256(both, sizeof both, digest);
  return WEIR_OK;
}

/* The bias point before: at the same drain voltage, or the first of the drain voltage before. */
static const qt_bias *find_start(const qt_iv *iv, int64_t number)
{
  const int64_t drain = number / iv->n_gate, gate = number % iv->n_gate;

  return gate > 0 ? &iv->bias[number - 1] : drain > 0 ? &iv->bias[number - iv->n_gate] : NULL;
}

static void tell(const qt_iv *iv, const qt_bias *b, double seconds)
{
  const qt_scattered *with = &b->scattered;

  weir_info("run",
            "drain %g V, gate %g V: %.4g A after %lld iterations (%lld of %lld points, %.1f s)",
            b->drain, b->gate, b->current, (long long)b->n_steps, (long long)iv->n_found,
            (long long)(iv->n_drain * iv->n_gate), seconds);
  weir_event("bias_point", WEIR_REAL("drain_V", b->drain), WEIR_REAL("gate_V", b->gate),
             WEIR_REAL("current_A", b->current), WEIR_INT("iterations", b->n_steps),
             WEIR_REAL("change_eV", b->step[b->n_steps - 1].change),
             WEIR_REAL("electrons", b->electrons), WEIR_REAL("donors", b->donors),
             WEIR_REAL("gate_charge", b->gate_charge), WEIR_REAL("end_field_eV", b->end_field),
             WEIR_REAL("seconds", seconds));
  if (iv->scattering != NULL) {
    weir_info("run", "  with scattering %.4g A, %.4g W left in the device, at most %.4g K",
              with->current, with->power, with->temperature);
    weir_event("bias_scattering", WEIR_REAL("drain_V", b->drain), WEIR_REAL("gate_V", b->gate),
               WEIR_REAL("current_A", with->current), WEIR_REAL("power_W", with->power),
               WEIR_REAL("temperature_K", with->temperature),
               WEIR_INT("iterations", with->iterations));
  }
}

static void warn_of_ends(const qt_bias *b)
{
  const double much = 5e-3; /* eV */

  if (b->end_field > much) {
    weir_warn("run",
              "drain %g V, gate %g V: the potential changes by %.2g eV from an end cell to the "
              "next, where leads of constant potential begin: make the device longer",
              b->drain, b->gate, b->end_field);
  }
}

/* The study continues in the potential of the last bias point. */
static weir_status move_study(qt_study *s, qt_iv *iv)
{
  const qt_bias *last = &iv->bias[iv->n_found - 1];
  qt_system shifted = {.n = 0};
  const weir_status status = qt_system_shift(&iv->flat, last->atom_u, &shifted);

  if (status != WEIR_OK) {
    qt_system_fini(&shifted);
    return status;
  }
  s->system = shifted;
  s->reservoir[QT_LEFT].mu = iv->scf.mu;
  s->reservoir[QT_RIGHT].mu = iv->scf.mu - last->drain;
  s->mu = iv->scf.mu - last->drain / 2;
  s->iv = iv;
  s->reserved = 0; /* it is allocated by now */
  return WEIR_OK;
}

static qt_scf_spec spec_of(const qt_study *s, int threads)
{
  const double mib = 1 << 20;

  return (qt_scf_spec){.opts = &s->cfg->electrostatics,
                       .petsc = &s->cfg->petsc,
                       .lead = s->cfg->lead,
                       .n_k = s->n_k,
                       .k = (const double(*)[2])s->k,
                       .weight = s->weight,
                       .mu = s->cfg->contact.mu,
                       .temperature = s->cfg->contact.temperature,
                       .shift = s->cfg->energy.shift,
                       .threads = threads,
                       .comm = s->comm,
                       .budget = s->cfg->memory.budget * mib};
}

weir_status qt_iv_size(const qt_study *s, int threads, double *peak, double *kept)
{
  const qt_scf_spec spec = spec_of(s, threads);
  qt_iv iv = {.cfg = s->cfg};
  double drain = 0;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(qt_iv_voltages(s->cfg, &iv), done);
  for (int64_t i = 0; i < iv.n_drain; i++) {
    drain = fmax(drain, fabs(iv.drain[i]));
  }
  WEIR_TRY_GOTO(qt_scf_bytes(&s->system, &spec, iv.n_drain * iv.n_gate, drain, kept, peak), done);
  *peak += (double)weir_alloc_bytes();
  *kept += qt_system_bytes(&s->system); /* that in the potential */
done:
  qt_iv_fini(&iv);
  return status;
}

/* Of this rank alone. */
static weir_status prepare(const qt_study *s, const weir_config *config, qt_iv *out)
{
  WEIR_TRY(make_digest(config, &out->flat, out->digest));
  WEIR_TRY(qt_iv_voltages(s->cfg, out));
  return weir_alloc(out->n_drain * out->n_gate, sizeof *out->bias, (void **)&out->bias);
}

weir_status qt_iv_open(qt_study *s, const weir_config *config, const char *dir, int threads,
                       const qt_scf_scattering *scattering, qt_iv *out)
{
  qt_scf_spec spec = spec_of(s, threads);
  double kept;
  bool found = true;
  weir_status status = WEIR_OK;

  *out = (qt_iv){.cfg = s->cfg, .comm = s->comm, .scattering = scattering};
  spec.scattering = scattering;
  status = qt_iv_size(s, threads, &out->predicted_bytes, &kept);
  WEIR_TRY(qt_ranks_agree(s->comm, status));
  out->flat = s->system;
  s->system = (qt_system){.n = 0};
  WEIR_TRY(qt_ranks_agree(s->comm, prepare(s, config, out)));
  WEIR_TRY(qt_scf_create(&out->flat, &spec, &out->scf));
  const int64_t count = out->n_drain * out->n_gate;

  while (out->n_found < count && found) {
    WEIR_TRY(qt_iv_load(out, out->n_found, dir, &found));
    out->n_found += found;
  }
  out->n_resumed = out->n_found;
  weir_info(
      "run",
      "potential on %lld nodes, %lld bias points, %lld of an earlier run; left lead at %.6g eV",
      (long long)qt_grid_nodes(&out->scf.grid), (long long)count, (long long)out->n_found,
      out->scf.mu);
  return out->n_found < count ? qt_scf_check_gap(&out->scf) : WEIR_OK;
}

/* What of an interrupted sweep stays. */
static weir_status tell_stop(const qt_iv *iv, const char *dir)
{
  const int64_t count = iv->n_drain * iv->n_gate, i = iv->n_found;
  char kept[128] = "none of";

  if (i > 0) {
    (void)snprintf(kept, sizeof kept, "%lld of", (long long)i);
  }
  return weir_fail(WEIR_ERR_STOPPED,
                   "stopped at drain %g V, gate %g V: %s %lld bias points %s kept in %s/bias: "
                   "repeat the command to compute the next",
                   iv->drain[i / iv->n_gate], iv->gate[i % iv->n_gate], kept, (long long)count,
                   i == 1 ? "is" : "are", dir);
}

weir_status qt_iv_solve(qt_study *s, const char *dir, qt_iv *iv)
{
  const int64_t count = iv->n_drain * iv->n_gate;
  const bool leads = qt_ranks_rank(s->comm) == 0;
  const double began = weir_clock();

  for (int64_t i = iv->n_found; i < count; i++) {
    const double start = weir_clock();
    const weir_status status =
        qt_scf_solve(&iv->scf, iv->drain[i / iv->n_gate], iv->gate[i % iv->n_gate],
                     find_start(iv, i), &iv->bias[i]);

    if (status == WEIR_ERR_STOPPED) {
      return tell_stop(iv, dir);
    }
    WEIR_TRY(status);
    iv->n_found++;
    WEIR_TRY(qt_ranks_agree(s->comm, leads ? qt_iv_save(iv, i, dir) : WEIR_OK));
    tell(iv, &iv->bias[i], weir_clock() - start);
    warn_of_ends(&iv->bias[i]);
  }
  iv->seconds = weir_clock() - began;
  return qt_ranks_agree(s->comm, move_study(s, iv));
}
