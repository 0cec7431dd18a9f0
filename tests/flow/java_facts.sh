# What is known of a recording of testdata/java/Shares.java, however the machine was: sourced by record_java and record_java_kept.

# check_java NAME: run.er
check_java() {
	ctxan run.er --export folded -o folded.txt || fail "$1: folded"
	grep -v 'Truncated-stack' folded.txt >whole.txt
	grep 'Shares\.leaf(int)' whole.txt >leaf.txt || fail "$1: no sample in leaf"
	grep -v '^java;Shares\.main(java\.lang\.String\[\]);Shares\.work(long);Shares\.mid(long);Shares\.leaf(int)' leaf.txt && fail "$1: other callers of leaf"
	grep 'Shares\.deep(int, long)' whole.txt >deep.txt || fail "$1: no sample in deep"
	grep -v '^java;Shares\.main(java\.lang\.String\[\]);Shares\.work(long);Shares\.deep(int, long)' deep.txt && fail "$1: other callers of deep"
	awk '{ n = gsub(/Shares\.deep\(int, long\)/, ""); most = n > most ? n : most } END { exit most != 40 }' deep.txt || fail "$1: deep does not call itself 39 times"
	grep -qF 'java;Shares.main(java.lang.String[]);Shares.work(long);Shares.by(java.util.function.IntUnaryOperator, long);Shares$$Lambda.applyAsInt(int);Shares.lambda$work$0(int)' whole.txt ||
		fail "$1: the lambda is not below the method that calls it"
	ctxan run.er -r lines --format json | jq -r '.rows[] | select(.function == "Shares.leaf(int)" and .file != null) | "\(.file) \(.line)"' >lines.txt
	[ -s lines.txt ] || fail "$1: no lines of leaf"
	awk '$1 != "Shares.java" || $2 < 16 || $2 > 21' lines.txt | grep . && fail "$1: leaf is not at these lines"
	# System.gc is called twice.
	ctxan run.er -r marks --format json | jq -r '.rows[] | select(.name == "GC pause") | "\(.count >= 2) \(.open)"' >marks.txt
	[ "$(cat marks.txt)" = 'true 0' ] || fail "$1: garbage collections: $(cat marks.txt)"
	# The same samples in all views; the user's has no frame of the virtual machine.
	for view in user expert machine; do
		ctxan run.er --view $view -r functions --format json | jq -r '.weight' >$view.txt
	done
	[ "$(cat user.txt)" = "$(cat expert.txt)" ] && [ "$(cat user.txt)" = "$(cat machine.txt)" ] || fail "$1: sums of views: $(cat user.txt expert.txt machine.txt)"
	ctxan run.er --view expert --export folded -o expert.txt || fail "$1: expert view"
	grep -q '^java;[^;]*;.*;Shares\.main(java\.lang\.String\[\]);Shares\.work(long);Shares\.mid(long)' expert.txt || fail "$1: expert: no frames below main"
}
