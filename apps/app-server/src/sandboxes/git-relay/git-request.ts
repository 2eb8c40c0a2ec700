/** What git asks of a repository over HTTP, as far as it is passed on. */
export interface GitRequest {
  readonly fullName: string;
  /** `refused`: pushing, and everything that is not git's smart protocol. */
  readonly asks: 'refs' | 'pack' | 'push-refs' | 'push' | 'refused';
}

/** One segment of a repository's name: what every host allows, and nothing that leads elsewhere. */
const SEGMENT = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,255}$/;
const MAX_SEGMENTS = 20;

/**
 * Reads the part of the path behind the connection, decoded once: `owner/name[.git]/info/refs` and its like.
 * @returns `null` for what names no repository.
 */
export function readGitRequest(method: string, rest: string, service: string | undefined): GitRequest | null {
  const suffix = ['/info/refs', '/git-upload-pack', '/git-receive-pack'].find((each) => rest.endsWith(each)) ?? null;
  const name = (suffix === null ? rest : rest.slice(0, -suffix.length)).replace(/\.git$/, '');
  const segments = name.split('/');
  if (segments.length < 2 || segments.length > MAX_SEGMENTS || !segments.every((segment) => SEGMENT.test(segment)))
    return null;
  return { fullName: name, asks: asksOf(method, suffix, service) };
}

function asksOf(method: string, suffix: string | null, service: string | undefined): GitRequest['asks'] {
  if (suffix === '/info/refs' && method === 'GET') {
    if (service === 'git-upload-pack') return 'refs';
    if (service === 'git-receive-pack') return 'push-refs';
  }
  if (suffix === '/git-upload-pack' && method === 'POST') return 'pack';
  if (suffix === '/git-receive-pack' && method === 'POST') return 'push';
  return 'refused';
}

/** One line of git's protocol. */
export function pktLine(text: string): string {
  return `${(Buffer.byteLength(text) + 4).toString(16).padStart(4, '0')}${text}`;
}
