-- submit_request: one job for all who ask the same within one scope. What fresh makes of it: submit_request_fresh.
begin;
\ir ../../_clock.sql
\ir _surface.sql
select plan(62);

create function pg_temp.ask(p_envelope jsonb, p_operation text default 'ask', p_params jsonb default '{"a": 1}', p_version integer default null,
    out job_id bigint, out coalesced boolean) language sql as $$
    select job_id, coalesced from plane.submit_request('submit_request', p_operation, p_params, p_envelope, p_version)
$$;
create function pg_temp.shares(p_job_id bigint, p_envelope jsonb, p_operation text, p_what text) returns text language sql as $$
    select is(a::text, format('(%s,t)', p_job_id), p_what) from pg_temp.ask(p_envelope, p_operation) as a
$$;
create function pg_temp.differs(p_job_id bigint, p_envelope jsonb, p_operation text, p_what text) returns text language sql as $$
    select is(a.coalesced or a.job_id <= p_job_id, false, p_what) from pg_temp.ask(p_envelope, p_operation) as a
$$;

-- given a surface
select pg_temp.freeze('2030-01-01 12:00+00');
select pg_temp.surface('submit_request');
select pg_temp.surface('submit_request-other');

-- when a caller asks
select job_id, coalesced from pg_temp.ask(pg_temp.envelope()) \gset
select plane.scope_key('acme', '["north"]', false) as scope_key \gset
select plane.dedupe_key('submit_request', 'ask', 2, 'acme', :'scope_key', '{"a": 1}') as dedupe_key \gset
select is(:'coalesced'::boolean, false, 'the first who asks has a job made');
select results_eq(
    format('select queue, operation, version, params, envelope, status, priority, max_dequeues from plane.jobs where id = %s', :job_id),
    $$ values ('submit_request', 'ask', 2, '{"a": 1}'::jsonb,
        '{"client": "acme", "actor": "ann", "staff": false, "scope": ["north"]}'::jsonb, 'pending', 0, 5) $$,
    'of the newest version, with the envelope that was given');
select is((select scope_key from plane.jobs where id = :job_id), :'scope_key', 'its scope key is that of the caller');
select is((select dedupe_key from plane.jobs where id = :job_id), :'dedupe_key', 'and its dedupe key that of the question');
select job_id as mine from pg_temp.ask(pg_temp.envelope(), 'mine') \gset
select is(
    (select scope_key from plane.jobs where id = :mine), plane.scope_key('acme', '["north"]', false, 'ann'),
    'of an operation per actor, the actor is in the scope key');

-- when others ask the same
select is_empty(format('select from plane.waiter where job_id = %s', :job_id), 'of the first who asks nothing is noted: the job says who that is');
select pg_temp.shares(:job_id, pg_temp.envelope(), 'ask', 'the same caller joins the job');
select pg_temp.shares(:job_id, pg_temp.envelope(p_actor => 'bob'), 'ask', 'so does another person of the same client and scope');
select pg_temp.shares(:job_id, pg_temp.envelope(p_scope => '["north", "north"]'), 'ask', 'however the scope is written');
select pg_temp.shares(:job_id, pg_temp.envelope() || '{"trace": "7"}', 'ask', 'and whatever else the envelope says');
select set_eq(
    format('select waiter, state, deadline from plane.waiter where job_id = %s', :job_id),
    $$ select plane.scope_key('acme', '["north"]', false, actor), 'wants', timestamptz '2030-01-01 12:02+00' from unnest(array['ann', 'bob']) as actor $$,
    'who joins it is noted, once, as one who wants it');
select pg_temp.differs(:job_id, pg_temp.envelope(p_client => 'umbrella'), 'ask', 'another client has a job of its own');
select pg_temp.differs(:job_id, pg_temp.envelope(p_scope => '["south"]'), 'ask', 'so has another scope');
select pg_temp.differs(:job_id, pg_temp.envelope(p_scope => '["north", "south"]'), 'ask', 'a wider scope');
select pg_temp.differs(:job_id, pg_temp.envelope(p_staff => true), 'ask', 'and staff');
select pg_temp.differs(:job_id, pg_temp.envelope(p_actor => 'bob'), 'mine', 'where the answer depends on the person, another person too');
select is(
    (select a.coalesced from pg_temp.ask(pg_temp.envelope(p_actor => 'bob'), 'mine') as a), true, 'who then joins that one');

