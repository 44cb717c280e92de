/* wire_test.c - lines taken apart and refused; pipes and sockets, long lines, last lines. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "base/weir_check.h"
#include "base/weir_signal.h"
#include "io/weir_wire.h"

static weir_wire_line parsed(const char *text)
{
  weir_wire_line line;

  weir_wire_parse(text, (int64_t)strlen(text), &line);
  return line;
}

static void assert_text(const char *at, int64_t size, const char *expected)
{
  assert_int_equal(size, (int64_t)strlen(expected));
  assert_memory_equal(at, expected, (size_t)size);
}

static void samples_have_stream_time_and_value(void **state)
{
  weir_wire_line a = parsed("ecg,12.0025,-0.5\r");

  assert_int_equal(a.kind, WEIR_WIRE_SAMPLE);
  assert_text(a.name, a.name_size, "ecg");
  assert_int_equal(a.clock, WEIR_WIRE_SECONDS);
  assert_int_equal(a.ns, 12002500000);
  assert_true(a.present && a.value == -0.5);
  a = parsed(" II , 2026-01-31T12:00:00.25Z , ");
  assert_int_equal(a.kind, WEIR_WIRE_SAMPLE);
  assert_text(a.name, a.name_size, "II");
  assert_int_equal(a.clock, WEIR_WIRE_DATE);
  assert_int_equal(a.ns, 1769860800250000000);
  assert_false(a.present);
  assert_false(parsed("ecg,1,NaN").present);
  assert_int_equal(parsed("ecg,-1e3,3").ns, -1000000000000);
}

static void directives_declare_and_end(void **state)
{
  weir_wire_line a = parsed("#weir 1 record=p1 start=2026-01-31T12:00:00+01:00");

  assert_int_equal(a.kind, WEIR_WIRE_HELLO);
  assert_text(a.name, a.name_size, "p1");
  assert_int_equal(a.clock, WEIR_WIRE_DATE);
  assert_int_equal(a.ns, 1769857200000000000);
  a = parsed("#stream abp fs=62.4725 unit=mmHg");
  assert_int_equal(a.kind, WEIR_WIRE_STREAM);
  assert_int_equal(a.fs_num, 24989);
  assert_int_equal(a.fs_den, 400);
  assert_text(a.unit, a.unit_size, "mmHg");
  a = parsed("#stream x fs=1000/8");
  assert_int_equal(a.fs_num, 125);
  assert_int_equal(a.fs_den, 1);
  assert_int_equal(parsed("#end").kind, WEIR_WIRE_END);
  assert_int_equal(parsed("#end time=60").ns, 60000000000);
  assert_int_equal(parsed("").kind, WEIR_WIRE_NOTHING);
  assert_int_equal(parsed(" \t\r").kind, WEIR_WIRE_NOTHING);
  assert_int_equal(parsed("# ecg,1,2").kind, WEIR_WIRE_NOTHING);
  assert_int_equal(parsed("#endless").kind, WEIR_WIRE_NOTHING);
}

static void what_is_none_of_the_protocol_is_refused_with_a_reason(void **state)
{
  static const char *const bad[][2] = {
      {"ecg,1", "three fields"},
      {"ecg,1,2,3", "three fields"},
      {"ecg,soon,2", "neither seconds nor a date"},
      {"ecg,1:30,2", "neither seconds nor a date"},
      {"ecg,1e12,2", "neither seconds nor a date"},
      {"ecg,,2", "neither seconds nor a date"},
      {"ecg,1,2mV", "not a number"},
      {"ecg,1,1e39", "single precision"},
      {",1,2", "plain characters"},
      {"e\x01g,1,2", "plain characters"},
      {"\xff\xfe\x80", "three fields"},
      {"#weir 2", "version"},
      {"#weir", "version"},
      {"#weir 1 colour=red", "record=NAME"},
      {"#weir 1 record=", "named after the record"},
      {"#weir 1 record=../../victim", "named after the record"},
      {"#weir 1 record=a/b", "named after the record"},
      {"#weir 1 record=/etc/x", "named after the record"},
      {"#weir 1 record=..", "named after the record"},
      {"#weir 1 record=.hidden", "named after the record"},
      {"#weir 1 record=a\\b", "named after the record"},
      {"#weir 1 record=a%b", "named after the record"},
      {"#weir 1 record=0123456789012345678901234567890123456789012345678901234567890123",
       "1 to 63"},
      {"#weir 1 a b c d e f g h i", "too many"},
      {"#stream", "no name"},
      {"#stream x", "no fs"},
      {"#stream x fs=0", "above 0 Hz"},
      {"#stream x fs=-5", "above 0 Hz"},
      {"#stream x fs=2e6", "at most 1e6 Hz"},
      {"#stream x fs=1e300", "at most 1e6 Hz"},
      {"#stream x fs=nan", "is a number"},
      {"#stream x fs=inf", "is a number"},
      {"#stream x fs=", "is a number"},
      {"#stream x fs=fast", "is a number"},
      {"#stream x fs=1.00000000000000001", "too many digits"},
      {"#stream x fs=1/0", "integers above 0"},
      {"#stream x fs=-1/2", "integers above 0"},
      {"#stream x rate=5", "takes fs=RATE and unit=UNIT"},
      {"#stream x fs=250 unit=", "plain characters"},
      {"#stream a,b fs=250", "plain characters"},
      {"#end now", "takes time"},
  };

  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    const weir_wire_line line = parsed(bad[i][0]);

    assert_int_equal(line.kind, WEIR_WIRE_BAD);
    assert_non_null(strstr(line.reason, bad[i][1]));
  }
  const weir_wire_line line = parsed("#stream ecg fs=0 unit=mV");

  assert_text(line.fault, line.fault_size, "fs=0");
  const weir_wire_line hello = parsed("#weir 1 start=0 record=../x");

  assert_text(hello.fault, hello.fault_size, "record=../x");
  assert_true(hello.declares);
  assert_int_equal(parsed("#weir 1 record=bed-7_a.b").kind, WEIR_WIRE_HELLO);
  assert_true(line.declares && !parsed("#end now").declares && !parsed("ecg,1").declares);
  char name[100];

  memset(name, 'a', sizeof name);
  assert_true(weir_wire_is_name(name, 63));
  assert_false(weir_wire_is_name(name, 64));
  assert_false(weir_wire_is_name(name, 0));
}

static void what_is_printed_is_read_back(void **state)
{
  static const char *const names[][2] = {{"p1", "p1"},           {"a.b-c_d", "a.b-c_d"},
                                         {"my data", "my_data"}, {"../../x", "_._.._x"},
                                         {".x", "_x"},           {"", "record"}};
  char line[256];

  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    weir_wire_print_hello(names[i][0], 2, 1769860800250000, line, sizeof line);
    assert_int_equal(line[strlen(line) - 1], '\n');
    line[strlen(line) - 1] = 0;
    const weir_wire_line a = parsed(line);

    assert_int_equal(a.kind, WEIR_WIRE_HELLO);
    assert_text(a.name, a.name_size, names[i][1]);
    assert_int_equal(a.clock, WEIR_WIRE_DATE);
    assert_int_equal(a.ns, 1769860800250000000);
  }
  weir_wire_print_hello("p1", 1, 5000000, line, sizeof line);
  assert_string_equal(line, "#weir 1 record=p1 start=0\n");
  weir_wire_print_end(60012500000, line, sizeof line);
  assert_string_equal(line, "#end time=60.0125\n");
  weir_wire_print_time(-1000000000, line, sizeof line);
  assert_string_equal(line, "-1.0");
}

/* What one end sends, the other gets, in lines, with the long one skipped. */
static void send_and_compare(weir_wire *from, weir_wire *to)
{
  static char text[3 * WEIR_WIRE_LINE];
  const char *line = NULL;
  int64_t size = 0;
  weir_wire_event event;

  memset(text, 'x', sizeof text);
  assert_ok(weir_wire_send(from, "a,1,2\nb,", 8));
  assert_ok(weir_wire_next(to, 10, &event, &line, &size));
  assert_int_equal(event, WEIR_WIRE_GOT);
  assert_text(line, size, "a,1,2");
  assert_ok(weir_wire_next(to, 0, &event, &line, &size));
  assert_int_equal(event, WEIR_WIRE_QUIET);
  assert_ok(weir_wire_send(from, "3,4\r\n\n", 6));
  assert_ok(weir_wire_next(to, 10, &event, &line, &size));
  assert_text(line, size, "b,3,4\r");
  assert_ok(weir_wire_next(to, 10, &event, &line, &size));
  assert_int_equal(event, WEIR_WIRE_GOT);
  assert_int_equal(size, 0);
  assert_ok(weir_wire_send(from, text, sizeof text));
  assert_ok(weir_wire_next(to, 0, &event, &line, &size));
  assert_int_equal(event, WEIR_WIRE_QUIET);
  assert_ok(weir_wire_send(from, "\nlast", 5));
  weir_wire_close(&from);
  assert_ok(weir_wire_next(to, 10, &event, &line, &size));
  assert_int_equal(event, WEIR_WIRE_LONG);
  assert_ok(weir_wire_next(to, 10, &event, &line, &size));
  assert_int_equal(event, WEIR_WIRE_GOT);
  assert_text(line, size, "last");
  assert_ok(weir_wire_next(to, 10, &event, &line, &size));
  assert_int_equal(event, WEIR_WIRE_ENDED);
  weir_wire_close(&to);
}

