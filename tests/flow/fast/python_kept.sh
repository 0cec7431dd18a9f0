# Functions of Python in a kept recording: who calls whom, in the three views, and which lines of which files.
. "$(dirname "$0")/../common.sh" "$@"
. "$source_dir/tests/flow/python_paths.sh"
need jq xz

tar -xf "$source_dir/testdata/python/known.tar.xz"
python_paths known.er
grep -q ';<module>;<module>;sub_work [0-9]*$' user.folded || fail "the sub-interpreter: $(cat user.folded)"
# Users see functions of Python without asking, and what is none by its label.
ctxan -q known.er --export folded | cmp -s - user.folded || fail "the default is not the view of users"
awk '{ sub(/ [0-9]*$/, ""); n = split($0, f, ";"); print f[n] }' user.folded | sort -u >leaves.txt
grep -qx '<Python-System>' leaves.txt || fail "no <Python-System>: $(cat leaves.txt)"
# Each burns as long as every other, as the program's own clock said: a tenth of a second.
ctxan -q known.er -r functions --limit 0 --format json >functions.json || fail "functions"
for name in inner keyed produce Work.step handles thread_work child_work sub_work; do
	ms=$(jq --arg name $name '[.rows[] | select(.function == $name) | .inclusive] | add / 1e6 | round' functions.json)
	[ "$ms" -ge 90 ] && [ "$ms" -le 110 ] || fail "$name: $ms ms"
done
[ "$(jq -r '[.rows[] | select(.function == "burn") | .object] | unique | .[]' functions.json)" = '<Python functions>' ] || fail "burn is not Python's"
# The time line has functions of Python as well.
ctxan -q known.er -r timeline --format json | jq -r '[.rows[].function | select(. != null)] | unique | .[]' >tops.txt || fail "timeline"
grep -qx burn tops.txt || fail "the time line: $(cat tops.txt)"
grep -q '^<static>\|_PyEval' tops.txt && fail "the time line has the interpreter: $(cat tops.txt)"
finish
