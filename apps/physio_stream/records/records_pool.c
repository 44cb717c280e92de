/* records_pool.c - see records_pool.h. */
#include "records/records_pool.h"
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"
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
    known->min = fmin(known->min, row->min);
    known->max = fmax(known->max, row->max);
    known->sum += row->sum;
  }
  return WEIR_OK;
}

/* The rows for readers, or in full for programs. */
typedef struct table {
  weir_table cells;
  bool full;
} table;

static void put(table *t, double value)
{
  char text[32] = "";

  if (!t->full) {
    weir_table_add_real(&t->cells, value);
    return;
  }
  if (isfinite(value)) {
    weir_number_text(value, text, sizeof text);
  }
  weir_table_add(&t->cells, "%s", text);
}

static void put_row(table *t, const char *record, const ps_pool_row *row)
{
  const bool any = row->present > 0;
  weir_table *c = &t->cells;

  weir_table_add(c, "%s", record);
  weir_table_add(c, "ok");
  weir_table_add(c, "%s", row->stream);
  weir_table_add(c, "%s", row->unit);
  put(t, row->rate);
  weir_table_add(c, "%lld", (long long)row->slots);
  weir_table_add(c, "%lld", (long long)row->present);
  put(t, any ? row->min : NAN);
  put(t, any ? row->sum / (double)row->present : NAN);
  put(t, any ? row->max : NAN);
}

static void put_failed(table *t, const ps_record *r)
{
  weir_table_add(&t->cells, "%s", r->name);
  weir_table_add(&t->cells, "failed");
  for (int i = 2; i < COLUMNS; i++) {
    weir_table_add(&t->cells, "%s", i == 2 && !t->full ? r->message : "");
  }
}

static weir_status fill(const ps_records *list, table *t)
{
  weir_status status = WEIR_OK;
  pool p = {.n = 0};

  for (int64_t i = 0; i < list->count; i++) {
    const ps_record *r = &list->items[i];

    if (r->status != WEIR_OK) {
      put_failed(t, r);
      continue;
    }
    for (int64_t k = 0; k < r->n_rows; k++) {
      put_row(t, r->name, &r->rows[k]);
      WEIR_TRY_GOTO(add(&p, &r->rows[k]), done);
    }
  }
  for (int64_t k = 0; k < p.n; k++) {
    put_row(t, "all", &p.rows[k]);
  }
done:
  weir_free(&p.rows);
  return status;
}

static weir_status write_csv(const ps_records *list, const char *dir)
{
  table t = {.full = true};
  weir_status status = fill(list, &t);

  if (status == WEIR_OK) {
    status = weir_table_write_csv(&t.cells, dir, "records.csv", COLUMNS, head);
  }
  weir_table_fini(&t.cells);
  return status;
}

static weir_status fill_page(weir_report *page, const ps_records *list, const weir_table *cells)
{
  WEIR_TRY(weir_report_text(page,
                            "%lld recordings; each has a folder of its name with its files and "
                            "report. The mean of all weighs each value alike.",
                            (long long)list->count));
  return weir_table_report(cells, page, "records", COLUMNS, head);
}

weir_status ps_records_pool_write(const ps_records *list, const char *dir)
{
  weir_report *page = NULL;
  table t = {.full = false};
  weir_status status = WEIR_OK;

  WEIR_TRY(write_csv(list, dir));
  WEIR_TRY_GOTO(fill(list, &t), done);
  WEIR_TRY_GOTO(weir_report_open(dir, "physio_stream: several recordings", &page), done);
  status = weir_report_commit(&page, fill_page(page, list, &t.cells));
done:
  weir_table_fini(&t.cells);
  return status;
}
