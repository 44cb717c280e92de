/* classes.c - see classes.h. */
#include "eval/classes.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "io/weir_annotation.h"

enum { MAX_TITLE = 64 };
/* Longest file of features: of a week. */
#define MAX_BYTES (INT64_C(256) << 20)
/* Constant of a class that no beat is of. */
#define NEVER (-1e30)

const char *const ps_class_name[PS_CLASSES] = {
    [PS_CLASS_N] = "N", [PS_CLASS_S] = "S", [PS_CLASS_V] = "V", [PS_CLASS_F] = "F"};

int ps_class_of_code(int code)
{
  switch (code) {
  case WEIR_ANN_NORMAL:
  case WEIR_ANN_LBBB:
  case WEIR_ANN_RBBB:
  case WEIR_ANN_BBB:
  case WEIR_ANN_AESC:
  case WEIR_ANN_NESC:
    return PS_CLASS_N;
  case WEIR_ANN_APC:
  case WEIR_ANN_ABERR:
  case WEIR_ANN_NPC:
  case WEIR_ANN_SVPB:
  case WEIR_ANN_SVESC:
    return PS_CLASS_S;
  case WEIR_ANN_PVC:
  case WEIR_ANN_VESC:
  case WEIR_ANN_RONT:
    return PS_CLASS_V;
  case WEIR_ANN_FUSION:
    return PS_CLASS_F;
  default:
    return -1;
  }
}

/* ---- Reading ---- */

static weir_status append(ps_labelled_list *list, const ps_labelled *beat)
{
  if (list->n == list->capacity) {
    const int64_t more = list->capacity > 0 ? 2 * list->capacity : 4096;
    ps_labelled *v = NULL;

    WEIR_TRY(weir_alloc(more, sizeof *v, (void **)&v));
    if (list->n > 0) {
      memcpy(v, list->v, (size_t)list->n * sizeof *v);
    }
    weir_free(&list->v);
    list->v = v;
    list->capacity = more;
  }
  list->v[list->n++] = *beat;
  return WEIR_OK;
}

/* The column of each feature, from the line of titles. */
static weir_status read_titles(const char *path, const char *line, int column[PS_FEATURES])
{
  const size_t end = strcspn(line, "\r\n");

  for (int k = 0; k < PS_FEATURES; k++) {
    int at = 0;

    column[k] = -1;
    for (const char *p = line; p <= line + end; at++) {
      const size_t n = strcspn(p, ",\r\n");

      if (n == strlen(ps_feature_name[k]) && strncmp(p, ps_feature_name[k], n) == 0) {
        column[k] = at;
      }
      p += n + 1;
    }
    if (column[k] < 0) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: there is no column '%s'; write the result of a step beat_class with "
                       "format csv",
                       path, ps_feature_name[k]);
    }
  }
  return WEIR_OK;
}

/* A line: the time and all features; false where a cell is empty or not a number. */
static bool read_line(const char *line, const int column[PS_FEATURES], double *time, double *x)
{
  bool all = true;

  for (int k = -1; k < PS_FEATURES; k++) {
    const char *p = line;
    char *end = NULL;

    for (int c = 0; k >= 0 && c < column[k]; c++) {
      p += strcspn(p, ",\r\n");
      p += *p == ',';
    }
    *(k < 0 ? time : &x[k]) = strtod(p, &end);
    all = all && end != p && strchr(",\r\n", *end) != NULL;
  }
  return all;
}

/* The annotated beats of a class: times in s, and the class of each. */
typedef struct truth {
  double *time;
  int *kind;
  char *taken;
  int64_t n;
} truth;

static void truth_fini(truth *t)
{
  weir_free(&t->time);
  weir_free(&t->kind);
  weir_free(&t->taken);
}

static weir_status read_truth(const char *path, double fs, truth *t)
{
  weir_annotations a;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_annotations_read(path, &a));
  const double rate = a.fs_num > 0 ? (double)a.fs_num / (double)a.fs_den : fs;

  WEIR_TRY_GOTO(weir_alloc(a.count, sizeof *t->time, (void **)&t->time), done);
  WEIR_TRY_GOTO(weir_alloc(a.count, sizeof *t->kind, (void **)&t->kind), done);
  WEIR_TRY_GOTO(weir_alloc(a.count, 1, (void **)&t->taken), done);
  for (int64_t i = 0; i < a.count; i++) {
    if (weir_annotation_is_beat(a.items[i].code)) {
      t->time[t->n] = (double)a.items[i].time / rate;
      t->kind[t->n] = ps_class_of_code(a.items[i].code);
      t->taken[t->n++] = 0;
    }
  }
