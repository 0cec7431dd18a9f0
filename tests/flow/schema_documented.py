"""Usage: schema_documented.py SOURCES EXPERIMENT. Compares the tables that the store makes with docs/schema.md, and runs the statements in there."""
import pathlib
import re
import subprocess
import sys

sources, experiment = pathlib.Path(sys.argv[1]), sys.argv[2]
page = (sources / "docs/schema.md").read_text()
# Rows of tables: | `name`, `other` (view) | text |
documented = {}
for row in re.findall(r"^\| (`.*)$", page, re.M):
    names, text = row.split(" | ", 1)
    for name in re.findall(r"`(\w+)", names):
        documented[name] = text
internal = {"node_row", "node_list", "stack_block", "raw_stack_block", "location_block", "site_block"}

wrong = []
n_tables = 0
for file in [sources / "store/schema.c", *sorted((sources / "store").glob("vtab*.c"))]:
    code = re.sub(r'"\s+"', "", file.read_text())
    for name, columns in re.findall(r'"CREATE TABLE (\w+)\((.*?)\)(?: WITHOUT ROWID)?"', code):
        n_tables += 1
        if name not in documented:
            wrong.append(f"{name} is missing")
        elif name not in internal and not name == "experiment":
            words = re.findall(r"\w+", documented[name])
            for column in (part.split()[0] for part in columns.split(",")):
                if "HIDDEN" not in columns and column not in words:
                    wrong.append(f"{name}.{column} is missing")
if n_tables < 30:
    wrong.append(f"only {n_tables} tables were found in the sources")

statements = [block for block in re.findall(r"(?:^    .*\n?)+", page, re.M)]
n_statements = 0
for statement in (s for block in statements for s in re.split(r";\n", block) if s.strip()):
    n_statements += 1
    ran = subprocess.run(["ctxan", "-q", experiment, "--sql", statement], capture_output=True, text=True)
    if ran.returncode != 0:
        wrong.append(f"{ran.stderr.strip()}: {' '.join(statement.split())}")
if n_statements < 8:
    wrong.append(f"only {n_statements} statements were found")
print("\n".join(wrong))
sys.exit(bool(wrong))
