-- _check_job: what every job must satisfy; most of it is told by the tests of enqueue.
begin;
select plan(5);

create function pg_temp.numbers(p_number text, p_count integer) returns jsonb language sql as $$
    select jsonb_build_object('numbers', jsonb_agg(p_number::jsonb)) from generate_series(1, p_count)
$$;

-- given numbers that are short to write and long to read
set local statement_timeout = '20s';
select throws_ok(
    $$ select plane._check_job('send', pg_temp.numbers('1e131071', 20000), '{}') $$,
    'PL413', 'params and envelope are limited to 256 KiB', 'a size is told before everything is written out');
select throws_ok(
    $$ select plane._check_job('send', '{}', pg_temp.numbers('-1e131071', 20000)) $$,
    'PL413', 'params and envelope are limited to 256 KiB', 'also that of an envelope');
select throws_ok(
    $$ select plane._check_job('send', pg_temp.numbers('1e-16383', 50000), '{}') $$,
    'PL413', 'params and envelope are limited to 256 KiB', 'also that of fractions');

-- given others
select lives_ok(
    $$ select plane._check_job('send', '{"n": 1e131071}', pg_temp.numbers('1e1001', 100)) $$,
    'a long number that fits is taken');
select lives_ok(
    $$ select plane._check_job('send', pg_temp.numbers('1234567.5', 20000), '{}') $$,
    'so are many short ones');

select * from finish();
rollback;
