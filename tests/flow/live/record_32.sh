# The tests of what is recorded inside the target, with the same programs built for 32 bits (i386), and once more with files and times of 64 bits in them.
. "$(dirname "$0")/../common.sh" "$@"
[ -e "$bin/runtime/i386/libctxrt.so" ] && [ -e "$bin/examples/heap32" ] || skip "no compiler for programs of 32 bits"
heap32 child 1 || skip "programs of 32 bits do not run here"
need jq
need_runtime
for kind in 32 32_wide; do
	for what in heap io sync; do
		CTX_KIND=$kind sh "$source_dir/tests/flow/live/record_$what.sh" "$build" "$source_dir" >said.txt 2>&1
		case $? in
		0) ;;
		77) leave_out "$what$kind: $(grep SKIP said.txt)" ;;
		*) fail "$what$kind: $(cat said.txt)" ;;
		esac
	done
done
# Without randomization, as a debugger runs programs, the stack is at the very end of the address space, and copies of it end there: what the kernel writes then is
# no multiple of 8 bytes, for the rest of its ring.
if setarch -R true 2>/dev/null; then
	setarch -R ctxrec -q --no-archive -o run.er --heap --trace-full wait -- heap32 all >all.txt 2>err.txt
	[ $? = 7 ] && [ ! -s err.txt ] || fail "a stack at the end of the address space: $(cat all.txt err.txt)"
	got=$(allocations_of in_child)
	[ "$got" = 36 ] || fail "a stack at the end of the address space: in_child has $got allocations instead of 36"
else
	leave_out "randomization cannot be switched off here"
fi
finish
