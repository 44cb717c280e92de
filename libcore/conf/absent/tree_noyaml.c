/* tree_noyaml.c - stands in for tree_yaml.c in a build without libyaml. */
#include "conf/conf_priv.h"

weir_status weir_conf_parse_yaml(const char *bytes, int64_t size, weir_conf_tree *tree)
{
  (void)bytes;
  (void)size;
  return weir_fail(WEIR_ERR_UNSUPPORTED,
                   "%s: this build reads no YAML, because libyaml is missing: pass the values with "
                   "--set key=value, or install libyaml and build again",
                   tree->source);
}
