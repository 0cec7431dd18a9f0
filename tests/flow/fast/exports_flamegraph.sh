# Zoom, keys and search of the flame graph in a real browser, on a kept recording whose functions are named to break out of it (testdata/recordings/evil.c).
. "$(dirname "$0")/../common.sh" "$@"
need chromium xmllint xz

unpack recordings/evil
ctxan -q evil.er --export flamegraph -o evil.svg || fail "flamegraph"
xmllint --noout evil.svg || fail "not well-formed"

# Our user: runs behind the graph's own script, and writes down what it sees.
cat >user.js <<'END'
const seen = {};
const groups = [...document.querySelectorAll("#frames > g")];
const shown = () => groups.filter((g) => g.style.display !== "none").length;
const width = (g) => Number(g.querySelector("rect").getAttribute("width"));
const nameOf = (g) => g.querySelector("title").textContent.split("\n")[0];
const named = (words) => groups.find((g) => nameOf(g).includes(words));
const press = (target, key, more) => target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));
const details = () => document.getElementById("details").textContent;
window.alert = () => { seen.alert = true; };
const main = groups.find((g) => nameOf(g) === "main"), middle = named("onerror"), leaf = named("</script>"), field = document.querySelector("input");
const before = groups.map(width).join();
const share = width(leaf) / width(middle);
middle.dispatchEvent(new MouseEvent("click", { bubbles: true }));
seen.zoomed = Math.abs(width(middle) - 1180) < 0.01 && width(groups[0]) === 1180 && Math.abs(width(leaf) - 1180 * share) < 0.01;
seen.focused = document.activeElement === middle && details().startsWith("&lt;img src=x onerror=alert(2)>'  [<b onclick=alert(3)>], ");
press(middle, "ArrowDown");
seen.below = document.activeElement === leaf;
press(leaf, "ArrowUp");
press(middle, "ArrowUp");
seen.above = document.activeElement === main;
press(document, "Escape");
seen.back = shown() === groups.length && groups.map(width).join() === before;
press(document, "f", { ctrlKey: true });
seen.search = document.activeElement === field;
for (const words of ["^main$|onerror", "alert(1", "<b onclick", "["]) {
	field.value = words;
	field.dispatchEvent(new Event("input"));
	const matches = groups.filter((g) => g.classList.contains("match"));
	seen[words] = details().includes(" match") && (words.startsWith("^") ? matches.length === 2 && Math.abs(parseFloat(details().split(", ")[1]) - width(main) / 11.8) < 0.02
		: words.includes("(") ? matches.length === 1 && matches[0] === leaf : matches.length >= 3);
}
press(field, "Escape");
seen.cleared = document.querySelector(".match") === null;
seen.foreign = document.querySelectorAll("img, b, #frames script").length === 0;
document.documentElement.setAttribute("data-seen", Object.entries(seen).map(([name, value]) => `${name}=${value}`).join("; "));
END
{
	sed '$d' evil.svg
	printf '<script><![CDATA[\n'
	cat user.js
	printf ']]></script></svg>\n'
} >driven.svg
xmllint --noout driven.svg || fail "the driven copy is not well-formed"
timeout 120 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$work/profile" --window-size=1240,800 --dump-dom "file://$work/driven.svg" >dom.txt 2>chromium.txt
seen=$(grep -o 'data-seen="[^"]*"' dom.txt | head -n 1)
[ -n "$seen" ] || { [ -s dom.txt ] || skip "chromium does not run here: $(tail -n 1 chromium.txt)"; fail "the script of the graph stopped ours: $(tail -n 3 chromium.txt)"; }
for check in zoomed focused below above back search cleared foreign '\^main\$|onerror' 'alert(1' '&lt;b onclick' '\['; do
	printf '%s\n' "$seen" | grep -q -- "$check=true" || fail "$check: $seen"
done
printf '%s\n' "$seen" | grep -q 'alert=' && fail "a name ran as code"
finish
