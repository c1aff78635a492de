-- complete_job, with a result that uses another job's blobs: they live as long as the newest user's would.
begin;
\ir ../blobs/_blobs.sql
select plan(36);

create function pg_temp.expires(p_job_id bigint) returns timestamptz language sql as $$
    select expires_at from plane.blob_info('complete_job_blobs', p_job_id, 1, pg_temp.key())
$$;
create function pg_temp.refuses(p_arguments text, p_code text, p_message text, p_what text) returns text language sql as $$
    select throws_ok(format('select plane.complete_job(%s)', p_arguments), p_code, p_message, p_what)
$$;

-- given a job done at noon, whose blob is kept for six hours
select pg_temp.freeze('2030-01-01 12:00+00');
select pg_temp.surface('complete_job_blobs');
select plane.create_queue('complete_job_blobs', p_lease => '3 days', p_blob_retention => '6 h');
select pg_temp.finished('complete_job_blobs', 'shared') as origin \gset
select is(pg_temp.expires(:origin), '2030-01-01 18:00+00', 'a blob that only its own job uses expires by that one');

-- when a later job's answer uses it
select pg_temp.later('5 h');
select pg_temp.held('complete_job_blobs') as later \gset
select is(plane.complete_job(:later, 1, '{"blob": 1}', null, 'hit', :origin), true, 'it is done');
select is(pg_temp.text_of('complete_job_blobs', :later), 'shared', 'the blob is read as its own, by its number');
select is(pg_temp.expires(:later), '2030-01-01 23:01+00', 'as long as its own would be, a minute rounded up');
select is(pg_temp.expires(:origin), '2030-01-01 23:01+00', 'and through the first job as long');
select pg_temp.unknown('complete_job_blobs', :later, 'there are no more than the first job has', 2);

-- when one uses the blobs of that one in turn
select pg_temp.later('5 h');
select pg_temp.sharing('complete_job_blobs', :later) as latest \gset
select is(pg_temp.text_of('complete_job_blobs', :latest), 'shared', 'a chain of uses leads to the blob');
select is(pg_temp.expires(:latest), '2030-01-02 04:01+00', 'which lives on');
select is((select origin_id from plane.blob_share where job_id = :latest), :origin::bigint, 'it is one step, however long the chain');

-- when many use it at once
select xmin::text as written from plane.blob where job_id = :origin \gset
select pg_temp.later('1 min');
select pg_temp.sharing('complete_job_blobs', :origin) \g /dev/null
select is((select xmin::text || used_at from plane.blob where job_id = :origin), :'written' || timestamptz '2030-01-01 22:01+00',
    'within a minute the use is not noted again');
select pg_temp.later('1 us');
select pg_temp.sharing('complete_job_blobs', :origin) \g /dev/null
select is((select used_at from plane.blob where job_id = :origin), '2030-01-01 22:02:00.000001+00', 'after that it is');

-- when the first two jobs are removed
delete from plane.outcome where job_id in (:origin, :later);
delete from plane.job where id in (:origin, :later);
select pg_temp.later('5 h');
select plane.reap_blobs() \g /dev/null
select is(pg_temp.text_of('complete_job_blobs', :latest), 'shared', 'the blob stays for those that use it');
select pg_temp.unknown('complete_job_blobs', :origin, 'not for a job that is gone');
select pg_temp.held('complete_job_blobs') as next \gset
select pg_temp.refuses(format('%s, 1, p_blobs_of => %s', :next, :origin), 'PL404', 'no such job to take blobs from', 'whose blobs nobody takes any more');
select is(plane.complete_job(:next, 1, '{"blob": 1}', p_blobs_of => :latest), true, 'but those of the one that is left');

