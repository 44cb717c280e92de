/* map_scores.c - see map_scores.h. */
#include "eval/map_scores.h"
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "comm/weir_items.h"
#include "data/volume/class_maps.h"
#include "eval/confusion.h"

enum { BUFFER_BYTES = 1 << 24 /* voxels */ };

const char *const cf_map_predictor_name[CF_MAP_PREDICTORS] = {"network", "majority"};

/* A set while it is read. */
typedef struct pair {
  cf_map_set *set;
  cf_read_maps maps;
  cf_source *truth;
  int64_t classes, planes;
  int64_t *row, *count;    /* rows that are scored; [classes, classes] of one */
  uint8_t *is, *predicted; /* [planes, height, width] */
} pair;

static weir_status open_truth(const cf_source_spec *spec, pair *p)
{
  const cf_eval_set_opts *const o = p->set->opts;
  cf_source_opts from = *spec->source;
  cf_source_spec own = *spec;

  from.input = o->truth;
  own.source = &from;
  if (o->truth.count == 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "eval.sets: %s: has no truth: name the volumes that were predicted, such as "
                     "truth: [volumes.nc]",
                     o->name);
  }
  WEIR_TRY(cf_source_open(&own, &p->truth));
  const cf_volume_info *const info = cf_source_info(p->truth);

  if (info->n_classes == 0) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: has no classes of its voxels (segmentation); those that are made of a "
                     "channel predict has scored (classes.csv)",
                     o->truth.items[0]);
  }
  if (memcmp(info->lengths, p->maps.lengths, sizeof p->maps.lengths) != 0) {
    return weir_fail(WEIR_ERR_DATA, "%s: is of %lld x %lld x %lld voxels, %s of %lld x %lld x %lld",
                     o->predictions, (long long)p->maps.lengths[0], (long long)p->maps.lengths[1],
                     (long long)p->maps.lengths[2], o->truth.items[0], (long long)info->lengths[0],
                     (long long)info->lengths[1], (long long)info->lengths[2]);
  }
  p->classes = info->n_classes;
  /* Volumes may be predicted from files without classes. */
  return cf_origin_judge(&p->maps.origin, o->predictions, p->truth, o->truth.items[0], false);
}

/* The truth has the sample of a row. */
static weir_status check_row(const pair *p, int64_t row)
{
  const int64_t sample = p->maps.sample[row];
  int64_t universe = -1;

  if (sample >= cf_source_count(p->truth)) {
    return weir_fail(WEIR_ERR_DATA, "%s: row %lld is of sample %lld, %s has %lld",
                     p->set->opts->predictions, (long long)row + 1, (long long)sample,
                     p->set->opts->truth.items[0], (long long)cf_source_count(p->truth));
  }
  WEIR_TRY(cf_source_universe(p->truth, sample, &universe));
  return universe < 0 || universe == p->maps.universe[row]
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA,
                         "%s: row %lld is of universe %lld, the truth of universe %lld: these are "
                         "not the samples that were predicted, or they are in another order",
                         p->set->opts->predictions, (long long)row + 1,
                         (long long)p->maps.universe[row], (long long)universe);
}

static weir_status count_row(void *context, int64_t item, weir_bytes *out)
{
  pair *const p = context;
  const int64_t *const l = p->maps.lengths, row = p->row[item];
  const int64_t bytes = p->classes * p->classes * (int64_t)sizeof *p->count;

  WEIR_TRY(check_row(p, row));
  memset(p->count, 0, (size_t)bytes);
  for (int64_t d = 0; d < l[0]; d += p->planes) {
    const int64_t end = d + p->planes < l[0] ? d + p->planes : l[0], n = (end - d) * l[1] * l[2];

    WEIR_TRY(cf_source_classes(p->truth, p->maps.sample[row], d, end, p->is));
    WEIR_TRY(cf_class_maps_read(&p->maps, row, d, end, p->predicted));
    for (int64_t i = 0; i < n; i++) {
      if (p->predicted[i] >= p->classes) {
        return weir_fail(WEIR_ERR_DATA,
                         "%s: row %lld: the class of voxel %lld is %d, and there are %lld "
                         "(files.classes)",
                         p->set->opts->predictions, (long long)row + 1,
                         (long long)(d * l[1] * l[2] + i), p->predicted[i], (long long)p->classes);
      }
    }
    cf_confusion_add(p->classes, p->is, p->predicted, n, p->count);
  }
  return weir_bytes_put(out, p->count, bytes);
}

