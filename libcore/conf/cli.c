/* cli.c - commands and common flags, by getopt_long. */
#include "conf/weir_cli.h"
#include "base/weir_alloc.h"
#include "base/weir_dir_lock.h"
#include "base/weir_file.h"
#include "base/weir_provenance.h"
#include "conf/conf_priv.h"
#include <errno.h>
#include <getopt.h>
#include <string.h>

typedef enum flag {
  FLAG_CONFIG = 256,
  FLAG_SET,
  FLAG_OUT,
  FLAG_INPUT,
  FLAG_SEED,
  FLAG_GRID,
  FLAG_DEVICE,
  FLAG_THREADS,
  FLAG_RANKS,
  FLAG_LOG,
  FLAG_OVERWRITE,
  FLAG_ALL,
  FLAG_VERSION,
  FLAG_HELP,
  FLAG_YAML,
  FLAG_MARKDOWN,
  FLAG_MAN,
  FLAG_COMPLETION
} flag;

/* One row a flag: what getopt reads and what is printed of it. */
typedef struct flag_row {
  struct option option;
  const char *value, *help;
  const char *choices; /* "a|b|c": the values; NULL: others, too */
} flag_row;

// clang-format off
static const flag_row flags[] = {
  {{"config", required_argument, NULL, FLAG_CONFIG}, "FILE", "configuration file; repeatable, later files take precedence", NULL},
  {{"set", required_argument, NULL, FLAG_SET}, "KEY=VALUE", "value of one option; repeatable, takes precedence over files", NULL},
  {{"input", required_argument, NULL, FLAG_INPUT}, "WHAT", "input file, or - or an address for live input", NULL},
  {{"out", required_argument, NULL, FLAG_OUT}, "DIR", "output folder", NULL},
  {{"seed", required_argument, NULL, FLAG_SEED}, "N", "random seed", NULL},
  {{"grid", required_argument, NULL, FLAG_GRID}, "NxM..|auto", "ranks along each dimension, in the order of the section grid; 0: remaining ranks", NULL},
  {{"device", required_argument, NULL, FLAG_DEVICE}, "NAME", "compute device, one that --version lists (default cpu)", NULL},
  {{"threads", required_argument, NULL, FLAG_THREADS}, "N", "number of threads of each rank (default: all cores)", NULL},
  {{"ranks", required_argument, NULL, FLAG_RANKS}, "N", "run on N ranks that are threads of this process, without mpiexec", NULL},
  {{"log", required_argument, NULL, FLAG_LOG}, "LEVEL", "log level: error, warn, info or debug (default info)", "error|warn|info|debug"},
  {{"overwrite", no_argument, NULL, FLAG_OVERWRITE}, "", "replace the results of an earlier run in DIR", NULL},
  {{"all", no_argument, NULL, FLAG_ALL}, "", "with describe: print options at their defaults, arrays and plans, too", NULL},
  {{"version", no_argument, NULL, FLAG_VERSION}, "", "print version, libraries of this build and devices", NULL},
  {{"help", no_argument, NULL, FLAG_HELP}, "", "print this help", NULL},
  {{"yaml", no_argument, NULL, FLAG_YAML}, "", "with options: print a commented, complete configuration", NULL},
  {{"markdown", no_argument, NULL, FLAG_MARKDOWN}, "", "with options: print the reference page", NULL},
  {{"man", no_argument, NULL, FLAG_MAN}, "", "with options: print the manual page", NULL},
  {{"completion", required_argument, NULL, FLAG_COMPLETION}, "SHELL", "with options: print the completion script of bash or zsh", "bash|zsh"},
};
// clang-format on
enum { FLAG_COUNT = sizeof flags / sizeof flags[0], MAX_RANKS = 1024 };

bool weir_conf_flag_at(int i, weir_conf_flag *out)
{
  if (i < 0 || i >= FLAG_COUNT) {
    return false;
  }
  *out = (weir_conf_flag){.name = flags[i].option.name,
                          .value = flags[i].value,
                          .help = flags[i].help,
                          .choices = flags[i].choices};
  return true;
}

/* The command line with the memory that it needs in addition to argv. */
typedef struct parsed {
  weir_cli cli;
  const char **texts; /* memory of configs, sets, args, and of the copy that getopt reorders */
  const char **configs, **sets, **args;
  bool help, version;
  const char *form, *shell; /* of what `options` prints: yaml, markdown, man or completion */
  bool forms;               /* more than one is given */
} parsed;

