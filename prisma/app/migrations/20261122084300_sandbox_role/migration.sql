-- slipway: expand-only
-- sandbox-gateway's own role, slipway_sandbox (libs/db/src/migrate.ts makes it): it reads what says whether an access to a sandbox holds, spends tickets, and nothing else.
-- Gateways of the version before come as slipway_app, and work as before.

GRANT USAGE ON SCHEMA app TO slipway_sandbox;
GRANT SELECT (id, org_id, user_id, session_id, api_key_id, conversation_id, port, ticket_hash, ticket_expires_at, expires_at, revoked_at) ON app.sandbox_grant TO slipway_sandbox;
GRANT UPDATE (ticket_hash) ON app.sandbox_grant TO slipway_sandbox;
GRANT SELECT (id, org_id) ON app.conversation TO slipway_sandbox;
GRANT SELECT (id, deletes_at, session_max_minutes, session_idle_minutes, second_factor) ON app.org TO slipway_sandbox;
GRANT SELECT (org_id, user_id, role) ON app.membership TO slipway_sandbox;
GRANT SELECT (id, org_id, role, deleted_at) ON app.service_account TO slipway_sandbox;
GRANT SELECT (id, org_id, owner_id, scopes, revoked_at, expires_at) ON app.api_key TO slipway_sandbox;
GRANT SELECT (id, deactivated_at) ON app.user_account TO slipway_sandbox;
GRANT SELECT (id, user_id, created_at, expires_at, last_seen_at, authenticated_at, second_factor, longest_idle_seconds) ON app.session TO slipway_sandbox;

-- Grants of all organizations are looked at together.
CREATE POLICY sandbox ON app.sandbox_grant TO slipway_sandbox USING (true) WITH CHECK (true);
CREATE POLICY sandbox ON app.conversation FOR SELECT TO slipway_sandbox USING (true);
CREATE POLICY sandbox ON app.org FOR SELECT TO slipway_sandbox USING (true);
CREATE POLICY sandbox ON app.membership FOR SELECT TO slipway_sandbox USING (true);
CREATE POLICY sandbox ON app.service_account FOR SELECT TO slipway_sandbox USING (true);
CREATE POLICY sandbox ON app.api_key FOR SELECT TO slipway_sandbox USING (true);

-- Of the columns alone: a whole row could be named only by who may read all of it.
CREATE FUNCTION app.session_needs(
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
CREATE OR REPLACE FUNCTION app.session_needs(s app.session, o app.org) RETURNS text
LANGUAGE sql STABLE AS $$
  SELECT app.session_needs(s.second_factor, coalesce(s.authenticated_at, s.created_at), coalesce(s.last_seen_at, s.created_at), s.longest_idle_seconds,
    o.second_factor, o.session_max_minutes, o.session_idle_minutes)
$$;

-- Who may work across organizations does so for this transaction; slipway_sandbox may not, and needs not.
CREATE FUNCTION app.as_system_if_may() RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF pg_has_role('slipway_app_system', 'MEMBER') THEN PERFORM set_config('role', 'slipway_app_system', true); END IF;
END $$;

-- As before, for either role.
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

CREATE OR REPLACE FUNCTION app.redeem_sandbox_ticket(p_hash bytea, p_conversation uuid, p_port integer)
RETURNS TABLE (id text)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM app.as_system_if_may();
  RETURN QUERY
    UPDATE app.sandbox_grant g SET ticket_hash = NULL
    WHERE g.ticket_hash = p_hash AND g.ticket_expires_at > now() AND g.revoked_at IS NULL AND g.conversation_id = p_conversation AND g.port = p_port
    RETURNING g.id;
END $$;
