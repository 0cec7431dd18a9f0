# The man pages: no warnings, 80 columns, an entry for each option, report and format, and no wall of text.
. "$(dirname "$0")/../common.sh" "$@"
need groff

for program in ctxan ctxrec; do
	page=$build/share/$program.1
	[ -s "$page" ] || { fail "$page was not built"; continue; }
	groff -man -Tascii -P-cbou -ww -rLL=80n "$page" >page.txt 2>warnings.txt || fail "$program: groff"
	[ ! -s warnings.txt ] || fail "$program: groff: $(head -n 5 warnings.txt)"
	wide=$(awk 'length > 80' page.txt)
	[ -z "$wide" ] || fail "$program: wider than 80 columns: $wide"
	for section in NAME SYNOPSIS DESCRIPTION OPTIONS EXAMPLES 'EXIT STATUS' 'SEE ALSO'; do
		grep -qx "$section" page.txt || fail "$program: no section $section"
	done
	longest=$(awk '/^ *$/ { n = 0; next } { n++; if (n > most) most = n } END { print most }' page.txt)
	[ "$longest" -le 20 ] || fail "$program: a paragraph of $longest lines"

	# What --help lists in its first columns are tags of paragraphs.
	"$program" --help | sed -nE 's/^ {2,6}((-.), )?(--[a-z-]+).*/\3/p; s/^ {8}([a-z][a-z-]+)(, [a-z]+)?  .*/\1/p' | sort -u >listed.txt
	grep -A 1 '^\.TP$' "$page" | sed 's/\\f[BIR]//g; s/\\-/-/g; s/[, ]\(--*[a-z]\)/\n\1/g' | sed 's/[, ].*//' | sort -u >tags.txt
	missing=$(comm -23 listed.txt tags.txt)
	[ "$(wc -l <listed.txt)" -gt 20 ] || fail "$program --help lists only $(wc -l <listed.txt) options"
	[ -z "$missing" ] || fail "$program: no entry for" $missing
done

if command -v mandoc >/dev/null 2>&1; then
	# Sources have long lines, and no date.
	mandoc -Tlint "$build/share/ctxan.1" "$build/share/ctxrec.1" | grep -vE 'longer than 80 bytes|missing date' >lint.txt
	[ ! -s lint.txt ] || fail "mandoc: $(head -n 5 lint.txt)"
else
	leave_out "mandoc is not installed"
fi
finish