static weir_status usage_error(const weir_app *app, const char *what, const char *text,
                               const char *hint)
{
  char shown[WEIR_CONF_SHOW_SIZE];

  return weir_fail(WEIR_ERR_CONFIG, "%s: %s%s%s (%s --help lists commands and flags)", what,
                   weir_conf_show(text, shown, sizeof shown), hint[0] == 0 ? "" : ": ", hint,
                   app->name);
}

/* The known name nearest to `text`, as a hint; "" when none is near. */
typedef struct nearest {
  const char *text;
  const char *name;
  int distance;
} nearest;

static void offer(nearest *n, const char *name)
{
  const int distance = weir_conf_distance(n->text, name);

  if (distance < n->distance && 2 * distance <= (int)strlen(name) + 1) {
    n->distance = distance;
    n->name = name;
  }
}

static weir_status unknown_flag(const weir_app *app, const char *text)
{
  char bare[64], hint[96] = "unknown flag";
  const char *start = text + strspn(text, "-");
  nearest n = {.text = bare, .name = NULL, .distance = 64};

  (void)snprintf(bare, sizeof bare, "%.*s", (int)strcspn(start, "="), start);
  for (int i = 0; i < FLAG_COUNT; i++) {
    offer(&n, flags[i].option.name);
  }
  if (n.name != NULL) {
    (void)snprintf(hint, sizeof hint, "unknown flag (nearest: --%s)", n.name);
  }
  return usage_error(app, "command line", text, hint);
}

static const weir_command *find_command(const weir_app *app, const char *name)
{
  for (const weir_command *v = app->commands; v->name != NULL; v++) {
    if (strcmp(v->name, name) == 0) {
      return v;
    }
  }
  return NULL;
}

static weir_status unknown_command(const weir_app *app, const char *text)
{
  char hint[96] = "unknown command";
  nearest n = {.text = text, .name = NULL, .distance = 64};

  for (const weir_command *v = app->commands; v->name != NULL; v++) {
    offer(&n, v->name);
  }
  offer(&n, "options");
  if (n.name != NULL) {
    (void)snprintf(hint, sizeof hint, "unknown command (nearest: %s)", n.name);
  }
  return usage_error(app, "command line", text, hint);
}

/* A whole number in [0, max] that follows a flag. */
static weir_status read_count(const weir_app *app, const char *name, const char *text, int64_t max,
                              int64_t *out)
{
  const weir_number_result result = weir_number_int(text, out);
  char hint[96];

  if (result != WEIR_NUMBER_OK) {
    return usage_error(app, name, text,
                       result == WEIR_NUMBER_NOT ? "is not a whole number"
                                                 : weir_number_reason(result));
  }
  if (*out < 0 || *out > max) {
    (void)snprintf(hint, sizeof hint, "is outside [0, %lld]", (long long)max);
    return usage_error(app, name, text, hint);
  }
  return WEIR_OK;
}

/* Numbers with an x between them, no more than the section begins with; or auto. */
static weir_status check_grid(const weir_app *app, const char *text)
{
  const weir_opt *section = weir_conf_grid(app);
  int64_t rows = 0, numbers = 0;

  while (section != NULL && section[rows].kind == WEIR_OPT_KIND_INT) {
    rows++;
  }
  if (rows == 0) {
    return usage_error(app, "--grid", text, "this program is not sharded in space");
  }
  if (strcmp(text, "auto") == 0 && weir_conf_grid_chooses(section)) {
    return WEIR_OK;
  }
  for (const char *at = text; numbers >= 0; at++) {
    const size_t digits = strspn(at, "0123456789");

    numbers = digits > 0 && numbers < rows ? numbers + 1 : -1;
    at += digits;
    if (*at == 0) {
      break;
    }
    numbers = *at == 'x' ? numbers : -1;
  }
  return numbers > 0 ? WEIR_OK
                     : usage_error(app, "--grid", text,
                                   "is not a grid: give numbers of ranks separated by x, such as "
                                   "2x4, at most one for each row of the section grid");
}

