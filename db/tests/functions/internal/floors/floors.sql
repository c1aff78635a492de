-- _floors: a claim begins where no ready row can be before.
-- A transaction that has written moves no floor, and pgTAP writes: so this file commits what it needs, lets each
-- statement be a transaction of its own, and takes everything away at its end.
select plan(31);

-- the floors that a claim at this moment would go by; lanes of priority -1 and 0, came back and fresh each
create function pg_temp.floors(p_at timestamptz) returns bigint[] language sql volatile as $$
    select plane._floors(q.id, q.lanes, p_at) from plane.queue q where q.name = 'floors'
$$;
-- lets it remember that it moved its floors at noon and noted that position then, when nobody was writing
create function pg_temp.remember(p_floors bigint[], p_noted bigint, p_next_whole_scan timestamptz default '2030-01-01 12:05+00')
    returns text language sql volatile as $$
    select plane._remember('plane.floors_' || q.id, concat_ws('|', p_floors::text,
        (extract(epoch from timestamptz '2030-01-01 12:00+00') * 1000)::bigint,
        (extract(epoch from p_next_whole_scan) * 1000)::bigint, p_noted, ''))
    from plane.queue q where q.name = 'floors'
$$;

-- given a queue with ready jobs of two priorities, all committed
select plane.create_queue('floors') \g /dev/null
select job_id as a from plane.enqueue('floors', 'a') \gset
select job_id as b from plane.enqueue('floors', 'b') \gset
select job_id as urgent from plane.enqueue('floors', 'urgent', p_priority => -1) \gset
select last_value as drawn from plane.job_id_seq \gset

-- then a session without a memory begins at the beginning
select is(pg_temp.floors('2030-01-01 12:00+00'), '{1,1,1,1}', 'a session begins with every position');
select is(pg_temp.floors('2030-01-01 12:00:00.999+00'), '{1,1,1,1}', 'and looks at its floors once a second at most');

-- when everybody who may have drawn a position is gone
select pg_temp.remember('{1,1,1,1}', :drawn) \g /dev/null
select is(
    pg_temp.floors('2030-01-01 12:00:01+00'), array[:drawn + 1, :urgent, :drawn + 1, :a]::bigint[],
    'a floor moves to the first row of its lane, or behind the last position that was drawn');
select is(
    pg_temp.floors('2030-01-01 12:00:00.5+00'), array[:drawn + 1, :urgent, :drawn + 1, :a]::bigint[], 'and is remembered');
select pg_temp.remember(array[:drawn + 1, :urgent, :drawn + 1, :a], :drawn) \g /dev/null
select is(
    pg_temp.floors('2030-01-01 12:00:01+00'), array[:drawn + 1, :urgent, :drawn + 1, :a]::bigint[],
    'a floor stays as long as there is a row at it');
select pg_temp.remember('{1,1,1,1}', :a - 1) \g /dev/null
select is(
    pg_temp.floors('2030-01-01 12:00:01+00'), array[:a, :a, :a, :a]::bigint[],
    'never beyond what had been drawn when the proof began');
select pg_temp.remember('{1,1,1,1}', :drawn) \g /dev/null
select is(
    pg_temp.floors('2030-01-01 11:59:59+00'), array[:drawn + 1, :urgent, :drawn + 1, :a]::bigint[],
    'a clock that goes back stops nothing');

-- when the transaction has claimed
select pg_temp.remember('{1,1,1,1}', :drawn) \g /dev/null
begin;
select job_id as claimed from plane.claim_one('floors', 'w1') \gset
select pg_temp.remember('{1,1,1,1}', :drawn) \g /dev/null
select pg_temp.floors('2030-01-01 12:00:01+00') as floors \gset
rollback;
select is(:claimed::bigint, :urgent::bigint, 'in a transaction that has claimed');
select is(:'floors'::bigint[], '{1,1,1,1}'::bigint[], 'no floor moves: the row may come back');
select is(
    pg_temp.floors('2030-01-01 12:00:01+00'), array[:drawn + 1, :urgent, :drawn + 1, :a]::bigint[],
    'and it does, at the floor of its lane');

-- when the transaction sees the past
select pg_temp.remember('{1,1,1,1}', :drawn) \g /dev/null
begin isolation level repeatable read;
select pg_temp.floors('2030-01-01 12:00:01+00') as floors \gset
rollback;
select is(:'floors'::bigint[], '{1,1,1,1}'::bigint[], 'under REPEATABLE READ no floor moves');
begin isolation level serializable;
select pg_temp.floors('2030-01-01 12:00:01+00') as floors \gset
rollback;
select is(:'floors'::bigint[], '{1,1,1,1}'::bigint[], 'nor under SERIALIZABLE');
select pg_temp.remember(array_fill(last_value + 1, array[4]), last_value), last_value + 1 as behind from plane.job_id_seq \gset
begin isolation level repeatable read;
select pg_temp.floors('2030-01-01 12:00:01+00') as floors \gset
rollback;
select is(:'floors'::bigint[], array_fill(:behind::bigint, array[4]), 'where all have moved already, that is known there too');

