-- _cancelled: what the outcome of a cancelled job says.
create or replace function plane._cancelled(
    p_by text
)
    returns json
    language sql
    immutable
as $$
    select json_build_object('code', 'CANCELLED', 'message', 'the job was cancelled', 'by', p_by);
$$;

revoke all on function plane._cancelled(text) from public;

comment on function plane._cancelled(text) is
'The error of a cancelled job: who asked for it.';
