-- Trigger: a pull request has changed state. Updates the answers of its thread and sends the outgoing webhooks.
CREATE OR REPLACE FUNCTION app.pull_request_change() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
  v_event text := CASE WHEN NEW.state = OLD.state THEN NULL WHEN NEW.state = 'open' THEN 'pull-request.opened' WHEN NEW.state = 'merged' THEN 'pull-request.merged'
    WHEN NEW.state = 'closed' THEN 'pull-request.closed' END;
BEGIN
  PERFORM app.want_answer(NEW.org_id, NEW.conversation_id);
  IF v_event IS NOT NULL THEN
    PERFORM app.send_webhooks(NEW.org_id, v_event, NEW.conversation_id, jsonb_build_object('organizationId', NEW.org_id, 'conversationId', NEW.conversation_id,
      'provider', NEW.provider, 'host', NEW.host, 'repository', NEW.repository, 'number', NEW.number, 'url', NEW.url, 'status', NEW.state));
  END IF;
  RETURN NULL;
END $$;
