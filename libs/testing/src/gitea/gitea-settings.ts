import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

export interface GiteaPlace {
  /** Everything that it keeps. */
  readonly home: string;
  /** From `prepareGitea`. */
  readonly programs: string;
  /** From `giteaPages`. */
  readonly pages: string | null;
  readonly port: number;
}

/** Without these it could not read what it has stored: made once for a folder. */
interface GiteaSecrets {
  readonly secretKey: string;
  readonly internalToken: string;
  readonly jwtSecret: string;
}

/**
 * Rewrites `home/app.ini`: a port, and what this version wants, may differ from start to start. Nothing in it reaches
 * beyond this machine: no mail, no pictures from elsewhere, no check for a newer version; webhooks go to loopback only.
 * @returns the file.
 */
export async function writeGiteaSettings(place: GiteaPlace): Promise<string> {
  await mkdir(place.home, { recursive: true });
  const file = path.join(place.home, 'app.ini');
  await writeFile(file, toIni(settings(place, await secretsOf(place.home))), { mode: 0o600 });
  return file;
}

type Settings = Readonly<Record<string, Readonly<Record<string, string | number | boolean>>>>;

function settings({ home, programs, port }: GiteaPlace, secrets: GiteaSecrets): Settings {
  return {
    '': {
      APP_NAME: 'Gitea',
      RUN_MODE: 'prod',
      WORK_PATH: home,
      // Containers have no other user; it holds nothing but this folder.
      I_AM_BEING_UNSAFE_RUNNING_AS_ROOT: process.getuid?.() === 0,
    },
    server: {
      HTTP_ADDR: '127.0.0.1',
      HTTP_PORT: port,
      DOMAIN: '127.0.0.1',
      ROOT_URL: `http://127.0.0.1:${port}/`,
      STATIC_ROOT_PATH: programs,
      APP_DATA_PATH: path.join(home, 'data'),
      DISABLE_SSH: true,
      OFFLINE_MODE: true,
      LFS_START_SERVER: false,
    },
    database: {
      DB_TYPE: 'sqlite3',
      PATH: path.join(home, 'data/gitea.db'),
      SQLITE_JOURNAL_MODE: 'WAL',
      SQLITE_TIMEOUT: 10_000,
    },
    security: {
      INSTALL_LOCK: true,
      // Where webhooks may be sent.
      ALLOWED_HOST_LIST: 'loopback',
      SECRET_KEY: secrets.secretKey,
      INTERNAL_TOKEN: secrets.internalToken,
      // A tenth of a second of CPU less for each call with a password; the passwords here protect nothing.
      PASSWORD_HASH_ALGO: 'pbkdf2_v1',
    },
    // The others make an RSA key at the first start, which takes seconds.
    oauth2: { ENABLED: true, JWT_SIGNING_ALGORITHM: 'ES256', JWT_SECRET: secrets.jwtSecret },
    service: { DISABLE_REGISTRATION: true, REGISTER_EMAIL_CONFIRM: false, ENABLE_NOTIFY_MAIL: false },
    openid: { ENABLE_OPENID_SIGNIN: false, ENABLE_OPENID_SIGNUP: false },
    repository: { ROOT: path.join(home, 'repositories'), DEFAULT_BRANCH: 'main' },
    webhook: { DELIVER_TIMEOUT: 10 },
    // Issues are searched in the database: an index of its own would be built at every first start.
    indexer: { ISSUE_INDEXER_TYPE: 'db', REPO_INDEXER_ENABLED: false },
    actions: { ENABLED: false },
    packages: { ENABLED: false },
    mailer: { ENABLED: false },
    'cron.update_checker': { ENABLED: false },
    log: { MODE: 'console', LEVEL: 'Warn', ROOT_PATH: path.join(home, 'log') },
  };
}

function toIni(sections: Settings): string {
  return Object.entries(sections)
    .map(([section, values]) =>
      [
        ...(section === '' ? [] : [`[${section}]`]),
        ...Object.entries(values).map(([key, value]) => `${key} = ${value}`),
      ].join('\n'),
    )
    .join('\n\n');
}

async function secretsOf(home: string): Promise<GiteaSecrets> {
  const file = path.join(home, 'secrets.json');
  if (existsSync(file)) return JSON.parse(await readFile(file, 'utf8')) as GiteaSecrets;
  const secret = (): string => randomBytes(32).toString('base64url');
  const secrets: GiteaSecrets = { secretKey: secret(), internalToken: secret(), jwtSecret: secret() };
  await writeFile(file, JSON.stringify(secrets), { mode: 0o600 });
  return secrets;
}
