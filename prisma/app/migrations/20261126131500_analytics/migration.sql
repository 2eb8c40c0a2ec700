-- slipway: expand-only
-- Analytics: who allows it since when, the events that wait to be sent, how far log and audit are read; and the flags that a service of flags gave last.

-- NULL: not allowed. Set and cleared together with the setting `analytics`.
ALTER TABLE app.org ADD COLUMN analytics_since timestamptz(3);
ALTER TABLE app.user_account ADD COLUMN analytics_since timestamptz(3);
-- Its browser asks not to be tracked (Sec-GPC, DNT).
ALTER TABLE app.session ADD COLUMN refuses_tracking boolean NOT NULL DEFAULT false;
CREATE INDEX session_refuses_tracking_idx ON app.session (user_id) WHERE refuses_tracking;

-- Events that wait to be sent. `id` is made of what the event is about and its name: an event that is made twice is one row, and one event at the receiver.
CREATE TABLE app.analytics_event (
  id uuid PRIMARY KEY,
  org_id text NOT NULL,
  user_id text NOT NULL,
  name text NOT NULL,
  at timestamptz(3) NOT NULL,
  properties jsonb NOT NULL,
  made_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX analytics_event_made_at_idx ON app.analytics_event (made_at, id);
CREATE INDEX analytics_event_org_id_idx ON app.analytics_event (org_id, made_at, id);
CREATE INDEX analytics_event_user_id_idx ON app.analytics_event (user_id);

-- Up to which link of its audit chain an organization's events are made.
CREATE TABLE app.analytics_position (
  org_id text PRIMARY KEY,
  audit_seq bigint NOT NULL
);

-- Up to which position of its log a conversation's events are made, and what of it the next ones need.
CREATE TABLE app.analytics_conversation (
  conversation_id uuid PRIMARY KEY REFERENCES app.conversation (id) ON DELETE CASCADE,
  org_id text NOT NULL,
  upto bigint NOT NULL,
  state jsonb NOT NULL
);
CREATE INDEX analytics_conversation_org_id_idx ON app.analytics_conversation (org_id);

-- Members whose sign-up was sent, and when a run of theirs first finished.
CREATE TABLE app.analytics_member (
  org_id text NOT NULL,
  user_id text NOT NULL,
  activated_at timestamptz(3),
  PRIMARY KEY (org_id, user_id)
);

DO $$
DECLARE v_table text;
BEGIN
  FOREACH v_table IN ARRAY ARRAY['analytics_event', 'analytics_position', 'analytics_conversation', 'analytics_member'] LOOP
    EXECUTE format('ALTER TABLE app.%I ENABLE ROW LEVEL SECURITY', v_table);
    EXECUTE format('ALTER TABLE app.%I FORCE ROW LEVEL SECURITY', v_table);
    EXECUTE format('CREATE POLICY tenant ON app.%I USING (org_id = current_setting(''app.org'', true)) WITH CHECK (org_id = current_setting(''app.org'', true))', v_table);
    EXECUTE format('CREATE POLICY system ON app.%I TO slipway_app_system USING (true) WITH CHECK (true)', v_table);
  END LOOP;
END $$;

-- Changes of conversations are read up to here.
CREATE TABLE app.analytics_cursor (
  source text PRIMARY KEY,
  until timestamptz(3) NOT NULL
);

-- A user, a flag and a value that met: counted once.
CREATE TABLE app.flag_exposure (
  user_id text NOT NULL,
  flag text NOT NULL,
  value text NOT NULL,
  at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, flag, value)
);

-- What the service of flags answered last. One row: it outlives that service's absence and our restarts.
CREATE TABLE app.flag_definitions (
  id boolean PRIMARY KEY DEFAULT true CHECK (id),
  definitions jsonb NOT NULL,
  etag text,
  fetched_at timestamptz(3) NOT NULL DEFAULT now()
);

GRANT SELECT, INSERT, UPDATE, DELETE ON app.analytics_event, app.analytics_position, app.analytics_conversation, app.analytics_member, app.analytics_cursor,
  app.flag_exposure, app.flag_definitions TO slipway_app, slipway_app_system;
