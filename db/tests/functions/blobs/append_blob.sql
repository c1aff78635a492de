-- append_blob: an attempt goes on with a blob of its own.
begin;
\ir _blobs.sql
select plan(15);

-- given a held job with two blobs, one of them empty
select pg_temp.freeze('2030-01-01 12:00+00');
select pg_temp.surface('append_blob');
select pg_temp.held('append_blob') as job_id \gset
select pg_temp.put(:job_id), pg_temp.put(:job_id, '') \g /dev/null

-- when they grow
select is(plane.append_blob(:job_id, 1, 1, 'def'), 6::bigint, 'its size is told');
select is(plane.append_blob(:job_id, 1, 1, ''), 6::bigint, 'nothing adds nothing');
select is(plane.append_blob(:job_id, 1, 2, 'g'), 1::bigint, 'an empty one grows, too');
select is(plane.append_blob(:job_id, 1, 1, convert_to(repeat('x', 1048576), 'UTF8')), 1048582::bigint, 'by up to 1 MiB at a time');
select is((select array_agg(size order by blob) from plane.blobs where job_id = :job_id), array[1048582, 1]::bigint[], 'and everybody sees it');

-- when it is refused
create function pg_temp.refuses(p_arguments text, p_code text, p_message text, p_what text) returns text language sql as $$
    select throws_ok(format('select plane.append_blob(%s)', p_arguments), p_code, p_message, p_what)
$$;
select pg_temp.refuses(format('%s, 1, 3, ''x''', :job_id), 'PL404', 'no such blob', 'a blob is begun first');
select pg_temp.refuses(format('%s, 1, null, ''x''', :job_id), 'PL404', 'no such blob', 'NULL is no blob');
select pg_temp.refuses(format('%s, 1, 1, null', :job_id), '22023', 'a blob is written in bytes', 'NULL is no bytes');
select pg_temp.refuses(format('%s, 1, 1, convert_to(repeat(''x'', 1048577), ''UTF8'')', :job_id), 'PL413', 'a blob is written by up to 1 MiB at a time',
    'more than 1 MiB is refused');
select pg_temp.refuses(format('%s, 2, 1, ''x''', :job_id), 'PL409', 'the attempt no longer holds this job', 'a stranger adds nothing');
select pg_temp.refuses('null, 1, 1, ''x''', 'PL409', 'the attempt no longer holds this job', 'no job is no job');
select is((select array_agg(size order by blob) from plane.blobs where job_id = :job_id), array[1048582, 1]::bigint[], 'none of that changed anything');

-- when another attempt has the job
select pg_temp.later('1 h');
select plane.claim_one('append_blob', 'w2') \g /dev/null
select pg_temp.refuses(format('%s, 1, 1, ''x''', :job_id), 'PL409', 'the attempt no longer holds this job', 'who lost the job adds no more');
select pg_temp.refuses(format('%s, 2, 1, ''x''', :job_id), 'PL404', 'no such blob', 'nor does the next attempt go on with a blob of the last');

-- when the job is done
select plane.complete_job(:job_id, 2, '{}') \g /dev/null
select pg_temp.refuses(format('%s, 2, 1, ''x''', :job_id), 'PL409', 'the attempt no longer holds this job', 'a finished job''s blobs stay as they are');

select * from finish();
rollback;
