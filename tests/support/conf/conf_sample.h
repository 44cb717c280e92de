/* conf_sample.h - a struct with a member of every kind and its table, shared by this module's tests
 * and the fuzz target. */
#ifndef WEIR_CONF_SAMPLE_H
#define WEIR_CONF_SAMPLE_H
#include <string.h>
#include "conf/weir_opt.h"

struct blur {
  double width;
  const char *label;
  weir_int_list taps;
};
struct step {
  double lr;
  const char *name;
  weir_int_list taps;
  weir_one_of act;
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
  weir_one_of pick;
};

static const weir_opt blur_rows[] = {
    WEIR_OPT_REAL(struct blur, width, 2, 0, 1e6, "s", "width"),
    WEIR_OPT_STRING(struct blur, label, "soft", "label"),
    WEIR_OPT_INT_LIST(struct blur, taps, "3", -9, 9, "1", "taps"),
    WEIR_OPT_END,
};
/* Two arrays joined, as a program joins the registry of the library and its own. */
static inline bool sample_entry(int64_t i, weir_opt_choice *entry)
{
  static const weir_opt_choice near[] = {{"blur", "spreads", blur_rows, sizeof(struct blur)}},
                               far[] = {{"negate", "turns the sign", NULL, 0}};

  if (i < 2) {
    *entry = i == 0 ? near[0] : far[0];
  }
  return i < 2;
}

static const weir_opt step_rows[] = {
    WEIR_OPT_REAL(struct step, lr, 0.5, -1e308, 1e308, "1", "rate"),
    WEIR_OPT_STRING(struct step, name, "plain", "name"),
    WEIR_OPT_INT_LIST(struct step, taps, "1, 2", -0x1p63, 0x1p63, "1", "taps"),
    WEIR_OPT_ONE_OF(struct step, act, sample_entry, "what is done"),
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
    WEIR_OPT_REAL(struct cfg, train.lr, 1e-3, 0, 10, "s", "rate", .alias = "train.rate"),
    WEIR_OPT_BOOL(struct cfg, verbose, false, "talk"),
    WEIR_OPT_ENUM(struct cfg, mode, 1, "fast|exact|mixed", "how",
                  .choice_aliases = "quick=fast|slow=exact"),
    WEIR_OPT_STRING(struct cfg, title, "none", "a title"),
    WEIR_OPT_PATH(struct cfg, file, "", "a file"),
    WEIR_OPT_INT(struct cfg, train.warm.steps, 7, 0, 1000, "1", "steps"),
    WEIR_OPT_TABLE(struct cfg, part, inner_rows, "a part", .alias = "piece"),
    WEIR_OPT_INT_LIST(struct cfg, ints, "1, 2, 3", -5, 5, "1", "ints"),
    WEIR_OPT_REAL_LIST(struct cfg, reals, "", 0, 1e300, "Hz", "reals"),
    WEIR_OPT_STRING_LIST(struct cfg, names, "a, \"b c\"", "names"),
    WEIR_OPT_LIST(struct cfg, steps, struct step, step_rows, 3, "steps"),
    WEIR_OPT_ONE_OF(struct cfg, pick, sample_entry, "what is picked"),
    WEIR_OPT_END,
};

/* Text of one configuration; the caller frees it with free. */
static inline char *sample_text(const weir_config *config)
{
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);

  WEIR_ASSERT(out != NULL);
  const weir_status printed = weir_config_print(config, out);
  WEIR_ASSERT(printed == WEIR_OK);
  (void)fclose(out);
  return text;
}

static inline bool sample_same_bits(double a, double b)
{
  return memcmp(&a, &b, sizeof a) == 0;
}

static inline bool sample_same_ints(const weir_int_list *a, const weir_int_list *b)
{
  bool same = a->count == b->count;

  for (int64_t i = 0; same && i < a->count; i++) {
    same = a->items[i] == b->items[i];
  }
  return same;
}

static inline bool sample_same_choice(const weir_one_of *a, const weir_one_of *b)
{
  const struct blur *x = a->opts, *y = b->opts;

  if (a->name == NULL || b->name == NULL) {
    return a->name == b->name;
  }
  return strcmp(a->name, b->name) == 0 && (x == NULL) == (y == NULL) &&
         (x == NULL || (sample_same_bits(x->width, y->width) && strcmp(x->label, y->label) == 0 &&
                        sample_same_ints(&x->taps, &y->taps)));
}

static inline bool sample_same_lists(const struct cfg *a, const struct cfg *b)
{
  bool same = sample_same_ints(&a->ints, &b->ints) && a->reals.count == b->reals.count &&
              a->names.count == b->names.count && a->steps.count == b->steps.count;

  for (int64_t i = 0; same && i < a->reals.count; i++) {
    same = sample_same_bits(a->reals.items[i], b->reals.items[i]);
  }
  for (int64_t i = 0; same && i < a->names.count; i++) {
    same = strcmp(a->names.items[i], b->names.items[i]) == 0;
  }
  for (int64_t i = 0; same && i < a->steps.count; i++) {
    const struct step *x = (const struct step *)a->steps.items + i;
    const struct step *y = (const struct step *)b->steps.items + i;

    same = sample_same_bits(x->lr, y->lr) && strcmp(x->name, y->name) == 0 &&
           sample_same_ints(&x->taps, &y->taps) && sample_same_choice(&x->act, &y->act);
  }
  return same && sample_same_choice(&a->pick, &b->pick);
}

/* Every member has the same value, numbers to the bit. */
static inline bool sample_equal(const struct cfg *a, const struct cfg *b)
{
  return sample_same_bits(a->mu, b->mu) && a->n == b->n && a->verbose == b->verbose &&
         a->mode == b->mode && strcmp(a->title, b->title) == 0 && strcmp(a->file, b->file) == 0 &&
         sample_same_bits(a->train.lr, b->train.lr) && a->train.warm.steps == b->train.warm.steps &&
         a->part.count == b->part.count && a->part.on == b->part.on && sample_same_lists(a, b);
}
#endif
