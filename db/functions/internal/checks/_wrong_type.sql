-- _wrong_type: the first setting of a batch's element that is not of its argument's type. Times are ISO 8601: what
-- else PostgreSQL can read would depend on the session, and what it cannot would not name the element.
create or replace function plane._wrong_type(
    p_element jsonb
)
    returns text
    language sql
    stable
return case
    when jsonb_typeof(p_element -> 'dedupe_key') not in ('string', 'null') then 'dedupe_key'
    when jsonb_typeof(p_element -> 'serial_key') not in ('string', 'null') then 'serial_key'
    when p_element ? 'available_at' and p_element ->> 'available_at' !~ ('^(-?infinity|(?!0000)\d{4}-\d\d-\d\d'
            || '([T ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)? ?(Z|[+-](0\d|1[0-5])(:?[0-5]\d)?)?)?)$')
        or p_element ->> 'available_at' ~ '^\d'
            and (to_jsonb(left(p_element ->> 'available_at', 10)) @? '$.datetime("YYYY-MM-DD")') is not true then 'available_at'
    when p_element @? 'strict $.priority ? (@ != null && (@.type() != "number" || @.floor() != @))' then 'priority'
    when p_element @? 'strict $.max_dequeues ? (@ != null && (@.type() != "number" || @.floor() != @))' then 'max_dequeues'
    when p_element @? 'strict $.version ? (@ != null && (@.type() != "number" || @.floor() != @))' then 'version'
end;

revoke all on function plane._wrong_type(jsonb) from public;

comment on function plane._wrong_type(jsonb) is
'Name of a setting in an element of a batch that is not of the type of its argument; NULL when all are.';
