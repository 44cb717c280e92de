/* eval_tables.c - tables of an evaluation as a person reads them: columns of the CSV files by the
 * names of the literature, with units. */
#include <string.h>
#include "page/eval_page.h"

/* Columns of scores.csv, records.csv and rhythm.csv. */
static const char *title_of(const char *column)
{
  static const char *const titles[][2] = {{"tp", "TP"},
                                          {"fn", "FN"},
                                          {"fp", "FP"},
                                          {"se", "Se (%)"},
                                          {"ppv", "PPV (%)"},
                                          {"rr_rms_ms", "RMS RR error (ms)"},
                                          {"fn_in_gaps", "FN in gaps"},
                                          {"hr_bpm", "HR (1/min)"},
                                          {"hr_test_bpm", "HR, test (1/min)"},
                                          {"sdnn_ms", "SDNN (ms)"},
                                          {"sdnn_test_ms", "SDNN, test (ms)"},
                                          {"rmssd_ms", "RMSSD (ms)"},
                                          {"rmssd_test_ms", "RMSSD, test (ms)"},
                                          {"nn", "NN intervals"},
                                          {"mean_nn_ms", "mean NN (ms)"},
                                          {"sdann_ms", "SDANN (ms)"},
                                          {"pnn50_percent", "pNN50 (%)"},
                                          {"vlf_ms2", "VLF (ms\xc2\xb2)"},
                                          {"lf_ms2", "LF (ms\xc2\xb2)"},
                                          {"hf_ms2", "HF (ms\xc2\xb2)"},
                                          {"lf_hf", "LF/HF"},
                                          {"sd1_ms", "SD1 (ms)"},
                                          {"sd2_ms", "SD2 (ms)"},
                                          {"sd1_sd2", "SD1/SD2"},
                                          {"ellipse_ms2", "ellipse (ms\xc2\xb2)"},
                                          {"apen", "ApEn"},
                                          {"sampen", "SampEn"},
                                          {"mse_ci", "MSE index"},
                                          {"dfa_alpha1", "DFA \xce\xb1"
                                                         "1"},
                                          {"dfa_alpha2", "DFA \xce\xb1"
                                                         "2"},
                                          {"beat_types", "beat types"}};

  for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++) {
    if (strcmp(titles[i][0], column) == 0) {
      return titles[i][1];
    }
  }
  return column;
}

static const char *shown(const char *cell)
{
  return cell == NULL || cell[0] == 0 ? "-" : cell;
}

/* Quantities become rows where there are more of them than fit next to each other. */
static weir_status add_transposed(weir_report *r, const char *id, const ps_eval_table *t,
                                  int64_t rows)
{
  const char *head[1 + PS_EVAL_ROWS] = {"quantity"};
  weir_table cells = {0};

  for (int64_t i = 0; i < rows; i++) {
    head[1 + i] = t->cells->cell[i * t->columns];
  }
  for (int c = 1; c < t->columns; c++) {
    weir_table_add(&cells, "%s", title_of(t->head[c]));
    for (int64_t i = 0; i < rows; i++) {
      weir_table_add(&cells, "%s", shown(t->cells->cell[i * t->columns + c]));
    }
  }
  const weir_status status = weir_table_report(&cells, r, id, (int)rows + 1, head);

  weir_table_fini(&cells);
  return status;
}

weir_status ps_eval_add_table(weir_report *r, const char *id, const ps_eval_table *t)
{
  const int64_t rows = t->cells->count / t->columns;
  const char *head[PS_EVAL_COLUMNS_MAX];

  WEIR_TRY(t->cells->status);
  if (t->columns > PS_EVAL_COLUMNS_SHOWN && rows > 0 && rows <= PS_EVAL_ROWS) {
    return add_transposed(r, id, t, rows);
  }
  WEIR_ASSERT(t->columns <= PS_EVAL_COLUMNS_MAX);
  for (int c = 0; c < t->columns; c++) {
    head[c] = title_of(t->head[c]);
  }
  return weir_table_report(t->cells, r, id, t->columns, head);
}
