/* completion.c - scripts by which bash and zsh complete commands, flags, keys and values. */
#include <string.h>
#include "conf/conf_priv.h"
#include "conf/weir_cli.h"

/* A key that --set takes as it is printed: not one of an entry of a list, which has a number. */
static bool is_settable(const weir_opt *row, const char *path)
{
  return row->kind != WEIR_OPT_KIND_TABLE && strchr(path, '[') == NULL;
}

/* The words of "a|b|c", each after a blank but the first. */
static void put_words(weir_conf_buffer *buffer, const char *choices)
{
  for (const char *p = choices; *p != 0; p++) {
    weir_conf_put(buffer, "%c", *p == '|' ? ' ' : *p);
  }
}

/* Values of a row where these are known names, separated by blanks; false: there are none. */
static bool put_values(weir_conf_buffer *buffer, const weir_opt *row)
{
  weir_opt_choice entry;

  switch (row->kind) {
  case WEIR_OPT_KIND_BOOL:
    weir_conf_put(buffer, "true false");
    return true;
  case WEIR_OPT_KIND_ENUM:
    put_words(buffer, row->choices);
    return true;
  case WEIR_OPT_KIND_ONE_OF:
    for (int64_t i = 0; row->list(i, &entry); i++) {
      weir_conf_put(buffer, "%s%s", i == 0 ? "" : " ", entry.name);
    }
    return true;
  default:
    return false;
  }
}

static bool has_values(weir_opt_kind kind)
{
  return kind == WEIR_OPT_KIND_BOOL || kind == WEIR_OPT_KIND_ENUM || kind == WEIR_OPT_KIND_ONE_OF;
}

static bool is_path(const weir_opt *row)
{
  return row->kind == WEIR_OPT_KIND_PATH;
}

/* Text inside single quotes of a shell. `also`: further characters that get a backslash. */
static void put_shell(weir_conf_buffer *buffer, const char *text, const char *also)
{
  for (const char *p = text; *p != 0; p++) {
    if (*p == '\'') {
      weir_conf_put(buffer, "'\\''");
    } else if (*p == '\n') {
      weir_conf_put(buffer, " ");
    } else {
      weir_conf_put(buffer, "%s%c", strchr(also, *p) != NULL ? "\\" : "", *p);
    }
  }
}

/* A text in which NAME stands for the name of the program. */
static void put_named(weir_conf_buffer *buffer, const char *text, const char *name)
{
  const char *p = text;

  for (const char *at = strstr(p, "NAME"); at != NULL; at = strstr(p, "NAME")) {
    weir_conf_put(buffer, "%.*s%s", (int)(at - p), p, name);
    p = at + strlen("NAME");
  }
  weir_conf_put(buffer, "%s", p);
}

/* The arguments of a command that are words. */
static bool has_words(const weir_command *command)
{
  return command->args != NULL && strchr(command->args, '|') != NULL;
}

/* ---- bash ---- */

static void bash_key(weir_conf_buffer *buffer, const weir_opt *row, const char *path)
{
  if (is_settable(row, path)) {
    weir_conf_put(buffer, "  %s\n", path);
  }
}

static void bash_values(weir_conf_buffer *buffer, const weir_opt *row, const char *path)
{
  if (is_settable(row, path) && has_values(row->kind)) {
    weir_conf_put(buffer, "  %s) words='", path);
    (void)put_values(buffer, row);
    weir_conf_put(buffer, "' ;;\n");
  } else if (is_settable(row, path) && is_path(row)) {
    weir_conf_put(buffer, "  %s) words=/ ;;\n", path);
  }
}

static void bash_flags(weir_conf_buffer *buffer, bool valued)
{
  weir_conf_flag flag;

  for (int i = 0; weir_conf_flag_at(i, &flag); i++) {
    if (!valued || flag.value[0] != 0) {
      weir_conf_put(buffer, " --%s", flag.name);
    }
  }
}

static void bash_flag_values(weir_conf_buffer *buffer)
{
  weir_conf_flag flag;

  for (int i = 0; weir_conf_flag_at(i, &flag); i++) {
    if (flag.choices != NULL) {
      weir_conf_put(buffer, "  --%s) words='", flag.name);
      put_words(buffer, flag.choices);
      weir_conf_put(buffer, "' ;;\n");
    } else if (strcmp(flag.value, "FILE") == 0 || strcmp(flag.value, "WHAT") == 0 ||
               strcmp(flag.value, "DIR") == 0) {
      weir_conf_put(buffer, "  --%s) words=/ ;;\n", flag.name);
    }
  }
}

