"""daily.py PROGRAM SCRATCH - daily operation: files of xarray and ecCodes come into a folder, whole or in pieces, and the
program is killed again and again; each content has one result, that of a plain predict.

Exit 77: this Python has no xarray and netCDF4, or the program was built without NetCDF."""
import csv
import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import unittest

try:
    import netCDF4
    import numpy as np
    import xarray
except ImportError:
    print("skipped: this Python has no xarray and netCDF4")
    sys.exit(77)

program, scratch = sys.argv[1:]
GRIB = os.path.join(os.environ.get("WEIR_TEST_DATA", ""), "weather", "grib", "z500_ens.grib")
LAT, LON, LEADS = np.arange(60.0, -61.0, -30.0), np.arange(0.0, 360.0, 45.0), [24, 48]


def forecast(path, day):
    """An ensemble of xarray, of one day."""
    rng = np.random.default_rng(day)
    x = (5500 + 90 * rng.standard_normal((1, len(LEADS), 5, 1, len(LAT), len(LON)))).astype("f4")
    xarray.Dataset(
        {"z": (("time", "step", "number", "level", "latitude", "longitude"), 9.80665 * x, {"units": "m2 s-2"})},
        coords={"time": ("time", [day], {"units": "days since 2020-01-01", "standard_name": "forecast_reference_time"}),
                "step": ("step", LEADS, {"units": "hours", "standard_name": "forecast_period"}),
                "number": ("number", np.arange(5)), "level": ("level", [500], {"units": "hPa"}),
                "latitude": ("latitude", LAT, {"units": "degrees_north"}),
                "longitude": ("longitude", LON, {"units": "degrees_east"})}).to_netcdf(path)
    return path


def command(folder, out, *options, members=5, settle=0.15):
    settings = ["data.target=[z500]", f"predict.model={{use: {{raw: {{members: {members}}}}}}}",
                f"predict.expect.members={members}", *options]
    if folder:
        settings += [f"predict.watch.directory='{folder}'", "predict.watch.interval=0.05",
                     f"predict.watch.settle={settle}"]
    return [program, "predict", *(w for s in settings for w in ("--set", s)), "--out", out, "--threads", "1"]


