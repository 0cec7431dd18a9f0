# The terminal: its width in a pipe, the pager, ASCII by the locale; the configuration file; words of perf report; --open.
. "$(dirname "$0")/../common.sh" "$@"
need script

gen_experiment --samples 100 --threads 2 --stacks 5 --depth 4 --seed 3 --duration-ms 100 -o run.er || fail "gen_experiment"
ctxan -q run.er -r functions >usual.txt || fail "functions"
export TERM=xterm NO_COLOR=1
# on_terminal COLUMNS COMMAND: what it prints to a terminal of so many columns.
on_terminal() { script -qec "stty cols $1; $2" typescript </dev/null | tr -d '\r'; }
rule() { tr -cd '─\n' <"$1" | awk '{ n = length($0); if (n > most) most = n } END { print most + 0 }'; }

# The width, by the rules between stanzas: a terminal's, in a pipe as well; COLUMNS and --width come first there.
unset COLUMNS
on_terminal 70 "ctxan -q run.er -r callers-callees" >direct.txt
on_terminal 70 "ctxan -q run.er -r callers-callees | cat" >piped.txt
cmp direct.txt piped.txt || fail "a pipe has not the width of the terminal"
on_terminal 70 "ctxan -q run.er -r callers-callees --width 100 | cat" >wide.txt
on_terminal 70 "COLUMNS=100 ctxan -q run.er -r callers-callees | cat" >columns.txt
cmp wide.txt columns.txt || fail "COLUMNS in a pipe"
cmp -s wide.txt piped.txt && fail "--width in a pipe"
on_terminal 70 "ctxan -q run.er -r callers-callees >file.txt" >nothing.txt
ctxan -q run.er -r callers-callees --width 120 >wide.txt || fail "--width"
cmp file.txt wide.txt || fail "a file has the width of the terminal"
COLUMNS=120
export COLUMNS

# ASCII where the locale is not UTF-8, but for files.
ctxan -q run.er -r tree >utf8.txt || fail "tree"
LC_ALL=C ctxan -q run.er -r tree >ascii.txt || fail "tree in ASCII"
ctxan -q run.er -r tree --ascii | cmp - ascii.txt || fail "the locale C"
grep -q '└' utf8.txt || fail "the locale C.UTF-8"
LC_ALL=C ctxan -q run.er -r tree -o file.txt && cmp -s file.txt utf8.txt || fail "a file in the locale C"

