#!/usr/bin/python3
"""Times the same training step in Headscope and in PyTorch eager, in turn, and prints the ratios.

compare_pytorch.py [--headscope PROGRAM] [--sizes SML] [--threads 1 2] [--rounds 5] [--seconds 2]

The step: forward, backward, AdamW, of a decoder with pre-norm, learned positions, exact gelu and biases, attention
written by hand that keeps scores and weights. PyTorch runs with and without foreach; the quicker counts. With several
threads its best setting counts: OpenBLAS told the number of threads, or left at one.

Needs Debian's python3-torch and libopenblas0-pthread. OpenBLAS of Debian 12 does not know newer processors and falls back
to SSE3 kernels, so it is told which to use (OPENBLAS_CORETYPE); a ratio against the untold one would flatter.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time


def core_type():
    """The name of OpenBLAS's kernels for this processor."""
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        flags = next((line for line in file if line.startswith("flags")), "").split()
    return "SkylakeX" if "avx512f" in flags else "Haswell" if "avx2" in flags else None


def torch_worker(config, n_threads, seconds, foreach):
    """Median milliseconds of a step. Runs in a process of its own, whose environment set the threads."""
    import torch
    import torch.nn.functional as F

    torch.set_num_threads(n_threads)
    torch.manual_seed(1)
    s = argparse.Namespace(**config)
    d_head = s.d_model // s.n_heads

    def parameter(*shape, deviation):
        return (torch.randn(*shape) * deviation).requires_grad_()

    def linear(n_in, n_out):
        return parameter(n_out, n_in, deviation=n_in ** -0.5), torch.zeros(n_out, requires_grad=True)

    def norm():
        return torch.ones(s.d_model, requires_grad=True), torch.zeros(s.d_model, requires_grad=True)

    tokens = parameter(s.n_vocab, s.d_model, deviation=0.3)
    positions = parameter(s.n_tokens, s.d_model, deviation=0.3)
    layers = [dict(norm1=norm(), qkv=linear(s.d_model, 3 * s.d_model), out=linear(s.d_model, s.d_model), norm2=norm(),
                   inner=linear(s.d_model, s.d_ff), outer=linear(s.d_ff, s.d_model)) for _ in range(s.n_layers)]
    final, unembedding = norm(), linear(s.d_model, s.n_vocab)
    parameters = [tokens, positions, *final, *unembedding]
    for layer in layers:
        for pair in layer.values():
            parameters += pair
    optimiser = torch.optim.AdamW(parameters, lr=1e-3, weight_decay=0.0, foreach=foreach)
    mask = torch.full((s.n_tokens, s.n_tokens), float("-inf")).triu(1)
    ids = torch.randint(1, s.n_vocab, (s.n_batch, s.n_tokens + 1))
    fed, targets = ids[:, :-1], ids[:, 1:].reshape(-1)

    def step():
        kept = []
        x = tokens[fed] + positions
        for layer in layers:
            h = F.layer_norm(x, (s.d_model,), *layer["norm1"])
            qkv = F.linear(h, *layer["qkv"]).view(s.n_batch, s.n_tokens, 3, s.n_heads, d_head).permute(2, 0, 3, 1, 4)
            scores = qkv[0] @ qkv[1].transpose(-1, -2) * d_head ** -0.5
            weights = (scores + mask).softmax(-1)
            kept += [scores, weights]
            mixed = (weights @ qkv[2]).transpose(1, 2).reshape(s.n_batch, s.n_tokens, s.d_model)
            x = x + F.linear(mixed, *layer["out"])
            h = F.layer_norm(x, (s.d_model,), *layer["norm2"])
            x = x + F.linear(F.gelu(F.linear(h, *layer["inner"])), *layer["outer"])
        logits = F.linear(F.layer_norm(x, (s.d_model,), *final), *unembedding)
        loss = F.cross_entropy(logits.view(-1, s.n_vocab), targets)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        return kept

    for _ in range(3):
        step()
    times, start = [], time.perf_counter()
    while len(times) < 5 or time.perf_counter() - start < seconds:
        begin = time.perf_counter()
        step()
        times.append(time.perf_counter() - begin)
    print(json.dumps(statistics.median(times) * 1e3))


def time_torch(config, n_threads, seconds, foreach, blas_threads):
    environment = dict(os.environ, OMP_NUM_THREADS=str(n_threads), OPENBLAS_NUM_THREADS=str(blas_threads),
                       OMP_WAIT_POLICY="passive")
    if core_type():
        environment["OPENBLAS_CORETYPE"] = core_type()
    out = subprocess.run([sys.executable, __file__, "--worker", json.dumps(config), str(n_threads), str(seconds),
                          str(int(foreach))],
                         env=environment, check=True, capture_output=True, text=True).stdout
    return json.loads(out)


def time_headscope(program, size, n_threads, seconds):
    """Milliseconds of a step, its share of the peak, and the sizes that PyTorch must take, too."""
    out = subprocess.run([program, "bench", "--size", size, "--threads", str(n_threads), "--seconds", str(seconds),
                          "--json"], check=True, capture_output=True, text=True).stdout
    run = json.loads(out)["runs"][0]
    return run["ms_per_step"], run["peak_share"], run["config"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    here = os.path.dirname(os.path.abspath(__file__))
    parser.add_argument("--headscope", default=os.path.join(here, "../../build/release/bin/headscope"))
    parser.add_argument("--sizes", default="SML")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--worker", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        config, n_threads, seconds, foreach = arguments.worker
        return torch_worker(json.loads(config), int(n_threads), float(seconds), foreach == "1")

    print("medians of %d rounds; OpenBLAS kernels: %s" % (arguments.rounds, core_type() or "its own choice"))
    print("size threads  headscope ms (of peak)   PyTorch ms (best setting)            ratio")
    for size in arguments.sizes:
        for n_threads in arguments.threads:
            settings = [(foreach, blas) for foreach in (True, False) for blas in sorted({1, n_threads})]
            ours, shares, theirs = [], [], {setting: [] for setting in settings}
            for _ in range(arguments.rounds):
                ms, share, config = time_headscope(arguments.headscope, size, n_threads, arguments.seconds)
                ours.append(ms)
                shares.append(share)
                for foreach, blas in settings:
                    theirs[foreach, blas].append(time_torch(config, n_threads, arguments.seconds, foreach, blas))
            best = min(settings, key=lambda setting: statistics.median(theirs[setting]))
            mine, peer = statistics.median(ours), statistics.median(theirs[best])
            print("%-4s %-7d  %-9.3f (%4.1f %%)       %-9.3f (foreach %s, BLAS threads %d)   %.2f" %
                  (size, n_threads, mine, 100 * statistics.median(shares), peer, "on" if best[0] else "off", best[1],
                   peer / mine), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
