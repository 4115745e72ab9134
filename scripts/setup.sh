# Sourced by the other scripts: makes .venv and installs tacit with the extras in $1, once.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

# Install Debian packages, unless the command that each one brings is there already.
debian() { # command package
  command -v "$1" >/dev/null 2>&1 && return 0
  echo "installing the Debian package $2"
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$2" >/dev/null
}

python=python3
for candidate in python3.11 python3.12 python3.13; do
  command -v "$candidate" >/dev/null 2>&1 && python=$candidate && break
done

make_venv() {
  [ -x .venv/bin/python ] && return 0
  if ! "$python" -m venv .venv 2>/dev/null; then
    rm -rf .venv
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3-venv >/dev/null
    "$python" -m venv .venv
  fi
}

install_extras() { # extras, e.g. "test"; empty for none
  local extras=$1 stamp want
  stamp=".venv/.installed-${extras:-plain}"
  want=$(cat pyproject.toml constraints.txt | sha256sum)
  if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$want" ]; then return 0; fi
  echo "installing tacit${extras:+[$extras]} into .venv (once)"
  .venv/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".${extras:+[$extras]}"
  echo "$want" > "$stamp"
}

make_venv
