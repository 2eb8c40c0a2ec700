-- slipway: expand-only
-- Which hosts the sandboxes of an organization reach: its rules, and the requests of sandboxes for other hosts.

CREATE TABLE app.egress_rule (
  org_id text NOT NULL,
  id text NOT NULL,
  scope text NOT NULL CHECK (scope IN ('organization', 'repository', 'environment', 'conversation')),
  -- The repository, environment or conversation; null: the organization.
  scope_value text,
  -- Without `*.` and port; `below`: every name below it.
  host text NOT NULL,
  below boolean NOT NULL,
  port integer,
  action text NOT NULL CHECK (action IN ('allow', 'deny')),
  -- For a minute of new connections; what it let through goes on.
  once boolean NOT NULL DEFAULT false,
  expires_at timestamptz(3),
  reason text NOT NULL DEFAULT '',
  request_id text,
  created_by text NOT NULL,
  created_by_label text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, id),
  CHECK ((scope = 'organization') = (scope_value IS NULL))
);
CREATE INDEX egress_rule_org_id_host_idx ON app.egress_rule (org_id, host);
CREATE INDEX egress_rule_expires_at_idx ON app.egress_rule (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE app.egress_request (
  org_id text NOT NULL,
  id text NOT NULL,
  conversation_id uuid NOT NULL REFERENCES app.conversation (id) ON DELETE CASCADE,
  claim_id text NOT NULL,
  host text NOT NULL,
  port integer NOT NULL,
  action_id text,
  tries integer NOT NULL DEFAULT 1,
  first_time boolean NOT NULL,
  state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'allowed', 'denied', 'expired')),
  scope text CHECK (scope IN ('once', 'conversation', 'organization')),
  reason text NOT NULL DEFAULT '',
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  decided_at timestamptz(3),
  decided_by text,
  decided_by_label text,
  PRIMARY KEY (org_id, id)
);
-- One question at a time for a host.
CREATE UNIQUE INDEX egress_request_waiting_key ON app.egress_request (conversation_id, host, port) WHERE state = 'waiting';
CREATE INDEX egress_request_conversation_id_idx ON app.egress_request (conversation_id, created_at DESC);
CREATE INDEX egress_request_org_id_host_idx ON app.egress_request (org_id, host);

DO $$
DECLARE v_table text;
BEGIN
  FOREACH v_table IN ARRAY ARRAY['egress_rule', 'egress_request'] LOOP
    EXECUTE format('ALTER TABLE app.%I ENABLE ROW LEVEL SECURITY', v_table);
    EXECUTE format('ALTER TABLE app.%I FORCE ROW LEVEL SECURITY', v_table);
    EXECUTE format('CREATE POLICY tenant ON app.%I USING (org_id = current_setting(''app.org'', true)) WITH CHECK (org_id = current_setting(''app.org'', true))', v_table);
    EXECUTE format('CREATE POLICY system ON app.%I TO slipway_app_system USING (true) WITH CHECK (true)', v_table);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON app.%I TO slipway_app, slipway_app_system', v_table);
  END LOOP;
END $$;
