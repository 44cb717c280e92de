/* table_files.c - tables of results as CSV and NetCDF. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "io/weir_netcdf.h"
#include "page/table_files.h"

enum { NAME = 64, PATH = 4096 };

/* What a column is. Units as UDUNITS writes them. */
static const struct {
  const char *column, *units, *meaning;
} columns_known[] = {
    {"record", "", "name of the recording"},
    {"status", "", "whether the recording was scored, or why not"},
    {"reference", "1", "beats of the reference"},
    {"test", "1", "beats of the test"},
    {"annotations", "", "annotations that the measures are of"},
    {"alarm", "", "alarm of the PhysioNet/CinC Challenge 2015"},
    {"label", "", "whether the alarm is true"},
    {"raised", "", "whether the alarm was raised"},
    {"result", "", "cell of the confusion matrix"},
    {"classifier", "", "classifier of beats"},
    {"class", "", "class of beats (AAMI EC57)"},
    {"annotated", "", "annotated class of beats (AAMI EC57)"},
    {"error", "", "whether the beat was missed or is false"},
    {"time", "", "time of the beat"},
    {"beat_types", "", "types of beats that intervals are taken between"},
    {"left out", "", "recordings that are not trained on"},
    {"validated on", "", "recordings that choose the epoch"},
    {"end", "", "why the training ended"},
    {"learnt", "1", "beats of the class that were trained on"},
    {"weight N", "1", "weight of N in the loss (AAMI EC57)"},
    {"weight S", "1", "weight of S in the loss (AAMI EC57)"},
    {"weight V", "1", "weight of V in the loss (AAMI EC57)"},
    {"weight F", "1", "weight of F in the loss (AAMI EC57)"},
    {"epochs", "1", "number of epochs"},
    {"best", "1", "epoch of the weights that are kept"},
    {"loss", "1", "loss of these weights"},
    {"tp", "1", "true positives"},
    {"fn", "1", "false negatives"},
    {"fp", "1", "false positives"},
    {"tn", "1", "true negatives"},
    {"fn_in_gaps", "1", "false negatives in gaps of the signal"},
    {"excluded", "1", "beats outside the time that is scored"},
    {"records", "1", "number of recordings"},
    {"beats", "1", "number of beats"},
    {"se", "percent", "sensitivity"},
    {"ppv", "percent", "positive predictive value"},
    {"fpr", "percent", "false positive rate"},
    {"se_average", "percent", "sensitivity, mean over recordings"},
    {"ppv_average", "percent", "positive predictive value, mean over recordings"},
    {"tpr", "percent", "true positive rate"},
    {"tnr", "percent", "true negative rate"},
    {"score", "percent", "score of the PhysioNet/CinC Challenge 2015"},
    {"rr_rms_ms", "ms", "root mean square error of RR intervals"},
    {"hr_bpm", "min-1", "heart rate of the reference"},
    {"hr_test_bpm", "min-1", "heart rate of the test"},
    {"nn", "1", "number of NN intervals"},
    {"mean_nn_ms", "ms", "mean NN interval"},
    {"sdnn_ms", "ms", "standard deviation of NN intervals"},
    {"sdnn_test_ms", "ms", "standard deviation of NN intervals of the test"},
    {"sdann_ms", "ms", "standard deviation of mean NN intervals of segments"},
    {"rmssd_ms", "ms", "root mean square of successive differences of NN intervals"},
    {"rmssd_test_ms", "ms", "root mean square of successive differences of the test"},
    {"pnn50_percent", "percent", "successive differences of NN intervals above 50 ms"},
    {"vlf_ms2", "ms2", "power of very low frequency"},
    {"lf_ms2", "ms2", "power of low frequency"},
    {"hf_ms2", "ms2", "power of high frequency"},
    {"lf_hf", "1", "ratio of low and high frequency power"},
    {"sd1_ms", "ms", "standard deviation across the line of identity (Poincare)"},
    {"sd2_ms", "ms", "standard deviation along the line of identity (Poincare)"},
    {"sd1_sd2", "1", "ratio of SD1 and SD2"},
    {"ellipse_ms2", "ms2", "area of the ellipse of SD1 and SD2"},
    {"apen", "1", "approximate entropy"},
    {"sampen", "1", "sample entropy"},
    {"mse_ci", "1", "sum of sample entropy over scales"},
    {"scale", "1", "scale of multiscale entropy"},
    {"dfa_alpha1", "1", "short-term exponent of detrended fluctuation analysis"},
    {"dfa_alpha2", "1", "long-term exponent of detrended fluctuation analysis"},
    {"segments", "1", "number of segments"},
    {"gaps", "", "what gaps of the signal were taken from"},
    {"sample", "1", "sample number"},
    {"N", "1", "beats that were found as N (AAMI EC57)"},
    {"S", "1", "beats that were found as S (AAMI EC57)"},
    {"V", "1", "beats that were found as V (AAMI EC57)"},
    {"F", "1", "beats that were found as F (AAMI EC57)"},
    {"Q", "1", "beats that were found without a class"},
    {"O", "1", "beats that were not found"},
};

enum { N_KNOWN = sizeof columns_known / sizeof columns_known[0] };

