import { api } from '../../api/client.ts';

/** Where the sockets of a sandbox's agent-server are, and the proof that opens them. */
export interface SandboxWay {
  /** Without a slash at its end. */
  readonly url: string;
  readonly token: string;
}

/** A token with less time left than this is not used any more. Milliseconds. */
const TOO_OLD_MS = 30_000;

const ways = new Map<string, Promise<{ readonly way: SandboxWay; readonly until: number }>>();

/**
 * The way into a conversation's sandbox; all panels of this sign-in share one access, as the list of open ports shows
 * it, also after the page was loaded again. Rejects as the API refuses.
 */
export async function wayInto(org: string, conversation: string): Promise<SandboxWay> {
  const before = ways.get(conversation);
  // Those who ask while nobody has asked before wait for the first of them.
  const known = before === undefined ? null : await before.catch(() => null);
  if (known !== null && known.until - Date.now() > TOO_OLD_MS) return known.way;
  const asked = api
    .grantSandboxAccess({ org, conversation, body: { port: 'agent-server', reuse: true } })
    .then(({ pathUrl, token, expiresAt }) => ({
      // By path: no cookie of this browser goes along, and no name of a sandbox has to be resolved.
      way: { url: pathUrl.replace(/^http/, 'ws').replace(/\/$/, ''), token },
      until: Date.parse(expiresAt),
    }));
  ways.set(conversation, asked);
  return (await asked).way;
}

/** The next connection asks for an access of its own. */
export function forgetWay(conversation: string): void {
  ways.delete(conversation);
}
