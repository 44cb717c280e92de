# count_tests.awk - single tests from CTest's JUnit file, one a line: kind (pass, fail, skip),
# name and, of a skip, the reason, with tabs between.
#
# A program of unit tests prints one line a test ([       OK ], [  FAILED  ], [  SKIPPED ], after
# [ RUN      ]); each is counted. Any other program counts as one test. A failed program none of whose
# tests failed (a crash, a leak found at exit, a time-out) counts as one failure beside them. A skip is
# followed by its reason: what the test printed. Of failed programs, the end of
# the output goes to stderr, and what before it tells of errors and seeds.

function unescape(s)
{
  gsub(/&lt;/, "<", s); gsub(/&gt;/, ">", s); gsub(/&quot;/, "\"", s); gsub(/&apos;/, "'", s)
  gsub(/&amp;/, "\\&", s)
  return s
}
function attribute(line, name,    s)
{
  if (!match(line, name "=\"[^\"]*\"")) {
    return ""
  }
  s = substr(line, RSTART, RLENGTH)
  return unescape(substr(s, length(name) + 3, length(s) - length(name) - 3))
}
function emit(kind, name, why)
{
  gsub(/[\t\n]+/, " ", name)
  gsub(/[\t\n]+/, " ", why)
  print kind "\t" name "\t" why
}
function finish_program(    i)
{
  if (status == "fail" && failures == 0) {
    emit("fail", program (depth > 0 ? ": in or after " running[1] : ""))
  } else if (status == "notrun" || status == "disabled") {
    if (skip_code) {
      emit("skip", program, text == "" ? "no reason given" : text)
    } else {
      emit("fail", program ": was not run")
    }
  } else if (status != "fail" && tests == 0) {
    emit("pass", program)
  } else if (depth > 0) {
    emit("fail", program ": " running[1] " did not end")
  }
  if (status == "fail") {
    print "---- " program > "/dev/stderr"
    for (i = 0; i < lines; i++) {
      named += i < lines - 60 && kept[i] ~ /FAIL|ERROR|LINE|seed/
      if (i >= lines - 60 || (kept[i] ~ /FAIL|ERROR|LINE|seed/ && named <= 20)) {
        print kept[i] > "/dev/stderr"
      }
    }
  }
}
# The outcome of the innermost test that runs under this name; a test within a test is not counted.
function outcome(kind, name,    i)
{
  for (i = depth; i > 0 && running[i] != name; i--) {
  }
  if (i == 0) {
    return
  }
  depth = i - 1
  if (depth == 0) {
    emit(kind, program ": " name, kind != "skip" ? "" : reason == "" ? "no reason given" : reason)
    failures += kind == "fail"
  }
}
function output_line(line)
{
  line = unescape(line)
  kept[lines++] = line
  if (line ~ /^\[ RUN      \] /) {
    running[++depth] = substr(line, 14)
    tests += depth == 1
    if (depth == 1) {
      reason = ""
    }
  } else if (line ~ /^\[       OK \] /) {
    outcome("pass", substr(line, 14))
  } else if (line ~ /^\[  FAILED  \] /) {
    outcome("fail", substr(line, 14))
  } else if (line ~ /^\[  SKIPPED \] /) {
    outcome("skip", substr(line, 14))
  } else {
    reason = reason (reason == "" ? "" : " ") line
    if (line != "") {
      text = line
    }
  }
}

/<testcase / {
  program = attribute($0, "name")
  status = attribute($0, "status")
  tests = failures = lines = named = skip_code = inside = depth = 0
  reason = text = ""
  next
}
/<skipped message="SKIP_RETURN_CODE/ { skip_code = 1; next }
/^\t\t<system-out>/ { inside = 1; sub(/^\t\t<system-out>/, "") }
inside {
  ended = sub(/<\/system-out>$/, "")
  output_line($0)
  inside = !ended
  next
}
/<\/testcase>/ { finish_program() }
