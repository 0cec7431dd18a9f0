# Stacks of a stopped program at places where unwinding is hard, and what gdb made of them: kept in testdata/answers/stops.tar.xz (testdata/targets/stops.c,
# linked statically; of the program the call frame information and the code around the stops). unwind_gdb does the same with fresh ones.
. "$(dirname "$0")/../common.sh" "$@"
. "$source_dir/tests/flow/unwind_stops.sh"
need xz
command -v unwind_stops >/dev/null || skip "unwind_stops was not built"
case $(uname -m) in
x86_64) ;;
*) skip "the stops are of x86-64" ;;
esac
unpack answers/stops
check_stops stops.txt step=200 bare=15 coroutine=50 signal=30 threads=2 vfork=5 spawn=1 deep=1
# It can fail: a frame that gdb does not have.
awk '/^frame/ && ++n == 7 { $2 = "1" $2 } { print }' stops.txt >wrong.txt
unwind_stops wrong.txt >wrong.said && fail "a wrong frame is not noticed"
finish
