-- slipway: expand-only
-- Where work comes from: an organization's connections to providers, what they deliver, and which users and threads it belongs to.

CREATE TABLE app.integration_connection (
  -- A random UUID: it stands in the address that the provider calls.
  id text PRIMARY KEY,
  org_id text NOT NULL,
  provider text NOT NULL,
  -- One of the provider's kinds of connection.
  kind text NOT NULL,
  name text NOT NULL,
  host text NOT NULL,
  -- Installation, team or organization id at the provider; null while it is not known.
  account text,
  -- Through the platform's own app: found by the account in the signed body, not by the address.
  platform boolean NOT NULL DEFAULT false,
  -- The one scheme that deliveries must be signed by.
  signature text NOT NULL,
  -- {ids, mention}: who we are there.
  own jsonb NOT NULL,
  -- {labels, bots, confidential, defaultRepository}
  settings jsonb NOT NULL,
  -- unverified, active, needs-attention or disabled.
  state text NOT NULL DEFAULT 'unverified',
  -- With needs-attention: why, in a sentence.
  state_reason text,
  created_by text NOT NULL,
  created_by_label text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  verified_at timestamptz(3),
  -- Written at most every 5 s.
  last_delivery_at timestamptz(3)
);
CREATE INDEX integration_connection_org_id_name_idx ON app.integration_connection (org_id, name, id);
-- An account of the platform's app belongs to one organization.
CREATE UNIQUE INDEX integration_connection_account_key ON app.integration_connection (provider, host, account) WHERE platform AND account IS NOT NULL;

ALTER TABLE app.integration_connection ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.integration_connection FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.integration_connection USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.integration_connection TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.integration_connection TO slipway_app, slipway_app_system;

-- Webhook secrets (two while one is rotated) and tokens of a connection, each under a data key of the organization.
CREATE TABLE app.integration_secret (
  id text PRIMARY KEY,
  org_id text NOT NULL,
  connection_id text NOT NULL REFERENCES app.integration_connection (id) ON DELETE CASCADE,
  -- webhook, or the kind of a token.
  kind text NOT NULL,
  sealed bytea NOT NULL,
  key_version integer NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  -- Null: until it is replaced.
  valid_until timestamptz(3),
  FOREIGN KEY (org_id, key_version) REFERENCES app.org_data_key (org_id, version) DEFERRABLE INITIALLY DEFERRED
);
CREATE INDEX integration_secret_connection_id_kind_idx ON app.integration_secret (connection_id, kind);
CREATE INDEX integration_secret_org_id_key_version_idx ON app.integration_secret (org_id, key_version);

ALTER TABLE app.integration_secret ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.integration_secret FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.integration_secret USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.integration_secret TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.integration_secret TO slipway_app, slipway_app_system;

-- What came, once each. Kept for 14 days.
CREATE TABLE app.integration_delivery (
  -- A UUIDv7.
  id text PRIMARY KEY,
  org_id text NOT NULL,
  connection_id text NOT NULL REFERENCES app.integration_connection (id) ON DELETE CASCADE,
  -- The provider's own id of it, or the hash of its bytes.
  delivery_id text NOT NULL,
  event text NOT NULL,
  -- Headers without secrets, and the raw body.
  sealed bytea NOT NULL,
  key_version integer NOT NULL,
  -- Of the raw body.
  bytes integer NOT NULL,
  received_at timestamptz(3) NOT NULL DEFAULT now(),
  -- received, done, ignored or refused.
  state text NOT NULL DEFAULT 'received',
  reason text,
  detail text,
  semantic_key text,
  conversation_id uuid,
  -- How often it was looked at.
  attempts integer NOT NULL DEFAULT 0,
  decided_at timestamptz(3),
  FOREIGN KEY (org_id, key_version) REFERENCES app.org_data_key (org_id, version) DEFERRABLE INITIALLY DEFERRED
);
CREATE UNIQUE INDEX integration_delivery_connection_id_delivery_id_key ON app.integration_delivery (connection_id, delivery_id);
CREATE INDEX integration_delivery_connection_id_received_at_id_idx ON app.integration_delivery (connection_id, received_at DESC, id DESC);
CREATE INDEX integration_delivery_received_at_idx ON app.integration_delivery (received_at);
CREATE INDEX integration_delivery_org_id_key_version_idx ON app.integration_delivery (org_id, key_version);
CREATE INDEX integration_delivery_conversation_id_idx ON app.integration_delivery (conversation_id) WHERE conversation_id IS NOT NULL;

ALTER TABLE app.integration_delivery ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.integration_delivery FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.integration_delivery USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.integration_delivery TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.integration_delivery TO slipway_app, slipway_app_system;

-- Deeds that were acted on, whichever delivery or connection brought them: the second dedupe. Kept for 14 days.
CREATE TABLE app.integration_dedupe (
  org_id text NOT NULL,
  provider text NOT NULL,
  host text NOT NULL,
  semantic_key text NOT NULL,
  delivery_id text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, provider, host, semantic_key)
);
CREATE INDEX integration_dedupe_created_at_idx ON app.integration_dedupe (created_at);

ALTER TABLE app.integration_dedupe ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.integration_dedupe FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.integration_dedupe USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.integration_dedupe TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.integration_dedupe TO slipway_app, slipway_app_system;

