/* records_pool.c - see records_pool.h. */
#include "records_pool.h"
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "conf/weir_number.h"
#include "report/weir_report.h"

enum { COLUMNS = 10 };
static const char *const head[COLUMNS] = {"record", "status",  "stream", "unit", "rate_hz",
                                          "slots",  "present", "min",    "mean", "max"};

/* Streams of all recordings together. */
typedef struct pool {
  ps_pool_row *rows;
  int64_t n, capacity;
} pool;

static ps_pool_row *find(pool *p, const ps_pool_row *row)
{
  for (int64_t i = 0; i < p->n; i++) {
    if (strcmp(p->rows[i].stream, row->stream) == 0 && strcmp(p->rows[i].unit, row->unit) == 0) {
      return &p->rows[i];
    }
  }
  return NULL;
}

static weir_status add(pool *p, const ps_pool_row *row)
{
  ps_pool_row *known = find(p, row);

  if (known == NULL) {
    WEIR_TRY(weir_reserve(&p->rows, &p->capacity, p->n + 1, sizeof *p->rows));
    p->rows[p->n++] = *row;
    return WEIR_OK;
  }
  /* Recordings of different rates have none together. */
  known->rate = known->rate == row->rate ? known->rate : (double)NAN;
  known->slots += row->slots;
  known->present += row->present;
  if (row->present > 0) {
    known->least = fmin(known->least, row->least);
    known->most = fmax(known->most, row->most);
    known->sum += row->sum;
  }
  return WEIR_OK;
}

static const char *number(double value, char *text, size_t size)
{
  (void)snprintf(text, size, "%s", "");
  if (isfinite(value)) {
    weir_number_text(value, text, size);
  }
  return text;
}

static weir_status write_row(weir_writer *csv, weir_cells *cells, const char *record,
                             const char *status, const ps_pool_row *row)
{
  char rate[32], least[32], mean[32], most[32];
  const bool any = row->present > 0;

  WEIR_TRY(weir_writer_printf(
      csv, "%s,%s,%s,%s,%s,%lld,%lld,%s,%s,%s\n", record, status, row->stream, row->unit,
      number(row->rate, rate, sizeof rate), (long long)row->slots, (long long)row->present,
      number(any ? row->least : NAN, least, sizeof least),
      number(any ? row->sum / (double)row->present : NAN, mean, sizeof mean),
      number(any ? row->most : NAN, most, sizeof most)));
  weir_cells_add(cells, "%s", record);
  weir_cells_add(cells, "%s", status);
  weir_cells_add(cells, "%s", row->stream);
  weir_cells_add(cells, "%s", row->unit);
  weir_cells_add_real(cells, row->rate);
  weir_cells_add(cells, "%lld", (long long)row->slots);
  weir_cells_add(cells, "%lld", (long long)row->present);
  weir_cells_add_real(cells, any ? row->least : NAN);
  weir_cells_add_real(cells, any ? row->sum / (double)row->present : NAN);
  weir_cells_add_real(cells, any ? row->most : NAN);
  return WEIR_OK;
}

static weir_status write_failed(weir_writer *csv, weir_cells *cells, const ps_record *r)
{
  WEIR_TRY(weir_writer_printf(csv, "%s,failed,,,,,,,,\n", r->name));
  weir_cells_add(cells, "%s", r->name);
  weir_cells_add(cells, "failed");
  for (int i = 2; i < COLUMNS; i++) {
    weir_cells_add(cells, "%s", i == 2 ? r->message : "");
  }
  return WEIR_OK;
}

static weir_status write_rows(const ps_records *list, weir_writer *csv, weir_cells *cells)
{
  weir_status status = WEIR_OK;
  pool p = {.n = 0};

  for (int i = 0; i < COLUMNS; i++) {
    WEIR_TRY(weir_writer_printf(csv, "%s%s", head[i], i + 1 < COLUMNS ? "," : "\n"));
  }
  for (int64_t i = 0; i < list->count; i++) {
    const ps_record *r = &list->items[i];

    if (r->status != WEIR_OK) {
      WEIR_TRY_GOTO(write_failed(csv, cells, r), done);
      continue;
    }
    for (int64_t k = 0; k < r->n_rows; k++) {
      WEIR_TRY_GOTO(write_row(csv, cells, r->name, "ok", &r->rows[k]), done);
      WEIR_TRY_GOTO(add(&p, &r->rows[k]), done);
    }
  }
  for (int64_t k = 0; k < p.n; k++) {
    WEIR_TRY_GOTO(write_row(csv, cells, "all", "ok", &p.rows[k]), done);
  }
done:
  weir_free(&p.rows);
  return status;
}

static weir_status fill_page(weir_report *page, const ps_records *list, const weir_cells *cells)
{
  WEIR_TRY(weir_report_text(page,
                            "%lld recordings; each has a folder of its name with its files and "
                            "report. The mean of all weighs each value alike.",
                            (long long)list->count));
  return weir_cells_report(cells, page, "records", COLUMNS, head);
}

weir_status ps_records_pool_write(const ps_records *list, const char *dir)
{
  char path[PS_PATH];
  weir_writer *csv = NULL;
  weir_report *page = NULL;
  weir_cells cells = {0};
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_path_join(dir, "records.csv", path, sizeof path));
  WEIR_TRY(weir_writer_open(path, &csv));
  WEIR_TRY_GOTO(write_rows(list, csv, &cells), done);
  WEIR_TRY_GOTO(weir_report_open(dir, "physio_stream: several recordings", &page), done);
  WEIR_TRY_GOTO(fill_page(page, list, &cells), done);
  WEIR_TRY_GOTO(weir_writer_commit(&csv), done);
  WEIR_TRY_GOTO(weir_report_commit(&page), done);
done:
  weir_writer_destroy(&csv);
  weir_report_destroy(&page);
  weir_cells_fini(&cells);
  return status;
}
