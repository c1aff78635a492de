-- Blobs never cross a scope, a client or a surface, and the content of a result opens none.
begin;
\ir ../functions/blobs/_blobs.sql
select plan(13);

-- given a done job of one scope, and one of another whose result claims to have its blob
select pg_temp.freeze('2030-01-01 12:00+00');
select pg_temp.surface('blobs-a'), pg_temp.surface('blobs-b') \g /dev/null
select pg_temp.finished('blobs-a', 'of the north') as north \gset
select plane.scope_key('acme', '["south"]', false) as south_key, plane.scope_key('umbrella', '["north"]', false) as client_key,
    plane.scope_key('acme', '["north"]', true) as staff_key, plane.scope_key('acme', '["north"]', false, 'ann') as actor_key \gset
select job_id as south from plane.submit_request('blobs-a', 'ask', '{}', pg_temp.envelope(p_scope => '["south"]')) \gset
select plane.claim_one('blobs-a', 'w1') \g /dev/null
select plane.complete_job(:south, 1, format('{"job": %s, "blob": 1, "blobs_of": %1$s}', :north)::json) \g /dev/null

-- when readers ask for it
create function pg_temp.refuses(p_key text, p_job_id bigint, p_what text, p_queue text default 'blobs-a') returns setof text language sql as $$
    select throws_ok(format('select plane.%s', call), 'PL404', 'no such blob', p_what)
    from unnest(array[format('read_blob(%L, %s, 1, %L, 0, 9)', p_queue, p_job_id, p_key), format('blob_info(%L, %s, 1, %L)', p_queue, p_job_id, p_key)]) as call
$$;
grant usage on schema tap to plane_reader;
set local role plane_reader;
select is(plane.read_blob('blobs-a', :north, 1, plane.scope_key('acme', '["north"]', false), 0, 100), 'of the north'::bytea, 'the scope that asked reads it');
reset role;
select pg_temp.refuses(:'south_key', :north, 'another scope does not');
select pg_temp.refuses(:'client_key', :north, 'nor does another client with a scope of that name');
select pg_temp.refuses(:'staff_key', :north, 'nor does staff, which is a scope of its own');
select pg_temp.refuses(:'actor_key', :north, 'nor does a person''s own key');
select pg_temp.refuses(pg_temp.key(), :north, 'nor does the scope through another surface', 'blobs-b');
select pg_temp.refuses(:'south_key', :south, 'and what a result says of itself opens nothing');

select * from finish();
rollback;
