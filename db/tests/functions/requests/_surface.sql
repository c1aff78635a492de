-- A surface and those who ask it, for the tests of requests.

-- surface: a queue with the operations ask (versions 1 and 2) and mine, whose answer depends on the person.
create function pg_temp.surface(p_queue text) returns void language sql as $$
    select plane.create_queue(p_queue, p_lease => '1 min', p_backoff => '30 s');
    select plane.register_manifest(p_queue, '[
        {"name": "ask", "version": 1}, {"name": "ask", "version": 2}, {"name": "mine", "version": 1, "per_actor": true}]');
$$;

-- envelope: what is known of a caller.
create function pg_temp.envelope(
    p_client text default 'acme', p_scope jsonb default '["north"]', p_actor text default 'ann', p_staff boolean default false)
    returns jsonb language sql as $$
    select jsonb_build_object('client', p_client, 'actor', p_actor, 'staff', p_staff, 'scope', p_scope)
$$;

-- asked: the id of a new job that asks the surface, distinct for each n, by a caller whose scope key is pg_temp.key().
create function pg_temp.asked(p_queue text, p_n integer default 0) returns bigint language sql as $$
    select job_id from plane.submit_request(p_queue, 'ask', jsonb_build_object('n', p_n), pg_temp.envelope())
$$;
create function pg_temp.key() returns text language sql as $$
    select plane.scope_key('acme', '["north"]', false)
$$;
