-- The roles themselves: who they are, what they may become, what they may reach.
begin;
select plan(8);

select is_empty(
    $$ select rolname from pg_roles
       where rolname ~ '^plane_'
           and (rolsuper or rolcanlogin or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls) $$,
    'no role of ours can log in or has a power of the whole cluster');

select set_eq(
    $$ select member::regrole::text, roleid::regrole::text from pg_auth_members
       where member::regrole::text ~ '^plane_' $$,
    $$ values ('plane_migrator', 'plane_owner') $$,
    'the roles are siblings: only plane_migrator may become another, plane_owner');

select set_eq(
    $$ select a.grantee::regrole::text, a.privilege_type
       from pg_namespace n, aclexplode(n.nspacl) a
       where n.nspname = 'plane' and a.grantee <> n.nspowner $$,
    $$ select role, 'USAGE' from unnest(array['plane_producer', 'plane_worker', 'plane_reader',
       'plane_relay', 'plane_admin']) as role $$,
    'the five roles may use schema plane, and nobody may create in it');

select is_empty(
    $$ select a.grantee::regrole, a.privilege_type
       from pg_namespace n, aclexplode(n.nspacl) a
       where n.nspname = 'plane_meta' and a.grantee <> n.nspowner $$,
    'nobody but the owner reaches schema plane_meta');

select is_empty(
    $$ select d.defaclobjtype, a.grantee, a.privilege_type
       from pg_default_acl d, aclexplode(d.defaclacl) a
       where d.defaclrole = 'plane_owner'::regrole and a.grantee <> d.defaclrole $$,
    'what plane_owner creates is granted to nobody by default');

select isnt_empty(
    $$ select from pg_default_acl where defaclrole = 'plane_owner'::regrole and defaclobjtype = 'f' $$,
    'a function whose file forgets to revoke is still closed to PUBLIC');

-- when a role tries to go further
create role login_of_a_producer login in role plane_producer;
set local session authorization login_of_a_producer;
select throws_ok(
    'set role plane_owner', '42501', 'permission denied to set role "plane_owner"',
    'a producer cannot become the owner');
reset session authorization;

set local role plane_admin;
select throws_ok(
    'create table plane.mine (a int)', '42501', 'permission denied for schema plane',
    'an admin runs queues, and creates nothing in the schema');
reset role;

select * from finish();
rollback;
