import { createHash, createHmac, type KeyObject } from 'node:crypto';
import type { SecretBox } from '../secret-box/index.js';

/** As an activation names a key: agent-server keeps nothing else of it. */
export function callerKeySha256(key: string): string {
  return createHash('sha256').update(key).digest('base64url');
}

/**
 * The app's key for the sandboxes of one conversation. Derived, so that it is stored nowhere. @param secret
 * `INGEST_SECRET`: worker and app-server have it, no other service.
 */
function appKeyOf(secret: string, conversationId: string): string {
  return createHmac('sha256', secret).update(`slipway app key\n${conversationId}`).digest('base64url');
}

/**
 * sandbox-gateway's key for the sandboxes of one session. @param activationKey runtime-api's own; it hands the result
 * to sandbox-gateway.
 */
export function gatewayKeyOf(activationKey: KeyObject, sessionKey: string): string {
  const secret = activationKey.export({ type: 'pkcs8', format: 'der' });
  return createHmac('sha256', secret).update(`slipway gateway key\n${sessionKey}`).digest('base64url');
}

/** What app-server and worker show to the agent-server of a conversation. */
interface AppCredentials {
  readonly sessionKey: string;
  readonly appKey: string;
}

/** The keys of a conversation's sandbox: the session key sealed in its row, the app's key derived. */
export class SandboxKeys {
  /** @param ingestSecret `INGEST_SECRET`. */
  constructor(
    private readonly box: SecretBox,
    private readonly ingestSecret: string,
  ) {}

  seal(conversationId: string, sessionKey: string): Buffer {
    return this.box.encrypt(sessionKey, contextOf(conversationId));
  }

  /** @throws when `sealed` was sealed for another conversation or with an unknown key. */
  open(conversationId: string, sealed: Uint8Array): AppCredentials {
    return this.with(conversationId, this.box.decrypt(sealed, contextOf(conversationId)));
  }

  with(conversationId: string, sessionKey: string): AppCredentials {
    return { sessionKey, appKey: this.appKey(conversationId) };
  }

  appKey(conversationId: string): string {
    return appKeyOf(this.ingestSecret, conversationId.toLowerCase());
  }
}

function contextOf(conversationId: string): string {
  return `sandbox-key:${conversationId}`;
}