-- when a transaction that moved a floor is rolled back
select pg_temp.remember('{1,1,1,1}', :drawn) \g /dev/null
begin;
select pg_temp.floors('2030-01-01 12:00:01+00') as floors \gset
rollback;
select is(
    split_part(plane._recall('plane.floors_' || id), '|', 1), '{1,1,1,1}', 'so is what the session remembers of it')
from plane.queue where name = 'floors';

-- when the memory is not of our making
create function pg_temp.ignores(p_note text, p_what text) returns text language plpgsql volatile as $$
begin
    perform set_config('plane.floors_' || q.id, p_note, false) from plane.queue q where q.name = 'floors';
    return is(pg_temp.floors('2030-01-01 12:00+00'), '{1,1,1,1}', p_what);
end;
$$;
select pg_temp.ignores('', 'a memory that was emptied is none');
select pg_temp.ignores('nonsense', 'nor is nonsense');
select pg_temp.ignores('{7,7,7,7}|1|2|3|', 'nor one that is not signed');
select pg_temp.ignores('1#{7,7,7,7}|1|2|3|', 'nor one under another''s signature');
select plane._remember('plane.floors_' || id, '{7,7}|1|2|3|') from plane.queue where name = 'floors' \g /dev/null
select is(pg_temp.floors('2030-01-01 12:00+00'), '{1,1,1,1}', 'nor one of other lanes');

-- when a claim has noted its floors
create function pg_temp.known(p_at timestamptz) returns bigint[] language sql volatile as $$
    select plane._known_floors(current_setting('plane.claims_' || q.id, true), q.lanes, p_at)
    from plane.queue q where q.name = 'floors'
$$;
select plane._refresh_floors(id, lanes, '2030-01-01 12:00:00.11+00') from plane.queue where name = 'floors' \g /dev/null
select is(pg_temp.known('2030-01-01 12:00:00.19+00'), '{1,1,1,1}', 'another one goes by them');
select is(pg_temp.known('2030-01-01 12:00:00.2+00'), null, 'in the same tenth of a second only');
select is(
    (select plane._known_floors(current_setting('plane.claims_' || id), lanes || 9, '2030-01-01 12:00:00.19+00')
        from plane.queue where name = 'floors'), null, 'and where the lanes are the same');
select set_config('plane.claims_' || id, replace(current_setting('plane.claims_' || id), '{1,', '{2,'), false)
from plane.queue where name = 'floors' \g /dev/null
select is(pg_temp.known('2030-01-01 12:00:00.19+00'), null, 'what somebody changed is not gone by');

-- when somebody poisoned it with floors above what was ever drawn
select pg_temp.remember('{999999999999999,999999999999999,999999999999999,999999999999999}', 999999999999999) \g /dev/null
select is(pg_temp.floors('2030-01-01 12:00:01+00'), '{1,1,1,1}', 'floors above every position last a second');
select pg_temp.remember('{999999999999999,999999999999999,999999999999999,999999999999999}', 0) \g /dev/null
begin;
select job_id as claimed from plane.claim_one('floors', 'w1') \gset
rollback;
select is(:claimed::bigint, :urgent::bigint, 'and a claim finds its job');

-- when somebody poisoned it with floors that could be
select pg_temp.remember(array[:drawn, :drawn, :drawn, :drawn], :drawn) \g /dev/null
select is(
    pg_temp.floors('2030-01-01 12:05:01+00'), array[:drawn + 1, :urgent, :drawn + 1, :a]::bigint[],
    'the next whole scan begins at the beginning');
select pg_temp.remember(array[:drawn, :drawn, :drawn, :drawn], :drawn, '2040-01-01') \g /dev/null
select is(
    pg_temp.floors('2030-01-01 12:00:01+00'), array[:drawn + 1, :urgent, :drawn + 1, :a]::bigint[],
    'a whole scan that was put off for long is due');
select pg_temp.remember(array[:drawn, :drawn, :drawn, :drawn], :drawn) \g /dev/null
begin isolation level repeatable read;
select pg_temp.floors('2030-01-01 12:05:01+00') as floors \gset
rollback;
select is(:'floors'::bigint[], '{0,0,0,0}'::bigint[], 'where no floor may move, all is scanned once that is due');
begin;
create temporary table written ();
select pg_temp.floors('2030-01-01 12:05:01+00') as floors \gset
rollback;
select is(:'floors'::bigint[], '{0,0,0,0}'::bigint[], 'in a transaction that has written as well');

-- when a priority is new to the queue
select pg_temp.remember(array[:drawn, :drawn, :drawn, :drawn], :drawn) \g /dev/null
select job_id as patient from plane.enqueue('floors', 'patient', p_priority => 5) \gset
select is(pg_temp.floors('2030-01-01 12:00:01+00'), '{1,1,1,1,1,1}', 'lanes that were opened are known at once');
begin;
select array_agg(job_id) as claimed from plane.claim('floors', 'w1', 10) \gset
rollback;
select is(:'claimed'::bigint[], array[:urgent, :a, :b, :patient]::bigint[], 'and every job is found');

-- leave nothing behind, at one moment: other files' tests ask whether the ledger is whole
begin;
delete from plane.ready where queue_id = (select id from plane.queue where name = 'floors');
delete from plane.job where queue_id = (select id from plane.queue where name = 'floors');
delete from plane.queue where name = 'floors';
commit;

select * from finish();
