/* volume_table.c - labels and universes of files without, from a table of parameters. */
#include "base/weir_alloc.h"
#include "data/volume/volume_priv.h"

weir_status cf_volumes_table_read(cf_volumes *v)
{
  return cf_volume_has_table(&v->opts) ? cf_parameters_read(&v->opts.parameters, "files", &v->table)
                                       : WEIR_OK;
}

static weir_status refuse_number(const cf_volumes *v, int64_t each)
{
  const int64_t lines = cf_parameters_count(v->table), count = v->file.count;

  return count % lines == 0
             ? weir_fail(WEIR_ERR_CONFIG,
                         "files.samples_per_line: %s has %lld samples, and %s %lld lines, of which "
                         "each has %lld, not %lld",
                         v->file.path, (long long)count, v->opts.parameters.table, (long long)lines,
                         (long long)(count / lines), (long long)each)
             : weir_fail(WEIR_ERR_DATA,
                         "files.parameters.table: %s has %lld samples, which are no multiple of "
                         "the %lld lines of %s: the table is of other files",
                         v->file.path, (long long)count, (long long)lines,
                         v->opts.parameters.table);
}

weir_status cf_volumes_table_apply(cf_volumes *v)
{
  const int64_t each = v->opts.samples_per_line > 0 ? v->opts.samples_per_line : 1;
  int64_t samples = 0;

  if (v->table == NULL) {
    return WEIR_OK;
  }
  if (v->file.info.n_labels > 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "files.parameters.table: %s has labels of its own: leave the table out",
                     v->file.path);
  }
  v->line = 0;
  if (!weir_mul_ok(cf_parameters_count(v->table), each, &samples) || samples != v->file.count) {
    WEIR_TRY(v->file.count == 1 && each == 1 ? cf_parameters_find(v->table, v->file.path, &v->line)
                                             : refuse_number(v, each));
  }
  cf_parameters_info(v->table, &v->file.info);
  return WEIR_OK;
}

int64_t cf_volumes_table_line(const cf_volumes *v, int64_t in)
{
  return v->line + in / (v->opts.samples_per_line > 0 ? v->opts.samples_per_line : 1);
}
