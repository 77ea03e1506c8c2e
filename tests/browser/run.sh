#!/bin/sh
# Drives the viewer's page in headless Chromium. Usage: tests/browser/run.sh [EXECUTABLE]
# The driver's packages and the screenshots go to target/browser; with SCREENSHOTS_TO_DOCS=1 some are put into docs/images.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
program=${1:-$root/target/release/nethack-lab}
if [ ! -x "$program" ]; then
    echo "no executable at $program: build one, or give its path" >&2
    exit 2
fi
CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || true)}
if [ -z "$CHROMIUM" ]; then
    echo "no chromium: install Debian's package chromium, or set CHROMIUM" >&2
    exit 2
fi
work=${CARGO_TARGET_DIR:-$root/target}/browser
mkdir -p "$work/screenshots"
if ! cmp -s "$here/package.json" "$work/package.json" || [ ! -d "$work/node_modules" ]; then
    cp "$here/package.json" "$work/package.json"
    npm install --prefix "$work" --no-audit --no-fund --silent
fi
# Modules are looked for beside the files that ask for them.
cp "$here"/*.mjs "$work/"
export CHROMIUM
status=0
drive() { timeout 120 node "$work/$1" "$program" "$root" "$work/screenshots"; }
for test in live.mjs tree.mjs lost.mjs replay.mjs; do
    drive $test || status=1
done
if [ "${SCREENSHOTS_TO_DOCS:-}" = 1 ] && [ "$status" = 0 ]; then
    mkdir -p "$root/docs/images"
    cp "$work"/screenshots/spectator-*.png "$root/docs/images/"
fi
exit $status
