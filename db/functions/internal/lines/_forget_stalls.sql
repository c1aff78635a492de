-- _forget_stalls: a line may go on by itself after its head left a note, when that head is retried or cancelled.
create or replace function plane._forget_stalls()
    returns void
    language plpgsql
    volatile
as $$
begin
    delete from plane.stalled_line s
    where s.ctid = any (array(
        select f.ctid
        from plane.stalled_line f
        where not exists (
            select from plane.line l
            where l.queue_id = f.queue_id and l.serial_key = f.serial_key and l.job_id = f.job_id)
        for update skip locked));
end;
$$;

revoke all on function plane._forget_stalls() from public;

comment on function plane._forget_stalls() is
'Removes the notes of serial lines that have gone on.';
