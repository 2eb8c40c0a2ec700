import { openApi } from '@slipway/contracts/openapi';
import type { GeneratedFile } from './generated-file.ts';

/** `docs/api/openapi.json`, and problems of its examples, a sentence each. */
export function openapi(): { readonly file: GeneratedFile; readonly missing: readonly string[] } {
  const { document, missing } = openApi();
  return { file: { path: 'docs/api/openapi.json', content: `${JSON.stringify(document, null, 2)}\n` }, missing };
}
