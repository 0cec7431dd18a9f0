# ctxrec-places: a range in a program that has more functions than are counted at most; all of them are refused.
. "$(dirname "$0")/../common.sh" "$@"
need gcc
awk 'BEGIN {
	print ".text"
	for (i = 0; i <= 100000; i++)
		printf ".type f%d,@function\nf%d: .byte 0\n.size f%d,1\n", i, i, i
	print ".globl main\n.type main,@function\nmain: .byte 0\n.size main,1\n.section .note.GNU-stack,\"\",@progbits"
}' >many.s
gcc many.s -o many || exit 1
ctxrec-places many range f5 f7 >places.txt || fail "a range: exit status $?"
printf 'entry f5\nentry f6\nentry f7\n' >wanted.txt
awk -F '\t' '{ print $1, $5 }' places.txt | cmp -s - wanted.txt || fail "a range: $(cat places.txt)"
expect 3 'no function nope' ctxrec-places many range f5 nope
expect 2 'f7 lies behind f5' ctxrec-places many range f7 f5
expect 2 'more than 100000 places' ctxrec-places many object -
finish
