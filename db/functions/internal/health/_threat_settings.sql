-- _threat_settings: what the ledger needs of the server, and a DBA may have changed.
create or replace function plane._threat_settings()
    returns table (problem text, queue_id integer, job_id bigint, says text)
    language sql
    stable
as $$
    select 'autovacuum_off', null::integer, null::bigint,
        format('Nothing vacuums %s: the ledger grows with every job. Switch %s on.', v.what, v.setting)
    from (
        select 'any table', s.name
        from pg_settings s
        where s.name in ('autovacuum', 'track_counts') and s.setting = 'off'
        union all
        select string_agg(c.oid::regclass::text, ', ' order by c.oid::regclass::text), 'autovacuum_enabled'
        from pg_class c
        where c.relnamespace = 'plane'::regnamespace
            and exists (
                select from pg_options_to_table(c.reloptions) as o
                where o.option_name = 'autovacuum_enabled' and not o.option_value::boolean)
        having count(*) > 0
    ) as v (what, setting)
    union all
    select 'sequence_unfit', null, null,
        format('plane.job_id_seq has cache %s, increment %s, %s and %s ids left: claims need it to draw every number once, '
            'in order. Alter it back.', s.seqcache, s.seqincrement, case when s.seqcycle then 'cycle' else 'no cycle' end,
            s.seqmax - coalesce(pg_sequence_last_value(s.seqrelid), 0))
    from pg_sequence s
    where s.seqrelid = 'plane.job_id_seq'::regclass
        and (s.seqcache <> 1 or s.seqincrement <> 1 or s.seqcycle
            or s.seqmax - coalesce(pg_sequence_last_value(s.seqrelid), 0) < 1000000000);
$$;

revoke all on function plane._threat_settings() from public;

comment on function plane._threat_settings() is
'Settings of the server, the tables and the sequence that the ledger cannot live with for long.';
