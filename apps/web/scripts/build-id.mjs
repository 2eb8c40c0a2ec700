import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

/** What every build reads beside the sources. */
const SHARED = ['package-lock.json', 'tsconfig.base.json'];

/**
 * Says which sources the pages were made from, and nothing of when and where: two builds of the same sources are the
 * same bytes. Of apps/web and the libraries that it names, by their own package.json files.
 *
 * @param {string} root the checkout.
 */
export function buildId(root) {
  const projects = new Set(['apps/web']);
  for (const project of projects) {
    const { dependencies = {} } = JSON.parse(readFileSync(path.join(root, project, 'package.json'), 'utf8'));
    for (const name of Object.keys(dependencies))
      if (name.startsWith('@slipway/')) projects.add(`libs/${name.slice('@slipway/'.length)}`);
  }
  const hash = createHash('sha256');
  const files = [...projects].flatMap((project) =>
    globSync(['*', 'src/**', 'scripts/**', 'public/**'], { cwd: path.join(root, project) }).map(
      (file) => `${project}/${file}`,
    ),
  );
  for (const file of [...SHARED, ...files].map((name) => name.split(path.sep).join('/')).sort()) {
    const absolute = path.join(root, file);
    // What a build leaves beside its sources says nothing about them.
    if (/\.(tsbuildinfo)$|next-env\.d\.ts$/.test(file) || !existsSync(absolute) || !statSync(absolute).isFile())
      continue;
    hash.update(`${file}\0`).update(createHash('sha256').update(readFileSync(absolute)).digest());
  }
  return hash.digest('hex').slice(0, 24);
}
