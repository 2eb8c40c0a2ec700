-- slipway: expand-only
-- What sandboxes sent through egress-proxy, by hour and host, and which batches of it were counted.

CREATE TABLE app.egress_tally (
  org_id text NOT NULL,
  conversation_id uuid NOT NULL REFERENCES app.conversation (id) ON DELETE CASCADE,
  hour timestamptz(3) NOT NULL,
  host text NOT NULL,
  port integer NOT NULL,
  -- `allowed`, or the reason of the refusal.
  verdict text NOT NULL,
  -- What let it through; '': nothing but the installation's list.
  rule text NOT NULL DEFAULT '',
  -- The installation lists the host.
  listed boolean NOT NULL DEFAULT false,
  connections bigint NOT NULL DEFAULT 0,
  bytes_out bigint NOT NULL DEFAULT 0,
  bytes_in bigint NOT NULL DEFAULT 0,
  first_at timestamptz(3) NOT NULL DEFAULT now(),
  last_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, conversation_id, hour, host, port, verdict, rule, listed)
);
CREATE INDEX egress_tally_conversation_id_idx ON app.egress_tally (conversation_id);
CREATE INDEX egress_tally_org_id_hour_idx ON app.egress_tally (org_id, hour);

-- The last batch of each egress-proxy that was counted.
CREATE TABLE app.egress_tally_source (
  org_id text NOT NULL,
  source uuid NOT NULL,
  seq bigint NOT NULL,
  at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, source)
);

DO $$
DECLARE v_table text;
BEGIN
  FOREACH v_table IN ARRAY ARRAY['egress_tally', 'egress_tally_source'] LOOP
    EXECUTE format('ALTER TABLE app.%I ENABLE ROW LEVEL SECURITY', v_table);
    EXECUTE format('ALTER TABLE app.%I FORCE ROW LEVEL SECURITY', v_table);
    EXECUTE format('CREATE POLICY tenant ON app.%I USING (org_id = current_setting(''app.org'', true)) WITH CHECK (org_id = current_setting(''app.org'', true))', v_table);
    EXECUTE format('CREATE POLICY system ON app.%I TO slipway_app_system USING (true) WITH CHECK (true)', v_table);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON app.%I TO slipway_app, slipway_app_system', v_table);
  END LOOP;
END $$;