static weir_status add_row(void *context, int64_t i, const char *data, int64_t n)
{
  pair *const p = context;
  const char *at = data;

  for (int64_t k = 0; k < p->classes * p->classes; k++) {
    int64_t more = 0;

    WEIR_TRY(weir_bytes_get(&at, data + n, &more, sizeof more));
    p->set->count[CF_MAP_NETWORK][k] += more;
  }
  weir_progress(p->set->opts->name, i + 1, p->set->samples, "samples");
  return WEIR_OK;
}

static weir_status alloc_pair(pair *p, cf_map_set *set)
{
  const int64_t plane = p->maps.lengths[1] * p->maps.lengths[2], fit = BUFFER_BYTES / plane;

  p->planes = fit < 1 ? 1 : fit < p->maps.lengths[0] ? fit : p->maps.lengths[0];
  for (int k = 0; k < CF_MAP_PREDICTORS; k++) {
    WEIR_TRY(weir_alloc(p->classes * p->classes, sizeof(int64_t), (void **)&set->count[k]));
  }
  WEIR_TRY(weir_alloc(p->classes * p->classes, sizeof *p->count, (void **)&p->count));
  WEIR_TRY(weir_alloc(p->maps.n, sizeof *p->row, (void **)&p->row));
  WEIR_TRY(weir_alloc(p->planes * plane, 1, (void **)&p->is));
  return weir_alloc(p->planes * plane, 1, (void **)&p->predicted);
}

static weir_status add_rows(pair *p, cf_map_set *set, int subset, weir_comm *comm)
{
  for (int64_t row = 0; row < p->maps.n; row++) {
    if (p->maps.subset[row] == subset) {
      p->row[set->samples++] = row;
    }
  }
  WEIR_TRY(weir_items_run(&(weir_items){.comm = comm,
                                        .what = "eval",
                                        .unit = "samples",
                                        .n = set->samples,
                                        .make = count_row,
                                        .take = add_row},
                          p));
  if (set->samples == 0) {
    return weir_fail(WEIR_ERR_DATA, "%s: has no row of the subset %s (eval.part)",
                     set->opts->predictions, cf_subset_name[subset]);
  }
  cf_confusion_constant(p->classes, set->count[CF_MAP_NETWORK],
                        cf_confusion_majority(p->classes, set->count[CF_MAP_NETWORK]),
                        set->count[CF_MAP_MAJORITY]);
  return WEIR_OK;
}

static weir_status score(const cf_source_spec *spec, int subset, weir_comm *comm,
                         cf_map_scores *out, cf_map_set *set)
{
  pair p = {.set = set};
  weir_status status = WEIR_OK;

  WEIR_TRY(cf_class_maps_open(set->opts->predictions, &p.maps));
  memcpy(set->source, p.maps.source, sizeof set->source);
  WEIR_TRY_GOTO(open_truth(spec, &p), done);
  WEIR_TRY_GOTO(alloc_pair(&p, set), done);
  WEIR_TRY_GOTO(add_rows(&p, set, subset, comm), done);
  out->classes = p.classes;
done:
  cf_class_maps_close(&p.maps);
  cf_source_close(&p.truth);
  weir_free(&p.row);
  weir_free(&p.count);
  weir_free(&p.is);
  weir_free(&p.predicted);
  return status;
}

weir_status cf_map_scores_make(const cf_eval_opts *opts, const cf_source_spec *spec,
                               weir_comm *comm, cf_map_scores *out)
{
  const cf_eval_set_opts *const of = opts->sets.items;
  weir_status status = WEIR_OK;

  *out = (cf_map_scores){.classes = 0};
  WEIR_TRY(cf_eval_judge_names(&opts->sets));
  WEIR_TRY(weir_alloc(opts->sets.count, sizeof *out->set, (void **)&out->set));
  out->n_sets = opts->sets.count;
  for (int64_t i = 0; i < out->n_sets && status == WEIR_OK; i++) {
    out->set[i].opts = &of[i];
    status = score(spec, opts->part, comm, out, &out->set[i]);
  }
  if (status != WEIR_OK) {
    cf_map_scores_fini(out);
  }
  return status;
}

void cf_map_scores_fini(cf_map_scores *m)
{
  for (int64_t i = 0; m->set != NULL && i < m->n_sets; i++) {
    for (int k = 0; k < CF_MAP_PREDICTORS; k++) {
      weir_free(&m->set[i].count[k]);
    }
  }
  weir_free(&m->set);
}
