// Writes every project's tsconfig.json from its package.json: its references are the workspace packages that it depends
// on. Run after a change of dependencies: `node tools/tsconfigs.mjs`; `--check` only says which are out of date.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';

const OWN_OPTIONS = {
  'libs/ui': {
    jsx: 'react-jsx',
    lib: ['ES2024', 'DOM', 'DOM.Iterable'],
    module: 'ESNext',
    moduleResolution: 'bundler',
  },
  'libs/api-client': { lib: ['ES2024', 'DOM', 'DOM.Iterable'] },
};
/** Next builds and checks it by itself. */
const NOT_COMPILED = ['apps/web'];

const check = process.argv.includes('--check');
const write = (file, value) => {
  const text = `${JSON.stringify(value, null, 2)}\n`;
  if (!check) return writeFileSync(file, text);
  if (existsSync(file) && JSON.stringify(JSON.parse(readFileSync(file, 'utf8'))) === JSON.stringify(value)) return;
  console.log(`out of date: ${file} (node tools/tsconfigs.mjs)`);
  process.exitCode = 1;
};
const projects = ['libs', 'apps']
  .flatMap((folder) => readdirSync(folder).map((name) => `${folder}/${name}`))
  .filter((project) => existsSync(`${project}/package.json`) && !NOT_COMPILED.includes(project));

for (const project of projects) {
  const manifest = JSON.parse(readFileSync(`${project}/package.json`, 'utf8'));
  const packages = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies }).filter((name) =>
    name.startsWith('@slipway/'),
  );
  write(`${project}/tsconfig.json`, {
    extends: '../../tsconfig.base.json',
    compilerOptions: { rootDir: 'src', outDir: 'dist', tsBuildInfoFile: 'dist/.tsbuildinfo', ...OWN_OPTIONS[project] },
    include: ['src'],
    references: packages.map((name) => ({ path: `../../libs/${name.slice('@slipway/'.length)}` })),
  });
}
write('tsconfig.json', { files: [], references: projects.map((path) => ({ path })) });
