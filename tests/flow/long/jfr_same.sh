# What ctxan says of fresh recordings of Java's Flight Recorder is what jfr says of them, event for event: several collectors, many chunks, the
# settings that come with Java.
. "$(dirname "$0")/../common.sh" "$@"
need java javac jfr python3

javac -d . "$source_dir/testdata/jfr/Known.java" || fail javac
sed -e 's/SAMPLE_RATE/100000/' "$source_dir/testdata/jfr/known.jfc.in" >many.jfc

# same NAME SETTINGS ROUNDS OPTION...
same() {
	name=$1 settings=$2 rounds=$3
	shift 3
	java -Xmx64m "$@" -XX:StartFlightRecording:settings="$settings",filename="$name.jfr" Known "$rounds" >"$name.out" 2>&1 ||
		{ fail "$name: $(tail -n 2 "$name.out")"; return; }
	python3 "$source_dir/tests/flow/jfr_same.py" "$name.jfr" --least jdk.ExecutionSample=10 jdk.JavaMonitorEnter=1 jdk.GCPhasePause=1 || fail "$name"
}

same default default 3
same profile profile 3 -XX:+UseSerialGC
same parallel many.jfc 3 -XX:+UseParallelGC
same shenandoah profile 3 -XX:+UseShenandoahGC
same zgc profile 3 -XX:+UseZGC
same interpreted profile 12 -Xint
same chunks many.jfc 8 -XX:TLABSize=2k -XX:-ResizeTLAB -XX:FlightRecorderOptions:maxchunksize=1m
[ "$(jfr summary chunks.jfr | awk '$1 == "Chunks:" { print $2 }')" -gt 1 ] || fail "chunks: only one"
finish
