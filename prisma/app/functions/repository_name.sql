-- Host and path of a repository's address in lower case, without user, `.git` and trailing slashes. '' for none.
CREATE OR REPLACE FUNCTION app.repository_name(p_address text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT lower(regexp_replace(regexp_replace(coalesce(p_address, ''), '^[A-Za-z][A-Za-z0-9+.-]*://([^/@]*@)?', ''), '(\.git)?/*$', '', 'i'))
$$;
