/* scalar.c - one value of the text into one member: kind, range, choices. */
#include <string.h>
#include "base/weir_log.h"
#include "conf/conf_priv.h"

/* Text as the user wrote it, for messages. */
static weir_status refuse_value(const weir_conf_tree *tree, int64_t node,
                                const weir_conf_target *target, const char *reason)
{
  const weir_conf_node *n = &tree->nodes[node];
  char shown[WEIR_CONF_SHOW_SIZE];

  weir_conf_show(weir_conf_text(tree, node), shown, sizeof shown);
  return weir_conf_refuse(tree, n->line, n->column, target->path, "%s %s", shown, reason);
}

static weir_status refuse_range(const weir_conf_tree *tree, int64_t node,
                                const weir_conf_target *target)
{
  char range[80], reason[128];
  const char *unit = target->row->unit;
  const bool plain_unit = unit == NULL || unit[0] == 0 || strcmp(unit, "1") == 0;

  weir_conf_range_text(target->row, range, sizeof range);
  (void)snprintf(reason, sizeof reason, "is outside %s%s%s", range, plain_unit ? "" : " ",
                 plain_unit ? "" : unit);
  return refuse_value(tree, node, target, reason);
}

/* Sign of value - limit, exact where a conversion to double would round. */
static int compare_exact(int64_t value, double limit)
{
  if (limit >= 0x1p63) {
    return -1;
  }
  if (limit < -0x1p63) {
    return 1;
  }
  const int64_t whole = (int64_t)limit;
  if (value != whole) {
    return value < whole ? -1 : 1;
  }
  const double rest = limit - (double)whole;
  return rest > 0 ? -1 : rest < 0 ? 1 : 0;
}

static weir_status read_int(const weir_conf_tree *tree, int64_t node,
                            const weir_conf_target *target)
{
  const char *text = weir_conf_text(tree, node);
  int64_t value = 0;
  const weir_number_result result = weir_number_int(text, &value);

  if (result != WEIR_NUMBER_OK) {
    return refuse_value(tree, node, target,
                        result == WEIR_NUMBER_NOT ? "is not a decimal integer"
                                                  : weir_number_reason(result));
  }
  if (compare_exact(value, target->row->lo) < 0 || compare_exact(value, target->row->hi) > 0) {
    return refuse_range(tree, node, target);
  }
  memcpy(target->at, &value, sizeof value);
  return WEIR_OK;
}

static weir_status read_real(const weir_conf_tree *tree, int64_t node,
                             const weir_conf_target *target)
{
  double value = 0;
  const weir_number_result result = weir_number_real(weir_conf_text(tree, node), &value);

  if (result != WEIR_NUMBER_OK) {
    return refuse_value(tree, node, target, weir_number_reason(result));
  }
  if (value < target->row->lo || value > target->row->hi) {
    return refuse_range(tree, node, target);
  }
  memcpy(target->at, &value, sizeof value);
  return WEIR_OK;
}

static weir_status read_bool(const weir_conf_tree *tree, int64_t node,
                             const weir_conf_target *target)
{
  const char *text = weir_conf_text(tree, node);
  const bool value = strcmp(text, "true") == 0;

  if (!value && strcmp(text, "false") != 0) {
    return refuse_value(tree, node, target, "is neither true nor false");
  }
  memcpy(target->at, &value, sizeof value);
  return WEIR_OK;
}

static weir_status read_enum(const weir_conf_tree *tree, int64_t node,
                             const weir_conf_target *target)
{
  const char *text = weir_conf_text(tree, node);
  int value = weir_conf_choice(target->row->choices, text);
  char reason[320], one[64], nearest[64] = "";
  int best = 3;

  if (value < 0 && weir_conf_choice_alias(target->row->choice_aliases, text, one, sizeof one)) {
    weir_warn("conf", "%s: the value %s of %s was renamed to %s", tree->source, text, target->path,
              one);
    value = weir_conf_choice(target->row->choices, one);
  }
  if (value >= 0) {
    memcpy(target->at, &value, sizeof value);
    return WEIR_OK;
  }
  for (int i = 0; weir_conf_choice_name(target->row->choices, i, one, sizeof one); i++) {
    const int distance = weir_conf_distance(text, one);

    if (distance < best) {
      best = distance;
      memcpy(nearest, one, sizeof nearest);
    }
  }
  (void)snprintf(reason, sizeof reason, "is not one of %s%s%s%s", target->row->choices,
                 nearest[0] == 0 ? "" : " (nearest: ", nearest, nearest[0] == 0 ? "" : ")");
  return refuse_value(tree, node, target, reason);
}

static weir_status read_string(weir_config *config, const weir_conf_tree *tree, int64_t node,
                               const weir_conf_target *target)
{
  const char *text = weir_conf_text(tree, node);
  const int64_t size = (int64_t)strlen(text) + 1;
  void *copy = NULL;

  WEIR_TRY(weir_conf_own(config, size, 1, &copy));
  memcpy(copy, text, (size_t)size);
  const char *value = copy;
  memcpy(target->at, &value, sizeof value);
  return WEIR_OK;
}

bool weir_conf_is_absent(const weir_conf_tree *tree, int64_t node)
{
  const char *text = weir_conf_text(tree, node);

  return tree->nodes[node].plain &&
         (text[0] == 0 || strcmp(text, "~") == 0 || strcmp(text, "null") == 0);
}

static weir_opt_kind element(weir_opt_kind kind)
{
  return kind == WEIR_OPT_KIND_INT_LIST      ? WEIR_OPT_KIND_INT
         : kind == WEIR_OPT_KIND_REAL_LIST   ? WEIR_OPT_KIND_REAL
         : kind == WEIR_OPT_KIND_STRING_LIST ? WEIR_OPT_KIND_STRING
                                             : kind;
}

weir_status weir_conf_read_scalar(weir_config *config, const weir_conf_tree *tree, int64_t node,
                                  const weir_conf_target *target)
{
  const weir_conf_node *n = &tree->nodes[node];
  const weir_opt_kind kind = target->row->kind;

  if (n->kind != WEIR_CONF_SCALAR) {
    return weir_conf_refuse(
        tree, n->line, n->column, target->path, "expected one value (%s), found a %s",
        weir_conf_kind_name(element(kind)), n->kind == WEIR_CONF_SEQUENCE ? "list" : "section");
  }
  if (weir_conf_is_absent(tree, node)) {
    return weir_conf_refuse(tree, n->line, n->column, target->path,
                            "has no value (an empty text is written \"\")");
  }
  switch (kind) {
  case WEIR_OPT_KIND_INT:
  case WEIR_OPT_KIND_INT_LIST:
    return read_int(tree, node, target);
  case WEIR_OPT_KIND_REAL:
  case WEIR_OPT_KIND_REAL_LIST:
    return read_real(tree, node, target);
  case WEIR_OPT_KIND_BOOL:
    return read_bool(tree, node, target);
  case WEIR_OPT_KIND_ENUM:
    return read_enum(tree, node, target);
  default:
    return read_string(config, tree, node, target);
  }
}