/* All flags with a value but --config and --set count once: the one before would be lost unsaid. */
static weir_status refuse_second(const weir_app *app, int which, const char *name,
                                 const char *value)
{
  char shown[32], hint[192];

  (void)snprintf(shown, sizeof shown, "--%s", name);
  if (which == FLAG_INPUT && app->inputs_key != NULL) {
    (void)snprintf(hint, sizeof hint, "is given twice: name several with --set '%s=[A, B]'",
                   app->inputs_key);
    return usage_error(app, shown, value, hint);
  }
  return usage_error(app, shown, value, "is given twice: give it once");
}

static void take_form(parsed *p, const char *form)
{
  p->forms = p->forms || (p->form != NULL && strcmp(p->form, form) != 0);
  p->form = form;
}

static weir_status take_value(const weir_app *app, parsed *p, int which, const char *value)
{
  weir_cli *cli = &p->cli;
  int64_t count = 0;

  switch (which) {
  case FLAG_CONFIG:
    p->configs[cli->n_configs++] = value;
    return WEIR_OK;
  case FLAG_SET:
    p->sets[cli->n_sets++] = value;
    return WEIR_OK;
  case FLAG_OUT:
    cli->out = value;
    return value[0] != 0 ? WEIR_OK : usage_error(app, "--out", "\"\"", "is not a folder");
  case FLAG_INPUT:
    cli->input = value;
    return app->input_key != NULL
               ? WEIR_OK
               : usage_error(app, "--input", value, "this program takes no input");
  case FLAG_SEED:
    cli->has_seed = true;
    return read_count(app, "--seed", value, INT64_MAX, &cli->seed);
  case FLAG_GRID:
    cli->grid = value;
    return check_grid(app, value);
  case FLAG_DEVICE:
    cli->device = value;
    return value[0] != 0 && strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(value)
               ? WEIR_OK
               : usage_error(app, "--device", value, "is not the name of a device");
  case FLAG_THREADS:
    WEIR_TRY(read_count(app, "--threads", value, 4096, &count));
    cli->threads = (int)count;
    return WEIR_OK;
  case FLAG_RANKS:
    WEIR_TRY(read_count(app, "--ranks", value, MAX_RANKS, &count));
    cli->ranks = (int)count;
    return count > 0 ? WEIR_OK : usage_error(app, "--ranks", value, "is no number of ranks");
  case FLAG_LOG:
    return weir_log_level_find(value, &cli->log);
  case FLAG_COMPLETION:
    take_form(p, "completion");
    p->shell = value;
    return strcmp(value, "bash") == 0 || strcmp(value, "zsh") == 0
               ? WEIR_OK
               : usage_error(app, "--completion", value, "is no shell: give bash or zsh");
  default:
    return WEIR_OK;
  }
}

static void take_switch(parsed *p, int which)
{
  p->cli.overwrite = p->cli.overwrite || which == FLAG_OVERWRITE;
  p->cli.all = p->cli.all || which == FLAG_ALL;
  p->version = p->version || which == FLAG_VERSION;
  p->help = p->help || which == FLAG_HELP;
  if (which == FLAG_YAML || which == FLAG_MARKDOWN || which == FLAG_MAN) {
    take_form(p, which == FLAG_YAML ? "yaml" : which == FLAG_MAN ? "man" : "markdown");
  }
}

/* getopt_long accepts any unambiguous beginning of a name; a script that relies on one would break
 * when a flag is added, so only whole names pass. */
static bool is_whole_name(const char *text, const char *name)
{
  const size_t n = strlen(name);

  return strncmp(text, "--", 2) == 0 && strncmp(text + 2, name, n) == 0 &&
         (text[2 + n] == 0 || text[2 + n] == '=');
}

/* What getopt_long did not accept: `text`, or a letter of it where that is a cluster "-xy". */
static weir_status refused_flag(const weir_app *app, const char *text)
{
  const char letter[3] = {'-', (char)optopt, 0};

  for (int i = 0; i < FLAG_COUNT; i++) {
    if (is_whole_name(text, flags[i].option.name)) {
      return usage_error(app, "command line", text, "takes no value");
    }
  }
  return unknown_flag(app, optopt > 0 && optopt < FLAG_CONFIG ? letter : text);
}

