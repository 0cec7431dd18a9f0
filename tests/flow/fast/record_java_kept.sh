# What record_java checks, on a kept recording: no virtual machine is needed.
. "$(dirname "$0")/../common.sh" "$@"
need jq
. "$(dirname "$0")/../java_facts.sh"
tar -xJf "$source_dir/testdata/java/shares.tar.xz" shares.er
mv shares.er run.er
check_java kept
ctxan run.er -r disasm='Shares.leaf(int)' >disasm.txt || fail "no disassembly"
grep -q 'Shares\.java:1[6-9]' disasm.txt || fail "instructions without lines: $(head -20 disasm.txt)"
# A second ingest gives the same bytes.
cp run.er/ctxan.db once.db 2>/dev/null || fail "no database"
rm -f run.er/ctxan.db
ctxan run.er -r functions >/dev/null
cmp -s run.er/ctxan.db once.db || fail "two ingests differ"
finish
