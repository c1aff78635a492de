-- maintain, by an older snapshot: it would not see what must stay.
begin isolation level repeatable read;
select plan(2);

select throws_ok(
    'select * from plane.maintain()', 'PL409', 'a ledger is maintained under READ COMMITTED only', 'a fixed snapshot is refused');
select is((select count(*) from plane._ranges()), 2::bigint, 'and changes nothing');

select * from finish();
rollback;
