#!/usr/bin/env bash
# Records all golden movies anew, with the executable that is given (default: the one that cargo builds).
#   movies/record.sh [NETHACK_LAB]
set -euo pipefail
cd "$(dirname "$0")"
lab=${1:-}
if [ -z "$lab" ]; then
    cargo build --release --locked --quiet
    lab=${CARGO_TARGET_DIR:-../target}/release/nethack-lab
fi
case $lab in /*) ;; */*) lab=$(realpath "$lab") ;; esac

# New files stand beside the old ones until all of them have been made and verified.
new=$(mktemp -d ./.new.XXXXXX)
trap 'rm -rf "$new"' EXIT

record() {
    local name=$1
    shift
    "$lab" movie record --policy explore "$@" -o "$new/$name.movie"
    "$lab" movie verify "$new/$name.movie" >/dev/null
}

# name                seed    hero                                                             keys
record archeologist --seed 2006 --role archeologist --race dwarf --gender female --alignment lawful --keys 600
record barbarian    --seed 2010 --role barbarian --race orc --gender male --alignment chaotic --keys 560
record caveman      --seed 2012 --role caveman --race gnome --gender female --alignment neutral --keys 600
# This one dies.
record healer       --seed 2020 --role healer --race gnome --gender male --alignment neutral --keys 600
record knight       --seed 2004 --role knight --race human --gender female --alignment lawful --keys 580
record monk         --seed 2002 --role monk --race human --gender male --alignment chaotic --keys 480
record priest       --seed 2009 --role priest --race elf --gender female --alignment chaotic --keys 520
record ranger       --seed 2013 --role ranger --race elf --gender male --alignment chaotic --keys 600
record rogue        --seed 2001 --role rogue --race orc --gender female --alignment chaotic --keys 600
record samurai      --seed 2007 --role samurai --race human --gender male --alignment lawful --keys 600
record tourist      --seed 2011 --role tourist --race human --gender female --alignment neutral --keys 600 \
    --options 'autopickup,pickup_types:$'
record valkyrie     --seed 2003 --role valkyrie --race dwarf --gender female --alignment lawful --keys 600
record wizard       --seed 2008 --role wizard --race elf --gender male --alignment chaotic --keys 590
# A hero that lives long: where it dies, the recorder goes back some keys and chooses otherwise.
record long         --seed 3 --role barbarian --keys 20000 --survive

mv "$new"/*.movie .
