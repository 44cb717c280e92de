/* write.c - a record as a waveform of DICOM (PS3.3 2024, A.34.3 to A.34.6): the SOP class that its
 * signals fit, a multiplex group for each rate, and their samples in 16 bits. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "io/dicom/write_priv.h"
#include "io/io_priv.h"

/* Constraints of the three kinds of ECG and of haemodynamic waveforms (A.34.3.4, A.34.4.4,
 * A.34.5.4, A.34.6.4); the first that fits is written. */
static const struct {
  const char *uid, *modality;
  int sets, channels, total;
  int64_t samples;
  double lowest, highest;  /* Hz */
  bool standard, pressure; /* all twelve leads, once each; at least one pressure */
} kinds[] = {
    {"1.2.840.10008.5.1.4.1.1.9.1.1", "ECG", 5, 13, 13, 16384, 200, 1000, true, false},
    {"1.2.840.10008.5.1.4.1.1.9.1.2", "ECG", 4, 24, 96, UINT32_MAX, 200, 1000, false, false},
    {"1.2.840.10008.5.1.4.1.1.9.1.3", "ECG", 1, 12, 12, UINT32_MAX, 50, 1000, false, false},
    {"1.2.840.10008.5.1.4.1.1.9.2.1", "HD", 4, 8, 32, UINT32_MAX, 0, 400, false, true},
};

void weir_dicom_digest(weir_dicom_copy *c, const void *data, size_t size)
{
  memcpy(c->hashed, c->digest, 64);
  memcpy(c->hashed + 64, data, size);
  weir_sha256(c->hashed, 64 + size, c->digest);
}

void weir_dicom_real_text(double value, char text[WEIR_DICOM_DS])
{
  char full[64];

  weir_io_real_text(value, full, sizeof full);
  for (int digits = 15; strlen(full) >= WEIR_DICOM_DS; digits--) {
    (void)snprintf(full, sizeof full, "%.*g", digits, value);
    for (char *at = full; *at != 0; at++) {
      *at = *at == ',' ? '.' : *at;
    }
  }
  strcpy(text, full);
}

static weir_status check_name(const weir_dicom_copy *c, weir_dicom_lane *l)
{
  const char *const name = l->info->name;
  size_t characters = 0;
  bool plain = name[0] != ' ';

  for (const char *at = name; *at != 0; characters++) {
    const int bytes = weir_io_character(at);

    plain = plain && bytes > 0 && *at != 0x7f && *at != '\\' && (*at != ' ' || at[1] != 0);
    at += bytes > 0 ? bytes : 1;
  }
  if (!plain || characters == 0 || characters > 16) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "signal '%s' of %s: a channel label of DICOM has 1 to 16 characters (UTF-8) "
                     "without a backslash or outer blanks",
                     name, weir_record_name(c->r));
  }
  l->pressure = strcmp(l->info->units, "mmHg") == 0;
  if (!l->pressure && strcmp(l->info->units, "uV") != 0 && strcmp(l->info->units, "mV") != 0 &&
      strcmp(l->info->units, "V") != 0) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "signal %s of %s is in '%s': DICOM is written of ECGs in uV, mV or V, and of "
                     "pressures in mmHg",
                     name, weir_record_name(c->r), l->info->units);
  }
  l->standard = l->pressure ? 12 : weir_dicom_lead_code(name, &l->source);
  if (l->pressure ? !weir_dicom_pressure_code(name, &l->source) : l->standard < 0) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "signal %s of %s: the name of no %s, whose code DICOM needs: known are %s",
                     name, weir_record_name(c->r), l->pressure ? "pressure" : "lead",
                     l->pressure ? "ABP, ART, AoP, FAP, CVP, PAP, PAWP, PCWP, LAP, RAP, LVP and RVP"
                                 : "I, aVR, V1 to V9, V3R, X, MCL1, MLII and others of CID 3001, "
                                   "alone or after 'ECG', and ECG");
  }
  return WEIR_OK;
}

weir_status weir_dicom_read_block(weir_dicom_copy *c, weir_dicom_lane *l, int64_t at, int64_t n)
{
  if (l->integers) {
    return weir_record_read_raw(c->r, l->signal, at, n, c->digits, c->present);
  }
  WEIR_TRY(weir_record_read(c->r, l->signal, at, n, c->values, c->present));
  for (int64_t k = 0; k < n; k++) {
    const double digit = round((double)c->values[k] / l->scale);

    c->present[k] = c->present[k] && isfinite(c->values[k]);
    c->digits[k] = 0;
    if (c->present[k]) {
      l->min = fmin(l->min, (double)c->values[k]);
      l->max = fmax(l->max, (double)c->values[k]);
      l->clipped += fabs(digit) > INT16_MAX;
      c->digits[k] = (int32_t)fmax(-INT16_MAX, fmin(INT16_MAX, digit));
    }
  }
  return WEIR_OK;
}

