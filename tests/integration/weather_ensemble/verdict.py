"""verdict.py PROGRAM SCRATCH - the sentences in which `eval` says what the scores mean, on the terminal and in the report, compared with
skill.csv and scores.csv: the best model, by how much, significance, and its spread.

Exit 77: the program was built without what it needs."""
import csv
import html
import os
import re
import subprocess
import sys
import unittest

program, scratch = sys.argv[1:]
SIMULATION = ("simulate.init_times=60", "simulate.lat=16", "simulate.lon=32", "simulate.members=4", "simulate.leads=[48]",
              "simulate.quantities=[z500, t500]", "simulate.spin_up=90")
SPLIT = ("data.split.train.to=2000-07-01", "data.split.valid.from=2000-07-01", "data.split.valid.to=2000-07-11",
         "data.split.test.from=2000-07-11")
RAW, EMOS = "{use: {raw: {members: 3}}}", "{name: EMOS, use: {emos: {members: 3}}}"
SENTENCE = re.compile(r"([-\d.]+) % \(95 % interval ([-\d.]+) to ([-\d.]+)\) (lower|higher) than that of (.+?): "
                      r"((?:not )?significantly (?:better|worse))")


def run(command, out, *options):
    words = [word for option in options for word in ("--set", option)]
    done = subprocess.run([program, command, *words, "--out", os.path.join(scratch, out), "--overwrite"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode == 7:
        print("skipped:", done.stdout.splitlines()[-1])
        sys.exit(77)
    assert done.returncode == 0, done.stdout
    return done.stdout


def table(out, name):
    with open(os.path.join(scratch, out, name), newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


class Verdict(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        run("prepare", "archive", *SIMULATION)

    def scored(self, out, models, references, *options):
        archive = os.path.join(scratch, "archive")
        text = run("eval", out, f"data.forecast=[{archive}/forecast.nc]", f"data.truth=[{archive}/truth.nc]", *SPLIT,
                   "eval.part=test", f"eval.models=[{', '.join(models)}]", f"eval.references=[{', '.join(references)}]", *options)
        lines = [line for line in text.splitlines() if re.match(r"[zt]500, 48 h, \d+ initialisation times?: ", line)]
        self.assertEqual(len(lines), 2, text)
        with open(os.path.join(scratch, out, "report.html"), encoding="utf-8") as page:
            shown = html.unescape(page.read())
        for line in lines:
            self.assertIn(line, shown)
        return dict(zip("zt", lines))

    def check(self, out, line, variable):
        """Names the best model; returns the comparisons that the sentences make."""
        rows = {row["model"]: row for row in table(out, "scores.csv") if row["variable"] == variable}
        ranked = sorted(rows, key=lambda name: float(rows[name]["crps_gauss"]))
        self.assertIn(f": {ranked[0]} has the lowest Gaussian CRPS.", line)
        ratio = float(rows[ranked[0]]["ssr"])
        word = "too small" if ratio < 0.9 else "too large" if ratio > 1.1 else "about right"
        self.assertTrue(line.endswith(f"The spread of {ranked[0]} is {ratio:.2f} of its error: {word}."), line)
        skill = {(row["model"], row["reference"]): row for row in table(out, "skill.csv")
                 if row["variable"] == variable and row["score"] == "crps_gauss" and row["region"] == "all"}
        found = SENTENCE.findall(line)
        for value, lo, hi, word, reference, verdict in found:
            model = ranked[0] if reference != ranked[0] else ranked[1]
            if model != ranked[0]:
                self.assertIn(f"That of the next, {model}, is {value} %", line)
            row = skill[model, reference]
            sign = 100 if word == "lower" else -100
            ends = sorted(sign * float(row[key]) for key in ("skill_lo", "skill_hi"))
            for own, theirs in ((value, sign * float(row["skill"])), (lo, ends[0]), (hi, ends[1])):
                self.assertAlmostEqual(float(own), theirs, delta=0.0501)
            self.assertGreaterEqual(float(value), 0)
            certain = "significantly better" if word == "lower" else "significantly worse"
            self.assertEqual(verdict, certain if float(row["p"]) < 0.05 else "not " + certain, line)
        return found

    def test_a_better_model_is_named_with_its_gain(self):
        for variable, line in self.scored("better", (RAW, EMOS), ("raw 3",)).items():
            found = self.check("better", line, variable)
            self.assertEqual([(f[3], f[4], f[5]) for f in found], [("lower", "raw 3", "significantly better")])

    def test_a_best_reference_is_named_with_the_next(self):
        for variable, line in self.scored("worse", (RAW, EMOS), ("EMOS", "raw 3")).items():
            found = self.check("worse", line, variable)
            self.assertEqual([(f[3], f[4], f[5]) for f in found],
                             [("higher", "EMOS", "significantly worse"), ("lower", "raw 3", "significantly better")])

    def test_chance_is_said(self):
        """Two EMOS that hardly differ."""
        words = []
        for out, other in (("chance", "{name: other, use: {emos: {members: 4}}}"),
                           ("chance2", "{name: other, use: {emos: {members: 3, dates: {kind: season, window: 150}}}}")):
            for variable, line in self.scored(out, (EMOS, other), ("EMOS",)).items():
                words += [f[5] for f in self.check(out, line, variable)]
        self.assertTrue({"not significantly better", "not significantly worse"} & set(words), words)

    def test_one_initialisation_time_is_no_test(self):
        for line in self.scored("once", (RAW, EMOS), ("raw 3",), "data.split.test.from=2000-10-20").values():
            self.assertIn(", 1 initialisation time: ", line)
            self.assertRegex(line, r" than that of raw 3: too few initialisation times to test\.")
            self.assertEqual(SENTENCE.findall(line), [])

    def test_one_model_is_compared_with_none(self):
        for line in self.scored("one", (RAW,), ()).values():
            self.assertIn(": raw 3 is the only model. The spread of raw 3 is ", line)
            self.assertEqual(SENTENCE.findall(line), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
