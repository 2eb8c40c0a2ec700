import path from 'node:path';
import type { NextConfig } from 'next';
import { buildId } from './scripts/build-id.mjs';

const root = path.join(import.meta.dirname, '../..');

/** Security headers are app-server's: it is the only way to these pages. */
const config: NextConfig = {
  output: 'standalone',
  generateBuildId: () => buildId(root),
  outputFileTracingRoot: root,
  turbopack: { root },
  reactStrictMode: true,
  poweredByHeader: false,
  devIndicators: false,
  images: { unoptimized: true },
};
export default config;
