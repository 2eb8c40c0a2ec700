-- As app.live_sandbox_grants, with the name of the owner and whether it is a user or a service account.
CREATE OR REPLACE FUNCTION app.live_sandbox_grants_named(p_ids text[])
RETURNS TABLE (id text, org_id text, user_id text, conversation_id uuid, port integer, expires_at timestamptz, role text, label text, kind text)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM app.as_system_if_may();
  RETURN QUERY
    SELECT g.id, g.org_id, g.user_id, g.conversation_id, g.port, g.expires_at, g.role,
      left(coalesce(nullif(u.name, ''), nullif(a.name, ''), g.user_id), 200), CASE WHEN a.id IS NULL THEN 'user' ELSE 'service-account' END
    FROM app.live_sandbox_grants(p_ids) g
    LEFT JOIN app.user_account u ON u.id = g.user_id
    LEFT JOIN app.service_account a ON a.org_id = g.org_id AND a.id = g.user_id;
END $$;
