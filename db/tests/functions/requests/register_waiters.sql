-- register_waiters: register_waiter for many pairs at once.
begin;
\ir ../../_clock.sql
\ir _surface.sql
select plan(19);

create function pg_temp.registers(
    p_job_ids bigint[], p_scope_keys text[], p_waiters text[], p_seen bigint[], p_what text, p_for interval default '60 s')
    returns text language sql as $$
    select is(
        (select array_agg(r.job_id order by r.ord)
            from plane.register_waiters('register_waiters', p_job_ids, p_scope_keys, p_waiters, p_for)
                with ordinality as r (job_id, scope_key, ord)),
        p_seen, p_what)
$$;
create function pg_temp.waiters(p_job_id bigint) returns text language sql as $$
    select coalesce(string_agg(concat_ws(' ', waiter, state, to_char(deadline at time zone 'UTC', 'HH24:MI:SS')), ', ' order by waiter), '')
    from plane.waiter where job_id = p_job_id
$$;

-- given requests of two scopes, and one of a person
select pg_temp.freeze('2030-01-01 12:00+00');
select pg_temp.surface('register_waiters');
select pg_temp.surface('register_waiters-other');
select pg_temp.asked('register_waiters', 1) as a, pg_temp.asked('register_waiters', 2) as b,
    pg_temp.asked('register_waiters-other', 3) as elsewhere, pg_temp.key() as north,
    plane.scope_key('acme', '["south"]', false) as south, plane.scope_key('acme', '["north"]', false, 'ann') as ann \gset
select job_id as anns from plane.submit_request('register_waiters', 'mine', '{}', pg_temp.envelope()) \gset

-- when somebody waits for several
select pg_temp.registers(array[:b, :a], array[:'north', :'north'], array['x', 'y'], array[:b, :a], 'many can be waited for at once, in any order');
select is(pg_temp.waiters(:a), 'y waits 12:01:00', 'each by its name');
select is(pg_temp.waiters(:b), 'x waits 12:01:00', 'for as long');
select results_eq(
    format($$ select job_id, scope_key from plane.register_waiters('register_waiters', array[%1$s, %1$s, %2$s, %2$s], array[%3$L, %4$L, %3$L, %4$L],
        array_fill('x'::text, array[4]), '1 min') $$, :a, :anns, :'north', :'ann'),
    format($$ values (%s::bigint, %L), (%s, %L) $$, :a, :'north', :anns, :'ann'),
    'of the two keys of a reader each job has one');
select is(pg_temp.waiters(:a), 'x waits 12:01:00, y waits 12:01:00', 'a job that is told twice is noted once');

-- when a pair comes twice, or again
select pg_temp.registers(array[:a, :a], array[:'north', :'north'], array['z', 'z'], array[:a, :a], 'a pair may come twice');
select pg_temp.registers(array[:a, :b], array[:'north', :'north'], array['x', 'x'], array[:a, :b], 'or again, to wait longer', '90 s');
select is(pg_temp.waiters(:a), 'x waits 12:01:30, y waits 12:01:00, z waits 12:01:00', 'which the others do not');

-- when somebody waits for what is not its own
select pg_temp.registers(array[:a, :elsewhere, :anns, null, 9223372036854775807], array_fill(:'south'::text, array[5]), array_fill('me'::text, array[5]),
    null, 'another scope''s, another surface''s and no job are not waited for');
select pg_temp.registers(array[:a, :b], array[null, :'north'], array['me', 'me'], array[:b], 'one that is not seen hides no other');
select is(
    (select array_agg(job_id) from plane.waiter where waiter = 'me'), array[:b]::bigint[], 'and nothing else is noted');
select pg_temp.registers('{}', '{}', '{}', null, 'nothing asked is nothing noted');

-- when an argument cannot be
create function pg_temp.refuses(p_arguments text, p_message text, p_what text) returns text language sql as $$
    select throws_ok('select plane.register_waiters(''register_waiters'', ' || p_arguments || ')', '22023', p_message, p_what)
$$;
\set lengths 'job_ids, scope_keys and waiters must be arrays of one length'
\set waiter 'a waiter has a name of 1 to 200 characters and a wait above 0, of at most a day'
select pg_temp.refuses($$ '{1}', '{a}', '{}', '1 s' $$, :'lengths', 'a job without its waiter is refused');
select pg_temp.refuses($$ '{1}', null, '{a}', '1 s' $$, :'lengths', 'NULL is no array');
select pg_temp.refuses($$ '{1,2}', '{a,b}', array['x', ''], '1 s' $$, :'waiter', 'a waiter without a name is refused');
select pg_temp.refuses($$ '{1}', '{a}', '{x}', null $$, :'waiter', 'nobody waits for ever');
select pg_temp.refuses($$ '{1}', '{a}', '{x}', '1 day 1 us' $$, :'waiter', 'nor for more than a day');
select pg_temp.refuses($$ '{1}', '{a}', '{x}', '0' $$, :'waiter', 'who does not wait is refused');
select throws_ok(
    $$ select plane.register_waiters('register_waiters-none', '{}', '{}', '{}', '1 s') $$,
    'PL404', 'no such queue', 'a queue that does not exist is refused');

select * from finish();
rollback;
