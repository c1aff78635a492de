-- reap_blobs: bytes go once they have expired or their attempt has lost, a bounded number at a time.
begin;
\ir _blobs.sql
select plan(48);

-- due: when the job's blobs are looked at next; reaped: since when their bytes go.
create function pg_temp.due(p_job_id bigint) returns timestamptz language sql as $$
    select min(reap_at) from plane.blob where job_id = p_job_id
$$;
create function pg_temp.reaped(p_job_id bigint) returns timestamptz language sql as $$
    select min(reaped_at) from plane.blob where job_id = p_job_id
$$;

-- given jobs that are done, lapsed, failed, given back and still held, each with a blob in two pieces
select pg_temp.freeze('2030-01-01 12:00+00');
select pg_temp.surface('reap_blobs');
select plane.create_queue('reap_blobs', p_lease => '3 h', p_blob_retention => '6 h', p_backoff => '1 day');
select is(plane.reap_blobs(), 0, 'where there is nothing, there is nothing to do');
create temporary table j (name text primary key, id bigint);
insert into j select name, pg_temp.held('reap_blobs') from unnest(array['done', 'lapsed', 'failed', 'released', 'held', 'cancelled']) as name;
select pg_temp.put(id), plane.append_blob(id, 1, 1, 'def') from j \g /dev/null
select max(id) filter (where name = 'done') as done, max(id) filter (where name = 'lapsed') as lapsed, max(id) filter (where name = 'failed') as failed,
    max(id) filter (where name = 'released') as released, max(id) filter (where name = 'held') as held, max(id) filter (where name = 'cancelled') as cancelled
from j \gset
select pg_temp.later('10 min');
select plane.complete_job(:done, 1, '{"blob": 1}'), plane.fail_job(:failed, 1, '{}'), plane.release_job(:released, 1),
    plane.request_cancel(:cancelled, 'ann'), plane.finish_cancel(:cancelled, 1) \g /dev/null
select plane.claim_one('reap_blobs', 'w2') \g /dev/null
update plane.lease set expires_at = plane._now() - interval '1 min' where job_id = :lapsed;

-- when nobody has had them for less than an hour
select is(plane.reap_blobs(), 0, 'for an hour nothing is looked at');

-- when the hour is over
select pg_temp.later('50 min');
select is(plane.reap_blobs(), 3 + 3 * 2, 'six blobs, three of them of two pieces that go');
select is(pg_temp.chunks(:failed) + pg_temp.chunks(:released) + pg_temp.chunks(:cancelled), 0::bigint, 'what failed, was given back or cancelled is gone');
select is_empty(
    format('select from plane.blob where job_id in (%s, %s, %s)', :failed, :released, :cancelled), 'and nothing is left of it');
select is(pg_temp.chunks(:done), 2::bigint, 'what the answer names is there');
select is(pg_temp.due(:done), '2030-01-01 18:10+00', 'until it expires');
select is(pg_temp.chunks(:held), 2::bigint, 'so is what is being written');
select is(pg_temp.due(:held), '2030-01-01 14:00+00', 'it is looked at in another hour');
select is(pg_temp.chunks(:lapsed), 2::bigint, 'and what belongs to a lapsed lease that nobody has claimed: it may be renewed yet');
select is(plane.append_blob(:held, 1, 1, 'g'), 7::bigint, 'a blob that was looked at grows on');
select is(plane.reap_blobs(), 0, 'what was looked at is not looked at again');

-- when the lapsed job is claimed again
select plane.claim_one('reap_blobs', 'w3') \g /dev/null
select is(pg_temp.put(:lapsed, 'second', 2), 1, 'its next attempt writes a blob of its own');
select pg_temp.later('1 h');
select plane.reap_blobs() \g /dev/null
select results_eq(
    format('select attempt, size from plane.blob where job_id = %s', :lapsed), $$ values (2, 6::bigint) $$,
    'the blob of the attempt that lost is gone, that of the next one is not');

-- when it expires
select pg_temp.later('4 h 10 min');
select plane.create_queue('reap_blobs', p_blob_retention => '7 h');
select plane.reap_blobs() \g /dev/null
select is(pg_temp.chunks(:done), 2::bigint, 'a retention that has grown meanwhile counts');
select is(pg_temp.due(:done), '2030-01-01 19:10+00', 'it is looked at when that is over');
select pg_temp.later('1 h');
select cmp_ok(plane.reap_blobs(), '>=', 2, 'then its two pieces go');
select is(pg_temp.chunks(:done), 0::bigint, 'with all their bytes');
select is(pg_temp.reaped(:done), '2030-01-01 19:10+00', 'it is noted when');
select pg_temp.gone('reap_blobs', :done, 'a reader is told that it has expired');
select results_eq(
    format('select size, expires_at, reaped_at from plane.blobs where job_id = %s', :done),
    $$ values (6::bigint, timestamptz '2030-01-01 19:10+00', timestamptz '2030-01-01 19:10+00') $$, 'and an admin sees what it was');

-- when its job is removed
select pg_temp.later('23 h 59 min');
select plane.reap_blobs() \g /dev/null
delete from plane.outcome where job_id = :done;
delete from plane.job where id = :done;
select isnt_empty(format('select from plane.blob where job_id = %s', :done), 'its row waits for the next look');
select pg_temp.later('1 min');
select plane.reap_blobs() \g /dev/null
select is_empty(format('select from plane.blob where job_id = %s', :done), 'a day after the last one');