done:
  weir_annotations_fini(&a);
  return status;
}

/* The annotated beat nearest to `time`; *from: those before are farther, times ascend. */
static int64_t nearest(const truth *t, double time, int64_t *from)
{
  while (*from + 1 < t->n && fabs(t->time[*from + 1] - time) <= fabs(t->time[*from] - time)) {
    ++*from;
  }
  return *from < t->n ? *from : -1;
}

static weir_status read_lines(const char *path, const char *text, double window, int64_t record,
                              truth *t, ps_labelled_list *list)
{
  int column[PS_FEATURES];
  int64_t from = 0, number = 2;

  WEIR_TRY(read_titles(path, text, column));
  text += strcspn(text, "\n");
  text += *text == '\n';
  for (; *text != 0; number++) {
    ps_labelled beat = {.record = record, .patient = record};
    double time = 0;

    if (!read_line(text, column, &time, beat.x)) {
      return weir_fail(WEIR_ERR_DATA, "%s:%lld: a beat has its time and %d features", path,
                       (long long)number, (int)PS_FEATURES);
    }
    const int64_t at = nearest(t, time, &from);

    if (at >= 0 && fabs(t->time[at] - time) <= window && !t->taken[at] && t->kind[at] >= 0) {
      beat.kind = t->kind[at];
      beat.time = time;
      t->taken[at] = 1;
      WEIR_TRY(append(list, &beat));
    }
    text += strcspn(text, "\n");
    text += *text == '\n';
  }
  return WEIR_OK;
}

weir_status ps_labelled_read(const char *path, const char *annotations, double fs, double window,
                             int64_t record, ps_labelled_list *list, int64_t *unmatched)
{
  truth t = {0};
  char *text = NULL;
  int64_t size = 0, missed = 0;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(read_truth(annotations, fs, &t), done);
  WEIR_TRY_GOTO(weir_file_read(path, MAX_BYTES, &text, &size), done);
  WEIR_TRY_GOTO(read_lines(path, text, window, record, &t, list), done);
  for (int64_t i = 0; i < t.n; i++) {
    missed += t.kind[i] >= 0 && !t.taken[i];
  }
  *unmatched = missed;
done:
  truth_fini(&t);
  weir_free(&text);
  return status;
}

void ps_labelled_fini(ps_labelled_list *list)
{
  weir_free(&list->v);
  memset(list, 0, sizeof *list);
}

/* ---- The discriminant ---- */

typedef double matrix[PS_FEATURES][PS_FEATURES];

typedef struct moments {
  int64_t n[PS_CLASSES];
  double mean[PS_CLASSES][PS_FEATURES];
  matrix within; /* covariance */
} moments;

static void find_moments(const ps_labelled *v, int64_t n, int64_t left_out, int64_t min_beats,
                         moments *m)
{
  int64_t total = 0, classes = 0;

  memset(m, 0, sizeof *m);
  for (int64_t i = 0; i < n; i++) {
    m->n[v[i].kind] += v[i].patient != left_out;
    for (int k = 0; k < PS_FEATURES && v[i].patient != left_out; k++) {
      m->mean[v[i].kind][k] += v[i].x[k];
    }
  }
  for (int c = 0; c < PS_CLASSES; c++) {
    m->n[c] = m->n[c] >= min_beats ? m->n[c] : 0;
    total += m->n[c];
    classes += m->n[c] > 0;
    for (int k = 0; k < PS_FEATURES && m->n[c] > 0; k++) {
      m->mean[c][k] /= (double)m->n[c];
    }
  }
  for (int64_t i = 0; i < n; i++) {
    const double *mean = m->mean[v[i].kind];

    for (int a = 0; a < PS_FEATURES && v[i].patient != left_out && m->n[v[i].kind] > 0; a++) {
      for (int b = 0; b < PS_FEATURES; b++) {
        m->within[a][b] += (v[i].x[a] - mean[a]) * (v[i].x[b] - mean[b]);
      }
    }
  }
  for (int a = 0; a < PS_FEATURES; a++) {
    for (int b = 0; b < PS_FEATURES; b++) {
      m->within[a][b] /= (double)(total > classes ? total - classes : 1);
    }
  }
}