static void bash_command_words(weir_conf_buffer *buffer, const weir_app *app)
{
  weir_conf_put(buffer, "  '') words='");
  for (const weir_command *c = app->commands; c->name != NULL; c++) {
    weir_conf_put(buffer, "%s ", c->name);
  }
  weir_conf_put(buffer, "options' ;;\n");
  for (const weir_command *c = app->commands; c->name != NULL; c++) {
    if (has_words(c)) {
      weir_conf_put(buffer, "  %s) words='", c->name);
      put_words(buffer, c->args);
      weir_conf_put(buffer, "' ;;\n");
    } else if (c->args != NULL) {
      weir_conf_put(buffer, "  %s) words=/ ;;\n", c->name);
    }
  }
}

/* The words are those of the line, not COMP_WORDS, which bash divides at the characters of
 * COMP_WORDBREAKS. If = is among these, readline keeps what is before it. */
static const char bash_body[] =
    "  local line=${COMP_LINE:0:COMP_POINT} word flag='' command='' words='' head='' ending='' i\n"
    "  local -a before\n"
    "  COMPREPLY=()\n"
    "  word=${line##*[[:space:]]}\n"
    "  read -ra before <<<\"${line%\"$word\"}\"\n"
    "  for ((i = 1; i < ${#before[@]}; i++)); do\n"
    "    if [[ -n $flag ]]; then\n"
    "      flag=''\n"
    "    elif [[ \" $valued \" == *\" ${before[i]} \"* ]]; then\n"
    "      flag=${before[i]}\n"
    "    elif [[ ${before[i]} != -* && -z $command ]]; then\n"
    "      command=${before[i]}\n"
    "    fi\n"
    "  done\n"
    "  if [[ -z $flag && $word == --*=* ]]; then\n"
    "    flag=${word%%=*} word=${word#*=} head=$flag=\n"
    "  fi\n"
    "  if [[ $flag == --set && $word == *=* ]]; then\n"
    "    _NAME_values \"${word%%=*}\"\n"
    "    head+=${word%%=*}= word=${word#*=}\n"
    "  elif [[ $flag == --set ]]; then\n"
    "    compopt -o nospace 2>/dev/null\n"
    "    words=$_NAME_keys ending='='\n"
    "  elif [[ -n $flag ]]; then\n"
    "    _NAME_flag \"$flag\"\n"
    "  elif [[ $word == -* ]]; then\n"
    "    words=$flags\n"
    "  else\n"
    "    _NAME_command \"$command\"\n"
    "  fi\n"
    "  if [[ $words == / ]]; then\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
    "  else\n"
    "    COMPREPLY=($(compgen -S \"$ending\" -W \"$words\" -- \"$word\"))\n"
    "  fi\n"
    "  [[ $COMP_WORDBREAKS == *=* ]] || COMPREPLY=(\"${COMPREPLY[@]/#/$head}\")\n"
    "}\n"
    "complete -F _NAME NAME\n";

static void put_bash(weir_conf_buffer *buffer, const weir_app *app)
{
  weir_conf_put(buffer,
                "# Completion of %1$s for bash, printed by: %1$s options --completion bash\n"
                "# shellcheck shell=bash disable=SC2207 # words without blanks\n\n"
                "_%1$s_keys='\n",
                app->name);
  weir_conf_walk(buffer, app->opts, bash_key);
  weir_conf_put(buffer, "'\n_%s_values() {\n  case $1 in\n", app->name);
  weir_conf_walk(buffer, app->opts, bash_values);
  weir_conf_put(buffer, "  esac\n}\n_%s_flag() {\n  case $1 in\n", app->name);
  bash_flag_values(buffer);
  weir_conf_put(buffer, "  esac\n}\n_%s_command() {\n  case $1 in\n", app->name);
  bash_command_words(buffer, app);
  weir_conf_put(buffer, "  esac\n}\n_%s() {\n  local flags='", app->name);
  bash_flags(buffer, false);
  weir_conf_put(buffer, "'\n  local valued='");
  bash_flags(buffer, true);
  weir_conf_put(buffer, "'\n");
  put_named(buffer, bash_body, app->name);
}

/* ---- zsh ---- */

static void zsh_key(weir_conf_buffer *buffer, const weir_opt *row, const char *path)
{
  if (is_settable(row, path)) {
    weir_conf_put(buffer, "    '%s:", path);
    put_shell(buffer, row->help == NULL ? "" : row->help, "\\:");
    weir_conf_put(buffer, "'\n");
  }
}

