/* conf_check.h - shared by the tests of this module: YAML texts on the sample table. Tests only.
 */
#ifndef WEIR_CONF_CHECK_H
#define WEIR_CONF_CHECK_H
#include <stdlib.h>
#include <string.h>
#include "base/weir_check.h"
#include "support/conf/conf_sample.h"

/* Whether this build reads YAML; if not, says so. */
static inline bool conf_reads_yaml(void)
{
  weir_config *config = NULL;
  struct cfg c;
  const weir_status status = weir_opts_parse(rows, sizeof c, "", &c, &config);

  weir_config_destroy(&config);
  if (status == WEIR_ERR_UNSUPPORTED) {
    print_message("skipped: %s\n", weir_last_message());
    return false;
  }
  assert_ok(status);
  return true;
}

static inline void conf_needs_yaml(void)
{
  if (!conf_reads_yaml()) {
    skip();
  }
}

/* A text, and the whole message with which it is refused. */
typedef struct conf_refusal {
  const char *text, *message;
} conf_refusal;

static inline void assert_yaml_refused(const conf_refusal *refusal)
{
  weir_config *config = NULL;
  struct cfg c;

  assert_int_equal(weir_opts_parse(rows, sizeof c, refusal->text, &c, &config), WEIR_ERR_CONFIG);
  assert_string_equal(weir_last_message(), refusal->message);
  assert_null(config);
}
#endif
