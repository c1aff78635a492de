-- One breach of every rule in this folder, so that each rule can be seen to fail.
set role plane_owner;

create function plane.fault1(x integer) returns integer language plpgsql as $$
begin
    execute 'select 1';
    raise exception using errcode = 'PL404';
    raise exception using errcode = 'PL409', message = 'nobody is told';
exception when others then
    return 1;
end;
$$;
create function plane.fault1(p_y text, p_z integer) returns integer language sql security definer as 'select 1';
create function plane.unnamed(integer) returns integer language sql as 'select 1';
grant execute on function plane.fault1(integer) to public;

create function plane._fault(p_a integer) returns integer language sql security definer as 'select plane.fault1(1)';
grant execute on function plane._fault(integer) to plane_worker;

create function plane.misdescribed(p_a integer default plane._fault(1)) returns integer language sql security definer
    as 'select 1';
grant execute on function plane.misdescribed(integer) to plane_worker;
comment on function plane.misdescribed(integer) is
'says this in lower case
Raises PL429 never. Role: plane_admin.';

create table plane.fault (
    a integer constraint misnamed primary key,
    b integer constraint fault_b_fkey references plane.queue (id)
);
grant select on plane.fault to plane_admin;
grant select (a) on plane.fault to plane_worker;
create table plane.divided (a integer) partition by range (a);
create table plane.divided_0 partition of plane.divided for values from (0) to (10);
create type plane.undescribed as (a integer);
create view plane.faults as select *, plane._fault(a) from plane.fault;
grant select on plane.faults to plane_worker;

reset role;
create table plane.of_somebody_else (a integer);
create function plane.of_somebody_else() returns integer language sql as 'select 1';
