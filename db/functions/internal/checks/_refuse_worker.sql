-- _refuse_worker: says what is wrong with the name of a worker.
create or replace function plane._refuse_worker(
    p_worker text
)
    returns void
    language plpgsql
    immutable
as $$
begin
    raise exception using
        errcode = '22023',
        message = 'a worker needs a name of 1 to 200 characters',
        detail = format('length=%s', coalesce(length(p_worker)::text, 'NULL')),
        hint = 'Host name and process id make a good one.';
end;
$$;

revoke all on function plane._refuse_worker(text) from public;

comment on function plane._refuse_worker(text) is
'Refuses a worker without a usable name.
Raises 22023 a worker needs a name of 1 to 200 characters.';
