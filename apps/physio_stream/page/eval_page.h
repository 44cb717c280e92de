/* eval_page.h - the page of scored beats: tables, and the signal around beats that one side alone
 * has. */
#ifndef PS_EVAL_PAGE_H
#define PS_EVAL_PAGE_H
#include "page/eval_scored.h"
#include "report/weir_report.h"

/* Strips of 2 s before and after errors; those within 2 s of one that is drawn share its strip.
 * Reads signals and beats again. A record without its signal is said to have none.
 * Fails: as weir_report_figure, WEIR_ERR_MEMORY. */
weir_status ps_eval_strips(weir_report *r, const ps_cfg *cfg, const ps_scored *s,
                           int64_t n) WEIR_CHECKED;

/* Records whose rhythm is drawn, the first ones. */
enum { PS_EVAL_RHYTHMS = 8 };
/* Figures of hrv_figures.h, both sides of a record in each. Reads the beats again.
 * Fails: as ps_beats_read and ps_hrv_figures. */
weir_status ps_eval_rhythm(weir_report *r, const ps_cfg *cfg, const ps_scored *s,
                           int64_t n) WEIR_CHECKED;

/* A table as its CSV file has it. Borrowed. */
typedef struct ps_eval_table {
  const weir_table *cells;
  int columns;
  const char *const *head;
} ps_eval_table;
/* Appends a table, its columns named as in the literature; with more than PS_EVAL_COLUMNS_SHOWN
 * columns and at most PS_EVAL_ROWS rows it is transposed. Fails: as weir_table_report. */
enum { PS_EVAL_COLUMNS_MAX = 32, PS_EVAL_COLUMNS_SHOWN = 10, PS_EVAL_ROWS = 4 };
weir_status ps_eval_add_table(weir_report *r, const char *id, const ps_eval_table *t) WEIR_CHECKED;
/* The tables of a page: scores, rhythm, its multiscale entropy, and records, one line each. */
typedef struct ps_eval_all {
  ps_eval_table scores, rhythm, mse, records;
} ps_eval_all;
/* Writes, in a sentence, how many beats of n records were found, and how many detections are wrong.
 * Always terminated. */
enum { PS_EVAL_SENTENCE = 256 };
void ps_eval_sentence(const ps_scored *s, int64_t n, char *text, size_t size);
/* Writes DIR/report.html of n records. Fails: as weir_report_*. */
weir_status ps_eval_page(const char *dir, const ps_cfg *cfg, const ps_scored *s, int64_t n,
                         const ps_eval_all *tables) WEIR_CHECKED;
#endif
