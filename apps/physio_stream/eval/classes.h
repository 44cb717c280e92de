/* classes.h - beats with their features and annotated class, and the linear discriminant fitted to
 * them. */
#ifndef PS_CLASSES_H
#define PS_CLASSES_H
#include <stdint.h>
#include "base/weir_status.h"
#include "eval/confusion.h"

/* A beat: its features, the label of its annotation (O: it has none), and the record and patient
 * that it is of. */
typedef struct ps_labelled {
  double x[PS_FEATURES];
  double time; /* s from the start of the record */
  int64_t record, patient;
  int kind; /* a ps_beat_class, PS_LABEL_Q or PS_LABEL_O */
} ps_labelled;
typedef struct ps_labelled_list {
  ps_labelled *v; /* [n], owned */
  int64_t n, capacity;
} ps_labelled_list;

/* Returns the label of an annotation's code: N of N, L, R, B, e and j; S of A, a, J, S and n; V of
 * V, E and r; F of F; Q of other beats; -1 for what is no beat (de Chazal et al. 2004; bxb counts e
 * and j as S). */
int ps_class_of_code(int code);
/* Appends the beats of a record: lines of `path`, the result of a step beat_class in a text file
 * whose titles are time_s and the names of the features, each with the label of the beat of the
 * annotation file that it is paired with (ps_score_pairs, at most `window` s apart); those in an
 * annotated flutter are left out. fs: units of time per second of an annotation file that states
 * none. Record and patient are `record`. missed[label]: annotated beats without such a line.
 * Fails: WEIR_ERR_DATA, naming file and line; as weir_annotations_read; WEIR_ERR_MEMORY. */
weir_status ps_labelled_read(const char *path, const char *annotations, double fs, double window,
                             int64_t record, ps_labelled_list *list,
                             int64_t missed[PS_LABELS]) WEIR_CHECKED;
void ps_labelled_fini(ps_labelled_list *list);

/* Fits Gaussian classes of one covariance and equal priors to those of the n beats that have a
 * class and are of patients other than `left_out` (-1: of all): weights of class c are the constant
 * -m S^-1 m / 2 and S^-1 m of its mean m and the covariance S within classes (Fisher 1936). A class
 * with fewer than min_beats beats has the constant -1e30: no beat is of it. Fails: WEIR_ERR_DATA
 * with fewer than two such classes, WEIR_ERR_NUMERIC for features that depend on each other. */
weir_status ps_discriminant_fit(const ps_labelled *v, int64_t n, int64_t left_out,
                                int64_t min_beats, double weights[PS_CLASS_WEIGHTS]) WEIR_CHECKED;
/* Returns the class of a beat. */
int ps_discriminant_class(const double weights[PS_CLASS_WEIGHTS], const double x[PS_FEATURES]);
#endif
