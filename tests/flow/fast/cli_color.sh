# Colour: on a terminal, unless NO_COLOR or TERM=dumb says otherwise, or as --color says; it adds escape sequences and changes nothing else.
. "$(dirname "$0")/../common.sh" "$@"
need script jq

gen_experiment --samples 100 --threads 2 --stacks 5 --depth 4 --seed 3 --duration-ms 100 -o run.er || fail "gen_experiment"
unset NO_COLOR
export TERM=xterm LC_ALL=C.UTF-8

plain() { sed 's/\x1b\[[0-9;]*m//g'; }
on_terminal() { script -qec "stty cols 120; ctxan -q run.er -r functions $*" typescript </dev/null | tr -d '\r'; }
has_color() { grep -q "$(printf '\033')\[[0-9;]*m" "$1"; }

ctxan -q run.er -r functions --width 120 >pipe.txt || fail "a pipe"
has_color pipe.txt && fail "a pipe has colour"
ctxan -q run.er -r functions --width 120 --color always >always.txt || fail "always"
has_color always.txt || fail "--color always has none"
plain <always.txt | cmp - pipe.txt || fail "--color always changes more than the colour"
grep -q "$(printf '\033')\[33mnote: " always.txt || fail "notes are not yellow"

on_terminal >terminal.txt
cmp terminal.txt always.txt || fail "a terminal"
on_terminal --color never >never.txt
cmp never.txt pipe.txt || fail "--color never"
NO_COLOR=1 on_terminal >no_color.txt
cmp no_color.txt pipe.txt || fail "NO_COLOR"
NO_COLOR='' on_terminal >empty.txt
cmp empty.txt always.txt || fail "an empty NO_COLOR"
NO_COLOR=1 on_terminal --colour=always >forced.txt
cmp forced.txt always.txt || fail "--color always wins over NO_COLOR"
TERM=dumb on_terminal >dumb.txt
cmp dumb.txt pipe.txt || fail "TERM=dumb"
ctxan -q run.er -r functions --color always --format json | jq -e .rows >rows.json || fail "json with colour"
ctxan -q run.er --color sometimes 2>wrong.txt && fail "--color sometimes"
grep -q "auto, always" wrong.txt || fail "$(cat wrong.txt)"
finish