static weir_status read_flags(int argc, char **argv, const weir_app *app, parsed *p)
{
  struct option table[FLAG_COUNT + 1];
  bool seen[FLAG_COUNT] = {false};

  memset(table, 0, sizeof table);
  for (int i = 0; i < FLAG_COUNT; i++) {
    table[i] = flags[i].option;
  }
  opterr = 0;
  optind = 0; /* begin again: a test parses many command lines */
  for (;;) {
    int index = -1;
    const int which = getopt_long(argc, argv, ":", table, &index);

    if (which == -1) {
      break;
    }
    const char *last = argv[optind - 1];
    if (which == ':') {
      return usage_error(app, "command line", last, "needs a value");
    }
    if (which == '?' || index < 0) {
      return refused_flag(app, last);
    }
    const bool separate = optarg != NULL && optarg == last;
    const char *text = separate ? argv[optind - 2] : last;
    if (!is_whole_name(text, table[index].name)) {
      return unknown_flag(app, text);
    }
    if (optarg != NULL && seen[index] && which != FLAG_CONFIG && which != FLAG_SET) {
      return refuse_second(app, which, table[index].name, optarg);
    }
    seen[index] = true;
    if (optarg != NULL) {
      WEIR_TRY(take_value(app, p, which, optarg));
    } else {
      take_switch(p, which);
    }
  }
  for (int i = optind; i < argc; i++) {
    p->args[p->cli.n_args++] = argv[i];
  }
  return WEIR_OK;
}

/* One of the words "a|b|c" must follow, and nothing else. */
static weir_status check_word(const weir_app *app, const weir_command *command, const parsed *p)
{
  enum { WORDS = 16, SIZE = 256 };
  char list[SIZE], hint[2 * SIZE], *rest = list;
  const char *words[WORDS];
  int64_t n = 0;

  (void)snprintf(list, sizeof list, "%s", command->args);
  for (char *word = strtok_r(list, "|", &rest); word != NULL && n < WORDS;
       word = strtok_r(NULL, "|", &rest)) {
    words[n++] = word;
  }
  if (p->cli.n_args == 0) {
    return weir_fail(WEIR_ERR_CONFIG, "%s: an argument is missing: give one of %s", command->name,
                     command->args);
  }
  if (p->cli.n_args > 1) {
    return usage_error(app, command->name, p->cli.args[1], "takes one argument only");
  }
  nearest near = {.text = p->cli.args[0], .name = NULL, .distance = 64};
  for (int64_t i = 0; i < n; i++) {
    if (strcmp(p->cli.args[0], words[i]) == 0) {
      return WEIR_OK;
    }
    offer(&near, words[i]);
  }
  (void)snprintf(hint, sizeof hint,
                 near.name != NULL ? "is unknown: give one of %s (nearest: %s)"
                                   : "is unknown: give one of %s",
                 command->args, near.name);
  return usage_error(app, command->name, p->cli.args[0], hint);
}

/* The first word is the command, the others its arguments. */
bool weir_cli_is(const weir_cli *cli, const char *command)
{
  return strcmp(cli->command, command) == 0;
}

static weir_status read_command(const weir_app *app, parsed *p)
{
  weir_cli *cli = &p->cli;

  if (cli->n_args == 0) {
    return weir_fail(WEIR_ERR_CONFIG, "no command given (%s --help lists commands and flags)",
                     app->name);
  }
  cli->command = cli->args[0];
  cli->args++;
  cli->n_args--;
  const bool is_options = weir_cli_is(cli, "options");
  const weir_command *command = find_command(app, cli->command);
  if (command == NULL && !is_options) {
    return unknown_command(app, cli->command);
  }
  if (cli->n_args > 0 && (command == NULL || command->args == NULL)) {
    return usage_error(app, cli->command, cli->args[0],
                       command != NULL && app->input_key != NULL
                           ? "the command takes no arguments: name the input with --input"
                           : "the command takes no arguments");
  }
  if (command != NULL && command->args != NULL && strchr(command->args, '|') != NULL) {
    WEIR_TRY(check_word(app, command, p));
  }
  if (p->form != NULL && !is_options) {
    char name[32];

    (void)snprintf(name, sizeof name, "--%s", p->form);
    return usage_error(app, cli->command, name, "is a flag of the command options");
  }
  if (p->forms) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "options: give one of --yaml, --markdown, --man and --completion");
  }
  if (cli->all && !weir_cli_is(cli, "describe")) {
    return usage_error(app, cli->command, "--all", "is a flag of the command describe");
  }
  return WEIR_OK;
}

