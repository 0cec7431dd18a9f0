# --vm python: functions of Python stand between the frames of the interpreter, whoever calls them: Python, C, threads, children, sub-interpreters.
. "$(dirname "$0")/../common.sh" "$@"
. "$source_dir/tests/flow/python_paths.sh"
need jq
python=$(command -v python3.11 || command -v /usr/bin/python3) || skip "no python3"
python=$("$python" -c 'import sys; print(sys.executable if sys.version_info[:2] == (3, 11) else "")')
[ -n "$python" ] || skip "python3 is not 3.11"

ctxrec -q --vm python -F 997 -O -o known.er -- "$python" "$source_dir/testdata/python/known.py" 0.1 2>said.txt || fail "ctxrec: $(cat said.txt)"
grep -q 'which needs root' said.txt && skip "no probes in the kernel here: $(cat said.txt)"
python_paths known.er _PyEval_EvalFrameDefault
grep -q ';sub_work [0-9]*$' user.folded || fail "no samples of the sub-interpreter: $(cat user.folded)"

# A row for it, and for each of its children with functions of Python; samples inside are those of the threads.
ctxan -q known.er -r vms --format json >vms.json || fail "vms: $(ctxan known.er -r vms 2>&1)"
jq -e --arg version "$("$python" -c 'import platform; print(platform.python_version())')" \
	'.rows | length >= 1 and all(.name == "CPython" and .version == $version and .inside_samples > 0 and .collector == null and .heap_used_bytes == null) and any(.command | test("known.py 0.1"))' vms.json >/dev/null || fail "vms: $(cat vms.json)"
ctxan -q known.er -r threads --limit 0 --format json | jq '[.rows[].inside_samples] | add' >threads.txt
[ "$(jq '[.rows[].inside_samples] | add' vms.json)" = "$(cat threads.txt)" ] || fail "vms: threads have $(cat threads.txt) samples inside: $(cat vms.json)"

# A program that runs already.
"$python" "$source_dir/testdata/python/known.py" 0.3 &
pid=$!
sleep 0.3
ctxrec -q --vm python -F 997 -O -o running.er -p $pid -d 1 2>said.txt || fail "-p: $(cat said.txt)"
wait $pid
ctxan -q running.er --export folded --view user | grep -q ';<module>;.*burn [0-9]*$' || fail "-p: $(ctxan -q running.er --export folded --view user)"

# Without the option nothing of Python is there, and users see what there is.
ctxrec -q -F 997 -O -o plain.er -- "$python" "$source_dir/testdata/python/known.py" 0.05 || fail "plain"
ctxan -q plain.er --export folded --view user | grep -q '_PyEval_EvalFrameDefault' || fail "plain: the view of users is empty"

# Two at once, and other versions: said, and recorded natively.
ctxrec -q --vm java,perl -- true 2>said.txt && fail "--vm perl"
grep -q '"perl" is no virtual machine' said.txt || fail "--vm perl says: $(cat said.txt)"
ctxrec -q --vm python --unwind fp -O -o fp.er -- true 2>said.txt && fail "--unwind fp"
grep -q 'needs copied stacks' said.txt || fail "--unwind fp says: $(cat said.txt)"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 777 .
	setpriv --reuid 65534 --regid 65534 --clear-groups env HOME="$work" "$bin/ctxrec" --vm python -O -o nobody.er -- true >said.txt 2>&1
	grep -q 'needs root' said.txt || leave_out "an ordinary user cannot record here: $(cat said.txt)"
	[ -e nobody.er ] && { ctxan -q nobody.er -r header | grep -q 'needs root' || fail "the header does not say why"; }
fi
finish
