/* cli_ranks.c - the ranks of a command: one, those of mpiexec or srun, or threads of one process.
 */
#include <stdio.h>
#include "conf/conf_priv.h"
#include "conf/weir_cli.h"
#include "conf/weir_launch.h"

/* The commands of the program that may have these ranks. */
static const char *list_commands(const weir_app *app, weir_command_ranks ranks, char *names,
                                 size_t size)
{
  size_t used = 0;

  (void)snprintf(names, size, "no command of this program");
  for (const weir_command *v = app->commands; v->name != NULL; v++) {
    if (v->ranks >= ranks && used < size) {
      used += (size_t)snprintf(names + used, size - used, "%s%s", used > 0 ? ", " : "", v->name);
    }
  }
  return names;
}

/* Ranks are those of the launcher or threads of one process, not both. */
static weir_status check_thread_ranks(const weir_cli *cli, const weir_command *command, int started)
{
  char names[256];

  if (command->ranks != WEIR_THREAD_RANKS) {
    return weir_fail(WEIR_ERR_CONFIG, "%s %s: --ranks is a flag of: %s", cli->app->name,
                     command->name,
                     list_commands(cli->app, WEIR_THREAD_RANKS, names, sizeof names));
  }
  return started == 1
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG,
                         "%s %s --ranks %d: started as one of %d processes by mpiexec or srun: "
                         "leave out --ranks, or start one process; --ranks makes ranks of threads",
                         cli->app->name, command->name, cli->ranks, started);
}

/* What is not made for ranks would be done by each of them, in the same folder. */
weir_status weir_conf_check_ranks(const weir_cli *cli, const weir_command *command)
{
  const weir_app *app = cli->app;
  const int ranks = weir_launch_ranks(), tasks = weir_launch_tasks();
  char names[256];

  if (cli->ranks > 0) {
    return check_thread_ranks(cli, command, ranks > 1 ? ranks : tasks);
  }
  if (command->ranks != WEIR_ONE_RANK || (ranks == 1 && tasks == 1)) {
    return WEIR_OK;
  }
  return weir_fail(WEIR_ERR_CONFIG,
                   "%s %s: started as %d processes, each of which would do the whole work: start "
                   "it as one, without mpiexec or srun (made for several ranks: %s)",
                   app->name, command->name, ranks > 1 ? ranks : tasks,
                   list_commands(app, WEIR_LAUNCHED_RANKS, names, sizeof names));
}
