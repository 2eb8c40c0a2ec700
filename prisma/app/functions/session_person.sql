-- The user of a session, with what the guard checks, every organization of theirs, and what each organization still
-- requires. No row when there is no such session, it has ended, or the user is deactivated.
-- orgs: [{id, slug, name, kind, role, deletesAt, needs}], the personal one first, then by name. One that awaits
-- deletion is visible to its owners only.
-- Takes the system role for its transaction: a user's memberships lie across organizations.
CREATE OR REPLACE FUNCTION app.session_person(p_id text)
RETURNS TABLE (
  user_id text, name text, email text, issuer text, email_verified boolean, terms_version text, access_expires_at timestamptz, expires_at timestamptz, orgs jsonb
)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_app_system', true);
  RETURN QUERY
    SELECT u.id, u.name, u.email, u.issuer, u.email_verified, u.terms_version, s.access_expires_at::timestamptz, s.expires_at::timestamptz,
      (SELECT coalesce(jsonb_agg(jsonb_build_object('id', o.id, 'slug', o.slug, 'name', o.name, 'kind', o.kind, 'role', m.role, 'needs', app.session_needs(s, o),
                                   'deletesAt', to_char(o.deletes_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
                                 ORDER BY (o.kind = 'personal') DESC, o.name, o.id), '[]')
       FROM app.membership m JOIN app.org o ON o.id = m.org_id WHERE m.user_id = u.id AND (o.deletes_at IS NULL OR m.role = 'owner'))
    FROM app.session s JOIN app.user_account u ON u.id = s.user_id
    WHERE s.id = p_id AND s.expires_at > now() AND u.deactivated_at IS NULL;
END $$;
