"""What gprofng display text prints - or printed: EXPERIMENT.said.xz beside an experiment has the answers that were kept of it, so that nothing but
the experiment is needed to compare with them.

    CTX_KEEP_SAID=1 gprofng_reports.py EXPERIMENT.er      asks gprofng and adds its answers to EXPERIMENT.er.said.xz
    CTX_ONLY_SAID=1 ...                                   never asks gprofng: an answer that was not kept is an error
    gprofng_said.py EXPERIMENT.er COMMAND...              prints one answer
"""
import atexit
import hashlib
import json
import lzma
import os
import re
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


def said_of(recording):
    path = recording + ".said.xz"
    if recording not in answers:
        answers[recording] = read(path)
        if KEEPING:
            atexit.register(lambda: write(path, answers[recording]))
    return answers[recording]


def kept(recording, what, value):
    """`value`, when the answers were kept; of a recording that has no answers, this value."""
    said = said_of(recording)
    if KEEPING:
        said[what] = value
    return said.get(what) if said else value


def bytes_of(directory):
    """A checksum of all files of an experiment and their names, without the version of ctxan."""
    found = hashlib.sha256()
    for where, folders, files in os.walk(directory):
        folders.sort()
        for file in sorted(files):
            if not file.startswith("ctxan.db"):
                path = os.path.join(where, file)
                with open(path, "rb") as content:
                    text = re.sub(rb"ctxan \d[\w.]*", b"ctxan", content.read()) if file == "log.xml" else content.read()
                    found.update(f"{os.path.relpath(path, directory)} {len(text)}\n".encode() + text)
    return found.hexdigest()


def ask(recording, *commands):
    """stdout and stderr."""
    said, question = said_of(recording), " ".join(commands)
    if (said or "CTX_ONLY_SAID" in os.environ) and not KEEPING:
        if question not in said:
            sys.exit(f"{recording}.said.xz has no answer to {question}")
        return said[question]
    done = subprocess.run(["gprofng", "display", "text", *commands, recording], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace")
    if done.returncode != 0:
        sys.exit(f"gprofng {question}: {done.stderr.strip()}")
    if KEEPING:
        said[question] = [done.stdout, done.stderr]
    return done.stdout, done.stderr


if __name__ == "__main__":
    print(ask(*sys.argv[1:])[0], end="")
