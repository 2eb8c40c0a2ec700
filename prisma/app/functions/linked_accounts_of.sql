-- A user's own links in all organizations, and those that wait for confirmation in this session.
CREATE OR REPLACE FUNCTION app.linked_accounts_of(p_user text, p_session text, p_now timestamptz)
RETURNS TABLE (id text, org_id text, org_name text, provider text, host text, external_user_id text, login text, linked_at timestamptz, expires_at timestamptz)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_app_system', true);
  RETURN QUERY
    SELECT l.id, l.org_id, o.name, l.provider, l.host, l.external_user_id, l.login, l.linked_at::timestamptz, NULL::timestamptz
    FROM app.linked_account l JOIN app.org o ON o.id = l.org_id WHERE l.user_id = p_user
    UNION ALL
    SELECT r.id, r.org_id, o.name, r.provider, r.host, r.external_user_id, r.login, NULL::timestamptz, r.expires_at::timestamptz
    FROM app.link_request r JOIN app.org o ON o.id = r.org_id
    WHERE r.user_id = p_user AND r.session_id = p_session AND r.external_user_id IS NOT NULL AND r.expires_at > p_now
    ORDER BY 3, 4, 5, 1;
END $$;
