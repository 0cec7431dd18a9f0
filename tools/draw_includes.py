#!/usr/bin/env python3
"""Draws docs/includes.svg: folders on floors with their files, and who includes whom.

	tools/draw_includes.py [--check]

A folder stands above all that it includes. A file is a .c with its .h. --check writes nothing and
exits with 1 where the picture is not what the includes give (the test house.picture).
"""
import collections
import html
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True # the source tree stays as it is
sys.path.insert(0, os.path.join(ROOT, "tests"))
from house import list_sources  # noqa: E402

PICTURE = os.path.join(ROOT, "docs", "includes.svg")
WIDTH, MARGIN, GAP = 1500, 20, 14
LINE, CHARACTER, TITLE = 11, 5.6, 20
COLORS = ["#e8eef7", "#e9f3ea", "#f7f1e3", "#f3e9f1", "#eef0f2", "#e6f2f2"]


def house_of(path):
	"""Its folder: each one of formats/ is a library of its own."""
	parts = path.split("/")
	return "/".join(parts[:2]) if parts[0] == "formats" and len(parts) > 2 else parts[0]


def read_tree():
	"""{house: {file: lines}}, {(house, house): includes}"""
	houses, arrows = collections.defaultdict(collections.Counter), collections.Counter()
	for path in list_sources(ROOT):
		with open(os.path.join(ROOT, path), encoding="utf-8") as file:
			text = file.read()
		house = house_of(path)
		houses[house][os.path.splitext(os.path.basename(path))[0]] += text.count("\n")
		for included in set(re.findall(r'^#include "([^"]+)"', text, re.M)):
			if house_of(included) != house:
				arrows[house, house_of(included)] += 1
	return houses, arrows


def floors_of(houses, arrows):
	"""Floor 0 includes nothing; a house stands one floor above the highest that it includes."""
	floor = {}

	def climb(house, above):
		if house in above:
			sys.exit(f"{PICTURE}: a circle of folders: {' -> '.join([*above, house])}")
		if house not in floor:
			below = [climb(b, [*above, house]) for a, b in sorted(arrows) if a == house]
			floor[house] = 1 + max(below, default=-1)
		return floor[house]

	for house in houses:
		climb(house, [])
	rows = collections.defaultdict(list)
	for house in sorted(houses):
		rows[floor[house]].append(house)
	return [rows[i] for i in sorted(rows, reverse=True)]


def arrange(files, width):
	"""Columns of names that fit: (rows, width of a column)."""
	column = max(len(name) for name in files) * CHARACTER + 10
	columns = max(1, int((width - 12) // column))
	return -(-len(files) // columns), column


def place(rows, houses):
	"""{house: (x, y, width, height, rows, column)}, height of the picture"""
	places, y = {}, MARGIN
	for row in rows:
		room = WIDTH - 2 * MARGIN - GAP * (len(row) - 1)
		weights = [max(len(houses[house]) ** 0.8, len(house) * 0.6) for house in row]
		x, height = MARGIN, 0
		for house, weight in zip(row, weights):
			width = room * weight / sum(weights)
			n, column = arrange(houses[house], width)
			places[house] = [x, y, width, 0, n, column]
			height = max(height, TITLE + n * LINE + 8)
			x += width + GAP
		for house in row:
			places[house][3] = height
		y += height + 3 * GAP
	return places, y


def draw(houses, arrows, rows):
	places, height = place(rows, houses)
	out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" font-family="sans-serif">',
	       f'<rect width="{WIDTH}" height="{height:.0f}" fill="#ffffff"/>']
	for (house, below), n in sorted(arrows.items()):
		if below == "base": # everything may use it
			continue
		ax, ay, aw, ah = places[house][:4]
		bx, by, bw = places[below][:3]
		x1, y1, x2, y2 = ax + aw / 2, ay + ah, bx + bw / 2, by
		bend = (y2 - y1) / 2
		out.append(f'<path d="M{x1:.0f} {y1:.0f}C{x1:.0f} {y1 + bend:.0f} {x2:.0f} {y2 - bend:.0f} {x2:.0f} {y2:.0f}"'
			   f' fill="none" stroke="#5a6b85" stroke-opacity="0.45" stroke-width="{min(1 + n / 25, 5):.1f}">'
			   f"<title>{house} includes {below}: {n}</title></path>")
	for i, (house, (x, y, width, tall, n, column)) in enumerate(sorted(places.items())):
		files = sorted(houses[house])
		out.append(f'<rect x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{tall:.0f}" rx="4" fill="{COLORS[i % len(COLORS)]}"'
			   ' fill-opacity="0.94" stroke="#8794a8"/>')
		out.append(f'<text x="{x + 7:.0f}" y="{y + 15:.0f}" font-size="13" font-weight="bold">{html.escape(house)}/'
			   f'<tspan font-weight="normal" font-size="10" fill="#555"> {sum(houses[house].values()) / 1000:.1f} k</tspan></text>')
		for k, name in enumerate(files):
			at = x + 7 + k // n * column, y + TITLE + 8 + k % n * LINE
			out.append(f'<text x="{at[0]:.0f}" y="{at[1]:.0f}" font-size="9">{html.escape(name)}</text>')
	return "\n".join([*out, "</svg>", ""])


def main():
	houses, arrows = read_tree()
	picture = draw(houses, arrows, floors_of(houses, arrows))
	if sys.argv[1:] == ["--check"]:
		with open(PICTURE, encoding="utf-8") as file:
			# Numbers of lines and includes change with every commit; what the picture shows of structure does not.
			plain = [re.sub(r'[\d.]+ k<|: \d+</title>|stroke-width="[\d.]+"', "", text) for text in (file.read(), picture)]
		if plain[0] != plain[1]:
			sys.exit("docs/includes.svg is not what the includes give: run tools/draw_includes.py")
		return
	with open(PICTURE, "w", encoding="utf-8") as file:
		file.write(picture)


if __name__ == "__main__":
	main()
