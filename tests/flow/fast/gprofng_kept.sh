# What ctxan says of kept experiments of gprofng (testdata/gprofng) is what gprofng said of them. Here neither gprofng nor the libraries of that machine are needed.
. "$(dirname "$0")/../common.sh" "$@"
need python3 xz

for name in single traces family shapes; do
	xz -dc "$source_dir/testdata/gprofng/$name.tar.xz" | tar -x || { fail "$name.tar.xz"; continue; }
	echo "$name:"
	for script in reports tables filters; do
		python3 "$source_dir/tests/flow/gprofng_$script.py" "$name.er" || fail "$name: $script"
	done
done

finish
