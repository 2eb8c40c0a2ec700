-- slipway: expand-only
-- Reviews of what an agent changed: threads on lines, their comments, and which files each user has viewed.

CREATE TABLE app.review_thread (
  id uuid PRIMARY KEY,
  org_id text NOT NULL,
  conversation_id uuid NOT NULL REFERENCES app.conversation (id) ON DELETE CASCADE,
  -- By which the agent answers, from 1.
  number integer NOT NULL,
  -- ReviewAnchor of libs/contracts.
  anchor jsonb NOT NULL,
  created_at timestamptz(3) NOT NULL,
  resolved_at timestamptz(3),
  resolved_by_label text
);
CREATE UNIQUE INDEX review_thread_conversation_id_number_key ON app.review_thread (conversation_id, number);
CREATE INDEX review_thread_org_id_idx ON app.review_thread (org_id);

CREATE TABLE app.review_comment (
  id uuid PRIMARY KEY,
  org_id text NOT NULL,
  conversation_id uuid NOT NULL REFERENCES app.conversation (id) ON DELETE CASCADE,
  thread_id uuid NOT NULL REFERENCES app.review_thread (id) ON DELETE CASCADE,
  text text NOT NULL,
  suggestion text,
  created_by text NOT NULL,
  created_by_label text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  -- The message that took it to the agent; null: not sent yet.
  message_id uuid
);
CREATE INDEX review_comment_conversation_id_created_at_idx ON app.review_comment (conversation_id, created_at);
CREATE INDEX review_comment_thread_id_idx ON app.review_comment (thread_id);
CREATE INDEX review_comment_org_id_idx ON app.review_comment (org_id);

-- What a file held when a user had viewed it.
CREATE TABLE app.review_viewed (
  org_id text NOT NULL,
  conversation_id uuid NOT NULL REFERENCES app.conversation (id) ON DELETE CASCADE,
  user_id text NOT NULL,
  -- SHA-256 of the path: a path can be longer than what an index takes.
  path_hash bytea NOT NULL,
  path text NOT NULL,
  hash text NOT NULL,
  PRIMARY KEY (conversation_id, user_id, path_hash)
);
CREATE INDEX review_viewed_org_id_idx ON app.review_viewed (org_id);

DO $$
DECLARE v_table text;
BEGIN
  FOREACH v_table IN ARRAY ARRAY['review_thread', 'review_comment', 'review_viewed'] LOOP
    EXECUTE format('ALTER TABLE app.%I ENABLE ROW LEVEL SECURITY', v_table);
    EXECUTE format('ALTER TABLE app.%I FORCE ROW LEVEL SECURITY', v_table);
    EXECUTE format('CREATE POLICY tenant ON app.%I USING (org_id = current_setting(''app.org'', true)) WITH CHECK (org_id = current_setting(''app.org'', true))', v_table);
    EXECUTE format('CREATE POLICY system ON app.%I TO slipway_app_system USING (true) WITH CHECK (true)', v_table);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON app.%I TO slipway_app, slipway_app_system', v_table);
  END LOOP;
END $$;
