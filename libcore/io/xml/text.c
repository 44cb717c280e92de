/* text.c - names, attributes and text of an XML file that is read. */
#include <stdio.h>
#include <string.h>
#include "io/xml/weir_xml.h"

const char *weir_xml_above(const weir_xml *x, int up)
{
  return x->depth > up ? x->stack[x->depth - 1 - up] : "";
}

bool weir_xml_in(const weir_xml *x, const char *parent, const char *grandparent)
{
  return strcmp(weir_xml_above(x, 1), parent) == 0 &&
         (grandparent == NULL || strcmp(weir_xml_above(x, 2), grandparent) == 0);
}

const char *weir_xml_attribute(const char **list, const char *name)
{
  for (; list[0] != NULL; list += 2) {
    if (strcmp(list[0], name) == 0) {
      return list[1];
    }
  }
  return "";
}

void weir_xml_copy(char *to, size_t size, const char *from)
{
  (void)snprintf(to, size, "%.*s", (int)(size - 1), from);
}

void weir_xml_keep(weir_xml *x, char *to, size_t size, const char *from)
{
  if (strlen(from) >= size) {
    weir_xml_refuse(x, "'%.20s...' has %zu characters: expected up to %zu", from, strlen(from),
                    size - 1);
    return;
  }
  weir_xml_copy(to, size, from);
}

const char *weir_xml_trim(weir_xml *x)
{
  static const char blanks[] = " \t\r\n";

  if (x->value == NULL || x->value_size == 0) {
    return "";
  }
  while (x->value_size > 0 && strchr(blanks, x->value[x->value_size - 1]) != NULL) {
    x->value[--x->value_size] = 0;
  }
  return x->value + strspn(x->value, blanks);
}
