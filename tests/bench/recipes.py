#!/usr/bin/env python3
"""Trains each task's recipe over several seeds and prints what was reached: median and lowest held-out score, the step
at which .9 was passed, seconds. One process a run, one thread each.

    tests/bench/recipes.py build/release/bin/headscope                    # all recipes, seeds 1 to 10
    tests/bench/recipes.py HEADSCOPE --only translation/full --seeds 11-20
    tests/bench/recipes.py HEADSCOPE --only look-ups -- --heads 1         # what follows -- goes to headscope train
"""
import argparse
import csv
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# name, arguments, the score that is asked for, the most seconds that it may take (0: any)
RECIPES = [
    ("look-ups", ["--task", "look-ups"], 0.99, 0),
    ("copying", ["--task", "copying"], 0.99, 0),
    ("translation/pocket", ["--task", "translation"], 0.99, 0),
    ("sentiment/pocket", ["--task", "sentiment"], 0.98, 0),
    ("questions/pocket", ["--task", "questions"], 0.98, 0),
    ("translation/full", ["--task", "translation", "--size", "full"], 0.95, 120),
    ("sentiment/full", ["--task", "sentiment", "--size", "full"], 0.95, 120),
    ("questions/full", ["--task", "questions", "--size", "full"], 0.95, 120),
    ("questions/full mixed", ["--task", "questions", "--size", "full", "--setting", "kinds=mixed"], 0.95, 0),
]


def train(headscope, arguments, seed):
    """One run: its last held-out score, the first step with a score of .9, all steps, seconds."""
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        start = time.monotonic()
        command = [headscope, "train", *arguments, "--seed", str(seed), "--threads", "1", "--out", str(run)]
        done = subprocess.run(command, capture_output=True, text=True)
        seconds = time.monotonic() - start
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}\n{done.stderr}")
        with open(run / "history.csv", newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["held_out_score"]]
        passed = next((int(row["step"]) for row in rows if float(row["held_out_score"]) >= 0.9), None)
        return float(rows[-1]["held_out_score"]), passed, int(rows[-1]["step"]), seconds


def seeds_of(text):
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("headscope", help="the program, built for this machine: ./run builds build/release/bin/headscope")
    parser.add_argument("--seeds", type=seeds_of, default=range(1, 11), help="1-10")
    parser.add_argument("--only", help="recipes whose name begins so")
    cut = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    options, more = parser.parse_args(sys.argv[1:cut]), sys.argv[cut + 1:]
    print(f"{'recipe':22} {'steps':>6} {'median':>7} {'lowest':>7} {'reached':>8} {'.9 at step':>11} {'seconds':>8} {'longest':>8}")
    for name, arguments, wanted, limit in RECIPES:
        if options.only and not name.startswith(options.only):
            continue
        runs = [train(options.headscope, arguments + more, seed) for seed in options.seeds]
        scores = [score for score, _, _, _ in runs]
        passed = [step for _, step, _, _ in runs if step is not None]
        seconds = [seconds for _, _, _, seconds in runs]
        reached = sum(score >= wanted and (limit == 0 or s <= limit) for score, _, _, s in runs)
        print(f"{name:22} {runs[0][2]:6} {statistics.median(scores):7.4f} {min(scores):7.4f} {reached:5}/{len(runs)} "
              f"{statistics.median(passed) if passed else '-':>11} {statistics.median(seconds):8.1f} {max(seconds):8.1f}",
              flush=True)


if __name__ == "__main__":
    main()
