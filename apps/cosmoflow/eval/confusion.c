/* confusion.c - see confusion.h. */
#include "eval/confusion.h"
#include <math.h>
#include <stddef.h>

void cf_confusion_add(int64_t n, const uint8_t *truth, const uint8_t *predicted, int64_t voxels,
                      int64_t *count)
{
  for (int64_t i = 0; i < voxels; i++) {
    count[truth[i] * n + predicted[i]]++;
  }
}

int64_t cf_confusion_voxels(int64_t n, const int64_t *count)
{
  int64_t sum = 0;

  for (int64_t i = 0; i < n * n; i++) {
    sum += count[i];
  }
  return sum;
}

double cf_confusion_accuracy(int64_t n, const int64_t *count)
{
  const int64_t all = cf_confusion_voxels(n, count);
  int64_t right = 0;

  for (int64_t k = 0; k < n; k++) {
    right += count[k * n + k];
  }
  return all > 0 ? (double)right / (double)all : NAN;
}

/* Voxels of class k. */
static int64_t of_class(int64_t n, const int64_t *count, int64_t k)
{
  int64_t sum = 0;

  for (int64_t i = 0; i < n; i++) {
    sum += count[k * n + i];
  }
  return sum;
}

static double iou(int64_t n, const int64_t *count, int64_t k)
{
  int64_t either = of_class(n, count, k) - count[k * n + k];

  for (int64_t i = 0; i < n; i++) {
    either += count[i * n + k];
  }
  return either > 0 ? (double)count[k * n + k] / (double)either : NAN;
}

double cf_confusion_iou(int64_t n, const int64_t *count, int64_t k)
{
  double sum = 0, known = 0;

  if (k >= 0) {
    return iou(n, count, k);
  }
  for (int64_t i = 0; i < n; i++) {
    const double one = iou(n, count, i);

    sum += isnan(one) ? 0 : one;
    known += !isnan(one);
  }
  return known > 0 ? sum / known : NAN;
}

int64_t cf_confusion_majority(int64_t n, const int64_t *count)
{
  int64_t best = 0;

  for (int64_t k = 1; k < n; k++) {
    best = of_class(n, count, k) > of_class(n, count, best) ? k : best;
  }
  return best;
}

void cf_confusion_constant(int64_t n, const int64_t *count, int64_t k, int64_t *out)
{
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < n; j++) {
      out[i * n + j] = j == k ? of_class(n, count, i) : 0;
    }
  }
}

static void put(weir_table *c, const char *a, const char *b, const char *score, int64_t k,
                double value, int64_t voxels)
{
  weir_table_add(c, "%s", a);
  weir_table_add(c, "%s", b);
  weir_table_add(c, "%s", score);
  if (k >= 0) {
    weir_table_add(c, "%lld", (long long)k);
  } else {
    weir_table_add(c, "all");
  }
  weir_table_add_real(c, value);
  weir_table_add(c, "%lld", (long long)voxels);
}

void cf_confusion_cells(int64_t n, const int64_t *count, const char *a, const char *b,
                        weir_table *c)
{
  const int64_t all = cf_confusion_voxels(n, count);

  put(c, a, b, "accuracy", -1, cf_confusion_accuracy(n, count), all);
  for (int64_t k = -1; k < n; k++) {
    put(c, a, b, k < 0 ? "mean_iou" : "iou", k, cf_confusion_iou(n, count, k),
        k < 0 ? all : of_class(n, count, k));
  }
}
