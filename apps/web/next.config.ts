import path from 'node:path';
import type { NextConfig } from 'next';
import createNextIntlPlugin from 'next-intl/plugin';
import { buildId } from './scripts/build-id.mjs';

const root = path.join(import.meta.dirname, '../..');

/** Security headers are app-server's: it is the only way to these pages. */
const config: NextConfig = {
  output: 'standalone',
  generateBuildId: () => buildId(root),
  outputFileTracingRoot: root,
  // Messages are compiled on the server (src/messages/messages-of.ts), so that browsers get no parser.
  turbopack: { root, resolveAlias: { 'use-intl/format-message': 'use-intl/format-message/format-only' } },
  reactStrictMode: true,
  poweredByHeader: false,
  devIndicators: false,
  images: { unoptimized: true },
};
export default createNextIntlPlugin('./src/messages/request.ts')(config);
