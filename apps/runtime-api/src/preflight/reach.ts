import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import net from 'node:net';
import tls from 'node:tls';
import { createPool } from '@slipway/db/sql';

/** Longest that one check may take. Milliseconds; a service that is slower than that at an install is reported. */
const TIMEOUT_MS = 10_000;
/** Postgres 16: its roles know INHERIT and SET apart, which ours need. */
const POSTGRES_AT_LEAST = 160_000;
const CERTIFICATE = /certificate|self.signed|issuer|CERT_|altname/i;

// Each check answers what is wrong, as a sentence that says what to do; `null`: nothing. None throws.

/** Variables that Kubernetes leaves as they are when the Secret behind them is missing. */
const isUnfilled = (value: string): boolean => /\$\([A-Z_]+\)/.test(value);

export async function postgres(url: string): Promise<string | null> {
  if (isUnfilled(url))
    return 'Postgres: the Secret with the password of the owner (postgresql.owner.existingSecret), or its key, is not there.';
  const place = new URL(url);
  const db = createPool({ url, max: 1, applicationName: 'slipway-preflight', onError: () => {} });
  try {
    const { rows } = await within(
      db.query<{ version: number; maker: boolean; database: boolean }>(
        `SELECT current_setting('server_version_num')::int AS version, (rolcreaterole OR rolsuper) AS maker, has_database_privilege(current_database(), 'CREATE') AS database
         FROM pg_roles WHERE rolname = current_user`,
      ),
    );
    const [row] = rows;
    if (row === undefined || row.version < POSTGRES_AT_LEAST)
      return `Postgres at ${place.host} is older than 16. Upgrade it.`;
    if (!row.maker)
      return `Postgres at ${place.host}: ${place.username} may not make roles. ALTER ROLE ${place.username} CREATEROLE.`;
    if (!row.database)
      return `Postgres at ${place.host}: ${place.username} may not make schemas in ${place.pathname.slice(1)}. Make it the owner of the database.`;
    return null;
  } catch (error) {
    return `Postgres at ${place.host} cannot be used: ${wordsOf(error)}`;
  } finally {
    await db.end().catch(() => {});
  }
}

/** PING, as whoever the URL says. */
export async function redis(url: string): Promise<string | null> {
  if (isUnfilled(url))
    return 'Redis: the Secret with its password (redis.auth.existingSecret), or its key, is not there.';
  const { hostname, port, protocol, host, username, password } = new URL(url);
  const at = { host: hostname, port: Number(port || 6379) };
  const words = [decodeURIComponent(username), decodeURIComponent(password)].filter((word) => word !== '');
  const command = (...parts: string[]): string =>
    `*${parts.length}\r\n${parts.map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`).join('')}`;
  const socket = protocol === 'rediss:' ? tls.connect({ ...at, servername: hostname }) : net.connect(at);
  try {
    const answer = await within(
      new Promise<string>((resolve, reject) => {
        let text = '';
        socket.setEncoding('utf8');
        socket.once('error', reject).once('close', () => reject(new Error('it closed the connection')));
        socket.on('data', (chunk: string) => {
          text += chunk;
          if (/^[-]|PONG/m.test(text)) resolve(text);
        });
        socket.write((words.length > 0 ? command('AUTH', ...words) : '') + command('PING'));
      }),
    );
    const refused = /^-(.*)$/m.exec(answer)?.[1];
    return refused === undefined ? null : `Redis at ${host} refuses: ${refused.trim()}. Check redis.auth.`;
  } catch (error) {
    return `Redis at ${host} cannot be reached: ${wordsOf(error)}`;
  } finally {
    socket.destroy();
  }
}

/** The issuer's own description, and that it is of this issuer. */
export async function issuer(url: string): Promise<string | null> {
  try {
    const response = await fetch(`${url.replace(/\/$/, '')}/.well-known/openid-configuration`, {
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (!response.ok)
      return `oidc.issuerUrl: ${url} answers ${response.status} where its description should be. Is the realm's name right?`;
    const { issuer: named } = (await response.json()) as { issuer?: unknown };
    return named === url
      ? null
      : `oidc.issuerUrl: ${url} calls itself ${String(named)}. Use that name, letter by letter.`;
  } catch (error) {
    return `oidc.issuerUrl: ${url} cannot be reached: ${wordsOf(error)}`;
  }
}

/** Whether anything answers over HTTP: credentials are not tried. */
export async function answers(value: string, url: string): Promise<string | null> {
  try {
    await (await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: 'manual' })).body?.cancel();
    return null;
  } catch (error) {
    return `${value}: ${new URL(url).host} cannot be reached: ${wordsOf(error)}`;
  }
}

export async function proxy(value: string, url: string): Promise<string | null> {
  const { hostname, port, protocol, host } = new URL(url);
  const socket = net.connect({ host: hostname, port: Number(port || (protocol === 'https:' ? 443 : 80)) });
  try {
    await within(new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject)));
    return null;
  } catch (error) {
    return `${value}: the proxy ${host} cannot be reached: ${wordsOf(error)}`;
  } finally {
    socket.destroy();
  }
}

/** Node leaves out what it cannot read of NODE_EXTRA_CA_CERTS, and prints a warning that goes unseen. */
export async function authority(file: string): Promise<string | null> {
  try {
    const certificates =
      (await readFile(file, 'utf8')).match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];
    if (certificates.length === 0) return 'privateCa: the file holds no certificate in PEM.';
    const old = certificates
      .map((pem) => new X509Certificate(pem))
      .find(({ validToDate }) => validToDate.getTime() < Date.now());
    return old === undefined
      ? null
      : `privateCa: the certificate of ${old.subject.replaceAll('\n', ', ')} ended on ${old.validTo}.`;
  } catch (error) {
    return `privateCa: the file cannot be read: ${wordsOf(error)}`;
  }
}

async function within<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${TIMEOUT_MS / 1000} s`)), TIMEOUT_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The innermost words, and the way out where they are about certificates. */
function wordsOf(error: unknown): string {
  let innermost = error;
  while (innermost instanceof Error && innermost.cause instanceof Error) innermost = innermost.cause;
  if (innermost instanceof AggregateError && innermost.errors[0] instanceof Error) innermost = innermost.errors[0];
  const { message = String(innermost), code } = innermost as { message?: string; code?: string };
  const words = message === '' ? (code ?? 'no reason was given') : message;
  return CERTIFICATE.test(`${words} ${code ?? ''}`)
    ? `${words}. If a certification authority of your own signed it, name it in privateCa.`
    : `${words}.`;
}
