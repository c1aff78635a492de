-- create_queue: a queue with these settings; for one that exists, only the settings given change.
begin;
select plan(43);

create function pg_temp.settings(p_queue text) returns text language sql as $$
    select concat_ws(' ', lease, max_dequeues, backoff, backoff_factor, backoff_cap, retention,
        coalesce(max_depth::text, 'no limit'), notify, blob_retention, coalesce(poison_retention::text, 'for ever'))
    from plane.queues where queue = p_queue
$$;

-- when a queue is created by its name alone
select lives_ok($$ select plane.create_queue('create_queue') $$, 'a name is enough for a queue');
select is(
    pg_temp.settings('create_queue'), '00:02:00 5 00:00:30 1 01:00:00 24:00:00 no limit always 24:00:00 for ever',
    'and everything else has a default');

-- when settings are given for a queue that exists
select plane.create_queue('create_queue', p_lease => '10 s', p_max_depth => 7);
select is(
    pg_temp.settings('create_queue'), '00:00:10 5 00:00:30 1 01:00:00 24:00:00 7 always 24:00:00 for ever',
    'only the settings given change');
select plane.create_queue('create_queue', '20 s', 3, '1 s', 2.5, '30 min', '7 days', 100, 'never', '2 days', '90 days');
select is(
    pg_temp.settings('create_queue'), '00:00:20 3 00:00:01 2.5 00:30:00 7 days 100 never 2 days 90 days',
    'all of them can change at once');
select plane.create_queue('create_queue');
select is(
    pg_temp.settings('create_queue'), '00:00:20 3 00:00:01 2.5 00:30:00 7 days 100 never 2 days 90 days',
    'no setting given is nothing changed');
select plane.create_queue('create_queue', p_max_depth => 0);
select is(
    pg_temp.settings('create_queue'), '00:00:20 3 00:00:01 2.5 00:30:00 7 days no limit never 2 days 90 days',
    'a max_depth of 0 takes the limit away');
select plane.create_queue('create_queue-empty', p_max_depth => 0);
select is(
    (select max_depth from plane.queues where queue = 'create_queue-empty'), null,
    'a new queue with a max_depth of 0 has no limit either');
select is(
    (select count(*) from plane.queues where queue = 'create_queue'), 1::bigint,
    'altering a queue makes no second one');

-- when a name is at the edge of what a name may be
select lives_ok($$ select plane.create_queue('0') $$, 'one digit is a name');
select lives_ok(
    $$ select plane.create_queue('a_b-9' || repeat('z', 43)) $$, 'a name has up to 48 characters');

create function pg_temp.refuses_name(p_name text, p_what text) returns text language sql as $$
    select throws_ok(format('select plane.create_queue(%L)', p_name), '22023', 'not a queue name', p_what)
$$;
select pg_temp.refuses_name(null, 'NULL is no name');
select pg_temp.refuses_name('', 'an empty name is refused');
select pg_temp.refuses_name(repeat('a', 49), 'a name of 49 characters is refused');
select pg_temp.refuses_name('Mail', 'a capital letter is refused');
select pg_temp.refuses_name('-mail', 'a name begins with a letter or digit');
select pg_temp.refuses_name('my mail', 'a blank is refused');
select pg_temp.refuses_name('post-ä', 'a letter beyond a to z is refused');
select pg_temp.refuses_name(E'mail\n', 'a line break at the end is refused');

-- when a setting is at the edge of its range
select lives_ok(
    $$ select plane.create_queue('create_queue', '1 microsecond', 1, '0', 1, '0', '0', 1, 'waiters', '0', '0') $$,
    'the least of every setting is taken');
select lives_ok(
    $$ select plane.create_queue('create_queue', '7 days', 1000000, '365 days', 1000, '365 days', '100 years',
        2147483647, 'always', '100 years', '100 years') $$,
    'and so is the most');

create function pg_temp.refuses(p_setting text, p_what text) returns text language sql as $$
    select throws_ok('select plane.create_queue(''create_queue'', ' || p_setting || ')',
        '22023', 'a queue setting is out of range', p_what)
$$;
select pg_temp.refuses('p_lease => ''0''', 'a lease of nothing is refused');
select pg_temp.refuses('p_lease => ''-1 s''', 'a negative lease is refused');
select pg_temp.refuses('p_lease => ''7 days 1 s''', 'a lease beyond 7 days is refused');
select pg_temp.refuses('p_max_dequeues => 0', 'a job needs one attempt at least');
select pg_temp.refuses('p_max_dequeues => 1000001', 'more than a million attempts are refused');
select pg_temp.refuses('p_backoff => ''-1 s''', 'a negative backoff is refused');
select pg_temp.refuses('p_backoff => ''366 days''', 'a backoff beyond 365 days is refused');
select pg_temp.refuses('p_backoff_factor => 0.99', 'a factor that shortens pauses is refused');
select pg_temp.refuses('p_backoff_factor => 1000.1', 'a factor beyond 1000 is refused');
select pg_temp.refuses('p_backoff_factor => ''NaN''', 'a factor that is not a number is refused');
select pg_temp.refuses('p_backoff_cap => ''-1 s''', 'a negative cap is refused');
select pg_temp.refuses('p_backoff_cap => ''366 days''', 'a cap beyond 365 days is refused');
select pg_temp.refuses('p_retention => ''-1 s''', 'a negative retention is refused');
select pg_temp.refuses('p_retention => ''101 years''', 'a retention beyond 100 years is refused');
select pg_temp.refuses('p_blob_retention => ''-1 s''', 'blobs cannot be kept for less than nothing');
select pg_temp.refuses('p_blob_retention => ''101 years''', 'nor for more than 100 years');
select pg_temp.refuses('p_poison_retention => ''-1 s''', 'poison cannot be kept for less than nothing');
select pg_temp.refuses('p_poison_retention => ''101 years''', 'nor for more than 100 years');
select pg_temp.refuses('p_max_depth => -1', 'a negative max_depth is refused');
select pg_temp.refuses('p_notify => ''sometimes''', 'an unknown notify is refused');
select pg_temp.refuses('p_notify => ''''', 'an empty notify is refused');

select throws_ok(
    $$ select plane.create_queue('create_queue-wrong', p_lease => '-1 s') $$,
    '22023', 'a queue setting is out of range', 'a new queue with a wrong setting is refused');
select is_empty(
    $$ select from plane.queues where queue = 'create_queue-wrong' $$, 'and is not made');

select * from finish();
rollback;
