-- blob_info: what the headers of a download need to know.
begin;
\ir _blobs.sql
select plan(13);

create function pg_temp.etag(p_job_id bigint, p_blob integer default 1) returns text language sql as $$
    select etag from plane.blob_info('blob_info', p_job_id, p_blob, pg_temp.key())
$$;

-- given two done jobs with a blob of the same bytes each, one of them with a nameless second one
select pg_temp.freeze('2030-01-01 12:00+00');
select pg_temp.surface('blob_info');
select plane.create_queue('blob_info', p_blob_retention => '6 h');
select pg_temp.finished('blob_info') as other \gset
select pg_temp.held('blob_info') as job_id \gset
select pg_temp.put(:job_id), plane.put_blob(:job_id, 1, 'text/csv', null, 'defg') \g /dev/null
select pg_temp.later('30 s');
select plane.complete_job(:job_id, 1, '{"blob": 1}') \g /dev/null

-- then each says what it is
select results_eq(
    format('select content_type, filename, size, created_at, expires_at from plane.blob_info(''blob_info'', %s, 1, pg_temp.key())', :job_id),
    $$ values ('text/plain', 'a.txt', 3::bigint, timestamptz '2030-01-01 12:00+00', timestamptz '2030-01-01 18:00:30+00') $$,
    'a blob expires by its queue, counted from the end of its job');
select results_eq(
    format('select content_type, filename, size from plane.blob_info(''blob_info'', %s, 2, pg_temp.key())', :job_id),
    $$ values ('text/csv', null::text, 4::bigint) $$, 'it may have no name');
select matches(pg_temp.etag(:job_id), '^[0-9a-f]{32}$', 'its validator says nothing of it');
select is(pg_temp.etag(:job_id), pg_temp.etag(:job_id), 'and stays the same');
select is(
    (select count(distinct e) from unnest(array[pg_temp.etag(:job_id), pg_temp.etag(:job_id, 2), pg_temp.etag(:other)]) as e), 3::bigint,
    'no other blob has it');
select pg_temp.sharing('blob_info', :job_id) as sharing \gset
select is(pg_temp.etag(:sharing), pg_temp.etag(:job_id), 'the same blob read through another job does');

-- when a database was restored, and the ids came again
update plane.blob set created_at = created_at + interval '1 us' where job_id = :other;
select pg_temp.etag(:other) as again \gset
update plane.blob set created_at = created_at - interval '1 us' where job_id = :other;
select isnt(pg_temp.etag(:other), :'again', 'a blob of another time has another validator');

-- when there is none for this reader
create function pg_temp.refuses(p_arguments text, p_code text, p_message text, p_what text) returns text language sql as $$
    select throws_ok(format('select plane.blob_info(%s)', p_arguments), p_code, p_message, p_what)
$$;
select pg_temp.refuses(format('''blob_info'', %s, 3, pg_temp.key()', :job_id), 'PL404', 'no such blob', 'another number');
select pg_temp.refuses(format('''blob_info'', %s, 1, null', :job_id), 'PL404', 'no such blob', 'no scope');
select pg_temp.refuses(format('''blob_info'', %s, 1, ''x''', :job_id), 'PL404', 'no such blob', 'another scope');
select pg_temp.refuses(format('null, %s, 1, pg_temp.key()', :job_id), 'PL404', 'no such queue', 'no queue');
select pg_temp.later('6 h');
select pg_temp.refuses(format('''blob_info'', %s, 1, pg_temp.key()', :other), 'PL410', 'the blob has expired', 'once expired, it says no more');
select results_eq(
    format('select expires_at from plane.blob_info(''blob_info'', %s, 1, pg_temp.key())', :job_id),
    $$ values (timestamptz '2030-01-01 18:01:30+00') $$, 'one that another job uses lives as long as that one''s would, to the minute');

select * from finish();
rollback;
