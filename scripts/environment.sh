# shellcheck shell=bash
# Sourced by the scripts beside it; they run in the repository's root from then on.
#
# `prepare SET` makes `.venv` hold what SET needs. The sets are demo, docs, test and check; each
# holds all of the one before it. What was installed, and from what, is noted in `.venv`, so that a
# second run has nothing to do. A `.venv` that was interrupted, moved or lost its interpreter is
# made again. `uv` does the work where it is on PATH, else `venv` and pip.
#
# With LOCKED=yes everything comes from requirements-dev.lock, each file by its hash.

case "${PYTHON:-}" in
    /*) ;;
    */*) PYTHON="$PWD/$PYTHON" ;;
esac
unset CDPATH PYTHONHOME
root="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)"
cd -- "$root" || exit
venv="$root/.venv"
python="$venv/bin/python"

fail() {
    printf '%s\n' "$@" >&2
    exit 1
}

# Run a command and show what it printed only if it fails.
quietly() {
    local printed
    if ! printed="$("$@" </dev/null 2>&1)"; then
        printf '%s\n' "$printed" >&2
        fail "" "This failed: $*"
    fi
}

has_uv() {
    command -v uv >/dev/null 2>&1
}

require_python() {
    local interpreter="$1"
    command -v "$interpreter" >/dev/null 2>&1 ||
        fail "There is no $interpreter. Python 3.11 or newer is required;" \
            "the variable PYTHON may name one: PYTHON=/path/to/python scripts/${0##*/}"
    "$interpreter" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
        fail "Python 3.11 or newer is required, and $interpreter is $("$interpreter" -V 2>&1)." \
            "The variable PYTHON may name another: PYTHON=/path/to/python scripts/${0##*/}"
}

version_of() {
    "$1" -I -c 'import sys; print(sys.version)' 2>/dev/null
}

# create_venv FOLDER [INTERPRETER]
create_venv() {
    if has_uv; then
        # Without an interpreter uv chooses one that pyproject.toml allows.
        quietly uv venv --seed --allow-existing ${2:+--python "$2"} "$1"
    else
        quietly "${2:-python3}" -m venv "$1"
    fi
}

# install_into FOLDER WHAT...
install_into() {
    local folder="$1"
    shift
    if has_uv; then
        quietly uv pip install --python "$folder/bin/python" "$@"
    else
        # pip knows dependency groups since 25.1.
        quietly "$folder/bin/python" -m pip install "pip>=25.1"
        quietly "$folder/bin/python" -m pip install "$@"
    fi
}

# Print what an installation depends on; fail if there is no usable environment.
fingerprint() {
    "$python" -I - "$root" "${LOCKED:-}" 2>/dev/null <<'PYTHON'
import hashlib
import sys
from pathlib import Path

if sys.version_info < (3, 11) or sys.prefix == sys.base_prefix:
    sys.exit(1)
root = Path(sys.argv[1])
parts = [sys.version.encode(), bytes(root), sys.argv[2].encode()]
names = ["pyproject.toml", "ferry_sdk/_runtime/version.py"]
if sys.argv[2]:
    names.append("requirements-dev.lock")
parts += [(root / name).read_bytes() for name in names]
print(hashlib.sha256(b"\0".join(parts)).hexdigest())
PYTHON
}

is_whole() {
    if [ -e "$venv/.unfinished" ]; then return 1; fi
    if [ -e "$venv/.made-in" ] && [ "$(cat "$venv/.made-in")" != "$root" ]; then return 1; fi
    if [ -n "${PYTHON:-}" ] && [ "$(version_of "$PYTHON")" != "$(version_of "$python")" ]; then
        return 1
    fi
    fingerprint >/dev/null
}

can_install() {
    has_uv || "$python" -I -c 'import pip' 2>/dev/null
}

make_venv() {
    rm -rf -- "$venv"
    hash -r # an activated environment may be the one just removed
    if [ -n "${PYTHON:-}" ] || ! has_uv; then require_python "${PYTHON:-python3}"; fi
    mkdir -- "$venv"
    : >"$venv/.unfinished"
    create_venv "$venv" "${PYTHON:-}"
    printf '%s\n' "$root" >"$venv/.made-in"
}

prepare() {
    local wanted="$1" sets=() extras="sandbox" packages=() current=""
    case "$wanted" in
        demo) sets=(demo) ;;
        docs) sets=(demo docs) ;;
        test) sets=(demo docs test) ;;
        check) sets=(demo docs test check) ;;
        *) fail "There is no set of packages called $wanted." ;;
    esac
    case "$wanted" in
        docs) packages=(--group docs) ;;
        test | check)
            extras="$extras,agents,cli,fast,notebook,otel,postgresql,rate,scan"
            packages=(--group docs --group test --group examples --group interop --group types)
            ;;
    esac
    packages+=(--editable ".[$extras]")
    if [ "$wanted" = check ]; then packages+=(--group benchmarks --group check); fi

    if [ -n "${PYTHON:-}" ]; then require_python "$PYTHON"; fi
    if is_whole; then
        current="$(fingerprint)"
        if [ "$(cat "$venv/.installed-$wanted" 2>/dev/null)" = "$current" ]; then return; fi
    fi

    if [ -z "$current" ] || ! can_install; then make_venv; fi
    printf 'Installing what scripts/%s needs into .venv ...\n' "$wanted" >&2
    : >"$venv/.unfinished"
    if [ -n "${LOCKED:-}" ]; then
        install_into "$venv" --require-hashes --requirement requirements-dev.lock
        packages=(--no-deps --no-build-isolation --editable .)
    fi
    install_into "$venv" "${packages[@]}"
    current="$(fingerprint)"
    for wanted in "${sets[@]}"; do printf '%s\n' "$current" >"$venv/.installed-$wanted"; done
    rm -- "$venv/.unfinished"
}