-- when a job is removed before its blobs expire
select pg_temp.surface('reap_blobs-4');
select plane.create_queue('reap_blobs-4', p_blob_retention => '30 days');
select pg_temp.finished('reap_blobs-4') as early \gset
select pg_temp.later('1 h');
select plane.reap_blobs() \g /dev/null
select is(pg_temp.due(:early), plane._now() + interval '1 day', 'a blob that is kept for long is looked at once a day');
delete from plane.outcome where job_id = :early;
delete from plane.job where id = :early;
select pg_temp.unknown('reap_blobs-4', :early, 'without its job it is not there');
select pg_temp.later('1 day');
select plane.reap_blobs() \g /dev/null
select is(pg_temp.chunks(:early), 0::bigint, 'and goes within a day');
select is_empty(format('select from plane.blob where job_id = %s', :early), 'altogether');

-- when a queue is dropped (as plane.drop_queue does, which would wait for other tests)
select pg_temp.surface('reap_blobs-2');
select pg_temp.finished('reap_blobs-2') as dropped \gset
delete from plane.outcome where job_id = :dropped;
delete from plane.job where id = :dropped;
delete from plane.queue where name = 'reap_blobs-2';
select pg_temp.later('1 h');
select plane.reap_blobs() \g /dev/null
select is_empty(format('select from plane.blob where job_id = %s', :dropped), 'the blobs of a dropped queue go');

-- given more than a call may remove: blobs of 5, 1 and 1 pieces
select pg_temp.surface('reap_blobs-3');
select plane.create_queue('reap_blobs-3', p_blob_retention => '0');
select pg_temp.finished('reap_blobs-3') as large, pg_temp.finished('reap_blobs-3') as small, pg_temp.finished('reap_blobs-3') as last \gset
insert into plane.blob_chunk select :large, 1, 1, 3 * n, 'xyz' from generate_series(1, 4) as n;
update plane.blob set size = 15 where job_id = :large;
update plane.blob set reap_at = plane._now() - interval '1 day' where job_id = :large;
update plane.blob set reap_at = plane._now() - interval '1 h' where job_id = :small;
update plane.blob set reap_at = plane._now() where job_id = :last;
select pg_temp.gone('reap_blobs-3', :large, 'a retention of nothing expires at once');

-- when they are removed in small steps
select is(plane.reap_blobs(3), 3, 'a call removes as many pieces as it may');
select is(pg_temp.chunks(:large), 2::bigint, 'of the blob that has waited longest');
select isnt(pg_temp.reaped(:large), null, 'which is reaped from then on');
select plane.create_queue('reap_blobs-3', p_blob_retention => '1 day');
select pg_temp.gone('reap_blobs-3', :large, 'half of it is none, however long blobs are to be kept now');
select plane.create_queue('reap_blobs-3', p_blob_retention => '0');
select is(plane.reap_blobs(3), 3, 'the next call goes on there');
select is(pg_temp.chunks(:large) + pg_temp.chunks(:small), 0::bigint, 'and with the next one');
select is(pg_temp.chunks(:last), 1::bigint, 'what is left waits');
select is(plane.reap_blobs(1), 1, 'one piece is enough to go on');
select is(pg_temp.chunks(:last), 0::bigint, 'until all are gone');

-- given a blob of two pieces whose attempt lost
select pg_temp.held('reap_blobs-3') as lost \gset
select pg_temp.put(:lost), plane.append_blob(:lost, 1, 1, 'def'), plane.fail_job(:lost, 1, '{}') \g /dev/null
update plane.blob set reap_at = plane._now() where job_id = :lost;
select is(plane.reap_blobs(1), 1, 'one of its pieces goes');
select isnt_empty(format('select from plane.blob where job_id = %s', :lost), 'its row stays until the other one is gone, too');
select plane.reap_blobs() \g /dev/null
select is(pg_temp.chunks(:lost), 0::bigint, 'which the next call sees to');
select is_empty(format('select from plane.blob where job_id = %s', :lost), 'row and all');

-- given 80 MiB in few pieces
select pg_temp.finished('reap_blobs-3') as huge \gset
insert into plane.blob_chunk select :huge, 1, 1, 3 + 1048576 * n, convert_to(repeat('x', 1048576), 'UTF8') from generate_series(0, 79) as n;
update plane.blob set reap_at = plane._now() where job_id = :huge;
select is(plane.reap_blobs(), 65, 'a call stops after some 64 MiB');
select is(plane.reap_blobs(), 16, 'and the next one goes on');
select is(pg_temp.chunks(:huge), 0::bigint, 'to the end');

-- when the limit cannot be
select throws_ok($$ select plane.reap_blobs(null) $$, '22023', 'a call takes 1 to 100000 steps', 'NULL is no limit');
select throws_ok($$ select plane.reap_blobs(0) $$, '22023', 'a call takes 1 to 100000 steps', 'nor is nothing');
select throws_ok($$ select plane.reap_blobs(100001) $$, '22023', 'a call takes 1 to 100000 steps', 'nor is too much');

select * from finish();
rollback;
