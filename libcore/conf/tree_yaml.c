/* tree_yaml.c - YAML by libyaml's events. Anchors, aliases and tags are refused: a configuration
 * needs none, and without aliases the tree is never larger than its text. */
#include "conf/conf_priv.h"
#include <stdio.h>
#include <string.h>
#include <yaml.h>

static int line_of(const yaml_mark_t *mark)
{
  return (int)mark->line + 1;
}

static int column_of(const yaml_mark_t *mark)
{
  return (int)mark->column + 1;
}

static weir_status syntax_error(const yaml_parser_t *parser, const char *bytes,
                                const weir_conf_tree *tree)
{
  const char *problem = parser->problem == NULL ? "malformed" : parser->problem;

  if (parser->error == YAML_MEMORY_ERROR) {
    return weir_fail(WEIR_ERR_MEMORY, "%s: out of memory in the YAML parser", tree->source);
  }
  if (parser->error == YAML_READER_ERROR) {
    int line, column;

    weir_conf_position(bytes, (int64_t)parser->problem_offset, &line, &column);
    return weir_conf_refuse(tree, line, column, "", "not YAML: %s", problem);
  }
  const yaml_mark_t *mark = &parser->problem_mark;
  if (parser->context != NULL) {
    return weir_conf_refuse(
        tree, line_of(mark), column_of(mark), "", "not YAML: %s begun at %d:%d, %s",
        parser->context, line_of(&parser->context_mark), column_of(&parser->context_mark), problem);
  }
  return weir_conf_refuse(tree, line_of(mark), column_of(mark), "", "not YAML: %s", problem);
}

static weir_status refuse_marks(const weir_conf_tree *tree, const yaml_mark_t *mark,
                                const yaml_char_t *anchor, const yaml_char_t *tag)
{
  if (anchor != NULL) {
    return weir_conf_refuse(tree, line_of(mark), column_of(mark), "",
                            "anchors (&name) are not supported: write the value out");
  }
  if (tag != NULL) {
    return weir_conf_refuse(tree, line_of(mark), column_of(mark), "",
                            "tags (!name) are not supported: the key determines the type");
  }
  return WEIR_OK;
}

static weir_status take_scalar(const yaml_event_t *event, weir_conf_tree *tree)
{
  const yaml_mark_t *mark = &event->start_mark;
  const weir_conf_scalar scalar = {.text = (const char *)event->data.scalar.value,
                                   .size = (int64_t)event->data.scalar.length,
                                   .plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE,
                                   .line = line_of(mark),
                                   .column = column_of(mark)};

  WEIR_TRY(refuse_marks(tree, mark, event->data.scalar.anchor, event->data.scalar.tag));
  return weir_conf_add(tree, &scalar);
}

static weir_status take_event(const yaml_event_t *event, weir_conf_tree *tree)
{
  const yaml_mark_t *mark = &event->start_mark;

  switch (event->type) {
  case YAML_ALIAS_EVENT:
    return weir_conf_refuse(tree, line_of(mark), column_of(mark), "",
                            "aliases (*name) are not supported: write the value out");
  case YAML_SCALAR_EVENT:
    return take_scalar(event, tree);
  case YAML_SEQUENCE_START_EVENT:
    WEIR_TRY(refuse_marks(tree, mark, event->data.sequence_start.anchor,
                          event->data.sequence_start.tag));
    return weir_conf_open(tree, WEIR_CONF_SEQUENCE, line_of(mark), column_of(mark));
  case YAML_MAPPING_START_EVENT:
    WEIR_TRY(
        refuse_marks(tree, mark, event->data.mapping_start.anchor, event->data.mapping_start.tag));
    return weir_conf_open(tree, WEIR_CONF_MAPPING, line_of(mark), column_of(mark));
  case YAML_SEQUENCE_END_EVENT:
  case YAML_MAPPING_END_EVENT:
    weir_conf_close(tree);
    return WEIR_OK;
  case YAML_DOCUMENT_START_EVENT:
    if (tree->n_nodes > 0) {
      return weir_conf_refuse(tree, line_of(mark), column_of(mark), "",
                              "a second document (---): use one file per configuration");
    }
    return WEIR_OK;
  default:
    return WEIR_OK;
  }
}

weir_status weir_conf_parse_yaml(const char *bytes, int64_t size, weir_conf_tree *tree)
{
  const char *nul = size > 0 ? memchr(bytes, 0, (size_t)size) : NULL;
  weir_status status = WEIR_OK;
  yaml_parser_t parser;
  bool more = true;

  if (nul != NULL) {
    int line, column;

    weir_conf_position(bytes, nul - bytes, &line, &column);
    return weir_conf_refuse(
        tree, line, column, "",
        "the file contains a NUL byte, so it is not UTF-8 text: save it as UTF-8");
  }
  if (!yaml_parser_initialize(&parser)) {
    return weir_fail(WEIR_ERR_MEMORY, "%s: out of memory in the YAML parser", tree->source);
  }
  yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&parser, (const unsigned char *)bytes, (size_t)size);
  while (more) {
    yaml_event_t event;

    if (!yaml_parser_parse(&parser, &event)) {
      status = syntax_error(&parser, bytes, tree);
      break;
    }
    more = event.type != YAML_STREAM_END_EVENT;
    status = take_event(&event, tree);
    yaml_event_delete(&event);
    if (status != WEIR_OK) {
      break;
    }
  }
  yaml_parser_delete(&parser);
  return status;
}
