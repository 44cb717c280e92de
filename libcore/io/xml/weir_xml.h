/* weir_xml.h - files of XML by Expat, element by element, with what every format refuses: elements
 * nested without end, entities of their own, files without end. */
#ifndef WEIR_XML_H
#define WEIR_XML_H
#include <stdbool.h>
#include <stdint.h>
#include "base/weir_status.h"

enum { WEIR_XML_DEPTH = 64, WEIR_XML_NAME = 40 };

/* A file that is read. The caller sets the first part, all else zero. */
typedef struct weir_xml {
  /* An element begins; `space` is its namespace, "" without one; names and values by turns, a NULL
   * at the end. */
  void (*start)(struct weir_xml *x, const char *space, const char *name, const char **attributes);
  void (*end)(struct weir_xml *x, const char *name);
  /* A piece of text. NULL: it is kept in `value`. */
  void (*text)(struct weir_xml *x, const char *data, int size);
  void *user;
  bool external_doctype; /* a document type of another file may be named, which is not read */

  const char *path;
  weir_status status; /* the first failure */
  char stack[WEIR_XML_DEPTH][WEIR_XML_NAME];
  int depth;   /* elements open */
  char *value; /* in `end`: text since the last tag, that of an element without others in it;
                  NUL-terminated, NULL where there is none */
  int64_t value_size, value_capacity;
  void *parser;
} weir_xml;

/* Reads a file, in UTF-8, UTF-16, ISO 8859-1 or ASCII. Fails: WEIR_ERR_DATA as "path:line: reason",
 * with the status of weir_xml_stop, WEIR_ERR_MEMORY, WEIR_ERR_UNSUPPORTED in a build without Expat
 * (where the file exists). */
weir_status weir_xml_read(weir_xml *x, const char *path) WEIR_CHECKED;
/* Reads the name of the root element; false where the file cannot be read or is no XML, and in a
 * build without Expat. */
bool weir_xml_root(const char *path, char name[WEIR_XML_NAME]);

/* Keeps the first failure, and ends the reading. */
void weir_xml_stop(weir_xml *x, weir_status status);
/* The same with WEIR_ERR_DATA and a message, "path:line: " before it; a later one is not kept. */
void weir_xml_refuse(weir_xml *x, const char *format, ...) WEIR_PRINTF(2, 3);
/* Name of the element `up` above the innermost one, "" above the root. */
const char *weir_xml_above(const weir_xml *x, int up);
/* True where the innermost element stands in `parent`, and that one in `grandparent` (NULL: any).
 */
bool weir_xml_in(const weir_xml *x, const char *parent, const char *grandparent);
/* An attribute without a namespace; "" where it is not there. */
const char *weir_xml_attribute(const char **list, const char *name);
/* Copies `from`, cut to `size` bytes with its end. */
void weir_xml_copy(char *to, size_t size, const char *from);
/* Copies a value of the file; one that does not fit `size` bytes with its end is refused. */
void weir_xml_keep(weir_xml *x, char *to, size_t size, const char *from);
/* The kept text without blanks at its ends; "" where there is none. */
const char *weir_xml_trim(weir_xml *x);
/* Decodes the kept text as base64, blanks left out, in its own memory: returns the number of bytes,
 * -1 for other text. *out is borrowed until the handler returns. */
int64_t weir_xml_base64(weir_xml *x, const uint8_t **out);
#endif
