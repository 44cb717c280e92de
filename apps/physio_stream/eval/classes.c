/* classes.c - see classes.h. */
#include "eval/classes.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "eval/score.h"
#include "io/weir_annotation.h"

/* Longest file of features: of a week. */
#define MAX_BYTES (INT64_C(256) << 20)
/* Constant of a class that no beat is of. */
#define NEVER (-1e30)

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
    return weir_annotation_is_beat(code) ? PS_LABEL_Q : -1;
  }
}

/* ---- Reading ---- */

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

/* The annotated beats: times in 1/rate s, label and partner (ps_score_pairs) of each; stretches of
 * flutter, which has no beats. */
typedef struct truth {
  double rate;
  int64_t *time, *partner, *label;
  int64_t n;
  ps_span *flutter;
  int64_t n_flutter;
} truth;

static void truth_fini(truth *t)
{
  weir_free(&t->time);
  weir_free(&t->partner);
  weir_free(&t->label);
  weir_free(&t->flutter);
}

static void take_annotation(const weir_annotation *a, bool *flutters, truth *t)
{
  ps_span *const span = &t->flutter[t->n_flutter];

  if (ps_class_of_code(a->code) >= 0) {
    t->time[t->n] = a->time;
    t->label[t->n++] = ps_class_of_code(a->code);
  } else if (a->code == WEIR_ANN_VFON && !*flutters) {
    *span = (ps_span){a->time, INT64_MAX / 4};
    *flutters = true;
  } else if (a->code == WEIR_ANN_VFOFF && *flutters) {
    span->end = a->time;
    t->n_flutter++;
    *flutters = false;
  }
}

static weir_status read_truth(const char *path, double fs, truth *t)
{
  bool flutters = false;
  weir_annotations a;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_annotations_read(path, &a));
  t->rate = a.fs_num > 0 ? (double)a.fs_num / (double)a.fs_den : fs;
  WEIR_TRY_GOTO(weir_alloc(a.count, sizeof *t->time, (void **)&t->time), done);
  WEIR_TRY_GOTO(weir_alloc(a.count, sizeof *t->partner, (void **)&t->partner), done);
  WEIR_TRY_GOTO(weir_alloc(a.count, sizeof *t->label, (void **)&t->label), done);
  WEIR_TRY_GOTO(weir_alloc(a.count + 1, sizeof *t->flutter, (void **)&t->flutter), done);
  for (int64_t i = 0; i < a.count; i++) {
    take_annotation(&a.items[i], &flutters, t);
  }
  t->n_flutter += flutters; /* to the end */
done:
  weir_annotations_fini(&a);
  return status;
}

/* Each line is a beat of no annotated one, for the time being. */
static weir_status read_lines(const char *path, const char *text, int64_t record,
                              ps_labelled_list *list)
{
  int column[PS_FEATURES];
  int64_t number = 2;
  double last = -INFINITY;

  WEIR_TRY(read_titles(path, text, column));
  text += strcspn(text, "\n");
  text += *text == '\n';
  for (; *text != 0; number++) {
    ps_labelled beat = {.record = record, .patient = record, .kind = PS_LABEL_O};

    if (!read_line(text, column, &beat.time, beat.x)) {
      return weir_fail(WEIR_ERR_DATA, "%s:%lld: a beat has its time and %d features", path,
                       (long long)number, (int)PS_FEATURES);
    }
    if (!(beat.time >= last && fabs(beat.time) < 0x1p40)) {
      return weir_fail(WEIR_ERR_DATA, "%s:%lld: %g s is before the beat above, or no time", path,
                       (long long)number, beat.time);
    }
    last = beat.time;
    WEIR_TRY(weir_reserve(&list->v, &list->capacity, list->n + 1, sizeof *list->v));
    list->v[list->n++] = beat;
    text += strcspn(text, "\n");
    text += *text == '\n';
  }
  return WEIR_OK;
}

/* Gives beats `first` and after the labels of their partners; those in a flutter are left out. */
static weir_status label(double window, int64_t first, truth *t, ps_labelled_list *list)
{
  const int64_t n = list->n - first;
  int64_t *time = NULL, *partner = NULL, kept = first;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(weir_alloc(n, sizeof *time, (void **)&time), done);
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *partner, (void **)&partner), done);
  for (int64_t i = 0; i < n; i++) {
    const double at = list->v[first + i].time * t->rate;

    if (!(fabs(at) < 0x1p60)) {
      status = weir_fail(WEIR_ERR_DATA, "beats: %g s is no time at %g 1/s of the annotations",
                         list->v[first + i].time, t->rate);
      goto done;
    }
    time[i] = llround(at);
  }
  const ps_score_opts opts = {.window = window};
  const ps_score_input in = {.reference = t->time,
                             .n_reference = t->n,
                             .test = time,
                             .n_test = n,
                             .excluded = t->flutter,
                             .n_excluded = t->n_flutter,
                             .rate = t->rate,
                             .length = INT64_MAX};

  WEIR_TRY_GOTO(ps_score_pairs(&opts, &in, partner, t->partner), done);
  for (int64_t i = 0; i < n; i++) {
    list->v[kept] = list->v[first + i];
    list->v[kept].kind = partner[i] >= 0 ? (int)t->label[partner[i]] : PS_LABEL_O;
    kept += partner[i] != PS_SCORE_EXCLUDED;
  }
  list->n = kept;
done:
  weir_free(&time);
  weir_free(&partner);
  return status;
}

weir_status ps_labelled_read(const char *path, const char *annotations, double fs, double window,
                             int64_t record, ps_labelled_list *list, int64_t missed[PS_LABELS])
{
  const int64_t first = list->n;
  truth t = {0};
  char *text = NULL;
  int64_t size = 0;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(read_truth(annotations, fs, &t), done);
  WEIR_TRY_GOTO(weir_file_read(path, MAX_BYTES, &text, &size), done);
  WEIR_TRY_GOTO(read_lines(path, text, record, list), done);
  WEIR_TRY_GOTO(label(window, first, &t, list), done);
  memset(missed, 0, PS_LABELS * sizeof *missed);
  for (int64_t i = 0; i < t.n; i++) {
    missed[t.label[i]] += t.partner[i] == PS_SCORE_ALONE;
  }
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

static bool is_learnt(const ps_labelled *beat, int64_t left_out)
{
  return beat->kind < PS_CLASSES && beat->patient != left_out;
}

static void find_moments(const ps_labelled *v, int64_t n, int64_t left_out, int64_t min_beats,
                         moments *m)
{
  int64_t total = 0, classes = 0;

  memset(m, 0, sizeof *m);
  for (int64_t i = 0; i < n; i++) {
    if (is_learnt(&v[i], left_out)) {
      m->n[v[i].kind]++;
      for (int k = 0; k < PS_FEATURES; k++) {
        m->mean[v[i].kind][k] += v[i].x[k];
      }
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
    const bool counts = is_learnt(&v[i], left_out) && m->n[v[i].kind] > 0;

    for (int a = 0; a < PS_FEATURES && counts; a++) {
      const double *mean = m->mean[v[i].kind];

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
