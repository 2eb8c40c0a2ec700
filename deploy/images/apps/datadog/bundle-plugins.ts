import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Plugin } from 'esbuild';

/** Where an image has the checkout's packages, as far as names in a bundle go: nothing is there. */
const IMAGE_ROOT = '/opt/slipway';
/** Classes of BullMQ that dd-trace changes as they are loaded, which its plugin for esbuild does not do. */
const JOB_CLASSES = /\/node_modules\/bullmq\/dist\/(esm|cjs)\/classes\/(queue|worker|flow-producer)\.js$/;

type Rewrite = (content: string, file: string, format: 'module' | 'commonjs') => { readonly code: string };

/**
 * Lets dd-trace, when it is preloaded, see the packages in a bundle. `folder` is `datadogFolder`'s. Without dd-trace
 * each place costs one check for a subscriber. `banner` stays as it is: the vendor's plugin would add this checkout's
 * repository URL and commit.
 */
export function datadogPlugins(folder: string, banner: string): Plugin[] {
  const require = createRequire(path.join(folder, 'preload.mjs'));
  const inside = path.join(
    path.dirname(require.resolve('dd-trace/esbuild')),
    'packages/datadog-instrumentations/src/helpers/rewriter',
  );
  const { createBundlerRewriter } = require(inside) as { createBundlerRewriter: (channels: string) => Rewrite };
  const rewrite = createBundlerRewriter('dc-polyfill');
  return [
    {
      name: 'slipway-job-classes',
      setup: (build) =>
        build.onLoad({ filter: JOB_CLASSES }, async ({ path: file }) => {
          const format = JOB_CLASSES.exec(file)?.[1] === 'esm' ? 'module' : 'commonjs';
          const { code } = rewrite(await readFile(file, 'utf8'), file, format);
          if (!code.includes('orchestrion:bullmq'))
            throw new Error(`dd-trace changed nothing in ${file}: it does not know this version of BullMQ.`);
          return { contents: code, loader: 'js' };
        }),
    },
    require('dd-trace/esbuild') as Plugin,
    {
      name: 'slipway-banner',
      setup: (build) => {
        build.initialOptions.banner = { js: banner };
      },
    },
  ];
}

/** The bundle as it is made in every folder. @throws Error when a path of this machine is left in it. */
export function withoutBuildPaths(text: string, root: string, folder: string): string {
  const places: readonly (readonly [from: string, to: string])[] = [
    [pathToFileURL(root).href, pathToFileURL(IMAGE_ROOT).href],
    [path.relative(root, folder), 'datadog'],
    [folder, `${IMAGE_ROOT}/datadog`],
    [root, IMAGE_ROOT],
  ];
  const clean = places
    .reduce((said, [from, to]) => said.replaceAll(`${from}/`, `${to}/`), text)
    // The vendor's plugin gives wrapped modules of Node a place at the root of the file system, which esbuild names as
    // seen from the checkout: by its depth.
    .replaceAll(/(?:\.\.\/)+(?=_dd_esm_internal_\/)/g, '');
  for (const word of [root, folder, 'DD_GIT_']) if (clean.includes(word)) throw new Error(`The bundle names ${word}.`);
  return clean;
}
