/* conf_priv.h - shared by the sources of this module: a tree of parsed text and its positions. */
#ifndef WEIR_CONF_PRIV_H
#define WEIR_CONF_PRIV_H
#include "base/weir_alloc.h"
#include "base/weir_status.h"
#include "conf/weir_number.h"
#include "conf/weir_opt.h"

#define WEIR_CONF_FILE_LIMIT ((int64_t)1 << 20) /* bytes of one file                   */
#define WEIR_CONF_NODE_LIMIT 200000             /* keys and values of one file         */
#define WEIR_CONF_DEPTH_LIMIT 32                /* lists and mappings inside each other */
#define WEIR_CONF_PATH_SIZE 256                 /* bytes of a key path, with its 0     */
#define WEIR_CONF_SHOW_SIZE 96                  /* bytes of a text shown in a message  */

typedef enum weir_conf_kind {
  WEIR_CONF_SCALAR,
  WEIR_CONF_SEQUENCE,
  WEIR_CONF_MAPPING
} weir_conf_kind;

/* Children form a list by index; a child of a mapping names its key. -1: none. */
typedef struct weir_conf_node {
  weir_conf_kind kind;
  bool plain; /* a scalar without quotes */
  int line, column;
  int64_t text; /* offset of a scalar in tree.text */
  int64_t key, first, next, count;
} weir_conf_node;

typedef struct weir_conf_level {
  int64_t node, last, key;
} weir_conf_level;

/* A parsed text. Node 0 is the root; n_nodes 0 means an empty text. */
typedef struct weir_conf_tree {
  const char *source; /* name for messages; borrowed */
  weir_conf_node *nodes;
  int64_t n_nodes, nodes_capacity;
  char *text;
  int64_t text_size, text_capacity;
  weir_conf_level stack[WEIR_CONF_DEPTH_LIMIT];
  int depth;
} weir_conf_tree;

void weir_conf_tree_init(weir_conf_tree *tree, const char *source);
void weir_conf_tree_fini(weir_conf_tree *tree);
const char *weir_conf_text(const weir_conf_tree *tree, int64_t node);
/* Builder calls, in the order of the text. The first scalar after an opened mapping is a key.
 * Fails: WEIR_ERR_CONFIG (too deep, too many, a key that is no text, a NUL), WEIR_ERR_MEMORY. */
weir_status weir_conf_open(weir_conf_tree *tree, weir_conf_kind kind, int line,
                           int column) WEIR_CHECKED;
void weir_conf_close(weir_conf_tree *tree);
typedef struct weir_conf_scalar {
  const char *text;
  int64_t size;
  bool plain;
  int line, column;
} weir_conf_scalar;
weir_status weir_conf_add(weir_conf_tree *tree, const weir_conf_scalar *scalar) WEIR_CHECKED;

/* YAML bytes into an initialised tree. Without libyaml: WEIR_ERR_UNSUPPORTED. */
weir_status weir_conf_parse_yaml(const char *bytes, int64_t size,
                                 weir_conf_tree *tree) WEIR_CHECKED;
/* The value of a --set: a scalar to the end of the text, a quoted scalar, [a, b] or {k: v}. */
weir_status weir_conf_parse_flow(const char *text, weir_conf_tree *tree) WEIR_CHECKED;
/* The default of a list row, "1, 2, 3" without brackets. */
weir_status weir_conf_parse_items(const char *text, weir_conf_tree *tree) WEIR_CHECKED;
/* A text file with a number a line, of several columns (comma, semicolon, tab) the last, as a list
 * with the file's lines. Lines that are empty or begin with #, and one of words above the numbers,
 * are skipped. Fails: as weir_file_read and weir_conf_add. */
weir_status weir_conf_parse_list_file(const char *path, weir_conf_tree *tree) WEIR_CHECKED;

/* "source:line:column: key: reason" as a failure; line 0 leaves line and column out, key "" itself.
 */
weir_status weir_conf_refuse(const weir_conf_tree *tree, int line, int column, const char *key,
                             const char *format, ...) WEIR_PRINTF(5, 6);
/* `text` for a message: at most size - 1 bytes, no control characters, no half character. */
const char *weir_conf_show(const char *text, char *out, size_t size);
/* Bytes of the well-formed UTF-8 character at p (of `left` bytes), 0 when there is none; its code
 * point in *code. */
