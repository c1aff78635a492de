-- _check_worker: a worker's name is shown to people and kept with each attempt.
create or replace function plane._check_worker(
    p_worker text
)
    returns void
    language plpgsql
    immutable
    set search_path = pg_catalog, pg_temp
as $$
begin
    if coalesce(p_worker, '') = '' or length(p_worker) > 200 then
        raise exception using
            errcode = '22023',
            message = 'a worker needs a name of 1 to 200 characters',
            detail = format('length=%s', coalesce(length(p_worker)::text, 'NULL')),
            hint = 'Host name and process id make a good one.';
    end if;
end;
$$;

revoke all on function plane._check_worker(text) from public;

comment on function plane._check_worker(text) is
'Refuses a worker without a usable name.
Raises 22023 a worker needs a name of 1 to 200 characters.';
