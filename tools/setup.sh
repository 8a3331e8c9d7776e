#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Installs the project into .venv, with the extras that are named:
#     bash tools/setup.sh [EXTRA ...]
# Does nothing if .venv holds the project already and no extras are asked for. SETUP_PYTHON names the
# Python of .venv, if it isn't python3.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${SETUP_PYTHON:-python3}
extras=$(IFS=, && echo "$*")
if [[ -z $extras && -x .venv/bin/sdy-run ]]; then
    exit
fi
if ! "$python" -c 'import ensurepip' 2> /dev/null; then
    if ! command -v apt-get > /dev/null; then
        echo "$python can't make virtual environments: install its module ensurepip" >&2
        exit 1
    fi
    echo "Installing python3-venv, which Debian splits off Python" >&2
    as_root=()
    ((EUID == 0)) || as_root=(sudo)
    "${as_root[@]}" apt-get update -qq
    DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -qq -y python3-venv > /dev/null
fi
echo "Installing pyshardy into .venv" >&2
"$python" -m venv .venv
.venv/bin/pip install --quiet --disable-pip-version-check -e ".${extras:+[$extras]}"
