/* table.c - looking keys up in option tables, and the nearest key of an unknown one. */
#include "conf/conf_priv.h"
#include <string.h>

enum { NAME_SIZE = 64 };

static bool is_below(const char *path, const char *prefix)
{
  const size_t n = strlen(prefix);

  return strncmp(path, prefix, n) == 0 && path[n] == '.';
}

weir_conf_match weir_conf_find(const weir_opt *table, const char *path, const weir_opt **row,
                               bool *by_alias)
{
  weir_conf_match match = WEIR_CONF_UNKNOWN;

  *by_alias = false;
  *row = NULL;
  for (const weir_opt *r = table; r->kind != WEIR_OPT_KIND_END; r++) {
    if (strcmp(r->key, path) == 0) {
      *row = r;
      return WEIR_CONF_ROW;
    }
    if (is_below(r->key, path) || (r->alias != NULL && is_below(r->alias, path))) {
      match = WEIR_CONF_PREFIX;
    }
  }
  for (const weir_opt *r = table; r->kind != WEIR_OPT_KIND_END; r++) {
    if (r->alias != NULL && strcmp(r->alias, path) == 0) {
      *row = r;
      *by_alias = true;
      return WEIR_CONF_ROW;
    }
  }
  return match;
}

/* Optimal string alignment: insertion, deletion, substitution, swap of neighbours. */
int weir_conf_distance(const char *a, const char *b)
{
  int rows[3][NAME_SIZE + 1];
  const size_t na = strlen(a), nb = strlen(b);

  if (na >= NAME_SIZE || nb >= NAME_SIZE) {
    return NAME_SIZE;
  }
  for (size_t j = 0; j <= nb; j++) {
    rows[0][j] = (int)j;
  }
  for (size_t i = 1; i <= na; i++) {
    const int *before = rows[(i + 2) % 3], *two_before = rows[(i + 1) % 3];
    int *row = rows[i % 3];

    row[0] = (int)i;
    for (size_t j = 1; j <= nb; j++) {
      int best = before[j - 1] + (a[i - 1] != b[j - 1]);

      best = before[j] + 1 < best ? before[j] + 1 : best;
      best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
          two_before[j - 2] + 1 < best) {
        best = two_before[j - 2] + 1;
      }
      row[j] = best;
    }
  }
  return rows[na % 3][nb];
}

bool weir_conf_component(const char *path, const char *prefix, char *name, size_t size, bool *last)
{
  const char *rest = path;

  if (prefix[0] != 0) {
    if (!is_below(path, prefix)) {
      return false;
    }
    rest = path + strlen(prefix) + 1;
  }
  const size_t n = strcspn(rest, ".");
  *last = rest[n] == 0;
  (void)snprintf(name, size, "%.*s", (int)n, rest);
  return true;
}

bool weir_conf_is_repeated(const weir_opt *table, const weir_opt *row, const char *prefix,
                           const char *name)
{
  char other[NAME_SIZE];
  bool last;

  for (const weir_opt *r = table; r != row; r++) {
    if (weir_conf_component(r->key, prefix, other, sizeof other, &last) &&
        strcmp(other, name) == 0) {
      return true;
    }
  }
  return false;
}

/* All names of one level, "a, b, c"; cut short with "...". */
static void list_names(const weir_opt *table, const char *prefix, char *out, size_t size)
{
  char name[NAME_SIZE];
  size_t used = 0;
  bool last;

  out[0] = 0;
  for (const weir_opt *r = table; r->kind != WEIR_OPT_KIND_END; r++) {
    if (!weir_conf_component(r->key, prefix, name, sizeof name, &last) ||
        weir_conf_is_repeated(table, r, prefix, name)) {
      continue;
    }
    if (used + strlen(name) + 8 > size) {
      (void)snprintf(out + used, size - used, ", ...");
      return;
    }
    used += (size_t)snprintf(out + used, size - used, "%s%s", used == 0 ? "" : ", ", name);
  }
}

/* Path of a value called `name` in a section of the table, into out; false when there is none. */
static bool find_below(const weir_opt *table, const char *prefix, const char *name, char *out,
                       size_t size)
{
  for (const weir_opt *r = table; r->kind != WEIR_OPT_KIND_END; r++) {
    const char *dot = strrchr(r->key, '.');
    char path[WEIR_CONF_PATH_SIZE];

    (void)snprintf(path, sizeof path, "%s%s", prefix, r->key);
    if (strcmp(dot == NULL ? r->key : dot + 1, name) == 0) {
      (void)snprintf(out, size, "%s", path);
      return true;
    }
    (void)snprintf(path, sizeof path, "%s%s.", prefix, r->key);
    if (r->kind == WEIR_OPT_KIND_TABLE && find_below(r->table, path, name, out, size)) {
      return true;
    }
  }
  return false;
}

