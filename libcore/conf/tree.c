/* tree.c - the tree that both parsers build, and the form of every refusal. */
#include "conf/conf_priv.h"
#include <stdarg.h>
#include <string.h>

void weir_conf_tree_init(weir_conf_tree *tree, const char *source)
{
  memset(tree, 0, sizeof *tree);
  tree->source = source;
}

void weir_conf_tree_fini(weir_conf_tree *tree)
{
  weir_free(&tree->nodes);
  weir_free(&tree->text);
  tree->n_nodes = tree->nodes_capacity = 0;
  tree->text_size = tree->text_capacity = 0;
}

const char *weir_conf_text(const weir_conf_tree *tree, int64_t node)
{
  return tree->text + tree->nodes[node].text;
}

const char *weir_conf_show(const char *text, char *out, size_t size)
{
  const int64_t left = (int64_t)strlen(text);
  int64_t from = 0;
  size_t used = 0;

  while (from < left) {
    uint32_t code = 0;
    const int n = weir_conf_utf8(text + from, left - from, &code);
    const bool hidden = n == 0 || code < 0x20 || (code >= 0x7f && code < 0xa0);
    const size_t bytes = hidden ? 1 : (size_t)n;

    if (used + bytes + 4 > size) {
      memcpy(out + used, "...", 3);
      used += 3;
      break;
    }
    if (hidden) {
      out[used] = '?';
    } else {
      memcpy(out + used, text + from, bytes);
    }
    used += bytes;
    from += n == 0 ? 1 : n;
  }
  out[used] = 0;
  return out;
}

weir_status weir_conf_refuse(const weir_conf_tree *tree, int line, int column, const char *key,
                             const char *format, ...)
{
  char reason[768], source[WEIR_CONF_PATH_SIZE], position[32] = "";
  va_list args;

  va_start(args, format);
  (void)vsnprintf(reason, sizeof reason, format, args);
  va_end(args);
  weir_conf_show(tree->source, source, sizeof source);
  if (line > 0) {
    (void)snprintf(position, sizeof position, ":%d:%d", line, column);
  }
  return weir_fail(WEIR_ERR_CONFIG, "%s%s: %s%s%s", source, position, key, key[0] == 0 ? "" : ": ",
                   reason);
}

int weir_conf_utf8(const char *p, int64_t left, uint32_t *code)
{
  const unsigned char *b = (const unsigned char *)p;
  static const uint32_t min_code[5] = {0, 0, 0x80, 0x800, 0x10000};

  if (left <= 0) {
    return 0;
  }
  const int n = b[0] < 0x80   ? 1
                : b[0] < 0xc0 ? 0
                : b[0] < 0xe0 ? 2
                : b[0] < 0xf0 ? 3
                : b[0] < 0xf8 ? 4
                              : 0;
  if (n == 0 || n > left) {
    return 0;
  }
  uint32_t value = n == 1 ? b[0] : b[0] & (0x7fu >> n);
  for (int i = 1; i < n; i++) {
    if ((b[i] & 0xc0) != 0x80) {
      return 0;
    }
    value = value << 6 | (b[i] & 0x3fu);
  }
  if (value < min_code[n] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) {
    return 0;
  }
  *code = value;
  return n;
}

void weir_conf_position(const char *bytes, int64_t offset, int *line, int *column)
{
  *line = 1;
  *column = 1;
  for (int64_t i = 0; i < offset; i++) {
    const unsigned char c = (unsigned char)bytes[i];

    if (c == '\n') {
      *line += 1;
      *column = 1;
    } else if ((c & 0xc0) != 0x80) {
      *column += 1;
    }
  }
}

/* Appends a node below the innermost open one. */
static weir_status append(weir_conf_tree *tree, const weir_conf_node *node)
{
  weir_conf_level *top = tree->depth > 0 ? &tree->stack[tree->depth - 1] : NULL;
  const int64_t index = tree->n_nodes;

  if (index >= WEIR_CONF_NODE_LIMIT) {
    return weir_conf_refuse(tree, node->line, node->column, "", "more than %d keys and values",
                            WEIR_CONF_NODE_LIMIT);
  }
  WEIR_TRY(weir_reserve(&tree->nodes, &tree->nodes_capacity, index + 1, sizeof *tree->nodes));
  tree->nodes[index] = *node;
  tree->nodes[index].key = top == NULL ? -1 : top->key;
  tree->n_nodes = index + 1;
  if (top == NULL) {
    return WEIR_OK;
  }
  weir_conf_node *parent = &tree->nodes[top->node];
  if (parent->kind == WEIR_CONF_MAPPING && top->key < 0) {
    if (node->kind != WEIR_CONF_SCALAR) {
      return weir_conf_refuse(tree, node->line, node->column, "", "a key must be text");
    }
    top->key = index;
    return WEIR_OK;
  }
  if (top->last < 0) {
    parent->first = index;
  } else {
    tree->nodes[top->last].next = index;
  }
  parent->count++;
  top->last = index;
  top->key = -1;
  return WEIR_OK;
}

weir_status weir_conf_open(weir_conf_tree *tree, weir_conf_kind kind, int line, int column)
{
  const weir_conf_node node = {
      .kind = kind, .line = line, .column = column, .text = -1, .key = -1, .first = -1, .next = -1};

  if (tree->depth >= WEIR_CONF_DEPTH_LIMIT) {
    return weir_conf_refuse(tree, line, column, "", "lists and mappings nested deeper than %d",
                            WEIR_CONF_DEPTH_LIMIT);
  }
  WEIR_TRY(append(tree, &node));
  tree->stack[tree->depth++] = (weir_conf_level){.node = tree->n_nodes - 1, .last = -1, .key = -1};
  return WEIR_OK;
}

void weir_conf_close(weir_conf_tree *tree)
{
  WEIR_ASSERT(tree->depth > 0);
  tree->depth--;
}

weir_status weir_conf_add(weir_conf_tree *tree, const weir_conf_scalar *scalar)
{
  const weir_conf_node node = {.kind = WEIR_CONF_SCALAR,
                               .plain = scalar->plain,
                               .line = scalar->line,
                               .column = scalar->column,
                               .text = tree->text_size,
                               .key = -1,
                               .first = -1,
                               .next = -1};
  const int64_t size = scalar->size;

  if (size > 0 && memchr(scalar->text, 0, (size_t)size) != NULL) {
    return weir_conf_refuse(tree, scalar->line, scalar->column, "", "a text contains a NUL byte");
  }
  WEIR_TRY(weir_reserve(&tree->text, &tree->text_capacity, tree->text_size + size + 1, 1));
  if (size > 0) {
    memcpy(tree->text + tree->text_size, scalar->text, (size_t)size);
  }
  tree->text[tree->text_size + size] = 0;
  tree->text_size += size + 1;
  return append(tree, &node);
}
