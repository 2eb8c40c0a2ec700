-- slipway: expand-only
-- What somebody asks of an agent beside its task, straight at agent-server through sandbox-gateway, counts for them: sandbox-gateway writes down the hash of a pass,
-- worker tells it to llm-gateway and takes the row away. Only then is the question handed on, with the pass.
CREATE TABLE app.charge_pass_request (
  hash bytea PRIMARY KEY CHECK (length(hash) = 32),
  org_id text NOT NULL,
  conversation_id uuid NOT NULL,
  user_id text NOT NULL,
  user_label text NOT NULL,
  made_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX charge_pass_request_org_id_idx ON app.charge_pass_request (org_id);
ALTER TABLE app.charge_pass_request ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.charge_pass_request FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.charge_pass_request USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.charge_pass_request TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.charge_pass_request TO slipway_app, slipway_app_system;

-- Only for who may reach that agent-server now.
GRANT SELECT (hash), INSERT (hash, org_id, conversation_id, user_id, user_label) ON app.charge_pass_request TO slipway_sandbox;
CREATE POLICY sandbox ON app.charge_pass_request FOR SELECT TO slipway_sandbox USING (true);
CREATE POLICY sandbox_new ON app.charge_pass_request FOR INSERT TO slipway_sandbox WITH CHECK (
  EXISTS (SELECT 1 FROM app.sandbox_grant g WHERE g.org_id = charge_pass_request.org_id AND g.conversation_id = charge_pass_request.conversation_id
    AND g.user_id = charge_pass_request.user_id AND g.port = 8000 AND g.revoked_at IS NULL AND g.expires_at > now()));

-- Wants a pass for the holder of an access to agent-server. False: the access holds no longer. Whether they may spend is asked of app.spend_through_sandbox.
CREATE FUNCTION app.request_charge_pass(p_grant text, p_hash bytea) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM app.as_system_if_may();
  INSERT INTO app.charge_pass_request (hash, org_id, conversation_id, user_id, user_label)
    SELECT p_hash, g.org_id, g.conversation_id, g.user_id, left(coalesce(nullif(u.name, ''), nullif(a.name, ''), g.user_id), 200)
    FROM app.sandbox_grant g
    LEFT JOIN app.user_account u ON u.id = g.user_id
    LEFT JOIN app.service_account a ON a.org_id = g.org_id AND a.id = g.user_id
    WHERE g.id = p_grant AND g.port = 8000 AND g.revoked_at IS NULL AND g.expires_at > now();
  RETURN FOUND;
END $$;
