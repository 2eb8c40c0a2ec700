-- Those of the grants that still hold, with the role that their user or service account has now: not revoked, not
-- expired, neither the sign-in nor the key that made them ended, the owner still there, and the organization too.
-- A grant that is missing from the result no longer holds, whatever the reason. Takes the system role where it may:
-- sandbox-gateway checks grants of all organizations together.
CREATE OR REPLACE FUNCTION app.live_sandbox_grants(p_ids text[])
RETURNS TABLE (id text, org_id text, user_id text, conversation_id uuid, port integer, expires_at timestamptz, role text)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM app.as_system_if_may();
  RETURN QUERY
    SELECT g.id, g.org_id, g.user_id, g.conversation_id, g.port, g.expires_at::timestamptz, coalesce(m.role, a.role)
    FROM app.sandbox_grant g
    JOIN app.conversation c ON c.id = g.conversation_id AND c.org_id = g.org_id
    JOIN app.org o ON o.id = g.org_id AND o.deletes_at IS NULL
    LEFT JOIN app.membership m ON m.org_id = g.org_id AND m.user_id = g.user_id
      AND NOT EXISTS (SELECT 1 FROM app.user_account u WHERE u.id = g.user_id AND u.deactivated_at IS NOT NULL)
    LEFT JOIN app.service_account a ON a.id = g.user_id AND a.org_id = g.org_id AND a.deleted_at IS NULL
    WHERE g.id = ANY (p_ids) AND g.revoked_at IS NULL AND g.expires_at > now() AND (m.role IS NOT NULL OR a.role IS NOT NULL)
      AND (g.session_id IS NULL OR EXISTS (
        SELECT 1 FROM app.session s WHERE s.id = g.session_id AND s.user_id = g.user_id AND s.expires_at > now()
          AND app.session_needs(s.second_factor, coalesce(s.authenticated_at, s.created_at), coalesce(s.last_seen_at, s.created_at), s.longest_idle_seconds,
            o.second_factor, o.session_max_minutes, o.session_idle_minutes) IS NULL))
      AND (g.api_key_id IS NULL OR EXISTS (
        SELECT 1 FROM app.api_key k WHERE k.id = g.api_key_id AND k.org_id = g.org_id AND k.owner_id = g.user_id AND k.revoked_at IS NULL AND k.expires_at > now()
          AND 'sandbox:access' = ANY (k.scopes)));
END $$;
