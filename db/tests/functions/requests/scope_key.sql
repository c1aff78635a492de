-- scope_key: two callers share jobs, answers and cache entries exactly when theirs is equal.
begin;
select plan(35);

create function pg_temp.same(p_one text, p_other text, p_what text) returns text language plpgsql as $$
declare
    v_one   text;
    v_other text;
begin
    execute 'select plane.scope_key(' || p_one || ')' into strict v_one;
    execute 'select plane.scope_key(' || p_other || ')' into strict v_other;
    return is(v_one, v_other, p_what);
end;
$$;
create function pg_temp.differ(p_one text, p_other text, p_what text) returns text language plpgsql as $$
declare
    v_one   text;
    v_other text;
begin
    execute 'select plane.scope_key(' || p_one || ')' into strict v_one;
    execute 'select plane.scope_key(' || p_other || ')' into strict v_other;
    return isnt(v_one, v_other, p_what);
end;
$$;

-- given a caller
select matches(
    plane.scope_key('acme', '["north", "south"]', false), '^[0-9a-f]{64}$', 'a scope key is 64 hex digits');
select is(
    plane.scope_key('acme', '["north", "south"]', false),
    encode(sha256('["scope", "acme", ["north", "south"], false, null]'), 'hex'),
    'it is the sha256 of client, scope, staff flag and actor, and will stay it');

-- then a scope is a set
select pg_temp.same($$ 'acme', '["north", "south"]', false $$, $$ 'acme', '["south", "north"]', false $$,
    'the order of branches does not matter');
select pg_temp.same($$ 'acme', '["north", "south"]', false $$, $$ 'acme', '["north", "south", "north"]', false $$,
    'a branch that comes twice does not matter');
select pg_temp.same($$ 'acme', '["north"]', false $$, $$ 'acme', '["north"]', false, null $$,
    'an actor that is left out is no actor');

-- then every part counts
select pg_temp.differ($$ 'acme', '["north"]', false $$, $$ 'umbrella', '["north"]', false $$, 'another client is another key');
select pg_temp.differ($$ 'acme', '["north"]', false $$, $$ 'ACME', '["north"]', false $$, 'a client in other letters is another one');
select pg_temp.differ($$ 'acme', '["north"]', false $$, $$ 'acme', '["south"]', false $$, 'another scope is another key');
select pg_temp.differ($$ 'acme', '["north"]', false $$, $$ 'acme', '["north", "south"]', false $$, 'so is a wider one');
select pg_temp.differ($$ 'acme', '["north"]', false $$, $$ 'acme', '["north"]', true $$, 'staff is another key');
select pg_temp.differ($$ 'acme', '["north"]', false $$, $$ 'acme', '["north"]', false, 'ann' $$, 'so is an actor');
select pg_temp.differ($$ 'acme', '["north"]', false, 'ann' $$, $$ 'acme', '["north"]', false, 'bob' $$, 'and another actor');

-- then no value can pose as another, or as two
select pg_temp.differ($$ 'acme', '["north,south"]', false $$, $$ 'acme', '["north", "south"]', false $$, 'a comma parts nothing');
select pg_temp.differ($$ 'acme', '["north\", \"south"]', false $$, $$ 'acme', '["north", "south"]', false $$, 'nor do quotes');
select pg_temp.differ($$ 'acme', '["a"]', false $$, $$ 'acme", ["a"], false, null]', '["a"]', false $$, 'nor does a client made of JSON');
select pg_temp.differ($$ 'ab', '["c"]', false $$, $$ 'a', '["bc"]', false $$, 'nothing runs into its neighbour');
select pg_temp.differ($$ 'acme', '["1"]', false $$, $$ 'acme', '[1]', false $$, 'a number is not its digits');
select pg_temp.differ($$ 'acme', '["null"]', false, 'null' $$, $$ 'acme', '["null"]', false $$, 'no actor is not the actor null');
select pg_temp.differ($$ 'acme', '["a", "b"]', false $$, $$ 'acme', '[["a", "b"]]', false $$, 'a branch that is a list is not the list');
select pg_temp.differ($$ 'acme', '["\u00e9"]', false $$, $$ 'acme', '["e\u0301"]', false $$, 'characters that look alike differ');

-- when a caller is not known well enough
create function pg_temp.refuses(p_arguments text, p_what text) returns text language sql as $$
    select throws_ok('select plane.scope_key(' || p_arguments || ')', 'PL422', 'a caller has a client, a scope and a staff flag', p_what)
$$;
select pg_temp.refuses($$ null, '["north"]', false $$, 'a caller without a client is refused');
select pg_temp.refuses($$ '', '["north"]', false $$, 'an empty client is refused');
select pg_temp.refuses($$ 'acme', null, false $$, 'a caller without a scope is refused');
select pg_temp.refuses($$ 'acme', '[]', false $$, 'an empty scope is refused');
select pg_temp.refuses($$ 'acme', 'null', false $$, 'a JSON null is no scope');
select pg_temp.refuses($$ 'acme', '"north"', false $$, 'a lone branch is no scope');
select pg_temp.refuses($$ 'acme', '{"north": true}', false $$, 'an object is no scope');
select pg_temp.refuses($$ 'acme', '[null]', false $$, 'a scope of null is an empty one');
select pg_temp.refuses($$ 'acme', '["north", null]', false $$, 'a branch is not null');
select pg_temp.refuses($$ 'acme', '[""]', false $$, 'a branch has a name');
select pg_temp.refuses($$ 'acme', '["north"]', null $$, 'a caller without a staff flag is refused');
select pg_temp.refuses($$ 'acme', '[]', true $$, 'an empty scope is refused to staff as well');
select pg_temp.refuses($$ 'acme', '["north"]', false, '' $$, 'an empty actor is refused');
select throws_ok(
    $$ select plane.scope_key('acme', '["a\u0000"]', false) $$,
    '22P05', 'unsupported Unicode escape sequence', 'a NUL character is refused by PostgreSQL itself');

-- then the order of a database does not show in a key
select is(
    plane.scope_key('acme', '["b", "B", "a", "ä", "Z", "_", "10", "9"]', false),
    encode(sha256(convert_to('["scope", "acme", ["10", "9", "B", "Z", "_", "a", "b", "ä"], false, null]', 'UTF8')), 'hex'),
    'the branches are hashed in the order of their bytes, not of a language');

select * from finish();
rollback;
