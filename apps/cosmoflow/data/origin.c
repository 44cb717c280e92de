/* origin.c - see origin.h. */
#include "data/origin.h"
#include "base/weir_alloc.h"
#include "base/weir_log.h"

weir_status cf_origin_put(weir_netcdf *nc, const weir_origin *o)
{
  for (int i = 0; i < o->n; i++) {
    WEIR_TRY(weir_netcdf_put_text(nc, WEIR_NETCDF_FILE, o->line[i].name, o->line[i].text));
  }
  return WEIR_OK;
}

weir_status cf_origin_take(weir_netcdf *nc, weir_origin *out)
{
  static const char *const name[] = {CF_ORIGIN_WEIGHTS "_file", CF_ORIGIN_WEIGHTS "_sha256",
                                     CF_ORIGIN_CONFIG "_file",  CF_ORIGIN_CONFIG "_sha256",
                                     CF_ORIGIN_DATA "_sha256",  CF_ORIGIN_SIMULATION};

  *out = (weir_origin){.n = 0};
  for (size_t i = 0; i < sizeof name / sizeof name[0]; i++) {
    char *text = NULL;

    if (weir_netcdf_has(nc, WEIR_NETCDF_FILE, name[i])) {
      WEIR_TRY(weir_netcdf_get_text(nc, WEIR_NETCDF_FILE, name[i], &text));
      const weir_status status = weir_origin_text(out, name[i], text);

      weir_free(&text);
      WEIR_TRY(status);
    }
  }
  return WEIR_OK;
}

static weir_status judge_weights(const weir_origin *o, const char *path)
{
  const char *const file = weir_origin_find(o, CF_ORIGIN_WEIGHTS "_file");

  if (weir_origin_find(o, CF_ORIGIN_WEIGHTS "_sha256") == NULL) {
    weir_warn("eval",
              "%s: does not say of which weights it is (no attribute " CF_ORIGIN_WEIGHTS
              "_sha256, older versions wrote none): that is not checked",
              path);
  } else if (weir_origin_check_file(o, CF_ORIGIN_WEIGHTS) == WEIR_BELONGS_NOT) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: was predicted by other weights than %s has now (" CF_ORIGIN_WEIGHTS
                     "_sha256): predict again with these, or move them elsewhere to score what was "
                     "predicted before",
                     path, file);
  }
  if (weir_origin_check_file(o, CF_ORIGIN_CONFIG) == WEIR_BELONGS_NOT) {
    weir_warn("eval",
              "%s: %s is no longer the configuration that it was predicted with (" CF_ORIGIN_CONFIG
              "_sha256): another command wrote there",
              path, weir_origin_find(o, CF_ORIGIN_CONFIG "_file"));
  }
  return WEIR_OK;
}

weir_status cf_origin_judge(const weir_origin *o, const char *path, const cf_source *truth,
                            const char *truth_name, bool same_files)
{
  weir_belongs is = WEIR_BELONGS;

  WEIR_TRY(judge_weights(o, path));
  if (truth != NULL) {
    WEIR_TRY(cf_source_belongs(truth, o, &is));
  }
  if (is == WEIR_BELONGS_NOT && same_files) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: was predicted from other samples than %s has (%s): name those that were "
                     "predicted, as truth, in the same order, or predict these",
                     path, truth_name,
                     cf_source_simulates(truth) ? CF_ORIGIN_SIMULATION : CF_ORIGIN_DATA "_sha256");
  }
  if (is != WEIR_BELONGS) {
    weir_warn("eval", "%s: that it was predicted from the samples of %s is not checked: %s", path,
              truth_name,
              is == WEIR_BELONGS_NOT
                  ? "it says that the files were others"
                  : "it has no digest of such samples (older versions wrote none)");
  }
  return WEIR_OK;
}
