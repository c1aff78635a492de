#!/bin/sh
# Run lint, pgTAP, pytest and the page's tests, all of them even when one fails, and close with what
# ran. Exit status 0 only when every one passed. MAKE is set by make.
set -u
logs=.test
mkdir -p "$logs"
failed=

for step in lint pgtap pytest page; do
    echo
    echo "== $step"
    { ${MAKE:-make} --no-print-directory "$step" 2>&1 || echo "$step" >"$logs/failed"; } | tee "$logs/$step.log"
    if [ -e "$logs/failed" ]; then
        failed="$failed $step"
        rm "$logs/failed"
    fi
done

last() { grep -E "$2" "$logs/$1.log" | tail -1 | sed 's/=//g; s/^ *//; s/ *$//'; }
echo
echo "== summary"
echo "pgTAP:  $(last pgtap '^pgTAP: ' | sed 's/^pgTAP: //')"
echo "pytest: $(last pytest '[0-9]+ (passed|failed|error)')"
echo "page:   $(last page 'Tests +[0-9]|left out')"
if [ -n "$failed" ]; then
    echo "FAILED:$failed"
    exit 1
fi
echo "all passed"
