# Losses in kept recordings of perf: each LOST record that perf shows is a row of the same processor, time and count, and the sums are perf's.
. "$(dirname "$0")/../common.sh" "$@"
need python3 xz

unpack perfdata/lost
python3 - <<'END_OF_PYTHON' || fail "losses differ from perf's"
import subprocess

def ns(text):
    seconds, fraction = text.split(".")
    return int(seconds) * 10**9 + int(fraction)

for name in "placed", "bare":
    said = [line.split() for line in open(f"{name}.said")]
    first = next(ns(words[1]) for words in said if words[0] == "first")
    perf = sorted((ns(words[1]) - first, int(words[2]), words[3] if len(words) > 3 else "") for words in said if words[0] == "lost")
    total = [int(words[1]) for words in said if words[0] == "total"]
    rows = subprocess.run(["ctxan", "-q", f"{name}.data", "--db", f"{name}.db", "--format", "csv", "--sql",
                           "select begin_ns, end_ns, cpu, count from loss order by end_ns"], capture_output=True, text=True, check=True)
    rows = [line.split(",") for line in rows.stdout.split()[1:]]
    ours = sorted((int(end), int(count), cpu.zfill(3) if cpu else "") for begin, end, cpu, count in rows if end)
    assert perf and len(ours) == len(perf), (name, perf, ours)
    for (end, count, cpu), mine in zip(perf, ours):
        # Where it is only known where the loss was reported, it is a nanosecond long.
        assert mine in ((end, count, cpu), (end + 1, count, cpu)), (name, mine, end, count, cpu)
    assert all(int(begin) < int(end) for begin, end, cpu, count in rows if end), rows
    if name == "placed":
        assert all(int(end) - int(begin) > 1000 for begin, end, cpu, count in rows if end), rows
    assert sum(int(count) for begin, end, cpu, count in rows) == max(sum(total), sum(row[1] for row in perf)), (name, rows, total)
END_OF_PYTHON
finish
