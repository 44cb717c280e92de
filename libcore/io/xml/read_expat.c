/* read_expat.c - a file of XML by Expat. */
#include <expat.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "io/io_priv.h"
#include "io/xml/weir_xml.h"

enum { PIECE = 65536 };
#define FILE_LIMIT (INT64_C(1) << 31)

void weir_xml_stop(weir_xml *x, weir_status status)
{
  if (x->status == WEIR_OK && status != WEIR_OK) {
    x->status = status;
    (void)XML_StopParser(x->parser, XML_FALSE);
  }
}

static long long line_of(const weir_xml *x)
{
  return (long long)XML_GetCurrentLineNumber(x->parser);
}

void weir_xml_refuse(weir_xml *x, const char *format, ...)
{
  char message[1024];
  va_list list;

  if (x->status != WEIR_OK) {
    return;
  }
  va_start(list, format);
  (void)vsnprintf(message, sizeof message, format, list);
  va_end(list);
  weir_xml_stop(x, weir_fail(WEIR_ERR_DATA, "%s:%lld: %s", x->path, line_of(x), message));
}

static void start_element(void *user, const XML_Char *full, const XML_Char **list)
{
  weir_xml *const x = user;
  const char *const end = strchr(full, '\n');
  const char *const name = end != NULL ? end + 1 : full;
  char space[2 * WEIR_XML_NAME] = "";

  if (x->depth == WEIR_XML_DEPTH) {
    weir_xml_refuse(x, "more than %d elements in each other", WEIR_XML_DEPTH);
    return;
  }
  weir_xml_copy(x->stack[x->depth++], WEIR_XML_NAME, name);
  x->value_size = 0;
  if (end != NULL && (size_t)(end - full) < sizeof space) {
    memcpy(space, full, (size_t)(end - full));
  }
  x->start(x, space, name, list);
}

static void end_element(void *user, const XML_Char *full)
{
  weir_xml *const x = user;

  (void)full;
  if (x->status == WEIR_OK && x->end != NULL) {
    x->end(x, weir_xml_above(x, 0));
  }
  x->value_size = 0;
  x->depth -= x->depth > 0;
}

static void text(void *user, const XML_Char *data, int size)
{
  weir_xml *const x = user;

  if (x->status != WEIR_OK || x->end == NULL) {
    return;
  }
  if (x->text != NULL) {
    x->text(x, data, size);
    return;
  }
  weir_xml_stop(x, weir_reserve(&x->value, &x->value_capacity, x->value_size + size + 1, 1));
  if (x->status == WEIR_OK) {
    memcpy(x->value + x->value_size, data, (size_t)size);
    x->value_size += size;
    x->value[x->value_size] = 0;
  }
}

/* Entities could make a small file a large one. */
static void start_doctype(void *user, const XML_Char *name, const XML_Char *system,
                          const XML_Char *public, int internal)
{
  weir_xml *const x = user;

  (void)name;
  (void)system;
  (void)public;
  if (internal || !x->external_doctype) {
    weir_xml_refuse(x, "%s", "a document type is declared, which such files do not have");
  }
}

static weir_status parse_file(weir_xml *x, int fd, int64_t size)
{
  for (int64_t at = 0; at < size && x->status == WEIR_OK; at += PIECE) {
    const int64_t n = size - at < PIECE ? size - at : PIECE;
    void *const buffer = XML_GetBuffer(x->parser, PIECE);

    if (buffer == NULL) {
      return weir_fail(WEIR_ERR_MEMORY, "%s: no memory for its text", x->path);
    }
    WEIR_TRY(weir_io_pread(fd, x->path, buffer, (size_t)n, at));
    if (XML_ParseBuffer(x->parser, (int)n, at + n == size) != XML_STATUS_OK &&
        x->status == WEIR_OK) {
      if (XML_GetErrorCode(x->parser) == XML_ERROR_ABORTED) {
        return WEIR_OK; /* all that was looked for is found */
      }
      return weir_fail(WEIR_ERR_DATA, "%s:%lld: %s", x->path, line_of(x),
                       XML_ErrorString(XML_GetErrorCode(x->parser)));
    }
  }
  return x->status;
}

static weir_status parse(weir_xml *x, int fd, int64_t size)
{
  if (size > FILE_LIMIT || size == 0) {
    return weir_fail(WEIR_ERR_DATA, "%s: %lld bytes: expected 1 to %lld", x->path, (long long)size,
                     (long long)FILE_LIMIT);
  }
  XML_Parser parser = XML_ParserCreateNS(NULL, '\n');

  if (parser == NULL) {
    return weir_fail(WEIR_ERR_MEMORY, "%s: no memory for its parser", x->path);
  }
  x->parser = parser;
  XML_SetUserData(parser, x);
  XML_SetElementHandler(parser, start_element, end_element);
  XML_SetCharacterDataHandler(parser, text);
  XML_SetStartDoctypeDeclHandler(parser, start_doctype);
  const weir_status status = parse_file(x, fd, size);

  XML_ParserFree(parser);
  x->parser = NULL;
  weir_free(&x->value);
  return status;
}

weir_status weir_xml_read(weir_xml *x, const char *path)
{
  int64_t size = 0;
  int fd = -1;

  x->path = path;
  WEIR_TRY(weir_io_open(path, &fd, &size));
  const weir_status status = parse(x, fd, size);

  close(fd);
  return status;
}

static void keep_root(weir_xml *x, const char *space, const char *name, const char **attributes)
{
  (void)space;
  (void)attributes;
  weir_xml_copy(x->user, WEIR_XML_NAME, name);
  (void)XML_StopParser(x->parser, XML_FALSE);
}

bool weir_xml_root(const char *path, char name[WEIR_XML_NAME])
{
  weir_xml x = {.start = keep_root, .user = name, .external_doctype = true};

  name[0] = 0;
  if (weir_xml_read(&x, path) != WEIR_OK) {
    weir_clear_failure();
  }
  return name[0] != 0;
}
