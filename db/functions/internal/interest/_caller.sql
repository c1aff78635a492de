-- _caller: the name under which whoever asks is noted: the scope key of the person, whatever the operation is declared to be.
create or replace function plane._caller(
    p_envelope jsonb
)
    returns text
    language plpgsql
    immutable
as $$
begin
    return plane._hash_scope(p_envelope ->> 'client', p_envelope -> 'scope', (p_envelope ->> 'staff')::boolean,
        nullif(p_envelope ->> 'actor', ''));
end;
$$;

revoke all on function plane._caller(jsonb) from public;

comment on function plane._caller(jsonb) is
'The scope key of the person that an envelope is of.';