def run(*args, **named):
    done = subprocess.run(command(*args, **named), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def digest(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def ledger(out):
    with open(os.path.join(out, "ledger.csv"), newline="") as f:
        return list(csv.DictReader(f))


def values(folder):
    with netCDF4.Dataset(os.path.join(folder, "predictions.nc")) as f:
        return {k: (np.ma.filled(v[:], np.nan).tobytes() if v.dtype != str else str(v[:])) for k, v in f.variables.items()}


class Daily(unittest.TestCase):
    def setUp(self):
        self.folder, self.out = os.path.join(scratch, "in"), os.path.join(scratch, "out")
        for d in (self.folder, self.out):
            shutil.rmtree(d, ignore_errors=True)
        os.mkdir(self.folder)

    def put(self, name, day, folder=None):
        return forecast(os.path.join(folder or self.folder, name), day)

    def check_results(self, sources):
        """Each content has one result, one entry done, and the values of a plain predict."""
        done = [r for r in ledger(self.out) if r["state"] == "done"]
        self.assertEqual(sorted(r["sha256"] for r in done), sorted({digest(s) for s in sources}))
        folders = [d for d in os.listdir(self.out) if os.path.isdir(os.path.join(self.out, d)) and d != "failed"]
        self.assertEqual(sorted(folders), sorted(r["result"] for r in done))
        for source in sources:
            plain = os.path.join(scratch, "plain-" + digest(source)[:12])
            if not os.path.exists(plain):
                status, text = run(None, plain, "data.forecast=['" + source.replace("'", "''") + "']")
                self.assertEqual(status, 0, text)
            row = next(r for r in done if r["sha256"] == digest(source))
            self.assertTrue(row["result"].endswith("-" + row["sha256"][:12]))
            self.assertEqual(values(os.path.join(self.out, row["result"])), values(plain))

    def test_every_input_has_one_result_whenever_the_program_is_killed(self):
        rng, stock = random.Random(3), os.path.join(scratch, "stock")
        os.makedirs(stock, exist_ok=True)
        sources, kills, pieces, started = [], 0, None, time.monotonic()
        for day in range(8):
            sources.append(self.put(f"ens {day}, 'a'.nc", day, stock))
        waiting = list(sources)
        while waiting or pieces or (kills < 15 and time.monotonic() - started < 60):
            process = subprocess.Popen(command(self.folder, self.out, "predict.watch.attempts=1000", settle=0.25),
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            end = time.monotonic() + rng.uniform(0.1, 3) * ONE
            while time.monotonic() < end:
                if pieces:  # a file that is being copied: pauses are shorter than predict.watch.settle
                    target, data = pieces
                    with open(target, "ab") as f:
                        f.write(data[:9000])
                    pieces = (target, data[9000:]) if data[9000:] else None
                elif waiting and rng.random() < 0.3:
                    source = waiting.pop()
                    with open(source, "rb") as f:
                        pieces = (os.path.join(self.folder, os.path.basename(source)), f.read())
                time.sleep(0.04)
            process.send_signal(signal.SIGKILL)
            process.stderr.close()
            process.wait()
            kills += 1
        status, text = run(self.folder, self.out, "predict.watch.once=true", "predict.watch.attempts=1000",
                           "predict.watch.retry=true")
        self.assertEqual(status, 0, text)
        self.check_results(sources)
        self.assertFalse(os.path.exists(os.path.join(self.out, ".partial")))
        again, before = run(self.folder, self.out, "predict.watch.once=true"), ledger(self.out)
        self.assertEqual(again[0], 0, again[1])
        self.assertIn("0 files of", again[1])
        self.assertEqual(before, ledger(self.out))

    def test_a_result_without_its_entry_is_not_made_again(self):
        """Killed after the folder got its name and before the ledger says so, or while it is written."""
        source = self.put("a.nc", 1)
        status, text = run(self.folder, self.out, "predict.watch.once=true")
        self.assertEqual(status, 0, text)
        row, path = ledger(self.out)[-1], os.path.join(self.out, "ledger.csv")
        made = os.stat(os.path.join(self.out, row["result"], "predictions.nc")).st_mtime_ns
        with open(path, "rb") as f:
            lines = f.read().splitlines(keepends=True)
        for rest in (lines[:2], lines[:2] + [lines[2][:40]]):
            with open(path, "wb") as f:
                f.write(b"".join(rest))
            os.makedirs(os.path.join(self.out, ".partial", "left"))
            status, text = run(self.folder, self.out, "predict.watch.once=true")
            self.assertEqual(status, 0, text)
            self.assertEqual([(r["state"], r["detail"]) for r in ledger(self.out)],
                             [("started", ""), ("done", "finished before the program was killed")])
            self.assertEqual(os.stat(os.path.join(self.out, row["result"], "predictions.nc")).st_mtime_ns, made)
            self.check_results([source])
            self.assertFalse(os.path.exists(os.path.join(self.out, ".partial")))
        with open(path, "wb") as f:  # an input that ends the program each time
            f.write(lines[0] + 3 * lines[1])
        shutil.rmtree(os.path.join(self.out, row["result"]))
        status, text = run(self.folder, self.out, "predict.watch.once=true", "predict.watch.attempts=3")
        self.assertEqual((status, ledger(self.out)[-1]["state"]), (3, "failed"), text)
        self.assertIn("begun 3 times", ledger(self.out)[-1]["detail"])

    def test_a_failure_is_recorded_and_stops_no_other(self):
        good, other = self.put("a.nc", 1), self.put("c.nc", 2)
        with open(good, "rb") as f, open(os.path.join(self.folder, "b.nc"), "wb") as cut:
            cut.write(f.read()[:9000])
        status, text = run(self.folder, self.out, "predict.watch.once=true")
        self.assertEqual((status, "1 files of" in text), (3, True), text)
        failed = [r for r in ledger(self.out) if r["state"] == "failed"]
        self.assertEqual([r["file"] for r in failed], ["b.nc"])
        self.assertIn("b.nc: ", failed[0]["detail"])
        self.assertTrue(os.path.exists(os.path.join(self.out, "failed", "b.nc-" + failed[0]["sha256"][:12] + ".log")))
        self.check_results([good, other])
        lines = len(ledger(self.out))
        status, text = run(self.folder, self.out, "predict.watch.once=true")  # not again, and not unsaid
        self.assertEqual((status, "1 files failed earlier" in text), (0, True), text)
        self.assertEqual(len(ledger(self.out)), lines)
        status, text = run(self.folder, self.out, "predict.watch.once=true", "predict.watch.retry=true")
        self.assertEqual(status, 3, text)
        shutil.copyfile(self.put("d.nc", 3, scratch), os.path.join(self.folder, "b.nc"))  # the rest has come
        status, text = run(self.folder, self.out, "predict.watch.once=true")
        self.assertEqual(status, 0, text)
        self.check_results([good, other, os.path.join(self.folder, "b.nc")])

    def test_an_input_is_a_content(self):
        first = self.put("a.nc", 1)
        shutil.copyfile(first, os.path.join(self.folder, "b.nc"))
        os.utime(os.path.join(self.folder, "b.nc"), (2e9, 2e9))  # the later one
        kept = shutil.copyfile(first, os.path.join(scratch, "kept.nc"))
        status, text = run(self.folder, self.out, "predict.watch.once=true")
        self.assertEqual(status, 0, text)
        self.assertEqual([(r["file"], r["state"]) for r in ledger(self.out)],
                         [("a.nc", "started"), ("a.nc", "done"), ("b.nc", "duplicate")])
        os.utime(first)  # its time alone
        status, text = run(self.folder, self.out, "predict.watch.once=true")
        self.assertEqual([(r["file"], r["state"], r["detail"]) for r in ledger(self.out)][3:],
                         [("a.nc", "duplicate", "the content of a.nc")])
        second = self.put("a.nc", 2)  # rewritten
        status, text = run(self.folder, self.out, "predict.watch.once=true")
        self.assertEqual(status, 0, text)
        self.check_results([kept, second])

    def test_a_file_that_lacks_members_is_no_forecast(self):
        if not os.path.exists(GRIB):
            self.skipTest("no WEIR_TEST_DATA")
        with open(GRIB, "rb") as f:
            data = f.read()
        at, ends = data.find(b"GRIB"), []
        while at >= 0:  # zeros may lie between messages
            size = data[at + 8:at + 16] if data[at + 7] == 2 else data[at + 4:at + 7]
            ends.append(at + int.from_bytes(size, "big"))
            at = data.find(b"GRIB", ends[-1])
        self.assertEqual(len(ends), 51)
        target = os.path.join(self.folder, "ens.grib")
        with open(target, "wb") as f:
            f.write(data[:ends[29]])  # whole messages of 30 members
        status, text = run(self.folder, self.out, "predict.watch.once=true", members=51)
        self.assertEqual(status, 3, text)
        if "no ecCodes" in text or "begins like no file" in text:
            self.skipTest("a build without ecCodes")
        self.assertIn("30 members, and predict.expect.members is 51", ledger(self.out)[-1]["detail"])
        with open(target, "ab") as f:
            f.write(data[ends[29]:])
        status, text = run(self.folder, self.out, "predict.watch.once=true", members=51)
        self.assertEqual(status, 0, text)
        plain = os.path.join(scratch, "plain-grib")
        status, text = run(None, plain, f"data.forecast=[{GRIB}]", members=51)
        self.assertEqual(status, 0, text)
        self.assertEqual(values(os.path.join(self.out, ledger(self.out)[-1]["result"])), values(plain))

    def test_two_programs_do_not_share_a_folder_and_a_signal_ends_one(self):
        self.put("a.nc", 1)
        process = subprocess.Popen(command(self.folder, self.out), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        end = time.monotonic() + 120
        while not (os.path.exists(os.path.join(self.out, "ledger.csv")) and any(r["state"] == "done" for r in ledger(self.out))):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)
        status, text = run(self.folder, self.out)
        self.assertEqual((status, "weather_ensemble predict" in text), (2, True), text)
        source = self.put("b.nc", 2)
        while not any(r["file"] == "b.nc" for r in ledger(self.out)):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.005)
        process.send_signal(signal.SIGTERM)  # b.nc is at work, and is finished
        _, text = process.communicate(timeout=120)
        self.assertEqual((process.returncode, "repeat the command to continue" in text), (9, True), text)
        self.check_results([os.path.join(self.folder, "a.nc"), source])

    def test_what_cannot_be_is_refused(self):
        self.put("a.nc", 1)
        status, text = run(os.path.join(scratch, "absent"), self.out, "predict.watch.once=true")
        self.assertEqual((status, "absent: the folder cannot be read" in text), (3, True), text)
        done = subprocess.run([*command(self.folder, self.out), "--overwrite"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual((done.returncode, "not overwritten" in done.stdout), (2, True), done.stdout)
        plain = os.path.join(scratch, "plain")
        status, text = run(None, plain, f"data.forecast=[{self.folder}/a.nc]")
        self.assertEqual(status, 0, text)
        status, text = run(self.folder, plain, "predict.watch.once=true")
        self.assertEqual((status, "no log of an earlier 'predict watch'" in text), (2, True), text)
        for option, word in (("predict.expect.leads=[24,72]", "no lead time of 72 h"),
                             ("predict.expect.init_times=2", "1 initialisation times")):
            status, text = run(None, os.path.join(scratch, "refused"), option, f"data.forecast=[{self.folder}/a.nc]")
            self.assertEqual((status, word in text), (3, True), text)


ONE = time.monotonic()
code, said = run(None, os.path.join(scratch, "first"), f"data.forecast=[{forecast(os.path.join(scratch, 'first.nc'), 0)}]")
if code == 7:
    print("skipped: this build has no NetCDF")
    sys.exit(77)
ONE = time.monotonic() - ONE  # s, that a prediction takes here
unittest.main(argv=[sys.argv[0]])
