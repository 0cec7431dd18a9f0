# What ctxan says of kept experiments of gprofng (testdata/gprofng) is what gprofng said of them. Here neither gprofng nor the libraries of that machine are needed.
. "$(dirname "$0")/../common.sh" "$@"
need python3 xz
CTX_ONLY_SAID=1
export CTX_ONLY_SAID

for name in single traces family shapes; do
	unpack "gprofng/$name"
	echo "$name:"
	for script in reports tables filters; do
		python3 "$source_dir/tests/flow/gprofng_$script.py" "$name.er" || fail "$name: $script"
	done
done

finish