/* Range of the digits, and how many there are. */
static weir_status scan(weir_dicom_copy *c, weir_dicom_lane *l)
{
  l->low = INT32_MAX;
  l->high = INT32_MIN;
  l->present = 0;
  for (int64_t at = 0; at < l->info->count; at += WEIR_DICOM_BLOCK) {
    const int64_t left = l->info->count - at;
    const int64_t n = left < WEIR_DICOM_BLOCK ? left : WEIR_DICOM_BLOCK;

    WEIR_TRY(weir_dicom_read_block(c, l, at, n));
    for (int64_t k = 0; k < n; k++) {
      if (c->present[k]) {
        l->low = c->digits[k] < l->low ? c->digits[k] : l->low;
        l->high = c->digits[k] > l->high ? c->digits[k] : l->high;
        l->present++;
      } else {
        c->digits[k] = 0;
      }
    }
    weir_dicom_digest(c, c->digits, (size_t)n * sizeof c->digits[0]);
    weir_dicom_digest(c, c->present, (size_t)n);
  }
  return WEIR_OK;
}

/* Integers of 16 bits stay as they are; others, and signals that store none, get a new scale. */
static weir_status choose_scale(weir_dicom_copy *c, weir_dicom_lane *l)
{
  const weir_signal_info *const s = l->info;
  double gain = s->gain;

  l->min = INFINITY;
  l->max = -INFINITY;
  l->integers = s->bits > 0 && !s->scale_varies;
  if (l->integers) {
    WEIR_TRY(scan(c, l));
    if (l->present == 0 || (l->low >= INT16_MIN && l->high <= INT16_MAX)) {
      l->scale = 1 / gain;
      l->origin = 0 - s->baseline / gain;
      return WEIR_OK;
    }
  }
  l->integers = false;
  c->facts->rescaled += s->bits > 0;
  gain = c->scale->gain;
  if (!(gain > 0)) {
    WEIR_TRY(weir_convert_gain(c->r, l->signal, &gain));
  }
  l->scale = 1 / gain;
  l->origin = 0;
  return scan(c, l);
}

static weir_status add_to_set(weir_dicom_copy *c, int i)
{
  const weir_signal_info *const s = c->lanes[i].info;
  int64_t num = 0, den = 0;
  int k = 0;

  while (k < c->n_sets && (c->sets[k].fs_num != s->fs_num || c->sets[k].fs_den != s->fs_den)) {
    k++;
  }
  if (k == WEIR_DICOM_SETS) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "%s has signals of more than %d rates",
                     weir_record_name(c->r), WEIR_DICOM_SETS);
  }
  weir_dicom_set *const set = &c->sets[k];

  if (k == c->n_sets) {
    *set = (weir_dicom_set){.fs_num = s->fs_num, .fs_den = s->fs_den};
    weir_io_rate_text(s->fs_num, s->fs_den, set->frequency, sizeof set->frequency);
    if (strlen(set->frequency) >= WEIR_DICOM_DS ||
        !weir_io_parse_decimal(set->frequency, strlen(set->frequency), &num, &den) ||
        num != s->fs_num || den != s->fs_den) {
      return weir_fail(WEIR_ERR_UNSUPPORTED,
                       "signal %s of %s has %lld/%lld samples per second, which no decimal number "
                       "of 16 characters states exactly: DICOM needs one",
                       s->name, weir_record_name(c->r), (long long)s->fs_num, (long long)s->fs_den);
    }
    c->n_sets++;
  }
  set->lanes[set->n++] = i;
  set->count = s->count > set->count ? s->count : set->count;
  return WEIR_OK;
}

/* A digit that no signal of the group has, where one of them misses samples. */
static weir_status choose_padding(weir_dicom_copy *c, weir_dicom_set *set)
{
  int32_t low = INT16_MAX, high = INT16_MIN;

  for (int k = 0; k < set->n; k++) {
    const weir_dicom_lane *const l = &c->lanes[set->lanes[k]];

    set->padded = set->padded || l->present < set->count;
    low = l->low < low ? l->low : low;
    high = l->high > high ? l->high : high;
  }
  set->padding = low > INT16_MIN ? INT16_MIN : INT16_MAX;
  if (set->padded && low == INT16_MIN && high == INT16_MAX) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "signals of %s of %s Hz miss samples, and others have both -32768 and 32767: "
                     "no code is left for the missing ones",
                     weir_record_name(c->r), set->frequency);
  }
  if ((__int128)set->count * set->n * 2 > INT32_MAX) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "%s has %d signals of %lld samples: more than the 2 GiB of a multiplex group: "
                     "convert parts of it",
                     weir_record_name(c->r), set->n, (long long)set->count);
  }
  return WEIR_OK;
}