static weir_status parse(int argc, char **argv, const weir_app *app, parsed *p)
{
  void *memory = NULL;

  memset(p, 0, sizeof *p);
  WEIR_TRY(weir_alloc(4 * ((int64_t)argc + 1), sizeof *p->texts, &memory));
  p->texts = memory;
  char **copy = memory;
  p->configs = p->texts + (argc + 1);
  p->sets = p->configs + (argc + 1);
  p->args = p->sets + (argc + 1);
  for (int i = 0; i < argc; i++) {
    copy[i] = argv[i];
  }
  p->cli = (weir_cli){.app = app,
                      .configs = p->configs,
                      .sets = p->sets,
                      .args = p->args,
                      .log = WEIR_LOG_INFO,
                      .argc = argc,
                      .argv = (const char *const *)argv};
  WEIR_TRY(read_flags(argc, copy, app, p));
  if (p->help || p->version) {
    return WEIR_OK;
  }
  WEIR_TRY(read_command(app, p));
  return WEIR_OK;
}

/* A table that did not reach the disk or the pipe is a failure of the program. */
static weir_status check_output(const weir_app *app, FILE *out)
{
  if (fflush(out) != 0 || ferror(out) != 0) {
    return weir_output_failed(app->name, errno);
  }
  return WEIR_OK;
}

static weir_status perform(const parsed *p, FILE *out)
{
  const weir_app *app = p->cli.app;

  if (p->help || p->version) {
    if (p->help) {
      weir_conf_print_help(app, out);
    } else {
      fprintf(out, "%s %s\n%s", app->name, weir_version(), weir_build_text());
      if (app->print_machine != NULL) {
        WEIR_TRY(app->print_machine(out));
      }
    }
    return check_output(app, out);
  }
  weir_log_set_level(p->cli.log);
  if (strcmp(p->cli.command, "options") == 0 && find_command(app, "options") == NULL) {
    return weir_conf_print_options(app, p->form, p->shell, out);
  }
  const weir_command *const command = find_command(app, p->cli.command);

  WEIR_TRY(weir_conf_check_ranks(&p->cli, command));
  WEIR_TRY(weir_signal_install());
  WEIR_TRY(command->run(&p->cli));
  return check_output(app, out);
}

/* The call stack says nothing to a person whose configuration or input is wrong, who asks for more
 * memory or space than there is or for what this build has not, or who stopped the program, which
 * is no failure. */
static void print_failure(weir_status status, weir_log_level level, FILE *err)
{
  const bool plain = status != WEIR_ERR_EXTERNAL && status != WEIR_OK;

  if (status == WEIR_ERR_STOPPED && level != WEIR_LOG_DEBUG) {
    fprintf(err, "%s\n", weir_last_message());
  } else if (plain && level != WEIR_LOG_DEBUG) {
    weir_print_failure(err);
  } else {
    weir_print_trace(err);
  }
}

/* For want of space, or of a name that is not taken, a run leaves nothing but its log, and that
 * goes, too, where earlier results have their names again. */
static void end_run(weir_status status, const weir_cli *cli)
{
  const bool undone =
      status == WEIR_ERR_SPACE || (status == WEIR_ERR_CONFIG && weir_writer_refused());

  if (undone && cli->out != NULL && weir_writer_undo(cli->out) > 0) {
    weir_events_close();
    weir_info("conf", "the earlier results in %s are unchanged", cli->out);
  }
  weir_writer_remember(false);
  weir_writer_spare_none();
}

int weir_cli_run(int argc, char **argv, const weir_app *app, FILE *out, FILE *err)
{
  weir_status status = WEIR_OK;
  parsed p;

  weir_clear_failure();
  WEIR_TRY_GOTO(parse(argc, argv, app, &p), done);
  WEIR_TRY_GOTO(perform(&p, out), done);
  WEIR_TRY_GOTO(weir_events_status(), done);
done:
  if (status != WEIR_OK) {
    weir_writer_remove_all(); /* first: space for the event */
  }
  end_run(status, &p.cli);
  if (status != WEIR_OK) {
    weir_event("failed", WEIR_INT("status", status), WEIR_TEXT("message", weir_last_message()));
    print_failure(status, p.cli.log, err);
  }
  weir_events_close();
  weir_dir_lock_release();
  weir_free(&p.texts);
  return (int)status;
}

int weir_cli_main(int argc, char **argv, const weir_app *app)
{
  return weir_cli_run(argc, argv, app, stdout, stderr);
}