-- when something else is asked
select is((select a.coalesced from pg_temp.ask(pg_temp.envelope(), p_params => '{"a": 2}') as a), false, 'other params are another question');
select is((select a.job_id from pg_temp.ask(pg_temp.envelope(), p_params => '{"a":1}') as a), :job_id::bigint, 'the same params written otherwise are not');
select job_id as older from pg_temp.ask(pg_temp.envelope(), p_version => 1) \gset
select is((select version from plane.jobs where id = :older), 1, 'an older version can be asked for');
select isnt(:older::bigint, :job_id::bigint, 'and is another question');
select is((select a.job_id from pg_temp.ask(pg_temp.envelope(), p_version => 2) as a), :job_id::bigint, 'the newest by its number is the same as by default');
select is(
    (select coalesced from plane.submit_request('submit_request-other', 'ask', '{"a": 1}', pg_temp.envelope())), false,
    'another surface is another question');

-- when a worker claims it
select results_eq(
    $$ select job_id, attempt, version, params, envelope, dedupe_key, cache_key, fresh from plane.claim_one('submit_request', 'w1') $$,
    format($$ values (%s::bigint, 1, 2, '{"a": 1}'::jsonb, '{"client": "acme", "actor": "ann", "staff": false, "scope": ["north"]}'::jsonb,
        %L, %L, false) $$, :job_id, :'dedupe_key', :'dedupe_key'),
    'the cache key is the dedupe key, which only a request sets');
select pg_temp.shares(:job_id, pg_temp.envelope(), 'ask', 'who asks now joins the attempt under way');

-- when it is answered
select plane.complete_job(:job_id, 1, '{}') \g /dev/null
select pg_temp.differs(:job_id, pg_temp.envelope(), 'ask', 'who asks after the answer has a new job made');
select is(
    (select e.coalesced from plane.enqueue('submit_request', 'ask', p_dedupe_key => :'dedupe_key') as e), true,
    'an enqueue by the same dedupe key joins it as well');
select is(
    (select array_agg(w.deadline) from plane.waiter w join plane.jobs j on j.id = w.job_id where j.dedupe_key = :'dedupe_key' and j.status = 'pending'),
    array['infinity']::timestamptz[], 'and wants it for good');

-- when the surface, the operation or the version does not exist
create function pg_temp.refuses(p_arguments text, p_state text, p_message text, p_what text) returns text language sql as $$
    select throws_ok('select plane.submit_request(' || p_arguments || ')', p_state, p_message, p_what)
$$;
select pg_temp.refuses($$ 'submit_request-none', 'ask', '{}', pg_temp.envelope() $$, 'PL404', 'no such queue', 'a surface that does not exist is refused');
select pg_temp.refuses($$ null, 'ask', '{}', pg_temp.envelope() $$, 'PL404', 'no such queue', 'NULL is no surface');
select pg_temp.refuses($$ 'submit_request', 'tell', '{}', pg_temp.envelope() $$, 'PL404', 'no such operation', 'an operation that is not in the manifest is refused');
select pg_temp.refuses($$ 'submit_request', 'Ask', '{}', pg_temp.envelope() $$, 'PL404', 'no such operation', 'so is one in other letters');
select pg_temp.refuses($$ 'submit_request', 'ask', '{}', pg_temp.envelope(), 3 $$, 'PL404', 'no such operation', 'so is a version that is not in the manifest');
select pg_temp.refuses($$ 'submit_request', 'ask', '{}', pg_temp.envelope(), -1 $$, 'PL404', 'no such operation', 'or never could be');
select pg_temp.refuses($$ 'submit_request', null, '{}', pg_temp.envelope() $$, '22023', 'an operation has a name of 1 to 200 characters', 'NULL is no operation');
select pg_temp.refuses($$ 'submit_request', '', '{}', pg_temp.envelope() $$, '22023', 'an operation has a name of 1 to 200 characters', 'an empty operation is refused');
select pg_temp.refuses($$ 'submit_request', repeat('o', 201), '{}', pg_temp.envelope() $$, '22023', 'an operation has a name of 1 to 200 characters', 'an operation of 201 characters is refused');
select plane.create_queue('submit_request-mute');
select pg_temp.refuses($$ 'submit_request-mute', 'ask', '{}', pg_temp.envelope() $$, 'PL503', 'no manifest yet', 'a surface whose workers never came is not ready');
select plane.register_manifest('submit_request-mute', '[]');
select pg_temp.refuses($$ 'submit_request-mute', 'ask', '{}', pg_temp.envelope() $$, 'PL503', 'no manifest yet', 'nor is one whose manifest is empty');

