-- bootstrap: the roles and schemas of pgplane. A DBA runs it, once per database:
--
--     psql -X -v ON_ERROR_STOP=1 -f db/bootstrap.sql "$PLANE_QUEUE_URL"
--
-- The caller is a superuser, or on a managed PostgreSQL (14 to 18) a role with CREATEROLE and with
-- CREATE on the database; such a caller becomes a member of plane_migrator and may migrate.
-- Roles belong to the cluster and may be there already; the schemas belong to this database and
-- must not: a schema that somebody else made is refused, not adopted.

begin;

do $$
declare
    v_role record;
begin
    for v_role in
        select *
        from (values
            ('plane_owner',    'pgplane: owns every object; nobody logs in as it'),
            ('plane_migrator', 'pgplane: runs migrations, by SET ROLE plane_owner'),
            ('plane_producer', 'pgplane: enqueues jobs and submits requests'),
            ('plane_worker',   'pgplane: claims jobs and settles them'),
            ('plane_reader',   'pgplane: reads what one scope may see of jobs'),
            ('plane_relay',    'pgplane: for relays of changes, of which there are none so far; may sweep'),
            ('plane_admin',    'pgplane: runs queues, reads the views')
        ) as wanted (name, purpose)
        where not exists (select from pg_catalog.pg_roles where rolname = wanted.name)
    loop
        begin
            execute format('create role %I nologin', v_role.name);
            execute format('comment on role %I is %L', v_role.name, v_role.purpose);
        exception
            -- Another database of this cluster is being bootstrapped at this very moment.
            when duplicate_object or unique_violation then null;
        end;
    end loop;

    if not pg_has_role('plane_migrator', 'plane_owner', 'MEMBER') then
        grant plane_owner to plane_migrator;
    end if;

    -- From PostgreSQL 16 on, whoever creates a role administers it without being able to become it.
    if not pg_has_role(
        'plane_owner',
        case when current_setting('server_version_num')::int >= 160000 then 'SET' else 'MEMBER' end
    ) then
        execute format('grant plane_migrator to %I', current_user);
    end if;
end
$$;

create schema plane authorization plane_owner;
create schema plane_meta authorization plane_owner;

set local role plane_owner;

comment on schema plane is
'pgplane: the stored functions, and the tables behind them that only the functions touch.';
comment on schema plane_meta is
'pgplane: what is installed. Migrations read and write it, nothing else does.';

revoke all on schema plane, plane_meta from public;
grant usage on schema plane
    to plane_producer, plane_worker, plane_reader, plane_relay, plane_admin;

-- PUBLIC may execute nothing, not even a function whose file forgot to say so.
alter default privileges revoke execute on functions from public;

-- What is installed: our record.

create table plane_meta.migration (
    migration_id text primary key,
    sha256       text not null constraint migration_sha256_is_hex check (sha256 ~ '^[0-9a-f]{64}$'),
    applied_at   timestamptz not null default now(),
    applied_by   text not null default session_user
);
comment on table plane_meta.migration is
'One row per applied migration, with the hash of its files: an applied file never changes.';
comment on column plane_meta.migration.migration_id is 'File name without extension.';
comment on column plane_meta.migration.sha256 is
'Over the migration and its rollback; for a release, over its frozen code too.';
comment on column plane_meta.migration.applied_at is 'Start of the transaction that applied it.';
comment on column plane_meta.migration.applied_by is 'Login role that applied it.';

create table plane_meta.code (
    one_row   boolean primary key default true constraint code_is_one_row check (one_row),
    release   text,
    sha256    text not null constraint code_sha256_is_hex check (sha256 ~ '^[0-9a-f]{64}$'),
    loaded_at timestamptz not null default now(),
    loaded_by text not null default session_user
);
comment on table plane_meta.code is
'Which functions, views and triggers are loaded. No row: none.';
comment on column plane_meta.code.one_row is 'Always true: there is one row at most.';
comment on column plane_meta.code.release is 'Release it was frozen in; NULL: a working tree.';
comment on column plane_meta.code.sha256 is 'Over the code files in load order.';
comment on column plane_meta.code.loaded_at is 'Start of the transaction that loaded it.';
comment on column plane_meta.code.loaded_by is 'Login role that loaded it.';

-- What is installed: yoyo's record. yoyo 9 would make these tables itself, and knows them by
-- shape; made here, they are the same on every road, the plain psql one included.

create table plane_meta._yoyo_migration (
    migration_hash varchar(64) primary key,
    migration_id   varchar(255),
    applied_at_utc timestamp
);
comment on table plane_meta._yoyo_migration is 'yoyo: the migrations that are applied.';

create table plane_meta._yoyo_log (
    id             varchar(36) primary key,
    migration_hash varchar(64),
    migration_id   varchar(255),
    operation      varchar(10),
    username       varchar(255),
    hostname       varchar(255),
    comment        varchar(255),
    created_at_utc timestamp
);
comment on table plane_meta._yoyo_log is 'yoyo: every apply and rollback so far.';

create table plane_meta._yoyo_version (
    version          int primary key,
    installed_at_utc timestamp
);
comment on table plane_meta._yoyo_version is 'yoyo: version of the shape of its tables.';
insert into plane_meta._yoyo_version values (2, now() at time zone 'utc');

create table plane_meta.yoyo_lock (
    locked int default 1 primary key,
    ctime  timestamp,
    pid    int not null
);
comment on table plane_meta.yoyo_lock is
'yoyo: a row while plain yoyo runs; a killed run leaves it behind (yoyo break-lock).';

commit;
