/*
 * Zoom and search in a flame graph that is complete without them. Names are only read from and written to text nodes.
 * A frame is a <g> with <title> (lines: name; the object in brackets, mostly; figures), <rect>, and <text> where a label fits.
 */
(function () {
	"use strict";
	const SVG = "http://www.w3.org/2000/svg", HTML = "http://www.w3.org/1999/xhtml";
	const LEFT = 10, WIDTH = 1180, PAD = 3, COLUMN = 7.25, BASELINE = 12, SLACK = 0.001, BAR = 420;
	const picture = document.documentElement;
	const group = document.getElementById("frames");
	const details = document.getElementById("details");
	const wide = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]/;
	const frames = [], places = new Map();
	let zoomed = 0, current = 0, found = "";

	/* The document has the frames depth first: the parent of a frame is the last one above it. */
	function gather() {
		const path = [];
		for (const g of group.children) {
			const rect = g.querySelector("rect"), text = g.querySelector("text");
			const lines = g.querySelector("title").textContent.split("\n");
			const x = parseFloat(rect.getAttribute("x")), y = parseFloat(rect.getAttribute("y"));
			while (path.length > 0 && frames[path[path.length - 1]].y >= y)
				path.pop();
			frames.push({
				g, rect, text, x, y,
				w: parseFloat(rect.getAttribute("width")),
				label: text ? text.textContent : "",
				name: lines[0],
				object: lines[1].startsWith("[") ? lines[1] : "",
				more: lines.slice(1).join(", "),
				parent: path.length > 0 ? path[path.length - 1] : -1,
			});
			path.push(frames.length - 1);
			places.set(g, frames.length - 1);
		}
	}

	function columns(c) {
		return wide.test(c) ? 2 : 1;
	}

	/* The name in so many columns, cut in its middle. */
	function fit(name, room) {
		const chars = Array.from(name);
		let width = 0, head = "", tail = "";
		for (const c of chars)
			width += columns(c);
		if (width <= room)
			return name;
		for (let i = 0, left = Math.floor((room - 1) / 2); i < chars.length && columns(chars[i]) <= left; i++) {
			left -= columns(chars[i]);
			head += chars[i];
		}
		for (let i = chars.length - 1, left = Math.ceil((room - 1) / 2); i >= 0 && columns(chars[i]) <= left; i--) {
			left -= columns(chars[i]);
			tail = chars[i] + tail;
		}
		return head + "\u2026" + tail;
	}

	function put(frame, x, w, label) {
		frame.rect.setAttribute("x", x);
		frame.rect.setAttribute("width", w);
		if (label === "" && !frame.text)
			return;
		if (!frame.text) {
			frame.text = document.createElementNS(SVG, "text");
			frame.text.setAttribute("y", frame.y + BASELINE);
			frame.g.appendChild(frame.text);
		}
		frame.text.setAttribute("x", x + PAD);
		frame.text.textContent = label;
	}

	function labelFor(frame, w) {
		const room = Math.floor((w - 2 * PAD) / COLUMN);
		return room >= 3 ? fit(frame.name, room) : "";
	}

	function ancestors(i) {
		const all = new Set();
		for (let at = frames[i].parent; at >= 0; at = frames[at].parent)
			all.add(at);
		return all;
	}

	function zoom(to) {
		const top = frames[to], scale = WIDTH / top.w, over = ancestors(to);
		zoomed = to;
		for (let i = 0; i < frames.length; i++) {
			const frame = frames[i];
			const inside = i >= to && frame.x >= top.x - SLACK && frame.x + frame.w <= top.x + top.w + SLACK;
			const above = over.has(i);
			frame.g.style.display = inside || above ? "" : "none";
			frame.g.classList.toggle("above", above);
			if (above)
				put(frame, LEFT, WIDTH, labelFor(frame, WIDTH));
			else if (inside && to === 0)
				put(frame, frame.x, frame.w, frame.label);
			else if (inside)
				put(frame, LEFT + (frame.x - top.x) * scale, frame.w * scale, labelFor(frame, frame.w * scale));
		}
		reset.disabled = to === 0;
	}

	function tell(text) {
		details.textContent = fit(text, Math.floor(WIDTH / COLUMN));
	}

	function describe(i) {
		tell(frames[i].name + "  " + frames[i].more);
	}

	/* One frame at a time is in the order of the Tab key; the arrow keys go on from it. */
	function focus(i) {
		frames[current].g.setAttribute("tabindex", "-1");
		current = i;
		frames[i].g.setAttribute("tabindex", "0");
		frames[i].g.focus();
		describe(i); /* a window in the background has no focus events */
	}

	function isShown(i) {
		return frames[i].g.style.display !== "none";
	}

	function neighbour(step) {
		for (let i = current + step; i >= 0 && i < frames.length; i += step) {
			if (frames[i].y === frames[current].y && isShown(i))
				return i;
		}
		return current;
	}

	function child() {
		const i = current + 1;
		if (i < frames.length && frames[i].parent === current)
			return i;
		return current;
	}

	/* From an ancestor of the zoomed frame the way down leads to it, not to frames that are hidden. */
	function down() {
		for (let at = zoomed; at >= 0; at = frames[at].parent) {
			if (frames[at].parent === current)
				return at;
		}
		return child();
	}

	function moved(key) {
		switch (key) {
		case "ArrowDown": return down();
		case "ArrowUp": return frames[current].parent >= 0 ? frames[current].parent : current;
		case "ArrowLeft": return neighbour(-1);
		case "ArrowRight": return neighbour(1);
		case "Home": return 0;
		default: return -1;
		}
	}

	function matcher(words) {
		try {
			const pattern = new RegExp(words, "i");
			return (name) => pattern.test(name);
		} catch {
			const small = words.toLowerCase();
			return (name) => name.toLowerCase().includes(small);
		}
	}

	/* A sample counts once, however many of its frames match: frames below a match add nothing. */
	function search(words) {
		const matches = words === "" ? () => false : matcher(words);
		const covered = new Array(frames.length).fill(false);
		let n = 0, share = 0;
		found = words;
		frames.forEach((frame, i) => {
			const under = frame.parent >= 0 && covered[frame.parent];
			const hit = i > 0 && (matches(frame.name) || matches(frame.object));
			frame.g.classList.toggle("match", hit);
			covered[i] = under || hit;
			n += hit ? 1 : 0;
			share += hit && !under ? frame.w : 0;
		});
		clear.disabled = words === "";
		if (words !== "")
			tell(n + (n === 1 ? " frame matches, " : " frames match, ") + (100 * share / WIDTH).toFixed(2) + " % of the total");
		else
			tell("");
	}

	function element(name, properties) {
		return Object.assign(document.createElementNS(HTML, name), properties);
	}

	const field = element("input", { type: "search", placeholder: "Search (regex, Ctrl-F)" });
	const clear = element("button", { type: "button", textContent: "Clear", disabled: true });
	const reset = element("button", { type: "button", textContent: "Reset zoom", disabled: true });

	function addBar() {
		const place = document.createElementNS(SVG, "foreignObject");
		const bar = element("div", { className: "bar" });
		for (const [name, value] of Object.entries({ y: 8, width: BAR, height: 28 }))
			place.setAttribute(name, value);
		field.setAttribute("aria-label", "Search frames");
		bar.append(field, clear, reset);
		place.appendChild(bar);
		picture.insertBefore(place, group);
		/* At the right end of what a small window shows, but never over the heading. */
		const least = 2 * LEFT + document.getElementById("heading").getComputedTextLength();
		const follow = () => place.setAttribute("x", Math.max(least, Math.min(LEFT + WIDTH, scrollX + innerWidth - LEFT) - BAR));
		follow();
		addEventListener("resize", follow);
		addEventListener("scroll", follow);
		field.addEventListener("input", () => search(field.value));
		clear.addEventListener("click", () => { field.value = ""; search(""); field.focus(); });
		reset.addEventListener("click", () => { zoom(0); focus(current); });
	}

	function indexOf(target) {
		const g = target.closest ? target.closest("#frames > g") : null;
		return g ? places.get(g) : -1;
	}

	function listen() {
		group.addEventListener("click", (event) => {
			const i = indexOf(event.target);
			if (i < 0)
				return;
			zoom(i);
			focus(i);
		});
		group.addEventListener("mouseover", (event) => {
			const i = indexOf(event.target);
			if (i >= 0)
				describe(i);
		});
		group.addEventListener("mouseleave", () => found !== "" ? search(found) : tell(""));
		group.addEventListener("focusin", (event) => {
			const i = indexOf(event.target);
			if (i >= 0)
				describe(i);
		});
		group.addEventListener("keydown", (event) => {
			const to = event.ctrlKey || event.altKey || event.metaKey ? -1 : moved(event.key);
			if (to >= 0)
				focus(to);
			else if (event.key === "Enter" || event.key === " ")
				zoom(current);
			else
				return;
			event.preventDefault();
		});
		/* The second Ctrl-F is the browser's own. */
		document.addEventListener("keydown", (event) => {
			const typing = document.activeElement === field;
			if (!typing && ((event.key === "f" && (event.ctrlKey || event.metaKey)) || event.key === "/")) {
				field.focus();
				field.select();
				event.preventDefault();
			} else if (event.key === "Escape") {
				if (found !== "") {
					field.value = "";
					search("");
				} else {
					zoom(0);
				}
			}
		});
	}

	gather();
	if (frames.length === 0)
		return;
	addBar();
	picture.setAttribute("role", "group");
	group.classList.add("live");
	details.setAttribute("role", "status");
	details.setAttribute("aria-live", "polite");
	frames.forEach((frame, i) => {
		frame.g.setAttribute("role", "button");
		frame.g.setAttribute("tabindex", i === 0 ? "0" : "-1");
	});
	listen();
})();
