# ctxan --follow on kept experiments that grow as if they were being recorded: follow_kept.py.
. "$(dirname "$0")/../common.sh" "$@"
need python3 xz

# The seeds are such that several answers come before the end.
follow() {
	unpack "$1"
	python3 "$source_dir/tests/flow/follow_kept.py" "${1#*/}.er" "growing.${1#*/}.er" "$2" "$3" || fail "$1"
}
follow recordings/execs 1 0.3
follow states/lock_convoy 4 0.2
follow states/full 3 0.3

# What is not there is waited for, and what cannot be one is refused.
expect 1 'not a directory' ctxan --follow /dev/null
expect 1 'excludes --interval' ctxan --follow full.er -i 1:2
expect 1 'excludes --export' ctxan --follow full.er --export html
expect 1 'requires --follow' ctxan full.er --last 3
expect 1 'number of seconds' ctxan --follow full.er --last x
expect 1 'single experiment' ctxan --follow full.er execs.er
expect 0 'full.er: the recording has ended' ctxan --follow full.er
# As text, the screen of an ordinary analysis of the last seconds.
ctxan -q --follow full.er --last 0.25 >follow.txt
interval=$(ctxan -q --follow full.er --last 0.25 --format json | sed 's/.*"intervals_ns":\[\[\([0-9]*\),\([0-9]*\)\]\].*/\1ns:\2ns/')
ctxan -q full.er -i "$interval" >ordinary.txt
sed 's/ -i [^ ]*//' follow.txt >left.txt
sed 's/ -i [^ ]*//' ordinary.txt >right.txt
cmp -s left.txt right.txt || fail "the screens differ: $(diff left.txt right.txt)"
finish
