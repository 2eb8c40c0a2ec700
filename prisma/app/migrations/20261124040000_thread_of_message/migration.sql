-- slipway: expand-only
-- Which thread a message came from: a conversation may have several, and the answer is shown in this one alone. Null where from_thread is false, and for messages of the
-- release before.
ALTER TABLE app.inbox_message ADD COLUMN thread_connection_id text, ADD COLUMN thread_key text;
