-- slipway: expand-only
-- Who a user of an organization is at a provider, proved through a connection of that organization, whose admins say where the provider is. So it counts there alone;
-- app.external_identity counts everywhere, and is for what the operator's own sign-in proves.
CREATE TABLE app.linked_account (
  -- A random UUID, that of the request it was made from.
  id text PRIMARY KEY,
  org_id text NOT NULL,
  provider text NOT NULL,
  host text NOT NULL,
  external_user_id text NOT NULL,
  user_id text NOT NULL,
  -- As it was when it was linked.
  login text NOT NULL,
  linked_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX linked_account_account_key ON app.linked_account (org_id, provider, host, external_user_id);
CREATE UNIQUE INDEX linked_account_user_key ON app.linked_account (org_id, provider, host, user_id);
CREATE INDEX linked_account_user_id_idx ON app.linked_account (user_id);

ALTER TABLE app.linked_account ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.linked_account FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.linked_account USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.linked_account TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.linked_account TO slipway_app, slipway_app_system;

-- A link that was begun: of one session, to be taken once by who comes back from the provider, and then to be confirmed.
CREATE TABLE app.link_request (
  id text PRIMARY KEY,
  org_id text NOT NULL,
  user_id text NOT NULL,
  session_id text NOT NULL,
  connection_id text NOT NULL REFERENCES app.integration_connection (id) ON DELETE CASCADE,
  provider text NOT NULL,
  host text NOT NULL,
  -- SHA-256 of OAuth's state, and of what the browser keeps in a cookie.
  state_hash bytea NOT NULL,
  nonce_hash bytea NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  taken_at timestamptz(3),
  -- What the provider said. Null: it has not been asked, or did not say.
  external_user_id text,
  login text
);
CREATE UNIQUE INDEX link_request_state_hash_key ON app.link_request (state_hash);
CREATE INDEX link_request_org_id_expires_at_idx ON app.link_request (org_id, expires_at);
CREATE INDEX link_request_user_id_idx ON app.link_request (user_id);
CREATE INDEX link_request_connection_id_idx ON app.link_request (connection_id);

ALTER TABLE app.link_request ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.link_request FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.link_request USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.link_request TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.link_request TO slipway_app, slipway_app_system;

-- The request of a state, once, whoever brings it: whether it is theirs is looked at afterwards. Whoever asks has no organization yet: works as the system role for its own transaction.
CREATE FUNCTION app.take_link_request(p_state bytea, p_now timestamptz)
RETURNS TABLE (id text, org_id text, user_id text, session_id text, connection_id text, nonce_hash bytea)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_app_system', true);
  RETURN QUERY
    UPDATE app.link_request r SET taken_at = p_now WHERE r.state_hash = p_state AND r.taken_at IS NULL AND r.expires_at > p_now
    RETURNING r.id, r.org_id, r.user_id, r.session_id, r.connection_id, r.nonce_hash;
END $$;

-- A user's own links in all organizations, and what waits to be confirmed in this session.
CREATE FUNCTION app.linked_accounts_of(p_user text, p_session text, p_now timestamptz)
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

-- Connections of a user's organizations by which an account can be linked.
CREATE FUNCTION app.linkable_connections(p_user text)
RETURNS TABLE (connection_id text, org_id text, org_name text, name text, provider text, host text)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_app_system', true);
  RETURN QUERY
    SELECT c.id, c.org_id, o.name, c.name, c.provider, c.host
    FROM app.membership m JOIN app.org o ON o.id = m.org_id AND o.deletes_at IS NULL
    JOIN app.integration_connection c ON c.org_id = m.org_id AND c.state <> 'disabled'
    WHERE m.user_id = p_user AND EXISTS (SELECT 1 FROM app.integration_secret k WHERE k.connection_id = c.id AND k.kind = 'oauth-client')
    ORDER BY o.name, c.name, c.id;
END $$;

-- As before, and first by what was linked in the organization itself.
CREATE OR REPLACE FUNCTION app.integration_actor(p_org text, p_provider text, p_host text, p_external text)
RETURNS TABLE (user_id text, label text, role text, over_budget boolean)
LANGUAGE sql STABLE AS $$
  WITH linked AS (
    SELECT l.user_id FROM app.linked_account l WHERE l.org_id = p_org AND l.provider = p_provider AND l.host = p_host AND l.external_user_id = p_external
  ), identity AS (
    SELECT l.user_id FROM linked l
    UNION ALL
    SELECT i.user_id FROM app.external_identity i
    WHERE i.provider = p_provider AND i.host = p_host AND i.external_user_id = p_external AND NOT EXISTS (SELECT 1 FROM linked)
  )
  SELECT i.user_id, u.name, m.role,
    EXISTS (SELECT 1 FROM app.budget_stop s WHERE s.org_id = p_org AND s.user_id IN ('', i.user_id) AND s.until > now())
  FROM identity i
  JOIN app.user_account u ON u.id = i.user_id AND u.deactivated_at IS NULL
  LEFT JOIN app.membership m ON m.org_id = p_org AND m.user_id = i.user_id
$$;