int weir_conf_utf8(const char *p, int64_t left, uint32_t *code);
/* Line and column, both from 1, of byte `offset`. */
void weir_conf_position(const char *bytes, int64_t offset, int *line, int *column);

/* The kind of entry that a path inside a table names. */
typedef enum weir_conf_match {
  WEIR_CONF_UNKNOWN,
  WEIR_CONF_ROW,   /* the row itself                     */
  WEIR_CONF_PREFIX /* the first part of the keys of rows */
} weir_conf_match;
weir_conf_match weir_conf_find(const weir_opt *table, const char *path, const weir_opt **row,
                               bool *by_alias);
/* " (nearest known key: x)", x being of this level or, where one has exactly this name, the whole
 * path of a value in a section; or " (known keys: a, b)" where none is near, for the last part of
 * an unknown path whose first parts are `prefix` ("" at the top of the table). */
void weir_conf_suggest(const weir_opt *table, const char *prefix, const char *name, char *out,
                       size_t size);
/* Edit distance with neighbouring swaps; texts over 63 bytes count as far. */
int weir_conf_distance(const char *a, const char *b);
/* Part of `path` that belongs to the level below `prefix`; false when path is not below it.
 * `last`: it is the whole rest of the path. */
bool weir_conf_component(const char *path, const char *prefix, char *name, size_t size, bool *last);
/* True when a row before `row` lies below the same component `name` of `prefix`. */
bool weir_conf_is_repeated(const weir_opt *table, const weir_opt *row, const char *prefix,
                           const char *name);
/* Index of `name` among "a|b|c", or -1. */
int weir_conf_choice(const char *choices, const char *name);
/* The present name of a former one by "old=new|older=new" (NULL: none) into out; false when `name`
 * is none of the former ones. */
bool weir_conf_choice_alias(const char *aliases, const char *name, char *out, size_t size);
/* The i-th of "a|b|c" into out; false when there is none. */
bool weir_conf_choice_name(const char *choices, int i, char *out, size_t size);

/* Number of the entry of a ONE_OF row with this name, which *out receives; -1 when there is none.
 */
int64_t weir_conf_entry(const weir_opt *row, const char *name, weir_opt_choice *out);
/* " (nearest: x; there are: a, b)" for a name that is no entry of a ONE_OF row. */
void weir_conf_entry_hint(const weir_opt *row, const char *name, char *out, size_t size);

/* Where one value came from. `at` is the address of the member; or of `size` bytes, an entry of a
 * list or the options of a choice, for their entries without a separate origin. */
typedef struct weir_conf_origin {
  const void *at;
  size_t size;
  int source;
  int line, column;
} weir_conf_origin;

struct weir_config {
  const weir_opt *table;
  void *out;
  void **owned;
  int64_t n_owned, owned_capacity;
  weir_conf_origin *origins;
  int64_t n_origins, origins_capacity;
  char **sources; /* file names and --set texts, in order of authority */
  int64_t n_sources, sources_capacity;
};

/* Defaults of a table, lists included, into `base`; the config owns the allocations. */
weir_status weir_conf_defaults(weir_config *config, const weir_opt *table, void *base) WEIR_CHECKED;
/* One more name that values may come from. */
weir_status weir_conf_add_source(weir_config *config, const char *name, int *index) WEIR_CHECKED;
/* Memory that the config frees; like weir_alloc. */
weir_status weir_conf_own(weir_config *config, int64_t count, size_t size, void **out) WEIR_CHECKED;
/* Everything a tree says about the table. `source` indexes config->sources. */
weir_status weir_conf_apply(weir_config *config, int source,
                            const weir_conf_tree *tree) WEIR_CHECKED;
/* One --set: `key` such as "train.lr" or "steps[2].lr" takes the tree's root. */
weir_status weir_conf_apply_set(weir_config *config, int source, const char *key,
                                const weir_conf_tree *tree) WEIR_CHECKED;
/* "file:line:column", or the --set. */
void weir_conf_origin_text(const weir_config *config, const weir_conf_origin *origin, char *out,
                           size_t size);
/* Calls visit with every text that the configuration holds, wherever it stands, until one fails;
 * empty ones are skipped. Fails: as visit. */