-- when all of it is over
select pg_temp.later('6 h 1 min');
select pg_temp.gone('complete_job_blobs', :next, 'then it has expired for all of them');
select pg_temp.held('complete_job_blobs') as late \gset
select pg_temp.refuses(format('%s, 1, p_blobs_of => %s', :late, :next), 'PL410', 'the blobs have expired', 'and is used by nobody any more, reaped or not');
select plane.reap_blobs() \g /dev/null
select is(pg_temp.chunks(:origin), 0::bigint, 'its bytes are reaped');
select pg_temp.gone('complete_job_blobs', :latest, 'it has expired still');
select pg_temp.refuses(format('%s, 1, p_blobs_of => %s', :late, :next), 'PL410', 'the blobs have expired', 'and is not used again');
select plane.create_queue('complete_job_blobs', p_blob_retention => '1 year');
select pg_temp.refuses(format('%s, 1, p_blobs_of => %s', :late, :next), 'PL410', 'the blobs have expired', 'however long they are to be kept now');
select is((select status from plane.jobs where id = :late), 'in_progress', 'a refused completion changes nothing');
select is(plane.complete_job(:late, 1, '{}'), true, 'the job can be answered otherwise');

-- when the jobs that used it are removed one by one
select array_agg(job_id) as users from plane.blob_share where origin_id = :origin \gset
delete from plane.outcome where job_id = any (:'users'::bigint[]) and job_id <> :next;
delete from plane.job where id = any (:'users'::bigint[]) and id <> :next;
select pg_temp.later('1 day');
select plane.reap_blobs() \g /dev/null
select results_eq(format('select job_id from plane.blob_share where origin_id = %s', :origin), array[:next]::bigint[], 'their uses are forgotten');
select pg_temp.gone('complete_job_blobs', :next, 'the last one''s reader still hears that it has expired');
delete from plane.outcome where job_id = :next;
delete from plane.job where id = :next;
select pg_temp.later('1 day');
select plane.reap_blobs() \g /dev/null
select is_empty(format('select from plane.blob where job_id = %s union all select from plane.blob_share where origin_id = %1$s', :origin),
    'when no job is left, nothing is');

-- given jobs whose blobs cannot be used
select pg_temp.surface('complete_job_blobs-2');
select pg_temp.finished('complete_job_blobs-2') as elsewhere, pg_temp.held('complete_job_blobs') as job_id \gset
select job_id as other_scope from plane.submit_request('complete_job_blobs', 'ask', '{}', pg_temp.envelope(p_scope => '["south"]')) \gset
select plane.claim_one('complete_job_blobs', 'w1') \g /dev/null
select pg_temp.put(:other_scope), plane.complete_job(:other_scope, 1, '{}') \g /dev/null
select pg_temp.held('complete_job_blobs') as without, pg_temp.held('complete_job_blobs') as held, pg_temp.held('complete_job_blobs') as failed \gset
select pg_temp.put(:held), pg_temp.put(:failed), plane.complete_job(:without, 1, '{}') \g /dev/null
update plane.lease set max_dequeues = 1 where job_id = :failed;
select plane.fail_job(:failed, 1, '{}') \g /dev/null
create function pg_temp.no_blobs(p_job_id bigint, p_blobs_of bigint, p_what text) returns text language sql as $$
    select pg_temp.refuses(format('%s, 1, p_blobs_of => %s', p_job_id, p_blobs_of), 'PL404', 'no such job to take blobs from', p_what)
$$;
select pg_temp.no_blobs(:job_id, :elsewhere, 'another queue''s job lends no blobs');
select pg_temp.no_blobs(:job_id, :other_scope, 'nor does another scope''s');
select pg_temp.no_blobs(:job_id, :without, 'nor one that has none');
select pg_temp.no_blobs(:job_id, :held, 'nor one that is not done');
select pg_temp.no_blobs(:job_id, :failed, 'nor one that failed');
select pg_temp.no_blobs(:job_id, 9223372036854775807, 'nor one that does not exist');
select pg_temp.put(:job_id) \g /dev/null
select pg_temp.no_blobs(:job_id, :job_id, 'nor itself');
select job_id as plain, plane.complete_job(:held, 1, '{}') from plane.enqueue('complete_job_blobs', 'send') \gset
select plane.claim_one('complete_job_blobs', 'w1') \g /dev/null
select pg_temp.no_blobs(:plain, :held, 'a job without a scope takes none');
select is(plane.complete_job(:job_id, 2, '{}', p_blobs_of => :elsewhere), false, 'who holds no job is told that first');
select is(plane.complete_job(:job_id, 1, '{"blob": 1}', p_blobs_of => :held), true, 'one that is done with blobs lends them, whoever has some of its own');

select * from finish();
rollback;
