/* man.c - the manual page of a program, in the macros of man(7). */
#include <ctype.h>
#include <string.h>
#include "base/weir_provenance.h"
#include "conf/conf_priv.h"
#include "conf/weir_cli.h"

/* Text as it is: a hyphen stays one that can be copied, and no line becomes a request. */
static void put_text(weir_conf_buffer *buffer, const char *text)
{
  weir_conf_put(buffer, "\\&");
  for (const char *p = text; *p != 0; p++) {
    switch (*p) {
    case '\\':
      weir_conf_put(buffer, "\\e");
      break;
    case '-':
      weir_conf_put(buffer, "\\-");
      break;
    case '^':
      weir_conf_put(buffer, "\\(ha");
      break;
    case '~':
      weir_conf_put(buffer, "\\(ti");
      break;
    case '`':
      weir_conf_put(buffer, "\\(ga");
      break;
    case '\'':
      weir_conf_put(buffer, "\\(aq");
      break;
    case '\n':
      weir_conf_put(buffer, " ");
      break;
    default:
      weir_conf_put(buffer, "%c", *p);
      break;
    }
  }
}

/* A tagged paragraph: name and value as tag. */
static void put_tag(weir_conf_buffer *buffer, const char *name, const char *value)
{
  weir_conf_put(buffer, ".TP\n\\fB");
  put_text(buffer, name);
  weir_conf_put(buffer, "\\fR");
  if (value != NULL && value[0] != 0) {
    weir_conf_put(buffer, " \\fI");
    put_text(buffer, value);
    weir_conf_put(buffer, "\\fR");
  }
  weir_conf_put(buffer, "\n");
}

static void put_line(weir_conf_buffer *buffer, const char *text)
{
  put_text(buffer, text);
  weir_conf_put(buffer, "\n");
}

static void put_commands(weir_conf_buffer *buffer, const weir_app *app)
{
  weir_conf_put(buffer, ".SH COMMANDS\n");
  for (const weir_command *c = app->commands; c->name != NULL; c++) {
    put_tag(buffer, c->name, c->args);
    put_line(buffer, c->help);
    weir_conf_put(buffer, ".br\n%s%s.\n",
                  c->resumes ? "Resumes when it is repeated in its folder after an interruption"
                             : "Starts again when it is repeated after an interruption",
                  c->ranks == WEIR_ONE_RANK ? "" : "; ranks of mpiexec or srun share its work");
  }
  put_tag(buffer, "options", "");
  put_line(buffer, "print the options of the configuration");
}

static void put_flags(weir_conf_buffer *buffer)
{
  weir_conf_flag flag;

  weir_conf_put(buffer, ".SH FLAGS\n");
  for (int i = 0; weir_conf_flag_at(i, &flag); i++) {
    char name[40];

    (void)snprintf(name, sizeof name, "--%s", flag.name);
    put_tag(buffer, name, flag.value);
    put_line(buffer, flag.help);
  }
}

static void put_row(weir_conf_buffer *buffer, const weir_opt *row, const char *path)
{
  const bool plain_unit = row->unit == NULL || row->unit[0] == 0 || strcmp(row->unit, "1") == 0;
  weir_conf_buffer value = {.status = buffer->status};
  char range[320];

  put_tag(buffer, path, row->kind == WEIR_OPT_KIND_TABLE ? "" : weir_conf_kind_name(row->kind));
  put_line(buffer, row->help == NULL ? "" : row->help);
  if (row->kind == WEIR_OPT_KIND_TABLE) {
    return;
  }
  weir_conf_put_value(&value, row, NULL);
  if (value.status != WEIR_OK) {
    buffer->status = value.status;
    return;
  }
  weir_conf_range_text(row, range, sizeof range);
  weir_conf_put(buffer, ".br\n");
  put_text(buffer, "default ");
  put_text(buffer, value.text);
  weir_free(&value.text);
  put_text(buffer, range[0] == 0 ? "" : "; ");
  put_text(buffer, range);
  put_text(buffer, plain_unit ? "" : "; unit ");
  put_line(buffer, plain_unit ? "" : row->unit);
}

static void put_statuses(weir_conf_buffer *buffer)
{
  char number[16];

  weir_conf_put(buffer, ".SH EXIT STATUS\n");
#define X(name, code, text)                          \
  (void)snprintf(number, sizeof number, "%d", code); \
  put_tag(buffer, number, "");                       \
  put_line(buffer, text);
  WEIR_STATUS_LIST(X)
#undef X
}

weir_status weir_conf_print_man(const weir_app *app, FILE *out)
{
  weir_conf_buffer buffer = {.status = WEIR_OK};
  char title[64];
  size_t n = 0;

  for (; app->name[n] != 0 && n + 1 < sizeof title; n++) {
    title[n] = (char)toupper((unsigned char)app->name[n]);
  }
  title[n] = 0;
  weir_conf_put(&buffer, ".TH \"%s\" 1 \"\" \"weir %s\" \"Weir\"\n.SH NAME\n%s \\- ", title,
                weir_version(), app->name);
  put_line(&buffer, app->summary);
  weir_conf_put(&buffer,
                ".SH SYNOPSIS\n\\fB%s\\fR \\fICOMMAND\\fR [\\fIFLAG\\fR ...]\n"
                ".SH DESCRIPTION\n"
                "A command reads its options from YAML files (\\fB\\-\\-config\\fR) and from\n"
                "\\fB\\-\\-set\\fR \\fIKEY=VALUE\\fR, writes its results to the folder of "
                "\\fB\\-\\-out\\fR,\n"
                "and refuses what it does not know, with file, line and the nearest known key.\n",
                app->name);
  put_commands(&buffer, app);
  put_flags(&buffer);
  weir_conf_put(&buffer, ".SH CONFIGURATION\n"
                         "Keys of YAML files and of \\fB\\-\\-set\\fR; a dot separates a section "
                         "from its keys.\n");
  weir_conf_walk(&buffer, app->opts, put_row);
  put_statuses(&buffer);
  WEIR_TRY(weir_conf_flush(&buffer, out));
  return WEIR_OK;
}
