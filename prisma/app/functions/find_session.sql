-- The user of a session, with every organization of theirs, in one round trip. No row when there is no such session or
-- it has ended.
-- Takes the system role for its transaction: a user's memberships lie across organizations.
-- orgs: [{id, slug, name, kind, role}], the personal one first, then by name.
CREATE OR REPLACE FUNCTION app.find_session(p_id text)
RETURNS TABLE (user_id text, name text, email text, issuer text, access_expires_at timestamptz, expires_at timestamptz, orgs jsonb)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_app_system', true);
  RETURN QUERY
    SELECT u.id, u.name, u.email, u.issuer, s.access_expires_at, s.expires_at,
      (SELECT coalesce(jsonb_agg(jsonb_build_object('id', o.id, 'slug', o.slug, 'name', o.name, 'kind', o.kind, 'role', m.role)
                                 ORDER BY (o.kind = 'personal') DESC, o.name, o.id), '[]')
       FROM app.membership m JOIN app.org o ON o.id = m.org_id WHERE m.user_id = u.id)
    FROM app.session s JOIN app.user_account u ON u.id = s.user_id
    WHERE s.id = p_id AND s.expires_at > now();
END $$;
