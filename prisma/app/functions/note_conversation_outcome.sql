-- Trigger: every conversation has its outcome row from its first commit on, so that spending of one that is deleted
-- early is not lost.
CREATE OR REPLACE FUNCTION app.note_conversation_outcome() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO app.conversation_outcome (org_id, conversation_id, created_at, user_id, user_label, repository, model)
    VALUES (NEW.org_id, NEW.id, NEW.created_at, NEW.created_by, NEW.created_by_label, app.repository_name(NEW.repository), NEW.model)
  ON CONFLICT (org_id, conversation_id) DO UPDATE SET repository = excluded.repository, model = excluded.model;
  RETURN NULL;
END $$;
