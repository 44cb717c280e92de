/* eval_maps.c - see eval_maps.h. */
#include "eval/eval_maps.h"
#include <stdio.h>
#include "base/weir_log.h"
#include "data/volume/class_maps.h"
#include "eval/confusion.h"
#include "report/weir_report.h"

bool cf_eval_is_of_maps(const cf_eval_opts *opts)
{
  const cf_eval_set_opts *const set = opts->sets.items;

  return opts->sets.count > 0 && cf_class_maps_are(set[0].predictions);
}

static const char *const score_head[CF_CONFUSION_COLUMNS] = {"set",   "model", "score",
                                                             "class", "value", "voxels"};

static weir_status put_scores(const cf_map_scores *m, const char *dir, weir_report *r)
{
  weir_table c = {0};

  for (int64_t i = 0; i < m->n_sets; i++) {
    for (int by = 0; by < CF_MAP_PREDICTORS; by++) {
      cf_confusion_cells(m->classes, m->set[i].count[by], m->set[i].opts->name,
                         cf_map_predictor_name[by], &c);
    }
  }
  weir_status status =
      weir_table_write_csv(&c, dir, "scores.csv", CF_CONFUSION_COLUMNS, score_head);

  status = status == WEIR_OK ? weir_table_report(&c, r, "scores", CF_CONFUSION_COLUMNS, score_head)
                             : status;
  weir_table_print(&c, CF_CONFUSION_COLUMNS, score_head, stdout);
  weir_table_fini(&c);
  return status;
}

/* A row a pair of classes of every set; the share is of the voxels of the true class. */
static weir_status put_confusion(const cf_map_scores *m, const char *dir, weir_report *r)
{
  enum { COLUMNS = 5 };
  static const char *const head[COLUMNS] = {"set", "class", "said", "voxels", "share"};
  weir_table c = {0};

  for (int64_t i = 0; i < m->n_sets; i++) {
    for (int64_t k = 0; k < m->classes; k++) {
      const int64_t *const row = m->set[i].count[CF_MAP_NETWORK] + k * m->classes;
      int64_t all = 0;

      for (int64_t j = 0; j < m->classes; j++) {
        all += row[j];
      }
      for (int64_t j = 0; j < m->classes; j++) {
        weir_table_add(&c, "%s", m->set[i].opts->name);
        weir_table_add(&c, "%lld", (long long)k);
        weir_table_add(&c, "%lld", (long long)j);
        weir_table_add(&c, "%lld", (long long)row[j]);
        weir_table_add_real(&c, (double)row[j] / (double)all); /* NaN of no voxel */
      }
    }
  }
  weir_status status = weir_table_write_csv(&c, dir, "confusion.csv", COLUMNS, head);

  status = status == WEIR_OK ? weir_table_report(&c, r, "confusion", COLUMNS, head) : status;
  weir_table_fini(&c);
  return status;
}

static weir_status put_summary(const cf_map_scores *m, cf_subset subset, weir_report *r)
{
  for (int64_t i = 0; i < m->n_sets; i++) {
    const cf_map_set *const s = &m->set[i];

    WEIR_TRY(weir_report_text(r, "%s: %lld samples of subset %s: %s%s%s", s->opts->name,
                              (long long)s->samples, cf_subset_name[subset], s->opts->predictions,
                              s->source[0] != 0 ? "; " : "", s->source));
  }
  return weir_report_text(
      r, "Accuracy: share of voxels whose class was predicted. IoU (Jaccard index) of a class: the "
         "intersection of predicted and true voxels over their union; mean_iou: its mean over the "
         "classes that occur. Majority: the most frequent class, predicted everywhere.");
}

static void tell(const cf_map_scores *m)
{
  for (int64_t i = 0; i < m->n_sets; i++) {
    for (int by = 0; by < CF_MAP_PREDICTORS; by++) {
      const int64_t *const count = m->set[i].count[by];

      weir_event("scores", WEIR_TEXT("set", m->set[i].opts->name),
                 WEIR_TEXT("model", cf_map_predictor_name[by]),
                 WEIR_REAL("accuracy", cf_confusion_accuracy(m->classes, count)),
                 WEIR_REAL("mean_iou", cf_confusion_iou(m->classes, count, -1)),
                 WEIR_INT("samples", m->set[i].samples),
                 WEIR_INT("voxels", cf_confusion_voxels(m->classes, count)));
    }
  }
}

static weir_status fill(const cf_map_scores *m, cf_subset subset, const char *dir, weir_report *r)
{
  WEIR_TRY(put_summary(m, subset, r));
  WEIR_TRY(weir_report_heading(r, "Scores"));
  WEIR_TRY(put_scores(m, dir, r));
  WEIR_TRY(weir_report_heading(r, "Confusion matrix"));
  return put_confusion(m, dir, r);
}

weir_status cf_eval_maps_write(const cf_map_scores *m, cf_subset subset, uint64_t seed,
                               const char *dir)
{
  weir_report *r = NULL;

  tell(m);
  WEIR_TRY(weir_report_open(dir, "cosmoflow: evaluation of voxel classes", &r));
  weir_report_fact(r, "seed", "%llu", (unsigned long long)seed);
  weir_report_fact(r, "subset", "%s", cf_subset_name[subset]);
  return weir_report_commit(&r, fill(m, subset, dir, r));
}