static bool fits(const weir_dicom_copy *c, size_t kind)
{
  int seen[12] = {0}, n_seen = 0, n_pressures = 0;

  for (int k = 0; k < c->n_sets; k++) {
    const weir_dicom_set *const set = &c->sets[k];
    const double rate = (double)set->fs_num / (double)set->fs_den;

    if (set->n > kinds[kind].channels || set->count > kinds[kind].samples ||
        rate < kinds[kind].lowest || rate > kinds[kind].highest) {
      return false;
    }
  }
  for (int i = 0; i < c->n; i++) {
    const int lead = c->lanes[i].standard;

    n_seen += lead < 12 && seen[lead]++ == 0;
    n_pressures += c->lanes[i].pressure;
  }
  return c->n_sets <= kinds[kind].sets && c->n <= kinds[kind].total &&
         (n_pressures > 0) == kinds[kind].pressure &&
         (!kinds[kind].standard || (n_seen == 12 && c->n == 12));
}

static weir_status choose_kind(weir_dicom_copy *c)
{
  double lowest = INFINITY, highest = 0;

  for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; kind++) {
    if (fits(c, kind)) {
      c->sop_class = kinds[kind].uid;
      c->modality = kinds[kind].modality;
      return WEIR_OK;
    }
  }
  for (int k = 0; k < c->n_sets; k++) {
    const double rate = (double)c->sets[k].fs_num / (double)c->sets[k].fs_den;

    lowest = fmin(lowest, rate);
    highest = fmax(highest, rate);
  }
  return weir_fail(WEIR_ERR_UNSUPPORTED,
                   "%s has %d signals of %d rates from %g to %g Hz: an ECG of DICOM has up to 4 "
                   "rates of 200 to 1000 Hz with up to 24 signals each, or one of 50 to 1000 Hz "
                   "with up to 12; with pressures 4 rates of up to 400 Hz with up to 8",
                   weir_record_name(c->r), c->n, c->n_sets, lowest, highest);
}

static weir_status choose(weir_dicom_copy *c)
{
  if (c->n == 0 || c->n > WEIR_DICOM_LANES) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "%s has %d signals: a waveform of DICOM has 1 to %d",
                     weir_record_name(c->r), c->n, WEIR_DICOM_LANES);
  }
  for (int i = 0; i < c->n; i++) {
    weir_dicom_lane *const l = &c->lanes[i];

    *l = (weir_dicom_lane){.info = weir_record_signal(c->r, i), .signal = i};
    WEIR_TRY(check_name(c, l));
    WEIR_TRY(add_to_set(c, i));
  }
  WEIR_TRY(choose_kind(c));
  for (int i = 0; i < c->n; i++) {
    weir_dicom_lane *const l = &c->lanes[i];

    WEIR_TRY(choose_scale(c, l));
    c->facts->samples += l->info->count;
    c->facts->absent += l->info->count - l->present;
    c->facts->clipped += l->clipped;
  }
  if (c->facts->samples == c->facts->absent) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "%s has no samples", weir_record_name(c->r));
  }
  for (int k = 0; k < c->n_sets; k++) {
    WEIR_TRY(choose_padding(c, &c->sets[k]));
  }
  return WEIR_OK;
}

/* Samples that were clipped, and half a step relative to the range of a signal whose values were
 * rounded. */
static weir_status check_steps(weir_dicom_copy *c)
{
  for (int i = 0; i < c->n; i++) {
    const weir_dicom_lane *const l = &c->lanes[i];
    const double share = !l->integers && l->max > l->min ? 0.5 * l->scale / (l->max - l->min) : 0;

    if (share > c->scale->max_rounded) {
      c->facts->coarse = share;
      return weir_fail_option(
          weir_fail(WEIR_ERR_CONFIG,
                    "signal %s of %s: steps of %g %s change values by up to %.3g %% of its range",
                    l->info->name, weir_record_name(c->r), l->scale, l->info->units, 100 * share),
          "gain");
    }
  }
  return weir_convert_check_clipped(weir_record_name(c->r), c->facts, c->scale->max_clipped);
}

weir_status weir_record_to_dicom(weir_record *r, const weir_record_events *events,
                                 const char *comments, const char *path,
                                 const weir_convert_scale *scale, weir_convert_facts *facts)
{
  weir_dicom_copy *c = NULL;
  weir_status status = WEIR_OK;

  *facts = (weir_convert_facts){0};
  WEIR_TRY(weir_alloc(1, sizeof *c, (void **)&c));
  c->r = r;
  c->facts = facts;
  c->scale = scale;
  c->n = weir_record_signals(r);
  WEIR_TRY_GOTO(choose(c), done);
  WEIR_TRY_GOTO(check_steps(c), done);
  WEIR_TRY_GOTO(weir_writer_open(path, &c->w), done);
  WEIR_TRY_GOTO(weir_dicom_put_object(c, events, comments), done);
  WEIR_TRY_GOTO(weir_writer_commit(&c->w), done);
  facts->n_files = 1;
done:
  weir_writer_destroy(&c->w);
  weir_free(&c);
  return status;
}