static void lines_come_through_tcp_and_unix_sockets(void **state)
{
  weir_wire *to = NULL, *from = NULL;
  char folder[512], address[600];

  assert_ok(weir_wire_listen("tcp:0", false, &to));
  assert_true(weir_wire_port(to) > 0);
  snprintf(address, sizeof address, "tcp:localhost:%d", weir_wire_port(to));
  assert_ok(weir_wire_connect(address, false, 0, &from));
  send_and_compare(from, to);
  weir_check_mkdir(folder, sizeof folder);
  snprintf(address, sizeof address, "unix:%s/s", folder);
  assert_ok(weir_wire_listen(address, false, &to));
  assert_ok(weir_wire_connect(address, false, 0, &from));
  weir_wire *second = NULL;

  assert_int_equal(weir_wire_listen(address, false, &second), WEIR_ERR_DATA);
  assert_null(second);
  send_and_compare(from, to);
  assert_int_not_equal(access(address + 5, F_OK), 0);
  assert_int_equal(weir_wire_connect(address, false, 0, &from), WEIR_ERR_DATA);
  weir_check_rmdir(folder);
}

/* What comes without end does not keep it from seeing a stop. */
static void a_stop_is_seen_within_a_line(void **state)
{
  const int kept = dup(STDIN_FILENO), endless = open("/dev/zero", O_RDONLY);
  weir_wire *w = NULL;
  const char *line = NULL;
  int64_t size = 0;
  weir_wire_event event = WEIR_WIRE_GOT;

  assert_int_equal(dup2(endless, STDIN_FILENO), STDIN_FILENO);
  assert_ok(weir_wire_listen("-", false, &w));
  weir_stop_request(2);
  assert_ok(weir_wire_next(w, 1e9, &event, &line, &size));
  weir_stop_request(0);
  assert_int_equal(event, WEIR_WIRE_QUIET);
  weir_wire_close(&w);
  assert_int_equal(dup2(kept, STDIN_FILENO), STDIN_FILENO);
  close(endless);
  close(kept);
}

