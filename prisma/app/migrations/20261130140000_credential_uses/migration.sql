-- slipway: expand-only
-- When a credential ends, requests to use one that wait for a user, and uses of places that are decided one by one.

ALTER TABLE app.credential ADD COLUMN expires_at timestamptz(3);

-- Beside `egress_request`, whose rows older replicas answer by rules for the host.
CREATE TABLE app.credential_request (
  org_id text NOT NULL,
  id text NOT NULL,
  conversation_id uuid NOT NULL REFERENCES app.conversation (id) ON DELETE CASCADE,
  claim_id text NOT NULL,
  host text NOT NULL,
  port integer NOT NULL,
  credential_id text NOT NULL,
  -- SHA-256 of the place as it was, with what it asks.
  place_key text NOT NULL,
  -- As the card shows it.
  use jsonb NOT NULL,
  -- SHA-256 of what a yes for once is about.
  fingerprint text NOT NULL,
  tries integer NOT NULL DEFAULT 1,
  first_time boolean NOT NULL,
  state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'allowed', 'denied', 'expired')),
  scope text CHECK (scope IN ('once', 'conversation')),
  -- The one request that took a yes for one.
  used_by text,
  reason text NOT NULL DEFAULT '',
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  decided_at timestamptz(3),
  decided_by text,
  decided_by_label text,
  PRIMARY KEY (org_id, id)
);
CREATE UNIQUE INDEX credential_request_waiting_key ON app.credential_request (conversation_id, fingerprint) WHERE state = 'waiting';
CREATE INDEX credential_request_conversation_id_idx ON app.credential_request (conversation_id, created_at DESC);
CREATE INDEX credential_request_org_id_credential_id_idx ON app.credential_request (org_id, credential_id);

CREATE TABLE app.credential_use (
  org_id text NOT NULL,
  -- The broker's, of one request.
  id uuid NOT NULL,
  conversation_id uuid NOT NULL REFERENCES app.conversation (id) ON DELETE CASCADE,
  credential_id text NOT NULL,
  -- SHA-256 of the place without what it asks: a new limit counts what was used before it.
  place text NOT NULL,
  fingerprint text NOT NULL,
  -- Counts for a limit, and is kept as long as the conversation.
  counted boolean NOT NULL,
  at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, id)
);
CREATE INDEX credential_use_conversation_id_idx ON app.credential_use (conversation_id, credential_id, place);

DO $$
DECLARE v_table text;
BEGIN
  FOREACH v_table IN ARRAY ARRAY['credential_request', 'credential_use'] LOOP
    EXECUTE format('ALTER TABLE app.%I ENABLE ROW LEVEL SECURITY', v_table);
    EXECUTE format('ALTER TABLE app.%I FORCE ROW LEVEL SECURITY', v_table);
    EXECUTE format('CREATE POLICY tenant ON app.%I USING (org_id = current_setting(''app.org'', true)) WITH CHECK (org_id = current_setting(''app.org'', true))', v_table);
    EXECUTE format('CREATE POLICY system ON app.%I TO slipway_app_system USING (true) WITH CHECK (true)', v_table);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON app.%I TO slipway_app, slipway_app_system', v_table);
  END LOOP;
END $$;
