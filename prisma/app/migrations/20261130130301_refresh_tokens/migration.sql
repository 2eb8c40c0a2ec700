-- slipway: expand-only
-- Credentials of the form oauth-refresh-token: who renews one, and why a credential rests.

ALTER TABLE app.credential
  -- `RestingReason`; null in a resting one of before: a place has sent its value back.
  ADD COLUMN resting_reason text,
  -- The lease of the process that uses the refresh token, and until when it may.
  ADD COLUMN renewing_by text,
  ADD COLUMN renewing_until timestamptz(3),
  -- The last lease that brought another token: a report that is repeated is answered alike.
  ADD COLUMN renewed_by text,
  -- A refresh token was used without an answer that was understood.
  ADD COLUMN renew_unsure boolean NOT NULL DEFAULT false;
