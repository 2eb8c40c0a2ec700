-- Trigger: a conversation has changed, so the answers in its thread are due.
CREATE OR REPLACE FUNCTION app.answer_change() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM app.want_answer(NEW.org_id, NEW.id);
  RETURN NULL;
END $$;
