# Our unwinder and gdb's on the same stopped threads: instruction by instruction through prologues, epilogues, code without call frame information, coroutines, signal
# handlers and vfork, in the children of posix_spawn, at the outermost part of a recursion; and all threads of running programs (C, python, Go, Java).
. "$(dirname "$0")/../common.sh" "$@"
. "$source_dir/tests/flow/unwind_stops.sh"
need gdb gcc
command -v unwind_stops >/dev/null || skip "unwind_stops was not built"
[ "$(uname -m)" = x86_64 ] || skip "the registers are those of x86-64"
gdb -nx -q -batch -ex 'py print(1)' 2>/dev/null | grep -q 1 || skip "this gdb has no Python"
targets=$source_dir/testdata/targets

for linked in -static -pie; do
	for options in "-O2 -fomit-frame-pointer" "-O0" "-O1 -fno-omit-frame-pointer"; do
		# shellcheck disable=SC2086
		gcc $linked $options -g -pthread -o stops "$targets/stops.c" || fail "stops.c $linked $options"
		rm -f stops.txt
		for name in step bare coroutine signal threads vfork spawn deep; do stop_at stops.txt ./stops $name; done
		echo "gcc $linked $options"
		check_stops stops.txt step=100 bare=10 coroutine=5 signal=5 threads=2 vfork=3 spawn=1 deep=1
	done
done

# attach NAME STOPS COMMAND...: all threads of a running program, three times.
attach() {
	name=$1
	least=$2
	shift 2
	rm -f stops.txt
	"$@" >/dev/null 2>&1 &
	pid=$!
	sleep 1.5
	for _ in 1 2 3; do stop_process stops.txt $name $pid; done
	kill $pid
	wait $pid 2>/dev/null
	check_stops stops.txt "$name=$least"
}

gcc -O2 -fomit-frame-pointer -pthread -o throwing -x c++ "$targets/throwing.cc" -lstdc++ && attach throwing 3 ./throwing 60
if command -v python3 >/dev/null; then attach python 3 python3 "$targets/recursive.py" 1000000; else leave_out "python3 is not installed"; fi
if command -v go >/dev/null; then
	cat >main.go <<'GO'
package main

import "time"

type node struct{ left, right *node }

func build(n int) *node {
	if n == 0 {
		return &node{}
	}
	return &node{build(n - 1), build(n - 1)}
}

func main() {
	for i := 0; i < 3; i++ {
		go func() {
			for {
				build(12)
			}
		}()
	}
	time.Sleep(60 * time.Second)
}
GO
	GOFLAGS=-mod=mod go build -o garbage main.go || fail "main.go"
	attach go 10 ./garbage
else
	leave_out "go is not installed"
fi
if command -v javac >/dev/null; then
	cat >Spin.java <<'JAVA'
public class Spin {
	static volatile long sink;
	static long work(int n) { return n <= 1 ? 1 : work(n - 1) + work(n - 2); }
	public static void main(String[] arguments) throws Exception {
		for (int i = 0; i < 2; i++)
			new Thread(() -> { while (true) sink += work(20) + new byte[1000].length; }).start();
		Thread.sleep(60000);
	}
}
JAVA
	javac Spin.java || fail "Spin.java"
	# In compiled and interpreted methods gdb guesses, so that its frames count up to the first of them.
	attach java 20 java -cp . Spin
else
	leave_out "javac is not installed"
fi
finish
