-- _check_chunk: how much of a blob may be written at once.
create or replace function plane._check_chunk(
    p_data bytea
)
    returns void
    language plpgsql
    immutable
as $$
begin
    if p_data is null then
        raise exception using
            errcode = '22023',
            message = 'a blob is written in bytes',
            detail = 'data=NULL',
            hint = 'Give no bytes at all for an empty blob.';
    end if;
    if octet_length(p_data) > 1048576 then
        raise exception using
            errcode = 'PL413',
            message = 'a blob is written by up to 1 MiB at a time',
            detail = format('bytes=%s', octet_length(p_data)),
            hint = 'Begin with plane.put_blob and go on with plane.append_blob: a blob may be of any size.';
    end if;
end;
$$;

revoke all on function plane._check_chunk(bytea) from public;

comment on function plane._check_chunk(bytea) is
'Refuses what cannot be written at once.
Raises 22023 a blob is written in bytes.
Raises PL413 a blob is written by up to 1 MiB at a time.';
