# Sourced by tests of calls that are recorded live: what programs count themselves (testdata/targets/calls.c) and what was recorded.

# counts ER: NAME COUNT of each function.
counts() {
	ctxan "$1" -r calls --format json | jq -r '.rows[] | select(.section == "function") | "\(.function | sub(".*::"; "") | sub("[(.].*"; "")) \(.calls)"' |
		awk '$1 != "uncounted" { n[$1] += $2 } END { for (name in n) print name, n[name] }' | sort
}

# try_with OPTIONS NAME PROGRAM ARGUMENTS...: its own counts are those recorded with these options, in run.er.
try_with() {
	options=$1
	name=$2
	shift 2
	# shellcheck disable=SC2086
	ctxrec -q -O -o run.er $options -- "$@" >own.txt 2>err.txt || fail "$name: exit status $?: $(cat err.txt)"
	grep -v 'functions were patched' err.txt && fail "$name: messages"
	sort own.txt >wanted.txt
	counts run.er >got.txt
	cmp -s wanted.txt got.txt || fail "$name: counts: $(diff wanted.txt got.txt)"
}
