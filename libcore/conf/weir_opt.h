/* weir_opt.h - option tables: the single source of keys, defaults, ranges, units, help and docs.
 *
 * A table is a const array of rows ended by WEIR_OPT_END. A row's key is the C member path,
 * stringised: WEIR_OPT_REAL(struct wx_cfg, train.lr, 1e-3, 0, 1, "1", "initial learning rate") is
 * YAML `train: {lr: ...}`, `--set train.lr=...`, a line of help and a row of the docs. */
#ifndef WEIR_OPT_H
#define WEIR_OPT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "base/weir_status.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef enum weir_opt_kind {
  WEIR_OPT_KIND_END,
  WEIR_OPT_KIND_INT,         /* int64_t                                         */
  WEIR_OPT_KIND_REAL,        /* double                                          */
  WEIR_OPT_KIND_BOOL,        /* bool                                            */
  WEIR_OPT_KIND_ENUM,        /* int, one of `choices` ("a|b|c", stored 0, 1, 2) */
  WEIR_OPT_KIND_STRING,      /* const char *, owned by the loaded config        */
  WEIR_OPT_KIND_PATH,        /* const char *, as STRING                         */
  WEIR_OPT_KIND_INT_LIST,    /* struct weir_int_list                            */
  WEIR_OPT_KIND_REAL_LIST,   /* struct weir_real_list                           */
  WEIR_OPT_KIND_STRING_LIST, /* struct weir_string_list                       */
  WEIR_OPT_KIND_TABLE,       /* nested struct with its own table           */
  WEIR_OPT_KIND_LIST,        /* struct weir_struct_list of structs with a table */
  WEIR_OPT_KIND_ONE_OF       /* struct weir_one_of: an entry of a registry      */
} weir_opt_kind;

typedef struct weir_int_list {
  int64_t *items;
  int64_t count;
} weir_int_list;
typedef struct weir_real_list {
  double *items;
  int64_t count;
} weir_real_list;
typedef struct weir_string_list {
  const char **items;
  int64_t count;
} weir_string_list;
typedef struct weir_struct_list {
  void *items;
  int64_t count;
} weir_struct_list;

struct weir_opt_choice;
typedef struct weir_opt {
  weir_opt_kind kind;
  const char *key;              /* member path                                       */
  size_t offset;                /* of the member in its struct                       */
  double lo, hi;                /* inclusive range of numbers; counts of lists       */
  double number;                /* default of int, real, bool, enum                  */
  const char *text;             /* default of string, path and lists ("1, 2, 3")     */
  const char *choices;          /* enum: "a|b|c"                                     */
  const char *unit;             /* "s", "Hz", "1", ...; "" for text                  */
  const char *help;             /* noun phrase, then special values */
  const struct weir_opt *table; /* TABLE and LIST                                    */
  size_t size;                  /* LIST: bytes of one struct                         */
  const char *alias;            /* former key, accepted with a warning; or NULL      */
  const char *choice_aliases;   /* ENUM: former names, "old=new|older=new"; or NULL  */
  bool (*list)(int64_t i, struct weir_opt_choice *entry); /* ONE_OF: entry i; false past the end */
} weir_opt;

/* An entry of a registry: a name with its own options. */
typedef struct weir_opt_choice {
  const char *name; /* small letters, digits and _      */
  const char *help;
  const weir_opt *table; /* NULL: it takes no options */
  size_t size;           /* bytes of the struct they fill */
} weir_opt_choice;
/* The chosen entry: in YAML `key: {name: {option: value}}`, or `key: name` for all defaults; `{}`
 * is the empty choice, the default. */
typedef struct weir_one_of {
  const char *name; /* of the chosen entry, NULL: none                               */
  void *opts;       /* its filled struct, owned by the config; NULL: it has no options */
} weir_one_of;

/* The last argument of each macro, the help, may be followed by further fields of the row:
 * WEIR_OPT_REAL(struct wx_cfg, train.lr, 1e-3, 0, 1, "1", "learning rate", .alias = "train.rate").
 * The _Generic selects an address of the right pointer type, so that a wrong member type does not
 * compile. */
