#!/usr/bin/env bash
# The lines of docs/python.md read a run that was really made: python_docs_test.sh HEADSCOPE DOCUMENT
set -eu -o pipefail
headscope=$1 document=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$headscope" train --task look-ups --steps 40 --evaluate-every 20 --out "$folder/run" > /dev/null 2>&1
# shellcheck disable=SC2016  # the backquotes are Markdown's
sed -n '/^```python$/,/^```$/p' "$document" | sed '1d;$d' > "$folder/lines.py"
lines=$(wc -l < "$folder/lines.py")
if ((lines < 10 || lines > 20)); then
  echo "$document shows $lines lines of Python, not 10 to 20" >&2
  exit 1
fi
python3 "$folder/lines.py" "$folder/run" | tee "$folder/printed"
grep -q "look-ups" "$folder/printed"
grep -q "'step': '40'" "$folder/printed"
grep -q "decoder.token_embedding" "$folder/printed"
