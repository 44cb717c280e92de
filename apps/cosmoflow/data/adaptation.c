/* adaptation.c - see adaptation.h. */
#include "data/adaptation.h"
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "base/weir_random.h"

enum { BESIDE = 0x74617267 /* purpose of random numbers */ };

const weir_opt cf_adapt_options[] = {
    WEIR_OPT_STRING_LIST(cf_adapt_opts, samples, "",
                         "files, folders or lists of samples of the simulation, or the survey, "
                         "that the network is to be used on; their labels are not read; none: no "
                         "adaptation"),
    WEIR_OPT_REAL(cf_adapt_opts, weight, 1, 0, 1e6, "1",
                  "factor of the squared discrepancy in the loss"),
    WEIR_OPT_REAL_LIST(cf_adapt_opts, bandwidths, "0.1, 0.3, 1", 1e-6, 1e6, "1",
                       "of the Gaussian kernels, whose mean is taken, in units of the outputs of "
                       "the network (labels: [-1, 1])"),
    WEIR_OPT_END,
};

static bool is_matter(const cf_volume_info *i)
{
  return i->quantity == CF_QUANTITY_COUNTS || i->quantity == CF_QUANTITY_DENSITY;
}

/* Checks what predict compares with the weights: a network that cannot be used on these samples is
 * not adapted to them. */
static weir_status check_use(const char *path, const cf_volume_info *own,
                             const cf_volume_info *info)
{
  for (int64_t c = 0; c < own->n_redshifts && c < info->n_redshifts; c++) {
    const double here = own->redshift[c], there = info->redshift[c];

    if (fabs(here - there) > 1e-6 * (here + there)) {
      return weir_fail(WEIR_ERR_DATA,
                       "adapt.samples: %s: channel %lld is of redshift %g; that of the training is "
                       "of %g",
                       path, (long long)c + 1, here, there);
    }
  }
  return !is_matter(own) || !is_matter(info) || own->quantity == info->quantity
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA,
                         "adapt.samples: %s: voxels are %s; those of the training are %s", path,
                         cf_quantity_name[own->quantity], cf_quantity_name[info->quantity]);
}

static weir_status check(const cf_adapt_opts *opts, const char *path, cf_adaptation *t,
                         cf_samples *like, const cf_volume_info *info)
{
  const cf_volume_info *const own = cf_source_info(t->source);
  const bool known = own->cell > 0 && info->cell > 0;

  if (opts->bandwidths.count == 0) {
    return weir_fail(WEIR_ERR_CONFIG, "adapt.bandwidths: names none");
  }
  if (memcmp(own->lengths, info->lengths, sizeof own->lengths) != 0) {
    return weir_fail(WEIR_ERR_DATA,
                     "adapt.samples: %s: samples of %lld x %lld x %lld x %lld; those of the "
                     "training are of %lld x %lld x %lld x %lld",
                     path, (long long)own->lengths[0], (long long)own->lengths[1],
                     (long long)own->lengths[2], (long long)own->lengths[3],
                     (long long)info->lengths[0], (long long)info->lengths[1],
                     (long long)info->lengths[2], (long long)info->lengths[3]);
  }
  if (known && fabs(own->cell - info->cell) > 1e-6 * info->cell) {
    return weir_fail(WEIR_ERR_DATA,
                     "adapt.samples: %s: voxels %g Mpc/h wide; those of the training are %g", path,
                     own->cell, info->cell);
  }
  if (fabs(cf_volume_unit_of(own) - cf_volume_unit_of(info)) > 1e-6 * cf_volume_unit_of(info)) {
    return weir_fail(WEIR_ERR_DATA,
                     "adapt.samples: %s: voxels are divided by %g (voxel_unit); those of the "
                     "training by %g: files.unit states it of files without",
                     path, cf_volume_unit_of(own), cf_volume_unit_of(info));
  }
  WEIR_TRY(check_use(path, own, info));
  return cf_samples_dtype(t->samples) == cf_samples_dtype(like)
             ? WEIR_OK
             : weir_fail(
                   WEIR_ERR_DATA,
                   "adapt.samples: %s: voxels of another type (%s) than those of the training "
                   "(%s): simulate.values states it, and convert changes it",
                   path, weir_dtype_name(cf_samples_dtype(t->samples)),
                   weir_dtype_name(cf_samples_dtype(like)));
}

/* Splits universes of the seed of the training by their numbers, as predict does: each is of the
 * subset that it is of there, and numbers that the training has not are of no use. */
static weir_status split_by_numbers(const cf_split *of, const int64_t *universe, cf_adaptation *t)
{
  char *text[2] = {NULL, NULL};
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(cf_split_text(of, CF_TRAIN, &text[0]), done);
  WEIR_TRY_GOTO(cf_split_text(of, CF_VALID, &text[1]), done);
  WEIR_TRY_GOTO(cf_split_of_lists(text[0], text[1], of->samples_per_universe, universe,
                                  cf_source_count(t->source), &t->split),
                done);
  if (t->split.n[CF_TRAIN] == 0) {
    status = weir_fail(WEIR_ERR_CONFIG,
                       "adapt.samples: the seed is that of the training, and none of these "
                       "universes has the number of one that is trained on: others are kept for "
                       "validation and test; make them with another seed");
  }
done:
  weir_free(&text[0]);
  weir_free(&text[1]);
  return status;
}

