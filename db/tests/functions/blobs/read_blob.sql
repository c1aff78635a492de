-- read_blob: ranges of a done job's blob, for its scope, until it expires.
begin;
\ir _blobs.sql
select plan(42);

create function pg_temp.range(p_from bigint, p_length integer) returns bytea language sql as $$
    select plane.read_blob('read_blob', current_setting('test.job_id')::bigint, 1, pg_temp.key(), p_from, p_length)
$$;

-- given a done job with a blob in pieces of 3, 4 and 2 bytes, and an empty one
select pg_temp.freeze('2030-01-01 12:00+00');
select pg_temp.surface('read_blob');
select plane.create_queue('read_blob', p_blob_retention => '6 h');
select pg_temp.held('read_blob') as job_id \gset
select set_config('test.job_id', :'job_id', true) \g /dev/null
select pg_temp.put(:job_id), plane.append_blob(:job_id, 1, 1, 'defg'), plane.append_blob(:job_id, 1, 1, 'hi'), pg_temp.put(:job_id, '') \g /dev/null
select pg_temp.unknown('read_blob', :job_id, 'a job that runs has no blobs yet');
select pg_temp.later('30 s');
select plane.complete_job(:job_id, 1, '{"blob": 1}') \g /dev/null

-- then any range of it can be read
select is(pg_temp.range(0, 1048576), 'abcdefghi'::bytea, 'the whole');
select is(pg_temp.range(0, 1), 'a'::bytea, 'the first byte');
select is(pg_temp.range(2, 2), 'cd'::bytea, 'a range across two pieces');
select is(pg_temp.range(3, 4), 'defg'::bytea, 'exactly one piece');
select is(pg_temp.range(1, 7), 'bcdefgh'::bytea, 'a range across all of them');
select is(pg_temp.range(4, 2), 'ef'::bytea, 'a range within one');
select is(pg_temp.range(8, 100), 'i'::bytea, 'what is left at the end');
select is(pg_temp.range(9, 1), ''::bytea, 'nothing at the end');
select is(pg_temp.range(9223372036854775807, 1048576), ''::bytea, 'nothing far beyond');
select is(plane.read_blob('read_blob', :job_id, 2, pg_temp.key(), 0, 10), ''::bytea, 'an empty blob is there and empty');

select volatility_is('plane', 'read_blob', 'stable', 'one snapshot sees the blob and its bytes, whatever is reaped meanwhile');

-- when there is no such blob for this reader
select pg_temp.unknown('read_blob', :job_id, 'a number that the attempt did not put', 3);
select pg_temp.unknown('read_blob', :job_id, 'no number', null);
select pg_temp.unknown('read_blob', :job_id, 'a number of nothing', 0);
select pg_temp.unknown('read_blob', :job_id, 'a number below', -1);
select pg_temp.unknown('read_blob', 9223372036854775807, 'a job that does not exist');
create function pg_temp.refuses(p_arguments text, p_message text, p_what text, p_code text default 'PL404') returns text language sql as $$
    select throws_ok(format('select plane.read_blob(%s)', p_arguments), p_code, p_message, p_what)
$$;
select plane.create_queue('read_blob-2');
select pg_temp.refuses(format('''read_blob'', null, 1, %L, 0, 1', pg_temp.key()), 'no such blob', 'no job');
select pg_temp.refuses(format('''read_blob'', %s, 1, null, 0, 1', :job_id), 'no such blob', 'no scope');
select pg_temp.refuses(format('''read_blob'', %s, 1, ''x'', 0, 1', :job_id), 'no such blob', 'another scope');
select pg_temp.refuses(format('''read_blob-2'', %s, 1, %L, 0, 1', :job_id, pg_temp.key()), 'no such blob', 'another queue');
select pg_temp.refuses(format('''nowhere'', %s, 1, %L, 0, 1', :job_id, pg_temp.key()), 'no such queue', 'a queue that does not exist');

-- when a range cannot be
create function pg_temp.out_of_range(p_range text, p_what text) returns text language sql as $$
    select throws_ok(format('select pg_temp.range(%s)', p_range), '22023', 'a blob is read by 1 to 1048576 bytes at a time, from 0 on', p_what)
$$;
select pg_temp.out_of_range('-1, 1', 'before the beginning');
select pg_temp.out_of_range('null, 1', 'from nowhere');
select pg_temp.out_of_range('0, 0', 'of no length');
select pg_temp.out_of_range('0, null', 'of unknown length');
select pg_temp.out_of_range('0, 1048577', 'of more than 1 MiB');

-- when time goes by
select pg_temp.later('6 h -1 ms');
select is(pg_temp.range(0, 9), 'abcdefghi'::bytea, 'until its retention is over, counted from the end of the job, it is read');
select pg_temp.later('1 ms');
select pg_temp.gone('read_blob', :job_id, 'from that moment on it has expired, reaped or not');
select is(pg_temp.chunks(:job_id), 3::bigint, 'its bytes are still there');
select pg_temp.refuses(format('''read_blob'', %s, 1, ''x'', 0, 1', :job_id), 'no such blob', 'another scope hears nothing of that');
select plane.create_queue('read_blob', p_blob_retention => '7 h');
select is(pg_temp.range(0, 9), 'abcdefghi'::bytea, 'a longer retention counts at once');
select plane.create_queue('read_blob', p_blob_retention => '6 h');
select plane.reap_blobs() \g /dev/null
select is(pg_temp.chunks(:job_id), 0::bigint, 'when its bytes are gone');
select pg_temp.gone('read_blob', :job_id, 'it has expired still');
select plane.create_queue('read_blob', p_blob_retention => '1 year');
select pg_temp.gone('read_blob', :job_id, 'and no retention brings it back');

-- when a job ended otherwise
select pg_temp.held('read_blob') as failed \gset
select pg_temp.put(:failed) \g /dev/null
update plane.lease set max_dequeues = 1 where job_id = :failed;
select is(plane.fail_job(:failed, 1, '{}'), 'poison', 'a job that failed');
select pg_temp.unknown('read_blob', :failed, 'has no blobs');
select pg_temp.held('read_blob') as cancelled \gset
select pg_temp.put(:cancelled) \g /dev/null
select plane.request_cancel(:cancelled, 'ann'), plane.finish_cancel(:cancelled, 1, '{"blob": 1}') \g /dev/null
select pg_temp.unknown('read_blob', :cancelled, 'nor has a cancelled one');
select pg_temp.held('read_blob') as refused \gset
select pg_temp.put(:refused) \g /dev/null
select plane.complete_job(:refused, 1, null, '{"status": 404}') \g /dev/null
select is(pg_temp.text_of('read_blob', :refused), 'abc', 'a refusal is an answer, and may have some');

-- when the job itself is gone
delete from plane.outcome where job_id = :refused;
delete from plane.job where id = :refused;
select pg_temp.unknown('read_blob', :refused, 'a job that was removed has no blobs');

-- given a job of the queue that nobody asked for in a scope
select job_id as plain from plane.enqueue('read_blob', 'send') \gset
select plane.claim_one('read_blob', 'w1') \g /dev/null
select pg_temp.put(:plain), plane.complete_job(:plain, 1, '{}') \g /dev/null
select pg_temp.refuses(format('''read_blob'', %s, 1, null, 0, 1', :plain), 'no such blob', 'a job without a scope has no readers');
select pg_temp.unknown('read_blob', :plain, 'none at all');

select * from finish();
rollback;
