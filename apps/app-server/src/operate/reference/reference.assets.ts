import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/** Files of the renderer, by the name that they are served under. In an image they lie beside the program. */
const RENDERER = {
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui.css': 'text/css; charset=utf-8',
} as const;

/** The page needs no script of its own in it: that would have to be allowed as such. */
const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Slipway: the REST API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/api/swagger-ui.css">
<link rel="stylesheet" href="/docs/api/page.css">
</head>
<body>
<main id="reference"><p>The reference needs JavaScript. The document itself is <a href="/api/v1/openapi.json">/api/v1/openapi.json</a>.</p></main>
<script src="/docs/api/swagger-ui-bundle.js"></script>
<script src="/docs/api/page.js"></script>
</body>
</html>
`;

/** Requests of the page go to this origin alone, with the session of whoever reads it. */
const SCRIPT = `window.ui = SwaggerUIBundle({
  url: '/api/v1/openapi.json',
  domNode: document.getElementById('reference'),
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  defaultModelExpandDepth: 4,
  filter: true,
  showExtensions: true,
  showCommonExtensions: true,
  validatorUrl: null,
  queryConfigEnabled: false,
  syntaxHighlight: { activated: false },
});
`;

const STYLE = `body { margin: 0; background: #fff; }
#reference > p { font: 16px/1.5 system-ui, sans-serif; margin: 15vh auto; max-width: 34rem; padding: 0 1rem; }
.swagger-ui .info { margin: 24px 0; }
`;

export interface Asset {
  readonly type: string;
  readonly body: Buffer;
  readonly gzip: Buffer;
  readonly brotli: Buffer;
}

/**
 * Reads and compresses a file of the page. @returns `null` when the page has no such file. @throws Error when the
 * renderer is not installed.
 */
export function readAsset(name: string): Asset | null {
  if (name === '') return asset('text/html; charset=utf-8', PAGE);
  if (name === 'page.js') return asset('text/javascript; charset=utf-8', SCRIPT);
  if (name === 'page.css') return asset('text/css; charset=utf-8', STYLE);
  const type = Object.hasOwn(RENDERER, name) ? RENDERER[name as keyof typeof RENDERER] : undefined;
  return type === undefined ? null : asset(type, readFileSync(whereIs(name)));
}

export function asset(type: string, content: string | Buffer): Asset {
  const body = Buffer.from(content);
  // Once a process; the highest level would take seconds.
  return {
    type,
    body,
    gzip: gzipSync(body),
    brotli: brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  };
}

function whereIs(name: string): string {
  const beside = fileURLToPath(new URL(`./reference/${name}`, import.meta.url));
  return existsSync(beside) ? beside : fileURLToPath(import.meta.resolve(`swagger-ui-dist/${name}`));
}