-- when params or envelope are not objects
select pg_temp.refuses($$ 'submit_request', 'ask', '[]', pg_temp.envelope() $$, 'PL422', 'params and envelope must be JSON objects', 'params that are an array are refused');
select pg_temp.refuses($$ 'submit_request', 'ask', 'null', pg_temp.envelope() $$, 'PL422', 'params and envelope must be JSON objects', 'a JSON null is no params');
select pg_temp.refuses($$ 'submit_request', 'ask', null, pg_temp.envelope() $$, 'PL422', 'params and envelope must be JSON objects', 'NULL is no params');
select pg_temp.refuses($$ 'submit_request', 'ask', '{}', '[]' $$, 'PL422', 'params and envelope must be JSON objects', 'an envelope that is an array is refused');
select pg_temp.refuses($$ 'submit_request', 'ask', '{}', null $$, 'PL422', 'params and envelope must be JSON objects', 'NULL is no envelope');
select pg_temp.refuses($$ 'submit_request', 'ask', '{"a": "\u0000"}', pg_temp.envelope() $$, '22P05', 'unsupported Unicode escape sequence', 'a NUL character is refused by PostgreSQL itself');
select pg_temp.refuses($$ 'submit_request', 'ask', jsonb_build_object('a', repeat('x', 262144 - 8)), pg_temp.envelope() $$,
    'PL413', 'params and envelope are limited to 256 KiB', 'params of 256 KiB and a byte are refused');
select lives_ok(
    $$ select plane.submit_request('submit_request', 'ask', jsonb_build_object('a', repeat('x', 262144 - 9)), pg_temp.envelope()) $$,
    'params of 256 KiB are taken');
select pg_temp.refuses($$ 'submit_request', 'ask', '{}', pg_temp.envelope() || jsonb_build_object('a', repeat('x', 262144)) $$,
    'PL413', 'params and envelope are limited to 256 KiB', 'an envelope beyond 256 KiB is refused');

-- when the envelope does not say who asks
create function pg_temp.refuses_envelope(p_envelope jsonb, p_what text, p_message text default 'an envelope has a client, an actor, a staff flag and a scope') returns text language sql as $$
    select throws_ok(format('select plane.submit_request(''submit_request'', ''ask'', ''{}'', %L)', p_envelope), 'PL422', p_message, p_what)
$$;
select pg_temp.refuses_envelope('{}', 'an empty envelope is refused');
select pg_temp.refuses_envelope(pg_temp.envelope() - 'client', 'an envelope without a client is refused');
select pg_temp.refuses_envelope(pg_temp.envelope() || '{"client": null}', 'a client that is null is none');
select pg_temp.refuses_envelope(pg_temp.envelope() || '{"client": 7}', 'a client is a text');
select pg_temp.refuses_envelope(pg_temp.envelope() - 'actor', 'an envelope without an actor is refused');
select pg_temp.refuses_envelope(pg_temp.envelope() - 'staff', 'an envelope without a staff flag is refused');
select pg_temp.refuses_envelope(pg_temp.envelope() || '{"staff": "false"}', 'a staff flag is true or false');
select pg_temp.refuses_envelope(pg_temp.envelope(p_client => ''), 'an empty client is none', 'a caller has a client, a scope and a staff flag');
select pg_temp.refuses_envelope(pg_temp.envelope() - 'scope', 'an envelope without a scope is refused', 'a caller has a client, a scope and a staff flag');
select pg_temp.refuses_envelope(pg_temp.envelope(p_scope => '[]'), 'an empty scope is none', 'a caller has a client, a scope and a staff flag');
select pg_temp.refuses_envelope(pg_temp.envelope(p_scope => '"north"'), 'a scope is a list', 'a caller has a client, a scope and a staff flag');
select throws_ok(
    $$ select plane.submit_request('submit_request', 'mine', '{}', pg_temp.envelope(p_actor => '')) $$,
    'PL422', 'a caller has a client, a scope and a staff flag', 'where the answer depends on the person, there must be one');

-- when the queue is full
select plane.create_queue('submit_request-other', p_max_depth => 1);
select pg_temp.refuses($$ 'submit_request-other', 'ask', '{}', pg_temp.envelope() $$, 'PL429', 'the queue is full', 'a new question is refused');
select is(
    (select coalesced from plane.submit_request('submit_request-other', 'ask', '{"a": 1}', pg_temp.envelope())), true,
    'one that is being answered is joined');

select * from finish();
rollback;