static weir_status split(const cf_data_opts *data, const cf_volume_info *info, const cf_split *of,
                         cf_adaptation *t)
{
  const char *const here = cf_source_info(t->source)->simulation;
  const int64_t n = cf_source_count(t->source);
  int64_t *universe = NULL;
  cf_split_opts opts = data->split;
  weir_status status = WEIR_OK;

  opts.quiet = true;
  WEIR_TRY(weir_alloc(n, sizeof *universe, (void **)&universe));
  for (int64_t i = 0; i < n; i++) {
    WEIR_TRY_GOTO(cf_source_universe(t->source, i, &universe[i]), done);
  }
  if (here[0] != 0 && cf_universe_text_same_seed(here, info->simulation)) {
    WEIR_TRY_GOTO(split_by_numbers(of, universe, t), done);
  } else {
    WEIR_TRY_GOTO(cf_split_create(&opts, universe, n, &t->split), done);
  }
  if (!of->quiet) {
    weir_info("adapt", "to %lld samples of %lld universes", (long long)t->split.n[CF_TRAIN],
              (long long)t->split.universes[CF_TRAIN]);
  }
done:
  weir_free(&universe);
  return status;
}

static weir_status open_all(const cf_adapt_opts *opts, const cf_data_opts *data,
                            const cf_source_spec *spec, cf_samples *like,
                            const cf_volume_info *info, const cf_split *of, cf_adaptation *t)
{
  cf_source_spec own = *spec;

  t->from = *spec->source;
  t->from.input = opts->samples;
  own.source = &t->from;
  WEIR_TRY(cf_source_open(&own, &t->source));
  WEIR_TRY(cf_samples_create(data, t->source, CF_TRUTH_NONE, &t->samples));
  WEIR_TRY(check(opts, opts->samples.items[0], t, like, info));
  WEIR_TRY(split(data, info, of, t));
  const int64_t *const u = t->split.universes;
  const int64_t universes = u[CF_TRAIN] + u[CF_VALID] + u[CF_TEST];

  return !data->augment.shift || t->split.count == universes
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG,
                         "adapt.samples: %s: data.augment.shift moves whole periodic boxes, and "
                         "these %lld samples are cut from %lld universes",
                         opts->samples.items[0], (long long)t->split.count, (long long)universes);
}

weir_status cf_adaptation_open(const cf_adapt_opts *opts, const cf_data_opts *data,
                               const cf_source_spec *spec, cf_samples *like,
                               const cf_volume_info *info, const cf_split *of, cf_adaptation *out)
{
  *out = (cf_adaptation){.source = NULL};
  const weir_status status =
      opts->samples.count > 0 ? open_all(opts, data, spec, like, info, of, out) : WEIR_OK;

  if (status != WEIR_OK) {
    cf_adaptation_close(out);
  }
  return status;
}

void cf_adaptation_close(cf_adaptation *t)
{
  cf_samples_destroy(&t->samples);
  cf_split_fini(&t->split);
  cf_source_close(&t->source);
}

void cf_adaptation_put(const cf_adapt_opts *opts, const cf_adaptation *t, FILE *out)
{
  char described[512];

  if (t->source == NULL) {
    return;
  }
  cf_source_describe(t->source, described, sizeof described);
  (void)fprintf(out, "%s\n%.17g", described, opts->weight);
  for (int64_t i = 0; i < opts->bandwidths.count; i++) {
    (void)fprintf(out, " %.17g", opts->bandwidths.items[i]);
  }
  (void)fprintf(out, "\n");
}

weir_status cf_adaptation_read(cf_adaptation *t, const cf_data_opts *data, int64_t seed,
                               int64_t epoch, int64_t sample, const int64_t lo[3],
                               const int64_t hi[3], void *voxels)
{
  const uint64_t bits = weir_random_bits((uint64_t)seed, BESIDE, (uint32_t)epoch, (uint64_t)sample);
  const int64_t at = t->split.sample[CF_TRAIN][bits % (uint64_t)t->split.n[CF_TRAIN]];
  const bool augmented = data->augment.symmetry != CF_SYMMETRY_NONE || data->augment.shift;
  const cf_view view = cf_view_of(data, cf_source_info(t->source), seed, epoch, at);
  cf_wanted w = {.sample = at, .view = augmented ? &view : NULL};

  memcpy(w.lo, lo, sizeof w.lo);
  memcpy(w.hi, hi, sizeof w.hi);
  return cf_samples_read(t->samples, &w, voxels, NULL);
}
