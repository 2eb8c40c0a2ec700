-- Whether a checkpoint's time is over: its own, else p_days after the last activity in its conversation.
CREATE OR REPLACE FUNCTION app.due_checkpoint(p_checkpoint app.checkpoint, p_active timestamptz, p_days integer) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT coalesce(p_checkpoint.expires_at, p_active + p_days * interval '1 day') <= now()
$$;