static void addresses_that_are_none_or_far_are_refused(void **state)
{
  static const char *const wrong[] = {"",          "tcp:",         "tcp:x",  "tcp:70000",
                                      "unix:",     "tcp:host:80",  "file:x", "tcp:1.2.3.4.5:1",
                                      "tcp::1:80", "tcp:127.0.0.1"};
  weir_wire *w = NULL;

  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    assert_int_equal(weir_wire_listen(wrong[i], true, &w), WEIR_ERR_CONFIG);
    assert_int_equal(weir_wire_connect(wrong[i], true, 0, &w), WEIR_ERR_CONFIG);
    assert_null(w);
  }
  assert_int_equal(weir_wire_listen("tcp:0.0.0.0:0", false, &w), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "remote=true"));
  assert_ok(weir_wire_listen("tcp:0.0.0.0:0", true, &w));
  weir_wire_close(&w);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(samples_have_stream_time_and_value),
      cmocka_unit_test(directives_declare_and_end),
      cmocka_unit_test(what_is_none_of_the_protocol_is_refused_with_a_reason),
      cmocka_unit_test(what_is_printed_is_read_back),
      cmocka_unit_test(lines_come_through_tcp_and_unix_sockets),
      cmocka_unit_test(a_stop_is_seen_within_a_line),
      cmocka_unit_test(addresses_that_are_none_or_far_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
