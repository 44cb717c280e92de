#!/usr/bin/env python3
"""mlcube_package.py PROGRAM WORK - the package mlcube of PyPI reads the descriptor of docs/guide/site.md and makes of it the same call as
`site run`, seen from inside by a model that prints its arguments."""
import os
import re
import subprocess
import sys

program, work = sys.argv[1:3]
try:
    from mlcube.config import MLCubeConfig
    from mlcube.shell import Shell
except ImportError as missing:
    print(f"skipped: {missing} (mlcube: PyPI)")
    sys.exit(77)

with open(os.path.join(os.path.dirname(__file__), "../../../docs/guide/site.md"), encoding="utf-8") as file:
    guide = file.read()
os.chdir(work)
os.mkdir("model")
with open("model/mlcube.yaml", "w", encoding="utf-8") as file:
    file.write(re.search(r"```yaml\n# mlcube.yaml\n(.*?)```", guide, re.DOTALL).group(1))
with open("model/detect.py", "w", encoding="utf-8") as file:
    file.write("#!/bin/sh\necho \"$@\"\nexit 9\n")
os.chmod("model/detect.py", 0o755)
with open("benchmark.yaml", "w", encoding="utf-8") as file:
    file.write("name: call\n")


def call(*words, expected=0, **settings):
    done = subprocess.run([program, *words, "--log", "error", *sum((["--set", f"{key.replace('__', '.')}={value}"]
                                                                    for key, value in settings.items()), [])], check=False,
                          capture_output=True, text=True)
    assert done.returncode in (expected, 7), done.stderr
    return done


call("prepare", "--out", "record", ecgsyn__duration=20)
call("site", "prepare", "--out", "data", site__records="[record/ecgsyn]")
of = {"site__benchmark": "benchmark.yaml", "site__model": "model", "site__dataset": "data"}
for role in "committee", "model_owner", "data_owner":
    call("site", "approve", "--out", role, site__role=role, site__person="Somebody", **of)
approvals = "[committee/approval.jsonl, model_owner/approval.jsonl, data_owner/approval.jsonl]"
run = call("site", "run", "--out", "run", expected=3, site__approvals=approvals, **of)
mounts, arguments, _ = Shell.generate_mounts_and_args(MLCubeConfig.create_mlcube_config("model/mlcube.yaml"), "infer", make_dirs=False)
if run.returncode == 7:
    assert "nothing was run" in run.stderr
else:
    with open("run/model.log", encoding="utf-8") as file:
        assert file.read().split() == arguments, arguments
print(f"mlcube: {arguments}, {sorted(mounts.values())}")
