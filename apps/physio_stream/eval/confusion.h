/* confusion.h - beats by annotated and found class, and the scores of classes that ANSI/AAMI EC57
 * defines. */
#ifndef PS_CONFUSION_H
#define PS_CONFUSION_H
#include <stdint.h>
#include "model/beat_features.h"

/* Beside the classes: Q, a beat of no class (annotated: paced, fusion of paced and normal, or
 * unclassifiable), and O, no beat (found O: a missed beat; annotated O: a false detection). */
enum { PS_LABEL_Q = PS_CLASSES, PS_LABEL_O, PS_LABELS };
extern const char *const ps_label_name[PS_LABELS];

/* Numbers of beats by annotated and found label; n[O][O] has no meaning. */
typedef struct ps_confusion {
  int64_t n[PS_LABELS][PS_LABELS];
} ps_confusion;
void ps_confusion_add(ps_confusion *sum, const ps_confusion *more);

/* Sensitivity, positive predictivity and false positive rate, %; NaN: undefined. */
typedef struct ps_class_score {
  int64_t beats; /* annotated, missed ones included */
  double se, ppv, fpr;
} ps_class_score;
/* In place of a class: any beat against none. Its fpr is NaN. */
enum { PS_ANY_BEAT = PS_LABELS };

/* Returns the gross scores of a class: TP = beats of it found as it, FN = its other beats, missed
 * ones included, FP = other beats and false detections found as it, TN = those found as a beat of
 * another label. Of V, fusion beats and those of no class are no FP, of S those of no class, but TN
 * if found as another (EC57; de Chazal et al. 2004; bxb of WFDB 10.7). EC57 defines no scores of N
 * and F: they are against all others. */
ps_class_score ps_confusion_score(const ps_confusion *c, int kind);
/* Returns the mean of se and of ppv over those of the n tables where they are defined, that is the
 * average statistics of EC57 over records, to those of all beats, the gross ones. */
ps_class_score ps_confusion_average(const ps_confusion *c, int64_t n, int kind);
#endif
