#!/bin/sh
# Runs a session with npm's MCP client, and lists and calls the tools with the inspector's command line, its strict schema
# lint on. Usage: tests/clients/npm/run.sh [EXECUTABLE]
# The packages, among them the newer Node that the inspector wants, go to target/clients-npm; nothing is written to the tree.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
program=${1:-$root/target/release/nethack-lab}
if [ ! -x "$program" ]; then
    echo "no executable at $program: build one, or give its path" >&2
    exit 2
fi
program=$(cd "$(dirname "$program")" && pwd)/$(basename "$program")
folder=${CARGO_TARGET_DIR:-$root/target}/clients-npm
mkdir -p "$folder"
if ! cmp -s "$here/package.json" "$folder/package.json" || [ ! -d "$folder/node_modules" ]; then
    cp "$here/package.json" "$folder/package.json"
    npm install --prefix "$folder" --silent --no-fund --no-audit
fi
cp "$here/session.mjs" "$folder/"
cd "$folder"
PATH=$folder/node_modules/.bin:$PATH
passed=0
failed=0

# expect STATUS WORD ARGUMENTS...: the inspector ends with this status and its output has this word.
expect() {
    wanted=$1
    word=$2
    shift 2
    status=0
    output=$(mcp-inspector --cli "$program" mcp --seed 42 "$@" 2>&1) || status=$?
    if [ "$status" -eq "$wanted" ] && printf '%s' "$output" | grep -q -- "$word"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED ($status, not $wanted, or without $word): $*"
        printf '%s\n' "$output" | tail -n 20
    fi
}

node session.mjs "$program" || failed=1
expect 0 fork_adopt --method tools/list --strict
expect 0 rom_id --method tools/call --tool-name info
expect 0 'Dlvl:1' --method tools/call --tool-name observe
expect 0 '"sent": *1' --method tools/call --tool-name press --tool-arg revision=1 --tool-arg key=s
expect 0 exact --method tools/call --tool-name movie_verify
expect 5 STALE --method tools/call --tool-name press --tool-arg revision=7 --tool-arg key=s
expect 5 INVALID_ARGUMENT --method tools/call --tool-name info --tool-arg verbose=true
expect 5 'not found' --method tools/call --tool-name no_such_tool
echo "inspector: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