#define WEIR_OPT_AT(s, m, type) (offsetof(s, m) + 0 * sizeof(_Generic(&((s *)0)->m, type * : 1)))
#define WEIR_OPT_INT(s, m, def, low, high, u, ...)                                   \
  {                                                                                  \
    .kind = WEIR_OPT_KIND_INT, .key = #m, .offset = WEIR_OPT_AT(s, m, int64_t),      \
    .lo = (double)(low), .hi = (double)(high), .number = (double)(def), .unit = (u), \
    .help = __VA_ARGS__                                                              \
  }
#define WEIR_OPT_REAL(s, m, def, low, high, u, ...)                                          \
  {                                                                                          \
    .kind = WEIR_OPT_KIND_REAL, .key = #m, .offset = WEIR_OPT_AT(s, m, double), .lo = (low), \
    .hi = (high), .number = (def), .unit = (u), .help = __VA_ARGS__                          \
  }
#define WEIR_OPT_BOOL(s, m, def, ...)                                                           \
  {                                                                                             \
    .kind = WEIR_OPT_KIND_BOOL, .key = #m, .offset = WEIR_OPT_AT(s, m, bool), .lo = 0, .hi = 1, \
    .number = (def), .unit = "", .help = __VA_ARGS__                                            \
  }
#define WEIR_OPT_ENUM(s, m, def, names, ...)                                                  \
  {                                                                                           \
    .kind = WEIR_OPT_KIND_ENUM, .key = #m, .offset = WEIR_OPT_AT(s, m, int), .number = (def), \
    .choices = (names), .unit = "", .help = __VA_ARGS__                                       \
  }
#define WEIR_OPT_STRING(s, m, def, ...)                                                 \
  {                                                                                     \
    .kind = WEIR_OPT_KIND_STRING, .key = #m, .offset = WEIR_OPT_AT(s, m, const char *), \
    .text = (def), .unit = "", .help = __VA_ARGS__                                      \
  }
#define WEIR_OPT_PATH(s, m, def, ...)                                                 \
  {                                                                                   \
    .kind = WEIR_OPT_KIND_PATH, .key = #m, .offset = WEIR_OPT_AT(s, m, const char *), \
    .text = (def), .unit = "", .help = __VA_ARGS__                                    \
  }
#define WEIR_OPT_INT_LIST(s, m, def, low, high, u, ...)                                        \
  {                                                                                            \
    .kind = WEIR_OPT_KIND_INT_LIST, .key = #m, .offset = WEIR_OPT_AT(s, m, weir_int_list),     \
    .lo = (double)(low), .hi = (double)(high), .text = (def), .unit = (u), .help = __VA_ARGS__ \
  }
#define WEIR_OPT_REAL_LIST(s, m, def, low, high, u, ...)                                     \
  {                                                                                          \
    .kind = WEIR_OPT_KIND_REAL_LIST, .key = #m, .offset = WEIR_OPT_AT(s, m, weir_real_list), \
    .lo = (low), .hi = (high), .text = (def), .unit = (u), .help = __VA_ARGS__               \
  }
#define WEIR_OPT_STRING_LIST(s, m, def, ...)                                                     \
  {                                                                                              \
    .kind = WEIR_OPT_KIND_STRING_LIST, .key = #m, .offset = WEIR_OPT_AT(s, m, weir_string_list), \
    .text = (def), .unit = "", .help = __VA_ARGS__                                               \
  }
#define WEIR_OPT_TABLE(s, m, rows, ...)                                                            \
  {                                                                                                \
    .kind = WEIR_OPT_KIND_TABLE, .key = #m, .offset = offsetof(s, m), .table = (rows), .unit = "", \
    .help = __VA_ARGS__                                                                            \
  }
#define WEIR_OPT_LIST(s, m, item, rows, max_items, ...)                                            \
  {                                                                                                \
    .kind = WEIR_OPT_KIND_LIST, .key = #m, .offset = WEIR_OPT_AT(s, m, weir_struct_list), .lo = 0, \
    .hi = (max_items), .table = (rows), .size = sizeof(item), .unit = "", .help = __VA_ARGS__      \
  }
