import { existsSync, readdirSync, realpathSync } from 'node:fs';
import path from 'node:path';

/** Whether this Python can run cells, as far as its folders show: quick, and nothing is started. */
export function hasKernel(python: string, home: string | undefined): boolean {
  const prefixes = new Set([
    path.dirname(path.dirname(python)),
    path.dirname(path.dirname(real(python))),
    ...(home === undefined ? [] : [path.join(home, '.local')]),
  ]);
  return [...prefixes].some((prefix) =>
    librariesOf(prefix).some((library) =>
      ['ipykernel', 'jupyter_client'].every((name) => existsSync(path.join(library, name))),
    ),
  );
}

function librariesOf(prefix: string): string[] {
  return [path.join(prefix, 'lib'), path.join(prefix, 'local/lib')].flatMap((lib) =>
    pythonsIn(lib).flatMap((version) => [
      path.join(lib, version, 'site-packages'),
      path.join(lib, version, 'dist-packages'),
    ]),
  );
}

function pythonsIn(lib: string): string[] {
  try {
    return readdirSync(lib).filter((name) => /^python3(\.\d+)?$/.test(name));
  } catch {
    return [];
  }
}

function real(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}
