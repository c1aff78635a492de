-- dedupe_key: two live requests are the same question exactly when theirs is equal.
begin;
select plan(28);

create function pg_temp.key(
    p_surface text default 'surface-a', p_operation text default 'ask', p_version integer default 1,
    p_client text default 'acme', p_scope_key text default 'ab12', p_params jsonb default '{"a": 1, "b": [2, 3]}')
    returns text language sql as $$
    select plane.dedupe_key(p_surface, p_operation, p_version, p_client, p_scope_key, p_params)
$$;

-- given a question
select matches(pg_temp.key(), '^[0-9a-f]{64}$', 'a dedupe key is 64 hex digits');
select is(
    pg_temp.key(),
    encode(sha256('["request", "surface-a", "ask", 1, "acme", "ab12", {"a": 1, "b": [2, 3]}]'), 'hex'),
    'it is the sha256 of all that makes the question, and will stay it');

-- then params are compared by what they say
select is(pg_temp.key(p_params => '{"b":[2,3],  "a":1}'), pg_temp.key(), 'the order of keys and blanks do not matter');
select is(pg_temp.key(p_params => '{"a": 9, "b": [2, 3], "a": 1}'), pg_temp.key(), 'of a key that comes twice the last counts');
select is(pg_temp.key(p_params => '{"\u0061": 1, "b": [2, 3]}'), pg_temp.key(), 'however a character is written');
select isnt(pg_temp.key(p_params => '{"a": 1, "b": [3, 2]}'), pg_temp.key(), 'the order of a list matters');
select isnt(pg_temp.key(p_params => '{"a": "1", "b": [2, 3]}'), pg_temp.key(), 'a number is not its digits');
select isnt(pg_temp.key(p_params => '{"a": 1, "b": [2, 3], "c": null}'), pg_temp.key(), 'a null that is said is not one that is left out');
select isnt(
    pg_temp.key(p_params => '{"a": 9007199254740993}'), pg_temp.key(p_params => '{"a": 9007199254740992}'),
    'large numbers are told apart to the last digit');

-- then every part counts
select isnt(pg_temp.key(p_surface => 'surface-b'), pg_temp.key(), 'another surface is another question');
select isnt(pg_temp.key(p_operation => 'Ask'), pg_temp.key(), 'so is another operation');
select isnt(pg_temp.key(p_version => 2), pg_temp.key(), 'another version');
select isnt(pg_temp.key(p_client => 'umbrella'), pg_temp.key(), 'another client');
select isnt(pg_temp.key(p_scope_key => 'ab13'), pg_temp.key(), 'another scope key');
select isnt(pg_temp.key(p_params => '{}'), pg_temp.key(), 'and other params');

-- then no value can pose as another, or as two
select isnt(
    pg_temp.key(p_surface => 'a', p_operation => 'bc'), pg_temp.key(p_surface => 'ab', p_operation => 'c'),
    'nothing runs into its neighbour');
select isnt(
    pg_temp.key(p_surface => 'a", "b', p_operation => 'c'), pg_temp.key(p_surface => 'a', p_operation => 'b", "c'),
    'not by quotes either');
select isnt(pg_temp.key(), plane.scope_key('acme', '["ab12"]', false), 'a dedupe key is never a scope key');

-- then a question that lacks a part has none: everybody who forgot the same would share one answer
create function pg_temp.refuses(p_arguments text, p_what text) returns text language sql as $$
    select throws_ok(format('select pg_temp.key(%s)', p_arguments), 'PL422',
        'a question has a surface, an operation, a version, a client, a scope key and params', p_what)
$$;
select pg_temp.refuses('p_surface => null', 'a surface is needed');
select pg_temp.refuses('p_operation => ''''', 'an operation');
select pg_temp.refuses('p_version => null', 'a version');
select pg_temp.refuses('p_version => 0', 'from 1 on');
select pg_temp.refuses('p_client => null', 'a client');
select pg_temp.refuses('p_client => ''''', 'not an empty one');
select pg_temp.refuses('p_scope_key => null', 'a scope key');
select pg_temp.refuses('p_scope_key => ''''', 'not an empty one either');
select pg_temp.refuses('p_params => null', 'params');
select pg_temp.refuses('p_params => ''[]''', 'which are an object');

select * from finish();
rollback;
