/* conf_sample.h - a struct with a member of every kind and its table, shared by this room's tests
 * and the fuzz target. */
#ifndef WEIR_CONF_SAMPLE_H
#define WEIR_CONF_SAMPLE_H
#include "conf/weir_opt.h"

struct step {
  double lr;
  const char *name;
  weir_int_list taps;
};

struct inner {
  int64_t count;
  bool on;
};

struct cfg {
  double mu;
  int64_t n;
  bool verbose;
  int mode;
  const char *title;
  const char *file;
  struct {
    double lr;
    struct {
      int64_t steps;
    } warm;
  } train;
  struct inner part;
  weir_int_list ints;
  weir_real_list reals;
  weir_string_list names;
  weir_struct_list steps;
};

static const weir_opt step_rows[] = {
    WEIR_OPT_REAL(struct step, lr, 0.5, -1e308, 1e308, "1", "rate"),
    WEIR_OPT_STRING(struct step, name, "plain", "name"),
    WEIR_OPT_INT_LIST(struct step, taps, "1, 2", -0x1p63, 0x1p63, "1", "taps"),
    WEIR_OPT_END,
};
static const weir_opt inner_rows[] = {
    WEIR_OPT_INT(struct inner, count, 3, 0, 100, "1", "how many"),
    WEIR_OPT_BOOL(struct inner, on, true, "whether"),
    WEIR_OPT_END,
};
/* The rows below `train` stand apart on purpose: YAML must still show one section. */
static const weir_opt rows[] = {
    WEIR_OPT_REAL(struct cfg, mu, 0.9, 0.0, 0.9999, "1", "momentum"),
    WEIR_OPT_INT(struct cfg, n, 10, -0x1p63, 0x1p63, "1", "any integer"),
    {.kind = WEIR_OPT_KIND_REAL,
     .key = "train.lr",
     .offset = WEIR_OPT_AT(struct cfg, train.lr, double),
     .lo = 0,
     .hi = 10,
     .number = 1e-3,
     .unit = "s",
     .help = "rate",
     .alias = "train.rate"},
    WEIR_OPT_BOOL(struct cfg, verbose, false, "talk"),
    WEIR_OPT_ENUM(struct cfg, mode, 1, "fast|exact|mixed", "how"),
    WEIR_OPT_STRING(struct cfg, title, "none", "a title"),
    WEIR_OPT_PATH(struct cfg, file, "", "a file"),
    WEIR_OPT_INT(struct cfg, train.warm.steps, 7, 0, 1000, "1", "steps"),
    WEIR_OPT_TABLE(struct cfg, part, inner_rows, "a part"),
    WEIR_OPT_INT_LIST(struct cfg, ints, "1, 2, 3", -5, 5, "1", "ints"),
    WEIR_OPT_REAL_LIST(struct cfg, reals, "", 0, 1e300, "Hz", "reals"),
    WEIR_OPT_STRING_LIST(struct cfg, names, "a, \"b c\"", "names"),
    WEIR_OPT_LIST(struct cfg, steps, struct step, step_rows, 3, "steps"),
    WEIR_OPT_END,
};

/* Text of one configuration; the caller frees it with free. */
static inline char *sample_text(const weir_config *config)
{
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);

  if (out == NULL || weir_config_print(config, out) != WEIR_OK) {
    WEIR_ASSERT(!"the configuration is printed");
  }
  (void)fclose(out);
  return text;
}
#endif