#define WEIR_OPT_ONE_OF(s, m, entries, h)                                                          \
  {                                                                                                \
    .kind = WEIR_OPT_KIND_ONE_OF, .key = #m, .offset = WEIR_OPT_AT(s, m, weir_one_of), .unit = "", \
    .help = (h), .list = (entries)                                                                 \
  }
#define WEIR_OPT_END          \
  {                           \
    .kind = WEIR_OPT_KIND_END \
  }

/* A loaded configuration: the caller's struct plus the origin of each value. Owns all text in the
 * struct. */
typedef struct weir_config weir_config;

/* Fills `out` (opts_size bytes) with the table's defaults, then the YAML files left to right, then
 * the `--set` texts left to right: "key=value", the value as in YAML, lists as [a, b], an entry of
 * a list of sections as "steps[2].lr", an option of the chosen entry as "steps[2].do.name.option".
 * A list or choice replaces the previous one. Destroy the config only after the last use of `out`,
 * which refers to it. Fails: WEIR_ERR_CONFIG with "file:line:column: key: reason (nearest known
 * key: ...)"; a file in a build without libyaml is WEIR_ERR_UNSUPPORTED. *config is then NULL and
 * `out` all zero. */
weir_status weir_config_load(const weir_opt *opts, size_t opts_size, const char *const *files,
                             int n_files, const char *const *sets, int n_sets, void *out,
                             weir_config **config) WEIR_CHECKED;
/* Frees the text and lists of the struct; accepts NULL. */
void weir_config_destroy(weir_config **config);
/* Writes the resolved configuration as YAML that can be loaded again, each value with its origin as
 * a comment. */
weir_status weir_config_write(const weir_config *config, const char *path) WEIR_CHECKED;
/* Writes the same text to `out`. Fails: WEIR_ERR_DATA when it cannot be written. */
weir_status weir_config_print(const weir_config *config, FILE *out) WEIR_CHECKED;

/* Writes the origin of the member at this address, "file:line:column" or "--set key=value": of the
 * member itself, else of the smallest entry of a list or choice that contains it; "" for a default.
 * For messages about a value that the table cannot check. */
void weir_config_where(const weir_config *config, const void *member, char *text, size_t size);

/* Whether a file or `--set` states any member of the `size` bytes at `section`, even with the
 * default value. */
bool weir_config_states(const weir_config *config, const void *section, size_t size);

/* Calls visit with each regular file that any text of the configuration names, until one fails: the
 * text itself, or the beginning of the names of a record (.hea) or of files of Wannier90 (_hr.dat,
 * _tb.dat, _wsvec.dat, _centres.xyz, .win). The paths are borrowed during the call. Fails: as
 * visit. */
weir_status weir_config_files(const weir_config *config,
                              weir_status (*visit)(void *context, const char *path),
                              void *context) WEIR_CHECKED;

/* Fills `out` with defaults only; text points into the table. Lists stay empty, since nothing would
 * own their items: weir_config_load without files and sets fills them, too. */
void weir_opts_default(const weir_opt *opts, size_t opts_size, void *out);
/* Fills `out` with defaults, then one YAML text; for tests and nested tables. Lists and text leak
 * unless `config` is taken. */
weir_status weir_opts_parse(const weir_opt *opts, size_t opts_size, const char *yaml, void *out,
                            weir_config **config) WEIR_CHECKED;

/* Prints a commented, complete YAML file of the defaults that can be loaded. The three printers
 * fail with WEIR_ERR_DATA when `out` cannot be written, and WEIR_ERR_MEMORY. */
weir_status weir_opts_print_yaml(const weir_opt *opts, FILE *out) WEIR_CHECKED;
/* Prints the reference page: one Markdown table under the title, one line per row. */
weir_status weir_opts_print_markdown(const weir_opt *opts, const char *title,
                                     FILE *out) WEIR_CHECKED;
/* Prints the options for a terminal: key=default, kind and range, with the help below. */
weir_status weir_opts_print_help(const weir_opt *opts, FILE *out) WEIR_CHECKED;

/* Returns an environment variable, or NULL when unset or empty. The only getenv of the suite. */
const char *weir_env(const char *name);
/* Removes a variable from the environment of this process, where a library would read it: only the
 * configuration determines what is computed. */
void weir_env_remove(const char *name);

#ifdef __cplusplus
}
#endif
#endif