typedef struct column {
  int known; /* row of columns_known; its size: none */
  bool text;
  int var;
} column;

static bool is_empty(const char *cell)
{
  return cell == NULL || cell[0] == 0 || strcmp(cell, "-") == 0;
}

/* All of a cell as a number; NaN where it is empty. False for other text. */
static bool to_number(const char *cell, double *value)
{
  char *end = NULL;

  *value = NAN;
  if (is_empty(cell)) {
    return true;
  }
  *value = strtod(cell, &end);
  return *end == 0 && !isspace((unsigned char)cell[0]);
}

/* By its meaning, else by its cells: text, unless all are numbers or empty. */
static void recognise(const weir_table *t, int64_t rows, int columns, int c, const char *head,
                      column *out)
{
  bool any = false;

  out->known = 0;
  while (out->known < N_KNOWN && strcmp(columns_known[out->known].column, head) != 0) {
    out->known++;
  }
  out->text = out->known < N_KNOWN && columns_known[out->known].units[0] == 0;
  for (int64_t i = 0; i < rows; i++) {
    const char *const cell = t->cell[i * columns + c];
    double value = 0;

    out->text = out->text || !to_number(cell, &value);
    any = any || !is_empty(cell);
  }
  out->text = out->text || (out->known == N_KNOWN && !any);
}

static weir_status define_column(weir_netcdf *nc, const char *head, int dim, column *c)
{
  const bool known = c->known < N_KNOWN;
  const double fill = NAN;
  char name[NAME];

  (void)snprintf(name, sizeof name, "%s", head);
  for (char *at = name; *at != 0; at++) {
    *at = isalnum((unsigned char)*at) ? *at : '_';
  }
  if (c->text) {
    WEIR_TRY(weir_netcdf_text_var(nc, name, 1, &dim, &c->var));
  } else {
    WEIR_TRY(weir_netcdf_var(nc, name, WEIR_F64, 1, &dim, &c->var));
    WEIR_TRY(weir_netcdf_put_numbers(nc, c->var, "_FillValue", WEIR_F64, &fill, 1));
  }
  WEIR_TRY(weir_netcdf_put_text(nc, c->var, "long_name",
                                known ? columns_known[c->known].meaning : head));
  return c->text || !known
             ? WEIR_OK
             : weir_netcdf_put_text(nc, c->var, "units", columns_known[c->known].units);
}

static weir_status write_column(weir_netcdf *nc, const weir_table *t, int64_t rows, int columns,
                                int c, const column *how, double *memory)
{
  const int64_t first = 0;
  const char **const texts = (const char **)memory;

  for (int64_t i = 0; i < rows; i++) {
    const char *const cell = t->cell[i * columns + c];

    if (how->text) {
      texts[i] = cell != NULL ? cell : "";
    } else {
      (void)to_number(cell, &memory[i]);
    }
  }
  if (rows == 0) {
    return WEIR_OK;
  }
  return how->text ? weir_netcdf_write_texts(nc, how->var, &first, &rows, texts)
                   : weir_netcdf_write(nc, how->var, &first, &rows, memory);
}

static weir_status write_netcdf(const weir_table *t, const char *path, const char *name,
                                int columns, const char *const *head)
{
  const int64_t rows = t->count / columns;
  weir_netcdf *nc = NULL;
  column *how = NULL;
  char title[2 * NAME];
  double *memory = NULL;
  weir_status status = WEIR_OK;
  int dim = 0;

  (void)snprintf(title, sizeof title, "physio_stream: table %s", name);
  WEIR_TRY_GOTO(weir_alloc(columns, sizeof *how, (void **)&how), done);
  WEIR_TRY_GOTO(weir_alloc(rows > 0 ? rows : 1, sizeof *memory, (void **)&memory), done);
  WEIR_TRY_GOTO(weir_netcdf_create_cf(path, title, &nc), done);
  WEIR_TRY_GOTO(weir_netcdf_dim(nc, "row", rows > 0 ? rows : WEIR_NETCDF_UNLIMITED, &dim), done);
  for (int c = 0; c < columns; c++) {
    recognise(t, rows, columns, c, head[c], &how[c]);
    WEIR_TRY_GOTO(define_column(nc, head[c], dim, &how[c]), done);
  }
  for (int c = 0; c < columns; c++) {
    WEIR_TRY_GOTO(write_column(nc, t, rows, columns, c, &how[c], memory), done);
  }
  WEIR_TRY_GOTO(weir_netcdf_commit(&nc), done);
done:
  weir_netcdf_close(&nc);
  weir_free(&memory);
  weir_free(&how);
  return status;
}

weir_status ps_table_write(const weir_table *cells, const char *dir, const char *name, int columns,
                           const char *const *head)
{
  char path[PATH];

  (void)snprintf(path, sizeof path, "%.64s.csv", name);
  WEIR_TRY(weir_table_write_csv(cells, dir, path, columns, head));
  if (!weir_netcdf_available()) {
    return WEIR_OK;
  }
  if (snprintf(path, sizeof path, "%s/%s.nc", dir, name) >= (int)sizeof path) {
    return weir_fail(WEIR_ERR_CONFIG, "%.64s...: the path is too long", dir);
  }
  return write_netcdf(cells, path, name, columns, head);
}