static void zsh_values(weir_conf_buffer *buffer, const weir_opt *row, const char *path)
{
  if (is_settable(row, path) && has_values(row->kind)) {
    weir_conf_put(buffer, "    %s) compadd -- ", path);
    (void)put_values(buffer, row);
    weir_conf_put(buffer, " ;;\n");
  } else if (is_settable(row, path) && is_path(row)) {
    weir_conf_put(buffer, "    %s) _files ;;\n", path);
  }
}

static void zsh_flag(weir_conf_buffer *buffer, const weir_conf_flag *flag)
{
  const bool repeatable = strcmp(flag->name, "config") == 0 || strcmp(flag->name, "set") == 0;

  weir_conf_put(buffer, "    '%s--%s%s[", repeatable ? "*" : "", flag->name,
                flag->value[0] == 0 ? "" : "=");
  put_shell(buffer, flag->help, "\\[]");
  weir_conf_put(buffer, "]");
  if (flag->value[0] != 0) {
    weir_conf_put(buffer, ":value:");
  }
  if (flag->choices != NULL) {
    weir_conf_put(buffer, "(");
    put_words(buffer, flag->choices);
    weir_conf_put(buffer, ")");
  } else if (strcmp(flag->name, "set") == 0) {
    weir_conf_put(buffer, "->set");
  } else if (strcmp(flag->value, "FILE") == 0 || strcmp(flag->value, "WHAT") == 0) {
    weir_conf_put(buffer, "_files");
  } else if (strcmp(flag->value, "DIR") == 0) {
    weir_conf_put(buffer, "_files -/");
  }
  weir_conf_put(buffer, "'\n");
}

static void zsh_commands(weir_conf_buffer *buffer, const weir_app *app)
{
  weir_conf_put(buffer, "  local -a commands=(\n");
  for (const weir_command *c = app->commands; c->name != NULL; c++) {
    weir_conf_put(buffer, "    '%s:", c->name);
    put_shell(buffer, c->help, "\\:");
    weir_conf_put(buffer, "'\n");
  }
  weir_conf_put(buffer, "    'options:print the options of the configuration'\n  )\n");
}

static void zsh_arguments(weir_conf_buffer *buffer, const weir_app *app)
{
  weir_conf_put(buffer, "  (argument)\n    case $line[1] in\n");
  for (const weir_command *c = app->commands; c->name != NULL; c++) {
    if (has_words(c)) {
      weir_conf_put(buffer, "    %s) compadd -- ", c->name);
      put_words(buffer, c->args);
      weir_conf_put(buffer, " ;;\n");
    }
  }
  weir_conf_put(buffer, "    *) _files ;;\n    esac\n    ;;\n");
}

static void put_zsh(weir_conf_buffer *buffer, const weir_app *app)
{
  weir_conf_flag flag;

  weir_conf_put(buffer,
                "#compdef %1$s\n# Completion of %1$s for zsh, printed by: %1$s options "
                "--completion zsh\n\n"
                "_%1$s_set() {\n"
                "  local -a keys=(\n",
                app->name);
  weir_conf_walk(buffer, app->opts, zsh_key);
  weir_conf_put(buffer, "  )\n"
                        "  if [[ $PREFIX == *=* ]]; then\n"
                        "    local key=${PREFIX%%%%=*}\n"
                        "    compset -P '*='\n"
                        "    case $key in\n");
  weir_conf_walk(buffer, app->opts, zsh_values);
  weir_conf_put(buffer,
                "    esac\n"
                "  else\n"
                "    _describe -t keys key keys -S =\n"
                "  fi\n"
                "}\n\n"
                "_%s() {\n"
                "  local curcontext=$curcontext state\n"
                "  local -a line\n",
                app->name);
  zsh_commands(buffer, app);
  weir_conf_put(buffer, "  local -a specs=(\n    '1:command:->command'\n"
                        "    '*:argument:->argument'\n");
  for (int i = 0; weir_conf_flag_at(i, &flag); i++) {
    zsh_flag(buffer, &flag);
  }
  weir_conf_put(buffer,
                "  )\n  _arguments -C \"${specs[@]}\"\n  case $state in\n"
                "  (command) _describe command commands ;;\n  (set) _%s_set ;;\n",
                app->name);
  zsh_arguments(buffer, app);
  weir_conf_put(buffer, "  esac\n}\n\n_%1$s \"$@\"\n", app->name);
}

weir_status weir_conf_print_completion(const weir_app *app, const char *shell, FILE *out)
{
  weir_conf_buffer buffer = {.status = WEIR_OK};

  if (strcmp(shell, "bash") == 0) {
    put_bash(&buffer, app);
  } else {
    put_zsh(&buffer, app);
  }
  WEIR_TRY(weir_conf_flush(&buffer, out));
  return WEIR_OK;
}