# The pager.
with_pager() { on_terminal 120 "CTXAN_PAGER='$1' ctxan -q run.er -r functions ${2:-}"; }
with_pager 'sed s/^/PAGED:/' >paged.txt
grep -q '^PAGED:.*<Total>' paged.txt || fail "CTXAN_PAGER: $(head -n 3 paged.txt)"
sed 's/^PAGED://' paged.txt | cmp - usual.txt || fail "the pager gets something else"
for case in "|sed s/^/PAGED:/|--no-pager" "||" "|cat|" "|no-such-pager 2>nothing.txt|"; do
	command=${case#|}
	with_pager "${command%|*}" "${command##*|}" >case.txt
	cmp case.txt usual.txt || fail "pager '$case': $(head -n 2 case.txt)"
done
on_terminal 120 "unset CTXAN_PAGER; PAGER='sed s/^/PAGED:/' ctxan -q run.er -r functions" | cmp - paged.txt || fail "PAGER"
with_pager 'echo LESS is $LESS; cat' >less.txt
head -n 1 less.txt | grep -qx 'LESS is FRX' || fail "LESS: $(head -n 1 less.txt)"
with_pager 'true' >left.txt # leaves without reading
[ ! -s left.txt ] || fail "a pager that reads nothing"
CTXAN_PAGER='sed s/^/PAGED:/' ctxan -q run.er -r functions | cmp - usual.txt || fail "a pager in a pipe"
with_pager 'sed s/^/PAGED:/' '--format json' | grep -q PAGED && fail "a pager for json"

# The configuration file.
mkdir -p "$HOME/.config/ctxan" other/ctxan
printf '# comment\n\nwidth = 50\n--ascii\ncolor=never\r\n' >"$HOME/.config/ctxan/config"
ctxan -q run.er -r tree >config.txt || fail "config"
ctxan -q run.er -r tree --no-config --width 50 --ascii >wanted.txt || fail "--no-config"
cmp config.txt wanted.txt || fail "the configuration file"
ctxan -q run.er -r tree --width 60 >later.txt
ctxan -q run.er -r tree --no-conf --width 60 --ascii | cmp - later.txt || fail "the command line comes after the file"
echo 'width=60' >other/ctxan/config
XDG_CONFIG_HOME=$work/other ctxan -q run.er -r tree | cmp -s - utf8.txt && fail "XDG_CONFIG_HOME"
refused() {
	printf '%s\n' "$1" >other/ctxan/config
	expect 1 "$2" env XDG_CONFIG_HOME="$work/other" ctxan -q run.er
}
refused "
wdth 80" "other/ctxan/config:2: no option 'wdth', perhaps width"
refused 'report=tree' "config:1: 'report' belongs on the command line"
refused 'width' "config:1: 'width' needs a value"
refused 'ascii=yes' "config:1: 'ascii' takes no value"
refused 'width = 3' "config:1: --width '3'"
XDG_CONFIG_HOME=$work/other ctxan -q run.er -r functions --no-config | cmp - usual.txt || fail "--no-config with a wrong file"
rm "$HOME/.config/ctxan/config"

# What people who know perf report type.
ctxan -q run.er --stdio --no-children -r functions | cmp - usual.txt || fail "--stdio --no-children"
expect 1 "no option '-g' here: -r tree has the call graph" ctxan -q run.er -g
expect 1 "no option '--call-graph' here: -r tree" ctxan -q run.er --call-graph=caller
expect 1 "no option '--children' here: -r functions --sort inclusive" ctxan -q run.er --children
expect 1 "no option '--percent-limit' here: -r tree --min-percent" ctxan -q run.er --percent-limit 1
expect 1 "no command 'report' here: ctxan perf.data" ctxan report
expect 1 "no command 'annotate' here: .*-r source=FUNCTION" ctxan annotate work_1 run.er
cp -r run.er report
ctxan -q report -r functions >report.txt || fail "a recording that is called report"
expect 1 "the report is -r functions" ctxan -functions run.er

# The page beside the recording, or in a temporary directory; opened where there is a display.
mkdir bin
printf '#!/bin/sh\necho "$1" >"%s/opened.txt"\n' "$work" >bin/xdg-open
chmod +x bin/xdg-open
PATH=$work/bin:$PATH
ctxan -q run.er/ --open >page.txt || fail "--open"
[ "$(cat page.txt)" = run.er.html ] || fail "--open says $(cat page.txt)"
grep -q '<html' run.er.html || fail "--open wrote no page"
[ ! -e opened.txt ] || fail "opened without a display"
DISPLAY=:9 ctxan -q run.er --open -o page.html >page.txt || fail "--open -o"
[ "$(cat opened.txt page.txt)" = "page.html
page.html" ] || fail "--open -o: $(cat opened.txt page.txt)"
mv run.er newest.er && rm -r report
ctxan -q --open >page.txt || fail "--open of the newest"
[ "$(cat page.txt)" = ./newest.er.html ] || [ "$(cat page.txt)" = newest.er.html ] || fail "--open of the newest: $(cat page.txt)"
if [ "$(id -u)" != 0 ]; then
	mkdir closed && mv newest.er closed && chmod a-w closed
	TMPDIR=$work ctxan -q closed/newest.er --open >page.txt || fail "--open beside a closed place"
	chmod u+w closed && mv closed/newest.er .
	grep -q "^$work/ctxan-.*/newest.er.html$" page.txt || fail "--open beside a closed place: $(cat page.txt)"
fi
expect 1 "open requires --export html" ctxan newest.er --open --export folded
finish
