/* classes.h - beats with their features and annotated class, the linear discriminant fitted to
 * them, and tables of what it confuses (ANSI/AAMI EC57). */
#ifndef PS_CLASSES_H
#define PS_CLASSES_H
#include <stdint.h>
#include "base/weir_status.h"
#include "model/beat_features.h"

extern const char *const ps_class_name[PS_CLASSES];

/* A beat: its features, the class of its annotation, and the record and patient that it is of. */
typedef struct ps_labelled {
  double x[PS_FEATURES];
  double time; /* s from the start of the record */
  int64_t record, patient;
  int kind; /* a ps_beat_class */
} ps_labelled;
typedef struct ps_labelled_list {
  ps_labelled *v; /* [n], owned */
  int64_t n, capacity;
} ps_labelled_list;

/* Returns the class of an annotation's code: N of N, L, R, B, e and j; S of A, a, J, S and n; V of
 * V, E and r; F of F; -1 for paced, unclassifiable and other beats and for what is no beat. */
int ps_class_of_code(int code);
/* Appends the beats of a record: lines of `path`, the result of a step beat_class in a text file
 * whose titles are time_s and the names of the features, that are within `window` s of a beat of
 * the annotation file, each with the class of the nearest one; fs: units of time per second of an
 * annotation file that states none. Record and patient are `record`. *unmatched: annotated beats
 * of a class without such a line.
 * Fails: WEIR_ERR_DATA, naming file and line; as weir_annotations_read; WEIR_ERR_MEMORY. */
weir_status ps_labelled_read(const char *path, const char *annotations, double fs, double window,
                             int64_t record, ps_labelled_list *list,
                             int64_t *unmatched) WEIR_CHECKED;
void ps_labelled_fini(ps_labelled_list *list);

/* Fits Gaussian classes of one covariance and equal priors to the n beats of patients other than
 * `left_out` (-1: of all): weights of class c are the constant -m S^-1 m / 2 and S^-1 m of its mean
 * m and the covariance S within classes (Fisher 1936). A class with fewer than min_beats beats has
 * the constant -1e30: no beat is of it. Fails: WEIR_ERR_DATA with fewer than two such classes,
 * WEIR_ERR_NUMERIC for features that depend on each other. */
weir_status ps_discriminant_fit(const ps_labelled *v, int64_t n, int64_t left_out,
                                int64_t min_beats, double weights[PS_CLASS_WEIGHTS]) WEIR_CHECKED;
/* Returns the class of a beat. */
int ps_discriminant_class(const double weights[PS_CLASS_WEIGHTS], const double x[PS_FEATURES]);

/* Numbers of beats by annotated and found class. */
typedef struct ps_confusion {
  int64_t n[PS_CLASSES][PS_CLASSES];
} ps_confusion;
/* Sensitivity, positive predictivity and false positive rate of a class, %; NaN: undefined. */
typedef struct ps_class_score {
  int64_t beats;
  double se, ppv, fpr;
} ps_class_score;
ps_class_score ps_confusion_score(const ps_confusion *c, int kind);
/* Returns the mean of se and of ppv over those of the n tables where they are defined, that is the
 * average statistics of EC57 over records, to those of all beats, the gross ones. */
ps_class_score ps_confusion_average(const ps_confusion *c, int64_t n, int kind);
#endif
