/* start_petsc_test.c - options come from the configuration alone, failures say what failed. */
#include <petscksp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_log.h"
#include "qt_petsc.h"
#include "support/comm/right_check.h"

static void wrong_options_are_refused_before_the_start(void **state)
{
  const char *items[] = {"ksp_rtol 1e-8"};
  const weir_string_list wrong = {items, 1};

  assert_int_equal(qt_petsc_start(&wrong), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "\"ksp_rtol 1e-8\""));
  weir_clear_failure();
}

/* Counts what is said, and keeps the last of it. */
typedef struct messages {
  int count;
  char text[128];
} messages;

static void count_message(void *context, weir_log_level level, const char *module, const char *text)
{
  messages *t = context;

  (void)level, (void)module;
  t->count++;
  (void)snprintf(t->text, sizeof t->text, "%s", text);
}

static void the_configuration_alone_sets_options(void **state)
{
  const char *items[] = {"-ksp_max_it 7", "-ksp_rtool 1e-3"};
  const weir_string_list options = {items, 2};
  PetscBool found = PETSC_TRUE;
  PetscInt value = 0;

  assert_int_equal(setenv("PETSC_OPTIONS", "-from_environment 1", 1), 0);
  assert_int_equal(qt_petsc_start(&options), WEIR_OK);
  assert_int_equal(qt_petsc_start(&options), WEIR_OK);
  assert_int_equal(PetscOptionsHasName(NULL, NULL, "-from_environment", &found), PETSC_SUCCESS);
  assert_false(found);
  assert_int_equal(PetscOptionsGetInt(NULL, NULL, "-ksp_max_it", &value, &found), PETSC_SUCCESS);
  assert_true(found);
  assert_int_equal(value, 7);
  messages t = {.count = 0};

  weir_log_set_sink(count_message, &t);
  qt_petsc_warn_unused(&options);
  weir_log_set_sink(NULL, NULL);
  assert_int_equal(t.count, 1); /* the other one was read above */
  assert_non_null(strstr(t.text, "\"-ksp_rtool 1e-3\""));
}

static void threads_may_call_in_turn(void **state)
{
  int level = MPI_THREAD_SINGLE;

  assert_int_equal(MPI_Query_thread(&level), MPI_SUCCESS);
  assert_true(level >= MPI_THREAD_SERIALIZED);
}

/* A 2 x 2 complex system whose solution is (i, 1) by MUMPS. */
static weir_status solve(PetscScalar x[2])
{
  const PetscInt row[] = {0, 1};
  const PetscScalar a[] = {2, 1, 1, 2.0 * PETSC_i};
  const PetscScalar b[] = {2.0 * PETSC_i + 1.0, 3.0 * PETSC_i};
  const PetscScalar *got;
  Mat m;
  Vec left, right;
  KSP ksp;
  PC pc;

  WEIR_PETSC(MatCreateSeqAIJ(PETSC_COMM_SELF, 2, 2, 2, NULL, &m));
  WEIR_PETSC(MatSetValues(m, 2, row, 2, row, a, INSERT_VALUES));
  WEIR_PETSC(MatAssemblyBegin(m, MAT_FINAL_ASSEMBLY));
  WEIR_PETSC(MatAssemblyEnd(m, MAT_FINAL_ASSEMBLY));
  WEIR_PETSC(MatCreateVecs(m, &left, &right));
  WEIR_PETSC(VecSetValues(right, 2, row, b, INSERT_VALUES));
  WEIR_PETSC(VecAssemblyBegin(right));
  WEIR_PETSC(VecAssemblyEnd(right));
  WEIR_PETSC(KSPCreate(PETSC_COMM_SELF, &ksp));
  WEIR_PETSC(KSPSetOperators(ksp, m, m));
  WEIR_PETSC(KSPSetType(ksp, KSPPREONLY));
  WEIR_PETSC(KSPGetPC(ksp, &pc));
  WEIR_PETSC(PCSetType(pc, PCLU));
  WEIR_PETSC(PCFactorSetMatSolverType(pc, MATSOLVERMUMPS));
  WEIR_PETSC(KSPSolve(ksp, right, left));
  WEIR_PETSC(VecGetArrayRead(left, &got));
  memcpy(x, got, 2 * sizeof *x);
  WEIR_PETSC(VecRestoreArrayRead(left, &got));
  WEIR_PETSC(KSPDestroy(&ksp));
  WEIR_PETSC(MatDestroy(&m));
  WEIR_PETSC(VecDestroy(&left));
  WEIR_PETSC(VecDestroy(&right));
  return WEIR_OK;
}

static void mumps_solves_a_complex_system(void **state)
{
  PetscScalar x[2];

  assert_int_equal(solve(x), WEIR_OK);
  assert_true(PetscAbsScalar(x[0] - PETSC_i) < 1e-14);
  assert_true(PetscAbsScalar(x[1] - 1.0) < 1e-14);
}

static weir_status set_unknown_type(void)
{
  KSP ksp;
  weir_status status = WEIR_OK;

  WEIR_PETSC(KSPCreate(PETSC_COMM_SELF, &ksp));
  WEIR_PETSC_GOTO(KSPSetType(ksp, "no_such_solver"), done);
done:
  (void)KSPDestroy(&ksp);
  return status;
}

static void a_failure_says_where_and_why(void **state)
{
  assert_int_equal(set_unknown_type(), WEIR_ERR_EXTERNAL);
  assert_non_null(strstr(weir_last_message(), "PETSc: KSPSetType: "));
  assert_non_null(strstr(weir_last_message(), "no_such_solver"));
  weir_clear_failure();
}

static weir_status make_vector(void *context)
{
  Vec v = NULL;

  (void)context;
  WEIR_PETSC(VecCreateSeq(PETSC_COMM_SELF, 3, &v));
  WEIR_PETSC(VecDestroy(&v));
  return WEIR_OK;
}

static void calls_wait_for_the_right_to_call_mpi(void **state)
{
  bool waits = false;

  assert_ok(right_check_call(make_vector, NULL, &waits));
  assert_true(waits);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wrong_options_are_refused_before_the_start),
      cmocka_unit_test(the_configuration_alone_sets_options),
      cmocka_unit_test(threads_may_call_in_turn),
      cmocka_unit_test(mumps_solves_a_complex_system),
      cmocka_unit_test(a_failure_says_where_and_why),
      cmocka_unit_test(calls_wait_for_the_right_to_call_mpi),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
