#!/bin/sh
# Is the given Python fit to make .venv? One clear line when it is not.
python=$1
say() { echo "$1" >&2; exit 1; }
command -v "$python" >/dev/null 2>&1 || say "$python is not here: install Python 3.11 or newer, or name it: make PYTHON=/path/to/python3"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || say "pgplane needs Python 3.11 or newer, and this is $("$python" --version): name another one, make PYTHON=python3.12"
"$python" -c 'import venv, ensurepip' 2>/dev/null || say "$python cannot make virtual environments: install its venv module (Debian: apt-get install python3-venv)"
