# Lines and instructions of a fresh recording of an optimised program, next to what addr2line and objdump say. record_code_kept does the same with a kept
# recording.
. "$(dirname "$0")/../common.sh" "$@"
. "$source_dir/tests/flow/code_same.sh"
need jq g++ objdump addr2line
need_perf

cp "$source_dir/testdata/targets/hot_line.cc" .
g++ -O2 -g -o prog hot_line.cc || fail "g++"
ctxrec -q -F 999 -o code.er -- ./prog >prog.out || fail "ctxrec"
say_tools ./prog
check_code "$(grep -n '// the hot line' hot_line.cc | cut -d: -f1)"
finish
