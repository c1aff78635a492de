-- ticket_key: one key for all edges of a database, which only the edges' role gets.
begin;
select plan(6);

-- given a database whose key nobody has asked for
select is((select count(*) from plane.secret where name = 'ticket'), 0::bigint, 'no key is made before it is needed');

-- when an edge asks
set local role plane_reader;
select encode(plane.ticket_key(), 'hex') as key \gset

-- then there is one for good
select matches(:'key'::text, '^[0-9a-f]{64}$', 'the key has 32 bytes');
select is(encode(plane.ticket_key(), 'hex'), :'key'::text, 'every edge is given the same key');
reset role;
select is((select count(*) from plane.secret where name = 'ticket'), 1::bigint, 'it is kept once');

-- then another database's is another
delete from plane.secret where name = 'ticket';
select isnt(encode(plane.ticket_key(), 'hex'), :'key'::text, 'a new key is drawn, not derived');

-- then nobody else is given it
set local role plane_worker;
select throws_ok(
    'select plane.ticket_key()', '42501', 'permission denied for function ticket_key', 'a worker signs no tickets');
reset role;

select * from finish();
rollback;
