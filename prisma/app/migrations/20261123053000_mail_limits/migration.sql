-- slipway: expand-only
-- How many mails an organization, and an address, had in the last hour and day is counted in what was written to be sent.
CREATE INDEX outgoing_mail_org_id_created_at_idx ON app.outgoing_mail (org_id, created_at);
CREATE INDEX outgoing_mail_recipient_created_at_idx ON app.outgoing_mail (recipient, created_at);
