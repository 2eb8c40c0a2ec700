-- Lines of the log between two positions, ascending, as stored text.
CREATE OR REPLACE FUNCTION app.read_events(p_org text, p_conversation uuid, p_after bigint, p_before bigint, p_limit integer)
RETURNS TABLE (seq bigint, epoch integer, event text)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('app.org', p_org, true);
  IF p_before IS NULL THEN
    RETURN QUERY SELECT e.seq, e.epoch, e.event::text FROM app.event e
      WHERE e.conversation_id = p_conversation AND e.org_id = p_org AND e.seq > p_after ORDER BY e.seq LIMIT p_limit;
  ELSE
    RETURN QUERY SELECT * FROM (
      SELECT e.seq, e.epoch, e.event::text FROM app.event e
      WHERE e.conversation_id = p_conversation AND e.org_id = p_org AND e.seq > p_after AND e.seq < p_before ORDER BY e.seq DESC LIMIT p_limit
    ) t ORDER BY 1;
  END IF;
END $$;
