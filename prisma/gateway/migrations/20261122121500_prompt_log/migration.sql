-- slipway: expand-only
-- What was asked and answered, of organizations whose policy says so, and for how many days. Told by the worker.
CREATE TABLE gateway.prompt_policy (
  org_id text PRIMARY KEY,
  days integer NOT NULL
);
CREATE TABLE gateway.prompt_entry (
  id uuid PRIMARY KEY,
  org_id text NOT NULL,
  conversation_id uuid NOT NULL,
  user_id text,
  request_id text NOT NULL,
  model text NOT NULL,
  outcome text NOT NULL,
  at timestamptz(3) NOT NULL,
  -- Secrets masked, at most 256 KiB each.
  asked text NOT NULL,
  answered text NOT NULL
);
CREATE INDEX prompt_entry_org_id_at_idx ON gateway.prompt_entry (org_id, at, id);

DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['prompt_policy', 'prompt_entry'] LOOP
    EXECUTE format('ALTER TABLE gateway.%I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE gateway.%I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY tenant ON gateway.%I USING (org_id = current_setting(''app.org'', true)) WITH CHECK (org_id = current_setting(''app.org'', true))', t);
    EXECUTE format('CREATE POLICY system ON gateway.%I TO slipway_gateway_system USING (true) WITH CHECK (true)', t);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.%I TO slipway_gateway, slipway_gateway_system', t);
  END LOOP;
END $$;
