/* confusion.c - see confusion.h. */
#include "eval/confusion.h"
#include <math.h>
#include <stdbool.h>

const char *const ps_label_name[PS_LABELS] = {
    [PS_CLASS_N] = "N", [PS_CLASS_S] = "S", [PS_CLASS_V] = "V",
    [PS_CLASS_F] = "F", [PS_LABEL_Q] = "Q", [PS_LABEL_O] = "O"};

void ps_confusion_add(ps_confusion *sum, const ps_confusion *more)
{
  for (int a = 0; a < PS_LABELS; a++) {
    for (int b = 0; b < PS_LABELS; b++) {
      sum->n[a][b] += more->n[a][b];
    }
  }
}

/* Whether a beat of `label` that is found as `kind` counts neither for nor against it. */
static bool forgiven(int kind, int label)
{
  return (kind == PS_CLASS_V && (label == PS_CLASS_F || label == PS_LABEL_Q)) ||
         (kind == PS_CLASS_S && label == PS_LABEL_Q);
}

static ps_class_score score_of(int64_t tp, int64_t fn, int64_t fp, double fpr)
{
  return (ps_class_score){.beats = tp + fn,
                          .se = 100 * (double)tp / (double)(tp + fn),
                          .ppv = 100 * (double)tp / (double)(tp + fp),
                          .fpr = fpr};
}

static ps_class_score any_beat(const ps_confusion *c)
{
  int64_t tp = 0, fn = 0, fp = 0;

  for (int a = 0; a < PS_LABEL_O; a++) {
    for (int b = 0; b < PS_LABEL_O; b++) {
      tp += c->n[a][b];
    }
    fn += c->n[a][PS_LABEL_O];
    fp += c->n[PS_LABEL_O][a];
  }
  return score_of(tp, fn, fp, NAN);
}

ps_class_score ps_confusion_score(const ps_confusion *c, int kind)
{
  int64_t fn = 0, fp = 0, tn = 0;

  if (kind == PS_ANY_BEAT) {
    return any_beat(c);
  }
  for (int a = 0; a < PS_LABELS; a++) {
    for (int b = 0; b < PS_LABELS; b++) {
      fn += a == kind && b != kind ? c->n[a][b] : 0;
      fp += a != kind && b == kind && !forgiven(kind, a) ? c->n[a][b] : 0;
      tn += a != kind && b != kind && b != PS_LABEL_O ? c->n[a][b] : 0;
    }
  }
  return score_of(c->n[kind][kind], fn, fp, 100 * (double)fp / (double)(fp + tn));
}

ps_class_score ps_confusion_average(const ps_confusion *c, int64_t n, int kind)
{
  ps_class_score out = {.beats = 0};
  double of_se = 0, of_ppv = 0;

  for (int64_t i = 0; i < n; i++) {
    const ps_class_score s = ps_confusion_score(&c[i], kind);

    out.beats += s.beats;
    out.se += isnan(s.se) ? 0 : s.se;
    of_se += !isnan(s.se);
    out.ppv += isnan(s.ppv) ? 0 : s.ppv;
    of_ppv += !isnan(s.ppv);
  }
  out.se /= of_se;
  out.ppv /= of_ppv;
  out.fpr = NAN;
  return out;
}