/* Lower Cholesky factor in place; false unless the matrix is positive definite beyond rounding. */
static bool factor(matrix s)
{
  for (int a = 0; a < PS_FEATURES; a++) {
    const double before = s[a][a];

    for (int b = 0; b <= a; b++) {
      double sum = s[a][b];

      for (int k = 0; k < b; k++) {
        sum -= s[a][k] * s[b][k];
      }
      if (a == b && !(sum > 1e-10 * before)) {
        return false;
      }
      s[a][b] = a == b ? sqrt(sum) : sum / s[b][b];
    }
  }
  return true;
}

/* x: solution of L L' x = m. */
static void solve(matrix l, const double *m, double *x)
{
  for (int a = 0; a < PS_FEATURES; a++) {
    x[a] = m[a];
    for (int k = 0; k < a; k++) {
      x[a] -= l[a][k] * x[k];
    }
    x[a] /= l[a][a];
  }
  for (int a = PS_FEATURES - 1; a >= 0; a--) {
    for (int k = a + 1; k < PS_FEATURES; k++) {
      x[a] -= l[k][a] * x[k];
    }
    x[a] /= l[a][a];
  }
}

weir_status ps_discriminant_fit(const ps_labelled *v, int64_t n, int64_t left_out,
                                int64_t min_beats, double weights[PS_CLASS_WEIGHTS])
{
  moments m;
  int classes = 0;

  find_moments(v, n, left_out, min_beats, &m);
  for (int c = 0; c < PS_CLASSES; c++) {
    classes += m.n[c] > 0;
  }
  if (classes < 2) {
    return weir_fail(WEIR_ERR_DATA,
                     "of the classes N, S, V and F %d have %lld beats or more to learn from; two "
                     "are needed: add records, or lower beats.min_beats",
                     classes, (long long)min_beats);
  }
  if (!factor(m.within)) {
    return weir_fail(WEIR_ERR_NUMERIC,
                     "a feature of beats is the same in all of them, or follows from others: add "
                     "records");
  }
  for (int c = 0; c < PS_CLASSES; c++) {
    double *w = weights + (ptrdiff_t)c * (1 + PS_FEATURES), sum = 0;

    memset(w, 0, (1 + PS_FEATURES) * sizeof *w);
    if (m.n[c] > 0) {
      solve(m.within, m.mean[c], w + 1);
    }
    for (int k = 0; k < PS_FEATURES; k++) {
      sum += w[1 + k] * m.mean[c][k];
    }
    w[0] = m.n[c] > 0 ? -sum / 2 : NEVER;
  }
  return WEIR_OK;
}

int ps_discriminant_class(const double weights[PS_CLASS_WEIGHTS], const double x[PS_FEATURES])
{
  double best = -INFINITY;
  int kind = 0;

  for (int c = 0; c < PS_CLASSES; c++) {
    const double *w = weights + (ptrdiff_t)c * (1 + PS_FEATURES);
    double sum = w[0];

    for (int k = 0; k < PS_FEATURES; k++) {
      sum += w[1 + k] * x[k];
    }
    kind = sum > best ? c : kind;
    best = fmax(best, sum);
  }
  return kind;
}

ps_class_score ps_confusion_score(const ps_confusion *c, int kind)
{
  int64_t tp = c->n[kind][kind], of_class = 0, found = 0, all = 0;

  for (int a = 0; a < PS_CLASSES; a++) {
    of_class += c->n[kind][a];
    found += c->n[a][kind];
    for (int b = 0; b < PS_CLASSES; b++) {
      all += c->n[a][b];
    }
  }
  return (ps_class_score){.beats = of_class,
                          .se = 100 * (double)tp / (double)of_class,
                          .ppv = 100 * (double)tp / (double)found,
                          .fpr = 100 * (double)(found - tp) / (double)(all - of_class)};
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
