-- ticket_key: the key by which every edge of this database signs and checks stream tickets, made on first use.
create or replace function plane.ticket_key()
    returns bytea
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $$
declare
    v_key bytea;
begin
    select s.value into v_key from plane.secret s where s.name = 'ticket';
    if not found then
        -- 244 bits of the server's strong randomness
        insert into plane.secret (name, value)
        values ('ticket', sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())))
        on conflict (name) do nothing;
        select s.value into v_key from plane.secret s where s.name = 'ticket';
    end if;
    return v_key;
end;
$$;

revoke all on function plane.ticket_key() from public;
grant execute on function plane.ticket_key() to plane_reader;

comment on function plane.ticket_key() is
'The key (bytea, 32 bytes) that signs stream tickets; the same for every edge of this database, made on first use.
Role: plane_reader.';
