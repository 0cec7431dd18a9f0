# Functions, files and lines of every frame, inlined calls included: ours, addr2line's and llvm-symbolizer's for 10,000
# addresses of one optimised C++ program, compiled in every way that debug information comes in. Where a tool cannot read
# one of the ways, the answer is that for the same code with plain DWARF.
# symbols_kept does the same with two kept programs.
. "$(dirname "$0")/../common.sh" "$@"
need g++ addr2line python3 objcopy
source=$source_dir/tests/flow/symbols_same.cc
same=$source_dir/tests/flow/symbols_same.py
llvm=
for tool in llvm-symbolizer llvm-symbolizer-14; do
	[ -z "$llvm" ] && command -v $tool >/dev/null 2>&1 && llvm=$tool
done
[ -n "$llvm" ] || leave_out "llvm-symbolizer is not installed: compared with addr2line only"
ln -s "$source" symbols_same.cc
# The tools take most of the time, and read ordinary debug information as the release build does: the sanitizers get a
# few addresses of plain, split and link-time optimised DWARF 5 only.
addresses=10000 sanitized=
if grep -q __asan_init "$bin/symbolize"; then
	addresses=300 sanitized=yes
	export ASAN_OPTIONS=detect_leaks=0 # symbolize leaves what it has to the end of the process
fi

# compare LABEL FILE PLAIN [TOOLS]: our frames for FILE, the tools' for PLAIN, at addresses of PLAIN.
compare() {
	symbolize --random $addresses --print-addresses "$3" | sort -u >addresses.txt
	symbolize --debug-root "$work/debug" "$2" <addresses.txt >ours.txt 2>figures.txt || fail "$1: symbolize failed"
	grep -q 'from none' figures.txt && fail "$1: $(cat figures.txt)"
	case ${4-addr2line llvm} in *addr2line*)
		addr2line -a -i -f -C -e "$3" <addresses.txt >theirs.txt 2>/dev/null
		python3 "$same" "$1, addr2line" ours.txt theirs.txt || fail "$1"
		;;
	esac
	case ${4-addr2line llvm} in *llvm*)
		[ -n "$llvm" ] || return
		$llvm --inlines --functions=linkage --demangle --output-style=GNU -a -e "$3" <addresses.txt >theirs.txt 2>/dev/null
		python3 "$same" "$1, llvm-symbolizer" ours.txt theirs.txt || fail "$1"
		;;
	esac
}

compile() { # OUTPUT COMPILER OPTIONS...
	output=$1
	shift
	compiler=$1
	shift
	"$compiler" -std=c++14 -O2 -Wl,--build-id "$@" -o "$output" symbols_same.cc || fail "$compiler $*"
}

if [ -n "$sanitized" ]; then
	compile gcc5 g++ -gdwarf-5
	compare "gcc, DWARF 5" gcc5 gcc5
	compile split5 g++ -gdwarf-5 -gsplit-dwarf
	compare "gcc, split DWARF 5" split5 split5 llvm
	compile lto g++ -g -flto=1
	compare "gcc, link-time optimised" lto lto llvm
	finish
fi
for version in 2 3 4 5; do
	compile gcc$version g++ -gdwarf-$version
	compare "gcc, DWARF $version" gcc$version gcc$version
done
compile sections g++ -g -ffunction-sections -Wl,--gc-sections
compare "gcc, a section for each function" sections sections
compile lto g++ -g -flto=1
# addr2line 2.40 has no names (??) for calls whose functions lie in another unit.
compare "gcc, link-time optimised" lto lto llvm
compile zlib g++ -g -gz=zlib
compare "gcc, compressed" zlib zlib
compile gnu g++ -g -gz=zlib-gnu
compare "gcc, compressed as of old" gnu gcc5

# A separate debug file, found by its build id, and by its link.
compile whole g++ -g
id=$(readelf -n whole | sed -n 's/.*Build ID: //p')
rest=${id#??}
mkdir -p "debug/.build-id/${id%"$rest"}"
objcopy --only-keep-debug whole "debug/.build-id/${id%"$rest"}/$rest.debug"
objcopy --strip-debug whole stripped
compare "separate debug file" stripped whole
rm -r debug
objcopy --only-keep-debug whole linked.debug
objcopy --strip-debug --add-gnu-debuglink=linked.debug whole linked
compare "separate debug file by its link" linked whole

# Split DWARF: what the program holds is a skeleton.
for version in 4 5; do
	compile split$version g++ -gdwarf-$version -gsplit-dwarf
	compare "gcc, split DWARF $version" split$version split$version llvm
done

if command -v dwz >/dev/null 2>&1; then
	cp gcc4 one
	sed 's/int main(/int other_main(/' symbols_same.cc >symbols_other.cc
	g++ -std=c++14 -O2 -gdwarf-4 -shared -fPIC -Wl,--build-id -o two symbols_other.cc || fail "shared object"
	cp two two.whole
	dwz -m common.debug -M common.debug -h one two || fail dwz
	readelf -S two | grep -q debugaltlink || fail "dwz made no common file"
	compare "dwz" one gcc4
	compare "dwz, common file" two two.whole
	# The common file of another build must not be used: names are missing then, not wrong.
	objcopy --remove-section=.note.gnu.build-id common.debug
	symbolize --quiet --random 100 two 2>figures.txt || fail "dwz without its file: $(cat figures.txt)"
	symbolize two <addresses.txt >ours.txt 2>figures.txt
	grep -q '^<unnamed>$' ours.txt || fail "a common file without a build id was used"
else
	leave_out "dwz is not installed"
fi

if command -v clang++ >/dev/null 2>&1; then
	for version in 4 5; do
		compile clang$version clang++ -gdwarf-$version
	done
	compare "clang, DWARF 4" clang4 clang4
	# addr2line 2.40 misses the lists of ranges that clang writes for version 5 and for line tables only.
	compare "clang, DWARF 5" clang5 clang5 llvm
	compile clangsplit clang++ -gdwarf-4 -gsplit-dwarf
	compare "clang, split DWARF" clangsplit clangsplit llvm
	compile clanglines clang++ -gline-tables-only
	compare "clang, line tables only" clanglines clanglines llvm
else
	leave_out "clang is not installed"
fi
finish
