# Sourced by record_code_tools.sh, record_code_kept.sh and testdata/answers/make.sh: lines and instructions of code.er, a recording of
# testdata/targets/hot_line.cc, compared with the output of addr2line and objdump, which is in code.addr2line ("address file:line", an
# address for each that has samples) and code.objdump.

pcs() { ctxan -q code.er -r pcs --format json --limit 0 | jq -r '.rows[] | select(.object != null and (.object | endswith("/prog"))) | "\(.address) \(.exclusive)"'; }

# say_tools PROGRAM: asks addr2line and objdump.
say_tools() {
	pcs | while read -r address weight; do
		printf '%s %s\n' "$address" "$(printf '0x%x' "$address" | addr2line -e "$1" | sed 's/ (.*//; s|.*/||')"
	done >code.addr2line
	objdump -d --no-show-raw-insn --disassemble=_Z4worki "$1" >code.objdump
}

# check_code HOT: HOT is the number of the hot line.
check_code() {
	# The weights by address, added up by what addr2line says of them.
	pcs | awk 'NR == FNR { place[$1] = $2; next } !($1 in place) { print "?", $2; next } { print place[$1], $2 }' code.addr2line - |
		awk '{ w[$1] += $2 } END { for (l in w) if (w[l]) print l, w[l] }' | sort >theirs
	ctxan -q code.er -r lines --format json --limit 0 | jq -r '.rows[] | select(.object != null and (.object | endswith("/prog")) and .exclusive > 0 and .line > 0) | "\(.file | split("/") | last):\(.line) \(.exclusive)"' |
		awk '{ w[$1] += $2 } END { for (l in w) print l, w[l] }' | sort >ours
	grep -v '?' theirs >theirs.known
	cmp -s ours theirs.known || fail "lines differ from addr2line's: $(diff ours theirs.known | head -n 6)"
	grep -q "^hot_line.cc:$1 " ours || fail "the hot line $1 has no samples: $(cat ours)"

	# Instructions as objdump has them, line by line of the whole function.
	ctxan -q code.er -r 'disasm=work(int)' --format json --limit 0 >disasm.json || fail "disasm"
	jq -r '.rows[] | select(.instruction != null) | .instruction | split(" ")[0]' disasm.json | grep -v '^$' >our_mnemonics
	sed -n 's/^ *[0-9a-f]*:\t\([a-z][a-z0-9]*\).*/\1/p' code.objdump >their_mnemonics
	[ -s our_mnemonics ] || fail "no instructions of work(int)"
	near "instructions of work(int)" "$(wc -l <our_mnemonics)" "$(wc -l <their_mnemonics)" 1
}
