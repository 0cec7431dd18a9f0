# speedscope, Firefox and Chrome trace: what other tools read in our exports is what ctxan reports (exports_json.py). The tools' readers come
# from npm, into the build folder, once.
. "$(dirname "$0")/../common.sh" "$@"
need python3
need_perf

speedscope=speedscope@1.25.0
firefox=@firefox-devtools/profiler-cli@0.10.0
readers=$build/npm-readers/$(printf '%s' "$speedscope $firefox" | cksum | cut -d ' ' -f 1)

# install_readers: into $readers, or says why not.
install_readers() {
	[ -d "$readers/node_modules" ] && return 0
	for tool in node npm; do
		command -v "$tool" >/dev/null 2>&1 || { echo "$tool is not installed"; return 1; }
	done
	mkdir -p "$build/npm-readers" npm && echo '{"private":true}' >npm/package.json || return 1
	(cd npm && timeout 120 npm install --no-audit --no-fund --no-update-notifier --ignore-scripts --fetch-retries=1 \
		"$speedscope" "$firefox" </dev/null >npm.log 2>&1) || {
		echo "npm: $(grep -i 'err' npm/npm.log | head -n 1)"
		return 1
	}
	mkdir "$readers" && mv npm/node_modules "$readers/" && return 0
	[ -d "$readers/node_modules" ] # another test was faster
}

if reason=$(install_readers); then
	packages=$readers/node_modules
else
	packages=-
	echo "without the tools' own readers: $reason"
fi

# check RECORDING [METRIC]...
check() {
	recording=$1
	shift
	python3 "$source_dir/tests/flow/exports_json.py" "$recording" "$packages" "$@" || fail "$recording"
}

expect 0 '' ctxrec -q --no-archive -e cpu-clock,page-faults -o phases.er -- phases
check phases.er page-faults
# Processes that execute programs keep their number: each life is somebody else.
expect 0 '' ctxrec -q --no-archive -F 4999 -o exec.er -- sh -c 'execchain; execchain; seq 1 300000 | sort -n | tail -n 1'
check exec.er

# What a format cannot hold is said, and nothing is said with -q.
for kind in speedscope firefox chrome-trace; do
	expect 0 "^ctxan: $kind: .*processors" ctxan phases.er --export $kind -o said.json
	expect 0 '' ctxan -q phases.er --export $kind -o said.json
	[ ! -s err.txt ] || fail "$kind: -q says $(cat err.txt)"
done
expect 0 'no time' ctxan phases.er --export speedscope --metric page-faults -o said.json

# An interval without samples is a file that its tool opens.
if [ "$packages" != - ]; then
	ctxan -q phases.er --export speedscope -i 0ns:1ns -o empty.speedscope.json || fail "empty: speedscope"
	node "$source_dir/tests/flow/exports_json_speedscope.cjs" "$packages/speedscope" empty.speedscope.json >empty.json || fail "empty: not read"
	grep -q '"weight": 0' empty.json || fail "empty: $(cat empty.json)"
fi
finish
