-- slipway: expand-only
-- What users change of a conversation beside its log: tags, archive, a deletion that can be undone, and pins, which are
-- each user's own.
ALTER TABLE app.conversation ADD COLUMN tags text[] NOT NULL DEFAULT '{}';
ALTER TABLE app.conversation ADD COLUMN archived_at timestamptz(3);
-- Deleted by a user, and removed for good 48 hours later.
ALTER TABLE app.conversation ADD COLUMN deleted_at timestamptz(3);
ALTER TABLE app.conversation ADD COLUMN deleted_by_label text;

-- For every role and every statement: only a transaction that asks for deleted conversations finds them.
CREATE POLICY not_deleted ON app.conversation AS RESTRICTIVE
  USING (deleted_at IS NULL OR current_setting('app.deleted', true) = 'shown');

-- The list that every screen asks for first, and the search in its titles without reading a row.
CREATE INDEX conversation_org_id_shown_idx ON app.conversation (org_id, created_at DESC, id DESC) INCLUDE (title_folded, deleted_at)
  WHERE archived_at IS NULL AND deleted_at IS NULL;
CREATE INDEX conversation_org_id_archived_idx ON app.conversation (org_id, created_at DESC, id DESC) WHERE archived_at IS NOT NULL;
CREATE INDEX conversation_org_id_deleted_idx ON app.conversation (org_id, created_at DESC, id DESC) WHERE deleted_at IS NOT NULL;
CREATE INDEX conversation_org_id_tagged_idx ON app.conversation (org_id, created_at DESC, id DESC) WHERE tags <> '{}';

CREATE TABLE app.conversation_pin (
  org_id text NOT NULL,
  -- A user or a service account.
  user_id text NOT NULL,
  conversation_id uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, user_id, conversation_id)
);
CREATE INDEX conversation_pin_conversation_id_idx ON app.conversation_pin (conversation_id);
ALTER TABLE app.conversation_pin ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.conversation_pin FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.conversation_pin USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.conversation_pin TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.conversation_pin TO slipway_app, slipway_app_system;
