"""What gprofng display text prints - or printed: EXPERIMENT.said.xz beside an experiment has the answers that were kept of it, so that nothing but
the experiment is needed to compare with them.

    CTX_KEEP_SAID=1 gprofng_reports.py EXPERIMENT.er      asks gprofng and adds its answers to EXPERIMENT.er.said.xz
"""
import atexit
import json
import lzma
import os
import subprocess
import sys

KEEPING = "CTX_KEEP_SAID" in os.environ
answers = {}  # by recording: question -> [stdout, stderr]


def read(path):
    if not os.path.exists(path):
        return {}
    with lzma.open(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def write(path, said):
    with lzma.open(path, "wt", encoding="utf-8", preset=9) as file:
        json.dump(said, file, sort_keys=True)


def ask(recording, *commands):
    """stdout and stderr."""
    path = recording + ".said.xz"
    if recording not in answers:
        answers[recording] = read(path)
        if KEEPING:
            atexit.register(lambda: write(path, answers[recording]))
    said, question = answers[recording], " ".join(commands)
    if said and not KEEPING:
        if question not in said:
            sys.exit(f"{path} has no answer to {question}")
        return said[question]
    done = subprocess.run(["gprofng", "display", "text", *commands, recording], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace")
    if done.returncode != 0:
        sys.exit(f"gprofng {question}: {done.stderr.strip()}")
    if KEEPING:
        said[question] = [done.stdout, done.stderr]
    return done.stdout, done.stderr
