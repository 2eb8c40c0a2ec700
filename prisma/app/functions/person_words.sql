-- The words by which a user is found: those of the name, and the parts of the e-mail address.
CREATE OR REPLACE FUNCTION app.person_words(p_name text, p_email text) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT to_tsvector('pg_catalog.simple'::regconfig, translate(p_name || ' ' || coalesce(p_email, ''), '@._+-/', '      '))
$$;
