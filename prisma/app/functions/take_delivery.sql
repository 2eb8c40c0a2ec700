-- Stores a delivery whose signature is valid, with the job that reads it, in one round trip and one commit.
-- stored | duplicate | gone: the connection was deleted meanwhile.
CREATE OR REPLACE FUNCTION app.take_delivery(
  p_org text, p_connection text, p_id text, p_delivery text, p_event text, p_sealed bytea, p_key_version integer, p_bytes integer, p_outbox uuid
) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('app.org', p_org, true);
  INSERT INTO app.integration_delivery (id, org_id, connection_id, delivery_id, event, sealed, key_version, bytes)
  SELECT p_id, p_org, c.id, p_delivery, p_event, p_sealed, p_key_version, p_bytes FROM app.integration_connection c WHERE c.id = p_connection
  ON CONFLICT (connection_id, delivery_id) DO NOTHING;
  IF NOT FOUND THEN
    RETURN CASE WHEN EXISTS (SELECT 1 FROM app.integration_connection c WHERE c.id = p_connection) THEN 'duplicate' ELSE 'gone' END;
  END IF;
  INSERT INTO app.outbox (id, org_id, queue, key, payload, enqueued_at)
  VALUES (p_outbox, p_org, 'integration-delivery', p_id, jsonb_build_object('orgId', p_org, 'deliveryId', p_id), clock_timestamp());
  -- Deliveries of one connection at the same moment do not wait for each other.
  UPDATE app.integration_connection SET last_delivery_at = now(), verified_at = coalesce(verified_at, now()), state = CASE state WHEN 'unverified' THEN 'active' ELSE state END
  WHERE id = (SELECT c.id FROM app.integration_connection c
              WHERE c.id = p_connection AND (c.last_delivery_at IS NULL OR c.last_delivery_at < now() - interval '5 seconds') FOR NO KEY UPDATE SKIP LOCKED);
  RETURN 'stored';
END $$;
