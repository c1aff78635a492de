#!/bin/sh
# Run lint, pgTAP, pytest and the page's tests, all of them even when one fails, and close with what
# ran. Exit status 0 only when every one passed. MAKE is set by make.
set -u
logs=.test
export NO_COLOR=1
mkdir -p "$logs"
failed=

# The page's own step runs the test in the browser, on the page that it has just built.
export ARGS="--ignore=tests/system/test_page.py"
for step in lint pgtap pytest page; do
    echo
    echo "== $step"
    { ${MAKE:-make} --no-print-directory "$step" 2>&1 || echo "$step" >"$logs/failed"; } | tee "$logs/$step.log"
    if [ -e "$logs/failed" ]; then
        failed="$failed $step"
        rm "$logs/failed"
    fi
done

last() { grep -E "$2" "$logs/$1.log" | tail -1 | sed 's/^[= ]*//; s/[= ]*$//'; }
echo
echo "== summary"
echo "pgTAP:  $(last pgtap '^pgTAP: ' | sed 's/^pgTAP: //')"
echo "pytest: $(last pytest '[0-9]+ (passed|failed|error)')"
if grep -q 'left out' "$logs/page.log"; then
    echo "page:   $(last page 'left out')"
else
    echo "page:   $(last page 'Tests +[0-9]' | sed 's/^Tests *//'); in the browser: $(last page '[0-9]+ (passed|failed|error)')"
fi
if [ -n "$failed" ]; then
    echo "FAILED:$failed"
    exit 1
fi
echo "all passed"
