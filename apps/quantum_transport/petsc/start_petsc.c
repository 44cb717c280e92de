/* start_petsc.c - PETSc is started from the configuration, and ended with the process or with MPI.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_log.h"
#include "qt_petsc.h"

/* Of the leak sanitizer, where it is linked: MPI keeps memory to the end of the process. */
void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));

static void ignore_leaks(bool on)
{
  if (__lsan_disable != NULL && __lsan_enable != NULL) {
    on ? __lsan_disable() : __lsan_enable();
  }
}

static weir_status status_of(int code)
{
  return code == PETSC_ERR_MEM ? WEIR_ERR_MEMORY : WEIR_ERR_EXTERNAL;
}

static PetscErrorCode record(MPI_Comm comm, int line, const char *function, const char *file,
                             PetscErrorCode code, PetscErrorType type, const char *message,
                             void *context)
{
  (void)comm, (void)line, (void)file, (void)context;
  if (type == PETSC_ERROR_INITIAL) {
    const char *text = message != NULL ? message : "";

    (void)weir_fail(status_of(code), "PETSc: %s: %.*s", function != NULL ? function : "",
                    (int)strcspn(text, "\n"), text);
  }
  return code;
}

weir_status qt_petsc_fail(const char *call, int code)
{
  const char *general = NULL;

  if (strncmp(weir_last_message(), "PETSc: ", 7) != 0) { /* else it is recorded */
    (void)PetscErrorMessage(code, &general, NULL);
    (void)weir_fail(status_of(code), "PETSc: %.60s: %s", call,
                    general != NULL ? general : "unknown error");
  }
  return status_of(code);
}

static void end_at_exit(void)
{
  PetscBool ended = PETSC_TRUE;

  (void)PetscFinalized(&ended);
  if (!ended) {
    ignore_leaks(true);
    (void)PetscFinalize();
    ignore_leaks(false);
  }
}

/* MPI deletes attributes of its own communicator before it ends. */
static int end_with_mpi(MPI_Comm comm, int key, void *value, void *state)
{
  (void)comm, (void)key, (void)value, (void)state;
  end_at_exit();
  return MPI_SUCCESS;
}

static weir_status end_later(bool alone)
{
  int key = MPI_KEYVAL_INVALID;

  if (alone) {
    if (atexit(end_at_exit) != 0) {
      return weir_fail(WEIR_ERR_MEMORY, "atexit: the end of PETSc cannot be registered");
    }
    return WEIR_OK;
  }
  if (WEIR_PETSC_ALONE(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_with_mpi, &key, NULL)) !=
          MPI_SUCCESS ||
      WEIR_PETSC_ALONE(MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL)) != MPI_SUCCESS) {
    return weir_fail(WEIR_ERR_EXTERNAL, "MPI: an attribute of MPI_COMM_SELF cannot be set");
  }
  return WEIR_OK;
}

/* Nothing but the configuration has a say. */
static weir_status initialize(void)
{
  WEIR_PETSC(PetscOptionsSetValue(NULL, "-skip_petscrc", NULL));
  WEIR_PETSC(PetscOptionsSetValue(NULL, "-no_signal_handler", NULL));
  weir_env_remove("PETSC_OPTIONS");
  PETSC_MPI_THREAD_REQUIRED = MPI_THREAD_SERIALIZED; /* threads call it in turn */
  ignore_leaks(true);
  const int code = WEIR_PETSC_ALONE(PetscInitializeNoArguments());

  ignore_leaks(false);
  if (code != PETSC_SUCCESS) {
    return qt_petsc_fail("PetscInitializeNoArguments()", code);
  }
  WEIR_PETSC(PetscPushErrorHandler(record, NULL));
  return WEIR_OK;
}

weir_status qt_petsc_start(const weir_string_list *options)
{
  PetscBool started = PETSC_FALSE;
  int mpi = 0;

  WEIR_PETSC(PetscInitialized(&started));
  if (started) {
    return WEIR_OK;
  }
  for (int64_t i = 0; i < options->count; i++) {
    const char *text = options->items[i];

    if (text[0] != '-' || strchr("0123456789. \0", text[1]) != NULL) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "petsc: \"%s\" is no option of PETSc: these begin with - and a name, as "
                       "\"-ksp_rtol 1e-8\"",
                       text);
    }
  }
  if (WEIR_PETSC_ALONE(MPI_Initialized(&mpi)) != MPI_SUCCESS) {
    return weir_fail(WEIR_ERR_EXTERNAL, "MPI does not say whether it runs");
  }
  WEIR_TRY(initialize());
  WEIR_TRY(end_later(!mpi));
  for (int64_t i = 0; i < options->count; i++) {
    WEIR_PETSC(PetscOptionsInsertString(NULL, options->items[i]));
  }
  return WEIR_OK;
}

void qt_petsc_warn_unused(const weir_string_list *options)
{
  PetscBool started = PETSC_FALSE;

  (void)PetscInitialized(&started);
  for (int64_t i = 0; i < options->count; i++) {
    char name[64];
    PetscBool used = PETSC_FALSE;

    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(options->items[i], " ="),
                   options->items[i]);
    if (started) {
      (void)PetscOptionsUsed(NULL, name + 1, &used);
    }
    if (!used) {
      weir_warn("petsc", "petsc: \"%s\" was read by no solver", options->items[i]);
    }
  }
}
