/* yaml.c - fuzz target: configuration files and --set values. What loads must print and load again
 * to the same values. */
#include "support/conf/conf_sample.h"
#include "base/weir_alloc.h"
#include "base/weir_log.h"
#include "weir_fuzz.h"
#include <stdlib.h>
#include <string.h>

static int64_t reached;

int64_t weir_fuzz_reached(void)
{
  return reached;
}

/* What is printed must load to the same values. */
static void check_round_trip(const weir_config *config, const struct cfg *values)
{
  char *text = sample_text(config);
  weir_config *again = NULL;
  struct cfg c;

  if (weir_opts_parse(rows, sizeof c, text, &c, &again) != WEIR_OK || !sample_equal(values, &c)) {
    abort();
  }
  free(text);
  weir_config_destroy(&again);
}

static void check(weir_status status, weir_config **config, const struct cfg *values)
{
  if (status == WEIR_OK) {
    reached++;
    check_round_trip(*config, values);
  } else if (status != WEIR_ERR_CONFIG || weir_last_message()[0] == 0 || *config != NULL) {
    abort(); /* a refusal is a configuration error that says why */
  }
  weir_config_destroy(config);
}

enum { MOST_SETS = 8 };

/* Up to the first NUL the bytes are YAML; each text between later NULs is a --set. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const int64_t before = weir_alloc_bytes();
  weir_config *config = NULL;
  char *copy = malloc(size + 1);
  struct cfg c;

  if (copy == NULL) {
    return 0;
  }
  if (size > 0) {
    memcpy(copy, data, size);
  }
  copy[size] = 0;
  weir_log_set_level(WEIR_LOG_ERROR);
  check(weir_opts_parse(rows, sizeof c, copy, &c, &config), &config, &c);
  const char *set = copy + strlen(copy);
  for (int i = 0; i < MOST_SETS && set < copy + size; i++) {
    set++;
    check(weir_config_load(rows, sizeof c, NULL, 0, &set, 1, &c, &config), &config, &c);
    set += strlen(set);
  }
  free(copy);
  if (weir_alloc_bytes() != before) {
    abort();
  }
  return 0;
}