weir_status weir_conf_texts(const weir_config *config,
                            weir_status (*visit)(void *context, const char *text),
                            void *context) WEIR_CHECKED;
/* A plain scalar that says nothing: empty, ~ or null. */
bool weir_conf_is_absent(const weir_conf_tree *tree, int64_t node);
/* Range, kind and choices of one scalar into the member at `at`. */
typedef struct weir_conf_target {
  const weir_opt *row;
  void *at;
  const char *path;
} weir_conf_target;
weir_status weir_conf_read_scalar(weir_config *config, const weir_conf_tree *tree, int64_t node,
                                  const weir_conf_target *target) WEIR_CHECKED;

/* Growing text for output. After a failure `status` keeps it and appends do nothing. */
typedef struct weir_conf_buffer {
  char *text;
  int64_t size, capacity;
  weir_status status;
} weir_conf_buffer;
void weir_conf_put(weir_conf_buffer *buffer, const char *format, ...) WEIR_PRINTF(2, 3);
/* A double-quoted YAML scalar. */
void weir_conf_put_quoted(weir_conf_buffer *buffer, const char *text);
/* Value of the row (from the struct at `base`, or the default where base is NULL) as YAML. */
void weir_conf_put_value(weir_conf_buffer *buffer, const weir_opt *row, const void *base);
/* "[lo, hi]", the choices, or "" for text. */
void weir_conf_range_text(const weir_opt *row, char *out, size_t size);
const char *weir_conf_kind_name(weir_opt_kind kind);
/* Writes the text to `out`, frees it. Fails: the buffer's status, or WEIR_ERR_DATA. */
weir_status weir_conf_flush(weir_conf_buffer *buffer, FILE *out) WEIR_CHECKED;

/* ---- Command lines ---- */

struct weir_app;
struct weir_cli;
struct weir_command;
/* weir_cli_main with the streams given, for tests. */
int weir_cli_run(int argc, char **argv, const struct weir_app *app, FILE *out, FILE *err);
/* cli_ranks.c: refuses ranks that the command may not have, of a launcher or of --ranks. Fails:
 * WEIR_ERR_CONFIG. */
weir_status weir_conf_check_ranks(const struct weir_cli *cli,
                                  const struct weir_command *command) WEIR_CHECKED;
/* A common flag, for what is printed of it. Static text. */
typedef struct weir_conf_flag {
  const char *name;  /* without the two hyphens               */
  const char *value; /* FILE, DIR, ..; "": it takes none      */
  const char *help;
  const char *choices; /* "a|b|c": its values; NULL: others, too */
} weir_conf_flag;
/* Flag number i; false past the last one. */
bool weir_conf_flag_at(int i, weir_conf_flag *out);

/* ---- What a program prints of itself: docs/ ---- */

/* Calls visit for every row with its full path; entries of a list of sections stand under
 * "list[].key", those of a registry under "row.entry.key". */
typedef void weir_conf_visit(weir_conf_buffer *buffer, const weir_opt *row, const char *path);
void weir_conf_walk(weir_conf_buffer *buffer, const weir_opt *table, weir_conf_visit *visit);
/* The commands of --help, and the section of the reference page. */
void weir_conf_print_commands(const struct weir_app *app, FILE *out);
void weir_conf_print_commands_markdown(const struct weir_app *app, FILE *out);
/* --help. */
void weir_conf_print_help(const struct weir_app *app, FILE *out);
/* The command `options`: form NULL (help), yaml, markdown, man or completion (of `shell`). Fails:
 * as weir_conf_flush. */
weir_status weir_conf_print_options(const struct weir_app *app, const char *form, const char *shell,
                                    FILE *out) WEIR_CHECKED;
weir_status weir_conf_print_man(const struct weir_app *app, FILE *out) WEIR_CHECKED;
weir_status weir_conf_print_completion(const struct weir_app *app, const char *shell,
                                       FILE *out) WEIR_CHECKED;
/* cli_sets.c: rows of the program's section `grid`, NULL: it has none. */
const weir_opt *weir_conf_grid(const struct weir_app *app);
/* Whether the section has the row that --grid auto sets: by, numbers|auto. */
bool weir_conf_grid_chooses(const weir_opt *section);

#endif
