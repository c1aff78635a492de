-- register_waiter: somebody waits for a job, for so long.
begin;
\ir ../../_clock.sql
\ir _surface.sql
select plan(30);

create function pg_temp.waits(p_job_id bigint, p_waiter text default 'edge-1', p_wait interval default '60 s')
    returns boolean language sql as $$
    select plane.register_waiter('register_waiter', p_job_id, pg_temp.key(), p_waiter, p_wait)
$$;
create function pg_temp.waiters(p_job_id bigint) returns text language sql as $$
    select coalesce(string_agg(waiter || ' ' || to_char(deadline at time zone 'UTC', 'HH24:MI:SS'), ', ' order by waiter), '')
    from plane.waiter where job_id = p_job_id
$$;

-- given a request
select pg_temp.freeze('2030-01-01 12:00+00');
select pg_temp.surface('register_waiter');
select pg_temp.surface('register_waiter-other');
select pg_temp.asked('register_waiter') as job_id \gset

-- when its caller waits for it
select is(pg_temp.waits(:job_id), true, 'a caller can wait for its job');
select is(pg_temp.waiters(:job_id), 'edge-1 12:01:00', 'until then');
select is(pg_temp.waits(:job_id, 'edge-2'), true, 'any number can');
select is(pg_temp.waiters(:job_id), 'edge-1 12:01:00, edge-2 12:01:00', 'each by its name');

-- when it waits on
select pg_temp.later('30 s');
select is(pg_temp.waits(:job_id), true, 'who waits can wait longer');
select is(pg_temp.waits(:job_id, 'edge-2', '1 s'), true, 'and can say less');
select is(pg_temp.waiters(:job_id), 'edge-1 12:01:30, edge-2 12:01:00', 'which shortens nothing');

-- when it looks every few seconds
select ctid as noted from plane.waiter where job_id = :job_id and waiter = 'edge-1' \gset
select is(pg_temp.waits(:job_id, 'edge-1', '59 s'), true, 'who looks again is taken at its word');
select is(
    (select ctid from plane.waiter where job_id = :job_id and waiter = 'edge-1'), :'noted'::tid,
    'without a row being written where one says as much');
select is(pg_temp.waits(:job_id, 'edge-1', '61 s'), true, 'a second more');
select is(pg_temp.waiters(:job_id), 'edge-1 12:01:40, edge-2 12:01:00', 'is ten at once');

-- when it was noted as one that wants the job
insert into plane.waiter (job_id, waiter, deadline, state) values (:job_id, 'ann', plane._now() + interval '90 s', 'wants');
select pg_temp.waits(:job_id, 'ann') \g /dev/null
select results_eq(
    $$ select state, deadline from plane.waiter where waiter = 'ann' $$,
    $$ values ('waits', timestamptz '2030-01-01 12:02+00') $$, 'it waits from now on, and wants it no shorter');
delete from plane.waiter where waiter = 'ann';

-- when the job is under way, or has ended
select plane.claim_one('register_waiter', 'w1') \g /dev/null
select is(pg_temp.waits(:job_id, 'edge-3'), true, 'a job that is held can be waited for');
select plane.complete_job(:job_id, 1, '{}') \g /dev/null
select is(pg_temp.waits(:job_id, 'edge-4'), true, 'so can one that has ended: who reads it then finds the answer');

-- when somebody waits for what is not its own
select is(
    plane.register_waiter('register_waiter', :job_id, plane.scope_key('acme', '["south"]', false), 'edge-9', '1 s'), false,
    'nobody waits for another scope''s job');
select is(plane.register_waiter('register_waiter-other', :job_id, pg_temp.key(), 'edge-9', '1 s'), false, 'nor for another surface''s');
select is(plane.register_waiter('register_waiter', :job_id, null, 'edge-9', '1 s'), false, 'nor without a scope');
select is(pg_temp.waits(9223372036854775807, 'edge-9'), false, 'nor for a job that does not exist');
select is(pg_temp.waits(null, 'edge-9'), false, 'nor for NULL');
select is_empty($$ select from plane.waiter where waiter = 'edge-9' $$, 'and nothing is noted');

-- when an argument cannot be
select throws_ok(
    format($$ select plane.register_waiter('register_waiter-none', %s, pg_temp.key(), 'edge-1', '1 s') $$, :job_id),
    'PL404', 'no such queue', 'a queue that does not exist is refused');
select throws_ok(
    format($$ select plane.register_waiter(null, %s, pg_temp.key(), 'edge-1', '1 s') $$, :job_id),
    'PL404', 'no such queue', 'NULL is no queue');
create function pg_temp.refuses(p_waiter text, p_wait text, p_what text) returns text language sql as $$
    select throws_ok(
        format($c$ select plane.register_waiter('register_waiter', 1, pg_temp.key(), %L, %L) $c$, p_waiter, p_wait),
        '22023', 'a waiter has a name of 1 to 200 characters and a wait above 0, of at most a day', p_what)
$$;
select pg_temp.refuses(null, '1 s', 'a waiter without a name is refused');
select pg_temp.refuses('', '1 s', 'an empty name is refused');
select pg_temp.refuses(repeat('w', 201), '1 s', 'a name of 201 characters is refused');
select pg_temp.refuses('edge-1', null, 'nobody waits for ever');
select pg_temp.refuses('edge-1', '1 day 1 us', 'nor for more than a day');
select pg_temp.refuses('edge-1', '0', 'who does not wait is refused');
select pg_temp.refuses('edge-1', '-1 s', 'so is who no longer does');
select is(
    pg_temp.waits(:job_id, repeat('w', 200), '1 day'), true,
    'a name of 200 characters and a wait of a day are taken');

select * from finish();
rollback;
