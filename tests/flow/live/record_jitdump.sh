# ctxrec reads the dumps of just-in-time compilers: two functions at one address have the names of their time, and their instructions; a dump that is
# removed while it is recorded, one that is damaged, and one of another process.
. "$(dirname "$0")/../common.sh" "$@"
need jq
command -v jit >/dev/null || skip "the target jit was not built: it knows no machine code for this processor"

# callers FUNCTION: its place in the tree, from the outermost caller.
callers() {
	ctxan -q run.er -r tree --limit 0 --format json |
		jq -r --arg f "$1" '[foreach .rows[] as $r ({path: []}; .path = .path[0:$r.level] + [$r.function]; {path, base: $r.base})] | map(select(.path[-1] == $f)) | max_by(.base).path | join(" ")'
}
both() {
	for function in jit_alpha jit_beta; do
		case $(callers $function) in
		*" main with_dump run $function") ;;
		*) fail "$1: the callers of $function: $(callers $function)" ;;
		esac
	done
}

ctxrec -q --no-archive -o run.er -- jit dump . 200 >dump.txt 2>err.txt || fail "exit status: $(cat err.txt)"
[ -s err.txt ] && fail "messages: $(cat err.txt)"
rm "$(cat dump.txt)"
both dump
for function in jit_alpha jit_beta; do
	ctxan run.er -r disasm=$function >disasm.txt || fail "no disassembly of $function"
	grep -q 'instructions of this function are not known' disasm.txt && fail "no instructions of $function: $(cat disasm.txt)"
done

# It is gone before its process ends: the recorder has it open.
rm -rf run.er
ctxrec -q --no-archive -o run.er -- sh -c 'jit dump . 300 & sleep 0.2; rm -f jit-*.dump; wait' >/dev/null 2>err.txt || fail "removed: exit status: $(cat err.txt)"
both removed

# No dump is said, and the rest recorded.
rm -rf run.er
mkdir other
ctxrec -q --no-archive -o run.er -- python3 -c '
import mmap, os, time
path = "other/jit-%d.dump" % os.getpid()
open(path, "wb").write(b"no dump" * 1000)
fd = os.open(path, os.O_RDONLY)
mmap.mmap(fd, 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)
end = time.process_time() + 0.1
while time.process_time() < end: pass
' 2>err.txt || fail "no dump: exit status"
grep -q 'code of just-in-time compilers has no names: .*not a jitdump' err.txt || fail "no dump: $(cat err.txt)"
ctxan run.er -r functions >/dev/null || fail "no dump: no report"
finish
