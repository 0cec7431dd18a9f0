"""What perf prints about a recording, or printed: RECORDING.said.xz beside a recording has the answers that were kept, so that nothing but the
recording is needed to compare with them, and no perf.

    CTX_KEEP_SAID=1 perfdata_same.py RECORDING      asks perf and adds its answers to RECORDING.said.xz
"""
import atexit
import json
import lzma
import os
import subprocess
import sys

KEEPING = "CTX_KEEP_SAID" in os.environ
answers = {}  # by recording: command line -> stdout


def read(path):
    if not os.path.exists(path):
        return {}
    with lzma.open(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def write(path, said):
    with lzma.open(path, "wt", encoding="utf-8", preset=9) as file:
        json.dump(said, file, sort_keys=True)


def ask(recording, *command):
    """stdout of a perf command about the recording. Its exit status does not count: perf report fails when an interval has no samples."""
    path = recording + ".said.xz"
    if recording not in answers:
        answers[recording] = read(path)
        if KEEPING:
            atexit.register(lambda: write(path, answers[recording]))
    said, question = answers[recording], " ".join(command)
    if said and not KEEPING:
        if question not in said:
            sys.exit(f"{path} has no answer to {question}")
        return said[question]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace")
    if KEEPING:
        said[question] = done.stdout
    return done.stdout
