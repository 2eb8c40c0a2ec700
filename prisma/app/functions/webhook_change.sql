-- Trigger: sends the outgoing webhooks when a conversation has finished, failed, or waits.
CREATE OR REPLACE FUNCTION app.webhook_change() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
  v_event text := CASE WHEN NEW.status = 'finished' THEN 'conversation.finished' WHEN NEW.status = 'failed' THEN 'conversation.failed' ELSE 'conversation.waiting' END;
BEGIN
  IF NOT EXISTS (SELECT 1 FROM app.outgoing_webhook w WHERE w.org_id = NEW.org_id AND w.state = 'active' AND v_event = ANY (w.events)) THEN RETURN NULL; END IF;
  -- The state is as it was: a run may have begun and ended among the events that came at once.
  IF v_event <> 'conversation.waiting' AND NEW.status = OLD.status AND NOT EXISTS (
    SELECT 1 FROM app.event e WHERE e.conversation_id = NEW.id AND e.seq > OLD.head AND e.kind = 'ConversationStateUpdateEvent'
      AND (e.event -> 'key')::text = '"execution_status"' AND (e.event -> 'value')::text IN ('"finished"', '"error"', '"stuck"')
  ) THEN RETURN NULL; END IF;
  PERFORM app.send_webhooks(NEW.org_id, v_event, NEW.id, jsonb_build_object('organizationId', NEW.org_id, 'conversationId', NEW.id, 'status', NEW.status));
  RETURN NULL;
END $$;
