-- slipway: expand-only
-- Apps of providers (GitHub Apps): an organization's own or the platform's, and where they are installed.
CREATE TABLE app.integration_app (
  connection_id text PRIMARY KEY REFERENCES app.integration_connection (id) ON DELETE CASCADE,
  org_id text NOT NULL,
  -- At the provider; its secrets are sealed in app.integration_secret, those of the platform's app are configuration.
  app_id text NOT NULL,
  slug text NOT NULL,
  -- Its settings there, for whoever owns it. Null: of the platform's app.
  url text,
  -- registered, requested (an owner has to approve), approved (somebody who administers the account has to confirm), installed, suspended or removed.
  state text NOT NULL,
  -- A claim until the state is installed: a user who administers the account has then proved it.
  installation_id text,
  account_id text,
  account_login text,
  account_kind text,
  -- Of the user that the app acts as, whose login is the slug and [bot]. Null: the provider has not said it yet.
  bot_id text,
  -- all or selected.
  selection text,
  repositories integer,
  -- {name: access}, as given by whoever installed it.
  permissions jsonb,
  -- When the provider was last asked about it.
  checked_at timestamptz(3),
  -- Deliveries of before are known to have come, or are over.
  recovered_until timestamptz(3),
  -- When the provider was last asked for deliveries that have not come.
  recovered_at timestamptz(3)
);
CREATE INDEX integration_app_org_id_idx ON app.integration_app (org_id);

ALTER TABLE app.integration_app ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.integration_app FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.integration_app USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.integration_app TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.integration_app TO slipway_app, slipway_app_system;

-- An account at a git host belongs to one organization. The key is over all organizations, so that a second one is refused without being shown the first.
CREATE TABLE app.integration_account_claim (
  provider text NOT NULL,
  host text NOT NULL,
  account_id text NOT NULL,
  org_id text NOT NULL,
  connection_id text NOT NULL REFERENCES app.integration_connection (id) ON DELETE CASCADE,
  claimed_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (provider, host, account_id)
);
CREATE INDEX integration_account_claim_org_id_idx ON app.integration_account_claim (org_id);
CREATE INDEX integration_account_claim_connection_id_idx ON app.integration_account_claim (connection_id);

ALTER TABLE app.integration_account_claim ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.integration_account_claim FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.integration_account_claim USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.integration_account_claim TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.integration_account_claim TO slipway_app, slipway_app_system;

-- A registration or an installation that was begun: of one session and one browser, taken once by who comes back.
CREATE TABLE app.integration_app_request (
  id text PRIMARY KEY,
  org_id text NOT NULL,
  user_id text NOT NULL,
  session_id text NOT NULL,
  -- register or install.
  kind text NOT NULL,
  -- Of the connection that will be there, or is.
  connection_id text NOT NULL,
  provider text NOT NULL,
  -- What the connection is made from.
  detail jsonb NOT NULL,
  -- SHA-256 of the state, and of what the browser keeps in a cookie. Null: the form has not been shown yet.
  state_hash bytea,
  nonce_hash bytea,
  expires_at timestamptz(3) NOT NULL,
  taken_at timestamptz(3)
);
CREATE UNIQUE INDEX integration_app_request_state_hash_key ON app.integration_app_request (state_hash);
CREATE INDEX integration_app_request_org_id_expires_at_idx ON app.integration_app_request (org_id, expires_at);

ALTER TABLE app.integration_app_request ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.integration_app_request FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.integration_app_request USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.integration_app_request TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.integration_app_request TO slipway_app, slipway_app_system;

-- The request of a state, once, whoever brings it: whether it is theirs is looked at afterwards. Whoever asks has no organization yet.
CREATE FUNCTION app.take_integration_app_request(p_state bytea, p_now timestamptz)
RETURNS TABLE (id text, org_id text, user_id text, session_id text, kind text, connection_id text, provider text, detail jsonb, nonce_hash bytea)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_app_system', true);
  RETURN QUERY
    UPDATE app.integration_app_request r SET taken_at = p_now WHERE r.state_hash = p_state AND r.taken_at IS NULL AND r.expires_at > p_now
    RETURNING r.id, r.org_id, r.user_id, r.session_id, r.kind, r.connection_id, r.provider, r.detail, r.nonce_hash;
END $$;

-- The organization of a registration whose form is to be shown, for the very session that began it.
CREATE FUNCTION app.find_integration_app_request(p_id text, p_user text, p_session text, p_now timestamptz)
RETURNS TABLE (org_id text, connection_id text, provider text, detail jsonb)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_app_system', true);
  RETURN QUERY
    SELECT r.org_id, r.connection_id, r.provider, r.detail FROM app.integration_app_request r
    WHERE r.id = p_id AND r.user_id = p_user AND r.session_id = p_session AND r.kind = 'register' AND r.taken_at IS NULL AND r.expires_at > p_now;
END $$;

-- Deliveries that had not come and were asked for again, once each.
CREATE TABLE app.integration_recovery (
  connection_id text NOT NULL REFERENCES app.integration_connection (id) ON DELETE CASCADE,
  -- The provider's own id, as in app.integration_delivery.
  delivery_id text NOT NULL,
  org_id text NOT NULL,
  event text NOT NULL,
  failed_at timestamptz(3) NOT NULL,
  asked_at timestamptz(3) NOT NULL,
  PRIMARY KEY (connection_id, delivery_id)
);
CREATE INDEX integration_recovery_org_id_idx ON app.integration_recovery (org_id);
CREATE INDEX integration_recovery_asked_at_idx ON app.integration_recovery (asked_at);

ALTER TABLE app.integration_recovery ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.integration_recovery FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.integration_recovery USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.integration_recovery TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.integration_recovery TO slipway_app, slipway_app_system;

-- As those of app.integration_app, for webhooks of single repositories.
ALTER TABLE app.integration_hook ADD COLUMN recovered_until timestamptz(3), ADD COLUMN recovered_at timestamptz(3);
