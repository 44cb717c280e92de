/* confusion.h - confusion matrices of voxel classes, and scores computed from them.
 *
 * count: [true class, predicted class], row by row; n: number of classes. */
#ifndef CF_CONFUSION_H
#define CF_CONFUSION_H
#include <stdint.h>
#include "report/weir_report.h"

/* Adds voxels. truth, predicted: [voxels], below n. */
void cf_confusion_add(int64_t n, const uint8_t *truth, const uint8_t *predicted, int64_t voxels,
                      int64_t *count);
int64_t cf_confusion_voxels(int64_t n, const int64_t *count);
/* Returns the share of the voxels whose class was predicted; NaN without voxels. */
double cf_confusion_accuracy(int64_t n, const int64_t *count);
/* Returns the intersection over union of class k (Jaccard index); NaN without such voxels. k -1:
 * the mean over the classes that have one. */
double cf_confusion_iou(int64_t n, const int64_t *count, int64_t k);
/* Returns the most frequent class, the first of several. */
int64_t cf_confusion_majority(int64_t n, const int64_t *count);
/* Computes out [n, n], the matrix of predicting class k everywhere. */
void cf_confusion_constant(int64_t n, const int64_t *count, int64_t k, int64_t *out);
/* Adds rows a, b, score, class, value, voxels to a table: the accuracy, the mean IoU over the
 * classes (mean_iou) and the IoU of each (iou). */
enum { CF_CONFUSION_COLUMNS = 6 };
void cf_confusion_cells(int64_t n, const int64_t *count, const char *a, const char *b,
                        weir_table *c);
#endif
