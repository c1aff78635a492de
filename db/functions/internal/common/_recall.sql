-- _recall: what this session noted under a name, in a custom setting that follows rollbacks and savepoints.
-- A note bears its own hash, so that one which was garbled is as good as none; whoever makes one up misleads his own
-- session alone.
create or replace function plane._recall(
    p_name text
)
    returns text
    language sql
    stable
return case
    when split_part(current_setting(p_name, true), '#', 1) = hashtext(split_part(current_setting(p_name, true), '#', 2))::text
    then split_part(current_setting(p_name, true), '#', 2)
end;

revoke all on function plane._recall(text) from public;

comment on function plane._recall(text) is
'What plane._remember last wrote down under this name, in this session; NULL for nothing, or for what was garbled.';
