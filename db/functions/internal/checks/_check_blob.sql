-- _check_blob: what a blob says of itself is sent in headers to whoever downloads it: no line breaks, no paths, nothing that
-- turns the order of the letters about (what is named exe.txt is no text).
create or replace function plane._check_blob(
    p_content_type text,
    p_filename     text
)
    returns void
    language plpgsql
    immutable
    set standard_conforming_strings = on
as $$
begin
    if p_content_type is null or length(p_content_type) > 200
        or p_content_type !~ '^[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+ ?(;[ -~]+)?$'
    then
        raise exception using
            errcode = '22023',
            message = 'not a content type',
            detail = format('content_type=%s', coalesce(left(p_content_type, 100), 'NULL')),
            hint = 'Say text/csv; charset=utf-8 or the like, in up to 200 characters, or application/octet-stream.';
    end if;
    if p_filename in ('', '.', '..') or length(p_filename) > 255
        or p_filename ~ '[\u0001-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069/\\]'
    then
        raise exception using
            errcode = '22023',
            message = 'not a file name',
            detail = format('filename=%s length=%s', left(p_filename, 100), length(p_filename)),
            hint = 'A name has 1 to 255 characters, no slash, backslash, control or direction character among them; NULL is none.';
    end if;
end;
$$;

revoke all on function plane._check_blob(text, text) from public;

comment on function plane._check_blob(text, text) is
'Refuses a content type or a file name that no header can carry.
Raises 22023 not a content type.
Raises 22023 not a file name.';
