-- blobs: every blob, without its bytes.
begin;
\ir ../functions/blobs/_blobs.sql
select plan(5);

select columns_are('plane', 'blobs', array['job_id', 'attempt', 'blob', 'queue', 'content_type', 'filename', 'size', 'created_at',
    'expires_at', 'reaped_at']);

-- given a job that is done, one that is held, and one that another uses
select pg_temp.freeze('2030-01-01 12:00+00');
select pg_temp.surface('blobs');
select plane.create_queue('blobs', p_lease => '1 day');
select pg_temp.finished('blobs') as done, pg_temp.finished('blobs') as used, pg_temp.held('blobs') as held \gset
select pg_temp.put(:held) \g /dev/null
select pg_temp.later('1 h');
select pg_temp.sharing('blobs', :used) \g /dev/null
select results_eq(
    $$ select job_id, attempt, blob, queue, content_type, filename, size, created_at, expires_at, reaped_at
       from plane.blobs where queue = 'blobs' order by job_id $$,
    format($$ values (%s::bigint, 1, 1, 'blobs', 'text/plain', 'a.txt', 3::bigint, timestamptz '2030-01-01 12:00+00',
            timestamptz '2030-01-02 12:00+00', null::timestamptz),
        (%s, 1, 1, 'blobs', 'text/plain', 'a.txt', 3, '2030-01-01 12:00+00', '2030-01-02 13:01+00', null),
        (%s, 1, 1, 'blobs', 'text/plain', 'a.txt', 3, '2030-01-01 12:00+00', null, null) $$, :done, :used, :held),
    'each is shown with its expiry, once it has one');

-- when the queue is gone (as by plane.drop_queue, which would wait for other tests)
select pg_temp.surface('blobs-2');
select pg_temp.finished('blobs-2') as dropped \gset
delete from plane.outcome where job_id = :dropped;
delete from plane.job where id = :dropped;
delete from plane.queue where name = 'blobs-2';
select results_eq(
    format('select queue, expires_at, size from plane.blobs where job_id = %s', :dropped), $$ values (null::text, null::timestamptz, 3::bigint) $$,
    'its blobs are shown until they are reaped');

-- when a DBA reads it
set local role plane_admin;
select is((select sum(size) from plane.blobs where queue = 'blobs'), 9::numeric, 'an admin sees what they weigh');
reset role;
set local role plane_reader;
select throws_ok($$ select from plane.blobs $$, '42501', 'permission denied for view blobs', 'a reader does not');
reset role;

select * from finish();
rollback;