-- Which conversation a thread at the provider belongs to.
CREATE TABLE app.integration_thread (
  connection_id text NOT NULL REFERENCES app.integration_connection (id) ON DELETE CASCADE,
  thread_key text NOT NULL,
  org_id text NOT NULL,
  conversation_id uuid,
  -- What calls about it need.
  place jsonb NOT NULL,
  url text,
  title text NOT NULL,
  confidential boolean NOT NULL,
  -- Nothing of it is heard from then on.
  muted_at timestamptz(3),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (connection_id, thread_key)
);
CREATE INDEX integration_thread_conversation_id_idx ON app.integration_thread (conversation_id);

ALTER TABLE app.integration_thread ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.integration_thread FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.integration_thread USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.integration_thread TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.integration_thread TO slipway_app, slipway_app_system;

-- Who a user is at a provider, by its own id. A user's own, of no organization.
CREATE TABLE app.external_identity (
  provider text NOT NULL,
  host text NOT NULL,
  external_user_id text NOT NULL,
  user_id text NOT NULL,
  login text NOT NULL,
  linked_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (provider, host, external_user_id)
);
CREATE INDEX external_identity_user_id_idx ON app.external_identity (user_id);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.external_identity TO slipway_app, slipway_app_system;

-- The connection of an address, with what its deliveries may be signed by now. Whoever asks has no organization yet: works as the system role for its own transaction.
CREATE FUNCTION app.find_integration(p_id text)
RETURNS TABLE (org_id text, provider text, host text, signature text, secret_ids text[], sealed bytea[], key_versions integer[])
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_app_system', true);
  RETURN QUERY
    SELECT c.org_id, c.provider, c.host, c.signature, s.ids, s.sealed, s.versions
    FROM app.integration_connection c
    CROSS JOIN LATERAL (
      SELECT array_agg(k.id ORDER BY k.created_at DESC) AS ids, array_agg(k.sealed ORDER BY k.created_at DESC) AS sealed, array_agg(k.key_version ORDER BY k.created_at DESC) AS versions
      FROM app.integration_secret k WHERE k.connection_id = c.id AND k.kind = 'webhook' AND (k.valid_until IS NULL OR k.valid_until > now())
    ) s
    WHERE c.id = p_id AND NOT c.platform;
END $$;

-- The connection that an account of the platform's app belongs to.
CREATE FUNCTION app.find_integration_of_account(p_provider text, p_host text, p_account text)
RETURNS TABLE (id text, org_id text)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_app_system', true);
  RETURN QUERY
    SELECT c.id, c.org_id FROM app.integration_connection c
    WHERE c.provider = p_provider AND c.host = p_host AND c.account = p_account AND c.platform;
END $$;

-- Keeps a delivery whose signature holds, with the job that reads it. One round trip and one commit.
-- stored | duplicate | gone: the connection was deleted meanwhile.
CREATE FUNCTION app.take_delivery(
  p_org text, p_connection text, p_id text, p_delivery text, p_event text, p_sealed bytea, p_key_version integer, p_bytes integer, p_outbox uuid
) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('app.org', p_org, true);
  INSERT INTO app.integration_delivery (id, org_id, connection_id, delivery_id, event, sealed, key_version, bytes)
  SELECT p_id, p_org, c.id, p_delivery, p_event, p_sealed, p_key_version, p_bytes FROM app.integration_connection c WHERE c.id = p_connection
  ON CONFLICT (connection_id, delivery_id) DO NOTHING;
  IF NOT FOUND THEN
    RETURN CASE WHEN EXISTS (SELECT 1 FROM app.integration_connection c WHERE c.id = p_connection) THEN 'duplicate' ELSE 'gone' END;
  END IF;
  INSERT INTO app.outbox (id, org_id, queue, key, payload, enqueued_at)
  VALUES (p_outbox, p_org, 'integration-delivery', p_id, jsonb_build_object('orgId', p_org, 'deliveryId', p_id), clock_timestamp());
  -- Deliveries of one connection at the same moment do not wait for each other.
  UPDATE app.integration_connection SET last_delivery_at = now(), verified_at = coalesce(verified_at, now()), state = CASE state WHEN 'unverified' THEN 'active' ELSE state END
  WHERE id = (SELECT c.id FROM app.integration_connection c
              WHERE c.id = p_connection AND (c.last_delivery_at IS NULL OR c.last_delivery_at < now() - interval '5 seconds') FOR NO KEY UPDATE SKIP LOCKED);
  RETURN 'stored';
END $$;

-- Who an actor of a provider is here, and what stops them now. No row: nobody has linked the account. Called within the organization's transaction.
CREATE FUNCTION app.integration_actor(p_org text, p_provider text, p_host text, p_external text)
RETURNS TABLE (user_id text, label text, role text, over_budget boolean)
LANGUAGE sql STABLE AS $$
  SELECT i.user_id, u.name, m.role,
    EXISTS (SELECT 1 FROM app.budget_stop s WHERE s.org_id = p_org AND s.user_id IN ('', i.user_id) AND s.until > now())
  FROM app.external_identity i
  JOIN app.user_account u ON u.id = i.user_id AND u.deactivated_at IS NULL
  LEFT JOIN app.membership m ON m.org_id = p_org AND m.user_id = i.user_id
  WHERE i.provider = p_provider AND i.host = p_host AND i.external_user_id = p_external
$$;
