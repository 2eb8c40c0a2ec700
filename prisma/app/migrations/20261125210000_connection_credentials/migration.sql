-- slipway: expand-only
-- Credentials of connections that an admin obtains by OAuth: when they end, how they are renewed, and how they are given back.

ALTER TABLE app.integration_secret
  -- When what is sealed here ends, by the provider's word. Null: it has not said.
  ADD COLUMN expires_at timestamptz(3),
  -- When it is to be renewed next, after a failure later. Null: it is not renewed.
  ADD COLUMN renew_at timestamptz(3),
  -- Who renews it now has until then.
  ADD COLUMN renewing_until timestamptz(3),
  -- Failures of renewing since it was obtained, and what the last one was in a sentence.
  ADD COLUMN renew_failures integer NOT NULL DEFAULT 0,
  ADD COLUMN renew_problem text,
  -- The provider refused to renew it: it is not asked again.
  ADD COLUMN refused_at timestamptz(3),
  -- What it may be used for, in the provider's words. Null: it has not said.
  ADD COLUMN scopes text[],
  -- When the provider was last asked about an access token that was entered.
  ADD COLUMN checked_at timestamptz(3),
  -- When owners and admins were mailed that it ends.
  ADD COLUMN end_mailed_at timestamptz(3);
CREATE INDEX integration_secret_renew_at_idx ON app.integration_secret (renew_at) WHERE renew_at IS NOT NULL;
CREATE INDEX integration_secret_token_checked_at_idx ON app.integration_secret (checked_at) WHERE kind = 'token';
CREATE INDEX integration_secret_token_expires_at_idx ON app.integration_secret (expires_at) WHERE expires_at IS NOT NULL AND renew_at IS NULL AND end_mailed_at IS NULL;

ALTER TABLE app.integration_connection
  -- When owners and admins were mailed that it needs attention; null again when it does not any more.
  ADD COLUMN attention_mailed_at timestamptz(3),
  -- Of a provider where the app makes webhooks that end by themselves: {ids, filter, expiresAt, problem}.
  ADD COLUMN app_hook jsonb,
  ADD COLUMN app_hook_at timestamptz(3);
CREATE INDEX integration_connection_attention_idx ON app.integration_connection (org_id) WHERE state = 'needs-attention' AND attention_mailed_at IS NULL;

-- An authorization that an admin has begun: of one session, to be taken once by who comes back from the provider, and then to be confirmed.
CREATE TABLE app.authorization_request (
  -- A random UUID; of the sealed tokens, too, while they wait for confirmation.
  id text PRIMARY KEY,
  org_id text NOT NULL,
  user_id text NOT NULL,
  session_id text NOT NULL,
  connection_id text NOT NULL REFERENCES app.integration_connection (id) ON DELETE CASCADE,
  -- SHA-256 of OAuth's state, and of what the browser keeps in a cookie.
  state_hash bytea NOT NULL,
  nonce_hash bytea NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  taken_at timestamptz(3),
  -- What the provider said: {ids, mention, name, account, accountName, scopes}. Null: it has not been asked, or did not say.
  found jsonb
);
CREATE UNIQUE INDEX authorization_request_state_hash_key ON app.authorization_request (state_hash);
CREATE INDEX authorization_request_org_id_expires_at_idx ON app.authorization_request (org_id, expires_at);
CREATE INDEX authorization_request_expires_at_idx ON app.authorization_request (expires_at);
CREATE INDEX authorization_request_connection_id_idx ON app.authorization_request (connection_id);

ALTER TABLE app.authorization_request ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.authorization_request FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.authorization_request USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.authorization_request TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.authorization_request TO slipway_app, slipway_app_system;

-- The request of a state, usable once, whoever brings it. Whoever asks has no organization yet: works as the system role for its own transaction.
CREATE FUNCTION app.take_authorization_request(p_state bytea, p_now timestamptz)
RETURNS TABLE (id text, org_id text, user_id text, session_id text, connection_id text, nonce_hash bytea, usable boolean)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_app_system', true);
  RETURN QUERY
    UPDATE app.authorization_request r SET taken_at = p_now WHERE r.state_hash = p_state AND r.taken_at IS NULL AND r.expires_at > p_now
    RETURNING r.id, r.org_id, r.user_id, r.session_id, r.connection_id, r.nonce_hash, true;
  IF FOUND THEN RETURN; END IF;
  RETURN QUERY SELECT r.id, r.org_id, r.user_id, r.session_id, r.connection_id, r.nonce_hash, false FROM app.authorization_request r WHERE r.state_hash = p_state;
END $$;

-- Tokens that are to be given back to their provider. What is sealed is moved here as it was: its id, connection and kind are part of what it opens with.
CREATE TABLE app.credential_revocation (
  id text PRIMARY KEY,
  org_id text NOT NULL,
  -- May be gone.
  connection_id text NOT NULL,
  kind text NOT NULL,
  sealed bytea NOT NULL,
  key_version integer NOT NULL,
  provider text NOT NULL,
  host text NOT NULL,
  -- Of the connection as it was, for its address.
  settings jsonb NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  FOREIGN KEY (org_id, key_version) REFERENCES app.org_data_key (org_id, version) DEFERRABLE INITIALLY DEFERRED
);
CREATE INDEX credential_revocation_org_id_key_version_idx ON app.credential_revocation (org_id, key_version);

ALTER TABLE app.credential_revocation ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.credential_revocation FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.credential_revocation USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.credential_revocation TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.credential_revocation TO slipway_app, slipway_app_system;
