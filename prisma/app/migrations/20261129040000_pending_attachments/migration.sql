-- slipway: expand-only
-- A file for the first message of a conversation is there before the conversation is.
ALTER TABLE app.attachment ALTER COLUMN conversation_id DROP NOT NULL;
