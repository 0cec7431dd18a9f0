# ctx_trace.h: every compiler that is here takes it without a warning, in old and new C and C++, and the programs run; no symbol of theirs is strong.
. "$(dirname "$0")/../common.sh" "$@"
[ "$(uname -m)" = x86_64 ] || skip "the runtime is for x86-64"

cat >say.c <<'END'
#include <ctx_trace.h>
int main(void)
{
	ctx_trace_mark("a");
	ctx_trace_begin("b");
	ctx_trace_end("b");
	ctx_trace_begin_id("c", 1);
	ctx_trace_end_id("c", 1);
	ctx_trace_counter("d", -1);
	ctx_trace_pause();
	ctx_trace_resume();
	return 7;
}
END
# A template and a lambda, and two files with the header in one program.
cat >more.cc <<'END'
#include <ctx_trace.h>
template <typename T> void say(T value) { ctx_trace_counter("value", static_cast<int64_t>(value)); }
void more() { say(1); say(2L); }
END
cp say.c say.cc
cat >>say.cc <<'END'
void more();
struct once { once() { more(); } } at_start;
END
compilers=0
strict="-Wall -Wextra -Werror -pedantic -Wconversion -Wshadow -I$source_dir/runtime"
for cc in gcc clang; do
	command -v $cc >/dev/null 2>&1 || continue
	compilers=$((compilers + 1))
	for flags in -std=c89 "-std=gnu11 -O2 -flto" "-std=c11 -DCTX_TRACE_DISABLE" "-O2 -fno-pie -no-pie" "-O2 -static"; do
		$cc $strict $flags -o say say.c 2>err.txt || { fail "$cc $flags: $(head -n 3 err.txt)"; continue; }
		./say
		[ $? = 7 ] || fail "$cc $flags: the program failed"
		nm say 2>/dev/null | grep ctx_trace_event_v1 | grep -qv ' w ' && fail "$cc $flags: a strong symbol: $(nm say | grep ctx_trace)"
	done
done
for cxx in g++ clang++; do
	command -v $cxx >/dev/null 2>&1 || continue
	for flags in -std=c++11 "-std=c++20 -O2 -fno-pie -no-pie"; do
		$cxx $strict $flags -o say say.cc more.cc 2>err.txt || { fail "$cxx $flags: $(head -n 3 err.txt)"; continue; }
		./say
		[ $? = 7 ] || fail "$cxx $flags: the program failed"
	done
done
[ $compilers != 0 ] || skip "no compiler is here"
finish
