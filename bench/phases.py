# Phases of real programs against what is known of them: phases.py BUILD FOLDER [RECORDINGS]
# Records each program RECORDINGS times (3; kept in FOLDER and not made again) and prints, as rows of bench/results/phases.md, the borders that are known,
# the distance of the nearest one that `-r phases` found, in percent of the run, and how many phases there are. The truth is the recording's own clock: processes that begin
# at a border (/bin/true, cc1, as), or marks of the program (ctx_trace.h).
import json
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
C_SOURCE = "".join(f"static int f{i}(int *a, int n) {{ int s = {i}; for (int i = 0; i < n; i++) {{ a[i] = a[i] * s + (s ^ i); s += a[i] >> 3; if (s & {i % 7 + 1}) a[i] ^= s; }} return s; }}\n"
                   for i in range(6000)) + "int main(void) { int a[64] = {0}, s = 0;\n" + "".join(f"s += f{i}(a, 64);\n" for i in range(6000)) + "return s & 1; }\n"
SQL = """PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; CREATE TABLE t(a INTEGER, b TEXT, c REAL);
.shell /bin/true
INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 900000) SELECT i*7919%1000003, hex(i*31), i*0.5 FROM n;
.shell /bin/true
SELECT count(*), sum(length(b)) FROM t AS x WHERE b LIKE '%A3%F%' OR c*a > 1e300;
SELECT count(*) FROM t WHERE b LIKE '%11%7%';
SELECT count(*) FROM t WHERE b LIKE '%E%2%9%';
"""
MARKED = r"""
#include "runtime/ctx_trace.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>
#define NOINLINE __attribute__((noinline))
static double now(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
static volatile double x = 1;
static void burn(double s) { double until = now() + s; while (now() < until) for (int i = 0; i < 20000; i++) x = x * 1.0000001 + 0.5; }
NOINLINE static void load_file(void) { burn(0.004); }
NOINLINE static void build_index(void) { burn(0.006); }
NOINLINE static void parse_request(void) { burn(0.0007); }
NOINLINE static void answer_request(void) { burn(0.002); }
NOINLINE static void log_request(void) { burn(0.0003); }
int main(int argc, char **argv) {
	int steady = argc > 1;
	if (!steady) {
		ctx_trace_begin("warm-up");
		for (int i = 0; i < 60; i++) { load_file(); build_index(); }
		ctx_trace_end("warm-up");
		ctx_trace_begin("wait");
		nanosleep(&(struct timespec){0, 400000000}, NULL);
		ctx_trace_end("wait");
	}
	for (int i = 0; i < 700; i++) { parse_request(); answer_request(); log_request(); if (i % 4 == 0) nanosleep(&(struct timespec){0, 1000000}, NULL); }
	return 0;
}
"""


def run(command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def ctxan(build, path, *options):
    return json.loads(run([os.path.join(build, "bin/ctxan"), "-q", path, "--format", "json", *options]))


def begins(build, path, *names):
    """When processes with these programs began, in order; all images of a process count."""
    found = []
    for row in ctxan(build, path, "-r", "processes", "--limit", "0")["rows"]:
        for image in row.get("images") or [row]:
            if os.path.basename(image["command"].split(" ")[0]) in names:
                found.append(image["begin"])
    return sorted(found)


def marks(build, path):
    rows = ctxan(build, path, "-r", "marks")["rows"]
    return sorted({time for row in rows if row["section"] == "interval" for time in (row["first_ns"], row["last_ns"])} - {min(row["first_ns"] for row in rows)})


def tokens_of(build, path):
    """phases.c: borders of what its main thread does, by the first and the last sample of each function."""
    times = {}
    for name in ("tokenize", "build_ast", "multiply", "phase_report"):
        rows = ctxan(build, path, "--by", "TSTAMP/1000000", "--filter", f'STACK SOME IN "{name}"', "-r", "index")["rows"]
        times[name] = (min(row["index"] for row in rows) * 1e6, (max(row["index"] for row in rows) + 1) * 1e6)
    return [(times[a][1] + times[b][0]) / 2 for a, b in (("tokenize", "build_ast"), ("build_ast", "multiply"), ("multiply", "phase_report"))]


def programs(build, folder):
    """Name, options of ctxrec, command, input, the known borders of a recording."""
    source, sql, marked = (os.path.join(folder, name) for name in ("functions.c", "load.sql", "server.c"))
    for path, text in ((source, C_SOURCE), (sql, SQL), (marked, MARKED)):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    server, phases = os.path.join(folder, "server"), os.path.join(folder, "phases")
    run(["cc", "-O1", "-g", "-I", os.path.dirname(HERE), "-o", server, marked])
    run(["cc", "-O1", "-g", "-pthread", "-I", os.path.join(HERE, "../testdata"), "-o", phases, os.path.join(HERE, "../testdata/phases.c")])
    return (("phases.c", (), [phases], None, tokens_of),
            ("gcc -O1 -c (cc1, as)", (), ["gcc", "-O1", "-c", "-o", "/dev/null", source], None, lambda b, p: begins(b, p, "as")),
            ("sqlite3, load then query", (), ["sqlite3", ":memory:"], sql, lambda b, p: begins(b, p, "true")[1:]),
            ("server: warm-up, wait, serve", ("--marks",), [server], None, marks),
            ("server: serve alone", (), [server, "steady"], None, lambda b, p: []))


def main(build, folder, recordings=3):
    os.makedirs(folder, exist_ok=True)
    print("| program | recording | samples | known borders, ms | error, % of the run | phases | letters |\n|---|---:|---:|---|---|---:|---|")
    errors = []
    for number, (name, options, command, stdin, truth) in enumerate(programs(build, folder)):
        for i in range(recordings):
            path = os.path.join(folder, f"{number}.{i}.er")
            if not os.path.exists(path):
                with open(stdin or "/dev/null", encoding="utf-8") as file:
                    subprocess.run([os.path.join(build, "bin/ctxrec"), "-q", *options, "-o", path, "--", *command], check=True, stdin=file, stdout=subprocess.DEVNULL)
            report = ctxan(build, path, "-r", "phases")
            rows = [row for row in report["rows"] if row["process"] is None]
            length = rows[-1]["end"]
            known = truth(build, path)
            found = [row["begin"] for row in rows[1:]]
            own = [min((abs(at - border) for at in found), default=length) / length for border in known]
            errors += own
            print(f"| {name} | {i + 1} | {report['samples']} | {', '.join(f'{at / 1e6:.0f}' for at in known) or 'none'} | {', '.join(f'{100 * e:.2f}' for e in own) or '-'} | {len(rows)} "
                  f"| {' '.join(row['letter'] for row in rows)} |")
    print(f"\n{len(errors)} borders: median error {100 * statistics.median(errors):.2f} %, {sum(e <= 0.02 for e in errors)} within 2 %.")


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), sys.argv[2], *(int(text) for text in sys.argv[3:4]))
