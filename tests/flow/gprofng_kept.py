#!/usr/bin/env python3
"""All comparisons of kept experiments with gprofng, in one process: what several of them ask of ctxan is asked once.

    gprofng_kept.py EXPERIMENT.er...
"""
import os
import sys

import gprofng_filters
import gprofng_reports
import gprofng_tables

failed = 0
for path in sys.argv[1:]:
    print(f"{os.path.basename(path).removesuffix('.er')}:", flush=True)
    for script in (gprofng_reports, gprofng_tables, gprofng_filters):
        sys.argv = [script.__name__, path]
        if script.main() != 0:
            failed += 1
            print(f"FAIL: {path}: {script.__name__}", flush=True)
sys.exit(1 if failed else 0)
