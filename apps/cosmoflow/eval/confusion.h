/* confusion.h - how often a class was said of voxels of each class, and what follows from it.
 *
 * count: [classes of the truth, classes that were said], row by row; `n` is how many classes. */
#ifndef CF_CONFUSION_H
#define CF_CONFUSION_H
#include <stdint.h>
#include "report/weir_report.h"

/* Adds voxels. truth, said: [voxels], below n. */
void cf_confusion_add(int64_t n, const uint8_t *truth, const uint8_t *predicted, int64_t voxels,
                      int64_t *count);
int64_t cf_confusion_voxels(int64_t n, const int64_t *count);
/* Share of the voxels whose class was said; NaN of none. */
double cf_confusion_accuracy(int64_t n, const int64_t *count);
/* Voxels that are and were said to be of class k, in parts of those that are or were; NaN where
 * there are none. k -1: the mean over the classes that have one. */
double cf_confusion_iou(int64_t n, const int64_t *count, int64_t k);
/* The class that most voxels have, the first of several. */
int64_t cf_confusion_majority(int64_t n, const int64_t *count);
/* out [n, n]: what it would be had class k been said of all. */
void cf_confusion_constant(int64_t n, const int64_t *count, int64_t k, int64_t *out);
/* Rows a, b, score, class, value, voxels of a table: the accuracy, the mean IoU over the
 * classes (mean_iou) and the IoU of each (iou). */
enum { CF_CONFUSION_COLUMNS = 6 };
void cf_confusion_cells(int64_t n, const int64_t *count, const char *a, const char *b,
                        weir_table *c);
#endif
