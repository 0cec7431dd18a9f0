# Shell completion: what bash and fish offer, and that zsh can read its file.
. "$(dirname "$0")/../common.sh" "$@"
need bash

cat >offer.bash <<'END'
# offer.bash FILE WORD...: what completion of the last word offers, a line each
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
compopt() { :; }
_"$1"
printf '%s\n' "${COMPREPLY[@]}"
END
# offers WANTED WORD...: exactly these, in any order
offers() {
	wanted=$1
	shift
	bash offer.bash "$build/share/$1" "$@" 2>err.txt | sort | tr '\n' ' ' >offered.txt
	[ ! -s err.txt ] || fail "bash: $*: $(head -n 3 err.txt)"
	[ "$(cat offered.txt)" = "$wanted " ] || fail "bash: $*: offers '$(cat offered.txt)' and not '$wanted'"
}
mkdir run.er folder
touch plain.txt
offers '--fanout --filter --focus --fold-object --follow --format --function' ctxan --f
offers 'csv html json junit markdown text' ctxan run.er --format ''
offers 'json junit' ctxan --format = j
offers 'callers-callees' ctxan -r callers-
offers 'functions,stacks functions,states' ctxan --report functions,sta
offers 'html html-static' ctxan --export ht
offers 'run.er' ctxan ru
offers 'folder' ctxan --symfs fo
offers 'plain.txt' ctxan -o pl
offers 'auto full min off syscalls' ctxrec --states ''
offers '--overwrite' ctxrec --ov
offers 'cycles,cpu-clock cycles,cpu-migrations' ctxrec -e cycles,cpu
offers 'plain.txt' ctxrec -F 99 -q -- cat pl
offers 'plain.txt' ctxrec -F 99 cat pl
# Each option of --help is offered.
for program in ctxan ctxrec; do
	"$program" --help | sed -nE 's/^ {2,6}(-., )?(--[a-z-]+).*/\2/p' | sort >listed.txt
	bash offer.bash "$build/share/$program" "$program" -- | sort >offered.txt
	cmp -s listed.txt offered.txt || fail "bash: $program: options offered: $(diff listed.txt offered.txt)"
done

if command -v zsh >/dev/null 2>&1; then
	for program in ctxan ctxrec; do
		zsh -n "$build/share/_$program" || fail "zsh cannot read _$program"
		grep -q "^#compdef $program\$" "$build/share/_$program" || fail "_$program names no command"
	done
else
	leave_out "zsh is not installed"
fi
if command -v fish >/dev/null 2>&1; then
	fish_offers() {
		fish --no-config -c "source '$build/share/$2.fish'; complete -C '$3'" 2>err.txt | cut -f 1 | sort | tr '\n' ' ' >offered.txt
		[ "$(cat offered.txt)" = "$1 " ] || fail "fish: $3: offers '$(cat offered.txt)' and not '$1': $(head -n 3 err.txt)"
	}
	fish_offers '--fanout --filter --focus --fold-object --follow --format --function' ctxan 'ctxan --f'
	fish_offers 'csv html json junit markdown text' ctxan 'ctxan --format '
	fish_offers 'functions,stacks functions,states' ctxan 'ctxan -r functions,sta'
	fish_offers '--stack-size --states' ctxrec 'ctxrec --sta'
else
	leave_out "fish is not installed"
fi
finish
