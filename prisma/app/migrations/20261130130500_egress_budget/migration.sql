-- slipway: expand-only
-- What sandboxes have sent of their egress budgets.

-- Bytes of one conversation on one day (UTC): what egress-proxy has reserved, less what it has given back. `host`: the
-- registrable domain, or '' for all of them together.
CREATE TABLE app.egress_spent (
  org_id text NOT NULL,
  conversation_id uuid NOT NULL REFERENCES app.conversation (id) ON DELETE CASCADE,
  day date NOT NULL,
  host text NOT NULL,
  bytes bigint NOT NULL CHECK (bytes >= 0),
  PRIMARY KEY (org_id, conversation_id, day, host)
);
CREATE INDEX egress_spent_conversation_id_idx ON app.egress_spent (conversation_id);

-- Bytes that an egress-proxy may send and has not settled. Deleted when it says how many it sent; one that ends without
-- a word has sent all of them.
CREATE TABLE app.egress_grant (
  org_id text NOT NULL,
  id text NOT NULL,
  conversation_id uuid NOT NULL REFERENCES app.conversation (id) ON DELETE CASCADE,
  day date NOT NULL,
  host text NOT NULL,
  bytes bigint NOT NULL CHECK (bytes > 0),
  PRIMARY KEY (org_id, id)
);
CREATE INDEX egress_grant_conversation_id_idx ON app.egress_grant (conversation_id);

DO $$
DECLARE v_table text;
BEGIN
  FOREACH v_table IN ARRAY ARRAY['egress_spent', 'egress_grant'] LOOP
    EXECUTE format('ALTER TABLE app.%I ENABLE ROW LEVEL SECURITY', v_table);
    EXECUTE format('ALTER TABLE app.%I FORCE ROW LEVEL SECURITY', v_table);
    EXECUTE format('CREATE POLICY tenant ON app.%I USING (org_id = current_setting(''app.org'', true)) WITH CHECK (org_id = current_setting(''app.org'', true))', v_table);
    EXECUTE format('CREATE POLICY system ON app.%I TO slipway_app_system USING (true) WITH CHECK (true)', v_table);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON app.%I TO slipway_app, slipway_app_system', v_table);
  END LOOP;
END $$;
