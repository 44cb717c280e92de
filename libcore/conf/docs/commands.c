/* commands.c - what a program says of its commands: purpose, ranks, and whether an interrupted
 * one resumes when it is repeated. */
#include "conf/conf_priv.h"
#include "conf/weir_cli.h"

static bool has_ranks(const weir_command *command)
{
  return command->ranks != WEIR_ONE_RANK;
}

static bool has_one_rank(const weir_command *command)
{
  return command->ranks == WEIR_ONE_RANK;
}

static bool resumes(const weir_command *command)
{
  return command->resumes;
}

static bool starts_again(const weir_command *command)
{
  return !command->resumes;
}

/* A line "  TITLE: NAME, NAME"; workflows read these. */
static void print_names(const weir_app *app, const char *title,
                        bool (*counts)(const weir_command *command), FILE *out)
{
  const char *separator = " ";

  fprintf(out, "  %s:", title);
  for (const weir_command *c = app->commands; c->name != NULL; c++) {
    if (counts(c)) {
      fprintf(out, "%s%s", separator, c->name);
      separator = ", ";
    }
  }
  fprintf(out, "\n");
}

void weir_conf_print_commands(const weir_app *app, FILE *out)
{
  fprintf(out, "commands:\n");
  for (const weir_command *c = app->commands; c->name != NULL; c++) {
    fprintf(out, "  %-10s %s%s%s%s\n", c->name, c->help, c->args == NULL ? "" : " (takes ",
            c->args == NULL ? "" : c->args, c->args == NULL ? "" : ")");
  }
  fprintf(out, "  %-10s print the options of the configuration\n", "options");
  fprintf(out, "\nrepeated in its folder after an interruption, a command\n");
  print_names(app, "resumes", resumes, out);
  print_names(app, "starts again", starts_again, out);
  fprintf(out, "\nranks of mpiexec or srun\n");
  print_names(app, "share the work of", has_ranks, out);
  print_names(app, "are refused by", has_one_rank, out);
}

void weir_conf_print_commands_markdown(const weir_app *app, FILE *out)
{
  fprintf(out, "\n## Commands\n\n"
               "| command | purpose | ranks | repeated in its folder after an interruption |\n"
               "| --- | --- | --- | --- |\n");
  for (const weir_command *c = app->commands; c->name != NULL; c++) {
    fprintf(out, "| %s | %s | %s | %s |\n", c->name, c->help, has_ranks(c) ? "several" : "one",
            c->resumes ? "resumes" : "starts again");
  }
}
