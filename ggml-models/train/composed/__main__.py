"""Prints prompts of one domain as JSON lines: `python -m composed DOMAIN`."""

import argparse
import json

from composed import COMPOSED

parser = argparse.ArgumentParser(prog="composed", description=__doc__)
parser.add_argument("domain", choices=COMPOSED)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--count", type=int, default=2000)
options = parser.parse_args()
for prompt in COMPOSED[options.domain].prompts(options.seed, options.count):
    print(json.dumps({"prompt": prompt}, ensure_ascii=False))
