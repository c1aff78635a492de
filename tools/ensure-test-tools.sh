#!/bin/sh
# What `make test` needs beyond .venv: PostgreSQL with pgTAP and plpgsql_check, pg_prove, nginx, and,
# where Node is here, Chromium for the page. As root on Debian it installs what is missing; anybody
# else is told. The server is installed without a cluster: tests start their own, in a folder of
# theirs. nginx is only unpacked, into .tools/: its package would start one, at each boot too.
set -eu

have() { command -v "$1" >/dev/null 2>&1; }
node_is_here() { have node && have npm && node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)'; }
server() { ls -d /usr/lib/postgresql/*/bin/initdb 2>/dev/null | sed 's|.*/postgresql/\([0-9]*\)/.*|\1|' | sort -n | tail -1; }
extension() { [ -f "/usr/share/postgresql/$(server)/extension/$1.control" ]; }

nginx_is_here() { have nginx || [ -x /usr/sbin/nginx ] || [ -x .tools/nginx/usr/sbin/nginx ]; }
unpack_nginx() {
    mkdir -p .tools/nginx
    (cd .tools/nginx && apt-get download -q nginx && dpkg-deb -x nginx_*.deb . && rm nginx_*.deb) >/dev/null 2>&1
}
ensure_nginx() {
    nginx_is_here && return
    echo "Unpacking Debian's nginx into .tools/ ..."
    unpack_nginx || { [ "$(id -u)" -eq 0 ] && apt-get update -q >/dev/null 2>&1 && unpack_nginx; } ||
        echo "It could not be had: tests that need nginx are left out."
}

missing=
add() { missing="$missing $1"; }

have pg_prove || add libtap-parser-sourcehandler-pgtap-perl
if [ -z "$(server)" ]; then
    add 'postgresql-$V' && add 'postgresql-$V-pgtap' && add 'postgresql-$V-plpgsql-check'
else
    extension pgtap || add "postgresql-$(server)-pgtap"
    extension plpgsql_check || add "postgresql-$(server)-plpgsql-check"
fi
if node_is_here && ! have chromium; then add chromium; fi

[ -n "$missing" ] || { ensure_nginx; exit 0; }

if ! have apt-get || [ "$(id -u)" -ne 0 ]; then
    # Without root, the tests still find ways of their own for all but a browser.
    echo "Some tests use other means or are left out. All of them run after, as root:"
    echo "    apt-get install$(echo "$missing" | sed 's/\$V/15/g')"
    ensure_nginx
    exit 0
fi

export DEBIAN_FRONTEND=noninteractive
quietly() { "$@" >/tmp/pgplane-apt.$$ 2>&1 || { cat /tmp/pgplane-apt.$$; rm -f /tmp/pgplane-apt.$$; exit 1; }; rm -f /tmp/pgplane-apt.$$; }
install() { quietly apt-get install -y -q --no-install-recommends "$@"; }

echo "Reading Debian's package lists ..."
quietly apt-get update -q
version=$(apt-cache depends postgresql | sed -n 's/.*Depends: postgresql-\([0-9]*\)$/\1/p' | head -1)
missing=$(echo "$missing" | sed "s/\\\$V/$version/g")
echo "Installing$missing ..."
if [ -z "$(server)" ] && [ ! -e /etc/postgresql-common/createcluster.conf ]; then
    install postgresql-common
    sed -i 's/^#\?create_main_cluster.*/create_main_cluster = false/' /etc/postgresql-common/createcluster.conf
fi
# shellcheck disable=SC2086
install $missing
ensure_nginx
