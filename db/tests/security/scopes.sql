-- Answers never cross a scope, a client or a surface.
begin;
select plan(9);

-- given the same question, asked by two scopes of one client and by one scope of another client
select plane.create_queue(queue) from unnest(array['scopes-a', 'scopes-b']) as queue;
select plane.register_manifest(queue, '[{"name": "ask", "version": 1, "params": {}, "ttl_seconds": 0,
    "timeout_seconds": 10, "per_actor": false}, {"name": "mine", "version": 1, "params": {},
    "ttl_seconds": 0, "timeout_seconds": 10, "per_actor": true}]')
from unnest(array['scopes-a', 'scopes-b']) as queue;

create function pg_temp.ask(p_client text, p_scope text, p_actor text = 'ann', p_operation text = 'ask')
    returns bigint language sql as $$
    select job_id from plane.submit_request('scopes-a', p_operation, '{}', jsonb_build_object(
        'client', p_client, 'actor', p_actor, 'staff', false, 'scope', jsonb_build_array(p_scope)))
$$;
select pg_temp.ask('acme', 'north') as north, pg_temp.ask('acme', 'south') as south,
    pg_temp.ask('umbrella', 'north') as umbrella \gset
select plane.scope_key('acme', '["north"]', false) as north_key,
    plane.scope_key('acme', '["north"]', true) as staff_key,
    plane.scope_key('acme', '["north"]', false, 'ann') as ann_key,
    plane.scope_key('acme', '["north"]', false, 'bob') as bob_key \gset

-- then each of them has a job of its own
select is(
    (select count(distinct id) from unnest(array[:north, :south, :umbrella]::bigint[]) as id), 3::bigint,
    'other scopes and other clients never share a job');

-- then only the same scope reads it
set local role plane_reader;
select results_eq(
    format('select job_id from plane.get_job(''scopes-a'', %s, %L)', :north, :'north_key'),
    array[:north]::bigint[], 'the scope that asked reads its job');
select is_empty(
    format('select from plane.get_job(''scopes-a'', %s, %L)', :south, :'north_key'),
    'another scope''s job is no row');
select is_empty(
    format('select from plane.get_job(''scopes-a'', %s, %L)', :umbrella, :'north_key'),
    'another client''s job is no row');
select is_empty(
    format('select from plane.get_job(''scopes-a'', %s, %L)', :north, :'staff_key'),
    'staff is a scope of its own');
select is_empty(
    format('select from plane.get_job(''scopes-a'', %s, null)', :north), 'no scope sees nothing');
select is_empty(
    format('select from plane.get_job(''scopes-b'', %s, %L)', :north, :'north_key'),
    'another surface''s job is no row');
select is(
    plane.register_waiter('scopes-a', :south, :'north_key', 'edge', '1 minute'), false,
    'nobody waits for another scope''s job');
reset role;

-- given an operation that depends on the person
select pg_temp.ask('acme', 'north', 'ann', 'mine') as ann \gset
select results_eq(
    format('select key from unnest(array[%L, %L, %L]) as key, plane.get_job(''scopes-a'', %s, key)',
        :'north_key', :'bob_key', :'ann_key', :ann),
    array[:'ann_key'], 'an operation per actor is read by its actor alone');

select * from finish();
rollback;
