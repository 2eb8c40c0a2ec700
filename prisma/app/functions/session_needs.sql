-- What a session's user has to do before this organization answers them: `sign-in`, `second-factor` (a sign-in with
-- one), or null: nothing.
-- A minute of idleness is forgiven: uses are recorded once a minute.
CREATE OR REPLACE FUNCTION app.session_needs(s app.session, o app.org) RETURNS text
LANGUAGE sql STABLE AS $$
  SELECT app.session_needs(s.second_factor, coalesce(s.authenticated_at, s.created_at), coalesce(s.last_seen_at, s.created_at), s.longest_idle_seconds,
    o.second_factor, o.session_max_minutes, o.session_idle_minutes)
$$;

-- The same from columns: a caller without rights on all columns cannot name a whole row.
CREATE OR REPLACE FUNCTION app.session_needs(
  s_second_factor boolean, s_began_at timestamptz, s_seen_at timestamptz, s_longest_idle_seconds integer,
  o_second_factor boolean, o_max_minutes integer, o_idle_minutes integer
) RETURNS text
LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN o_second_factor AND NOT s_second_factor THEN 'second-factor'
    WHEN s_began_at <= now() - make_interval(mins => o_max_minutes)
      OR greatest(s_longest_idle_seconds, extract(epoch FROM now() - s_seen_at)) > o_idle_minutes * 60 + 60
    THEN CASE WHEN o_second_factor THEN 'second-factor' ELSE 'sign-in' END
  END
$$;
