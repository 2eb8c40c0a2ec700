-- slipway: expand-only
-- Threads and webhooks learn what becomes of a conversation's pull request.

CREATE FUNCTION app.pull_request_change() RETURNS trigger
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
CREATE TRIGGER pull_request_change AFTER UPDATE ON app.pull_request FOR EACH ROW
  WHEN (NEW.state IS DISTINCT FROM OLD.state OR NEW.url IS DISTINCT FROM OLD.url OR NEW.publish IS DISTINCT FROM OLD.publish)
  EXECUTE FUNCTION app.pull_request_change();
