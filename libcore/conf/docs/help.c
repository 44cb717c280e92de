/* help.c - what --help and the command `options` print. */
#include <string.h>
#include "conf/conf_priv.h"
#include "conf/weir_cli.h"

void weir_conf_print_help(const weir_app *app, FILE *out)
{
  weir_conf_flag flag;

  fprintf(out, "%s - %s\n\nusage: %s COMMAND [flags]\n\n", app->name, app->summary, app->name);
  weir_conf_print_commands(app, out);
  fprintf(out, "\nflags:\n");
  for (int i = 0; weir_conf_flag_at(i, &flag); i++) {
    char name[40];

    (void)snprintf(name, sizeof name, "--%s %s", flag.name, flag.value);
    fprintf(out, "  %-18s %s\n", name, flag.help);
  }
  fprintf(out, "\nexit status:\n");
#define X(name, code, text) fprintf(out, "  %-10d %s\n", code, text);
  WEIR_STATUS_LIST(X)
#undef X
}

weir_status weir_conf_print_options(const weir_app *app, const char *form, const char *shell,
                                    FILE *out)
{
  char title[128];

  if (form == NULL) {
    return weir_opts_print_help(app->opts, out);
  }
  if (strcmp(form, "yaml") == 0) {
    return weir_opts_print_yaml(app->opts, out);
  }
  if (strcmp(form, "man") == 0) {
    return weir_conf_print_man(app, out);
  }
  if (strcmp(form, "completion") == 0) {
    return weir_conf_print_completion(app, shell, out);
  }
  (void)snprintf(title, sizeof title, "Options of %s", app->name);
  WEIR_TRY(weir_opts_print_markdown(app->opts, title, out));
  weir_conf_print_commands_markdown(app, out);
  return WEIR_OK;
}
