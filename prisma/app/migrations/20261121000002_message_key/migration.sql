-- A message's id is its organization's own: the same id in two organizations is two messages, and neither learns of the other.
ALTER TABLE app.inbox_message DROP CONSTRAINT inbox_message_pkey, ADD PRIMARY KEY (org_id, id);
