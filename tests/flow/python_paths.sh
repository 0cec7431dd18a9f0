# Sourced: what stacks of testdata/python/known.py must be, whatever the machine.

# python_paths RECORDING [INTERPRETER]: each leaf has its one chain of callers, and the views agree. The name of the interpreter's function, if it is known.
python_paths() {
	loop=${2:-}
	ctxan -q "$1" --export folded --view user >user.folded || fail "user"
	ctxan -q "$1" --export folded --view expert >expert.folded || fail "expert"
	ctxan -q "$1" --export folded --view machine >machine.folded || fail "machine"
	for chain in 'outer;middle;inner;burn' 'sorts;key;keyed;burn' 'consume;produce;burn' 'Work.run;Work.step;burn' 'caught;handles;burn' 'child_work;burn'; do
		grep -q ";<module>;$chain [0-9]*\$" user.folded || fail "no samples of $chain: $(cat user.folded)"
		leaf=${chain%;burn}
		leaf=${leaf##*;}
		grep ";$leaf;burn " user.folded | grep -v ";<module>;$chain " >other.txt && fail "$leaf has other callers: $(cat other.txt)"
	done
	grep -q ';Thread._bootstrap;Thread._bootstrap_inner;Thread.run;thread_work;burn [0-9]*$' user.folded || fail "no samples of the thread"
	grep -q 'raises;burn' user.folded && fail "raises has left its frame"
	# Native code below burn is burn's own in the view of users.
	grep -qE ';burn;' user.folded && fail "native frames in the view of users: $(grep -E ';burn;' user.folded)"
	grep -qE ';(<module>|burn|inner)[; ]' machine.folded && fail "functions of Python in the view of machines"
	if [ -n "$loop" ]; then
		grep -q "$loop;<module>;sorts;.*$loop;key;keyed;burn" expert.folded || fail "expert: $(grep keyed expert.folded | head -n 1)"
		grep -q "$loop" machine.folded || fail "machine has no interpreter"
		grep -q "$loop" user.folded && fail "the interpreter in the view of users"
	fi
	for view in user expert machine; do awk -v v=$view '{ s += $NF } END { print s }' $view.folded; done | sort -u >sums.txt
	[ "$(wc -l <sums.txt)" = 1 ] || fail "the sums differ: $(cat sums.txt)"
	# Files and lines: burn is where it stands in the file.
	ctxan -q "$1" -r lines --limit 0 --view user --format json >lines.json || fail "lines"
	jq -e '[.rows[] | select(.function == "burn" and .exclusive > 0) | (.file | endswith("known.py")) and .line >= 10 and .line <= 14] | all and length > 0' lines.json >has.txt ||
		fail "lines of burn: $(jq -c '.rows[] | select(.function == "burn")' lines.json)"
}
