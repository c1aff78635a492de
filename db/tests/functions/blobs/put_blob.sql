-- put_blob: an attempt begins a blob; only its own, and only while it holds the job.
begin;
\ir _blobs.sql
select plan(41);

-- given a held job
select pg_temp.freeze('2030-01-01 12:00+00');
select pg_temp.surface('put_blob');
select pg_temp.held('put_blob') as job_id \gset

-- when its attempt puts blobs
select is(plane.put_blob(:job_id, 1, 'text/csv; charset=utf-8', 'Zürich 2030.csv', '\x0001ff'), 1, 'the first blob is number 1');
select is(plane.put_blob(:job_id, 1, 'application/octet-stream', null, ''), 2, 'the next one is number 2, and may be empty and nameless');
select results_eq(
    format('select blob, attempt, queue, content_type, filename, size, created_at, expires_at, reaped_at from plane.blobs where job_id = %s order by blob', :job_id),
    $$ values (1, 1, 'put_blob', 'text/csv; charset=utf-8', 'Zürich 2030.csv', 3::bigint, plane._now(), null::timestamptz, null::timestamptz),
        (2, 1, 'put_blob', 'application/octet-stream', null, 0, plane._now(), null, null) $$,
    'they are what was said of them');
select results_eq(
    format('select number, start, data from plane.blob_chunk where job_id = %s', :job_id),
    $$ values (1, 0::bigint, '\x0001ff'::bytea) $$, 'and the bytes are there as they were given');
select pg_temp.unknown('put_blob', :job_id, 'nobody reads them while the job runs');

-- when the job was asked to stop
select plane.request_cancel(:job_id, 'ann') \g /dev/null
select is(pg_temp.put(:job_id), 3, 'an attempt that was asked to stop still holds its job');

-- when somebody does not hold the job
create function pg_temp.refuses(p_job_id bigint, p_attempt integer, p_what text) returns text language sql as $$
    select throws_ok(format('select pg_temp.put(%L, ''x'', %L)', p_job_id, p_attempt),
        'PL409', 'the attempt no longer holds this job', p_what)
$$;
select pg_temp.refuses(:job_id, 2, 'a stranger puts nothing');
select pg_temp.refuses(null, 1, 'no job is no job');
select pg_temp.refuses(:job_id, null, 'no attempt is no attempt');
select pg_temp.refuses(9223372036854775807, 1, 'nor does a job that does not exist have blobs');
select plane.finish_cancel(:job_id, 1) \g /dev/null
select pg_temp.refuses(:job_id, 1, 'who has ended a job puts no more');
select pg_temp.asked('put_blob', 100) as pending \gset
select pg_temp.refuses(:pending, 1, 'nobody holds a pending job');

-- when an attempt lapses, is released, fails to poison and is redriven: attempts go on counting
select plane.claim_one('put_blob', 'w1') \g /dev/null
select pg_temp.put(:pending, 'of 1') \g /dev/null
select pg_temp.later('1 h');
select plane.claim_one('put_blob', 'w2') \g /dev/null
select pg_temp.refuses(:pending, 1, 'who lapsed puts no more');
select is(pg_temp.put(:pending, 'of 2', 2), 1, 'each attempt counts its own blobs');
select plane.release_job(:pending, 2) \g /dev/null
select plane.claim_one('put_blob', 'w3') \g /dev/null
select pg_temp.refuses(:pending, 2, 'nor who gave the job back');
select plane.fail_job(:pending, 3, '{}', '0 s') \g /dev/null
select plane.claim_one('put_blob', 'w4') \g /dev/null
select pg_temp.refuses(:pending, 3, 'nor who failed');
select pg_temp.put(:pending, 'of 4', 4) \g /dev/null
select plane.complete_job(:pending, 4, '{}') \g /dev/null
select is(pg_temp.text_of('put_blob', :pending), 'of 4', 'of all of them the blob of the attempt that finished is read');

-- when a poison job is redriven
select pg_temp.held('put_blob') as job_id \gset
select pg_temp.put(:job_id) \g /dev/null
update plane.lease set max_dequeues = 1 where job_id = :job_id;
select plane.fail_job(:job_id, 1, '{}') \g /dev/null
select plane.retry_job(:job_id) \g /dev/null
select plane.claim_one('put_blob', 'w1') \g /dev/null
select pg_temp.refuses(:job_id, 1, 'a redrive brings no attempt back');
select lives_ok(format('select pg_temp.put(%s, ''x'', 2)', :job_id), 'its own puts blobs');

-- when what it says cannot be sent in a header
create function pg_temp.out_of_range(p_arguments text, p_message text, p_what text, p_code text default '22023') returns text language sql as $$
    select throws_ok(format('select plane.put_blob(1, 1, %s)', p_arguments), p_code, p_message, p_what)
$$;
select pg_temp.out_of_range($$ null, 'a', '' $$, 'not a content type', 'NULL is no content type');
select pg_temp.out_of_range($$ '', 'a', '' $$, 'not a content type', 'nor is nothing');
select pg_temp.out_of_range($$ 'csv', 'a', '' $$, 'not a content type', 'nor is half of one');
select pg_temp.out_of_range($$ E'text/csv\r\nSet-Cookie: a=b', 'a', '' $$, 'not a content type', 'nor is one that brings another header along');
select pg_temp.out_of_range($$ 'text/csv; x=' || repeat('x', 200), 'a', '' $$, 'not a content type', 'nor is one of more than 200 characters');
select pg_temp.out_of_range($$ 'a/b', '', '' $$, 'not a file name', 'nothing is no file name');
select pg_temp.out_of_range($$ 'a/b', '..', '' $$, 'not a file name', 'nor is a way up');
select pg_temp.out_of_range($$ 'a/b', 'a/b', '' $$, 'not a file name', 'nor is a path');
select pg_temp.out_of_range($$ 'a/b', E'a\\b', '' $$, 'not a file name', 'of either kind');
select pg_temp.out_of_range($$ 'a/b', E'a\nb', '' $$, 'not a file name', 'nor are two lines');
select pg_temp.out_of_range(format($$ 'a/b', %L, '' $$, 'sales' || chr(c) || 'txt.exe'), 'not a file name',
    format('nor is one that U+%s turns about', upper(to_hex(c))))
from unnest(array[1564, 8206, 8207, 8232, 8234, 8238, 8294, 8297]) as c;
select pg_temp.out_of_range($$ 'a/b', repeat('x', 256), '' $$, 'not a file name', 'nor is one of 256 characters');

-- when there are no bytes, or too many
select pg_temp.out_of_range($$ 'a/b', 'a', null $$, 'a blob is written in bytes', 'NULL is no bytes');
select pg_temp.out_of_range($$ 'a/b', 'a', convert_to(repeat('x', 1048577), 'UTF8') $$, 'a blob is written by up to 1 MiB at a time',
    'more than 1 MiB is refused', 'PL413');
select is(
    plane.put_blob(:job_id, 2, 'a/b', repeat('x', 255), convert_to(repeat('x', 1048576), 'UTF8')), 2, 'the most of everything is taken');

select * from finish();
rollback;
