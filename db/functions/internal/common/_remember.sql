-- _remember: writes something down for plane._recall, signed.
create or replace function plane._remember(
    p_name    text,
    p_content text
)
    returns text
    language sql
    volatile
return set_config(p_name, hashtext(p_content) || '#' || p_content, false);

revoke all on function plane._remember(text, text) from public;

comment on function plane._remember(text, text) is
'Keeps a text without # for plane._recall, until the session ends or this transaction is rolled back.';