void weir_conf_suggest(const weir_opt *table, const char *prefix, const char *name, char *out,
                       size_t size)
{
  char candidate[NAME_SIZE], nearest[NAME_SIZE] = "", names[160], path[WEIR_CONF_PATH_SIZE];
  int best = NAME_SIZE;
  bool last;

  for (const weir_opt *r = table; r->kind != WEIR_OPT_KIND_END; r++) {
    if (!weir_conf_component(r->key, prefix, candidate, sizeof candidate, &last)) {
      continue;
    }
    const int distance = weir_conf_distance(name, candidate);
    if (distance < best) {
      best = distance;
      memcpy(nearest, candidate, sizeof nearest);
    }
  }
  if (find_below(table, "", name, path, sizeof path)) {
    (void)snprintf(out, size, " (nearest known key: %s)", path);
    return;
  }
  /* Further away than half of the letters is no help: the list of names is. */
  if (2 * best <= (int)strlen(nearest) + 1) {
    (void)snprintf(out, size, " (nearest known key: %s)", nearest);
    return;
  }
  list_names(table, prefix, names, sizeof names);
  (void)snprintf(out, size, " (known keys: %s)", names);
}

int weir_conf_choice(const char *choices, const char *name)
{
  char one[NAME_SIZE];

  for (int i = 0; weir_conf_choice_name(choices, i, one, sizeof one); i++) {
    if (strcmp(one, name) == 0) {
      return i;
    }
  }
  return -1;
}

bool weir_conf_choice_name(const char *choices, int i, char *out, size_t size)
{
  const char *p = choices;

  out[0] = 0;
  for (int k = 0; p != NULL; k++) {
    const size_t n = strcspn(p, "|");

    if (k == i) {
      (void)snprintf(out, size, "%.*s", (int)n, p);
      return true;
    }
    p = p[n] == 0 ? NULL : p + n + 1;
  }
  return false;
}

bool weir_conf_choice_alias(const char *aliases, const char *name, char *out, size_t size)
{
  char pair[2 * NAME_SIZE];
  const size_t n = strlen(name);

  for (int i = 0; aliases != NULL && weir_conf_choice_name(aliases, i, pair, sizeof pair); i++) {
    if (strncmp(pair, name, n) == 0 && pair[n] == '=') {
      (void)snprintf(out, size, "%s", pair + n + 1);
      return true;
    }
  }
  return false;
}

int64_t weir_conf_entry(const weir_opt *row, const char *name, weir_opt_choice *out)
{
  weir_opt_choice entry;

  for (int64_t i = 0; row->list(i, &entry); i++) {
    if (strcmp(entry.name, name) == 0) {
      *out = entry;
      return i;
    }
  }
  return -1;
}

void weir_conf_entry_hint(const weir_opt *row, const char *name, char *out, size_t size)
{
  weir_opt_choice entry;
  const char *nearest = "";
  char names[512] = "";
  int best = NAME_SIZE;
  size_t used = 0;

  for (int64_t i = 0; row->list(i, &entry); i++) {
    const int distance = weir_conf_distance(name, entry.name);

    if (distance < best && 2 * distance <= (int)strlen(entry.name) + 1) {
      best = distance;
      nearest = entry.name;
    }
    if (used + strlen(entry.name) + 8 <= sizeof names) {
      used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used == 0 ? "" : ", ",
                               entry.name);
    } else if (used + 6 <= sizeof names) {
      (void)snprintf(names + used, sizeof names - used, ", ...");
      used = sizeof names;
    }
  }
  (void)snprintf(out, size, " (%s%s%sthere are: %s)", nearest[0] == 0 ? "" : "nearest: ", nearest,
                 nearest[0] == 0 ? "" : "; ", names);
}

const char *weir_conf_kind_name(weir_opt_kind kind)
{
  switch (kind) {
  case WEIR_OPT_KIND_INT:
    return "integer";
  case WEIR_OPT_KIND_REAL:
    return "number";
  case WEIR_OPT_KIND_BOOL:
    return "true or false";
  case WEIR_OPT_KIND_ENUM:
    return "choice";
  case WEIR_OPT_KIND_STRING:
    return "text";
  case WEIR_OPT_KIND_PATH:
    return "path";
  case WEIR_OPT_KIND_INT_LIST:
    return "list of integers";
  case WEIR_OPT_KIND_REAL_LIST:
    return "list of numbers";
  case WEIR_OPT_KIND_STRING_LIST:
    return "list of texts";
  case WEIR_OPT_KIND_TABLE:
    return "section";
  case WEIR_OPT_KIND_LIST:
    return "list of sections";
  case WEIR_OPT_KIND_ONE_OF:
    return "one of";
  default:
    return "";
  }
}

void weir_conf_range_text(const weir_opt *row, char *out, size_t size)
{
  char lo[32], hi[32];

  out[0] = 0;
  switch (row->kind) {
  case WEIR_OPT_KIND_INT:
  case WEIR_OPT_KIND_REAL:
  case WEIR_OPT_KIND_INT_LIST:
  case WEIR_OPT_KIND_REAL_LIST:
    weir_number_text(row->lo, lo, sizeof lo);
    weir_number_text(row->hi, hi, sizeof hi);
    (void)snprintf(out, size, "[%s, %s]", lo, hi);
    break;
  case WEIR_OPT_KIND_ENUM:
    (void)snprintf(out, size, "%s", row->choices);
    break;
  case WEIR_OPT_KIND_LIST:
    weir_number_text(row->hi, hi, sizeof hi);
    (void)snprintf(out, size, "at most %s", hi);
    break;
  default:
    break;
  }
}
