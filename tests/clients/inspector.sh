#!/bin/sh
# Lists and calls the tools with the inspector's command line from npm, its strict schema lint on. Run by hand:
#   tests/clients/inspector.sh [EXECUTABLE]
# The inspector and the newer Node that it wants go to target/clients-node; nothing is written to the tree.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
program=${1:-$root/target/release/nethack-lab}
if [ ! -x "$program" ]; then
    echo "no executable at $program: build one, or give its path" >&2
    exit 2
fi
program=$(cd "$(dirname "$program")" && pwd)/$(basename "$program")
folder=${CARGO_TARGET_DIR:-$root/target}/clients-node
mkdir -p "$folder"
cd "$folder"
if [ ! -x node_modules/.bin/mcp-inspector ]; then
    [ -f package.json ] || echo '{"private":true}' > package.json
    npm install --silent --no-fund --no-audit node@22 @modelcontextprotocol/inspector@2.12
fi
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
