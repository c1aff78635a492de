-- _refuse_queue: there is no queue of this name.
create or replace function plane._refuse_queue(
    p_queue text
)
    returns void
    language plpgsql
    immutable
as $$
begin
    raise exception using
        errcode = 'PL404',
        message = 'no such queue',
        detail = format('queue=%s', coalesce(left(p_queue, 100), 'NULL')),
        hint = 'Create it with plane.create_queue, or correct the name.';
end;
$$;

revoke all on function plane._refuse_queue(text) from public;

comment on function plane._refuse_queue(text) is
'Refuses the name of a queue that there is not.
Raises PL404 no such queue.';
